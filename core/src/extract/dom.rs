//! Text to tree, within a budget.
//!
//! Decides what parsing a page may cost. A page that would cost too much (nodes, depth, attributes) loses tags and attributes, never its text
//! (`bounded`, `attributes`), and says so; it is never refused and never panics. What is lost depends on the text alone, not on time. Does
//! not decide what is read from the tree.

mod attributes;
mod bounded;
mod names;
mod open;

use html5ever::tendril::StrTendril;
use html5ever::tokenizer::{BufferQueue, Tokenizer, TokenizerOpts};
use html5ever::tree_builder::{TreeBuilder, TreeSink};
use html5ever::{LocalName, QualName, TokenizerResult, ns};
use scraper::{ElementRef, Html, HtmlTreeSink};

use bounded::{Bounded, Builder};

/// The tree's references, without naming the crate of the tree everywhere.
pub(crate) type NodeRef<'a> = <ElementRef<'a> as std::ops::Deref>::Target;

/// What parsing one page may cost.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Budget {
    /// Nodes in the tree. The largest real page of the sites watched has 30,000; each costs about 200 bytes.
    pub nodes: usize,
    /// Open elements above each other. Browsers stop at 512; the parser's own loops walk this stack for each tag.
    pub depth: usize,
}

impl Default for Budget {
    fn default() -> Self {
        Budget { nodes: 300_000, depth: 512 }
    }
}

/// What made a page too costly to keep all of its markup. Its text is kept.
#[derive(Clone, Copy, Debug, PartialEq, Eq, serde::Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Cut {
    /// Too many nodes: parts without prose were read as plain lines.
    Nodes,
    /// Too many elements above each other: some were closed before their end.
    Depth,
    /// Too many attributes, on one element or of different names: the rest was left out.
    Attributes,
}

impl std::fmt::Display for Cut {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(match self {
            Cut::Nodes => "too many nodes: parts without prose were read as plain lines",
            Cut::Depth => "too many elements above each other: some were closed before their end",
            Cut::Attributes => "too many attributes: the rest was left out",
        })
    }
}

