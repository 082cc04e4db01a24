//! Lines at the head and the tail of an article that are not its text.
//!
//! Decides line by line, by what the line says: the title once more, date and source between title and text, editors', copyright and share
//! lines, and lists under headings such as 相关阅读. Only whole lines go, and never those in the middle of prose. What an office signs its
//! document with (its name, the day, 附件) stays.

use super::judge::Candidate;
use super::lines::{
    Line, is_break, is_byline, is_call, is_control, is_copyright, is_credit, is_editors, is_note,
    is_promotion, is_reference, is_related, is_way_out,
};
use super::outline::{Outline, push_folded};

/// How many lines at the head are looked at.
const HEAD: usize = 10;
/// How many lines at the tail are looked at.
const TAIL: usize = 14;

/// Takes such lines off.
pub(crate) fn trim(outline: &Outline<'_>, candidate: &mut Candidate, title: &str, authors: &[String]) {
    let mut lines = lines(outline, candidate);
    let total: u32 = lines.iter().map(|line| line.tokens).sum();
    let title = bare(title);
    let mut drop = vec![false; lines.len()];
    for (at, line) in lines.iter().enumerate().take(HEAD) {
        if !title.is_empty() && line.tokens < 80 && bare(&line.text) == title
            || is_byline(line)
            || line.tokens < 16 && is_author(&line.text, authors)
            || is_control(line)
            || is_note(line)
        {
            drop[at] = true;
        } else if line.tokens == 0 && at > 0 && drop[at - 1] {
            // A dot between date and name.
            drop[at] = true;
        } else if line.tokens > 40 || (line.ends > 0 && line.tokens > 12) {
            break;
        }
    }
    // A heading that says "related" ends the article when only little prose follows.
    let (mut after, mut prose) = (0, 0);
    // All from here on is dropped already.
    let mut end = lines.len();
    for at in (0..lines.len()).rev() {
        let line = &lines[at];
        if !drop[at] {
            // Some show the title of another article with its first words.
            let teaser = lines.get(at + 1).is_some_and(|next| next.link);
            let little = prose == 0 || teaser && prose <= 2;
            if little && f64::from(after) < f64::from(total) * 0.3 && is_related(&line.text) {
                drop[at..end].fill(true);
                (after, end) = (0, at);
            } else {
                after += line.tokens;
            }
        }
        prose += u32::from(line.ends >= 2 && !line.link && line.tokens > 60);
    }
    // Such a heading in the midst of the text takes the links behind it along.
    for at in 0..lines.len() {
        if !drop[at] && lines.get(at + 1).is_some_and(|next| next.link) && is_related(&lines[at].text) {
            let list = 1 + lines[at + 1..].iter().take_while(|line| line.link).count();
            drop[at..at + list].fill(true);
        }
    }
    behind_editors(&lines, total, &mut drop);
    let mut looked = 0;
    for at in (0..lines.len()).rev() {
        if drop[at] {
            continue;
        }
        looked += 1;
        let line = &lines[at];
        // A page that is a statement keeps it.
        let tail = line.tokens * 3 <= total
            && (is_credit(line) || is_control(line) || is_copyright(line) || is_promotion(line));
        if tail {
            drop[at] = true;
        } else if looked > TAIL {
            break;
        }
    }
    for (at, line) in lines.iter().enumerate() {
        if line.tokens < 40 && (is_call(line) || is_break(line) || is_reference(line)) {
            drop[at] = true;
        }
    }
    if lines.iter().zip(&drop).filter(|(_, drop)| !**drop).all(|(line, _)| line.tokens == 0) {
        return;
    }
    let mut ranges = Vec::with_capacity(lines.len());
    let mut tokens = 0;
    for (line, drop) in lines.drain(..).zip(drop) {
        if !drop {
            tokens += line.tokens;
            match ranges.last_mut() {
                Some((_, to)) if *to == line.from => *to = line.to,
                _ => ranges.push((line.from, line.to)),
            }
        }
    }
    // A link home behind the last sentence.
    while let Some((from, to)) = ranges.last_mut() {
        let leaf = &outline.leaves[*to as usize - 1];
        if *to - *from < 2 || !leaf.link || !is_way_out(leaf.text) {
            break;
        }
        *to -= 1;
    }
    (candidate.ranges, candidate.tokens) = (ranges, tokens);
}

/// The editors' line ends a Chinese article: what stands behind it is the next one, or a list. Attachments are named behind it by some.
fn behind_editors(lines: &[Line], total: u32, drop: &mut [bool]) {
    let (mut behind, mut attached, mut end) = (0, false, lines.len());
    for at in (0..lines.len()).rev() {
        let line = &lines[at];
        attached |= line.text.contains("附件") || line.text.contains("附：");
        if f64::from(behind) > f64::from(total) * 0.3 {
            return;
        }
        // A short line there is the paper's own: the issue, how it was put together.
        if behind >= 40 && !attached && is_editors(line) {
            drop[at..end].fill(true);
            end = at;
        }
        behind += line.tokens;
    }
}

fn lines(outline: &Outline<'_>, candidate: &Candidate) -> Vec<Line> {
    let mut out: Vec<Line> = Vec::new();
    let mut last = None;
    for at in candidate.ranges.iter().flat_map(|(from, to)| *from..*to) {
        let leaf = &outline.leaves[at as usize];
        let same = last == Some(leaf.line) && out.last().is_some_and(|line| line.to == at);
        if !same {
            out.push(Line {
                from: at,
                to: at,
                text: String::new(),
                tokens: 0,
                link: true,
                linked: 0,
                ends: 0,
            });
        }
        if let Some(line) = out.last_mut() {
            line.to = at + 1;
            line.tokens += leaf.size.tokens;
            line.ends += leaf.size.ends;
            line.link &= leaf.link;
            line.linked += if leaf.link { leaf.size.tokens } else { 0 };
            // Only the beginning of a line is ever read.
            if line.text.len() < 400 {
                push_folded(&mut line.text, leaf.text);
            }
        }
        last = Some(leaf.line);
    }
    out
}

/// `By Jane Doe`, `Jane Doe`: a name that the head calls an author.
fn is_author(text: &str, authors: &[String]) -> bool {
    let text = bare(text);
    let text =
        text.strip_prefix("by").filter(|rest| !authors.contains(&text) && !rest.is_empty()).unwrap_or(&text);
    authors.iter().any(|author| author == text)
}

/// Letters and digits only: how two titles are compared.
pub(crate) fn bare(text: &str) -> String {
    text.chars().filter(|c| c.is_alphanumeric()).flat_map(char::to_lowercase).collect()
}
