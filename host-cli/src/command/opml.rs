//! `dibao opml`: the feeds of a feed reader become sites, and stored feeds a list again.

use std::io::{Read, Write};

use anyhow::Context;
use clap::Subcommand;
use dibao::config::{MAX_OPML, feeds_of_targets, parse_opml, sites_of_feeds, write_opml};
use dibao::store::Store;
use serde::Serialize;

use crate::exit::Exit;
use crate::open::{OpenArgs, actor};
use crate::output::{note, open_output, print_rows};

#[derive(Subcommand)]
pub enum OpmlCommand {
    /// Store the feeds of a list: one site per host, one target per feed, folders as categories
    #[command(
        after_help = "Feeds that are stored already stay as they are, and nothing is switched off.\n\nExample:\n  dibao opml import feeds.opml && dibao crawl --all"
    )]
    Import {
        /// The list (- for standard input)
        file: String,
        /// Say what would be stored, and store nothing
        #[arg(long)]
        dry_run: bool,
    },
    /// Write the stored feeds as a list
    Export {
        /// Where to (- for standard output)
        #[arg(long, short, default_value = "-")]
        output: String,
    },
}

/// What became of one feed of a list.
#[derive(Serialize)]
struct Row {
    target: String,
    title: String,
    url: String,
    folders: Vec<String>,
    known: bool,
}

pub async fn run(open: &OpenArgs, command: OpmlCommand) -> anyhow::Result<Exit> {
    match command {
        OpmlCommand::Import { file, dry_run } => import(open, &file, dry_run).await,
        OpmlCommand::Export { output } => {
            let feeds = feeds_of_targets(&open.store()?.targets(None).await?);
            if feeds.is_empty() {
                note("no feed is stored; `dibao opml import FILE` stores some");
            }
            let mut out = open_output(&output)?;
            out.write_all(write_opml(&feeds).as_bytes())?;
            out.flush()?;
            Ok(Exit::Ok)
        }
    }
}

async fn import(open: &OpenArgs, file: &str, dry_run: bool) -> anyhow::Result<Exit> {
    let opml = parse_opml(&read(file)?, file)?;
    for line in &opml.left_out {
        note(format_args!("left out: {line}"));
    }
    let (_scratch, engine) =
        if dry_run { open.engine_or_scratch().await? } else { (None, open.engine().await?) };
    let import = sites_of_feeds(&opml.feeds, &engine.store().targets(None).await?)?;
    if !dry_run {
        for site in &import.sites {
            engine.desk(actor()).import_site(site).await?;
        }
    }
    let rows: Vec<Row> = import
        .targets
        .into_iter()
        .map(|(feed, target, known)| Row {
            target,
            title: feed.title,
            url: feed.feed_url.into(),
            folders: feed.folders,
            known,
        })
        .collect();
    print_rows(&rows, &["target", "title", "folders", "feed", ""], |row| {
        let mark = if row.known { "known" } else { "new" };
        vec![row.target.clone(), row.title.clone(), row.folders.join(" / "), row.url.clone(), mark.into()]
    })?;
    let known = rows.iter().filter(|row| row.known).count();
    let verb = if dry_run { "would be added" } else { "added" };
    note(format_args!(
        "{} feeds: {} {verb}, {known} known, {} left out",
        rows.len() + opml.left_out.len(),
        rows.len() - known,
        opml.left_out.len()
    ));
    Ok(Exit::Ok)
}

/// One byte more than allowed is enough to know; the parser then says what is wrong.
fn read(file: &str) -> anyhow::Result<Vec<u8>> {
    let mut bytes = Vec::new();
    let mut limited: Box<dyn Read> = match file {
        "-" => Box::new(std::io::stdin().take(MAX_OPML + 1)),
        path => {
            let file = std::fs::File::open(path).with_context(|| format!("cannot read {path}"))?;
            Box::new(file.take(MAX_OPML + 1))
        }
    };
    limited.read_to_end(&mut bytes).with_context(|| format!("cannot read {file}"))?;
    Ok(bytes)
}
