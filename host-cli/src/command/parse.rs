//! `dibao parse URL|FILE|-`: what a page gives, and why; with `--adapter`, what an adapter makes of it.
//!
//! An address goes through the gate like any other request; a file and standard input touch no network.

mod adapter;

use std::io::Write;

use anyhow::Context;
use clap::{Args, ValueEnum};
use dibao::extract::{self, Options, PageArticle};
use serde::Serialize;
use url::Url;

use super::extract::{attachments, now};
use crate::exit::{Exit, Usage};
use crate::open::OpenArgs;
use crate::output::{complain, json_line, note, print_rows, printable};

#[derive(Args)]
pub struct ParseArgs {
    /// Web address, file, or `-` for standard input
    page: String,

    /// What is printed
    #[arg(long, value_enum, default_value_t = Format::Json)]
    format: Format,

    /// Print where each field came from, with the candidates that lost, instead of the article
    #[arg(long)]
    explain: bool,

    /// Address of a page that is read from a file: links are relative to it
    #[arg(long, value_name = "URL")]
    url: Option<String>,

    /// Content type of a page that is read from a file
    #[arg(long, value_name = "TYPE")]
    content_type: Option<String>,

    #[command(flatten)]
    with: adapter::AdapterArgs,
}

#[derive(Clone, Copy, PartialEq, Eq, ValueEnum)]
enum Format {
    Json,
    Text,
    Markdown,
    Html,
}

/// Bytes of a page that is read from a file.
const LARGEST: u64 = 64 << 20;

#[derive(Serialize)]
struct Whole<'a> {
    kind: extract::PageKind,
    title: Option<&'a str>,
    published: Option<&'a dibao::model::Published>,
    modified: Option<&'a dibao::model::Published>,
    source: Option<&'a str>,
    author: Option<&'a str>,
    text: &'a str,
    attachments: Vec<super::extract::Attachment<'a>>,
    inline_image_count: u32,
    lead_image: Option<&'a str>,
    document: &'a extract::Document,
    encoding: &'a str,
    cut: Option<extract::Cut>,
    provenance: &'a std::collections::BTreeMap<String, extract::Proof>,
}

pub async fn run(open: &OpenArgs, args: ParseArgs) -> anyhow::Result<Exit> {
    let (bytes, url, content_type) = match web_address(&args.page) {
        Some(url) => {
            let (_scratch, engine) = open.engine_to_ask().await?;
            match engine.look_up(url, None).await?.result {
                Ok(fetched) => {
                    note(format_args!("{} {}: {}", fetched.status, fetched.url, fetched.verdict));
                    let kind = fetched.header("content-type").map(str::to_owned);
                    (fetched.body.to_vec(), fetched.url.to_string(), kind)
                }
                Err(error) => {
                    complain(&error);
                    return Ok(Exit::of_class(error.class()));
                }
            }
        }
        None => (read_file(&args.page)?, args.url.clone().unwrap_or_default(), args.content_type.clone()),
    };
    if !url.is_empty() && web_address(&url).is_none() {
        return Err(Usage(format!("{url:?} is no web address; write --url https://…")).into());
    }
    let as_it_is = args.format == Format::Json && !args.explain;
    if let Some(name) = &args.with.adapter {
        let page = adapter::Page { bytes, url, content_type };
        return adapter::run(open, &args.with, name, page);
    }
    if as_it_is && adapter::is_feed(&bytes) {
        note("a feed: its entries are printed, as the adapter rss reads them");
        return adapter::run(open, &args.with, "rss", adapter::Page { bytes, url, content_type });
    }
    let options = Options { content_type, formats: args.format != Format::Json, ..Options::at(now()) };
    let article = extract::page(&bytes, &url, &options);
    if args.explain {
        explain(&article)?;
    } else {
        print(&article, args.format)?;
    }
    Ok(Exit::Ok)
}

fn web_address(text: &str) -> Option<Url> {
    Url::parse(text).ok().filter(|url| matches!(url.scheme(), "http" | "https") && url.has_host())
}

