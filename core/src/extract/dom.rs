//! Text to tree, within a budget.
//!
//! Decides how much of a page is parsed. A page that would cost too much (nodes, depth, time) is cut at that
//! point, keeps what was read so far, and says so; it is never refused and never panics. Does not
//! decide what is read from the tree.

use std::cell::Cell;
use std::time::{Duration, Instant};

use html5ever::tendril::StrTendril;
use html5ever::tokenizer::{BufferQueue, Token, TokenSink, TokenSinkResult, Tokenizer, TokenizerOpts};
use html5ever::tree_builder::{TreeBuilder, TreeSink};
use html5ever::{LocalName, QualName, TokenizerResult, ns};
use scraper::{ElementRef, Html, HtmlTreeSink};

/// The tree's references, without naming the crate of the tree everywhere.
pub(crate) type NodeRef<'a> = <ElementRef<'a> as std::ops::Deref>::Target;

/// What parsing one page may cost.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Budget {
    /// Nodes in the tree. The largest real page of the sites watched has 30,000; each costs about 200 bytes.
    pub nodes: usize,
    /// Open elements above each other. Browsers stop at 512; the parser's own loops walk this stack for each tag.
    pub depth: usize,
    /// Time. A 60 KB page takes about 1 ms.
    pub time: Duration,
}

impl Default for Budget {
    fn default() -> Self {
        Budget { nodes: 300_000, depth: 512, time: Duration::from_secs(2) }
    }
}

/// Why a page was cut.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Cut {
    /// Too many nodes.
    Nodes,
    /// Too deep.
    Depth,
    /// Took too long.
    Time,
}

/// A parsed page.
#[derive(Debug)]
pub(crate) struct Doc {
    pub html: Html,
    /// Set when the rest of the page was left out.
    pub cut: Option<Cut>,
    /// Whether it is a fragment: its `html` element was not in the text.
    pub fragment: bool,
}

impl Doc {
    /// A whole page.
    pub fn page(text: &str, budget: Budget) -> Doc {
        let sink = HtmlTreeSink::new(Html::new_document());
        run(TreeBuilder::new(sink, Default::default()), text, budget, false)
    }

    /// A piece of a page, in the context that lets its first tag live: rows and cells of a table are dropped by
    /// the parser anywhere else than in a table or template.
    pub fn fragment(text: &str, budget: Budget) -> Doc {
        let context = if begins_in_table(text) { "template" } else { "body" };
        let sink = HtmlTreeSink::new(Html::new_fragment());
        let name = QualName::new(None, ns!(html), LocalName::from(context));
        let context = html5ever::tree_builder::create_element(&sink, name, Vec::new());
        run(TreeBuilder::new_for_fragment(sink, context, None, Default::default()), text, budget, true)
    }

    /// A page or a fragment, by how the text begins.
    pub fn either(text: &str, budget: Budget) -> Doc {
        match first_tag(text) {
            Some(tag)
                if ["!doctype", "html", "head", "body", "?xml"]
                    .iter()
                    .any(|t| tag.eq_ignore_ascii_case(t)) =>
            {
                Doc::page(text, budget)
            }
            _ => Doc::fragment(text, budget),
        }
    }

    /// The outermost element; none only when the text was cut before it.
    pub fn root(&self) -> Option<ElementRef<'_>> {
        self.html.tree.root().children().find_map(ElementRef::wrap)
    }
}

/// Text goes to the parser in pieces of this size, with a look at the clock in between: within one tag with a
/// million attributes no other place would be reached.
const PIECE: usize = 16 * 1024;
/// Tokens between two looks at clock and depth.
const BETWEEN_CHECKS: u32 = 64;

fn run(
    tree: TreeBuilder<<HtmlTreeSink as TreeSink>::Handle, HtmlTreeSink>,
    text: &str,
    budget: Budget,
    fragment: bool,
) -> Doc {
    let bounded = Bounded {
        tree,
        budget,
        end: Instant::now() + budget.time,
        tokens: Cell::new(0),
        cut: Cell::new(None),
    };
    let tokenizer = Tokenizer::new(bounded, TokenizerOpts::default());
    let input = BufferQueue::default();
    let mut rest = text;
    while !rest.is_empty() && tokenizer.sink.cut.get().is_none() {
        let (piece, left) = rest.split_at(rest.floor_char_boundary(PIECE));
        rest = left;
        input.push_back(StrTendril::from_slice(piece));
        while !matches!(tokenizer.feed(&input), TokenizerResult::Done) {}
        tokenizer.sink.check();
    }
    // A cut page ends here as if the connection had: open elements are closed.
    tokenizer.end();
    let Bounded { tree, cut, .. } = tokenizer.sink;
    let mut html = tree.sink.finish();
    html.errors = Vec::new();
    Doc { html, cut: cut.get(), fragment }
}

