//! A tree as readable text (S2-34).
//!
//! Decides where lines, tabs and spaces go. One walk without recursion also counts the images and collects the
//! links, so that a body is read only once. Does not decide which node is the body.

use scraper::{ElementRef, Node, node::Element};

use super::attachments::is_frame;
use super::dom::{Go, NodeRef, walk};

/// What one walk through a body finds.
#[derive(Debug)]
pub(crate) struct Reading<'a> {
    /// The text.
    pub text: String,
    /// Number of images.
    pub images: u32,
    /// `a` elements with an `href` and frames, in order.
    pub links: Vec<ElementRef<'a>>,
}

/// The readable text below a node: blocks as lines, cells separated by tabs.
pub(crate) fn html_to_text(root: NodeRef<'_>) -> String {
    read(root).text
}

/// Reads a body.
pub(crate) fn read(root: NodeRef<'_>) -> Reading<'_> {
    let lines = std::cell::RefCell::new(Lines::default());
    let (mut images, mut links) = (0, Vec::new());
    walk(
        root,
        |node| match node.value() {
            Node::Text(text) => {
                lines.borrow_mut().push(text);
                Go::In
            }
            Node::Element(element) => {
                let kind = kind(element);
                if kind == Kind::Skipped || is_hidden(element) {
                    // A frame may show a file.
                    links.extend(ElementRef::wrap(node).filter(|element| is_frame(*element)));
                    return Go::Past;
                }
                match element.name() {
                    "embed" => links.extend(ElementRef::wrap(node)),
                    "img" if has_image(element) => images += 1,
                    "a" if element.attr("href").is_some() => links.extend(ElementRef::wrap(node)),
                    _ => {}
                }
                lines.borrow_mut().open(kind);
                Go::In
            }
            _ => Go::In,
        },
        |node| {
            if let Node::Element(element) = node.value() {
                lines.borrow_mut().close(kind(element));
            }
        },
    );
    Reading { text: lines.into_inner().text, images, links }
}

/// How an element shapes the text around it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Kind {
    Inline,
    Block,
    /// A block in which line ends count.
    Preformatted,
    Row,
    Cell,
    LineBreak,
    Skipped,
}

pub(crate) fn kind(element: &Element) -> Kind {
    match element.name() {
        "br" => Kind::LineBreak,
        "td" | "th" => Kind::Cell,
        "tr" | "table" | "tbody" | "thead" | "tfoot" | "caption" => Kind::Row,
        "pre" | "textarea" | "listing" | "xmp" => Kind::Preformatted,
        // What a reader does not see.
        "script" | "style" | "noscript" | "template" | "head" | "title" | "iframe" | "noframes"
        | "noembed" | "object" | "svg" | "audio" | "video" | "canvas" | "datalist" => Kind::Skipped,
        "address" | "article" | "aside" | "blockquote" | "body" | "center" | "dd" | "details" | "dialog"
        | "dir" | "div" | "dl" | "dt" | "fieldset" | "figcaption" | "figure" | "footer" | "form" | "h1"
        | "h2" | "h3" | "h4" | "h5" | "h6" | "header" | "hgroup" | "hr" | "html" | "legend" | "li"
        | "main" | "menu" | "nav" | "ol" | "optgroup" | "option" | "p" | "search" | "section" | "select"
        | "summary" | "ul" => Kind::Block,
        _ => Kind::Inline,
    }
}

/// `visibility: hidden` is not among them: editors leave it on text that readers do see.
pub(crate) fn is_hidden(element: &Element) -> bool {
    if element.attrs.is_empty() {
        return false;
    }
    element.attrs.iter().any(|(name, value)| match &*name.local {
        "hidden" => true,
        "style" => declares_display_none(value),
        _ => false,
    })
}

fn declares_display_none(style: &str) -> bool {
    style.split(';').filter_map(|declaration| declaration.split_once(':')).any(|(name, value)| {
        name.trim().eq_ignore_ascii_case("display")
            && value.trim().split([' ', '!']).next().is_some_and(|value| value.eq_ignore_ascii_case("none"))
    })
}

fn has_image(element: &Element) -> bool {
    let sources = ["src", "data-src", "data-original", "srcset", "oldsrc"];
    element.attrs.iter().any(|(name, value)| sources.contains(&&*name.local) && !value.trim().is_empty())
}

