//! When a page nobody wrote selectors for was published.
//!
//! Decides between metas, JSON-LD, `<time>`, the lines around the title, scripts and the address. Publication, change and writing are kept
//! apart: a change is never taken for a publication while anything else is known. Parsing one text is `date`'s business.

mod line;

use chrono_tz::Tz;

use self::line::{NEAR_TITLE, RELATIVE, Spot, weigh};
use super::date::{absolute, absolute_as_written};
use super::generic::lines::holds_date;
use super::generic::outline::{El, Outline, Tag, push_folded};
use super::generic::words::Marks;
use super::meta::Head;
use super::stamps::{in_address, in_scripts};
use super::value::Value;
use crate::clock::Timestamp;
use crate::model::{Precision, Published};

/// A candidate date.
#[derive(Clone, Debug)]
pub(crate) struct Dated {
    pub published: Published,
    pub value: Value,
}

/// What is needed to read a date.
#[derive(Clone, Copy)]
pub(crate) struct Calendar {
    pub zone: Tz,
    pub now: Timestamp,
    /// The page is of another country: an offset beside a time is its own.
    pub foreign: bool,
}

/// Names of metas that say when a page was published, best first; none of them is a date of change or of generation.
const PUBLISHED: [&str; 34] = [
    "pubdate",
    "publishdate",
    "publish_date",
    "publishtime",
    "firstpublishedtime",
    "og:release_date",
    "article:published_time",
    "og:article:published_time",
    "og:published_time",
    "article:published",
    "weibo: article:create_at",
    "weibo:article:create_at",
    "datepublished",
    "date_published",
    "publish-date",
    "publish_time",
    "published_time",
    "published-date",
    "publication_date",
    "publicationdate",
    "article.published",
    "sailthru.date",
    "parsely-pub-date",
    "dc.date.issued",
    "dc.date.created",
    "dcterms.created",
    "dcterms.issued",
    "article_date_original",
    "cxenseparse:recs:publishtime",
    "bt:pubdate",
    "cre-date",
    "_pubtime",
    "article:create_at",
    "apub:time",
];
/// Names that may mean anything, used when nothing else is known.
const VAGUE: [&str; 9] = [
    "dateupdate",
    "date",
    "dc.date",
    "dcterms.date",
    "createdate",
    "created",
    "creationdate",
    "og:time",
    "citation_date",
];
/// Names of metas that say when it was changed.
const MODIFIED: [&str; 8] = [
    "article:modified_time",
    "og:updated_time",
    "lastmodifiedtime",
    "last-modified",
    "datemodified",
    "dcterms.modified",
    "revised",
    "og:article:modified_time",
];
/// Lines around the title that are looked at.
const BEFORE: usize = 6;
const BEHIND: usize = 14;
const AFTER: usize = 10;
/// Labels that stand in cells of their own, without a colon.
const LABELS: [&str; 9] = [
    "发布日期",
    "发布时间",
    "公开日期",
    "成文日期",
    "成文时间",
    "发文日期",
    "印发日期",
    "生成日期",
    "制发日期",
];
/// What stands there is often a comment's or another article's, and adds nothing to a day that is known.
const BEHIND_TEXT: &str = "line behind the text";
/// All candidates for the publication, best first.
pub(crate) fn published(
    head: &Head<'_>,
    outline: &Outline<'_>,
    title: Option<u32>,
    body: Option<(u32, u32)>,
    url: &str,
    calendar: Calendar,
) -> Vec<Dated> {
    let mut out = Vec::new();
    let mut add = |text: &str, engine: &'static str, rule: &str, confidence: f64| {
        if let Some(published) = calendar.read(text) {
            out.push(Dated {
                published,
                value: Value::new(text.trim().to_owned(), engine, rule, confidence),
            });
        }
    };
    for name in PUBLISHED {
        if let Some((name, text)) = head.meta(&[name]) {
            add(text, "meta", name, 0.97);
        }
    }
    if let Some(text) = &head.linked.published {
        add(text, "json-ld", "datePublished", 0.95);
    }
    out.extend(around(outline, title, body, calendar));
    let mut add = |text: &str, engine: &'static str, rule: &str, confidence: f64| {
        if let Some(published) = calendar.read(text) {
            out.push(Dated {
                published,
                value: Value::new(text.trim().to_owned(), engine, rule, confidence),
            });
        }
    };
    for name in VAGUE {
        if let Some((name, text)) = head.meta(&[name]) {
            add(text, "meta", name, 0.6);
        }
    }
    for (key, text) in in_scripts(head) {
        add(text, "script", key, 0.7);
    }
    if let Some(text) = in_address(url) {
        add(&text, "address", "day in the path", 0.6);
    }
    for line in signature(outline, body) {
        add(&line, "page", "day under the text", 0.5);
    }
    for name in MODIFIED {
        if let Some((name, text)) = head.meta(&[name]) {
            add(text, "meta", name, 0.3);
        }
    }
    order(&mut out);
    out
}

