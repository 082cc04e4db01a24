//! A column's list, page after page, and where it ends.
//!
//! The first page is number 1 (0 is the same). A page past the end is a 404 on some hosts and an empty list on others; both
//! end the column. Where the answer counts (`total`), the count is believed, because the column's own counter may promise
//! more than can be listed. A list that begins to repeat itself has ended too.

use std::collections::VecDeque;

use dibao_adapter::{Ctx, Failure, Host, Level, ListStep, Page, Reply, Request};
use serde::{Deserialize, Serialize};

use crate::answer::{self, Listing};
use crate::config::Config;
use crate::index::{self, Index};
use crate::place::{Root, list_address};
use crate::row::Around;

/// Bytes of column paths that are remembered; the host keeps 64 KiB. Beyond this, columns are known by number only.
const PATHS: usize = 40 * 1024;
/// Columns of one site that are read one after the other.
const MOST_COLUMNS: usize = 1_000;

/// What is remembered from page to page.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct Session {
    /// Whether the index was asked in this run.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub asked: bool,
    /// The site's number, from the index.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub sid: Option<String>,
    /// The columns to read, with their paths, from the index.
    #[serde(skip_serializing_if = "VecDeque::is_empty")]
    pub columns: VecDeque<(u64, String)>,
    /// The rows of the column's first page and of the last page read, as one number each.
    #[serde(skip_serializing_if = "is_zero")]
    pub first: u64,
    /// See `first`.
    #[serde(skip_serializing_if = "is_zero")]
    pub last: u64,
    /// Whether any of several columns could be read.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub readable: bool,
}

fn is_zero(number: &u64) -> bool {
    *number == 0
}

/// Where in the lists we are: column, page, rows read of the column. As a cursor: `21023:2:100`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Place {
    column: u64,
    page: u32,
    seen: u64,
}

impl Place {
    fn first_of(column: u64) -> Place {
        Place { column, page: 1, seen: 0 }
    }

    fn read(cursor: &str) -> Option<Place> {
        let mut parts = cursor.split(':');
        let place = Place {
            column: parts.next()?.parse().ok()?,
            page: parts.next()?.parse().ok().filter(|page| *page >= 1)?,
            seen: parts.next()?.parse().ok()?,
        };
        parts.next().is_none().then_some(place)
    }

    fn cursor(self) -> String {
        format!("{}:{}:{}", self.column, self.page, self.seen)
    }
}

/// One turn of a list page.
pub fn turn(
    host: &impl Host,
    ctx: &mut Ctx<Config, Session>,
    cursor: Option<&str>,
    replies: &[Reply],
) -> Result<ListStep, Failure> {
    let root = Root::of(&ctx.base, ctx.config.dept_path.as_deref());
    let place =
        match cursor {
            None => None,
            Some(text) => Some(Place::read(text).ok_or_else(|| {
                Failure::Stale(format!("the stored cursor `{text}` is not column:page:rows"))
            })?),
        };
    match replies.last() {
        None if asks_index(ctx) => {
            return Ok(ListStep::Fetch(vec![Request::page("index", &root.index())]));
        }
        Some(reply) if reply.tag == "index" => learn(host, ctx, reply)?,
        _ => {}
    }
    let place = match place {
        Some(place) => place,
        None => Place::first_of(first_column(ctx)?),
    };
    match replies.last().filter(|reply| reply.tag == "list") {
        None => {
            let sid = ctx.config.sid().or_else(|| ctx.session.sid.clone());
            let url = list_address(&ctx.config, &root, sid.as_deref(), place.column, place.page);
            Ok(ListStep::Fetch(vec![Request::json("list", &url)]))
        }
        Some(reply) => page(host, ctx, &root, place, reply).map(ListStep::Done),
    }
}

/// Whether something is missing that only the index knows.
fn asks_index(ctx: &Ctx<Config, Session>) -> bool {
    !ctx.session.asked && (ctx.config.sid().is_none() || ctx.config.column_id().is_none())
}

/// Takes number and columns from the index. Without a tree there must be a column in the settings; without a number
/// the list is asked for all the same, as some hosts want none.
fn learn(host: &impl Host, ctx: &mut Ctx<Config, Session>, reply: &Reply) -> Result<(), Failure> {
    ctx.session.asked = true;
    let read = match reply.status {
        0..=399 => index::read(&answer::text(host, reply)),
        404 | 410 => None,
        status => return Err(Failure::Refused(format!("{} answered {status}", reply.url))),
    };
    let found = read.is_some();
    let Index { sid, columns } = read.unwrap_or_default();
    ctx.session.sid = sid;
    if ctx.config.column_id().is_some() {
        if ctx.session.sid.is_none() {
            host.log(Level::Warn, &format!("{} names no SID: lists are asked for without one", reply.url));
        }
        return Ok(());
    }
    let wanted = ctx.config.column_name.as_deref();
    let lists = columns.into_iter().filter(|node| match wanted {
        None => node.is_list(),
        Some(wanted) => node.name == wanted || node.path == wanted,
    });
    let mut room = PATHS;
    ctx.session.columns = lists
        .take(if wanted.is_some() { 1 } else { MOST_COLUMNS })
        .map(|node| {
            let fits = node.path.len() <= room;
            room = room.saturating_sub(node.path.len());
            (node.id, if fits { node.path } else { String::new() })
        })
        .collect();
    if !ctx.session.columns.is_empty() {
        return Ok(());
    }
    Err(Failure::Shape(match (found, wanted) {
        (false, _) => missing(reply),
        (true, Some(wanted)) => {
            format!("no column of {} is called `{wanted}`; `dibao discover` lists them", reply.url)
        }
        (true, None) => format!("the tree of {} has no column with a list", reply.url),
    }))
}

