//! A page as flat tables, made in one walk.
//!
//! Everything the scorers ask (how much text, how many of it in links, how many sentence marks, how many tags below a node) is a difference
//! of two running sums, so that no scorer walks the tree again and none takes more than linear time. Decides what counts as
//! visible text and how long a text is. Does not decide which text is the article.

use scraper::Node;

use super::super::dom::{Go, NodeRef, walk};
use super::super::text::{Kind, is_hidden, kind};
use super::size::{Size, size_of};
use super::words::{Marks, marks_of};

/// White space that may stand before a word in one piece of text.
const INDENT: usize = 1_000;

/// What an element is, as far as a scorer cares.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Tag {
    Body,
    Div,
    Section,
    Article,
    Main,
    P,
    Pre,
    Heading(u8),
    Td,
    Table,
    Row,
    List,
    Item,
    Link,
    Image,
    Figure,
    Caption,
    Quote,
    Form,
    Field,
    Nav,
    Header,
    Footer,
    Aside,
    Time,
    Inline,
    OtherBlock,
}

fn tag_of(name: &str, kind: Kind) -> Tag {
    match name {
        "body" => Tag::Body,
        "div" | "center" => Tag::Div,
        "section" => Tag::Section,
        "article" => Tag::Article,
        "main" => Tag::Main,
        "p" => Tag::P,
        "pre" => Tag::Pre,
        "h1" => Tag::Heading(1),
        "h2" => Tag::Heading(2),
        "h3" => Tag::Heading(3),
        "h4" => Tag::Heading(4),
        "h5" => Tag::Heading(5),
        "h6" => Tag::Heading(6),
        "td" | "th" => Tag::Td,
        "table" => Tag::Table,
        "tr" | "tbody" | "thead" | "tfoot" => Tag::Row,
        "ul" | "ol" | "dl" => Tag::List,
        "li" | "dd" | "dt" => Tag::Item,
        "a" => Tag::Link,
        "img" => Tag::Image,
        "figure" => Tag::Figure,
        "figcaption" => Tag::Caption,
        "blockquote" => Tag::Quote,
        "form" => Tag::Form,
        "input" | "select" | "textarea" | "button" => Tag::Field,
        "nav" | "menu" => Tag::Nav,
        "header" => Tag::Header,
        "footer" => Tag::Footer,
        "aside" => Tag::Aside,
        "time" => Tag::Time,
        _ if kind == Kind::Inline => Tag::Inline,
        _ => Tag::OtherBlock,
    }
}

/// An element; its subtree is `this..end` of the table.
#[derive(Debug)]
pub(crate) struct El<'a> {
    pub node: NodeRef<'a>,
    pub parent: u32,
    pub end: u32,
    /// Its visible text: leaves `from..to`.
    pub from: u32,
    pub to: u32,
    pub tag: Tag,
    pub marks: Marks,
    /// Is a block, and so ends the lines around it.
    pub block: bool,
    /// Has a block below it.
    pub has_block: bool,
    /// Has text of its own, not only below its elements.
    pub has_text: bool,
    /// Not shown until a script runs, or never.
    pub hidden: bool,
    /// How it shapes the text around it.
    pub kind: Kind,
}

/// A visible piece of text.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Leaf<'a> {
    pub text: &'a str,
    /// The element it is in.
    pub el: u32,
    /// The line it belongs to.
    pub line: u32,
    /// Inside a link.
    pub link: bool,
    /// Inside something that is not shown.
    pub hidden: bool,
    /// The white space that stands alone before it.
    pub before: &'a str,
    pub size: Size,
}

/// The page.
#[derive(Debug)]
pub(crate) struct Outline<'a> {
    pub els: Vec<El<'a>>,
    pub leaves: Vec<Leaf<'a>>,
    /// Running counts over the elements, for each kind of interest.
    counts: Vec<Counts>,
}

/// How many elements of a kind.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Counts {
    pub all: u32,
    pub p: u32,
    pub images: u32,
    pub items: u32,
    pub fields: u32,
    pub links: u32,
    pub headings: u32,
}

impl<'a> Outline<'a> {
    /// Reads a tree.
    pub fn of(root: NodeRef<'a>) -> Outline<'a> {
        let build = std::cell::RefCell::new(Build::default());
        walk(root, |node| build.borrow_mut().open(node), |node| build.borrow_mut().close(node));
        build.into_inner().finish()
    }

    pub fn el(&self, at: u32) -> &El<'a> {
        &self.els[at as usize]
    }

    /// Kinds of elements below `at`, itself not counted.
    pub fn below(&self, at: u32) -> Counts {
        let (a, b) = (&self.counts[at as usize + 1], &self.counts[self.el(at).end as usize]);
        Counts {
            all: b.all - a.all,
            p: b.p - a.p,
            images: b.images - a.images,
            items: b.items - a.items,
            fields: b.fields - a.fields,
            links: b.links - a.links,
            headings: b.headings - a.headings,
        }
    }