/// Lines at the end of the text that are a day and nothing else: offices sign so.
pub(crate) fn signature(outline: &Outline<'_>, body: Option<(u32, u32)>) -> Vec<String> {
    let Some((from, to)) = body else { return Vec::new() };
    let lines = spots(outline, to.saturating_sub(8).max(from), to, 8);
    let bare = |text: &str| {
        text.chars().filter(|c| c.is_alphabetic() && !"年月日〇○零一二三四五六七八九十".contains(*c)).count()
            == 0
    };
    lines
        .into_iter()
        .rev()
        .map(|spot| spot.text)
        .filter(|text| text.contains('年') && text.len() < 60 && bare(text))
        .collect()
}

/// Relative forms come last. Of statements of the head that disagree the one that readers see is right. A precise date of the same day is
/// better than a bare one.
fn order(found: &mut [Dated]) {
    found.sort_by_key(|dated| dated.value.rule == RELATIVE);
    let Some(first) = found.first() else { return };
    let day = first.published.date.clone();
    let seen = |dated: &Dated| {
        dated.value.engine == "page" && dated.value.rule == NEAR_TITLE && dated.value.confidence >= 0.55
    };
    let shown = found.iter().find(|dated| seen(dated)).map(|dated| dated.published.date.clone());
    if first.value.engine != "page"
        && let Some(shown) = shown
        && !found.iter().any(|dated| seen(dated) && dated.published.date == day)
        && let Some(at) = found.iter().position(|other| {
            other.published.date == shown && other.value.engine != "page" && other.value.confidence >= 0.9
        })
    {
        found[..=at].rotate_right(1);
    }
    let Some(first) = found.first() else { return };
    let day = first.published.date.clone();
    if first.published.precision == Precision::Day
        && let Some(at) = found.iter().position(|other| {
            other.published.date == day
                && other.published.precision != Precision::Day
                && other.value.confidence >= 0.6
                && other.value.rule != BEHIND_TEXT
        })
    {
        found[..=at].rotate_right(1);
    }
}

/// When it was changed.
pub(crate) fn modified(head: &Head<'_>, calendar: Calendar) -> Option<Dated> {
    let from_meta = head.meta(&MODIFIED).map(|(name, text)| ("meta", name, text));
    let from_linked = || head.linked.modified.as_deref().map(|text| ("json-ld", "dateModified", text));
    let (engine, rule, text) = from_meta.or_else(from_linked)?;
    let published = calendar.read(text)?;
    Some(Dated { published, value: Value::new(text.to_owned(), engine, rule, 0.9) })
}

impl Calendar {
    pub fn read(self, text: &str) -> Option<Published> {
        let read = if self.foreign { absolute_as_written } else { absolute };
        read(text, self.zone, self.now)
    }
}

