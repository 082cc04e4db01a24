//! `dibao show`: one article with the origin of every field.

use std::io::Write;

use clap::Args;
use dibao::extract::url_hash;
use dibao::model::Article;
use dibao::store::Store;
use url::Url;

use crate::exit::{Exit, Usage};
use crate::open::OpenArgs;
use crate::output::{is_for_people, json_line, minute, printable};

#[derive(Args)]
#[command(
    after_help = "Examples:\n  dibao show 42\n  dibao show https://www.gov.cn/zhengce/content_1.htm\n  dibao show 9f86d081 | jq .title"
)]
pub struct ShowArgs {
    /// Row number, address, or at least 8 characters of the hash
    article: String,
}

pub async fn run(open: &OpenArgs, args: ShowArgs) -> anyhow::Result<Exit> {
    let store = open.store()?;
    let mut found = store.find_article(&args.article).await?;
    if found.is_none()
        && let Ok(url) = Url::parse(&args.article)
    {
        // The same page by another spelling: http for https, with a fragment or a tracking parameter.
        found = store.find_article(&url_hash(&url)).await?;
    }
    let Some(article) = found else {
        let message = format!(
            "no article `{}` is stored; give its row number, its address, or at least 8 characters of its url_hash that no other article shares (`dibao export` shows all three)",
            args.article
        );
        return Err(Usage(message).into());
    };
    let mut out = std::io::stdout().lock();
    if is_for_people() {
        out.write_all(for_people(&article).as_bytes())?;
    } else {
        out.write_all(json_line(&article)?.as_bytes())?;
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
        _ => minute(published.at),
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
