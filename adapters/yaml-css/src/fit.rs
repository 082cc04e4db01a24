//! Page-made values kept within what the contract allows: a title of megabytes costs its own end, not the list
//! it stands in.

/// Bytes of a title, a date, a source, a named value: all that the store keeps of one (4,000 characters).
const VALUE: usize = 16 * 1024;
/// Bytes of an identifier or a file's name.
const NAME: usize = 1024;
/// Bytes of an address: browsers and servers stop about here.
const LINK: usize = 8 * 1024;

/// A title, a date or the like, cut where it is too long.
pub fn value(text: String) -> String {
    cut(text, VALUE)
}

/// An identifier or a file's name, cut where it is too long.
pub fn name(text: String) -> String {
    cut(text, NAME)
}

/// Whether an address can be one. A cut one would lead elsewhere.
pub fn is_link(url: &str) -> bool {
    url.len() <= LINK
}

fn cut(mut text: String, limit: usize) -> String {
    if text.len() > limit {
        text.truncate(text.floor_char_boundary(limit));
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_long_value_is_cut_between_characters() {
        assert_eq!(value("通知".into()), "通知");
        assert_eq!(value("长".repeat(100_000)).len(), VALUE - VALUE % 3);
        assert!(!is_link(&"a".repeat(LINK + 1)));
    }
}
