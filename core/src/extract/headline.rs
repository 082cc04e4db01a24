//! The title of a page nobody wrote selectors for.
//!
//! Decides between what the head says and what readers see. The text that `<title>` and a heading share is the title; tags of the
//! government standard come before that, social tags and `<title>` without its site behind. Every candidate is kept, so that a choice can be explained.

use super::generic::lines::holds_date;
use super::generic::outline::{Outline, Tag};
use super::generic::size::size_of;
use super::generic::trim::bare;
use super::generic::words::Marks;
use super::meta::Head;
use super::title::{before_columns, is_of_office, is_of_site, without_site};
use super::value::Value;

/// Titles longer than this are something else.
const LONGEST: usize = 200;
/// Headings that are looked at.
const MOST: usize = 150;
/// Elements that are asked whether they are one.
const ASKED: u32 = 2_000;
/// Names of the government standard and its dialects.
const OFFICIAL: [&str; 4] = ["articletitle", "contenttitle", "article_title", "docname"];
/// Names that speak of the site.
const SITE: [&str; 4] = ["sitename", "og:site_name", "application-name", "apple-mobile-web-app-title"];

/// All candidates, best first.
pub(crate) fn titles(
    head: &Head<'_>,
    outline: &Outline<'_>,
    site_name: &str,
    endings: &[String],
) -> Vec<Value> {
    let site = head.meta(&SITE).map_or(site_name, |(_, name)| name);
    let cut = |text: &str| {
        let folded = fold(text);
        let learned = endings
            .iter()
            .filter_map(|ending| folded.strip_suffix(ending.as_str()))
            .map(str::trim_end)
            .filter(|rest| rest.chars().count() >= 2)
            .min_by_key(|rest| rest.len());
        let once = without_site(learned.unwrap_or(&folded), site);
        if site == site_name { once } else { without_site(&once, site_name) }
    };
    let mut own = cut(&head.title);
    // `title - column` where the title stands alone on the page, and the whole does not.
    let alone = before_columns(&own).find(|before| stands_alone(outline, before)).map(str::to_owned);
    if let Some(before) = alone.filter(|_| !stands_alone(outline, &own)) {
        own = before;
    }
    let mut out = Vec::new();
    if let Some((name, value)) = head.meta(&OFFICIAL) {
        let value = cut(&without_tags(value));
        if size_of(&value).tokens >= 2 && bare(&value) != bare(site) {
            out.push(Value::new(value, "meta", name, 0.97));
        }
    }
    let headings = headings(outline);
    let social: Vec<String> = ["og:title", "twitter:title"]
        .iter()
        .filter_map(|name| head.meta(&[name]).map(|(_, value)| bare(&cut(value))))
        .chain(head.linked.headline.as_deref().map(|value| bare(&cut(value))))
        .collect();
    let shared = shared(&head.title, &own, &headings, &social);
    // A `<title>` that only names the column or the site says less than the heading of the page.
    let says_little = |text: &str| size_of(text).len < 18.0 || is_of_site(text) || bare(text) == bare(site);
    let thin = says_little(&own);
    if thin && shared.as_ref().is_none_or(|shared| says_little(&shared.text)) {
        out.extend(above_date(outline, &headings));
    }
    // The first heading that the page tells others as well, whatever `<title>` shares with smaller ones.
    let first = first_heading(outline, &headings, site);
    let told = first.filter(|heading| social.contains(&bare(&heading.text)));
    let kept = shared.as_ref().is_some_and(|shared| shared.rule.starts_with("h1"));
    if let Some(heading) = told.filter(|_| !kept) {
        out.push(Value::new(heading.text.clone(), "page", "h1 shared with og:title", 0.95).at(heading.el));
    }
    let alone = first.filter(|_| shared.is_none() && !thin && !stands_alone(outline, &own));
    out.extend(shared);
    if let Some(heading) = alone {
        out.push(Value::new(heading.text.clone(), "page", "the only h1", 0.85).at(heading.el));
    }
    let social = head
        .meta(&["og:title", "twitter:title", "dc.title", "weibo: article:title"])
        .map(|(name, value)| (name, cut(value)));
    if let Some((name, value)) = social
        && size_of(&value).tokens >= 2
        && bare(&value) != bare(site)
    {
        out.push(Value::new(value, "opengraph", name, 0.85));
    }
    if let Some(value) = head.linked.headline.as_deref().map(cut)
        && !value.is_empty()
    {
        out.push(Value::new(value, "json-ld", "headline", 0.85));
    }
    let alone = headings.iter().filter(|heading| heading.level == 1).count() == 1;
    let seen = headings
        .iter()
        .filter(|heading| heading.level <= 2 || heading.marked)
        .filter(|heading| bare(&heading.text) != bare(site) && size_of(&heading.text).len >= 12.0)
        .max_by(|a, b| {
            let worth = |h: &Heading| {
                (if h.level == 1 { 40.0 } else { 0.0 }) + f64::from(size_of(&h.text).len.min(100.0))
            };
            worth(a).total_cmp(&worth(b))
        });
    let seen = seen.map(|heading| {
        Value::new(
            heading.text.clone(),
            "page",
            &format!("h{}", heading.level),
            if alone { 0.7 } else { 0.5 },
        )
        .at(heading.el)
    });
    let own = Value::new(own, "title", "title without the site", 0.6);
    match seen {
        Some(seen) if thin => out.extend([seen, own]),
        Some(seen) => out.extend([own, seen]),
        None => out.push(own),
    }
    out.retain(|value| !value.text.is_empty() && value.text.chars().count() <= LONGEST * 2);
    out
}

