//! Between tokenizer and tree: what is left out of a page that would cost too much.
//!
//! Decides token by token, by counts alone, so that the same text always gives the same tree. Text is never left out; tags are:
//!
//! - Beyond the depth, the elements that a page forgot to close are closed, as many as make room for what follows to keep its own structure.
//! - With half of the nodes spent, stretches without prose are read as plain lines; with all of them spent, everything is. So an article
//!   survives behind a million empty elements.
//! - Made-up names of elements and attributes are read up to a number.
//! - Formatting that was never closed (`<p><font>` again and again) is opened anew in each paragraph, more of it each time: it is ended.
//!
//! End tags of what was left out or closed early are left out too.

use std::cell::{Cell, RefCell};

use html5ever::tendril::StrTendril;
use html5ever::tokenizer::states::RawKind;
use html5ever::tokenizer::{Tag, TagKind, Token, TokenSink, TokenSinkResult};
use html5ever::tree_builder::{TreeBuilder, TreeSink};
use html5ever::{LocalName, local_name};
use scraper::{ElementRef, HtmlTreeSink};

use super::names::{is_formatting, is_inline, is_usual, is_void};
use super::open::Open;
use super::{Budget, Cut, NodeRef};

pub(super) type Builder = TreeBuilder<<HtmlTreeSink as TreeSink>::Handle, HtmlTreeSink>;

/// Levels that are made free at once when a page is too deep: room for the structure of what follows, which is hardly ever cut then.
const ROOM: usize = 256;
/// Formatting that is opened again by itself in one place. Real pages forget to close one or two.
const REOPENED: usize = 6;
/// Levels that could not be made free so often will not be.
const MOST_FAILURES: u32 = 16;
/// `<html>` and `<body>` of a page; each further one adds its attributes to the first.
const MOST_ROOTS: u32 = 16;
/// End tags without a start tag that are handed on.
const MOST_STRAYS: u32 = 1_000;
/// Messages of the parser between two times they are thrown away.
const BETWEEN_CLEARS: u32 = 64;

pub(super) struct Bounded {
    pub tree: Builder,
    pub cut: Cell<Option<Cut>>,
    /// What is read now holds no prose.
    pub poor: Cell<bool>,
    budget: Budget,
    open: RefCell<Open>,
    tokens: Cell<u32>,
    roots: Cell<u32>,
    strays: Cell<u32>,
    /// Nodes until the depth must be looked at again.
    slack: Cell<usize>,
    failures: Cell<u32>,
    /// Too deep, and nothing can be closed: until the next end tag no element is opened.
    full: Cell<bool>,
    /// The element whose text is left out.
    skipped: RefCell<Option<LocalName>>,
}

impl Bounded {
    pub fn new(tree: Builder, budget: Budget) -> Bounded {
        Bounded {
            tree,
            cut: Cell::new(None),
            poor: Cell::new(false),
            budget,
            open: RefCell::default(),
            tokens: Cell::new(0),
            roots: Cell::new(0),
            strays: Cell::new(0),
            slack: Cell::new(budget.depth),
            failures: Cell::new(0),
            full: Cell::new(false),
            skipped: RefCell::new(None),
        }
    }

    fn nodes(&self) -> usize {
        self.tree.sink.0.borrow().tree.values().len()
    }

    /// Whether half of the nodes are spent: from here on prose comes first.
    pub fn is_sparing(&self) -> bool {
        self.nodes() > self.budget.nodes / 2
    }

    fn is_spent(&self) -> bool {
        let nodes = self.nodes();
        nodes > self.budget.nodes || self.poor.get() && nodes > self.budget.nodes / 2
    }

    fn cut(&self, why: Cut) {
        if self.cut.get().is_none() {
            self.cut.set(Some(why));
        }
    }

