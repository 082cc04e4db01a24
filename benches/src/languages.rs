//! The same turn in three languages: the example adapters in Python and JavaScript beside the bundled one in Rust, on the
//! same replies. For information: what a language costs, so that an author can choose.

use std::path::Path;
use std::sync::Arc;
use std::time::Instant;

use anyhow::{Context as _, Result, ensure};
use dibao::adapter::{Adapter, AdapterHost, Call, HostOptions, Registry, Step, contract};
use dibao::config::{effective_config, load_site};
use dibao_replica::{Replica, ReplicaOptions};

use crate::bare;
use crate::figures::{Figure, Goal, Samples};
use crate::world::World;

/// One list that two adapters read.
struct Case {
    language: &'static str,
    example: &'static str,
    /// Target of the example's and of the bundled site file.
    targets: (&'static str, &'static str),
    /// Folder of the example, name of the bundled site file.
    files: (&'static str, &'static str),
    host: &'static str,
    path: &'static str,
    /// The tags under which the two adapters ask for it.
    tags: (&'static str, &'static str),
}

const CASES: [Case; 2] = [
    Case {
        language: "Python",
        example: "xinhua",
        targets: ("xinhua__tech", "xinhua__tech"),
        files: ("python", "xinhua"),
        host: "www.news.cn",
        path: "/tech/ds_fd79514d92f34849bc8baef7ce3d5aae.json",
        tags: ("source", "list"),
    },
    Case {
        language: "JavaScript",
        example: "nfcms",
        targets: ("nfcms__tzgg", "gdqy__tzgg"),
        files: ("javascript", "gdqy"),
        host: "www.gdqy.gov.cn",
        path: "/gdqy/newxxgk/tzgg/index.html",
        tags: ("list", "list"),
    },
];

/// An adapter with a target of a site file.
struct Reader {
    adapter: Adapter,
    context: contract::Context,
}

impl Reader {
    fn new(adapter: Adapter, site_file: &Path, target: &str) -> Result<Reader> {
        let (site, targets) = load_site(site_file)?.into_rows()?;
        let target =
            targets.iter().find(|known| known.code == target).context("a target of the site file")?;
        let context = contract::Context {
            target: target.code.clone(),
            base: site.base_url,
            config: effective_config(target).to_string(),
            session: Vec::new(),
            now: 1_775_784_000_000,
            seed: vec![7; 32],
        };
        Ok(Reader { adapter, context })
    }

    fn take(&self, replies: &Arc<Vec<contract::Reply>>) -> Result<Step> {
        let call = Call::List { cursor: None };
        self.adapter.turn(&self.context, call, Arc::clone(replies), |turn, _| Ok(turn?.step))
    }

    /// Median milliseconds of a turn.
    fn timed(&self, replies: &Arc<Vec<contract::Reply>>, rounds: usize) -> Result<Samples> {
        let mut samples = Vec::with_capacity(rounds);
        for round in 0..rounds + rounds / 5 + 1 {
            let begin = Instant::now();
            let step = self.take(replies)?;
            let took = begin.elapsed().as_secs_f64() * 1e3;
            drop(step);
            // The first turns warm up.
            if round > rounds / 5 {
                samples.push(took);
            }
        }
        Ok(Samples::new(samples))
    }
}

/// Measures both languages.
pub async fn measure(adapters: &Path, quick: bool) -> Result<Vec<Figure>> {
    let rounds = if quick { 20 } else { 200 };
    let workspace = adapters.ancestors().nth(2).context("adapters lie in target/adapters")?;
    let options = ReplicaOptions { articles: 200, gzip: false, ..ReplicaOptions::default() };
    let replica = Replica::start(options).await?;
    let cache_dir = Some(adapters.with_file_name("adapter-compiled-release"));
    let host = AdapterHost::new(HostOptions { cache_dir, ..HostOptions::default() })?;
    let mut figures = Vec::new();
    for case in &CASES {
        let body = page(&replica, case).await?;
        figures
            .extend(tokio::task::block_in_place(|| compare(&host, adapters, workspace, case, body, rounds))?);
    }
    Ok(figures)
}

async fn page(replica: &Replica, case: &Case) -> Result<contract::Reply> {
    let world = World {
        addr: replica.addr(),
        ca_pem: replica.ca_pem().to_owned(),
        hosts: vec![case.host.to_owned()],
    };
    let url = format!("https://{}{}", case.host, case.path);
    let response = bare::client(&world)?.get(&url).send().await?.error_for_status()?;
    let kind =
        response.headers().get("content-type").and_then(|value| value.to_str().ok()).unwrap_or_default();
    let headers = vec![("content-type".to_owned(), kind.to_owned())];
    let body = response.bytes().await?.to_vec();
    Ok(contract::Reply { tag: String::new(), status: 200, url, headers, body })
}

fn compare(
    host: &AdapterHost,
    adapters: &Path,
    workspace: &Path,
    case: &Case,
    reply: contract::Reply,
    rounds: usize,
) -> Result<Vec<Figure>> {
    let load =
        |dir: &Path, name: &str| -> Result<Adapter> { Ok(Registry::open(dir)?.load(host, name)?.adapter) };
    let example = Reader::new(
        load(&adapters.join("examples"), case.example)?,
        &workspace.join("adapters/examples").join(case.files.0).join("site.yaml"),
        case.targets.0,
    )?;
    let rust = Reader::new(
        load(adapters, "yaml-css")?,
        &workspace.join("sites").join(format!("{}.yaml", case.files.1)),
        case.targets.1,
    )?;
    let replies = |tag: &str| Arc::new(vec![contract::Reply { tag: tag.to_owned(), ..reply.clone() }]);
    let (own, its) = (replies(case.tags.0), replies(case.tags.1));
    let rows = |step: Step| match step {
        Step::Page(page) => Ok(page.entries.into_iter().map(|row| (row.url, row.title)).collect::<Vec<_>>()),
        other => anyhow::bail!("{}: {other:?} is not a page", case.language),
    };
    let (found, expected) = (rows(example.take(&own)?)?, rows(rust.take(&its)?)?);
    ensure!(found == expected, "{} reads {found:?}, Rust reads {expected:?}", case.language);

    let (turn, plain) = (example.timed(&own, rounds)?, rust.timed(&its, rounds)?);
    let first = example.timed(&Arc::default(), rounds)?;
    let load = example.adapter.compile_time().as_millis();
    Ok(vec![Figure {
        name: format!("turn in {}, {} rows, to Rust's", case.language, found.len()),
        value: turn.median() / plain.median(),
        unit: "×",
        goal: Goal::None,
        note: format!(
            "{:.2} ms to {:.2} ms; quartiles {:.2}–{:.2}; a turn that only asks {:.2} ms; {} KiB, loaded in {load} ms",
            turn.median(),
            plain.median(),
            turn.at(0.25),
            turn.at(0.75),
            first.median(),
            example.adapter.inspection().size / 1024,
        ),
    }])
}
