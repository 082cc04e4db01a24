//! Dirty data is cleaned and cut before it is stored, and reported; it never costs the article (S2-16, I7).
//!
//! Dropped: NUL and all control characters except tab, line feed and carriage return. That includes DEL
//! and C1 (U+007F–U+009F), which are no text on any page and drive terminals that show them. Lone surrogates
//! cannot be in a Rust string; decoding replaces and counts them. Limits are in characters (S2-15).

use std::collections::BTreeMap;
use std::fmt;

use sha2::{Digest, Sha256};

use crate::model::{Article, Attachment, Entry, RequestLog};

/// Longest title.
pub const TITLE: usize = 4000;
/// Longest `content_text`; the whole text is in its file (I16).
pub const CONTENT_TEXT: usize = 14_000;
const NATIVE_ID: usize = 64;
/// Not in S2-15: what browsers and servers take at most, with room.
const URL: usize = 8192;
/// Not in S2-15: a message, not a page.
const MESSAGE: usize = 2000;
/// Not in S2-15: fields without a column of their own.
const FIELD_NAME: usize = 100;
const FIELD_VALUE: usize = 4000;
const FIELDS: usize = 100;

/// What was taken from a field.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Cut {
    /// The field.
    pub field: String,
    /// Control characters dropped.
    pub dropped: usize,
    /// Characters cut from its end.
    pub cut: usize,
}

impl fmt::Display for Cut {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: ", self.field)?;
        match (self.dropped, self.cut) {
            (0, cut) => write!(f, "{cut} characters cut"),
            (dropped, 0) => write!(f, "{dropped} control characters dropped"),
            (dropped, cut) => write!(f, "{dropped} control characters dropped, {cut} characters cut"),
        }
    }
}

/// Cleans `text` in place; says what was taken, or nothing when it was clean.
pub fn clean(field: &str, text: &mut String, limit: usize) -> Option<Cut> {
    // Nearly every field of nearly every article: not too long, and not a byte to look at twice.
    if (text.len() <= limit || text.chars().count() <= limit) && !may_have_forbidden(text) {
        return None;
    }
    let (mut kept, mut dropped, mut cut) = (0usize, 0usize, 0usize);
    let mut clean = String::new();
    let mut copied = None;
    for (at, c) in text.char_indices() {
        let forbidden = is_forbidden(c);
        if forbidden || kept == limit {
            copied.get_or_insert(at);
            if forbidden { dropped += 1 } else { cut += 1 }
        } else {
            kept += 1;
            if let Some(start) = copied {
                if clean.is_empty() {
                    clean.push_str(&text[..start]);
                }
                clean.push(c);
            }
        }
    }
    let start = copied?;
    if clean.is_empty() {
        text.truncate(start);
    } else {
        *text = clean;
    }
    // A 10 MB title should not keep its 10 MB.
    text.shrink_to(limit.saturating_mul(4));
    Some(Cut { field: field.to_owned(), dropped, cut })
}

/// False when no forbidden character can be in the text; looks at many bytes at once.
fn may_have_forbidden(text: &str) -> bool {
    let suspicious = |byte: u8| {
        let control = (byte < 0x20) & (byte != b'\t') & (byte != b'\n') & (byte != b'\r');
        // 0xc2 begins C1, but also the no-break space that pages are full of: the slow way tells.
        control | (byte == 0x7f) | (byte == 0xc2)
    };
    text.as_bytes().chunks(64).any(|chunk| chunk.iter().fold(false, |any, byte| any | suspicious(*byte)))
}

/// Whether a character may not be stored.
pub fn is_forbidden(c: char) -> bool {
    c.is_control() && !matches!(c, '\t' | '\n' | '\r')
}

