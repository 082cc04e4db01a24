//! Bytes to text.
//!
//! Decides which encoding a page is in: byte order mark, then the `content-type` header, then the page's own
//! `<meta>` or XML declaration, then a detector. UTF-16 without a mark is seen by its zeros, HZ is read where it is declared. GB2312 and GBK are read as GB18030, of which they are subsets. A
//! declaration is disbelieved only when the bytes prove it wrong. Bad bytes are replaced one by one and
//! counted; nothing around them is lost.

use std::borrow::Cow;

use chardetng::{EncodingDetector, Iso2022JpDetection, Utf8Detection};
use encoding_rs::{BIG5, Encoding, GB18030, GBK, UTF_8, UTF_16BE, UTF_16LE, WINDOWS_1252};

/// How far into a page its declaration is looked for. Browsers look at 1 KB, but some templates begin with a
/// long comment.
const DECLARATION_WITHIN: usize = 4 * 1024;
/// How much of a page the detector reads: its verdict does not change after this much Chinese.
const DETECT_WITHIN: usize = 256 * 1024;
/// This many three-byte characters and no mistake are UTF-8, whatever is declared; short GBK texts can be valid
/// UTF-8 by chance.
const SURELY_UTF8: usize = 8;

/// A page as text.
#[derive(Debug, PartialEq, Eq)]
pub struct Decoded<'a> {
    /// The text, without byte order mark; borrowed when the bytes were UTF-8 already.
    pub text: Cow<'a, str>,
    /// The encoding it was read in, by its standard name.
    pub encoding: &'static str,
    /// How many characters were bad and became U+FFFD.
    pub replaced: usize,
}

/// Decodes a page.
pub fn decode<'a>(bytes: &'a [u8], content_type: Option<&str>) -> Decoded<'a> {
    if let Some((encoding, length)) = Encoding::for_bom(bytes) {
        return read(&bytes[length..], encoding);
    }
    if let Some(encoding) = utf16_without_mark(bytes) {
        return read(bytes, encoding);
    }
    let head = &bytes[..bytes.len().min(DECLARATION_WITHIN)];
    if bytes.is_ascii() && (content_type.is_some_and(|kind| says_hz(kind.as_bytes())) || says_hz(head)) {
        return read_hz(bytes);
    }
    let header = content_type.and_then(charset_of_header);
    let declared = || declaration(&bytes[..bytes.len().min(DECLARATION_WITHIN)]);
    let chosen = match header {
        // The default of many servers, sent for pages in any encoding: the page itself knows better.
        Some(encoding) if encoding == WINDOWS_1252 => declared(),
        Some(encoding) => Some(encoding),
        None => declared(),
    };
    match chosen {
        Some(encoding) if encoding == UTF_8 => match std::str::from_utf8(bytes) {
            Ok(text) => Decoded { text: Cow::Borrowed(text), encoding: UTF_8.name(), replaced: 0 },
            Err(_) => doubtful_utf8(bytes),
        },
        Some(encoding) if encoding == GB18030 || encoding == BIG5 => match std::str::from_utf8(bytes) {
            Ok(text)
                if !text.is_ascii() && text.chars().filter(|c| c.len_utf8() == 3).count() >= SURELY_UTF8 =>
            {
                Decoded { text: Cow::Borrowed(text), encoding: UTF_8.name(), replaced: 0 }
            }
            Err(_) if is_nearly_utf8(bytes) => read(bytes, UTF_8),
            _ => read(bytes, encoding),
        },
        // Pages that name the old default and are something else: their bytes know better.
        Some(encoding) if encoding == WINDOWS_1252 => match std::str::from_utf8(bytes) {
            Ok(text) => Decoded { text: Cow::Borrowed(text), encoding: UTF_8.name(), replaced: 0 },
            Err(_) if is_nearly_utf8(bytes) => read(bytes, UTF_8),
            Err(_) => read(bytes, encoding),
        },
        Some(encoding) => read(bytes, encoding),
        None => match std::str::from_utf8(bytes) {
            Ok(text) => Decoded { text: Cow::Borrowed(text), encoding: UTF_8.name(), replaced: 0 },
            Err(_) => undeclared(bytes),
        },
    }
}