/// Where readers see the title: the heading it was read from, or whatever says the same.
pub(crate) fn shown(outline: &Outline<'_>, titles: &[Value]) -> Option<u32> {
    if let Some(el) = titles.first().and_then(|title| title.el) {
        return Some(el);
    }
    let title = bare(&titles.first()?.text);
    let same = |leaf: &&super::generic::outline::Leaf<'_>| {
        !leaf.hidden
            && leaf.text.len() < LONGEST * 4
            && leaf.text.len() >= title.len()
            && bare(leaf.text) == title
    };
    let mut found = outline.leaves.iter().filter(same);
    let first = found.next()?;
    // A link of that name is the navigation's, unless nothing else is.
    let plain = if first.link { found.find(|leaf| !leaf.link) } else { None };
    Some(plain.unwrap_or(first).el).or_else(|| titles.iter().find_map(|title| title.el))
}

#[derive(Clone)]
struct Heading {
    el: u32,
    level: u8,
    marked: bool,
    text: String,
}

fn headings(outline: &Outline<'_>) -> Vec<Heading> {
    let (mut out, mut asked) = (Vec::new(), 0);
    for (at, el) in outline.els.iter().enumerate() {
        let level = match el.tag {
            Tag::Heading(level) if level <= 5 => level,
            _ if el.marks.has(Marks::TITLE) && !el.has_block && el.to > el.from => 6,
            _ => continue,
        };
        if el.from == el.to || outline.leaves[el.from as usize].hidden {
            continue;
        }
        asked += 1;
        let text = outline.words(at as u32, LONGEST * 4);
        let size = text.chars().count();
        if (2..=LONGEST).contains(&size) {
            out.push(Heading { el: at as u32, level, marked: el.marks.has(Marks::TITLE), text });
        }
        if out.len() >= MOST || asked >= ASKED {
            break;
        }
    }
    out
}

/// The only first heading that may be a title: not a link home, not the site's name.
fn first_heading<'h>(outline: &Outline<'_>, headings: &'h [Heading], site: &str) -> Option<&'h Heading> {
    let linked = |heading: &Heading| {
        let el = outline.el(heading.el);
        outline.leaves[el.from as usize..el.to as usize].iter().all(|leaf| leaf.link)
    };
    let mut firsts = headings.iter().filter(|heading| {
        heading.level == 1
            && size_of(&heading.text).len >= 20.0
            && size_of(&heading.text).tokens >= 4
            && !is_of_office(&heading.text)
            && bare(&heading.text) != bare(site)
            && !linked(heading)
    });
    let first = firsts.next()?;
    firsts.all(|other| bare(&other.text) == bare(&first.text)).then_some(first)
}

/// Whether a line of the page says this and nothing else, and is no link.
fn stands_alone(outline: &Outline<'_>, text: &str) -> bool {
    let text = bare(text);
    !text.is_empty()
        && outline.leaves.iter().any(|leaf| {
            !leaf.hidden
                && !leaf.link
                && (text.len()..LONGEST * 4).contains(&leaf.text.len())
                && bare(leaf.text) == text
        })
}

