//! One page of a list: an answer in, entries out (S2-19, S2-31).
//!
//! A list that cannot be read is a failure, never an empty success: on the first page no rows means that the
//! site or the selector changed. On a later page the same is the end of the list.

use dibao_adapter::{Ctx, Entry, Failure, Host, Level, Page, Reply, Select};

use crate::config::{Config, ListSelector};
use crate::{Session, css, fit, json, native_id, paging, records};

/// How many addresses of a page are remembered. Pages have 10 to 100 rows; the session holds 64 KiB.
const REMEMBERED: usize = 1000;

/// Reads the answer to the request for `page`.
pub fn read(
    host: &impl Host,
    ctx: &mut Ctx<Config, Session>,
    page: u32,
    reply: &Reply,
) -> Result<Page, Failure> {
    if page > 1 && matches!(reply.status, 404 | 410) {
        return Ok(end());
    }
    usable(reply)?;
    let read = match (&ctx.config.list_json, &ctx.config.list_selector) {
        (Some(list), _) => json::read(host, list, reply),
        (None, Some(list)) => html(host, list, reply),
        (None, None) => {
            return Err(Failure::Config("neither list_selector nor list_json is set".to_owned()));
        }
    };
    let entries = match read {
        Err(Failure::Shape(_)) if page > 1 => return Ok(end()),
        read => read?,
    };
    let hashes: Vec<u32> = entries.iter().take(REMEMBERED).map(|entry| hash(&entry.url)).collect();
    if page > 1 && hashes.iter().all(|hash| ctx.session.last_page.contains(hash)) {
        // Many sites answer a number past the end with the last page, or with the first.
        host.log(Level::Debug, &format!("page {page} repeats the one before: the list ends"));
        return Ok(end());
    }
    ctx.session.last_page = hashes;
    Ok(Page { entries, next: paging::next(&ctx.config, page) })
}

fn end() -> Page {
    Page { entries: Vec::new(), next: None }
}

/// Whether an answer is worth reading.
pub fn usable(reply: &Reply) -> Result<(), Failure> {
    match reply.status {
        0..=399 => Ok(()),
        404 | 410 => Err(Failure::Shape(format!(
            "{} answered {}: the list has moved; correct list_url",
            reply.url, reply.status
        ))),
        status => Err(Failure::Refused(format!("{} answered {status}", reply.url))),
    }
}

fn html(host: &impl Host, list: &ListSelector, reply: &Reply) -> Result<Vec<Entry>, Failure> {
    let native = list.native_id.as_deref();
    let (native_rule, native_css) = match native {
        Some(rule) if rule.contains("{digits}") => (Some(rule), None),
        css => (None, css),
    };
    let further =
        [list.date.clone(), list.pinned.as_deref().map(css::as_html), native_css.map(str::to_owned)];
    // Columns 0 and 1 are link and title; the others come as far as they are set.
    let mut width = 2;
    let [date, pinned, native] = further.each_ref().map(|css| {
        css.as_ref().map(|_| {
            width += 1;
            width - 1
        })
    });
    let asked = |page: Select| {
        let select = page.row(&list.row).one(&list.href).one(&list.title);
        further.iter().flatten().fold(select, |select, css| select.one(css)).run(host)
    };
    let mut rows = asked(Select::reply(&reply.tag))?;
    let unwrapped = if rows.is_empty() { records::unwrapped(host, reply) } else { None };
    if let Some(text) = &unwrapped {
        rows = asked(Select::text(text))?;
    }
    let all = rows.len();
    if all == 0 {
        return Err(Failure::Shape(format!(
            "list_selector.row `{}` matches nothing on {}",
            list.row, reply.url
        )));
    }
    let pins = match &list.pinned {
        Some(pinned) if unwrapped.is_none() => pinned_rows(host, list, pinned, rows.alternative(), reply)?,
        _ => Vec::new(),
    };
    let mut entries = Vec::with_capacity(all);
    for mut row in rows.iter_mut() {
        let Some(url) = row.take(0).filter(|url| is_link(url)) else { continue };
        entries.push(Entry {
            title: row.take(1).map(fit::value).unwrap_or_default(),
            published: date.and_then(|column| row.take(column)).map(fit::value),
            pinned: pins.contains(&url) || pinned.is_some_and(|column| row.get(column).is_some()),
            native_id: match native_rule {
                Some(rule) => native_id::in_address(rule, &url).map(fit::name),
                None => native.and_then(|column| row.take(column)).map(fit::name),
            },
            fields: Vec::new(),
            url,
        });
    }
    if entries.is_empty() {
        return Err(Failure::Shape(format!(
            "{all} rows match `{}` on {}, but list_selector.href `{}` finds no link in them",
            list.row, reply.url, list.href
        )));
    }
    if entries.len() < all {
        host.log(Level::Info, &format!("{} of {all} rows have no link", all - entries.len()));
    }
    Ok(entries)
}

/// Links of the rows that are themselves marked, as `li.top` is: a query inside a row does not see the row.
fn pinned_rows(
    host: &impl Host,
    list: &ListSelector,
    pinned: &str,
    alternative: u32,
    reply: &Reply,
) -> Result<Vec<String>, Failure> {
    let rows = css::alternatives(&list.row);
    let row = rows.get(alternative as usize).copied().unwrap_or(&list.row);
    let marks: Vec<&str> = css::alternatives(pinned).into_iter().map(css::without_ending).collect();
    let marked = format!(":is({row}):is({})", marks.join(", "));
    let mut rows = Select::reply(&reply.tag).row(&marked).one(&list.href).run(host)?;
    Ok(rows.iter_mut().filter_map(|mut row| row.take(0)).collect())
}

/// Whether a link leads to a document, as far as its text tells.
fn is_link(url: &str) -> bool {
    let url = url.trim();
    let scheme = url.split(':').next().filter(|scheme| scheme.len() < url.len());
    let foreign = scheme.is_some_and(|scheme| {
        ["javascript", "mailto", "tel", "data", "about"].iter().any(|s| scheme.eq_ignore_ascii_case(s))
    });
    !url.is_empty() && !url.starts_with('#') && !foreign && fit::is_link(url)
}

/// FNV-1a: small, and the same everywhere.
fn hash(text: &str) -> u32 {
    text.bytes().fold(0x811c_9dc5, |hash, byte| (hash ^ u32::from(byte)).wrapping_mul(0x0100_0193))
}