/// Between tokenizer and tree builder: drops what comes after the budget is spent.
struct Bounded {
    tree: TreeBuilder<<HtmlTreeSink as TreeSink>::Handle, HtmlTreeSink>,
    budget: Budget,
    end: Instant,
    tokens: Cell<u32>,
    cut: Cell<Option<Cut>>,
}

impl Bounded {
    fn check(&self) {
        if self.cut.get().is_some() {
            return;
        }
        let mut html = self.tree.sink.0.borrow_mut();
        // Nobody reads the messages, and a bad page has one per tag.
        html.errors.clear();
        let deep = html
            .tree
            .nodes()
            .next_back()
            .is_some_and(|newest| newest.ancestors().nth(self.budget.depth).is_some());
        if deep {
            self.cut.set(Some(Cut::Depth));
        } else if Instant::now() > self.end {
            self.cut.set(Some(Cut::Time));
        }
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
        if tokens.is_multiple_of(BETWEEN_CHECKS) {
            self.check();
        }
        // Counted here and not per tag: one tag may reopen hundreds of formatting elements.
        if self.cut.get().is_none() && self.tree.sink.0.borrow().tree.values().len() > self.budget.nodes {
            self.cut.set(Some(Cut::Nodes));
        }
        if self.cut.get().is_some() && !matches!(token, Token::EOFToken) {
            return TokenSinkResult::Continue;
        }
        self.tree.process_token(token, line)
    }

    fn end(&self) {
        self.tree.end();
    }

    fn adjusted_current_node_present_but_not_in_html_namespace(&self) -> bool {
        self.tree.adjusted_current_node_present_but_not_in_html_namespace()
    }
}

/// Whether to go into a node.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Go {
    /// Visit its children.
    In,
    /// Leave them out.
    Past,
}

