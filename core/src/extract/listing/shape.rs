//! What elements are called in a selector, and what stands in them.

use scraper::{ElementRef, Node};

use crate::extract::dom::{Go, walk};

/// Characters that are read of one element.
const LONGEST: usize = 2_000;

/// Text of an element, white space folded.
pub(super) fn text_of(element: ElementRef<'_>) -> String {
    gathered(element, None)
}

/// The same without one element in it.
pub(super) fn text_without(element: ElementRef<'_>, left_out: ElementRef<'_>) -> String {
    if element == left_out { String::new() } else { gathered(element, Some(left_out)) }
}

fn gathered(element: ElementRef<'_>, left_out: Option<ElementRef<'_>>) -> String {
    let mut text = String::new();
    walk(
        *element,
        |node| {
            if left_out.is_some_and(|out| out.id() == node.id()) || text.len() > LONGEST {
                return Go::Past;
            }
            match node.value() {
                Node::Element(inner) if matches!(inner.name(), "script" | "style" | "noscript") => {
                    return Go::Past;
                }
                Node::Text(piece) => {
                    for word in piece.split_whitespace() {
                        if !text.is_empty() {
                            text.push(' ');
                        }
                        text.push_str(word);
                    }
                }
                _ => {}
            }
            Go::In
        },
        |_| {},
    );
    text
}

/// Whether words can be the title of a document, and are no button.
pub(super) fn is_title(words: &str) -> bool {
    let (mut han, mut other) = (0, 0);
    for c in words.chars() {
        match c {
            '\u{4e00}'..='\u{9fff}' => han += 1,
            c if c.is_alphabetic() => other += 1,
            _ => {}
        }
    }
    han >= 6 || han * 3 + other >= 16
}

/// What the page calls its column: the meta tag of Chinese official sites, else the last of its breadcrumbs, else its title.
pub(super) fn name_of(root: ElementRef<'_>) -> Option<String> {
    let (mut meta, mut title) = (None, None);
    walk(
        *root,
        |node| {
            if let Some(element) = ElementRef::wrap(node) {
                let named =
                    element.value().attr("name").is_some_and(|name| name.eq_ignore_ascii_case("ColumnName"));
                if element.value().name() == "meta" && named && meta.is_none() {
                    meta = element.value().attr("content").map(str::to_owned);
                }
                if element.value().name() == "title" && title.is_none() {
                    title = Some(text_of(element));
                }
            }
            Go::In
        },
        |_| {},
    );
    let short = |text: String| {
        let text = text.trim().to_owned();
        (!text.is_empty() && text.chars().count() <= 40).then_some(text)
    };
    let first =
        |title: String| title.split(['-', '_', '|', '–', '—', '｜', '－', '>']).next().map(str::to_owned);
    meta.and_then(short).or_else(|| title.and_then(first).and_then(short))
}

/// `<base href>`.
pub(super) fn base_of(root: ElementRef<'_>) -> Option<String> {
    let mut found = None;
    walk(
        *root,
        |node| {
            if let Some(element) = ElementRef::wrap(node).filter(|element| element.value().name() == "base")
                && found.is_none()
            {
                found = element.value().attr("href").map(str::to_owned);
            }
            if node.value().as_element().is_some_and(|element| element.name() == "body") {
                Go::Past
            } else {
                Go::In
            }
        },
        |_| {},
    );
    found
}

/// How rows of this kind are found: their tag under the nearest elements that have a name.
pub(super) fn row_selector(element: ElementRef<'_>) -> String {
    let mut steps = vec![element.value().name().to_owned()];
    let mut above = element.parent().and_then(ElementRef::wrap);
    // A row's own class says nothing when only some rows have it, so its parents' are used.
    while let Some(parent) = above {
        let name = parent.value().name();
        if matches!(name, "html" | "body") {
            steps.push("body".to_owned());
            break;
        }
        let named = named(parent);
        let is_named = named != name;
        steps.push(named);
        if is_named || steps.len() == 5 {
            break;
        }
        above = parent.parent().and_then(ElementRef::wrap);
    }
    steps.reverse();
    steps.join(" > ")
}

