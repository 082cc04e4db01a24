//! `dibao show`: one article with the origin of every field.

use std::io::{IsTerminal, Write};

use clap::Args;
use dibao::model::Article;
use dibao::store::Store;

use crate::exit::{Exit, Usage};
use crate::open::OpenArgs;
use crate::output::printable;

#[derive(Args)]
pub struct ShowArgs {
    /// Row number, address, or at least 8 characters of the hash
    article: String,
}

pub async fn run(open: &OpenArgs, args: ShowArgs) -> anyhow::Result<Exit> {
    let store = open.store()?;
    let Some(article) = store.find_article(&args.article).await? else {
        return Err(Usage(format!("no article `{}` is stored", args.article)).into());
    };
    let mut out = std::io::stdout().lock();
    if out.is_terminal() {
        out.write_all(for_people(&article).as_bytes())?;
    } else {
        writeln!(out, "{}", serde_json::to_string(&article)?)?;
    }
    Ok(Exit::Ok)
}

fn for_people(article: &Article) -> String {
    let mut text = String::new();
    let mut line = |name: &str, field: &str, value: &str| {
        if !value.is_empty() {
            let origin = article.provenance.get(field).map(|at| format!("   [{at}]")).unwrap_or_default();
            text.push_str(&printable(&format!("{name:<12} {value}{origin}")));
            text.push('\n');
        }
    };
    let or_empty = |value: &Option<String>| value.clone().unwrap_or_default();
    line("title", "title", &article.title);
    let published = article.published.as_ref().map_or(String::new(), |published| match published.precision {
        dibao::model::Precision::Day => published.date.clone(),
        _ => published.at.to_rfc3339(chrono_tz::Asia::Shanghai),
    });
    line("published", "published", &published);
    line("source", "source", &or_empty(&article.source_raw));
    line("publisher", "publisher", &or_empty(&article.publisher));
    line("doc no", "doc_no", &or_empty(&article.doc_no));
    line("index no", "index_no", &or_empty(&article.index_no));
    line("channel", "channel_name", &or_empty(&article.channel_name));
    line("url", "", &article.url);
    line("target", "", &article.target);
    line("status", "", article.status.as_str());
    line("page", "", &or_empty(&article.raw_html_path));
    line("text", "content", &or_empty(&article.text_path));
    for file in &article.attachments {
        let at = file.file_path.clone().or(file.error.clone()).unwrap_or_default();
        line("attachment", "", &format!("{} → {at}", file.filename));
    }
    text.push('\n');
    text.push_str(&printable(&article.content_text));
    text.push('\n');
    text
}
