//! Tags with more attributes than any page has.
//!
//! Decides which part of a text is left out before it is parsed: the tokenizer compares each attribute of a tag with all before it, so a tag
//! with a hundred thousand of them would take minutes. Only what is beyond the limit goes; the tag and everything else stays.

/// More than any element has. A tag in whose text they cannot fit is not looked into.
pub(super) const MOST: usize = 128;
/// So many attributes take at least this many bytes.
const FEW_BYTES: usize = 2 * MOST;
/// Elements whose text is not markup.
const RAW: [&str; 9] =
    ["script", "style", "textarea", "title", "xmp", "iframe", "noembed", "noframes", "noscript"];

/// The text in order without the surplus: one piece, nearly always.
pub(super) fn tame(text: &str) -> Vec<&str> {
    let bytes = text.as_bytes();
    let (mut kept, mut from, mut at) = (Vec::new(), 0, 0);
    while let Some(open) = find(bytes, at, b'<') {
        at = open + 1;
        match bytes.get(at) {
            Some(c) if c.is_ascii_alphabetic() => {}
            Some(b'!') if bytes[at..].starts_with(b"!--") => {
                at = text[at + 3..].find("-->").map_or(bytes.len(), |end| at + 3 + end);
                continue;
            }
            _ => continue,
        }
        let (surplus, end) = tag(bytes, at);
        if let Some(surplus) = surplus {
            kept.push(&text[from..surplus]);
            from = end;
        }
        at = behind_raw(text, at, end);
    }
    kept.push(&text[from..]);
    kept
}

/// Where the surplus of a tag begins, if it has any, and where the tag ends: at its `>`.
fn tag(bytes: &[u8], at: usize) -> (Option<usize>, usize) {
    let short = &bytes[at..bytes.len().min(at + FEW_BYTES)];
    if let Some(end) = find(short, 0, b'>') {
        let even = |quote: u8| short[..end].iter().filter(|b| **b == quote).count() % 2 == 0;
        // A `>` inside quotes ends nothing.
        if even(b'"') && even(b'\'') {
            return (None, at + end);
        }
    }
    let is_space = |b: &u8| matches!(b, b' ' | b'\t' | b'\n' | b'\r' | 0x0c | b'/');
    let mut next = at + bytes[at..].iter().take_while(|b| !is_space(b) && **b != b'>').count();
    let (mut count, mut surplus) = (0, None);
    loop {
        next += bytes[next..].iter().take_while(|b| is_space(b)).count();
        match bytes.get(next) {
            None | Some(b'>') => return (surplus, next),
            Some(_) => {}
        }
        count += 1;
        if count > MOST && surplus.is_none() {
            surplus = Some(next);
        }
        // A name may begin with `=`.
        next += 1;
        next += bytes[next..].iter().take_while(|b| !is_space(b) && !matches!(b, b'>' | b'=')).count();
        let white = |from: usize| bytes[from..].iter().take_while(|b| b.is_ascii_whitespace()).count();
        let equals = next + white(next);
        if bytes.get(equals) != Some(&b'=') {
            continue;
        }
        next = equals + 1 + white(equals + 1);
        next = match bytes.get(next) {
            Some(quote @ (b'"' | b'\'')) => find(bytes, next + 1, *quote).map_or(bytes.len(), |end| end + 1),
            _ => next + bytes[next..].iter().take_while(|b| !b.is_ascii_whitespace() && **b != b'>').count(),
        };
    }
}

/// Behind the text of a script and its kin: what looks like a tag there is none.
fn behind_raw(text: &str, name: usize, end: usize) -> usize {
    let bytes = text.as_bytes();
    let is = |raw: &&&str| {
        let behind = bytes.get(name + raw.len());
        bytes.get(name..name + raw.len()).is_some_and(|name| name.eq_ignore_ascii_case(raw.as_bytes()))
            && behind.is_none_or(|b| !b.is_ascii_alphanumeric())
    };
    if !b"sStTxXiInN".contains(&bytes[name]) {
        return end;
    }
    let Some(raw) = RAW.iter().find(is) else { return end };
    let mut at = end;
    while let Some(open) = find(bytes, at, b'<') {
        at = open + 1;
        let closes = bytes.get(at) == Some(&b'/')
            && bytes
                .get(at + 1..at + 1 + raw.len())
                .is_some_and(|name| name.eq_ignore_ascii_case(raw.as_bytes()));
        if closes {
            return at;
        }
    }
    bytes.len()
}

fn find(bytes: &[u8], from: usize, byte: u8) -> Option<usize> {
    // The standard library searches strings for a character many bytes at a time, but not slices.
    let mut at = from.min(bytes.len());
    let (chunks, rest) = bytes[at..].as_chunks::<16>();
    for chunk in chunks {
        if chunk.iter().fold(false, |found, b| found | (*b == byte)) {
            return chunk.iter().position(|b| *b == byte).map(|found| at + found);
        }
        at += 16;
    }
    rest.iter().position(|b| *b == byte).map(|found| at + found)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_what_is_beyond_the_last_attribute_is_left_out() {
        let many: String = (0..200).map(|n| format!(" a{n}='>'")).collect();
        let few: String = (0..MOST).map(|n| format!(" a{n}='>'")).collect();
        for (text, expected) in [
            (format!("<p>x<b{many}>y</b>"), format!("<p>x<b{few} >y</b>")),
            (format!("<p>x<b{few}>y</b>"), format!("<p>x<b{few}>y</b>")),
            (format!("<b{many}"), format!("<b{few} ")),
            (
                format!("<script>if(a<b{many}) x</script><b{many}>"),
                format!("<script>if(a<b{many}) x</script><b{few} >"),
            ),
            (format!("<!-- <b{many}> --><i>"), format!("<!-- <b{many}> --><i>")),
            (
                format!("<p title=\"a > b <c {}\">x", "d ".repeat(300)),
                format!("<p title=\"a > b <c {}\">x", "d ".repeat(300)),
            ),
            (format!("a < b {}", "c ".repeat(300)), format!("a < b {}", "c ".repeat(300))),
        ] {
            assert_eq!(tame(&text).concat(), expected);
        }
    }

    proptest::proptest! {
        #[test]
        fn no_text_panics_and_short_ones_stay(text in "(<[a-z/!]|<script|</script|<!--|-->|[ =>\"'a中]){0,60}") {
            proptest::prop_assert_eq!(tame(&text).concat(), text);
        }

        #[test]
        fn a_byte_is_found_where_it_is(text in "[ab]{0,70}", from in 0usize..80) {
            let expected = text.as_bytes().get(from..).and_then(|rest| rest.iter().position(|b| *b == b'b'));
            proptest::prop_assert_eq!(find(text.as_bytes(), from, b'b'), expected.map(|at| at + from));
        }
    }
}