/// `ul.list`, `div#main`; the bare tag when it has no name that can be written.
pub(super) fn named(element: ElementRef<'_>) -> String {
    let tag = element.value().name();
    let plain = |name: &str| {
        !name.is_empty()
            && name.len() <= 60
            && name.starts_with(|c: char| c.is_ascii_alphabetic() || c == '_')
            && name.chars().all(|c| c.is_ascii_alphanumeric() || c == '-' || c == '_')
    };
    // Names that scripts give and take, and names with numbers in them, are not what tomorrow's page has.
    let lasting = |name: &str| {
        plain(name)
            && !matches!(name, "on" | "active" | "cur" | "current" | "clearfix" | "first" | "last" | "hover")
            && name.bytes().filter(u8::is_ascii_digit).count() <= 3
    };
    if let Some(class) = element.value().classes().find(|class| lasting(class)) {
        return format!("{tag}.{class}");
    }
    match element.value().attr("id").filter(|id| lasting(id)) {
        Some(id) => format!("{tag}#{id}"),
        None => tag.to_owned(),
    }
}

/// Ways to say which link of a row is meant, the shortest first.
pub(super) fn link_selectors(row: ElementRef<'_>, link: ElementRef<'_>) -> Vec<String> {
    if row == link {
        return vec![String::new()];
    }
    let own = named(link);
    let mut ways = vec!["a".to_owned()];
    if own != "a" {
        ways.push(own.clone());
    }
    if link.value().attr("title").is_some() {
        ways.push("a[title]".to_owned());
    }
    if let Some(parent) = link.parent().and_then(ElementRef::wrap).filter(|parent| *parent != row) {
        ways.push(format!("{} > a", named(parent)));
        ways.push(format!("{} > {own}", nth(parent)));
    }
    ways.push(format!("a:nth-of-type({})", position(link)));
    ways
}

/// Ways to read the date of a row, the surest first.
pub(super) fn date_selectors(
    row: ElementRef<'_>,
    link: ElementRef<'_>,
    is_date: &impl Fn(&str) -> bool,
) -> Vec<String> {
    let mut ways = Vec::new();
    if let Some(part) = dated_part(row, is_date).filter(|part| *part != row && !(*part == link)) {
        let own = named(part);
        ways.push(format!("{own}::text"));
        if let Some(parent) = part.parent().and_then(ElementRef::wrap).filter(|parent| *parent != row) {
            ways.push(format!("{} > {own}::text", named(parent)));
        }
        ways.push(format!("{}::text", nth(part)));
    }
    // The row's own text, in which the first date counts.
    ways.push("::text".to_owned());
    ways
}

/// The smallest element in a row whose text is a date and little more.
pub(super) fn dated_part<'a>(row: ElementRef<'a>, is_date: &impl Fn(&str) -> bool) -> Option<ElementRef<'a>> {
    let mut best: Option<(usize, ElementRef<'a>)> = None;
    for part in row.descendants().filter_map(ElementRef::wrap) {
        if part == row || part.value().name() == "a" {
            continue;
        }
        let text = text_of(part);
        let length = text.chars().count();
        if length <= 40 && is_date(&text) && best.is_none_or(|(shortest, _)| length <= shortest) {
            best = Some((length, part));
        }
    }
    best.map(|(_, part)| part)
}

fn nth(element: ElementRef<'_>) -> String {
    format!("{}:nth-of-type({})", element.value().name(), position(element))
}

/// Its place among its siblings of the same tag, from 1.
fn position(element: ElementRef<'_>) -> usize {
    let name = element.value().name();
    let before = element.prev_siblings().filter_map(ElementRef::wrap);
    1 + before.filter(|sibling| sibling.value().name() == name).count()
}