/// What was looked for in an index that is none.
pub fn missing(reply: &Reply) -> String {
    let found = match reply.status {
        404 | 410 => format!("the page answered {}", reply.status),
        _ => "the page has none".to_owned(),
    };
    format!("looked for `window._CONFIG` with SID and TREE in {}: {found}", reply.url)
}

fn first_column(ctx: &Ctx<Config, Session>) -> Result<u64, Failure> {
    let found = ctx.session.columns.front().map(|(id, _)| *id);
    ctx.config.column_id().or(found).ok_or_else(|| Failure::Stale("the columns were forgotten".to_owned()))
}

/// The column that is read after this one.
fn column_after(ctx: &Ctx<Config, Session>, column: u64) -> Option<u64> {
    let at = ctx.session.columns.iter().position(|(id, _)| *id == column)?;
    ctx.session.columns.get(at + 1).map(|(id, _)| *id)
}

fn page(
    host: &impl Host,
    ctx: &mut Ctx<Config, Session>,
    root: &Root,
    place: Place,
    reply: &Reply,
) -> Result<Page, Failure> {
    let many = ctx.session.columns.len() > 1;
    let listing = match reply.status {
        0..=399 => answer::read(host, reply)?,
        404 | 410 if place.page > 1 => Listing::default(),
        404 | 410 if many => {
            // One empty column of many must not cost the others.
            host.log(
                Level::Warn,
                &format!("{} answered {}: the column is passed over", reply.url, reply.status),
            );
            let next = column_after(ctx, place.column);
            if next.is_none() && !ctx.session.readable {
                return Err(moved(reply));
            }
            return Ok(Page { entries: Vec::new(), next: next.map(|id| Place::first_of(id).cursor()) });
        }
        404 | 410 => return Err(moved(reply)),
        status => return Err(Failure::Refused(format!("{} answered {status}", reply.url))),
    };
    ctx.session.readable = true;
    let print = fingerprint(&listing);
    let repeats = place.page > 1
        && listing.len > 0
        && (print == ctx.session.last || print == ctx.session.first)
        && listing.offset.is_none_or(|offset| offset < place.seen);
    if repeats {
        host.log(Level::Debug, &format!("page {} repeats an earlier one: the list ends", place.page));
    }
    ctx.session.last = print;
    if place.page == 1 {
        ctx.session.first = print;
        if let (0, Some(promised)) = (listing.len, listing.post_count.filter(|count| *count > 0)) {
            host.log(
                Level::Warn,
                &format!("{} lists none of the {promised} posts of its counter", reply.url),
            );
        }
    }
    let next = match repeats {
        true => None,
        false => follows(host, ctx, place, &listing),
    };
    let next = next.or_else(|| column_after(ctx, place.column).map(Place::first_of));
    let path = ctx.session.columns.iter().find(|(id, _)| *id == place.column).map(|(_, path)| path.as_str());
    let around = Around { root, now: ctx.now, channel_path: path, pinned: many };
    let rows = if repeats { Vec::new() } else { listing.rows };
    let all = rows.len();
    let entries: Vec<_> = rows.into_iter().filter_map(|row| row.entry(host, &around)).collect();
    if all > 0 && entries.is_empty() {
        return Err(Failure::Shape(format!(
            "none of the {all} rows of {} has an address or a number",
            reply.url
        )));
    }
    if entries.len() < all {
        host.log(Level::Info, &format!("{} of {all} rows have no address", all - entries.len()));
    }
    Ok(Page { entries, next: next.map(Place::cursor) })
}

/// The next page of the same column, while there may be one.
fn follows(host: &impl Host, ctx: &Ctx<Config, Session>, place: Place, listing: &Listing) -> Option<Place> {
    let seen = listing.offset.unwrap_or(place.seen).saturating_add(listing.len);
    // A count of less than has been listed is none: some hosts say 0 of everything.
    let total = listing.total.filter(|total| *total >= seen);
    let more = listing.len > 0 && total.is_none_or(|total| seen < total);
    if more && place.page >= ctx.config.max_pages() {
        let limit = ctx.config.max_pages();
        host.log(Level::Warn, &format!("column {} goes on after hard_max_pages ({limit})", place.column));
        return None;
    }
    more.then_some(Place { page: place.page.saturating_add(1), seen, ..place })
}

fn moved(reply: &Reply) -> Failure {
    Failure::Shape(format!(
        "{} answered {}: there is no such list; correct base_url, column_id or list_api_path_tpl",
        reply.url, reply.status
    ))
}

/// A page's rows as one number (FNV-1a of their numbers and addresses): small, and the same everywhere.
fn fingerprint(listing: &Listing) -> u64 {
    let keys = listing.rows.iter().map(|row| row.id.text().or_else(|| row.url.text()).unwrap_or_default());
    keys.fold(0xcbf2_9ce4_8422_2325, |hash, key| {
        key.bytes()
            .chain([0])
            .fold(hash, |hash, byte| (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_cursor_is_read_as_it_was_written_and_no_other_way() {
        let place = Place { column: 21023, page: 2, seen: 100 };
        assert_eq!(Place::read(&place.cursor()), Some(place));
        for bad in ["", "2", "1:0:0", "1:2", "1:2:3:4", "a:1:0", "1:-1:0", "1:1:0x"] {
            assert_eq!(Place::read(bad), None, "{bad}");
        }
    }
}
