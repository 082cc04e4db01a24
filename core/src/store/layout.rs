//! Where files go and what they are called (S2-42, S2-43). Pure: no disk is touched here.
//!
//! Paths are relative to the data directory, with `/` between segments, as they are kept in rows.

use std::collections::HashSet;
use std::path::{Component, Path, PathBuf};

use super::error::StoreError;
use crate::clock::Timestamp;
use crate::model::Published;

/// Longest file name in bytes. File systems take 255; the rest is room for ` (2)` and for backup tools.
const NAME_BYTES: usize = 200;

/// Longest extension that is kept when a name is cut: `.docx`, `.tar.gz` by its last part. Longer is no extension.
const EXTENSION_BYTES: usize = 16;

/// What a document's page is stored as: `raw_html/<site>/<target>/YYYY/MM/<hash>.html`.
pub fn raw_html_path(
    site: &str,
    target: &str,
    published: Option<&Published>,
    fetched_at: Timestamp,
    url_hash: &str,
) -> String {
    dated("raw_html", site, target, published, fetched_at, url_hash, "html")
}

/// What a document's text is stored as: `text/<site>/<target>/YYYY/MM/<hash>.txt`.
pub fn text_path(
    site: &str,
    target: &str,
    published: Option<&Published>,
    fetched_at: Timestamp,
    url_hash: &str,
) -> String {
    dated("text", site, target, published, fetched_at, url_hash, "txt")
}

/// What an attachment is stored as: `attachments/<site>/<target>/<article id>/<name>`.
pub fn attachment_path(site: &str, target: &str, article_id: i64, filename: &str) -> String {
    format!("attachments/{}/{}/{article_id}/{}", segment(site), segment(target), safe_filename(filename))
}

/// Where bytes with this sha256 are kept: `blobs/<2 hex>/<sha256>`.
pub fn blob_path(sha256: &str) -> String {
    format!("blobs/{}/{sha256}", sha256.get(..2).unwrap_or("__"))
}

/// One segment of a path made of a code or name.
pub fn segment(name: &str) -> String {
    safe_filename(name)
}

/// A name under which a file can be stored on any system (S2-39).
///
/// Keeps Chinese and everything else that is a letter; takes out separators, control and direction
/// characters and what Windows reserves; is never empty, `.` or `..`, and at most 200 bytes long with the
/// extension kept.
pub fn safe_filename(name: &str) -> String {
    let mut clean = String::with_capacity(name.len().min(NAME_BYTES * 2));
    for c in name.chars() {
        match c {
            '/' | '\\' | ':' | '*' | '?' | '"' | '<' | '>' | '|' => clean.push('_'),
            c if c.is_control() || is_invisible(c) => {}
            c if c.is_whitespace() => clean.push(' '),
            c => clean.push(c),
        }
        // Enough of the front; the extension of what is longer is looked up in `name` below.
        if clean.len() > NAME_BYTES * 2 {
            if let Some(extension) = extension_of(name) {
                clean.push_str(extension);
            }
            break;
        }
    }
    // A leading dot hides the file; Windows drops trailing dots and spaces.
    let trimmed = clean.trim_matches(['.', ' ']);
    let named = if trimmed.is_empty() { "file" } else { trimmed };
    let named = if is_reserved(named) { format!("_{named}") } else { named.to_owned() };
    let cut = cut_keeping_extension(&named, NAME_BYTES);
    // The cut may have ended on a dot or a space.
    let cut = cut.trim_end_matches(['.', ' ']);
    if cut.is_empty() { "file".to_owned() } else { cut.to_owned() }
}

/// A safe name that is not among `taken` (which it joins): `a.pdf`, `a (2).pdf`, …
///
/// Letter case does not tell names apart, because it does not on every file system.
pub fn unique_filename(name: &str, taken: &mut HashSet<String>) -> String {
    let first = safe_filename(name);
    if taken.insert(first.to_lowercase()) {
        return first;
    }
    let extension = extension_of(&first).unwrap_or("");
    let stem = &first[..first.len() - extension.len()];
    for number in 2u32.. {
        let suffix = format!(" ({number}){extension}");
        let candidate = format!("{}{suffix}", cut_at_char(stem, NAME_BYTES - suffix.len()));
        if taken.insert(candidate.to_lowercase()) {
            return candidate;
        }
    }
    first
}