/// The site's own identifier as it is stored and compared; none when nothing is left of it.
///
/// A longer one than 64 characters (S2-15) ends in a hash of the whole instead of being merely cut: two
/// documents whose identifiers begin alike must not be taken for one.
pub fn native_key(id: &str) -> Option<String> {
    let kept: String = id.chars().filter(|c| !is_forbidden(*c)).collect();
    let kept = kept.trim();
    if kept.is_empty() {
        return None;
    }
    if kept.chars().count() <= NATIVE_ID {
        return Some(kept.to_owned());
    }
    let hash = hex(&Sha256::digest(kept.as_bytes()));
    let front: String = kept.chars().take(NATIVE_ID - 17).collect();
    Some(format!("{front}~{}", &hash[..16]))
}

/// Cleans an article with its attachments.
pub fn clean_article(article: &mut Article) -> Vec<Cut> {
    let mut cuts = Vec::new();
    let mut required = |field: &str, text: &mut String, limit| cuts.extend(clean(field, text, limit));
    required("url", &mut article.url, URL);
    required("title", &mut article.title, TITLE);
    required("fetch_strategy", &mut article.fetch_strategy, 20);
    let mut optional = |field: &str, text: &mut Option<String>, limit| {
        if let Some(text) = text {
            cuts.extend(clean(field, text, limit));
        }
    };
    optional("source_raw", &mut article.source_raw, 500);
    optional("publisher", &mut article.publisher, 500);
    optional("index_no", &mut article.index_no, 200);
    optional("doc_no", &mut article.doc_no, 200);
    optional("topic_words", &mut article.topic_words, 500);
    optional("open_category", &mut article.open_category, 200);
    optional("channel_name", &mut article.channel_name, 200);
    optional("channel_path", &mut article.channel_path, 1000);
    optional("content_category", &mut article.content_category, 100);
    optional("content_subcategory", &mut article.content_subcategory, 100);
    if let Some(id) = &article.native_post_id {
        let key = native_key(id);
        if key.as_deref() != Some(id) {
            let lost = id.chars().count().saturating_sub(key.as_ref().map_or(0, |key| key.chars().count()));
            cuts.push(Cut { field: "native_post_id".into(), dropped: 0, cut: lost });
            article.native_post_id = key;
        }
    }
    if let Some(mut cut) = clean("content_text", &mut article.content_text, CONTENT_TEXT) {
        article.truncated |= cut.cut > 0;
        // I16: a preview of a text that is kept whole in its file is no loss to warn of.
        if article.text_path.is_some() {
            cut.cut = 0;
        }
        if cut.cut + cut.dropped > 0 {
            cuts.push(cut);
        }
    }
    clean_map("provenance", &mut article.provenance, &mut cuts);
    clean_map("metadata", &mut article.metadata, &mut cuts);
    for attachment in &mut article.attachments {
        clean_attachment(attachment, &mut cuts);
    }
    cuts
}

fn clean_attachment(attachment: &mut Attachment, cuts: &mut Vec<Cut>) {
    cuts.extend(clean("attachment.url", &mut attachment.url, URL));
    cuts.extend(clean("attachment.filename", &mut attachment.filename, 255));
    if let Some(mime) = &mut attachment.mime {
        cuts.extend(clean("attachment.mime", mime, 255));
    }
    if let Some(error) = &mut attachment.error {
        cuts.extend(clean("attachment.error", error, MESSAGE));
    }
}

/// Cleans an entry of the frontier: the same limits as the article it becomes.
pub fn clean_entry(entry: &mut Entry) -> Vec<Cut> {
    let mut cuts = Vec::new();
    cuts.extend(clean("url", &mut entry.url, URL));
    cuts.extend(clean("title", &mut entry.title, TITLE));
    if let Some(raw) = &mut entry.published_raw {
        cuts.extend(clean("published_raw", raw, 500));
    }
    entry.native_id = entry.native_id.as_deref().and_then(native_key);
    entry.fields.truncate(FIELDS);
    for (name, value) in &mut entry.fields {
        cuts.extend(clean("fields", name, FIELD_NAME));
        cuts.extend(clean(name, value, FIELD_VALUE));
    }
    cuts
}

/// Cleans a line of the request log; nobody needs to hear of what is cut from a log.
pub fn clean_request(request: &mut RequestLog) {
    let _ = clean("url", &mut request.url, URL);
    if let Some(error) = &mut request.error {
        let _ = clean("error", error, MESSAGE);
    }
    if let Some(verdict) = &mut request.verdict {
        let _ = clean("verdict", verdict, MESSAGE);
    }
}

