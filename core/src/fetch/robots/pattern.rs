//! How a path and a rule's pattern are written down for comparison, and whether they match. Pure.
//!
//! There are two ways to write them. The *plain* form is RFC 9309 §2.2.2: escapes of unreserved characters are
//! undone, everything that may not stand in a URL is escaped, both in the rule and in the URL; the gate compares
//! these. The form *as written* differs in what the published cases of Google's matcher leave to its caller: escaped
//! letters and digits stay escaped, and bytes outside ASCII are escaped in the rule, not in the URL.

use std::borrow::Cow;

use url::Url;

/// Whether `pattern` matches the beginning of `path`: `*` is any run of characters, `$` at its end is the end.
///
/// Time is linear in both, whatever the pattern: each part between two stars is looked for once, to the right of
/// the one before (the leftmost place leaves most room for the rest), by the linear search of `str::find`.
pub(super) fn matches(path: &str, pattern: &str) -> bool {
    let (pattern, to_the_end) = match pattern.strip_suffix('$') {
        Some(pattern) => (pattern, true),
        None => (pattern, false),
    };
    let mut parts = pattern.split('*');
    let Some(mut rest) = path.strip_prefix(parts.next().unwrap_or_default()) else { return false };
    let mut parts = parts.peekable();
    if parts.peek().is_none() {
        return !to_the_end || rest.is_empty();
    }
    while let Some(part) = parts.next() {
        if to_the_end && parts.peek().is_none() {
            return rest.ends_with(part);
        }
        match rest.find(part) {
            Some(at) => rest = &rest[at + part.len()..],
            None => return false,
        }
    }
    true
}

/// `Allow: /a/index.html` also means the directory itself (Google's reading): `/a/`.
pub(super) fn directory_of_index(pattern: &str) -> Option<&str> {
    let slash = pattern.rfind('/')?;
    pattern[slash..].starts_with("/index.htm").then(|| &pattern[..=slash])
}

/// A rule's value as it is compared with an address as somebody wrote it. The answer is ASCII.
pub(super) fn written_rule(value: &[u8]) -> String {
    plain(value, true, Form::Written)
}

/// A rule's value in the plain form: stars and a final `$` keep their meaning.
pub(super) fn plain_rule(value: &[u8]) -> String {
    plain(value, true, Form::Plain)
}

/// Path and query of a URL in the plain form.
pub(super) fn plain_path(url: &Url) -> String {
    let mut path = url.path().to_owned();
    if !path.starts_with('/') {
        path.insert(0, '/');
    }
    if let Some(query) = url.query() {
        path.push('?');
        path.push_str(query);
    }
    plain(path.as_bytes(), false, Form::Plain)
}

#[derive(Clone, Copy, PartialEq)]
enum Form {
    Plain,
    Written,
}

fn plain(text: &[u8], is_rule: bool, form: Form) -> String {
    let mut out = String::with_capacity(text.len() + 8);
    let mut at = 0;
    while let Some(&byte) = text.get(at) {
        if let Some(escaped) = escape_at(text, at) {
            let undone = is_unreserved(escaped) && (form == Form::Plain || !escaped.is_ascii_alphanumeric());
            if undone {
                out.push(escaped as char);
            } else {
                push_escape(&mut out, escaped);
            }
            at += 3;
            continue;
        }
        at += 1;
        match byte {
            b'*' if is_rule => out.push('*'),
            b'$' if is_rule && at == text.len() => out.push('$'),
            // §2.2.3: whoever means these characters themselves writes their escapes.
            b'*' | b'$' => push_escape(&mut out, byte),
            // A lone `%` is no escape of anything.
            b'%' => out.push('%'),
            _ if is_unreserved(byte) || b"!&'()+,;=:@/?#[]".contains(&byte) => out.push(byte as char),
            _ => push_escape(&mut out, byte),
        }
    }
    out
}

/// Path, parameters and query of an address as somebody wrote it, which may lack its scheme or be empty.
pub(super) fn written_path(address: &str) -> String {
    let path = cut(address);
    // What is outside ASCII stays as it is, and so matches no rule that names it: an address is given escaped.
    let mut out = String::with_capacity(path.len());
    for piece in path.split_inclusive(|c: char| !c.is_ascii()) {
        let ascii = piece.trim_end_matches(|c: char| !c.is_ascii());
        out.push_str(&plain(ascii.as_bytes(), false, Form::Written));
        out.push_str(&piece[ascii.len()..]);
    }
    out
}

fn cut(address: &str) -> Cow<'_, str> {
    let is_start = |c: char| matches!(c, '/' | '?' | ';');
    let address = address.split_once('#').map_or(address, |(before, _)| before);
    let address = address.strip_prefix("//").unwrap_or(address);
    let after_scheme = match (address.find("://"), address.find(is_start)) {
        (Some(scheme), Some(start)) if start > scheme => &address[scheme + 3..],
        _ => address,
    };
    match after_scheme.find(is_start).map(|start| &after_scheme[start..]) {
        Some(path) if path.starts_with('/') => Cow::Borrowed(path),
        Some(query) => Cow::Owned(format!("/{query}")),
        None => Cow::Borrowed("/"),
    }
}

/// The byte that an escape at this place stands for.
fn escape_at(text: &[u8], at: usize) -> Option<u8> {
    let digit = |at: usize| (*text.get(at)? as char).to_digit(16);
    if text.get(at) != Some(&b'%') {
        return None;
    }
    Some((digit(at + 1)? * 16 + digit(at + 2)?) as u8)
}

fn push_escape(out: &mut String, byte: u8) {
    out.push('%');
    for nibble in [byte >> 4, byte & 15] {
        out.push(b"0123456789ABCDEF"[usize::from(nibble)] as char);
    }
}

