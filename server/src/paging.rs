//! Lists come in pages: so many from here, or on from where the last page ended.

use base64::Engine as _;
use base64::prelude::BASE64_URL_SAFE_NO_PAD;
use schemars::JsonSchema;
use serde::Serialize;

use crate::problem::Problem;

/// A page when nothing is said.
pub const USUAL: u32 = 50;

/// A page of a list.
#[derive(Debug, Serialize, JsonSchema)]
pub struct Page<T> {
    /// Items on this page.
    pub count: usize,
    /// Items in all; at least so many when `total_exact` is false.
    pub total: u64,
    /// Whether `total` was counted to the end.
    pub total_exact: bool,
    /// Items that a page has at most.
    pub limit: u32,
    /// Items before this page.
    pub offset: u64,
    /// The items.
    pub items: Vec<T>,
    /// Leads to the next page; null on the last one.
    pub cursor: Option<String>,
}

/// Which page was asked for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Asked {
    pub limit: u32,
    pub offset: u64,
}

/// The parameters that every list has; a cursor holds the offset and cannot be made by hand.
pub fn asked(limit: Option<u32>, offset: Option<u64>, cursor: Option<&str>) -> Result<Asked, Problem> {
    let limit = limit.unwrap_or(USUAL);
    let offset = match cursor {
        None => offset.unwrap_or(0),
        Some(cursor) => {
            let bytes = BASE64_URL_SAFE_NO_PAD.decode(cursor).ok();
            let text = bytes.and_then(|bytes| String::from_utf8(bytes).ok());
            let offset = text.as_deref().and_then(|text| text.strip_prefix("o:")?.parse().ok());
            offset.ok_or_else(|| Problem::invalid("cursor", "is not one that an answer of this list gave"))?
        }
    };
    Ok(Asked { limit, offset })
}

impl<T> Page<T> {
    /// One page that was read as such.
    pub fn of(asked: Asked, total: u64, items: Vec<T>) -> Page<T> {
        let end = asked.offset.saturating_add(items.len() as u64);
        let cursor =
            (end < total && !items.is_empty()).then(|| BASE64_URL_SAFE_NO_PAD.encode(format!("o:{end}")));
        Page {
            count: items.len(),
            total,
            total_exact: true,
            limit: asked.limit,
            offset: asked.offset,
            items,
            cursor,
        }
    }

    /// A page of the desk.
    pub fn shown<U>(page: dibao::desk::Page<U>, show: impl FnMut(U) -> T) -> Page<T> {
        Page {
            count: page.items.len(),
            total: page.total,
            total_exact: page.total_exact,
            limit: page.limit,
            offset: page.offset,
            items: page.items.into_iter().map(show).collect(),
            cursor: page.cursor,
        }
    }

    /// One page of everything.
    pub fn cut<U>(asked: Asked, all: Vec<U>, mut show: impl FnMut(U) -> T) -> Page<T> {
        let total = all.len() as u64;
        let skip = usize::try_from(asked.offset).unwrap_or(usize::MAX);
        let items = all.into_iter().skip(skip).take(asked.limit as usize).map(&mut show).collect();
        Page::of(asked, total, items)
    }
}

/// The parameters of a list that is cut here and not at the desk.
pub trait Listed {
    fn page(&self) -> Result<Asked, Problem>;
}

/// Declares the parameters of a list: those of its own, and where it is cut.
macro_rules! list_query {
    ($(#[$about:meta])* $name:ident { $($(#[$meta:meta])* $field:ident: $type:ty),* $(,)? }) => {
        $(#[$about])*
        #[derive(Clone, Debug, Default, serde::Deserialize, schemars::JsonSchema)]
        #[serde(deny_unknown_fields)]
        pub struct $name {
            $($(#[$meta])* pub $field: Option<$type>,)*
            /// Items on a page.
            #[schemars(range(min = 1, max = 200))]
            pub limit: Option<u32>,
            /// Items before the page.
            #[schemars(range(min = 0, max = 1_000_000_000))]
            pub offset: Option<u64>,
            /// `cursor` of the page before, in place of `offset`.
            #[schemars(length(min = 1, max = 500))]
            pub cursor: Option<String>,
        }

        impl crate::paging::Listed for $name {
            fn page(&self) -> Result<crate::paging::Asked, crate::problem::Problem> {
                crate::paging::asked(self.limit, self.offset, self.cursor.as_deref())
            }
        }
    };
}
pub(crate) use list_query;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pages_follow_each_other_to_the_end() {
        let all: Vec<u32> = (0..7).collect();
        let (mut seen, mut cursor) = (Vec::new(), None::<String>);
        loop {
            let asked = asked(Some(3), None, cursor.as_deref()).unwrap();
            let page = Page::cut(asked, all.clone(), |n| n);
            assert_eq!((page.total, page.limit, page.count), (7, 3, page.items.len()));
            seen.extend(page.items);
            cursor = page.cursor;
            if cursor.is_none() {
                break;
            }
        }
        assert_eq!(seen, all);
        let beyond = Page::cut(asked(None, Some(u64::MAX), None).unwrap(), all, |n| n);
        assert_eq!((beyond.count, beyond.cursor), (0, None));
        assert!(asked(None, None, Some("5")).is_err());
    }
}
