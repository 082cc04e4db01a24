//! The bodies of the fuzz targets: each takes any bytes and panics when a promise is broken. They are used twice, by
//! `cargo fuzz` and as ordinary tests over `seeds/` with deterministic mutations (`core/tests/fuzz`), so they hold no
//! state and know nothing of either.
//!
//! An input is text as far as possible: lines for the small parts, the rest for the large one. So seeds can be read and
//! written by hand, and a mutation of one part does not shift the others.

pub mod charset;
pub mod cookies_urls;
pub mod extract;
pub mod retry_after;
pub mod robots;
pub mod site_file;
pub mod verdict;

/// The first `N` lines, and everything behind them.
pub fn lines<const N: usize>(data: &[u8]) -> ([&[u8]; N], &[u8]) {
    let mut rest = data;
    let lines = std::array::from_fn(|_| {
        let end = rest.iter().position(|byte| *byte == b'\n');
        let (line, after) = match end {
            Some(end) => (&rest[..end], &rest[end + 1..]),
            None => (rest, &[][..]),
        };
        rest = after;
        line
    });
    (lines, rest)
}

/// A line as text, whatever it is.
pub fn text(line: &[u8]) -> String {
    String::from_utf8_lossy(line).into_owned()
}
