//! Addresses in a feed: relative ones made whole (RFC 3986, section 5), without a URL library, which would be
//! larger than the rest of the adapter. Whether an address is a good one is the host's to say.

use std::cell::Cell;

/// Bytes of a base that is believed; a longer one could be no address.
const LONGEST_BASE: usize = 8 * 1024;
/// Bytes of bases that are put before relative links, in one answer: ten thousand entries with two links each and a
/// base of a hundred. What is written in full costs nothing.
const ROOM: usize = 2 << 20;

/// What relative links may still grow by. A base of kilobytes and a million links of one letter fit into one answer; what
/// they make together does not fit into a guest.
pub struct Room(Cell<usize>);

impl Room {
    /// The room of one answer.
    pub fn new() -> Room {
        Room(Cell::new(ROOM))
    }

    /// `link` seen from `base`; none when there is no room left for it.
    pub fn join(&self, base: &str, link: &str) -> Option<String> {
        if has_scheme(link.trim()) {
            return Some(link.trim().to_owned());
        }
        let left = self.0.get().checked_sub(base.len()).filter(|_| base.len() <= LONGEST_BASE)?;
        self.0.set(left);
        Some(join(base, link))
    }
}

/// `link` seen from `base`.
pub fn join(base: &str, link: &str) -> String {
    let link = link.trim();
    if has_scheme(link) {
        return link.to_owned();
    }
    let (scheme_end, authority_end) = match parts(base) {
        Some(parts) => parts,
        None => return link.to_owned(),
    };
    if link.is_empty() {
        return without(base, &['#']).to_owned();
    }
    if let Some(rest) = link.strip_prefix("//") {
        return format!("{}//{rest}", &base[..scheme_end + 1]);
    }
    let root = &base[..authority_end];
    let (reach, tail) = split_tail(link);
    if reach.is_empty() {
        let keep = if link.starts_with('#') { &['#'][..] } else { &['?', '#'][..] };
        return format!("{}{tail}", without(base, keep));
    }
    let path = without(&base[authority_end..], &['?', '#']);
    let merged = match reach.starts_with('/') {
        true => reach.to_owned(),
        false => format!("{}{reach}", &path[..path.rfind('/').map_or(0, |slash| slash + 1)]),
    };
    format!("{root}{}{tail}", without_dots(&merged))
}

/// Whether an address says where on the web it is. What only a parser of addresses can tell is left to the host, which
/// leaves out the row.
pub fn is_web(link: &str) -> bool {
    let Some(scheme) = web_scheme(link) else { return false };
    let rest = &link[scheme + 3..];
    let authority = &rest[..rest.find(['/', '?', '#', '\\']).unwrap_or(rest.len())];
    let authority = authority.rsplit_once('@').map_or(authority, |(_, host)| host);
    let bracketed = authority.strip_prefix('[').and_then(|inside| inside.split_once(']'));
    let (good_name, port) = match bracketed {
        Some((inside, behind)) => {
            let six =
                inside.contains(':') && inside.bytes().all(|b| b.is_ascii_hexdigit() || b":.".contains(&b));
            (six, behind)
        }
        None => {
            let (name, port) = authority.split_at(authority.find(':').unwrap_or(authority.len()));
            (is_name(name), port)
        }
    };
    let digits = port.strip_prefix(':').unwrap_or_default();
    let good_port = port.is_empty() || digits.is_empty() || digits.parse::<u16>().is_ok();
    good_name && good_port && (port.is_empty() || port.starts_with(':'))
}

/// Names of other scripts are names too: `пример.рф`, `例え.jp`.
fn is_name(name: &str) -> bool {
    let is_letter = |c: char| c.is_ascii_alphanumeric() || "-_.".contains(c) || !c.is_ascii() && !is_odd(c);
    name.starts_with(|c: char| c != '.' && is_letter(c)) && name.chars().all(is_letter) && !is_number(name)
}

/// Characters beyond ASCII that stand in no name.
fn is_odd(c: char) -> bool {
    c.is_control()
        || c.is_whitespace()
        || matches!(c, '\u{2000}'..='\u{303f}' | '\u{e000}'..='\u{f8ff}' | '\u{fff0}'..)
}