/// Cleans a message.
pub fn clean_message(text: &mut String) {
    let _ = clean("message", text, MESSAGE);
}

fn clean_map(field: &str, map: &mut BTreeMap<String, String>, cuts: &mut Vec<Cut>) {
    if map.len() > FIELDS {
        cuts.push(Cut { field: field.to_owned(), dropped: 0, cut: map.len() - FIELDS });
    }
    let dirty = |(name, value): (&String, &String)| {
        name.len() > FIELD_NAME
            || value.len() > FIELD_VALUE
            || name.chars().chain(value.chars()).any(is_forbidden)
    };
    if map.len() <= FIELDS && !map.iter().any(dirty) {
        return;
    }
    *map = std::mem::take(map)
        .into_iter()
        .take(FIELDS)
        .map(|(mut name, mut value)| {
            cuts.extend(clean(field, &mut name, FIELD_NAME));
            cuts.extend(clean(&format!("{field}.{name}"), &mut value, FIELD_VALUE));
            (name, value)
        })
        .collect();
}

/// Bytes in lower-case hex.
pub fn hex(bytes: &[u8]) -> String {
    const DIGITS: &[u8; 16] = b"0123456789abcdef";
    let mut text = String::with_capacity(bytes.len() * 2);
    for byte in bytes {
        text.push(DIGITS[usize::from(byte >> 4)] as char);
        text.push(DIGITS[usize::from(byte & 15)] as char);
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn control_characters_go_and_white_space_stays() {
        let mut text = "\0标\u{1}题\t一\n二\r\n\u{b}三\u{7f}\u{9b}31m".to_owned();
        let cut = clean("title", &mut text, TITLE).unwrap();
        assert_eq!(text, "标题\t一\n二\r\n三31m");
        assert_eq!((cut.dropped, cut.cut), (5, 0));
        assert_eq!(cut.to_string(), "title: 5 control characters dropped");
    }

    #[test]
    fn limits_count_characters_and_spare_their_edge() {
        let mut exact = "长".repeat(200);
        assert_eq!(clean("doc_no", &mut exact, 200), None);
        assert_eq!(exact.chars().count(), 200);
        let mut over = "长".repeat(203);
        assert_eq!(clean("doc_no", &mut over, 200).unwrap().cut, 3);
        assert_eq!(over, exact);
    }

    #[test]
    fn long_identifiers_that_begin_alike_stay_apart() {
        let (one, two) = (format!("{}1", "x".repeat(80)), format!("{}2", "x".repeat(80)));
        let (one, two) = (native_key(&one).unwrap(), native_key(&two).unwrap());
        assert_ne!(one, two);
        assert_eq!(one.chars().count(), 64);
        assert_eq!(native_key(&one).as_deref(), Some(&*one), "idempotent");
        assert_eq!(native_key(" \0 "), None);
        assert_eq!(native_key("12345").as_deref(), Some("12345"));
    }

    proptest! {
        #[test]
        fn cleaning_is_idempotent_bounded_and_leaves_clean_text_alone(
            text in "[\\x00-\\x20\u{7f}-\u{a0}a-c长文😀]{0,60}", limit in 0usize..50,
        ) {
            let mut once = text.clone();
            let cut = clean("f", &mut once, limit);
            prop_assert!(once.chars().count() <= limit);
            prop_assert!(!once.chars().any(is_forbidden));
            let taken = cut.as_ref().map_or(0, |cut| cut.cut + cut.dropped);
            prop_assert_eq!(once.chars().count() + taken, text.chars().count(), "every character is accounted for");
            let mut twice = once.clone();
            prop_assert_eq!(clean("f", &mut twice, limit), None);
            prop_assert_eq!(&twice, &once);
            if text.chars().count() <= limit && !text.chars().any(is_forbidden) {
                prop_assert_eq!(once, text);
            } else {
                prop_assert!(cut.is_some());
            }
        }
    }
}