/// Whether it is in a quotation or among comments that the title is not in.
fn is_of_others(outline: &Outline<'_>, at: u32, title: Option<u32>) -> bool {
    outline.up(at).any(|above| {
        let el = outline.el(above);
        (el.tag == Tag::Quote || el.marks.has(Marks::COMMENTS))
            && title.is_none_or(|title| !outline.is_in(title, above))
    })
}

/// Dates that readers see near the title, best first.
fn around(
    outline: &Outline<'_>,
    title: Option<u32>,
    body: Option<(u32, u32)>,
    calendar: Calendar,
) -> Vec<Dated> {
    let leaves = &outline.leaves;
    let body_from = body.map_or(leaves.len() as u32, |(from, _)| from);
    let title_leaf = title.map(|el| outline.el(el).to).unwrap_or(0);
    let mut found: Vec<(f64, Dated)> = Vec::new();
    let mut look = |spots: Vec<Spot>, base: f64, step: f64| {
        for (distance, spot) in spots.into_iter().enumerate() {
            if let Some((mut worth, mut dated)) = weigh(&spot, calendar) {
                if body.is_some_and(|(_, to)| outline.el(spot.el).from >= to) {
                    // There it is a comment's, or that of another article.
                    if dated.value.rule == RELATIVE {
                        continue;
                    }
                    dated.value.rule = BEHIND_TEXT.to_owned();
                }
                if is_of_others(outline, spot.el, title) {
                    worth -= 2.5;
                }
                found.push((worth + base - step * distance as f64, dated));
            }
        }
    };
    for (at, el) in outline.els.iter().enumerate() {
        if (el.tag == Tag::Time || el.tag == Tag::Inline || el.marks.has(Marks::BYLINE))
            && let Some(stamp) = stamp(el)
        {
            let near = el.from >= title_leaf.saturating_sub(6) && el.from <= body_from.max(title_leaf) + 6;
            // What it shows and what stands before it in its line say whether it is the change.
            let shown = outline.words(at as u32, 60);
            let stamp = Some(stamp).filter(|stamp| !contradicts(&shown, stamp, calendar));
            let text = format!("{} {} {shown}", label(outline, el), stamp.unwrap_or_default());
            let stamp = stamp.map(str::to_owned);
            let spot = Spot { text, el: at as u32, marked: true, tokens: 4, link: false, stamp };
            look(vec![spot], if near { 3.0 } else { 0.0 }, 0.0);
        }
    }
    // From the title forward, to a little behind the beginning of the text.
    let before = body_from.max(title_leaf).min(leaves.len() as u32);
    look(spots(outline, title_leaf, before, BEHIND), 2.0, 0.12);
    // The first lines of the text itself speak of other days, unless they say what day they mean.
    look(spots(outline, before, (before + 12).min(leaves.len() as u32), 6), 0.3, 0.12);
    // Just before the text: templates put much between title and text.
    if body_from > title_leaf {
        let from = body_from.saturating_sub(14).max(title_leaf);
        look(spots(outline, from, body_from, 14), 1.5, 0.02);
    }
    // Above the title.
    if title_leaf > 0 {
        let from = title.map_or(0, |el| outline.el(el).from);
        let mut above = spots(outline, from.saturating_sub(BEFORE as u32 * 2), from, BEFORE * 2);
        above.reverse();
        above.truncate(BEFORE);
        look(above, 1.0, 0.2);
    }
    // Behind the text.
    if let Some((_, to)) = body {
        look(spots(outline, to, (to + 30).min(leaves.len() as u32), AFTER), -0.5, 0.15);
    }
    found.sort_by(|a, b| b.0.total_cmp(&a.0));
    found.into_iter().filter(|(worth, _)| *worth > 0.0).map(|(_, dated)| dated).take(12).collect()
}

/// Whether an element shows another day than it says besides, which some templates fill with the last change.
fn contradicts(shown: &str, stamp: &str, calendar: Calendar) -> bool {
    // Zones make a day's difference.
    const ZONES: u64 = 36 * 3_600_000;
    match (calendar.read(shown), calendar.read(stamp)) {
        (Some(shown), Some(stamp)) => shown.at.0.abs_diff(stamp.at.0) > ZONES,
        _ => false,
    }
}

