//! A dry run: reads list pages for real and says what would happen to each row. Stores nothing.

use std::collections::HashSet;

use serde::Serialize;

use super::context::CrawlContext;
use super::dedup::Decision;
use super::list::{list_page, rows};
use super::step::{Action, Crawl};
use crate::error::Error;
use crate::model::{Entry, RequestLog};
use crate::store::{EntryKey, Known, RunState};

/// What a crawl would do.
#[derive(Clone, Debug, Default, Serialize, schemars::JsonSchema)]
#[non_exhaustive]
pub struct Preview {
    /// The requests that were made to read the lists.
    pub requests: Vec<RequestLog>,
    /// The rows of those lists, in order.
    pub rows: Vec<PreviewRow>,
}

/// One row, and what would happen to it.
#[derive(Clone, Debug, Serialize, schemars::JsonSchema)]
#[non_exhaustive]
pub struct PreviewRow {
    /// The row.
    #[serde(flatten)]
    pub entry: Entry,
    /// `fetch`, or why not.
    pub decision: Decision,
}

/// Reads the lists of a target. The store is only asked what it knows, and not even that for a
/// target that it does not hold.
pub(crate) async fn preview(ctx: &CrawlContext, state: &RunState) -> Result<Preview, Error> {
    let mut crawl = Crawl::new(ctx.bounds, state);
    let mut preview = Preview::default();
    let mut seen = HashSet::new();
    let mut cursor = None;
    loop {
        if ctx.cancel.is_cancelled() {
            crawl.cancelled();
        }
        match crawl.action() {
            Action::Drain => crawl.drained(),
            Action::End(_) => return Ok(preview),
            Action::List => {
                let page = list_page(ctx, cursor.take(), None, &mut preview.requests).await;
                let page = page.map_err(|error| {
                    let target = ctx.target.code.clone();
                    error.cause.unwrap_or(Error::List { target, class: error.class, message: error.message })
                })?;
                let Some(page) = page else { return Ok(preview) };
                let known = if ctx.target.id == 0 {
                    vec![Known::New; page.entries.len()]
                } else {
                    let keys = page.entries.iter().map(EntryKey::from).collect();
                    ctx.store.known(ctx.site.id, ctx.target.id, keys).await?
                };
                let rows = rows(&page.entries, known, |hash| !seen.insert(hash.to_string()));
                let plan = crawl.listed(&rows, page.next.is_some());
                cursor = page.next;
                let decided = page.entries.into_iter().zip(plan.decisions);
                preview.rows.extend(decided.map(|(entry, decision)| PreviewRow { entry, decision }));
            }
        }
    }
}