    /// `at` and what is above it, innermost first.
    pub fn up(&self, at: u32) -> impl Iterator<Item = u32> + '_ {
        let mut next = Some(at);
        std::iter::from_fn(move || {
            let here = next?;
            let parent = self.el(here).parent;
            next = (parent != here).then_some(parent);
            Some(here)
        })
    }

    /// Whether `at` is `above` or below it.
    pub fn is_in(&self, at: u32, above: u32) -> bool {
        (above..self.el(above).end).contains(&at)
    }

    /// The children of an element that are elements.
    pub fn children(&self, at: u32) -> impl Iterator<Item = u32> + '_ {
        let end = self.el(at).end;
        let mut next = at + 1;
        std::iter::from_fn(move || {
            let here = (next < end).then_some(next)?;
            next = self.el(here).end;
            Some(here)
        })
    }

    /// The innermost element that holds both.
    pub fn common(&self, a: u32, b: u32) -> u32 {
        self.up(a).find(|at| self.is_in(b, *at)).unwrap_or(0)
    }

    /// The text below an element as one line.
    pub fn words(&self, at: u32, most: usize) -> String {
        let el = self.el(at);
        let mut out = String::new();
        let mut last = None;
        for leaf in &self.leaves[el.from as usize..el.to as usize] {
            // Words of two lines stay apart; Chinese has no spaces, wherever the line ends.
            let apart = last.is_some_and(|line| line != leaf.line) || !leaf.before.is_empty();
            let spaced = |c: Option<char>| c.is_some_and(|c| (c as u32) < 0x2e80 && !c.is_whitespace());
            if apart && spaced(out.chars().next_back()) && spaced(leaf.text.chars().next()) {
                out.push(' ');
            }
            last = Some(leaf.line);
            // Elements around one text may be many: none of them reads more of it than it needs.
            push_folded(&mut out, &leaf.text[..leaf.text.floor_char_boundary(4 * most + INDENT)]);
            if out.len() > most {
                break;
            }
        }
        out.truncate(out.trim_end().len());
        out
    }
}

/// Adds a text with its white space folded.
pub(crate) fn push_folded(out: &mut String, text: &str) {
    for c in text.chars() {
        if c.is_whitespace() {
            if !out.is_empty() && !out.ends_with(' ') {
                out.push(' ');
            }
        } else if !matches!(c, '\u{ad}' | '\u{200b}'..='\u{200d}' | '\u{2060}' | '\u{feff}' | '\0') {
            out.push(c);
        }
    }
}

#[derive(Default)]
struct Build<'a> {
    els: Vec<El<'a>>,
    leaves: Vec<Leaf<'a>>,
    counts: Vec<Counts>,
    open: Vec<u32>,
    line: u32,
    links: u32,
    hidden: u32,
    before: &'a str,
}

impl<'a> Build<'a> {
    fn open(&mut self, node: NodeRef<'a>) -> Go {
        match node.value() {
            Node::Text(text) => {
                self.text(text);
                Go::In
            }
            Node::Element(element) => {
                let kind = kind(element);
                if kind == Kind::Skipped {
                    return Go::Past;
                }
                let name = element.name();
                let tag = tag_of(name, kind);
                let hidden = is_hidden(element);
                let block = !matches!(kind, Kind::Inline | Kind::LineBreak);
                if block || kind == Kind::LineBreak {
                    self.line += 1;
                }
                let at = self.els.len() as u32;
                let from = self.leaves.len() as u32;
                if block {
                    for above in self.open.iter().rev() {
                        let above = &mut self.els[*above as usize];
                        if above.has_block {
                            break;
                        }
                        above.has_block = true;
                    }
                }
                self.els.push(El {
                    node,
                    parent: self.open.last().copied().unwrap_or(0),
                    end: at + 1,
                    from,
                    to: from,
                    tag,
                    marks: marks_of(element),
                    block,
                    has_block: false,
                    has_text: false,
                    hidden,
                    kind,
                });
                let last = self.counts.last().copied().unwrap_or_default();
                self.counts.push(last);
                if let Some(last) = self.counts.last_mut() {
                    last.all += 1;
                    match tag {
                        Tag::P => last.p += 1,
                        Tag::Image => last.images += 1,
                        Tag::Item => last.items += 1,
                        Tag::Field => last.fields += 1,
                        Tag::Link => last.links += 1,
                        Tag::Heading(_) => last.headings += 1,
                        _ => {}
                    }
                }
                self.links += u32::from(tag == Tag::Link);
                self.hidden += u32::from(hidden);
                self.open.push(at);
                Go::In
            }
            _ => Go::In,
        }
    }

    fn close(&mut self, node: NodeRef<'a>) {
        if node.value().as_element().is_none() {
            return;
        }
        let Some(at) = self.open.pop() else { return };
        let (end, to) = (self.els.len() as u32, self.leaves.len() as u32);
        let el = &mut self.els[at as usize];
        (el.end, el.to) = (end, to);
        self.links -= u32::from(el.tag == Tag::Link);
        self.hidden -= u32::from(el.hidden);
        self.line += u32::from(el.block);
        // A button that is not read stands between the words around it all the same.
        if el.tag == Tag::Field && self.before.is_empty() {
            self.before = " ";
        }
    }

    fn text(&mut self, text: &'a str) {
        let Some(el) = self.open.last().copied() else { return };
        // What stands in a field is the reader's, not the author's.
        if self.els[el as usize].tag == Tag::Field {
            return;
        }
        if text.trim().is_empty() {
            self.before = text;
            return;
        }
        self.els[el as usize].has_text = true;
        self.leaves.push(Leaf {
            before: std::mem::take(&mut self.before),
            text,
            el,
            line: self.line,
            link: self.links > 0,
            hidden: self.hidden > 0,
            size: size_of(text),
        });
    }

    fn finish(self) -> Outline<'a> {
        let mut counts = Vec::with_capacity(self.counts.len() + 1);
        counts.push(Counts::default());
        counts.extend(self.counts);
        Outline { els: self.els, leaves: self.leaves, counts }
    }
}
