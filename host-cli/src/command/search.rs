//! `dibao search`: stored articles by words and filters.

use clap::Args;
use dibao::desk::{Paging, Piece, SearchQuery};

use crate::exit::Exit;
use crate::open::OpenArgs;
use crate::output::{note, print_rows};

#[derive(Args)]
pub struct SearchArgs {
    /// Words: two Chinese characters or more, or Latin words and numbers; "…" keeps words together
    words: Vec<String>,
    /// Only of this site
    #[arg(long, value_name = "CODE")]
    site: Option<String>,
    /// Only of this target
    #[arg(long, value_name = "CODE")]
    target: Option<String>,
    /// Only of this department, by its number
    #[arg(long, value_name = "ID")]
    dept: Option<i64>,
    /// Only with this status: ready, failed or raw
    #[arg(long)]
    status: Option<String>,
    /// Only published on this day or later (YYYY-MM-DD)
    #[arg(long, value_name = "DAY")]
    from: Option<String>,
    /// Only published on this day or earlier
    #[arg(long, value_name = "DAY")]
    to: Option<String>,
    /// Only with this in the document number, in any brackets and width
    #[arg(long, value_name = "NUMBER")]
    doc_no: Option<String>,
    /// Rows, 1 to 200
    #[arg(long, default_value_t = 20)]
    limit: u32,
    /// Rows to pass over
    #[arg(long, default_value_t = 0)]
    offset: u64,
}

pub async fn run(open: &OpenArgs, args: SearchArgs) -> anyhow::Result<Exit> {
    open.must_exist()?;
    let words = args.words.join(" ");
    let query = SearchQuery {
        q: (!words.is_empty()).then_some(words),
        site: args.site,
        target: args.target,
        department: args.dept,
        status: args.status,
        from: args.from,
        to: args.to,
        doc_no: args.doc_no,
    };
    let paging = Paging { limit: Some(args.limit), offset: Some(args.offset), cursor: None };
    let page = open.desk().await?.search(query, paging).await?;
    let text = |pieces: &[Piece]| pieces.iter().map(|piece| piece.text.as_str()).collect::<String>();
    print_rows(&page.items, &["id", "published", "target", "title", "text"], |hit| {
        vec![
            hit.id.to_string(),
            hit.published.as_ref().map_or(String::new(), |published| published.date.clone()),
            hit.target.clone(),
            text(&hit.title),
            text(&hit.snippet),
        ]
    })?;
    let more = if page.total_exact { "" } else { "more than " };
    note(format_args!("{} of {more}{} articles", page.count, page.total));
    Ok(Exit::Ok)
}
