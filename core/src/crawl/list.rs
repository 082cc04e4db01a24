//! One list page: the adapter's rows made into entries with absolute addresses and parsed dates.

use std::collections::HashSet;

use super::context::CrawlContext;
use super::dedup::Row;
use super::turns::{Driven, OwnedCall, StepError, drive_if_changed};
use crate::adapter::{Step, contract};
use crate::clock::Timestamp;
use crate::extract::{Pages, parse_published, url_hash};
use crate::fetch::Validators;
use crate::model::{Entry, RequestLog};
use crate::store::Known;

/// A list page as the loop wants it.
pub(super) struct ListedPage {
    pub entries: Vec<Entry>,
    pub next: Option<String>,
    /// Rows whose link is not a web address.
    pub unusable: u32,
    /// What tells this version of the page from the next.
    pub validators: Option<Validators>,
}

/// Reads one page; none if it is the one that is `known`.
pub(super) async fn list_page(
    ctx: &CrawlContext,
    cursor: Option<String>,
    known: Option<Validators>,
    log: &mut Vec<RequestLog>,
) -> Result<Option<ListedPage>, StepError> {
    let (zone, now, base) = (ctx.zone, ctx.clock.now(), ctx.site.base_url.clone());
    let call = OwnedCall::List { cursor };
    let driven = drive_if_changed(ctx, call, known, log, move |step, pages| match step {
        Step::Page(page) => resolve_page(page, pages, &base, zone, now),
        _ => ListedPage { entries: Vec::new(), next: None, unusable: 0, validators: None },
    });
    Ok(match driven.await? {
        Driven::Done(page, validators) => Some(ListedPage { validators, ..page }),
        Driven::Unchanged => None,
    })
}

/// What the loop wants to know of each entry; `seen` says whether an address came up earlier in the run.
pub(super) fn rows(entries: &[Entry], known: Vec<Known>, mut seen: impl FnMut(&str) -> bool) -> Vec<Row> {
    let row = |(entry, known): (&Entry, Known)| Row {
        known,
        seen_in_run: seen(&entry.url_hash),
        pinned: entry.pinned,
        published: entry.published.as_ref().map(|published| published.at),
    };
    entries.iter().zip(known).map(row).collect()
}

fn resolve_page(
    page: contract::Page,
    pages: &Pages,
    base: &str,
    zone: chrono_tz::Tz,
    now: Timestamp,
) -> ListedPage {
    let mut unusable = 0;
    let mut on_page = HashSet::new();
    let mut entries = Vec::with_capacity(page.entries.len());
    for row in page.entries {
        let Some(url) = pages.resolve(base, &row.url) else {
            unusable += 1;
            continue;
        };
        let url_hash = url_hash(&url);
        // The same link twice on one page is one row: thumbnails and titles often both link.
        if !on_page.insert(url_hash.clone()) {
            continue;
        }
        entries.push(Entry {
            id: 0,
            url: url.into(),
            url_hash,
            title: row.title,
            published: row.published.as_deref().and_then(|raw| parse_published(raw, zone, now)),
            published_raw: row.published,
            native_id: row.native_id.filter(|id| !id.trim().is_empty()),
            pinned: row.pinned,
            fields: row.fields,
        });
    }
    ListedPage { entries, next: page.next, unusable, validators: None }
}