/// The path below the data directory, when it stays there by its words alone (S2-43).
pub fn checked(rel: &str) -> Result<PathBuf, StoreError> {
    let outside = || StoreError::Outside { rel: rel.chars().take(200).collect() };
    let plain = !rel.is_empty() && !rel.contains(['\0', '\\']) && !rel.split('/').any(str::is_empty);
    let path = Path::new(rel);
    if plain && !rel.contains("/./") && path.components().all(|part| matches!(part, Component::Normal(_))) {
        Ok(path.to_path_buf())
    } else {
        Err(outside())
    }
}

fn dated(
    kind: &str,
    site: &str,
    target: &str,
    published: Option<&Published>,
    fetched_at: Timestamp,
    url_hash: &str,
    extension: &str,
) -> String {
    let (site, target) = (segment(site), segment(target));
    let month = published
        .and_then(|published| month_of(&published.date))
        .unwrap_or_else(|| fetched_at.to_utc().format("%Y/%m").to_string());
    // 128 of the 256 bits: as unlikely to meet its double, and half as long to read.
    let hash = segment(url_hash.get(..32).unwrap_or(url_hash));
    format!("{kind}/{site}/{target}/{month}/{hash}.{extension}")
}

/// `2026-04-10` → `2026/04`; none when it is not a date.
fn month_of(date: &str) -> Option<String> {
    let bytes = date.as_bytes();
    let digits = |range: std::ops::Range<usize>| bytes[range].iter().all(u8::is_ascii_digit);
    (bytes.len() == 10 && bytes[4] == b'-' && digits(0..4) && digits(5..7))
        .then(|| format!("{}/{}", &date[..4], &date[5..7]))
}

/// Marks that change how a name looks but not what it is: `exe.fdp` must not read as `pdf.exe`.
fn is_invisible(c: char) -> bool {
    matches!(c, '\u{200b}'..='\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{2060}'..='\u{2069}' | '\u{feff}')
}

/// Names that are devices on Windows, with any extension.
fn is_reserved(name: &str) -> bool {
    let stem = name.split('.').next().unwrap_or(name).trim_end();
    let numbered = |prefix: &str| {
        stem.len() == 4
            && stem.get(..3).is_some_and(|start| start.eq_ignore_ascii_case(prefix))
            && matches!(stem.as_bytes()[3], b'1'..=b'9')
    };
    ["con", "prn", "aux", "nul"].iter().any(|device| stem.eq_ignore_ascii_case(device))
        || numbered("com")
        || numbered("lpt")
}

/// `.pdf` of `a.pdf`; none when what follows the last dot is long, empty or not of letters and digits.
fn extension_of(name: &str) -> Option<&str> {
    let dot = name.rfind('.').filter(|dot| *dot > 0)?;
    let extension = &name[dot..];
    let sane = extension.len() > 1
        && extension.len() <= EXTENSION_BYTES
        && extension[1..].chars().all(|c| c.is_ascii_alphanumeric());
    sane.then_some(extension)
}

fn cut_keeping_extension(name: &str, limit: usize) -> String {
    if name.len() <= limit {
        return name.to_owned();
    }
    let extension = extension_of(name).unwrap_or("");
    let stem = cut_at_char(&name[..name.len() - extension.len()], limit - extension.len());
    format!("{}{extension}", stem.trim_end_matches(['.', ' ']))
}

