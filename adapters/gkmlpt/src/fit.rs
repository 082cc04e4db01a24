//! Page-made values kept within what the contract and the store allow: a title of megabytes costs its own end, not
//! the list it stands in.

/// Bytes of a title, a date, a named value: what the store keeps of one (4,000 characters).
const VALUE: usize = 16 * 1024;
/// Bytes of an identifier or a file's name.
const NAME: usize = 1024;
/// Bytes of an address: browsers and servers stop about here.
const LINK: usize = 8 * 1024;

/// A title, a date or the like, cut where it is too long. No text of a site may hold a zero byte.
pub fn value(text: String) -> String {
    cut(text, VALUE)
}

/// An identifier or a file's name, cut where it is too long.
pub fn name(text: String) -> String {
    cut(text, NAME)
}

/// An address on the web, as far as its text tells; a cut one would lead elsewhere, so a long one is none.
pub fn link(text: &str) -> Option<String> {
    let text = crate::scalar::clean(text);
    let scheme =
        text.split([':', '/', '?', '#']).next().filter(|scheme| text[scheme.len()..].starts_with(':'));
    let web = scheme.is_none_or(|s| s.eq_ignore_ascii_case("http") || s.eq_ignore_ascii_case("https"));
    let good =
        web && !text.is_empty() && !text.starts_with('#') && text.len() <= LINK && !text.contains('\0');
    good.then(|| text.to_owned())
}

fn cut(mut text: String, limit: usize) -> String {
    if text.len() > limit {
        text.truncate(text.floor_char_boundary(limit));
    }
    if text.contains('\0') {
        text.retain(|c| c != '\0');
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn long_values_are_cut_between_characters_and_zero_bytes_dropped() {
        assert_eq!(value("通知".into()), "通知");
        assert_eq!(value("长".repeat(100_000)).len(), VALUE - VALUE % 3);
        assert_eq!(value("a\0b".into()), "ab");
    }

    #[test]
    fn only_addresses_on_the_web_are_links() {
        for good in [" https://a.cn/1 ", "//a.cn/1", "/1", "content/post_1.html", "HTTP://a.cn", "?id=a:b"] {
            assert_eq!(link(good).as_deref(), Some(good.trim()));
        }
        for bad in ["", " ", "#2972", "javascript:void(0)", "mailto:a@b.cn", "weixin://x"] {
            assert_eq!(link(bad), None, "{bad}");
        }
        assert_eq!(link(&format!("https://a.cn/{}", "a".repeat(LINK))), None);
    }
}