/// Visits the nodes below `root` in document order without recursion; `close` is called for each element whose
/// children were visited.
pub(crate) fn walk<'a>(
    root: NodeRef<'a>,
    mut open: impl FnMut(NodeRef<'a>) -> Go,
    mut close: impl FnMut(NodeRef<'a>),
) {
    let Some(mut node) = root.first_child() else { return };
    loop {
        let inside = open(node) == Go::In;
        if inside && let Some(child) = node.first_child() {
            node = child;
            continue;
        }
        if inside {
            close(node);
        }
        loop {
            if let Some(next) = node.next_sibling() {
                node = next;
                break;
            }
            match node.parent() {
                Some(parent) if parent != root => {
                    close(parent);
                    node = parent;
                }
                _ => return,
            }
        }
    }
}

/// The name of the first tag, past white space and comments.
fn first_tag(text: &str) -> Option<&str> {
    let mut rest = text.trim_start_matches(|c: char| c.is_whitespace() || c == '\u{feff}');
    while let Some(comment) = rest.strip_prefix("<!--") {
        rest = comment.split_once("-->")?.1.trim_start();
    }
    let name = rest.strip_prefix('<')?;
    Some(&name[..name.find(|c: char| c.is_whitespace() || c == '>' || c == '/').unwrap_or(name.len())])
}

fn begins_in_table(text: &str) -> bool {
    let parts = ["tr", "td", "th", "tbody", "thead", "tfoot", "col", "colgroup", "caption"];
    first_tag(text).is_some_and(|tag| parts.iter().any(|part| tag.eq_ignore_ascii_case(part)))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn count(doc: &Doc) -> usize {
        let mut n = 0;
        walk(
            doc.html.tree.root(),
            |_| {
                n += 1;
                Go::In
            },
            |_| {},
        );
        n
    }

    #[test]
    fn a_usual_page_equals_what_the_plain_parser_makes() {
        let text = format!(
            "<!doctype html><title>x</title><body>{}",
            "<table><tr><td>a<b>b<p>c</b>d<li>中文</table>".repeat(900)
        );
        let doc = Doc::page(&text, Budget::default());
        assert_eq!(doc.cut, None);
        assert_eq!(doc.html.html(), Html::parse_document(&text).html());
    }

    #[test]
    fn hostile_pages_are_cut_on_a_small_stack() {
        let long_attributes: String = (0..200_000).map(|n| format!(" a{n}")).collect();
        let fonts: String = (0..400).map(|n| format!("<font size={n}>")).collect();
        let pages = vec![
            ("div", "<div>".repeat(100_000)),
            ("a", "<a href=x>".repeat(100_000)),
            ("b", "<b>".repeat(100_000)),
            ("closed b", format!("{}{}", "<b><p>".repeat(50_000), "</b>".repeat(50_000))),
            ("font", "<font color=red>".repeat(100_000)),
            ("table", "<table>".repeat(100_000)),
            ("cells", "<table><tr><td>".repeat(100_000)),
            ("reopened", format!("{fonts}{}", "<p>x</p>".repeat(100_000))),
            ("flat", "<p>x".repeat(1_000_000)),
            ("attributes", format!("<p{long_attributes}>x")),
            ("svg", "<svg>".repeat(100_000)),
            ("select", "<select><option>".repeat(100_000)),
            ("template", "<template>".repeat(100_000)),
        ];
        let budget = Budget { time: Duration::from_millis(500), ..Budget::default() };
        std::thread::Builder::new()
            .stack_size(2 << 20)
            .spawn(move || {
                for (name, page) in pages {
                    for doc in [Doc::page(&page, budget), Doc::fragment(&page, budget)] {
                        let nodes = count(&doc);
                        assert!(nodes <= budget.nodes * 2, "{name}: {nodes}");
                        assert!(nodes > 3 || doc.cut == Some(Cut::Time), "{name}: {nodes}");
                        assert!(doc.root().is_some_and(|root| !root.html().is_empty()), "{name}");
                    }
                }
            })
            .unwrap()
            .join()
            .unwrap();
    }

    #[test]
    fn what_came_before_the_cut_is_kept() {
        let page = format!("<p>first</p>{}<p>last</p>", "<i>".repeat(5_000));
        let doc = Doc::page(&page, Budget { depth: 100, ..Budget::default() });
        assert_eq!(doc.cut, Some(Cut::Depth));
        let html = doc.html.html();
        assert!(html.contains("first") && !html.contains("last"));
    }

    #[test]
    fn the_start_of_a_text_decides_its_context() {
        for (text, expected) in [
            ("<tr><td>a</td></tr>", "<tr><td>a</td></tr>"),
            (" <!-- x --><td>a</td>", "<td>a</td>"),
            ("<li>a<li>b", "<li>a</li><li>b</li>"),
            ("<html><body><p>a", "<html><head></head><body><p>a</p></body></html>"),
            ("plain", "plain"),
            ("", ""),
        ] {
            assert!(Doc::either(text, Budget::default()).html.html().contains(expected), "{text}");
        }
    }

    #[test]
    fn a_walk_can_leave_branches_out() {
        let doc = Doc::fragment("<p>a<b>b</b></p><p>c</p>", Budget::default());
        let (mut opened, mut closed) = (Vec::new(), Vec::new());
        let name =
            |node: NodeRef<'_>| node.value().as_element().map_or("#text".to_owned(), |e| e.name().to_owned());
        walk(
            *doc.root().unwrap(),
            |node| {
                opened.push(name(node));
                if name(node) == "b" { Go::Past } else { Go::In }
            },
            |node| closed.push(name(node)),
        );
        assert_eq!(opened, ["p", "#text", "b", "p", "#text"]);
        assert_eq!(closed, ["#text", "p", "#text", "p"]);
    }

    proptest::proptest! {
        #[test]
        fn no_text_panics_the_parser(text in "(<[/!]?(div|table|tr|td|a|b|p|svg|select|template|li|form|frameset|html|head|body|script|math)[ >]|[a-z<>&;=\"' -]|中){0,80}") {
            let doc = Doc::either(&text, Budget { nodes: 40, depth: 6, time: Duration::from_secs(1) });
            let _ = doc.html.html();
            let _ = Doc::page(&text, Budget::default()).root().map(|root| root.inner_html());
        }
    }
}
