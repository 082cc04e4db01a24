//! `replica`: the replica sites as a process of their own. Only parses arguments, writes the state file and waits.

use std::ops::RangeInclusive;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use anyhow::Context as _;
use clap::Parser;
use dibao_replica::{Replica, ReplicaOptions};
use serde_json::json;
use tokio::signal::unix::{SignalKind, signal};

/// Serve replicas of government sites on loopback until SIGTERM or Ctrl-C.
#[derive(Debug, Parser)]
#[command(name = "replica", version)]
struct Arguments {
    /// Distinct articles per site
    #[arg(long, default_value_t = 200, value_parser = clap::value_parser!(u64).range(1..=100_000))]
    articles: u64,
    /// Everything served is a function of this number
    #[arg(long, default_value_t = 1)]
    seed: u64,
    /// Size of article pages in KiB, e.g. 20-60
    #[arg(long, value_name = "MIN-MAX", default_value = "8-24", value_parser = kib)]
    article_kb: RangeInclusive<u32>,
    /// Also serve bench0.gov.cn … with one column each
    #[arg(long, value_name = "N", default_value_t = 0)]
    bench_hosts: u32,
    /// Serve only this host (may be repeated)
    #[arg(long = "host", value_name = "HOST")]
    hosts: Vec<String>,
    /// Plain HTTP only
    #[arg(long)]
    no_tls: bool,
    /// Never compress
    #[arg(long)]
    no_gzip: bool,
    /// Send ETag and Last-Modified, and 304 to those who have the version
    #[arg(long)]
    versions: bool,
    /// Write addresses, CA path and hosts here once everything listens; the CA goes beside it as *.ca.pem
    #[arg(long, value_name = "FILE")]
    state: Option<PathBuf>,
    /// Also stop when standard input closes, so that no replica outlives its parent
    #[arg(long)]
    until_stdin_closes: bool,
}

fn kib(text: &str) -> Result<RangeInclusive<u32>, String> {
    let (least, most) = text.split_once('-').unwrap_or((text, text));
    match (least.trim().parse::<u32>(), most.trim().parse::<u32>()) {
        (Ok(least), Ok(most)) if least <= most => Ok(least..=most),
        _ => Err("write MIN-MAX in KiB, the smaller number first, e.g. 20-60".to_owned()),
    }
}

#[tokio::main]
async fn main() -> anyhow::Result<()> {
    let arguments = Arguments::parse();
    let mut terminate = signal(SignalKind::terminate()).context("SIGTERM handler")?;
    let replica = Arc::new(
        Replica::start(ReplicaOptions {
            articles: arguments.articles,
            seed: arguments.seed,
            article_kib: arguments.article_kb.clone(),
            bench_hosts: arguments.bench_hosts,
            only_hosts: arguments.hosts.clone(),
            tls: !arguments.no_tls,
            gzip: !arguments.no_gzip,
            versions: arguments.versions,
            ..ReplicaOptions::default()
        })
        .await?,
    );
    let admin = replica.open_admin().await?;
    let ca = arguments.state.as_ref().map(|state| state.with_extension("ca.pem"));
    if let Some(ca) = &ca {
        write_whole(ca, replica.ca_pem())?;
    }
    let state = json!({
        "https_addr": replica.https_addr(),
        "http_addr": replica.http_addr(),
        "admin_addr": admin,
        "ca_pem": ca.map(std::path::absolute).transpose()?,
        "hosts": replica.hosts(),
        "athena_public_key": replica.athena_public_key(),
        "pid": std::process::id(),
    });
    if let Some(path) = &arguments.state {
        write_whole(path, &format!("{state}\n"))?;
    }
    println!("{state}");
    tokio::select! {
        _ = terminate.recv() => (),
        _ = tokio::signal::ctrl_c() => (),
        () = stdin_closes(), if arguments.until_stdin_closes => (),
    }
    Ok(())
}

/// Readers of the file see all of it or none.
fn write_whole(path: &Path, text: &str) -> anyhow::Result<()> {
    let partial = path.with_extension(format!("{}.tmp", std::process::id()));
    std::fs::write(&partial, text).with_context(|| format!("cannot write {}", partial.display()))?;
    std::fs::rename(&partial, path).with_context(|| format!("cannot write {}", path.display()))
}

/// A thread of its own reads: nothing else in this process wants standard input.
async fn stdin_closes() {
    let (closed, wait) = tokio::sync::oneshot::channel::<()>();
    std::thread::spawn(move || {
        let _ = std::io::copy(&mut std::io::stdin().lock(), &mut std::io::sink());
        drop(closed);
    });
    let _ = wait.await;
}