/// RFC 3986 §2.3.
fn is_unreserved(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || b"-._~".contains(&byte)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn stars_and_dollars_match_as_written_in_the_standard() {
        #[rustfmt::skip]
        let table: &[(&str, &[&str], &[&str])] = &[
            ("/", &["/", "/a"], &[]),
            ("/a", &["/a", "/ab", "/a/b"], &["/", "/A", "/b/a"]),
            ("/a*", &["/a", "/ab"], &["/b"]),
            ("*", &["/", "/x"], &[]),
            ("*$", &["/", "/x"], &[]),
            ("$", &[], &["/", "/x"]),
            ("/$", &["/"], &["/x"]),
            ("/*/c", &["/a/c", "//c", "/a/b/cd"], &["/c", "/a/b"]),
            ("/a$b", &["/a$b", "/a$bc"], &["/a", "/ab"]),
            ("/*.pdf$", &["/x.pdf", "/x.pdf.pdf", "/a/.pdf"], &["/x.pdf?y", "/x.pdfs"]),
            ("/*a*a$", &["/aa", "/aaa", "/bac/a"], &["/a", "/ab"]),
            ("/ab*b$", &["/abb", "/ab/b"], &["/ab"]),
            ("/***b", &["/b", "/ab"], &["/a"]),
            ("x", &[], &["/x"]),
            ("", &["/", "/x"], &[]),
        ];
        for (pattern, hits, misses) in table {
            for path in *hits {
                assert!(matches(path, pattern), "{pattern} matches {path}");
            }
            for path in *misses {
                assert!(!matches(path, pattern), "{pattern} does not match {path}");
            }
        }
    }

    #[test]
    fn a_rule_and_a_url_that_mean_the_same_are_written_the_same() {
        for (rule, url) in [
            ("/通知", "/通知"),
            ("/%e9%80%9a%E7%9f%a5", "/通知"),
            ("/%62%61%7A", "/baz"),
            ("/baz", "/%62%61%7a"),
            ("/a b", "/a%20b"),
            ("/a|b{c}", "/a|b{c}"),
            ("/%7Euser", "/~user"),
            ("/x%2a", "/x*"),
            ("/x%24", "/x$"),
            ("/x$y", "/x$y"),
            ("/?a=%e9", "/?a=%E9"),
            ("/100%", "/100%"),
        ] {
            let url = Url::parse("https://example.cn").unwrap().join(url).unwrap();
            assert_eq!(plain_rule(rule.as_bytes()), plain_path(&url), "{rule} {url}");
        }
        assert_ne!(plain_rule(b"/a%2Fb"), plain_rule(b"/a/b"), "reserved characters keep their escapes");
    }

    #[test]
    fn escapes_are_the_same_in_either_case_and_special_characters_may_be_escaped() {
        for (rule, address) in [
            ("/a%3cd", "/a%3Cd"),
            ("/a%3Cd", "/a%3cd"),
            ("/a<d", "/a%3cd"),
            ("/a%3cd", "https://h/a<d"),
            ("/%7ejoe", "/~joe"),
            ("/~joe", "/%7Ejoe"),
            ("/x%24", "/x$"),
            ("/x$/y", "/x%24/y"),
            ("/x%2A", "/x*"),
            ("/x*y$", "/x-y"),
        ] {
            assert!(matches(&written_path(address), &written_rule(rule.as_bytes())), "{rule} {address}");
        }
        for (rule, address) in [("/a%2fb", "/a/b"), ("/x%2A", "/xy"), ("/b", "/%62"), ("/通", "/通")] {
            assert!(!matches(&written_path(address), &written_rule(rule.as_bytes())), "{rule} {address}");
        }
    }

    #[test]
    fn what_is_written_is_changed_as_little_as_google_does() {
        assert_eq!(written_rule("/é/%aa/%62/%zz/%".as_bytes()), "/%C3%A9/%AA/%62/%zz/%");
        assert_eq!(written_rule(b"/\xcd\xa8"), "/%CD%A8");
        #[rustfmt::skip]
        let paths = [
            ("", "/"), ("host", "/"), ("host/", "/"), ("host/p", "/p"), ("/p", "/p"), ("//host/p/q", "/p/q"),
            ("https://host", "/"), ("https://host#x/y", "/"), ("https://host/p;q?r#s", "/p;q?r"),
            ("https://host?q", "/?q"), ("https://host;q", "/;q"), ("host/p?u=https://h/", "/p?u=https://h/"),
        ];
        for (address, path) in paths {
            assert_eq!(written_path(address), path, "{address}");
        }
    }

    /// The definition, slow and obvious.
    fn matches_by_definition(path: &[u8], pattern: &[u8]) -> bool {
        match pattern {
            [] => true,
            [b'$'] => path.is_empty(),
            [b'*', rest @ ..] => (0..=path.len()).any(|skip| matches_by_definition(&path[skip..], rest)),
            [first, rest @ ..] => path.first() == Some(first) && matches_by_definition(&path[1..], rest),
        }
    }

    proptest! {
        #[test]
        fn matching_agrees_with_its_definition(path in "/[ab$]{0,8}", pattern in "[/ab*$]{0,7}") {
            prop_assert_eq!(matches(&path, &pattern), matches_by_definition(path.as_bytes(), pattern.as_bytes()));
        }

        #[test]
        fn whatever_bytes_a_rule_has_its_patterns_are_ascii(value in proptest::collection::vec(any::<u8>(), 0..40)) {
            prop_assert!(plain_rule(&value).is_ascii());
            prop_assert!(written_rule(&value).is_ascii());
        }
    }
}