    fn start(&self, mut tag: Tag, line: u64) -> TokenSinkResult<<Self as TokenSink>::Handle> {
        let name = tag.name.clone();
        if !tag.attrs.is_empty() {
            let (mut open, before) = (self.open.borrow_mut(), tag.attrs.len());
            tag.attrs.retain(|attribute| open.knows_attribute(&attribute.name.local));
            if tag.attrs.len() < before {
                self.cut(Cut::Attributes);
            }
        }
        if matches!(name, local_name!("html") | local_name!("body")) {
            self.roots.set(self.roots.get() + 1);
            if self.roots.get() > MOST_ROOTS {
                return TokenSinkResult::Continue;
            }
            return self.build(Token::TagToken(tag), line);
        }
        if matches!(name, local_name!("head") | local_name!("title") | local_name!("base"))
            && !self.is_spent()
        {
            return self.build(Token::TagToken(tag), line);
        }
        let void = is_void(&name);
        if !self.open.borrow().knows(&name) && !is_usual(&name) {
            self.cut(Cut::Nodes);
            return TokenSinkResult::Continue;
        }
        if self.is_spent() {
            self.cut(Cut::Nodes);
            return self.leave_out(name, void, line);
        }
        if !void {
            if self.slack.get() == 0 || self.full.get() {
                self.make_room(line);
            }
            if self.full.get() {
                return self.leave_out(name, void, line);
            }
            self.open.borrow_mut().start(&name, true);
        }
        self.build(Token::TagToken(tag), line)
    }

    /// A tag that does not go into the tree: the line ends there if it did before.
    fn leave_out(
        &self,
        name: LocalName,
        void: bool,
        line: u64,
    ) -> TokenSinkResult<<Self as TokenSink>::Handle> {
        if !void {
            self.open.borrow_mut().start(&name, false);
        }
        let raw = match name {
            local_name!("script") => Some(RawKind::ScriptData),
            local_name!("textarea") | local_name!("title") => Some(RawKind::Rcdata),
            local_name!("style")
            | local_name!("xmp")
            | local_name!("iframe")
            | local_name!("noembed")
            | local_name!("noframes")
            | local_name!("noscript") => Some(RawKind::Rawtext),
            _ => None,
        };
        if let Some(raw) = raw {
            *self.skipped.borrow_mut() = Some(name);
            return TokenSinkResult::RawData(raw);
        }
        let apart = match name {
            local_name!("td") | local_name!("th") => "\t",
            _ if is_inline(&name) => return TokenSinkResult::Continue,
            _ => "\n",
        };
        self.build(Token::CharacterTokens(StrTendril::from_slice(apart)), line)
    }

    fn end_tag(&self, tag: Tag, line: u64) -> TokenSinkResult<<Self as TokenSink>::Handle> {
        let name = &tag.name;
        let known = self.open.borrow_mut().end(name);
        self.full.set(false);
        match known {
            Some(false) => return TokenSinkResult::Continue,
            Some(true) => {}
            None if matches!(*name, local_name!("html") | local_name!("head") | local_name!("body")) => {}
            // `</p>` makes an element.
            None if *name == local_name!("p") && self.is_spent() => return TokenSinkResult::Continue,
            // The parser looks for its start tag through all that is open.
            None => {
                self.strays.set(self.strays.get() + 1);
                if self.strays.get() > MOST_STRAYS {
                    return TokenSinkResult::Continue;
                }
            }
        }
        self.build(Token::TagToken(tag), line)
    }

    /// Hands a token on, and looks at what became of it.
    fn build(&self, token: Token, line: u64) -> TokenSinkResult<<Self as TokenSink>::Handle> {
        let before = self.nodes();
        let result = self.tree.process_token(token, line);
        let made = self.nodes() - before;
        self.slack.set(self.slack.get().saturating_sub(made));
        // Not while the parser waits for the text of a script: there it takes nothing else.
        if made > REOPENED && matches!(result, TokenSinkResult::Continue) {
            self.end_formatting(line);
        }
        result
    }

