//! Pages of lists: the seed's `{count, total, limit, offset, items}` (S2-57), and an opaque cursor beside it (S2-66).

use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use serde::{Deserialize, Serialize};

use crate::Refusal;

/// The longest page.
pub const MAX_LIMIT: u32 = 200;
/// The usual page.
const LIMIT: u32 = 50;

/// Which page.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct Paging {
    /// At most so many rows: 1 to 200; none: 50.
    pub limit: Option<u32>,
    /// Passes over so many.
    pub offset: Option<u64>,
    /// Goes on where the page ended that gave it, however deep that is; takes the place of `offset`.
    pub cursor: Option<String>,
}

impl Paging {
    /// The first rows.
    pub fn first(limit: u32) -> Paging {
        Paging { limit: Some(limit), ..Paging::default() }
    }

    /// The limit, when it is one.
    pub(crate) fn rows(&self) -> Result<u32, Refusal> {
        match self.limit.unwrap_or(LIMIT) {
            limit @ 1..=MAX_LIMIT => Ok(limit),
            limit => Err(Refusal::invalid(
                "limit",
                format!("{limit} rows are no page"),
                format!("ask for 1 to {MAX_LIMIT}; go on with `cursor`"),
            )),
        }
    }

    pub(crate) fn skip(&self) -> u64 {
        self.offset.unwrap_or(0)
    }

    /// The place where the page before ended.
    pub(crate) fn place(&self, list: &str) -> Result<Option<Cursor>, Refusal> {
        let Some(text) = self.cursor.as_deref().filter(|text| !text.is_empty()) else { return Ok(None) };
        Cursor::read(list, text).map(Some)
    }
}

/// A page of a list.
#[derive(Clone, Debug, PartialEq, Serialize, schemars::JsonSchema)]
pub struct Page<T> {
    /// Rows on this page.
    pub count: u32,
    /// Rows of the whole list; at least so many when `total_exact` is false.
    pub total: u64,
    /// Whether `total` was counted to the end.
    pub total_exact: bool,
    /// The limit that was asked for.
    pub limit: u32,
    /// Rows before this page.
    pub offset: u64,
    /// The rows.
    pub items: Vec<T>,
    /// Leads to the next page; none: this is the last.
    pub cursor: Option<String>,
}

impl<T> Page<T> {
    /// The part of a whole list that a paging asks for. A cursor of another `list` leads nowhere.
    pub fn of(all: Vec<T>, paging: &Paging, list: &str) -> Result<Page<T>, Refusal> {
        let limit = paging.rows()?;
        let from = match paging.place(list)? {
            Some(place) => u64::try_from(place.at).unwrap_or(0).saturating_add(place.seen),
            None => paging.skip(),
        };
        let total = all.len() as u64;
        let skip = usize::try_from(from).unwrap_or(usize::MAX);
        let items: Vec<T> = all.into_iter().skip(skip).take(limit as usize).collect();
        let next = from + items.len() as u64;
        let cursor = (next < total).then(|| Cursor { at: next as i64, ..Cursor::default() }.write(list));
        Ok(Page { count: items.len() as u32, total, total_exact: true, limit, offset: from, items, cursor })
    }

    /// The same page with its rows shown otherwise.
    pub fn map<U>(self, show: impl FnMut(T) -> U) -> Page<U> {
        let Page { count, total, total_exact, limit, offset, items, cursor } = self;
        let items = items.into_iter().map(show).collect();
        Page { count, total, total_exact, limit, offset, items, cursor }
    }
}

/// Where a page ended: the sort key and the number of its last row, and how many rows went before. Opaque outside.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub(crate) struct Cursor {
    #[serde(rename = "a")]
    pub(crate) at: i64,
    #[serde(rename = "i", default)]
    pub(crate) id: i64,
    #[serde(rename = "n", default)]
    pub(crate) seen: u64,
    /// What was asked: a cursor of another question leads nowhere.
    #[serde(rename = "q", default)]
    pub(crate) asked: String,
}

impl Cursor {
    pub(crate) fn write(&self, list: &str) -> String {
        URL_SAFE_NO_PAD.encode(serde_json::to_vec(&(list, self)).unwrap_or_default())
    }

    fn read(list: &str, text: &str) -> Result<Cursor, Refusal> {
        let fault = || {
            Refusal::invalid(
                "cursor",
                "leads nowhere",
                "use the `cursor` of the page before, with the same filters",
            )
        };
        if text.len() > 1000 {
            return Err(fault());
        }
        let bytes = URL_SAFE_NO_PAD.decode(text).map_err(|_| fault())?;
        let (of, cursor): (String, Cursor) = serde_json::from_slice(&bytes).map_err(|_| fault())?;
        if of == list { Ok(cursor) } else { Err(fault()) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_cursor_leads_through_the_whole_list_once() {
        let mut paging = Paging::first(3);
        let mut seen = Vec::new();
        loop {
            let page = Page::of((0..8).collect(), &paging, "numbers").unwrap();
            assert_eq!((page.total, page.limit, page.count as usize), (8, 3, page.items.len()));
            seen.extend(page.items);
            match page.cursor {
                Some(cursor) => paging.cursor = Some(cursor),
                None => break,
            }
        }
        assert_eq!(seen, (0..8).collect::<Vec<_>>());
    }

    #[test]
    fn what_is_no_page_is_refused_with_its_field() {
        for (paging, field) in [
            (Paging::first(0), "limit"),
            (Paging::first(201), "limit"),
            (Paging { cursor: Some("x".into()), ..Paging::default() }, "cursor"),
            (Paging { cursor: Some(Cursor::default().write("other")), ..Paging::default() }, "cursor"),
        ] {
            let refusal = Page::of(vec![1], &paging, "numbers").unwrap_err();
            assert_eq!((refusal.field(), refusal.http_status()), (Some(field), 422));
        }
    }
}
