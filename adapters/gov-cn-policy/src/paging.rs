//! Where a list goes on and where it ends. The cursor is the number of the page.

use dibao_adapter::{Failure, Host, Level, Page, Reply};

use crate::config::Config;

/// The page a cursor means.
pub fn number(cursor: Option<&str>) -> Result<u32, Failure> {
    match cursor {
        None => Ok(1),
        Some(text) => text
            .parse()
            .ok()
            .filter(|page| *page > 1)
            .ok_or_else(|| Failure::Stale(format!("the stored place {text:?} is no page of a list"))),
    }
}

/// The cursor of the next page, if there is one and it may be read.
pub fn next(host: &impl Host, config: &Config, page: u32, more: bool) -> Option<String> {
    if more && page >= config.hard_max_pages {
        host.log(Level::Info, &format!("the list goes on behind page {page}; hard_max_pages ends it here"));
        return None;
    }
    more.then(|| (page + 1).to_string())
}

/// A page without rows that ends a list.
pub fn end() -> Page {
    Page { entries: Vec::new(), next: None }
}

/// A page without rows: the end of a list, or of a search that finds nothing. The library as a whole is never empty; an
/// answer that says so is another answer than the one asked for.
pub fn empty(page: u32, whole_library: bool, reply: &Reply) -> Result<Page, Failure> {
    if page == 1 && whole_library {
        return Err(Failure::Shape(format!("{} says that the whole library is empty", reply.url)));
    }
    Ok(end())
}

/// Rows of one page that the contract allows. These have twenty to four hundred.
const MOST_ROWS: usize = 10_000;

/// Rows without an address: a remark, and a failure when there are no others.
pub fn complain(
    host: &impl Host,
    good: usize,
    all: usize,
    field: &str,
    reply: &Reply,
) -> Result<(), Failure> {
    if good == 0 {
        return Err(Failure::Shape(format!("{all} rows in {}, but no address in `{field}`", reply.url)));
    }
    if all > MOST_ROWS {
        return Err(Failure::Shape(format!("{} has {all} rows, which is no page of a list", reply.url)));
    }
    if good < all {
        host.log(Level::Info, &format!("{} of {all} rows have no address", all - good));
    }
    Ok(())
}
