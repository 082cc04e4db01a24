//! A region as HTML without anything active, and what it leads to.
//!
//! Decides which elements and attributes survive: structure, links and pictures; no scripts, styles, forms, events or frames. Addresses are made
//! absolute, and only those of the web are kept. Does not choose the region.

use scraper::ElementRef;
use url::Url;

use super::attachments::{Files, file_of, is_frame};
use super::dom::Doc;
use super::generic::judge::Candidate;
use super::generic::outline::{Outline, Tag};
use super::generic::render::{Hear, tell};
use super::pages::resolve;

/// Frames that are looked at.
const MOST_FRAMES: usize = 200;

/// What a region leads to.
#[derive(Default)]
pub(crate) struct Leads<'a> {
    /// Pictures.
    pub images: u32,
    pub first_image: Option<Url>,
    /// Links in order.
    pub links: Vec<ElementRef<'a>>,
}

/// Counts pictures and collects links.
pub(crate) fn look<'a>(outline: &Outline<'a>, region: &Candidate, base: Option<&Url>) -> Leads<'a> {
    let mut look = Look { outline, base, link: None, leads: Leads::default() };
    tell(outline, region, &mut look);
    look.leads
}

struct Look<'o, 'a> {
    outline: &'o Outline<'a>,
    base: Option<&'o Url>,
    /// The last link, and whether it leads to a file, once somebody asked.
    link: Option<(u32, Option<bool>)>,
    leads: Leads<'a>,
}

impl Look<'_, '_> {
    /// A picture in a link to a file is its sign.
    fn is_sign(&mut self, at: u32) -> bool {
        let (outline, base) = (self.outline, self.base);
        let Some((link, leads)) = self.link.as_mut().filter(|(link, _)| outline.is_in(at, *link)) else {
            return false;
        };
        let ask =
            || ElementRef::wrap(outline.el(*link).node).is_some_and(|link| file_of(link, base).is_some());
        *leads.get_or_insert_with(ask)
    }
}

impl Hear for Look<'_, '_> {
    fn open(&mut self, at: u32) {
        let el = self.outline.el(at);
        match el.tag {
            Tag::Image => {
                let element = el.node.value().as_element();
                let Some(src) = image(element).filter(|src| !is_icon(element, src)) else { return };
                if self.is_sign(at) {
                    return;
                }
                self.leads.images += 1;
                if self.leads.first_image.is_none() {
                    self.leads.first_image = resolve(self.base, src);
                }
            }
            Tag::Link => {
                self.link = Some((at, None));
                self.leads.links.extend(ElementRef::wrap(el.node));
            }
            _ => {}
        }
    }
    fn text(&mut self, _: u32) {}
    fn close(&mut self, _: u32) {}
}

/// Where a picture really is: lazy pages have it beside `src`.
pub(crate) fn image(element: Option<&scraper::node::Element>) -> Option<&str> {
    let element = element?;
    ["data-src", "data-original", "data-lazy-src", "oldsrc", "src"]
        .iter()
        .filter_map(|name| element.attr(name))
        .map(str::trim)
        .find(|src| !src.is_empty() && !src.starts_with("data:"))
}

/// Pictures that editors and templates put beside links, and counters: nothing of the article.
fn is_icon(element: Option<&scraper::node::Element>, src: &str) -> bool {
    let small = |name: &str| {
        let value = element.and_then(|element| element.attr(name))?;
        value.trim().trim_end_matches("px").parse::<u32>().ok().map(|size| size <= 24)
    };
    let tiny = small("width") == Some(true) && small("height") == Some(true);
    let file = src.split(['?', '#']).next().unwrap_or_default().rsplit('/').next().unwrap_or_default();
    tiny || src.contains("/fileTypeImages/") || file.starts_with("icon_")
}