/// Every other byte of markup in UTF-16 is zero; no other text has zeros.
fn utf16_without_mark(bytes: &[u8]) -> Option<&'static Encoding> {
    let (pairs, _) = bytes[..bytes.len().min(DECLARATION_WITHIN)].as_chunks::<2>();
    let high = pairs.iter().filter(|pair| pair[0] == 0 && pair[1] != 0).count();
    let low = pairs.iter().filter(|pair| pair[0] != 0 && pair[1] == 0).count();
    let enough = |some: usize, others: usize| some >= 4 && some * 4 >= pairs.len() && others * 20 <= some;
    if enough(low, high) {
        Some(UTF_16LE)
    } else if enough(high, low) {
        Some(UTF_16BE)
    } else {
        None
    }
}

fn says_hz(text: &[u8]) -> bool {
    find_ignoring_case(text, b"charset").is_some() && find_ignoring_case(text, b"hz-gb-2312").is_some()
}

/// HZ: GB2312 in seven bits, between `~{` and `~}`. Browsers refuse it; it hides nothing here, where nothing of a page is run.
fn read_hz(bytes: &[u8]) -> Decoded<'static> {
    let (mut out, mut rest, mut han) = (Vec::with_capacity(bytes.len()), bytes, false);
    while let Some((first, behind)) = rest.split_first() {
        rest = behind;
        match (first, behind.first()) {
            (b'~', Some(b'{')) => han = true,
            (b'~', Some(b'}')) => han = false,
            (b'~', Some(b'~')) => out.push(b'~'),
            (b'~', Some(b'\n')) => {}
            (0x21..=0x7e, Some(second @ 0x21..=0x7e)) if han => out.extend([first | 0x80, second | 0x80]),
            // A line ends what was left open.
            _ => {
                han &= *first != b'\n';
                out.push(*first);
                continue;
            }
        }
        rest = &rest[1..];
    }
    let (text, bad) = GB18030.decode_without_bom_handling(&out);
    let replaced = if bad { text.matches('\u{fffd}').count() } else { 0 };
    Decoded { text: Cow::Owned(text.into_owned()), encoding: "HZ-GB-2312", replaced }
}

/// Said to be UTF-8 and is not: a few stray bytes are lost, but a page that is plainly GB is read as that.
fn doubtful_utf8(bytes: &[u8]) -> Decoded<'_> {
    let as_utf8 = read(bytes, UTF_8);
    if is_plainly_wrong(&as_utf8) {
        let other = detect(bytes);
        if other == GB18030 || other == BIG5 {
            let as_other = read(bytes, other);
            if as_other.replaced < as_utf8.replaced {
                return as_other;
            }
        }
    }
    as_utf8
}

/// UTF-8 with a few stray bytes. Another encoding read as UTF-8 hardly ever has three bytes in a row that make a character.
fn is_nearly_utf8(bytes: &[u8]) -> bool {
    let part = &bytes[..bytes.len().min(DETECT_WITHIN)];
    let (mut good, mut bad) = (0usize, 0usize);
    for chunk in part.utf8_chunks() {
        good += chunk.valid().chars().filter(|c| c.len_utf8() == 3).count();
        bad += usize::from(!chunk.invalid().is_empty());
        if bad * 20 > good + 400 {
            return false;
        }
    }
    good >= SURELY_UTF8 && bad * 20 <= good
}

fn undeclared(bytes: &[u8]) -> Decoded<'_> {
    let as_utf8 = read(bytes, UTF_8);
    if is_plainly_wrong(&as_utf8) { read(bytes, detect(bytes)) } else { as_utf8 }
}

/// More than a fifth of what is not ASCII is bad. Stray bytes in real UTF-8 are below a hundredth, another
/// encoding read as UTF-8 is above a half.
fn is_plainly_wrong(decoded: &Decoded<'_>) -> bool {
    let foreign = decoded.text.chars().filter(|c| !c.is_ascii()).count();
    decoded.replaced * 5 > foreign
}

fn detect(bytes: &[u8]) -> &'static Encoding {
    let mut detector = EncodingDetector::new(Iso2022JpDetection::Deny);
    let part = &bytes[..bytes.len().min(DETECT_WITHIN)];
    detector.feed(part, part.len() == bytes.len());
    let unbiased = wider(detector.guess(None, Utf8Detection::Allow));
    if unbiased == GB18030 || unbiased == BIG5 || unbiased == UTF_8 {
        return unbiased;
    }
    // The sites are Chinese: a text too short to be sure of is taken that way.
    wider(detector.guess(Some(b"cn"), Utf8Detection::Allow))
}

