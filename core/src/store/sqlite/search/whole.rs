//! The whole text of an article whose row holds only the beginning: from the file beside it.

use std::io::Read;

use crate::store::files::Files;
use crate::store::search::fold;

/// Bytes of a text that are searched: a book.
pub(in super::super) const SEARCHED: usize = 4 << 20;

/// The text of the file, as far as it is searched; none: it is not there, and the beginning has to do.
pub(super) fn read(files: &Files, path: Option<&str>) -> Option<String> {
    let path = files.os_path(path?).ok()?;
    let mut bytes = Vec::new();
    std::fs::File::open(path).ok()?.take(SEARCHED as u64).read_to_end(&mut bytes).ok()?;
    Some(String::from_utf8_lossy(&bytes).into_owned())
}

/// As much of a text as is searched.
pub(in super::super) fn searched(text: &str) -> &str {
    &text[..text.floor_char_boundary(SEARCHED)]
}

/// Characters before and behind the first of these words.
const NEAR: usize = 1_000;

/// The surroundings of the first word that is there; none: no word is.
pub(super) fn near(text: &str, words: &[String]) -> Option<String> {
    let folded = folded(text);
    let at = words.iter().filter_map(|word| folded.find(word.as_str())).min()?;
    // To fold changes characters, not their number.
    let first = folded[..at].chars().count().saturating_sub(NEAR);
    Some(text.chars().skip(first).take(2 * NEAR).collect())
}

/// A text without differences of width and case.
pub(super) fn folded(text: &str) -> String {
    text.chars().map(fold).collect()
}
