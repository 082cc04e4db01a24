//! What a page says of itself in its head: `<title>`, `<meta>`, JSON-LD, and the scripts that hold more.
//!
//! Decides nothing: later steps choose. Names are compared without case, because sites write `PubDate`, `pubdate` and `PUBDATE`. Sizes are
//! bounded, because every site may put anything here.

use scraper::Node;

use super::dom::Doc;

/// More metas than any page has.
const MOST: usize = 400;
/// A value longer than this is not a title or date.
const LONGEST: usize = 2_000;
/// JSON-LD blocks larger than this are not read.
const LARGEST_JSON: usize = 512 * 1024;
/// JSON-LD deeper than this is not followed.
const DEEPEST: usize = 12;

/// The head of a page.
#[derive(Debug, Default)]
pub(crate) struct Head<'a> {
    /// `<title>`, white space folded.
    pub title: String,
    /// Name in lower case and content, in order.
    metas: Vec<(String, &'a str)>,
    /// What JSON-LD says of the article.
    pub linked: Linked,
    /// `<link rel=canonical>`.
    pub canonical: Option<&'a str>,
    /// Script texts, for values nobody wrote elsewhere.
    pub scripts: Vec<&'a str>,
    /// `<html lang>`.
    pub lang: Option<&'a str>,
}

/// The article in JSON-LD.
#[derive(Debug, Default)]
pub(crate) struct Linked {
    pub headline: Option<String>,
    pub published: Option<String>,
    pub modified: Option<String>,
    pub author: Option<String>,
    pub publisher: Option<String>,
    pub image: Option<String>,
    pub body: Option<String>,
}

impl<'a> Head<'a> {
    /// Reads the head; metas in the body count as well, because broken pages have them there.
    pub fn of(doc: &'a Doc) -> Head<'a> {
        let mut head = Head::default();
        for node in doc.html.tree.nodes() {
            let Node::Element(element) = node.value() else { continue };
            match element.name() {
                "title" if head.title.is_empty() && element.name.ns == html5ever::ns!(html) => {
                    for text in node.children().filter_map(|child| child.value().as_text()) {
                        super::generic::outline::push_folded(
                            &mut head.title,
                            &text[..text.floor_char_boundary(LONGEST)],
                        );
                    }
                    head.title.truncate(head.title.trim_end().len());
                }
                "meta" if head.metas.len() < MOST => {
                    let key = ["name", "property", "itemprop", "http-equiv"]
                        .iter()
                        .find_map(|key| element.attr(key));
                    if let (Some(key), Some(content)) =
                        (key, element.attr("content").or(element.attr("value")))
                    {
                        let content = content.trim();
                        if !content.is_empty() && key.len() < 100 {
                            head.metas.push((
                                key.trim().to_ascii_lowercase(),
                                &content[..content.floor_char_boundary(LONGEST)],
                            ));
                        }
                    }
                }
                "link"
                    if head.canonical.is_none()
                        && element.attr("rel").is_some_and(|rel| rel.eq_ignore_ascii_case("canonical")) =>
                {
                    head.canonical = element.attr("href");
                }
                "html" => head.lang = element.attr("lang"),
                "script" => {
                    let Some(text) = node.first_child().and_then(|child| match child.value() {
                        Node::Text(text) => Some(&**text),
                        _ => None,
                    }) else {
                        continue;
                    };
                    if element
                        .attr("type")
                        .is_some_and(|kind| kind.trim().eq_ignore_ascii_case("application/ld+json"))
                    {
                        if text.len() <= LARGEST_JSON {
                            head.linked.read(text);
                        }
                    } else {
                        head.scripts.push(text);
                    }
                }
                _ => {}
            }
        }
        head
    }

    /// The first meta of these names that has a value, by the order of the names, with its name.
    pub fn meta<'n>(&self, names: &[&'n str]) -> Option<(&'n str, &'a str)> {
        names
            .iter()
            .find_map(|name| self.metas.iter().find(|(key, _)| key == name).map(|(_, value)| (*name, *value)))
    }

    /// All metas, for those who look for patterns.
    pub fn metas(&self) -> impl Iterator<Item = (&str, &'a str)> {
        self.metas.iter().map(|(name, value)| (name.as_str(), *value))
    }
}