fn read<'a>(bytes: &'a [u8], encoding: &'static Encoding) -> Decoded<'a> {
    let (text, bad) = encoding.decode_without_bom_handling(bytes);
    let replaced = if bad { text.matches('\u{fffd}').count() } else { 0 };
    Decoded { text, encoding: encoding.name(), replaced }
}

/// GBK's decoder is that of GB18030; one name for both.
fn wider(encoding: &'static Encoding) -> &'static Encoding {
    if encoding == GBK { GB18030 } else { encoding }
}

fn encoding_of(label: &[u8]) -> Option<&'static Encoding> {
    let lower = label.trim_ascii().to_ascii_lowercase();
    match lower.as_slice() {
        // Seen on pages, unknown to the standard.
        b"gb-2312" | b"gb_2312" | b"gb18030-2000" | b"gb18030-2005" | b"cp936" | b"936" | b"ms936"
        | b"euc-cn" => Some(GB18030),
        b"utf" | b"utf-8n" | b"utf_8" => Some(UTF_8),
        // Browsers show nothing of a page in an encoding they consider dangerous; here its ASCII is worth reading.
        label => Encoding::for_label_no_replacement(label).map(wider),
    }
}

fn charset_of_header(content_type: &str) -> Option<&'static Encoding> {
    charset_parameter(content_type.as_bytes())
}

/// What the page says of itself: `<meta charset=…>`, `<meta http-equiv … content="…charset=…">` or
/// `<?xml … encoding="…"?>`, also with quotes missing or doubled.
fn declaration(head: &[u8]) -> Option<&'static Encoding> {
    let mut at = 0;
    while let Some(open) = find(&head[at..], b"<") {
        at += open;
        let rest = &head[at..];
        if rest.starts_with(b"<!--") {
            at += find(rest, b"-->")? + 3;
            continue;
        }
        let tag = &rest[..find(rest, b">").unwrap_or(rest.len())];
        let found = if starts_with_word(tag, b"<meta") {
            charset_parameter(tag)
        } else if starts_with_word(tag, b"<?xml") {
            parameter(tag, b"encoding")
        } else {
            None
        };
        if let Some(encoding) = found {
            // A page whose declaration could be read as ASCII is not UTF-16.
            return Some(if encoding == UTF_16LE || encoding == UTF_16BE { UTF_8 } else { encoding });
        }
        at += 1;
    }
    None
}

fn charset_parameter(text: &[u8]) -> Option<&'static Encoding> {
    parameter(text, b"charset")
}

/// The value after `name =`, quoted or not, of the first place where it names an encoding.
fn parameter(text: &[u8], name: &[u8]) -> Option<&'static Encoding> {
    let mut rest = text;
    while let Some(at) = find_ignoring_case(rest, name) {
        rest = &rest[at + name.len()..];
        let Some(value) = rest.trim_ascii_start().strip_prefix(b"=") else { continue };
        let value =
            &value[value.iter().take_while(|b| b.is_ascii_whitespace() || b"\"'".contains(b)).count()..];
        let end = value.iter().position(|b| b.is_ascii_whitespace() || b"\"';,>/?&".contains(b));
        if let Some(encoding) = encoding_of(&value[..end.unwrap_or(value.len())]) {
            return Some(encoding);
        }
    }
    None
}

fn starts_with_word(tag: &[u8], word: &[u8]) -> bool {
    tag.len() > word.len()
        && tag[..word.len()].eq_ignore_ascii_case(word)
        && (tag[word.len()].is_ascii_whitespace() || tag[word.len()] == b'/')
}

fn find(text: &[u8], part: &[u8]) -> Option<usize> {
    text.windows(part.len()).position(|window| window == part)
}

fn find_ignoring_case(text: &[u8], part: &[u8]) -> Option<usize> {
    text.windows(part.len()).position(|window| window.eq_ignore_ascii_case(part))
}

#[cfg(test)]
mod tests {
    use super::*;

    const CHINESE: &str = "国务院办公厅关于印发示例工作方案的通知，各省、自治区、直辖市人民政府：现印发给你们，请认真贯彻执行。";

    fn gb(text: &str) -> Vec<u8> {
        GB18030.encode(text).0.into_owned()
    }

