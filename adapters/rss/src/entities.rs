//! References in XML: `&amp;`, `&#20013;`, and the names of HTML that feeds use without declaring them.
//!
//! What a DOCTYPE declares is never expanded, so a bomb of entities is a few odd words. Unknown names stay as they were
//! written: where the value is HTML, the host's parser knows all of them.

/// Named references beyond XML's five that feeds use in plain text.
const NAMES: [(&str, &str); 38] = [
    ("amp", "&"),
    ("lt", "<"),
    ("gt", ">"),
    ("quot", "\""),
    ("apos", "'"),
    ("nbsp", "\u{a0}"),
    ("ensp", "\u{2002}"),
    ("emsp", "\u{2003}"),
    ("thinsp", "\u{2009}"),
    ("zwnj", "\u{200c}"),
    ("shy", "\u{ad}"),
    ("copy", "©"),
    ("reg", "®"),
    ("trade", "™"),
    ("middot", "·"),
    ("bull", "•"),
    ("hellip", "…"),
    ("ndash", "–"),
    ("mdash", "—"),
    ("lsquo", "‘"),
    ("rsquo", "’"),
    ("ldquo", "“"),
    ("rdquo", "”"),
    ("laquo", "«"),
    ("raquo", "»"),
    ("times", "×"),
    ("divide", "÷"),
    ("plusmn", "±"),
    ("deg", "°"),
    ("sect", "§"),
    ("para", "¶"),
    ("euro", "€"),
    ("yen", "¥"),
    ("pound", "£"),
    ("permil", "‰"),
    ("eacute", "é"),
    ("uuml", "ü"),
    ("ouml", "ö"),
];

/// Appends what a reference stands for; an unknown one as it was written.
pub fn push(out: &mut String, name: &str) {
    if let Some(number) = name.strip_prefix('#') {
        let code = match number.strip_prefix(['x', 'X']) {
            Some(hex) => u32::from_str_radix(hex, 16).ok(),
            None => number.parse().ok(),
        };
        out.extend(code.and_then(character).filter(|c| *c != '\0'));
    } else if let Some((_, text)) = named(name) {
        out.push_str(text);
    } else {
        out.push('&');
        out.push_str(name);
        out.push(';');
    }
}

fn named(name: &str) -> Option<&'static (&'static str, &'static str)> {
    NAMES.iter().find(|(known, _)| known.len() == name.len() && *known == name)
}

/// The character of a number. Between 128 and 159 there are none: programs of Windows mean the bytes of their own code page.
pub fn character(code: u32) -> Option<char> {
    const WINDOWS: [char; 32] = [
        '€', '\u{81}', '‚', 'ƒ', '„', '…', '†', '‡', 'ˆ', '‰', 'Š', '‹', 'Œ', '\u{8d}', 'Ž', '\u{8f}',
        '\u{90}', '‘', '’', '“', '”', '•', '–', '—', '˜', '™', 'š', '›', 'œ', '\u{9d}', 'ž', 'Ÿ',
    ];
    let windows = code.checked_sub(0x80).and_then(|index| WINDOWS.get(index as usize));
    windows.copied().or_else(|| char::from_u32(code))
}

/// A text with its references resolved, once.
pub fn resolve(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(at) = rest.find('&') {
        out.push_str(&rest[..at]);
        rest = &rest[at + 1..];
        let name = rest.bytes().take(32).take_while(|b| b.is_ascii_alphanumeric() || *b == b'#').count();
        if name > 0 && rest.as_bytes().get(name) == Some(&b';') {
            push(&mut out, &rest[..name]);
            rest = &rest[name + 1..];
        } else {
            out.push('&');
        }
    }
    out.push_str(rest);
    out
}

/// Text as HTML.
pub fn escape(text: &str) -> String {
    text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;")
}

#[cfg(test)]
mod tests {
    use super::resolve;

    #[test]
    fn known_references_are_resolved_once_and_others_stay() {
        assert_eq!(
            resolve("a &amp;lt; b&nbsp;c &#20013;&#x6587; &lol9; AT&T & &#0;&#xD800;&#146;&#x85;&#160;"),
            "a &lt; b\u{a0}c 中文 &lol9; AT&T & ’…\u{a0}"
        );
    }
}