/// The text right before an element, when both are in one line: `Mis à jour le <time …>`.
fn label<'a>(outline: &Outline<'a>, el: &El<'_>) -> &'a str {
    let Some(before) = el.from.checked_sub(1).filter(|_| el.from < el.to) else { return "" };
    let (before, own) = (&outline.leaves[before as usize], &outline.leaves[el.from as usize]);
    let text = before.text.trim();
    if before.line == own.line { &text[text.ceil_char_boundary(text.len().saturating_sub(60))..] } else { "" }
}

/// The moment that an element has besides what it shows: `<time datetime>`, microformats (`<abbr title>`), and what scripts turn into
/// `3 hours ago`.
fn stamp<'a>(el: &El<'a>) -> Option<&'a str> {
    let element = el.node.value().as_element()?;
    if let Some(moment) = element.attr("datetime") {
        return Some(moment);
    }
    let names: &[&str] = match element.name() {
        "abbr" => &["title", "data-utime"],
        _ if el.tag == Tag::Time || el.marks.has(Marks::BYLINE) => &[
            "content",
            "title",
            "data-published",
            "data-time",
            "data-timestamp",
            "data-date",
            "data-datetime",
            "data-utime",
        ],
        _ => return None,
    };
    names.iter().find_map(|name| {
        let value = element.attr(name)?.trim();
        let digits = value.bytes().filter(u8::is_ascii_digit).count();
        // An epoch, or a day in digits; anything longer is prose.
        let whole = digits == value.len() && matches!(digits, 10 | 13);
        (whole || value.len() <= 40 && digits >= 8 && holds_date(value)).then_some(value)
    })
}

fn spots(outline: &Outline<'_>, from: u32, to: u32, most: usize) -> Vec<Spot> {
    let mut out: Vec<Spot> = Vec::new();
    let mut last = None;
    for at in from..to {
        let leaf = &outline.leaves[at as usize];
        if leaf.hidden {
            continue;
        }
        if last != Some(leaf.line) {
            if out.len() >= most {
                break;
            }
            // Names of the element and of what is right around it.
            let marked = outline.up(leaf.el).take(3).any(|el| outline.el(el).marks.has(Marks::BYLINE));
            out.push(Spot { text: String::new(), el: leaf.el, marked, tokens: 0, link: true, stamp: None });
            last = Some(leaf.line);
        }
        if let Some(spot) = out.last_mut() {
            spot.tokens += leaf.size.tokens;
            spot.link &= leaf.link;
            if spot.text.len() < 300 {
                if !leaf.before.is_empty() {
                    push_folded(&mut spot.text, " ");
                }
                push_folded(&mut spot.text, leaf.text);
                push_folded(&mut spot.text, " ");
            }
        }
    }
    // A label may be a cell of its own: `发布日期：` | `2026-04-10`.
    for at in 1..out.len() {
        let label = out[at - 1].text.trim_end();
        let bare: String = label.chars().filter(|c| !c.is_whitespace()).collect();
        if label.ends_with(['：', ':']) && out[at - 1].tokens <= 8 {
            out[at].text = format!("{label}{}", out[at].text);
        } else if LABELS.contains(&bare.as_str()) {
            out[at].text = format!("{bare}：{}", out[at].text);
        }
    }
    // A day and its time may stand in blocks of their own: `2026` `04/10` `09:38`.
    for at in 1..out.len() {
        if out[at].tokens <= 4
            && out[at - 1].tokens <= 6
            && out[at].text.starts_with(|c: char| c.is_ascii_digit())
            && out[at - 1].text.trim_end().ends_with(|c: char| c.is_ascii_digit() || c == '日')
        {
            let more = out[at].text.clone();
            let before = &mut out[at - 1];
            before.text.push(' ');
            before.text.push_str(&more);
        }
    }
    out
}