/// The address without the name and password before its host: nobody else is to see them.
pub fn without_user(link: &str) -> String {
    let Some(scheme) = web_scheme(link) else { return link.to_owned() };
    let (before, rest) = link.split_at(scheme + 3);
    let end = rest.find(['/', '?', '#', '\\']).unwrap_or(rest.len());
    match rest[..end].rfind('@') {
        Some(at) => format!("{before}{}", &rest[at + 1..]),
        None => link.to_owned(),
    }
}

/// The end of `http` or `https`.
fn web_scheme(link: &str) -> Option<usize> {
    let end = link.find("://")?;
    let scheme = &link[..end];
    (scheme.eq_ignore_ascii_case("http") || scheme.eq_ignore_ascii_case("https")).then_some(end)
}

/// Whether a name ends in a number without being an address of four: no host is called so.
fn is_number(name: &str) -> bool {
    let last = name.trim_end_matches('.').rsplit('.').next().unwrap_or_default();
    let numeric = last.starts_with(|c: char| c.is_ascii_digit())
        && (last.bytes().all(|b| b.is_ascii_digit()) || last.starts_with("0x") || last.starts_with("0X"));
    let four = name.split('.').count() == 4
        && name.split('.').all(|part| part.parse::<u8>().is_ok_and(|byte| byte.to_string() == part));
    numeric && !four
}

/// `href` and `src` of a piece of HTML made whole. A scan, not a parser: what it does not recognise it leaves alone.
pub fn join_all(room: &Room, base: &str, html: &str) -> String {
    let mut out = String::with_capacity(html.len() + 64);
    let mut rest = html;
    while let Some((at, mark)) = next_link(rest) {
        let (before, value) = rest.split_at(at);
        let end = value.find(mark).unwrap_or(value.len());
        out.push_str(before);
        let link = &value[..end];
        match link.trim().is_empty() || link.trim_start().starts_with('#') {
            true => out.push_str(link),
            false => match room.join(base, link) {
                Some(whole) => out.push_str(&whole),
                None => out.push_str(link),
            },
        }
        rest = &value[end..];
    }
    out.push_str(rest);
    out
}

/// Where the next quoted value of a `href` or `src` begins, and its quote.
fn next_link(html: &str) -> Option<(usize, char)> {
    let bytes = html.as_bytes();
    let mut from = 0;
    while let Some(at) = html[from..].find('=') {
        let equals = from + at;
        from = equals + 1;
        let name = html[..equals].trim_end();
        let attribute = ["href", "src"].iter().any(|word| {
            let start = name.len().wrapping_sub(word.len());
            name.get(start..).is_some_and(|end| end.eq_ignore_ascii_case(word))
                && start.checked_sub(1).is_some_and(|before| bytes[before].is_ascii_whitespace())
        });
        let value = html[from..].trim_start();
        if let Some(mark) = value.chars().next().filter(|mark| attribute && matches!(mark, '"' | '\'')) {
            return Some((html.len() - value.len() + 1, mark));
        }
    }
    None
}

/// Ends of `https` and of `https://host:port`.
fn parts(base: &str) -> Option<(usize, usize)> {
    let scheme = web_scheme(base)?;
    let host = scheme + 3;
    let end = base[host..].find(['/', '?', '#']).map_or(base.len(), |at| host + at);
    Some((scheme, end))
}

fn has_scheme(link: &str) -> bool {
    let Some(colon) = link.find(':') else { return false };
    let scheme = &link[..colon];
    scheme.starts_with(|c: char| c.is_ascii_alphabetic())
        && scheme.bytes().all(|b| b.is_ascii_alphanumeric() || b"+-.".contains(&b))
}

/// The path, and what follows it.
fn split_tail(link: &str) -> (&str, &str) {
    link.split_at(link.find(['?', '#']).unwrap_or(link.len()))
}

fn without<'a>(text: &'a str, marks: &[char]) -> &'a str {
    &text[..text.find(marks).unwrap_or(text.len())]
}