    /// Names of the elements that are open, innermost first. A comment shows where the parser is.
    fn path(&self) -> Vec<LocalName> {
        let before = self.nodes();
        let _ = self.tree.process_token(Token::CommentToken(StrTendril::new()), 1);
        let mut html = self.tree.sink.0.borrow_mut();
        let Some(probe) = html.tree.nodes().next_back().filter(|_| html.tree.values().len() > before) else {
            return Vec::new();
        };
        let id = probe.id();
        let name =
            |node: NodeRef<'_>| ElementRef::wrap(node).map(|element| element.value().name.local.clone());
        let path = probe.ancestors().filter_map(name).collect();
        if let Some(mut probe) = html.tree.get_mut(id) {
            probe.detach();
        }
        path
    }

    fn make_room(&self, line: u64) {
        let path = self.path();
        self.full.set(false);
        if path.len() < self.budget.depth {
            self.slack.set(self.budget.depth - path.len());
            return;
        }
        self.cut(Cut::Depth);
        if self.failures.get() < MOST_FAILURES {
            self.close(&path, line);
            let left = self.path().len();
            if left < self.budget.depth {
                self.slack.set(self.budget.depth - left);
                return;
            }
            self.failures.set(self.failures.get() + 1);
        }
        self.full.set(true);
    }

    /// Closes the innermost levels.
    fn close(&self, path: &[LocalName], line: u64) {
        let mut in_table = false;
        // Two more than a table has around a cell.
        for (at, name) in path.iter().enumerate().take(ROOM + 5) {
            match *name {
                local_name!("html") | local_name!("body") => break,
                // Cells and rows are closed with their table.
                local_name!("td")
                | local_name!("th")
                | local_name!("tr")
                | local_name!("tbody")
                | local_name!("thead")
                | local_name!("tfoot")
                | local_name!("caption")
                | local_name!("colgroup") => in_table = true,
                local_name!("table") => {
                    in_table = false;
                    self.end(name, line);
                }
                _ if in_table => {}
                _ if at >= ROOM => break,
                _ => self.end(name, line),
            }
        }
    }

    fn end_formatting(&self, line: u64) {
        for (at, name) in self.path().iter().enumerate() {
            if is_formatting(name) {
                self.end(name, line);
            } else if at > 0 {
                // The innermost may be what the formatting was opened for.
                break;
            }
        }
    }

    /// The end tag that a page forgot.
    fn end(&self, name: &LocalName, line: u64) {
        let tag = Tag {
            kind: TagKind::EndTag,
            name: name.clone(),
            self_closing: false,
            attrs: Vec::new(),
            had_duplicate_attributes: false,
        };
        let _ = self.tree.process_token(Token::TagToken(tag), line);
        self.open.borrow_mut().closed(name);
    }
}

impl TokenSink for Bounded {
    type Handle = <HtmlTreeSink as TreeSink>::Handle;

    fn process_token(&self, token: Token, line: u64) -> TokenSinkResult<Self::Handle> {
        if matches!(token, Token::ParseError(_)) {
            return TokenSinkResult::Continue;
        }
        let tokens = self.tokens.get().wrapping_add(1);
        self.tokens.set(tokens);
        if tokens.is_multiple_of(BETWEEN_CLEARS) {
            // Nobody reads the messages, and a bad page has one per tag.
            self.tree.sink.0.borrow_mut().errors.clear();
        }
        let skipped = self.skipped.borrow().clone();
        if let Some(name) = skipped {
            match &token {
                Token::TagToken(tag) if tag.kind == TagKind::EndTag && tag.name == name => {
                    *self.skipped.borrow_mut() = None;
                }
                Token::EOFToken => *self.skipped.borrow_mut() = None,
                _ => return TokenSinkResult::Continue,
            }
        }
        match token {
            Token::TagToken(tag) if tag.kind == TagKind::StartTag => self.start(tag, line),
            Token::TagToken(tag) => self.end_tag(tag, line),
            Token::CommentToken(_) if self.is_spent() => TokenSinkResult::Continue,
            token => self.build(token, line),
        }
    }

    fn end(&self) {
        self.tree.end();
    }

    fn adjusted_current_node_present_but_not_in_html_namespace(&self) -> bool {
        self.tree.adjusted_current_node_present_but_not_in_html_namespace()
    }
}
