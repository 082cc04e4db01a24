//! How long `dibao serve` takes from its start until it is ready, with thousands of targets: the real program, again and again over
//! one data directory.

use std::fmt::Write as _;
use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::net::TcpStream;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use anyhow::{Context as _, Result, ensure};
use dibao::Engine;
use dibao::config::parse_site;

use crate::figures::{Figure, Goal, Samples};

const TARGETS: usize = 4_000;
/// Targets of one site.
const OF_A_SITE: usize = 200;

/// Seconds to the first good answer of `/readyz`.
pub async fn measure(adapters: &Path, quick: bool) -> Result<Vec<Figure>> {
    let dir = tempfile::tempdir()?;
    let engine = Engine::builder().data_dir(dir.path()).adapters(adapters).build().await?;
    for number in 0..TARGETS / OF_A_SITE {
        engine.import_site_config(&parse_site(&site(number), "the bench")?).await?;
    }
    drop(engine);
    let mut times = Vec::new();
    // The first one compiles adapters for its cache, and makes the rows of schedules.
    for _ in 0..if quick { 4 } else { 10 } {
        times.push(start(dir.path(), adapters)?);
    }
    let first = times[0];
    let samples = Samples::new(times);
    Ok(vec![Figure {
        name: format!("serve: start to ready, {TARGETS} targets"),
        value: samples.at(1.0),
        unit: " s",
        goal: Goal::AtMost(2.0),
        note: format!("the slowest; median {:.2} s, the first {first:.2} s", samples.median()),
    }])
}

fn site(number: usize) -> String {
    let mut text = format!(
        "site_id: s{number}\nsite_name: 第{number}站\nbase_url: https://s{number}.gov.cn\nschedule: \"0 3 * * *\"\ndefault_column:\n  list_selector: {{row: li, date: 'span::text'}}\ncolumns:\n"
    );
    for column in 0..OF_A_SITE {
        let _ =
            writeln!(text, "  - {{column_id: c{column}, list_url: 'https://s{number}.gov.cn/c{column}/'}}");
    }
    text
}

struct Served(Child);

impl Drop for Served {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

fn start(data: &Path, adapters: &Path) -> Result<f64> {
    let begun = Instant::now();
    let child = Command::new(program()?)
        .arg("--data")
        .arg(data)
        .arg("--adapters")
        .arg(adapters)
        .args(["serve", "--listen", "127.0.0.1:0"])
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(Stdio::piped())
        .spawn()
        .context("dibao did not start")?;
    let mut served = Served(child);
    let mut lines = BufReader::new(served.0.stderr.take().context("it has an error output")?).lines();
    let addr = loop {
        let line = lines.next().context("it ended before it served")??;
        if let Some((_, rest)) = line.split_once("serving at http://") {
            break rest.split('/').next().unwrap_or_default().to_owned();
        }
    };
    while !ready(&addr) {
        ensure!(begun.elapsed() < Duration::from_secs(120), "it is not ready after two minutes");
        std::thread::sleep(Duration::from_millis(2));
    }
    let took = begun.elapsed().as_secs_f64();
    std::thread::spawn(move || lines.for_each(drop));
    Ok(took)
}

fn ready(addr: &str) -> bool {
    let ask = || -> std::io::Result<String> {
        let mut stream = TcpStream::connect(addr)?;
        stream.write_all(format!("GET /readyz HTTP/1.0\r\nHost: {addr}\r\n\r\n").as_bytes())?;
        let mut answer = String::new();
        stream.take(4_096).read_to_string(&mut answer)?;
        Ok(answer)
    };
    ask().is_ok_and(|answer| answer.split(' ').nth(1) == Some("200"))
}

/// Beside this program.
fn program() -> Result<PathBuf> {
    let path = std::env::current_exe()?.with_file_name("dibao");
    ensure!(
        path.exists(),
        "{} is not built; run `cargo build --release --package dibao-cli`",
        path.display()
    );
    Ok(path)
}