fn without_dots(path: &str) -> String {
    let mut kept: Vec<&str> = Vec::new();
    let mut parts = path.split('/').skip(usize::from(path.starts_with('/'))).peekable();
    while let Some(part) = parts.next() {
        let last = parts.peek().is_none();
        match part {
            "." | ".." => {
                if part == ".." {
                    kept.pop();
                }
                if last {
                    kept.push("");
                }
            }
            other => kept.push(other),
        }
    }
    format!("/{}", kept.join("/"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_examples_of_the_standard() {
        let base = "http://a/b/c/d;p?q";
        for (link, whole) in [
            ("g:h", "g:h"),
            ("g", "http://a/b/c/g"),
            ("./g", "http://a/b/c/g"),
            ("g/", "http://a/b/c/g/"),
            ("/g", "http://a/g"),
            ("//g", "http://g"),
            ("?y", "http://a/b/c/d;p?y"),
            ("g?y", "http://a/b/c/g?y"),
            ("#s", "http://a/b/c/d;p?q#s"),
            ("g#s", "http://a/b/c/g#s"),
            ("g?y#s", "http://a/b/c/g?y#s"),
            (";x", "http://a/b/c/;x"),
            ("", "http://a/b/c/d;p?q"),
            (".", "http://a/b/c/"),
            ("./", "http://a/b/c/"),
            ("..", "http://a/b/"),
            ("../g", "http://a/b/g"),
            ("../..", "http://a/"),
            ("../../../g", "http://a/g"),
            ("/./g", "http://a/g"),
            ("g..", "http://a/b/c/g.."),
            ("./g/.", "http://a/b/c/g/"),
            ("g?y/../x", "http://a/b/c/g?y/../x"),
        ] {
            assert_eq!(join(base, link), whole, "{link}");
        }
        assert_eq!(join("https://a.cn", "文.html"), "https://a.cn/文.html");
        assert_eq!(join("http://[::1]:8080/a", "g"), "http://[::1]:8080/g");
        assert_eq!(join("not an address", "g"), "g");
    }

    #[test]
    fn only_what_can_be_a_host_is_on_the_web() {
        for good in [
            "http://a.cn",
            "HTTPS://a.cn:8443/x",
            "https://政府.cn/",
            "http://1.2.3.4/",
            "http://a_b.cn:/?q#f",
            "https://пример.рф/a",
            "https://例え.jp/",
            "https://한국.kr",
            "https://xn--fiqs8s.cn/",
            "https://u:p@a.cn/",
            "http://[::1]:8080/x",
            "http://[2001:db8::1]",
        ] {
            assert!(is_web(good), "{good}");
        }
        for bad in [
            "",
            "a.cn",
            "ftp://a.cn",
            "https://",
            "https:///x",
            "https://&= 月",
            "https://a b.cn",
            "https://a.cn:99999/",
            "https://1.2.3.999/",
            "https://1.2/",
            "https://a.0x1/",
            "https://.cn/",
            "https://u@/",
            "https://[::g]/",
            "https://[::1]x/",
            "https://a\u{3000}b.cn/",
            "//a.cn",
        ] {
            assert!(!is_web(bad), "{bad}");
        }
    }

    #[test]
    fn links_in_html_are_made_whole_and_the_rest_is_left_alone() {
        let html = r##"<a href="../x.pdf">a=b</a><img class='k' src = 'p.png'><a href="#n">n</a><a data-src="q">中</a>"##;
        assert_eq!(
            join_all(&Room::new(), "https://a.cn/b/c", html),
            r##"<a href="https://a.cn/x.pdf">a=b</a><img class='k' src = 'https://a.cn/b/p.png'><a href="#n">n</a><a data-src="q">中</a>"##
        );
        assert_eq!(join_all(&Room::new(), "https://a.cn/", "<a href='x"), "<a href='https://a.cn/x");
    }

    #[test]
    fn links_that_grow_without_end_stop_growing() {
        let (room, base) = (Room::new(), format!("https://a.cn/{}/", "b".repeat(4000)));
        let grown = (0..10_000).map_while(|_| room.join(&base, "x")).count();
        assert_eq!(grown, ROOM / base.len());
        assert_eq!(room.join(&base, "https://b.cn/").as_deref(), Some("https://b.cn/"));
        assert_eq!(join_all(&room, &base, "<a href='x'>"), "<a href='x'>");
        assert_eq!(Room::new().join(&"b".repeat(LONGEST_BASE + 1), "x"), None);
    }

    #[test]
    fn names_and_passwords_are_not_part_of_an_address() {
        assert_eq!(without_user("https://u:p@a.cn/x@y"), "https://a.cn/x@y");
        assert_eq!(without_user("https://a.cn/x@y"), "https://a.cn/x@y");
    }
}