/// What stands between the last visible character and the next one; the larger one wins.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
enum Gap {
    #[default]
    None,
    Space,
    Line,
    /// Between two cells: stronger than the paragraphs inside of them, so that a row stays one line.
    Tab,
    Row,
    Blank,
}

#[derive(Default)]
pub(crate) struct Lines {
    pub text: String,
    gap: Gap,
    /// No-break and ideographic spaces that are kept if something visible follows on the same line.
    held: String,
    preformatted: u32,
}

impl Lines {
    pub(crate) fn open(&mut self, kind: Kind) {
        match kind {
            Kind::Block => self.part(Gap::Line),
            Kind::Preformatted => {
                self.part(Gap::Line);
                self.preformatted += 1;
            }
            Kind::Row => self.part(Gap::Row),
            Kind::Cell => {
                self.held.clear();
                // Paragraphs at the end of the cell before do not separate it from this one; rows do.
                if self.gap < Gap::Row {
                    self.gap = Gap::Tab;
                }
            }
            Kind::LineBreak => self.line_break(),
            Kind::Inline | Kind::Skipped => {}
        }
    }

    pub(crate) fn close(&mut self, kind: Kind) {
        match kind {
            Kind::Block => self.part(Gap::Line),
            Kind::Preformatted => {
                self.part(Gap::Line);
                self.preformatted = self.preformatted.saturating_sub(1);
            }
            Kind::Row => self.part(Gap::Row),
            // What follows a cell without being one is a new line.
            Kind::Cell => self.part(Gap::Line),
            Kind::LineBreak | Kind::Inline | Kind::Skipped => {}
        }
    }

    fn part(&mut self, gap: Gap) {
        self.held.clear();
        self.gap = self.gap.max(gap);
    }

    /// One ends the line, a second one leaves a blank line, more change nothing.
    fn line_break(&mut self) {
        let gap = match self.gap {
            Gap::None | Gap::Space => Gap::Line,
            Gap::Tab => Gap::Tab,
            Gap::Line | Gap::Row | Gap::Blank => Gap::Blank,
        };
        self.held.clear();
        self.gap = gap;
    }

    pub(crate) fn push(&mut self, text: &str) {
        let mut rest = text;
        while let Some(c) = rest.chars().next() {
            let end = next_special(rest);
            if end > 0 {
                self.flush();
                self.text.push_str(&rest[..end]);
                rest = &rest[end..];
                continue;
            }
            match c {
                '\n' if self.preformatted > 0 => self.line_break(),
                '\u{a0}' | '\u{3000}' => self.held.push(c),
                // Invisible.
                '\u{ad}' | '\u{200b}'..='\u{200d}' | '\u{2060}' | '\u{feff}' | '\0' => {}
                _ if self.held.is_empty() => self.gap = self.gap.max(Gap::Space),
                _ if !self.held.ends_with(' ') => self.held.push(' '),
                _ => {}
            }
            rest = &rest[c.len_utf8()..];
        }
    }

    fn flush(&mut self) {
        if self.gap != Gap::None {
            if !self.text.is_empty() {
                self.text.push_str(match self.gap {
                    Gap::None => "",
                    Gap::Space => " ",
                    Gap::Tab => "\t",
                    Gap::Line | Gap::Row => "\n",
                    Gap::Blank => "\n\n",
                });
            }
            self.gap = Gap::None;
        }
        if !self.held.is_empty() {
            self.text.push_str(&self.held);
            self.held.clear();
        }
    }
}

/// Where the first special character is, or the end. Nearly all characters of these pages are seen to be plain by
/// their first byte alone.
fn next_special(text: &str) -> usize {
    let bytes = text.as_bytes();
    let mut at = 0;
    while let Some(first) = bytes.get(at) {
        let width = match first {
            0x21..=0x7f => {
                at += 1;
                continue;
            }
            0xe4..=0xee => {
                at += 3;
                continue;
            }
            0x00..=0x20 => 1,
            0x80..=0xdf => 2,
            0xe0..=0xef => 3,
            0xf0..=0xff => 4,
        };
        if text[at..].chars().next().is_some_and(is_special) {
            return at;
        }
        at += width;
    }
    text.len()
}

fn is_special(c: char) -> bool {
    c.is_whitespace() || matches!(c, '\u{ad}' | '\u{200b}'..='\u{200d}' | '\u{2060}' | '\u{feff}' | '\0')
}

