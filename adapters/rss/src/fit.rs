//! Values of a feed kept within what the contract allows: a title of megabytes costs its own end, not the feed it
//! stands in. Characters that no text has, NUL above all, are dropped.

use crate::entities;

/// Bytes of a title, a date, a source, a named value.
const VALUE: usize = 16 * 1024;
/// Bytes of an identifier or a file's name.
const NAME: usize = 1024;
/// Bytes of an address: browsers and servers stop about here.
const LINK: usize = 8 * 1024;

/// A title, a date or the like, cut where it is too long; none when nothing is left.
pub fn value(text: &str) -> Option<String> {
    Some(cut(text.trim(), VALUE)).filter(|text| !text.is_empty())
}

/// An identifier or a file's name, cut where it is too long; none when nothing is left.
pub fn name(text: &str) -> Option<String> {
    Some(cut(text.trim(), NAME)).filter(|text| !text.is_empty())
}

/// An address, if it can be one. A cut one would lead elsewhere.
pub fn link(url: &str) -> Option<String> {
    let url = url.trim();
    let good = (1..=LINK).contains(&url.len()) && !url.contains(|c: char| c.is_control());
    good.then(|| url.to_owned())
}

/// Text without the characters that no text has. Those between U+0080 and U+009F are bytes of Windows that somebody took
/// for Latin-1: dashes and quotation marks.
pub fn clean(text: &str) -> String {
    let meant = text.chars().filter_map(|c| match c {
        '\u{80}'..='\u{9f}' => entities::character(u32::from(c)),
        other => Some(other),
    });
    meant.filter(|c| !c.is_control() || matches!(c, '\n' | '\t')).collect()
}

fn cut(text: &str, limit: usize) -> String {
    clean(&text[..text.floor_char_boundary(limit)])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_long_value_is_cut_between_characters_and_holds_no_nul() {
        assert_eq!(value(" 通\0知 ").as_deref(), Some("通知"));
        assert_eq!(value("it\u{92}s \u{93}so\u{94}\u{81}").as_deref(), Some("it’s “so”"));
        assert_eq!(value(&"长".repeat(100_000)).map(|text| text.len()), Some(VALUE - VALUE % 3));
        assert_eq!((value(" \0"), link("a\0b"), link(&"a".repeat(LINK + 1))), (None, None, None));
    }
}