/// A parsed page.
#[derive(Debug)]
pub(crate) struct Doc {
    pub html: Html,
    /// Set when some of the markup was left out.
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

/// Text goes to the parser in pieces of this size; each is looked at on its own for prose when nodes run short.
const PIECE: usize = 4 * 1024;
/// Bytes between two tags that are rather a sentence than a label.
const PROSE: usize = 60;

fn run(tree: Builder, text: &str, budget: Budget, fragment: bool) -> Doc {
    let tamed = attributes::tame(text);
    let tokenizer = Tokenizer::new(Bounded::new(tree, budget), TokenizerOpts::default());
    if tamed.len() > 1 {
        tokenizer.sink.cut.set(Some(Cut::Attributes));
    }
    let input = BufferQueue::default();
    for part in tamed {
        let (mut before, mut rest) = ("", part);
        while !rest.is_empty() {
            let (piece, left) = rest.split_at(rest.floor_char_boundary(PIECE));
            if tokenizer.sink.is_sparing() {
                // An article's heading may stand in the piece before, its last line in the one behind.
                let next = &left[..left.floor_char_boundary(PIECE)];
                tokenizer.sink.poor.set(![before, piece, next].into_iter().any(holds_prose));
            }
            input.push_back(StrTendril::from_slice(piece));
            while !matches!(tokenizer.feed(&input), TokenizerResult::Done) {}
            (before, rest) = (piece, left);
        }
    }
    tokenizer.end();
    let Bounded { tree, cut, .. } = tokenizer.sink;
    let mut html = tree.sink.finish();
    html.errors = Vec::new();
    Doc { html, cut: cut.get(), fragment }
}

fn holds_prose(piece: &str) -> bool {
    piece.split('<').any(|part| {
        let text = part.split_once('>').map_or(part, |(_, text)| text);
        text.len() >= PROSE && text.trim().len() >= PROSE
    })
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

    /// Names and pages: what would cost too much, with `PLANTED` words in paragraphs behind it.
    fn hostile() -> Vec<(&'static str, String)> {
        let long_attributes: String = (0..20_000).map(|n| format!(" a{n}")).collect();
        let fonts: String = (0..400).map(|n| format!("<font size={n}>")).collect();
        let numbered = |count: usize, one: fn(usize) -> String| (0..count).map(one).collect::<String>();
        let pages = vec![
            ("div", "<div>".repeat(20_000)),
            ("div and an end of nothing", "<div></b>".repeat(20_000)),
            ("rows", numbered(600, |n| format!("<div class=row>{n} "))),
            ("a", "<a href=x>".repeat(20_000)),
            ("b", "<b>".repeat(20_000)),
            ("closed b", format!("{}{}", "<b><p>".repeat(10_000), "</b>".repeat(10_000))),
            ("font", "<font color=red>".repeat(20_000)),
            ("font in paragraphs", numbered(700, |n| format!("<p><font size={n}>{n}"))),
            ("table", "<table>".repeat(20_000)),
            ("cells", "<table><tr><td>".repeat(20_000)),
            ("reopened", format!("{fonts}{}", "<p>x</p>".repeat(20_000))),
            ("flat", "<p>x".repeat(100_000)),
            ("tiny", "<i></i>".repeat(100_000)),
            ("comments", "<!---->".repeat(50_000)),
            ("scripts", "<script></script>".repeat(30_000)),
            ("attributes", format!("<p{long_attributes}>x")),
            ("attributes of the page", numbered(20_000, |n| format!("<html a{n}>"))),
            ("names", numbered(30_000, |n| format!("<x{n}>"))),
            ("svg", "<svg>".repeat(20_000)),
            ("select", "<select><option>".repeat(20_000)),
        ];
        let article: String =
            (0..5).map(|n| format!("<p>PLANTED {n}, {}</p>", "a word of prose ".repeat(9))).collect();
        pages
            .into_iter()
            .map(|(name, page)| (name, format!("{page}<div class=article>{article}</div><p>last</p>")))
            .collect()
    }

    /// Less than usual, so that smaller pages exceed it.
    const SMALL: Budget = Budget { nodes: 30_000, depth: 512 };

    #[test]
    fn hostile_pages_keep_their_text_on_a_small_stack() {
        let budget = SMALL;
        let work = move || {
            for (name, page) in hostile() {
                for doc in [Doc::page(&page, budget), Doc::fragment(&page, budget)] {
                    let nodes = doc.html.tree.values().len();
                    assert!(nodes <= budget.nodes + 2_000, "{name}: {nodes}");
                    let deepest = doc
                        .html
                        .tree
                        .nodes()
                        .map(|node| if node.has_children() { 0 } else { node.ancestors().count() });
                    assert!(deepest.max().unwrap_or(0) < 2 * budget.depth, "{name}");
                    let root = doc.root().unwrap();
                    let paragraphs = doc.html.tree.nodes().filter_map(ElementRef::wrap).filter(|el| {
                        el.value().name() == "p" && el.text().collect::<String>().starts_with("PLANTED")
                    });
                    assert_eq!(paragraphs.count(), 5, "{name}: {:?}", doc.cut);
                    assert!(root.html().contains("last"), "{name}");
                }
            }
        };
        std::thread::Builder::new().stack_size(2 << 20).spawn(work).unwrap().join().unwrap();
    }

    #[test]
    fn an_inert_template_takes_what_is_in_it_along_and_nothing_else() {
        let doc = Doc::page(&format!("<p>first</p>{}", "<template>".repeat(20_000)), SMALL);
        assert!(doc.html.html().contains("<p>first</p>"));
        assert!(doc.html.tree.values().len() < 32_000);
    }

    #[test]
    fn a_page_that_was_cut_says_why() {
        let cut = |page: &str| Doc::page(page, Budget { nodes: 2_000, depth: 100 }).cut;
        assert_eq!(cut(&"<div>x".repeat(90)), None);
        assert_eq!(cut(&"<div>x".repeat(200)), Some(Cut::Depth));
        assert_eq!(cut(&"<div>x</div>".repeat(2_000)), Some(Cut::Nodes));
        let many: String = (0..1_000).map(|n| format!(" a{n}=1")).collect();
        assert_eq!(cut(&format!("<p{many}>x")), Some(Cut::Attributes));
        assert_eq!(cut(&format!("<p title='{many}'>x")), None);
    }

    #[test]
    fn what_follows_elements_that_were_never_closed_keeps_its_structure() {
        let table = "<table><tbody><tr><td>a</td><td>b</td></tr></tbody></table>";
        let article = format!(
            "<div class=\"article\"><p>one</p><p>two <b>bold</b></p>{table}<ul><li>x</li></ul></div>"
        );
        for open in ["<div>", "<font>", "<section><span>", "<table><tr><td>", "<ul><li>", "<blockquote>"] {
            let doc = Doc::page(&format!("{}{article}<p>end</p>", open.repeat(700)), Budget::default());
            let html = doc.html.html();
            assert!(html.contains(&article), "{open}: {}", &html[html.len().saturating_sub(400)..]);
        }
    }

    #[test]
    fn ends_of_elements_that_were_closed_early_close_nothing_else() {
        let deep = format!("{}{}", "<div>".repeat(700), "</div>".repeat(700));
        let doc = Doc::page(&format!("<main>{deep}<p>inside</p></main><p>outside</p>"), Budget::default());
        let html = doc.html.html();
        assert!(html.contains("<p>inside</p></main><p>outside</p>"), "{}", &html[html.len() - 200..]);
    }

    #[test]
    fn the_same_text_gives_the_same_tree() {
        for (name, page) in hostile() {
            let once = Doc::page(&page, SMALL);
            let again = Doc::page(&page, SMALL);
            assert!(once.html.html() == again.html.html() && once.cut == again.cut, "{name}");
        }
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
        fn pages_within_the_budget_equal_what_the_plain_parser_makes(text in "(</?(div|table|tbody|tr|td|colgroup|a|b|p|svg|select|option|template|li|form|h1|h2|br|head|body|html|title|textarea|ruby|rt|button)>|<col>|<!-- x -->|[a-z ]|中){0,60}") {
            let doc = Doc::page(&text, Budget::default());
            proptest::prop_assert_eq!(doc.cut, None);
            proptest::prop_assert_eq!(doc.html.html(), Html::parse_document(&text).html());
        }

        #[test]
        fn no_text_panics_the_parser(text in "(<[/!]?(div|table|tr|td|a|b|p|svg|select|template|li|form|frameset|html|head|body|script|math)[ >]|[a-z<>&;=\"' -]|中){0,80}") {
            let doc = Doc::either(&text, Budget { nodes: 40, depth: 6 });
            let _ = doc.html.html();
            let _ = Doc::page(&text, Budget::default()).root().map(|root| root.inner_html());
        }
    }
}