#[cfg(test)]
mod tests {
    use super::super::dom::{Budget, Doc};
    use super::*;

    fn text(html: &str) -> String {
        Doc::either(html, Budget::default()).root().map(|root| html_to_text(*root)).unwrap_or_default()
    }

    #[test]
    fn pages_become_lines_as_a_reader_sees_them() {
        for (html, expected) in [
            ("<p>a</p><p>b</p>", "a\nb"),
            ("<p> a\n  b </p>", "a b"),
            ("a<b>b</b>c", "abc"),
            ("a<div>b</div>c", "a\nb\nc"),
            ("a<br>b<br/><br>c<br><br><br>d", "a\nb\n\nc\n\nd"),
            ("<p>a</p>\n\n\n<p> </p><p>&nbsp;</p>\n<p>b</p>", "a\nb"),
            ("<ul><li>a</li> <li>b</ul>", "a\nb"),
            ("<h1>t</h1>x<hr>y", "t\nx\ny"),
            ("<table><tr><td>a</td><td>b</td></tr><tr><th>c<td>d</table>e", "a\tb\nc\td\ne"),
            ("<table><tr><td><p>a</p></td> <td><p>b</p><p>c</p></td></tr></table>", "a\tb\nc"),
            ("<table><tr><td>a</td><td><table><tr><td>b<td>c</table></td></tr></table>", "a\nb\tc"),
            ("a<script>x</script><style>y</style><noscript>z</noscript><template>w</template>b", "ab"),
            (
                "<p hidden>x</p><p style='color:red; DISPLAY : none !important'>y</p><p style='visibility:hidden'>z</p>",
                "z",
            ),
            ("<p style='display:none-such'>z</p>", "z"),
            ("a&nbsp;b", "a\u{a0}b"),
            ("<p>　　为了&nbsp;</p>", "　　为了"),
            ("a&emsp;b&ensp;&thinsp;c", "a b c"),
            ("&lt;p&gt; &amp; &#20013;", "<p> & 中"),
            ("a\u{200b}b\u{feff}c&shy;d", "abcd"),
            ("<pre>a\n  b\n\n\nc</pre>", "a\nb\n\nc"),
            ("<!-- x --><html><head><title>t</title></head><body>b</body></html>", "b"),
            ("<select><option>a<option>b</select>", "a\nb"),
            ("", ""),
            ("<p>&nbsp;</p>", ""),
        ] {
            assert_eq!(text(html), expected, "{html}");
        }
    }

    #[test]
    fn a_body_is_read_in_one_walk() {
        let doc = Doc::fragment(
            "<a href=1>x</a><img src=a><img><img src=' '><img data-src=b><a>y</a><p hidden><a href=2></a></p>",
            Budget::default(),
        );
        let reading = read(*doc.root().unwrap());
        assert_eq!((reading.text.as_str(), reading.images, reading.links.len()), ("xy", 2, 1));
    }

    #[test]
    fn a_deep_page_is_read_on_a_small_stack() {
        let page = format!("{}x", "<div><b>".repeat(100_000));
        let work = move || {
            let doc = Doc::page(&page, Budget { depth: 5_000, ..Budget::default() });
            html_to_text(*doc.root().unwrap()).len()
        };
        std::thread::Builder::new().stack_size(2 << 20).spawn(work).unwrap().join().unwrap();
    }

    proptest::proptest! {
        #[test]
        fn the_first_special_character_is_found_wherever_it_is(text in "[a中。，“\u{3000}\u{feff}\u{a0}é\u{1680}\u{e000}😀 \u{200b}\u{0}\u{85}]{0,12}") {
            proptest::prop_assert_eq!(next_special(&text), text.find(is_special).unwrap_or(text.len()));
        }

        #[test]
        fn text_is_trimmed_and_has_no_runs_of_blank_lines(html in "(<[/]?(div|table|tr|td|br|p|li|pre)>|&nbsp;|[a-z \n]|中){0,60}") {
            let text = text(&html);
            proptest::prop_assert!(!text.contains("\n\n\n") && !text.contains("  ") && !text.contains(" \n"));
            proptest::prop_assert!(!text.starts_with([' ', '\n', '\t']) && !text.ends_with([' ', '\n', '\t']));
        }
    }
}