/// Files that stand beside the text: templates put them into a box of their own behind it.
pub(crate) fn files_beside(outline: &Outline<'_>, region: &Candidate, files: &mut Files, base: Option<&Url>) {
    let Some(last) = region.roots.last() else { return };
    let around = outline.up(*last).filter(|at| outline.el(*at).block).nth(2).unwrap_or(*last);
    for at in outline.el(*last).end..outline.el(around).end {
        let el = outline.el(at);
        if el.tag == Tag::Link
            && !el.hidden
            && let Some(link) = ElementRef::wrap(el.node)
        {
            files.link(link, base);
        }
    }
}

/// Frames of a page that show files; they are hardly ever anything but its text.
pub(crate) fn frames(doc: &Doc) -> Vec<ElementRef<'_>> {
    let Some(root) = doc.root() else { return Vec::new() };
    root.descendent_elements().filter(|element| is_frame(*element)).take(MOST_FRAMES).collect()
}

/// The region as HTML that does nothing: elements of structure, links and pictures.
pub(crate) fn html(outline: &Outline<'_>, region: &Candidate, base: Option<&Url>) -> String {
    let mut writer = Html { outline, base, out: String::new() };
    tell(outline, region, &mut writer);
    writer.out
}

struct Html<'o, 'a> {
    outline: &'o Outline<'a>,
    base: Option<&'o Url>,
    out: String,
}

/// Elements that survive; others lose their tags and keep their text.
const SAFE: [&str; 38] = [
    "p",
    "div",
    "section",
    "article",
    "h1",
    "h2",
    "h3",
    "h4",
    "h5",
    "h6",
    "ul",
    "ol",
    "li",
    "dl",
    "dt",
    "dd",
    "table",
    "thead",
    "tbody",
    "tfoot",
    "tr",
    "td",
    "th",
    "caption",
    "blockquote",
    "pre",
    "code",
    "em",
    "strong",
    "b",
    "i",
    "u",
    "sub",
    "sup",
    "figure",
    "a",
    "img",
    "br",
];

impl Html<'_, '_> {
    fn name(&self, at: u32) -> Option<&'static str> {
        let name = self.outline.el(at).node.value().as_element()?.name();
        SAFE.iter().find(|safe| **safe == name).copied()
    }

    fn attribute(&mut self, name: &str, value: &str) {
        self.out.push_str(&format!(" {name}=\""));
        self.escape(value);
        self.out.push('"');
    }

    fn escape(&mut self, text: &str) {
        for c in text.chars() {
            match c {
                '&' => self.out.push_str("&amp;"),
                '<' => self.out.push_str("&lt;"),
                '>' => self.out.push_str("&gt;"),
                '"' => self.out.push_str("&quot;"),
                _ => self.out.push(c),
            }
        }
    }
}

impl Hear for Html<'_, '_> {
    fn open(&mut self, at: u32) {
        let Some(name) = self.name(at) else { return };
        let element = self.outline.el(at).node.value().as_element();
        let attr = |name: &str| element.and_then(|element| element.attr(name)).map(str::to_owned);
        if name == "img" {
            let Some(url) = image(element).and_then(|src| resolve(self.base, src)) else { return };
            self.out.push_str("<img");
            self.attribute("src", url.as_str());
            if let Some(alt) = attr("alt").filter(|alt| !alt.is_empty()) {
                self.attribute("alt", &alt);
            }
            self.out.push('>');
            return;
        }
        self.out.push('<');
        self.out.push_str(name);
        if name == "a"
            && let Some(url) = attr("href").and_then(|href| resolve(self.base, &href))
        {
            self.attribute("href", url.as_str());
        }
        for span in ["colspan", "rowspan"] {
            if let Some(count) = attr(span).and_then(|count| count.trim().parse::<u16>().ok())
                && matches!(name, "td" | "th")
                && count > 1
            {
                self.attribute(span, &count.to_string());
            }
        }
        self.out.push('>');
    }

    fn text(&mut self, leaf: u32) {
        let leaf = &self.outline.leaves[leaf as usize];
        if !leaf.before.is_empty() {
            self.out.push(' ');
        }
        self.escape(leaf.text);
    }

    fn close(&mut self, at: u32) {
        if let Some(name) = self.name(at)
            && !matches!(name, "img" | "br")
        {
            self.out.push_str(&format!("</{name}>"));
        }
    }
}