    #[test]
    fn the_declared_encoding_is_used_wherever_it_stands() {
        for (name, content_type, head) in [
            ("header", Some("text/html; charset=gb2312"), ""),
            ("header, quoted, upper case", Some("Text/HTML;Charset=\"GBK\""), ""),
            ("meta", None, "<meta charset=gb2312>"),
            ("meta quoted", None, "<META CHARSET='x-gbk' />"),
            ("http-equiv", None, "<meta http-equiv=\"Content-Type\" content=\"text/html; charset=gb2312\">"),
            ("quote missing", None, "<meta http-equiv=Content-Type content=\"text/html; charset=gb2312>"),
            ("quote doubled", None, "<meta http-equiv=Content-Type content=\"text/html; charset=\"gb2312\">"),
            ("no space", None, "<meta http-equiv='Content-Type'content='text/html;charset=GB_2312'>"),
            ("spaces", None, "<meta charset = \" gb18030 \" >"),
            ("xml", None, "<?xml version='1.0' encoding='GBK'?>"),
            ("after a comment", None, "<!-- <meta charset=utf-8> --><meta charset=gb2312>"),
            ("useless one first", None, "<meta charset=unknown><meta charset=gbk>"),
            ("server default", Some("text/html; charset=ISO-8859-1"), "<meta charset=gbk>"),
            ("none", Some("text/html"), ""),
            ("wrongly utf-8", Some("text/html; charset=utf-8"), ""),
            ("wrongly utf-8 in the page", None, "<meta charset=utf-8>"),
        ] {
            let page = format!("{head}<p>{CHINESE}</p>");
            let bytes = gb(&page);
            let decoded = decode(&bytes, content_type);
            assert_eq!(decoded.encoding, "gb18030", "{name}");
            assert_eq!((decoded.text.as_ref(), decoded.replaced), (page.as_str(), 0), "{name}");
        }
    }

    #[test]
    fn utf8_is_not_copied_even_when_something_else_was_declared() {
        for content_type in
            [None, Some("text/html"), Some("text/html; charset=utf-8"), Some("text/html; charset=gbk")]
        {
            let decoded = decode(CHINESE.as_bytes(), content_type);
            assert_eq!(decoded.encoding, "UTF-8", "{content_type:?}");
            assert!(matches!(decoded.text, Cow::Borrowed(text) if text == CHINESE), "{content_type:?}");
        }
    }

    #[test]
    fn short_gbk_that_happens_to_be_valid_utf8_stays_gbk() {
        assert_eq!(decode(&gb("联通"), Some("text/html; charset=gbk")).text, "联通");
    }

    #[test]
    fn the_first_of_mark_header_page_and_bytes_decides() {
        let utf8 = |head: &str| format!("{head}<p>{CHINESE}</p>").into_bytes();
        let gbk = |head: &str| gb(&format!("{head}<p>{CHINESE}</p>"));
        let marked = |head: &str| [b"\xef\xbb\xbf".to_vec(), utf8(head)].concat();
        for (name, bytes, header, expected) in [
            ("a mark before the header", marked(""), Some("text/html; charset=gbk"), "UTF-8"),
            ("a mark before the page", marked("<meta charset=big5>"), None, "UTF-8"),
            (
                "the header before the page",
                gbk("<meta charset=utf-8>"),
                Some("text/html; charset=gbk"),
                "gb18030",
            ),
            (
                "the header before the page",
                gbk("<meta charset=big5>"),
                Some("text/html;charset=GB2312"),
                "gb18030",
            ),
            ("a useless header", gbk("<meta charset=gbk>"), Some("text/html; charset=none"), "gb18030"),
            ("an empty header", gbk("<meta charset=gbk>"), Some(""), "gb18030"),
            ("the page before the bytes", gbk("<meta charset=gb2312>"), None, "gb18030"),
            ("bytes that prove the page wrong", utf8("<meta charset=gb2312>"), None, "UTF-8"),
            ("bytes that prove the header wrong", utf8(""), Some("text/html; charset=gb2312"), "UTF-8"),
            ("the old default in the page", utf8("<meta charset=iso-8859-1>"), None, "UTF-8"),
            ("nothing but the bytes", gbk(""), None, "gb18030"),
            ("nothing but the bytes", utf8(""), None, "UTF-8"),
        ] {
            let decoded = decode(&bytes, header);
            assert_eq!((decoded.encoding, decoded.replaced), (expected, 0), "{name}");
            assert!(decoded.text.contains(CHINESE), "{name}");
        }
        // What the old default says stays readable where it is true.
        assert_eq!(
            decode(b"<meta charset=iso-8859-1><p>caf\xe9", None).text,
            "<meta charset=iso-8859-1><p>café"
        );
    }