fn cut_at_char(text: &str, limit: usize) -> &str {
    let mut end = limit.min(text.len());
    while !text.is_char_boundary(end) {
        end -= 1;
    }
    &text[..end]
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::Precision;
    use proptest::prelude::*;

    #[test]
    fn file_names_are_made_safe() {
        for (name, safe) in [
            ("关于印发《办法》的通知.pdf", "关于印发《办法》的通知.pdf"),
            ("附件1：表格.docx", "附件1：表格.docx"),
            ("../../etc/passwd", "_.._etc_passwd"),
            ("C:\\x\\y.doc", "C__x_y.doc"),
            ("", "file"),
            ("..", "file"),
            (" . ", "file"),
            ("a\0b\nc.txt", "abc.txt"),
            ("nul", "_nul"),
            ("COM1.txt", "_COM1.txt"),
            ("common.txt", "common.txt"),
            (".htaccess", "htaccess"),
            ("report\u{202e}fdp.exe", "reportfdp.exe"),
            ("x. ", "x"),
        ] {
            assert_eq!(safe_filename(name), safe, "{name:?}");
        }
        let long = safe_filename(&format!("{}.tar.gz", "长".repeat(500)));
        assert!(long.len() <= 200 && long.ends_with(".gz"), "{long}");
        assert!(safe_filename(&"x".repeat(10 << 20)).len() <= 200);
    }

    #[test]
    fn equal_names_of_one_article_are_told_apart() {
        let mut taken = HashSet::new();
        let names: Vec<_> =
            ["a.pdf", "A.pdf", "a.pdf", "b"].iter().map(|name| unique_filename(name, &mut taken)).collect();
        assert_eq!(names, ["a.pdf", "A (2).pdf", "a (3).pdf", "b"]);
        let long = format!("{}.pdf", "长".repeat(100));
        let (one, two) = (unique_filename(&long, &mut taken), unique_filename(&long, &mut taken));
        assert!(one != two && two.len() <= 200 && two.ends_with(" (2).pdf"), "{two}");
    }

    #[test]
    fn documents_are_filed_by_month() {
        let published = Published { at: Timestamp(0), date: "2026-04-10".into(), precision: Precision::Day };
        let hash = "ab".repeat(32);
        let path = raw_html_path("gd", "gd__wjk", Some(&published), Timestamp(0), &hash);
        assert_eq!(path, format!("raw_html/gd/gd__wjk/2026/04/{}.html", "ab".repeat(16)));
        let path = text_path("gd", "gd__wjk", None, Timestamp(0), &hash);
        assert_eq!(path, format!("text/gd/gd__wjk/1970/01/{}.txt", "ab".repeat(16)));
        let odd = Published { date: "长长/../长".into(), ..published };
        assert!(text_path("gd", "x", Some(&odd), Timestamp(0), &hash).contains("/1970/01/"));
        assert_eq!(attachment_path("s", "t", 7, "a/b.pdf"), "attachments/s/t/7/a_b.pdf");
    }

    #[test]
    fn only_plain_relative_paths_pass() {
        for rel in ["a", "a/b.txt", "text/长/x", "a..b/c", ".x/y"] {
            assert!(checked(rel).is_ok(), "{rel:?}");
        }
        for rel in [
            "",
            "/",
            "/etc/passwd",
            "..",
            "a/../b",
            "../a",
            "a/..",
            "./a",
            "a/./b",
            "a//b",
            "a/",
            "a\\b",
            "a\0b",
        ] {
            assert!(matches!(checked(rel), Err(StoreError::Outside { .. })), "{rel:?}");
        }
    }

    proptest! {
        #[test]
        fn a_safe_name_is_one_short_segment_and_stays_as_it_is(name in any::<String>(), pad in 0usize..400) {
            let name = format!("{}{name}", "长a".repeat(pad));
            let safe = safe_filename(&name);
            prop_assert!(!safe.is_empty() && safe.len() <= NAME_BYTES);
            prop_assert!(checked(&safe).is_ok(), "{safe:?}");
            prop_assert_eq!(checked(&safe).unwrap().components().count(), 1);
            prop_assert!(!safe.chars().any(|c| c.is_control()));
            prop_assert_eq!(safe_filename(&safe), safe);
        }

        #[test]
        fn a_sane_extension_is_kept(stem in "[a-z长（）]{1,300}", extension in "[a-z0-9]{1,8}") {
            let safe = safe_filename(&format!("{stem}.{extension}"));
            prop_assert!(safe.ends_with(&format!(".{extension}")), "{safe:?}");
        }

        #[test]
        fn no_checked_path_leaves_its_root(rel in "[./a\\\\\u{0}长]{0,12}") {
            if let Ok(path) = checked(&rel) {
                let mut depth = 0i32;
                for part in path.components() {
                    prop_assert!(matches!(part, Component::Normal(_)));
                    depth += 1;
                }
                prop_assert!(depth > 0);
            }
        }
    }
}