/// The heading that says what `<title>` says.
fn shared(title: &str, own: &str, headings: &[Heading], social: &[String]) -> Option<Value> {
    let whole: Vec<char> = bare(title).chars().take(LONGEST).collect();
    let own_bare: Vec<char> = bare(own).chars().take(LONGEST).collect();
    if whole.is_empty() {
        return None;
    }
    let mut best: Option<(f64, &Heading, usize)> = None;
    for heading in headings {
        let text: Vec<char> = bare(&heading.text).chars().collect();
        if text.is_empty() {
            continue;
        }
        let length = longest_common(&whole, &text);
        let least = if text.iter().any(|c| *c as u32 > 0x2e80) { 4 } else { 8 };
        if length < least.min(own_bare.len().max(2)) {
            continue;
        }
        // What is shared must be the title and not the site or column behind it.
        let with_own = if own_bare.len() < whole.len() { longest_common(&own_bare, &text) } else { length };
        if with_own * 2 < own_bare.len().min(text.len()) {
            continue;
        }
        let worth = with_own as f64
            * (with_own as f64 / text.len() as f64)
            * match heading.level {
                1 => 1.3,
                2 => 1.1,
                6 => 0.95,
                _ => 1.0,
            }
            // What the page tells others to call it; `<title>` may go on with a second line.
            * if length >= 6 && social.contains(&bare(&heading.text)) { 2.5 } else { 1.0 };
        if best.is_none_or(|(known, ..)| worth > known) {
            best = Some((worth, heading, with_own));
        }
    }
    let (_, heading, length) = best?;
    // A badge before the heading that `<title>` does not have.
    let mut heading = Heading { text: without_badge(&heading.text, own).to_owned(), ..*heading };
    // A heading of several lines: the head knows where a space stands between them.
    let letters = |text: &str| text.chars().filter(|c| !c.is_whitespace()).collect::<String>();
    if letters(&heading.text) == letters(own) {
        heading.text = own.to_owned();
    }
    let heading = &heading;
    let size = bare(&heading.text).chars().count();
    let rule = |what: &str| format!("h{} shared with title{what}", heading.level);
    let covers = |part: usize, of: usize| part as f64 >= 0.85 * of as f64;
    let cut_short = title.contains("...") || title.contains('…');
    if covers(length, size) || cut_short || (heading.level <= 2 && length * 2 >= size) {
        return Some(Value::new(heading.text.clone(), "page", &rule(""), 0.95).at(heading.el));
    }
    // A name of two or three words is in many headings.
    if covers(length, own_bare.len()) && size_of(own).len >= 12.0 {
        return Some(Value::new(own.to_owned(), "page", &rule(", as title has it"), 0.9).at(heading.el));
    }
    None
}

/// The heading with the line of date and source right below it: what pages have whose `<title>` is that of their column.
fn above_date(outline: &Outline<'_>, headings: &[Heading]) -> Option<Value> {
    let heading = headings.iter().find(|heading| {
        let el = outline.el(heading.el);
        let behind = &outline.leaves[el.to as usize..outline.leaves.len().min(el.to as usize + 5)];
        let linked = outline.leaves[el.from as usize..el.to as usize].iter().any(|leaf| leaf.link);
        !linked
            && !is_of_site(&heading.text)
            && size_of(&heading.text).len >= 20.0
            && behind.iter().any(|leaf| leaf.size.tokens < 30 && !leaf.link && holds_date(leaf.text))
    })?;
    let rule = format!("h{} above the date", heading.level);
    Some(Value::new(heading.text.clone(), "page", &rule, 0.8).at(heading.el))
}

fn without_badge<'t>(text: &'t str, own: &str) -> &'t str {
    let badge = ["原创", "转载", "置顶", "推荐", "热门"]
        .iter()
        .find(|badge| text.starts_with(**badge) && !own.starts_with(**badge));
    badge.map_or(text, |badge| text[badge.len()..].trim_start())
}

/// Length of the longest common substring.
fn longest_common(a: &[char], b: &[char]) -> usize {
    let mut row = vec![0usize; b.len() + 1];
    let mut best = 0;
    for x in a {
        let mut diagonal = 0;
        for (at, y) in b.iter().enumerate() {
            let above = row[at + 1];
            row[at + 1] = if x == y { diagonal + 1 } else { 0 };
            best = best.max(row[at + 1]);
            diagonal = above;
        }
    }
    best
}

pub(crate) fn fold(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    super::generic::outline::push_folded(&mut out, text);
    out.truncate(out.trim_end().len());
    out
}

/// Editors put tags into their forms, and those end up in attributes.
fn without_tags(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    let mut rest = text;
    while let Some((before, after)) = rest.split_once('<') {
        out.push_str(before);
        match after.split_once('>') {
            Some((tag, behind)) if tag.starts_with(|c: char| c.is_ascii_alphabetic() || c == '/') => {
                rest = behind
            }
            _ => {
                out.push('<');
                rest = after;
            }
        }
    }
    out.push_str(rest);
    out.replace("&nbsp;", " ")
        .replace("&quot;", "\"")
        .replace("&ldquo;", "“")
        .replace("&rdquo;", "”")
        .replace("&amp;", "&")
        .replace("&middot;", "·")
        .replace("&mdash;", "—")
}
