//! `dibao export`: stored articles as JSON lines or CSV, page by page, never all in memory.

use std::io::{BufWriter, Write};

use clap::{Args, ValueEnum};
use dibao::model::Article;
use dibao::store::{ArticleQuery, Store};

use super::target::{known_site, known_target};
use crate::exit::Exit;
use crate::open::OpenArgs;
use crate::output::{json_line, note, open_output};

/// Articles read at a time.
const PAGE: u32 = 500;

#[derive(Args)]
#[command(
    after_help = "Examples:\n  dibao export --site ndrc -o ndrc.jsonl\n  dibao export --format csv --bom -o articles.csv    for spreadsheet programs\n  dibao export --after 1200                          what came since row 1200"
)]
pub struct ExportArgs {
    /// Format
    #[arg(long, short, value_enum, default_value_t = Format::Jsonl)]
    format: Format,

    /// Only of this site
    #[arg(long)]
    site: Option<String>,

    /// Only of this target
    #[arg(long)]
    target: Option<String>,

    /// Only articles with a row number above this one: where an earlier export ended
    #[arg(long, default_value_t = 0, value_name = "ID")]
    after: i64,

    /// Where to (- for standard output)
    #[arg(long, short, default_value = "-")]
    output: String,

    /// Begin the CSV with a byte order mark, for spreadsheet programs
    #[arg(long)]
    bom: bool,
}

#[derive(Clone, Copy, PartialEq, Eq, ValueEnum)]
enum Format {
    Jsonl,
    Csv,
}

const COLUMNS: &[&str] = &[
    "id",
    "site",
    "target",
    "url",
    "title",
    "published",
    "publish_date",
    "source",
    "publisher",
    "doc_no",
    "index_no",
    "channel_name",
    "content_category",
    "status",
    "attachments",
    "fetched_at",
    "content_text",
];

pub async fn run(open: &OpenArgs, args: ExportArgs) -> anyhow::Result<Exit> {
    let store = open.store()?;
    if let Some(code) = &args.site {
        known_site(&store, code).await?;
    }
    if let Some(code) = &args.target {
        known_target(&store, code).await?;
    }
    let mut out = BufWriter::new(open_output(&args.output)?);
    if args.format == Format::Csv {
        if args.bom {
            out.write_all("\u{feff}".as_bytes())?;
        }
        out.write_all(&csv_line(COLUMNS.iter().map(ToString::to_string))?)?;
    }
    let mut query =
        ArticleQuery { site: args.site, target: args.target, run: None, after_id: args.after, limit: PAGE };
    let mut count = 0u64;
    loop {
        let articles = store.articles(query.clone()).await?;
        let Some(last) = articles.last() else { break };
        query.after_id = last.id;
        count += articles.len() as u64;
        for article in &articles {
            match args.format {
                Format::Jsonl => out.write_all(json_line(article)?.as_bytes())?,
                Format::Csv => out.write_all(&csv_line(cells(article))?)?,
            }
        }
    }
    out.flush()?;
    note(match count {
        1 => "1 article".to_string(),
        many => format!("{many} articles"),
    });
    Ok(Exit::Ok)
}

fn csv_line(cells: impl IntoIterator<Item = String>) -> anyhow::Result<Vec<u8>> {
    let mut writer = csv::Writer::from_writer(Vec::new());
    writer.write_record(cells)?;
    Ok(writer.into_inner().map_err(|error| error.into_error())?)
}

fn cells(article: &Article) -> Vec<String> {
    let text = |value: &Option<String>| harmless(value.as_deref().unwrap_or_default());
    let published = article.published.as_ref();
    vec![
        article.id.to_string(),
        article.site.clone(),
        article.target.clone(),
        article.url.clone(),
        harmless(&article.title),
        published.map_or(String::new(), |published| published.at.to_rfc3339(chrono_tz::Asia::Shanghai)),
        published.map_or(String::new(), |published| published.date.clone()),
        text(&article.source_raw),
        text(&article.publisher),
        text(&article.doc_no),
        text(&article.index_no),
        text(&article.channel_name),
        text(&article.content_category),
        article.status.as_str().to_string(),
        article.attachments.len().to_string(),
        article.fetched_at.to_rfc3339(chrono_tz::Asia::Shanghai),
        harmless(&article.content_text),
    ]
}

/// Spreadsheet programs run cells that begin like a formula; remote text must not be one.
fn harmless(text: &str) -> String {
    if text.starts_with(['=', '+', '-', '@', '\t', '\r']) { format!("'{text}") } else { text.to_string() }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_cell_is_never_a_formula_and_quotes_survive() {
        assert_eq!(harmless("=HYPERLINK(1)"), "'=HYPERLINK(1)");
        assert_eq!(harmless("关于…的通知"), "关于…的通知");
        let line = csv_line(["a,b".to_string(), "c\"d\ne".to_string()]).unwrap();
        assert_eq!(line, b"\"a,b\",\"c\"\"d\ne\"\n");
    }
}