    #[test]
    fn big5_is_read_by_declaration_and_by_detection() {
        let text = "行政院公報資訊網提供法規命令及行政規則之查詢，並公告相關會議紀錄與統計資料。".repeat(4);
        let bytes = BIG5.encode(&text).0.into_owned();
        assert_eq!(decode(&bytes, Some("text/html; charset=big5")).text, text);
        assert_eq!(decode(&bytes, None).text, text);
    }

    #[test]
    fn a_byte_order_mark_wins_and_disappears() {
        for bytes in [
            [b"\xef\xbb\xbf".as_slice(), CHINESE.as_bytes()].concat(),
            [vec![0xff, 0xfe], CHINESE.encode_utf16().flat_map(u16::to_le_bytes).collect()].concat(),
            [vec![0xfe, 0xff], CHINESE.encode_utf16().flat_map(u16::to_be_bytes).collect()].concat(),
        ] {
            assert_eq!(decode(&bytes, Some("text/html; charset=gbk")).text, CHINESE);
        }
    }

    #[test]
    fn utf16_without_a_mark_is_seen_by_its_zeros() {
        let page =
            format!("<html><head><meta charset=utf-16><title>示例</title></head><p>{CHINESE}</p></html>");
        let little: Vec<u8> = page.encode_utf16().flat_map(u16::to_le_bytes).collect();
        let big: Vec<u8> = page.encode_utf16().flat_map(u16::to_be_bytes).collect();
        for header in
            [None, Some("text/html"), Some("text/html; charset=utf-8"), Some("text/html; charset=utf-16")]
        {
            for (bytes, encoding) in [(&little, "UTF-16LE"), (&big, "UTF-16BE")] {
                let decoded = decode(bytes, header);
                assert_eq!(
                    (decoded.encoding, decoded.text.as_ref()),
                    (encoding, page.as_str()),
                    "{header:?}"
                );
            }
        }
        assert_eq!(decode(b"<p>a\0b\0c</p>", None).encoding, "UTF-8");
    }

    #[test]
    fn hz_is_read_where_it_is_declared() {
        let body = "~~ ~{<:Ky2;S{#,NpJ)SZHK!#VP~}, a ~{VP~}b";
        let expected = "~ 己所不欲，勿施于人。中, a 中b";
        assert_eq!(decode(body.as_bytes(), Some("text/html; charset=HZ-GB-2312")).text, expected);
        let meta = "<meta charset=hz-gb-2312>";
        assert_eq!(decode(format!("{meta}{body}").as_bytes(), None).text, format!("{meta}{expected}"));
        assert_eq!(decode(body.as_bytes(), None).text, body);
    }

    #[test]
    fn stray_bytes_lose_only_themselves() {
        let mut bytes = CHINESE.as_bytes().to_vec();
        bytes.insert(6, 0xff);
        for content_type in [
            None,
            Some("text/html; charset=utf-8"),
            Some("text/html; charset=gb2312"),
            Some("text/html; charset=big5"),
            Some("text/html; charset=iso-8859-1"),
        ] {
            let decoded = decode(&bytes, content_type);
            assert_eq!((decoded.encoding, decoded.replaced), ("UTF-8", 1));
            assert_eq!(decoded.text.replace('\u{fffd}', ""), CHINESE);
        }
        let mut bytes = gb(CHINESE);
        bytes.truncate(bytes.len() - 1);
        let decoded = decode(&bytes, Some("text/html; charset=gbk"));
        assert_eq!(decoded.replaced, 1);
        assert!(decoded.text.starts_with("国务院") && decoded.text.ends_with("执行\u{fffd}"));
    }

    #[test]
    fn characters_beyond_gbk_survive() {
        // U+20087 takes four bytes in GB18030.
        let text = format!("{CHINESE}\u{20087}㐀");
        assert_eq!(decode(&gb(&text), Some("text/html; charset=gb2312")).text, text);
    }

    proptest::proptest! {
        #[test]
        fn no_bytes_panic(bytes: Vec<u8>, header in proptest::option::of("[ -~]{0,40}")) {
            let _ = decode(&bytes, header.as_deref());
        }

        #[test]
        fn no_declaration_panics(text in "(<meta|<!--|-->|charset|=|\"|gbk|utf-16| |>|<\\?xml encoding){0,20}") {
            let _ = decode(text.as_bytes(), None);
        }

        #[test]
        fn declared_text_comes_back(text in "[\u{4e00}-\u{9fa5}a-z ]{0,200}") {
            proptest::prop_assert_eq!(decode(&gb(&text), Some("text/html; charset=gbk")).text.into_owned(), text);
        }
    }
}
