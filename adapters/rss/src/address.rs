//! Addresses in a feed: relative ones made whole (RFC 3986, section 5), without a URL library, which would be
//! larger than the rest of the adapter. Whether an address is a good one is the host's to say.

/// `link` seen from `base`.
pub fn join(base: &str, link: &str) -> String {
    let link = link.trim();
    let (scheme_end, authority_end) = match parts(base) {
        Some(parts) => parts,
        None => return link.to_owned(),
    };
    if has_scheme(link) {
        return link.to_owned();
    }
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

/// Whether an address says where on the web it is, in a way that the host can take: a row that it must refuse is worth
/// less than none.
pub fn is_web(link: &str) -> bool {
    let Some(scheme) = web_scheme(link) else { return false };
    let rest = &link[scheme + 3..];
    let authority = &rest[..rest.find(['/', '?', '#']).unwrap_or(rest.len())];
    let (name, port) = authority.split_once(':').unwrap_or((authority, "80"));
    let is_letter =
        |c: char| c.is_ascii_alphanumeric() || "-_.".contains(c) || ('\u{4e00}'..='\u{9fa5}').contains(&c);
    let good_port =
        port.is_empty() || (port.bytes().all(|b| b.is_ascii_digit()) && port.parse::<u16>().is_ok());
    name.starts_with(|c: char| c != '.' && is_letter(c))
        && name.chars().all(is_letter)
        && good_port
        && !is_number(name)
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
pub fn join_all(base: &str, html: &str) -> String {
    let mut out = String::with_capacity(html.len() + 64);
    let mut rest = html;
    while let Some((at, mark)) = next_link(rest) {
        let (before, value) = rest.split_at(at);
        let end = value.find(mark).unwrap_or(value.len());
        out.push_str(before);
        let link = &value[..end];
        match link.trim().is_empty() || link.trim_start().starts_with('#') {
            true => out.push_str(link),
            false => out.push_str(&join(base, link)),
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
            "https://u@a.cn/",
            "https://1.2.3.999/",
            "https://1.2/",
            "https://a.0x1/",
            "https://[::1]/",
            "https://.cn/",
            "//a.cn",
        ] {
            assert!(!is_web(bad), "{bad}");
        }
    }

    #[test]
    fn links_in_html_are_made_whole_and_the_rest_is_left_alone() {
        let html = r##"<a href="../x.pdf">a=b</a><img class='k' src = 'p.png'><a href="#n">n</a><a data-src="q">中</a>"##;
        assert_eq!(
            join_all("https://a.cn/b/c", html),
            r##"<a href="https://a.cn/x.pdf">a=b</a><img class='k' src = 'https://a.cn/b/p.png'><a href="#n">n</a><a data-src="q">中</a>"##
        );
        assert_eq!(join_all("https://a.cn/", "<a href='x"), "<a href='https://a.cn/x");
    }
}
