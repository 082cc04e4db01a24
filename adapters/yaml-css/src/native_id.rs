//! The site's own number in an address, by a rule without regular expressions.

/// Finds `rule` (a piece of an address with `{digits}`, such as `post_{digits}` or `_{digits}.html`) in `url`
/// and returns the digits. The last place where it fits wins, because numbers stand at the end.
pub fn in_address(rule: &str, url: &str) -> Option<String> {
    let (before, after) = rule.split_once("{digits}")?;
    let mut found = None;
    let mut from = 0;
    while let Some(at) = url[from..].find(before) {
        let start = from + at + before.len();
        let digits: &str = &url[start..start + url[start..].bytes().take_while(u8::is_ascii_digit).count()];
        // With nothing before it a number begins where no digit stands in front.
        let inside = before.is_empty() && url[..start].ends_with(|c: char| c.is_ascii_digit());
        if !digits.is_empty() && !inside && url[start + digits.len()..].starts_with(after) {
            found = Some(digits.to_owned());
        }
        // One character on, not one match: matches may overlap.
        from = match url[from + at..].chars().next() {
            Some(first) => from + at + first.len_utf8(),
            None => break,
        };
    }
    found
}

#[cfg(test)]
mod tests {
    use super::in_address;

    #[test]
    fn numbers_are_found_where_the_families_write_them() {
        for (rule, url, expected) in [
            ("post_{digits}", "https://a.cn/x/content/post_1900001.html", Some("1900001")),
            ("content_{digits}.htm", "/zhengce/content_6946000.htm", Some("6946000")),
            ("_{digits}.html", "./202604/t20260410_1400001.html", Some("1400001")),
            ("art_1_{digits}", "/art/2026/4/10/art_1_2.html", Some("2")),
            ("post_{digits}", "https://a.cn/post_/x", None),
            ("post_{digits}.html", "https://a.cn/post_12.pdf", None),
            ("{digits}.html", "/发布/12.html", Some("12")),
            ("no number", "/1", None),
        ] {
            assert_eq!(in_address(rule, url).as_deref(), expected, "{rule} in {url}");
        }
    }
}
