//! Extraction: pages per processor second, beside the Python packages that do the same job.
//!
//! The pages are the fixtures of the library's own tests. All fields and their provenance are read; trafilatura reads body and metadata, GNE its
//! usual four fields. Without Python the figure of dibao stands alone.

use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context, Result, bail};
use dibao::Timestamp;
use dibao::extract::{self, Options};

use crate::figures::{Figure, Goal, Samples};

/// What the packages are asked: the pages of a folder, so often, and the processor time it took.
const SCRIPT: &str = r#"
import glob, sys, time
name, rounds = sys.argv[1], int(sys.argv[3])
def text(path):
    raw = open(path, 'rb').read()
    for encoding in ('utf-8', 'gb18030', 'big5'):
        try:
            return raw.decode(encoding)
        except UnicodeDecodeError:
            pass
    return raw.decode('utf-8', 'replace')
pages = [text(path) for path in sorted(glob.glob(sys.argv[2] + '/*.html'))]
if name == 'trafilatura':
    from trafilatura import bare_extraction
    read = lambda page: bare_extraction(page, with_metadata=True, include_comments=False)
else:
    from gne import GeneralNewsExtractor
    extractor = GeneralNewsExtractor()
    read = lambda page: extractor.extract(page)
def once():
    for page in pages:
        try:
            read(page)
        except Exception:
            pass
once()
best = None
for _ in range(rounds):
    begun = time.process_time()
    once()
    took = time.process_time() - begun
    best = took if best is None else min(best, took)
print(len(pages) / best)
"#;

/// Where the pages are.
fn folder() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../core/tests/pages")
}

/// Measures; `python` is an interpreter that has both packages.
pub fn measure(python: Option<&Path>, quick: bool) -> Result<Vec<Figure>> {
    let pages = pages()?;
    let rounds = if quick { 5 } else { 40 };
    let options = Options::at(Timestamp(1_780_000_000_000));
    let mut samples = Vec::new();
    for _ in 0..rounds {
        let begun = cpu_seconds();
        for page in &pages {
            std::hint::black_box(extract::page(page, "https://www.example.gov.cn/a/b.html", &options));
        }
        samples.push(pages.len() as f64 / (cpu_seconds() - begun).max(1e-9));
    }
    let own = Samples::new(samples);
    let mut figures = vec![Figure {
        name: "extraction: pages per CPU second".into(),
        value: own.median(),
        unit: "",
        goal: Goal::None,
        note: format!("{} pages, {rounds} rounds, all fields and provenance", pages.len()),
    }];
    let Some(python) = python else {
        eprintln!("trafilatura and gne are not measured: no Python environment has them (see above)");
        return Ok(figures);
    };
    for (name, goal) in [("trafilatura", Goal::AtLeast(8.0)), ("gne", Goal::None)] {
        let theirs = ask(python, name, if quick { 1 } else { 3 })?;
        figures.push(Figure {
            name: format!("extraction: beside {name} (PyPI)"),
            value: own.median() / theirs,
            unit: "×",
            goal,
            note: format!("{:.0} and {theirs:.0} pages per CPU second", own.median()),
        });
    }
    Ok(figures)
}

fn pages() -> Result<Vec<Vec<u8>>> {
    let mut paths: Vec<PathBuf> = std::fs::read_dir(folder())
        .with_context(|| format!("the pages are not in {}", folder().display()))?
        .filter_map(|entry| entry.ok().map(|entry| entry.path()))
        .filter(|path| path.extension().is_some_and(|end| end == "html"))
        .collect();
    paths.sort();
    paths.iter().map(|path| std::fs::read(path).with_context(|| path.display().to_string())).collect()
}

fn ask(python: &Path, name: &str, rounds: u32) -> Result<f64> {
    let output = Command::new(python)
        .args(["-c", SCRIPT, name])
        .arg(folder())
        .arg(rounds.to_string())
        .output()
        .with_context(|| format!("{} did not start", python.display()))?;
    let said = String::from_utf8_lossy(&output.stdout);
    match said.trim().lines().last().and_then(|line| line.parse().ok()) {
        Some(rate) => Ok(rate),
        None => bail!("{name} gave no figure: {}", String::from_utf8_lossy(&output.stderr).trim()),
    }
}

fn cpu_seconds() -> f64 {
    let cpu = rustix::time::clock_gettime(rustix::time::ClockId::ProcessCPUTime);
    cpu.tv_sec as f64 + cpu.tv_nsec as f64 / 1e9
}