fn read_file(path: &str) -> anyhow::Result<Vec<u8>> {
    let mut bytes = Vec::new();
    let from: Box<dyn std::io::Read> = match path {
        "-" => Box::new(std::io::stdin()),
        _ => Box::new(std::fs::File::open(path).with_context(|| format!("cannot read {path}"))?),
    };
    std::io::Read::read_to_end(&mut std::io::Read::take(from, LARGEST + 1), &mut bytes)
        .with_context(|| format!("cannot read {path}"))?;
    if bytes.len() as u64 > LARGEST {
        return Err(Usage(format!("{path} is larger than {} MB", LARGEST >> 20)).into());
    }
    Ok(bytes)
}

fn print(article: &PageArticle, format: Format) -> anyhow::Result<()> {
    let out = match format {
        Format::Text => shown(&article.text),
        Format::Markdown => shown(&article.markdown),
        Format::Html => shown(&article.html),
        Format::Json => json_line(&Whole {
            kind: article.kind,
            title: article.title.as_deref(),
            published: article.published.as_ref(),
            modified: article.modified.as_ref(),
            source: article.source.as_deref(),
            author: article.author.as_deref(),
            text: &article.text,
            attachments: attachments(article),
            inline_image_count: article.inline_image_count,
            lead_image: article.lead_image.as_ref().map(Url::as_str),
            document: &article.document,
            encoding: article.encoding,
            cut: article.cut,
            provenance: &article.provenance,
        })?,
    };
    std::io::stdout().write_all(out.as_bytes())?;
    Ok(())
}

/// A text as a terminal may have it; the tabs between the cells of a table stay.
fn shown(text: &str) -> String {
    text.split('\t').map(printable).collect::<Vec<_>>().join("\t") + "\n"
}

/// One line of `--explain`.
#[derive(Serialize)]
struct Line<'a> {
    field: &'a str,
    chosen: bool,
    value: String,
    #[serde(flatten)]
    proof: &'a extract::Proof,
}

fn explain(article: &PageArticle) -> anyhow::Result<()> {
    let mut lines = Vec::new();
    for (field, proof) in &article.provenance {
        lines.push(Line { field, chosen: true, value: value_of(article, field), proof });
        for loser in article.losers.iter().filter(|loser| loser.field == field) {
            lines.push(Line { field, chosen: false, value: loser.value.clone(), proof: &loser.proof });
        }
    }
    for loser in article.losers.iter().filter(|loser| !article.provenance.contains_key(loser.field)) {
        lines.push(Line {
            field: loser.field,
            chosen: false,
            value: loser.value.clone(),
            proof: &loser.proof,
        });
    }
    print_rows(&lines, &["field", "", "value", "engine", "rule", "position", "confidence"], |line| {
        let position = match (&line.proof.at, line.proof.offset) {
            (Some(at), Some(offset)) => format!("{at} @{offset}"),
            (Some(at), None) => at.clone(),
            (None, Some(offset)) => format!("@{offset}"),
            (None, None) => String::new(),
        };
        vec![
            line.field.to_owned(),
            if line.chosen { "✓" } else { "" }.to_owned(),
            line.value.clone(),
            line.proof.engine.clone(),
            line.proof.rule.clone(),
            position,
            format!("{:.2}", line.proof.confidence),
        ]
    })
}

/// The beginning of a field's value.
fn value_of(article: &PageArticle, field: &str) -> String {
    let document = &article.document;
    let day = |published: &Option<dibao::model::Published>| {
        published.as_ref().map(|published| published.date.clone())
    };
    let value = match field {
        "title" => article.title.clone(),
        "published" => day(&article.published),
        "modified" => day(&article.modified),
        "written" => day(&document.written),
        "source" => article.source.clone(),
        "author" => article.author.clone(),
        "content" => Some(article.text.clone()),
        "lead_image" => article.lead_image.as_ref().map(Url::to_string),
        "doc_no" => document.doc_no.clone(),
        "index_no" => document.index_no.clone(),
        "publisher" => document.issuer.clone(),
        "topic" => document.topic.clone(),
        "topic_words" => document.topic_words.clone(),
        "open_category" => document.open_category.clone(),
        "validity" => document.validity.clone(),
        _ => None,
    };
    value.unwrap_or_default().chars().take(60).map(|c| if c == '\n' { ' ' } else { c }).collect()
}
