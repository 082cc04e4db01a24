//! `dibao crawl --dry-run`: reads lists for real and stores nothing, not even the site.

use anyhow::Context;
use dibao::ErrorClass;
use dibao::crawl::Preview;
use dibao::store::database_path;

use super::{CrawlArgs, nothing, pick};
use crate::exit::Exit;
use crate::open::OpenArgs;
use crate::output::{complain, minute, note, print_rows, short};
use crate::signals::drain_then_abort;

pub async fn run(open: &OpenArgs, args: &CrawlArgs, given: &[pick::Given]) -> anyhow::Result<Exit> {
    // What is known can only be told from a store; without one an empty one stands in and is removed.
    let scratch = tempfile::tempdir().context("a temporary directory")?;
    let stored = database_path(&open.data).exists();
    let data = if stored { open.data.clone() } else { scratch.path().to_path_buf() };
    let engine = open.engine_in(data).await?;
    let targets = match args.all {
        true => pick::all(&engine).await?,
        false => pick::preview(&engine, given, &args.column).await?,
    };
    if targets.is_empty() {
        return Err(nothing());
    }
    let cancel = drain_then_abort(None);
    let mut exit = Exit::Ok;
    for (site, target) in targets {
        let code = target.code.clone();
        let request = engine.crawl_unstored(site, target);
        let request = request.max_items(args.max_items).force(args.force).cancel_with(cancel.clone());
        match request.preview().await {
            Ok(preview) => show(&code, &preview)?,
            Err(error) if error.class() == ErrorClass::Interrupted => return Ok(Exit::Interrupted),
            Err(error) => {
                complain(format_args!("{code}: {error}"));
                exit = exit.worse(Exit::of_class(error.class()));
            }
        }
        if cancel.is_cancelled() {
            return Ok(Exit::Interrupted);
        }
    }
    Ok(exit)
}

fn show(code: &str, preview: &Preview) -> anyhow::Result<()> {
    for request in &preview.requests {
        let status = request.http_status.map_or("-".to_string(), |status| status.to_string());
        note(format_args!("{code}: {} {} {status} {} ms", request.purpose, request.url, request.duration_ms));
    }
    print_rows(&preview.rows, &["decision", "published", "title", "url"], |row| {
        let published =
            row.entry.published.as_ref().map_or(String::new(), |published| match published.precision {
                dibao::model::Precision::Day => published.date.clone(),
                _ => minute(published.at),
            });
        let decision = serde_json::to_value(row.decision).ok();
        let decision = decision.as_ref().and_then(|value| value.as_str()).unwrap_or("").to_string();
        vec![decision, published, short(&row.entry.title, 60), row.entry.url.clone()]
    })
}
