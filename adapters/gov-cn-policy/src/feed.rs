//! Profile `zuixin`: one static JSON array with the newest thousand documents.

use dibao_adapter::{Ctx, Entry, Failure, Host, ListStep, Page, Reply, Request};

use crate::config::Config;
use crate::wire::Node;
use crate::{Session, paging, row, wire};

/// One turn of the only page.
pub fn turn(
    host: &impl Host,
    ctx: &mut Ctx<Config, Session>,
    replies: &[Reply],
) -> Result<ListStep, Failure> {
    let Some(reply) = replies.last() else {
        return Ok(ListStep::Fetch(vec![Request::json("list", &ctx.config.zuixin.feed)]));
    };
    wire::usable(reply, "zuixin.feed")?;
    let feed = wire::read(host, reply)?;
    let Some(rows) = feed.list() else {
        return Err(Failure::Shape(format!("{} is JSON, but not an array", reply.url)));
    };
    let entries: Vec<Entry> = rows.iter().filter_map(|row| entry(host, &ctx.config.landing, row)).collect();
    paging::complain(host, entries.len(), rows.len(), "URL", reply)?;
    Ok(ListStep::Done(Page { entries, next: None }))
}

fn entry(host: &impl Host, landing: &str, row: &Node) -> Option<Entry> {
    let url = row::absolute(landing, &row.at("URL").text()?)?;
    let title = row.at("TITLE").text().map(|title| row::plain(host, &title)).unwrap_or_default();
    Some(Entry {
        published: row.at("DOCRELPUBTIME").text().map(row::value),
        native_id: row::native_id(&url),
        ..Entry::new(url, title)
    })
}
