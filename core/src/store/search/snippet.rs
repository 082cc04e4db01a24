//! The places of words in a text, as data: whoever shows it escapes it and marks it in his own way.

use super::segment::fold;
use crate::desk::Piece;

/// The text in pieces, with what was asked for marked: a window of about `width` characters around the first place
/// where the most words are, or all of it when it is short.
pub(crate) fn marked(text: &str, words: &[String], width: usize) -> Vec<Piece> {
    // Long texts have their words near the front as a rule; the rest is not searched for a snippet.
    let chars: Vec<char> =
        text.chars().take(20_000).map(|c| if c.is_whitespace() { ' ' } else { c }).collect();
    let folded: Vec<char> = chars.iter().map(|c| fold(*c)).collect();
    let mut hits: Vec<(usize, usize)> = Vec::new();
    for word in words {
        let word: Vec<char> = word.chars().collect();
        if word.is_empty() || word.len() > folded.len() {
            continue;
        }
        let found = (0..=folded.len() - word.len()).filter(|at| folded[*at..at + word.len()] == word[..]);
        hits.extend(found.take(100).map(|at| (at, at + word.len())));
    }
    hits.sort_unstable();
    let (from, to) = window(&hits, chars.len(), width);
    let mut pieces = Vec::new();
    let mut push = |from: usize, to: usize, hit: bool| {
        if from < to {
            pieces.push(Piece { text: chars[from..to].iter().collect(), hit });
        }
    };
    let mut at = from;
    for (begin, end) in hits.into_iter().filter(|(begin, end)| *begin >= from && *end <= to) {
        let begin = begin.max(at);
        if begin >= end {
            continue;
        }
        push(at, begin, false);
        push(begin, end, true);
        at = end;
    }
    push(at, to, false);
    pieces
}

fn window(hits: &[(usize, usize)], len: usize, width: usize) -> (usize, usize) {
    if len <= width {
        return (0, len);
    }
    let inside =
        |from: usize| hits.iter().filter(|(begin, end)| *begin >= from && *end <= from + width).count();
    let lead = width / 5;
    let starts = hits.iter().take(200).map(|(begin, _)| begin.saturating_sub(lead));
    let best = starts.max_by_key(|from| (inside(*from), std::cmp::Reverse(*from))).unwrap_or(0);
    let from = best.min(len - width);
    (from, from + width)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn marks_are_where_the_words_are() {
        let text = format!("{}关于印发通知的通知，ＡＢＣ {}", "前".repeat(300), "后".repeat(300));
        let pieces = marked(&text, &["通知".into(), "abc".into()], 60);
        let hits: Vec<&str> =
            pieces.iter().filter(|piece| piece.hit).map(|piece| piece.text.as_str()).collect();
        assert_eq!(hits, ["通知", "通知", "ＡＢＣ"]);
        let all: String = pieces.iter().map(|piece| piece.text.as_str()).collect();
        assert!(text.contains(&all) && all.chars().count() == 60, "{all}");
        assert!(marked("", &["x".into()], 60).is_empty());
        assert_eq!(marked("aaa", &["aa".into()], 60).len(), 2, "overlapping places are marked once");
    }
}