impl Linked {
    fn read(&mut self, text: &str) {
        let text = unwrapped(text);
        let parsed = serde_json::from_str(text).or_else(|_| {
            // Line breaks inside strings are the commonest mistake.
            let mended: String = text.chars().map(|c| if c.is_control() { ' ' } else { c }).collect();
            serde_json::from_str(mended.trim().trim_end_matches(';'))
        });
        if let Ok(value) = parsed {
            self.visit(&value, 0);
        }
    }

    fn visit(&mut self, value: &serde_json::Value, depth: usize) {
        use serde_json::Value;
        if depth > DEEPEST {
            return;
        }
        match value {
            Value::Array(items) => items.iter().take(200).for_each(|item| self.visit(item, depth + 1)),
            Value::Object(map) => {
                let kind = |name: &str| {
                    name.ends_with("Article")
                        || name.ends_with("Posting")
                        || name == "Report"
                        || name == "WebPage"
                };
                let (mut is_article, mut page) = (false, false);
                let kinds: Vec<&str> = match map.get("@type") {
                    Some(Value::String(name)) => vec![name.as_str()],
                    Some(Value::Array(names)) => names.iter().filter_map(Value::as_str).collect(),
                    _ => vec![],
                };
                for name in kinds {
                    is_article |= kind(name);
                    page |= name == "WebPage";
                }
                // Some sites give no type, only the date.
                if is_article || (map.contains_key("pubDate") && map.contains_key("title")) {
                    let text = |key: &str| map.get(key).and_then(name_of);
                    if !page {
                        fill(&mut self.headline, text("headline").or_else(|| text("title")));
                        fill(&mut self.author, text("author"));
                        fill(&mut self.publisher, text("publisher"));
                        fill(&mut self.image, text("image"));
                        fill(
                            &mut self.body,
                            map.get("articleBody").and_then(Value::as_str).map(str::to_owned),
                        );
                    }
                    fill(&mut self.published, text("datePublished").or_else(|| text("pubDate")));
                    fill(&mut self.modified, text("dateModified").or_else(|| text("upDate")));
                }
                for key in ["@graph", "mainEntity", "mainEntityOfPage", "hasPart"] {
                    if let Some(inner) = map.get(key) {
                        self.visit(inner, depth + 1);
                    }
                }
            }
            _ => {}
        }
    }
}

/// Without what keeps other parsers from reading a script: comments and CDATA sections.
fn unwrapped(text: &str) -> &str {
    let mut text = text.trim();
    loop {
        let before = text.len();
        for mark in ["<!--", "<![CDATA[", "//", "/*", "*/"] {
            text = text.strip_prefix(mark).unwrap_or(text).trim_start();
        }
        for mark in ["-->", "]]>", "//", "/*", "*/"] {
            text = text.strip_suffix(mark).unwrap_or(text).trim_end();
        }
        if text.len() == before {
            return text;
        }
    }
}

fn fill(slot: &mut Option<String>, value: Option<String>) {
    if slot.is_none() {
        *slot = value.filter(|value| !value.trim().is_empty());
    }
}

/// A text, or the name or address of a thing, or the first of a list.
fn name_of(value: &serde_json::Value) -> Option<String> {
    use serde_json::Value;
    match value {
        Value::String(text) => Some(text.trim().to_owned()),
        Value::Number(number) => Some(number.to_string()),
        Value::Array(items) => {
            let names: Vec<String> =
                items.iter().take(20).filter(|item| !item.is_array()).filter_map(name_of).collect();
            if names.iter().any(|name| name.starts_with("http")) {
                names.into_iter().next()
            } else {
                Some(names.join("、")).filter(|text| !text.is_empty())
            }
        }
        Value::Object(map) => {
            map.get("name").or_else(|| map.get("url")).filter(|inner| inner.is_string()).and_then(name_of)
        }
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::super::dom::Budget;
    use super::*;

    #[test]
    fn json_ld_inside_comments_and_cdata_sections_is_read() {
        let json = r#"{"@type":"NewsArticle","headline":"A","datePublished":"2024-03-05"}"#;
        for (before, behind) in [
            ("", ""),
            ("<!--", "-->"),
            ("<![CDATA[", "]]>"),
            ("//<![CDATA[\n", "\n//]]>"),
            ("/*<![CDATA[*/", "/*]]>*/"),
        ] {
            let page = format!("<script type='application/ld+json'>\n{before}{json}{behind}\n</script>");
            let doc = Doc::page(&page, Budget::default());
            let head = Head::of(&doc);
            assert_eq!(head.linked.published.as_deref(), Some("2024-03-05"), "{page}");
        }
    }
}
