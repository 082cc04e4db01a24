//! A region as Markdown.
//!
//! Decides how structure is written: headings, lists, quotes, tables with their first row as head, links and pictures with absolute addresses. What Markdown
//! would take for a mark is escaped.

use url::Url;

use super::generic::judge::Candidate;
use super::generic::outline::{Outline, Tag};
use super::generic::render::{Hear, tell};
use super::pages::resolve;
use super::text::Kind;
use super::write::image;

/// The region as Markdown.
pub(crate) fn markdown(outline: &Outline<'_>, region: &Candidate, base: Option<&Url>) -> String {
    let mut writer = Markdown {
        outline,
        base,
        out: String::new(),
        pending: 0,
        links: Vec::new(),
        lists: Vec::new(),
        row: Vec::new(),
        cell: None,
        rows: 0,
        pre: 0,
    };
    tell(outline, region, &mut writer);
    let mut out = String::with_capacity(writer.out.len());
    for line in writer.out.lines() {
        let line = line.trim_end();
        if line.is_empty() && (out.is_empty() || out.ends_with("\n\n")) {
            continue;
        }
        out.push_str(line);
        out.push('\n');
    }
    out.truncate(out.trim_end().len());
    out
}

/// An address inside of round brackets.
fn target(url: &Url) -> String {
    url.as_str().replace('(', "%28").replace(')', "%29")
}

struct Markdown<'o, 'a> {
    outline: &'o Outline<'a>,
    base: Option<&'o Url>,
    out: String,
    /// Line ends to write before the next text: 1 for a line, 2 for a paragraph.
    pending: u8,
    links: Vec<(usize, Option<String>)>,
    lists: Vec<Option<u32>>,
    row: Vec<String>,
    cell: Option<usize>,
    rows: u32,
    pre: u32,
}

impl Markdown<'_, '_> {
    fn gap(&mut self, lines: u8) {
        self.pending = self.pending.max(lines);
    }

    fn flush(&mut self) {
        if self.cell.is_some() {
            if self.pending > 0 && !self.out.ends_with([' ', '|']) {
                self.out.push(' ');
            }
        } else if self.pending > 0 && !self.out.is_empty() {
            let have = self.out.bytes().rev().take_while(|b| *b == b'\n').count() as u8;
            for _ in have..self.pending {
                self.out.push('\n');
            }
        }
        self.pending = 0;
    }
}

impl Hear for Markdown<'_, '_> {
    fn open(&mut self, at: u32) {
        let el = self.outline.el(at);
        let element = el.node.value().as_element();
        match el.tag {
            Tag::Heading(level) => {
                self.gap(2);
                self.flush();
                for _ in 0..level {
                    self.out.push('#');
                }
                self.out.push(' ');
            }
            Tag::List => {
                self.gap(if self.lists.is_empty() { 2 } else { 1 });
                self.lists.push(element.is_some_and(|e| e.name() == "ol").then_some(0));
            }
            Tag::Item => {
                self.gap(1);
                self.flush();
                let depth = self.lists.len().saturating_sub(1).min(8);
                self.out.push_str(&"  ".repeat(depth));
                match self.lists.last_mut() {
                    Some(Some(number)) => {
                        *number += 1;
                        let number = *number;
                        self.out.push_str(&format!("{number}. "));
                    }
                    _ => self.out.push_str("- "),
                }
            }
            Tag::Quote => {
                self.gap(2);
                self.flush();
                self.out.push_str("> ");
            }
            Tag::Table => {
                self.gap(2);
                self.rows = 0;
            }
            Tag::Row if element.is_some_and(|e| e.name() == "tr") => self.row.clear(),
            Tag::Td => {
                self.flush();
                self.cell = Some(self.out.len());
            }
            Tag::Link => {
                let href = element
                    .and_then(|e| e.attr("href"))
                    .and_then(|href| resolve(self.base, href))
                    .map(|url| target(&url));
                self.flush();
                self.links.push((self.out.len(), href));
            }
            Tag::Image => {
                if let Some(url) = image(element).and_then(|src| resolve(self.base, src)) {
                    self.flush();
                    let alt = element
                        .and_then(|e| e.attr("alt"))
                        .unwrap_or_default()
                        .replace(['[', ']', '\n'], " ");
                    self.out.push_str(&format!("![{}]({})", alt.trim(), target(&url)));
                }
            }
            Tag::Pre => {
                self.gap(2);
                self.flush();
                self.out.push_str("```\n");
                self.pre += 1;
            }
            _ if el.kind == Kind::LineBreak => self.gap(1),
            _ if el.block => self.gap(2),
            _ => {}
        }
    }

    fn text(&mut self, leaf: u32) {
        let leaf = &self.outline.leaves[leaf as usize];
        self.flush();
        if self.pre > 0 {
            self.out.push_str(leaf.text);
            return;
        }
        let spaced = !leaf.before.is_empty() || leaf.text.starts_with(char::is_whitespace);
        if spaced && !self.out.is_empty() && !self.out.ends_with(|c: char| c.is_whitespace() || c == '|') {
            self.out.push(' ');
        }
        let mut folded = String::new();
        super::generic::outline::push_folded(&mut folded, leaf.text);
        // At the beginning of a line these would be a heading or a quote.
        if folded.starts_with(['#', '>']) && (self.out.is_empty() || self.out.ends_with('\n')) {
            self.out.push('\\');
        }
        for c in folded.chars() {
            if matches!(c, '*' | '_' | '`' | '[' | ']' | '\\' | '<') || (c == '|' && self.cell.is_some()) {
                self.out.push('\\');
            }
            self.out.push(c);
        }
    }

    fn close(&mut self, at: u32) {
        let el = self.outline.el(at);
        match el.tag {
            Tag::Link => {
                if let Some((start, Some(href))) = self.links.pop()
                    && self
                        .out
                        .get(start..)
                        .is_some_and(|text| !text.trim().is_empty() && !text.contains('\n'))
                {
                    let label = self.out.split_off(start);
                    let head = label.len() - label.trim_start().len();
                    self.out.push_str(&label[..head]);
                    self.out.push_str(&format!("[{}]({href})", label.trim()));
                }
            }
            Tag::List => {
                self.lists.pop();
                self.gap(if self.lists.is_empty() { 2 } else { 1 });
            }
            Tag::Item => self.gap(1),
            Tag::Td => {
                if let Some(start) = self.cell.take() {
                    let text = self.out.split_off(start.min(self.out.len()));
                    self.row.push(text.trim().replace('\n', " "));
                }
                self.pending = 0;
            }
            Tag::Row => {
                let row = std::mem::take(&mut self.row);
                if !row.is_empty() {
                    self.gap(if self.rows == 0 { 2 } else { 1 });
                    self.flush();
                    self.out.push_str(&format!("| {} |", row.join(" | ")));
                    if self.rows == 0 {
                        self.out.push_str(&format!("\n|{}", " --- |".repeat(row.len())));
                    }
                    self.rows += 1;
                    self.gap(1);
                }
            }
            Tag::Pre => {
                if !self.out.ends_with('\n') {
                    self.out.push('\n');
                }
                self.out.push_str("```");
                self.pre = self.pre.saturating_sub(1);
                self.gap(2);
            }
            _ if el.block => self.gap(2),
            _ => {}
        }
    }
}
