//! Where a document came from and who wrote it.
//!
//! Decides by labels (来源, 作者, `By`) near the title, after tags of the head. A value is cut where the next label begins. 本网 and 本站
//! are kept as they are: they say that the site itself is the source.

use super::generic::outline::{Outline, Tag, push_folded};
use super::generic::trim::bare;
use super::generic::words::Marks;
use super::headline::fold;
use super::meta::Head;
use super::value::Value;

const SOURCE_METAS: [&str; 8] = [
    "contentsource",
    "source",
    "docsource",
    "content_source",
    "articlesource",
    "laiyuan",
    "mediaid",
    "og:article:source",
];
const AUTHOR_METAS: [&str; 9] = [
    "author",
    "article:author",
    "og:article:author",
    "byl",
    "dc.creator",
    "dcterms.creator",
    "sailthru.author",
    "parsely-author",
    "twitter:creator",
];
/// Names longer than this are something else.
const LONGEST: usize = 40;
/// Labels after which a value begins.
const SOURCE_LABELS: [&str; 14] = [
    "出处：",
    "出处:",
    "信息来源：",
    "信息来源:",
    "文章来源：",
    "文章来源:",
    "稿件来源：",
    "稿件来源:",
    "来源：",
    "来源:",
    "来 源：",
    "来源 ：",
    "来源 :",
    "來源：",
];
const AUTHOR_LABELS: [&str; 12] = [
    "作者：",
    "作者:",
    "作 者：",
    "作者 ：",
    "撰稿：",
    "撰稿:",
    "撰文：",
    "文/",
    "记者：",
    "通讯员：",
    "文：",
    "作者/",
];

/// Names of authors that the head gives: a line that says no more than one of them is a byline.
pub(crate) fn known(head: &Head<'_>) -> Vec<String> {
    let linked = head.linked.author.as_deref().unwrap_or_default().split(['、', ',', '，']);
    let metas = AUTHOR_METAS.iter().filter_map(|name| head.meta(&[name])).map(|(_, value)| value);
    linked.chain(metas).map(bare).filter(|name| (2..60).contains(&name.chars().count())).collect()
}

/// All candidates for the source, best first.
pub(crate) fn sources(
    head: &Head<'_>,
    outline: &Outline<'_>,
    title: Option<u32>,
    body: Option<(u32, u32)>,
) -> Vec<Value> {
    let mut out = Vec::new();
    if let Some((name, value)) = head.meta(&SOURCE_METAS) {
        push(&mut out, value, "meta", name, 0.95, None);
    }
    for (text, el) in lines(outline, title, body) {
        if let Some((label, value)) = labelled(&text, &SOURCE_LABELS) {
            push(&mut out, &value, "page", label, 0.9, Some(el));
        }
    }
    if let Some(value) = &head.linked.publisher {
        push(&mut out, value, "json-ld", "publisher", 0.7, None);
    }
    for el in marked(outline, title, body, &["source", "laiyuan", "media-name", "post_source"]) {
        push(&mut out, &outline.words(el, 200), "page", "element named source", 0.6, Some(el));
    }
    if let Some((name, value)) = head.meta(&["og:site_name", "sitename"]) {
        push(&mut out, value, "meta", name, 0.3, None);
    }
    out
}

/// All candidates for the author, best first.
pub(crate) fn authors(
    head: &Head<'_>,
    outline: &Outline<'_>,
    title: Option<u32>,
    body: Option<(u32, u32)>,
) -> Vec<Value> {
    let mut out = Vec::new();
    if let Some(value) = &head.linked.author {
        push(&mut out, value, "json-ld", "author", 0.95, None);
    }
    for name in AUTHOR_METAS {
        if let Some((name, value)) = head.meta(&[name])
            && !value.starts_with("http")
        {
            push(&mut out, value, "meta", name, 0.85, None);
        }
    }
    for (text, el) in lines(outline, title, body) {
        if let Some((label, value)) = labelled(&text, &AUTHOR_LABELS) {
            push(&mut out, &value, "page", label, 0.85, Some(el));
        } else if let Some(value) = by(&text) {
            push(&mut out, value, "page", "By", 0.75, Some(el));
        }
    }
    for el in marked(outline, title, body, &["author", "byline", "writer"]) {
        let text = outline.words(el, 200);
        let value = by(&text).unwrap_or(&text).to_owned();
        push(&mut out, &value, "page", "element named author", 0.6, Some(el));
    }
    out
}

fn push(
    out: &mut Vec<Value>,
    text: &str,
    engine: &'static str,
    rule: &str,
    confidence: f64,
    el: Option<u32>,
) {
    let text = fold(text);
    let text = SOURCE_LABELS
        .iter()
        .chain(&AUTHOR_LABELS)
        .find_map(|label| text.strip_prefix(label))
        .unwrap_or(&text);
    let text =
        text.trim_matches(|c: char| c.is_whitespace() || "：:|,，;；/()（）【】[]《》“”\"'<>".contains(c));
    let named = text.chars().any(char::is_alphabetic);
    let blank =
        ["未知", "佚名", "admin", "administrator", "图", "网络", "匿名", "name", "none", "null", "编辑"]
            .iter()
            .any(|word| text.eq_ignore_ascii_case(word));
    if named
        && !blank
        && !text.contains('@')
        && !super::generic::lines::holds_date(text)
        && text.chars().count() <= LONGEST
        && !text.contains("://")
        && !text.starts_with("//")
    {
        let value = Value::new(text.to_owned(), engine, rule, confidence);
        out.push(match el {
            Some(el) => value.at(el),
            None => value,
        });
    }
}

/// What stands behind a label, up to the next one.
fn labelled<'l>(text: &str, labels: &[&'l str]) -> Option<(&'l str, String)> {
    let (at, label) = labels
        .iter()
        .filter_map(|label| text.find(label).map(|at| (at, *label)))
        .min_by_key(|(at, label)| (*at, std::cmp::Reverse(label.len())))?;
    let rest = text[at + label.len()..].trim_start();
    let stops = [
        "作者",
        "责任编辑",
        "责编",
        "编辑",
        "发布",
        "时间",
        "日期",
        "浏览",
        "点击",
        "阅读",
        "字号",
        "字体",
        "【",
        "[",
        "|",
        "｜",
        "分享",
        "打印",
        "来源",
        "记者：",
        "通讯员",
        "评论",
        "访问",
        "信息",
        "(",
        "（",
        "  ",
        "\t",
        "。",
        "收藏",
        "文章",
        "关键词",
        "20",
        "审核",
        "责任",
        "摄影",
        "原标题",
        "更新",
        "阅读量",
        "校对",
    ];
    let mut end = rest.len();
    for stop in stops {
        if let Some(found) = rest.find(stop)
            && found > 0
        {
            end = end.min(found);
        }
    }
    // A name in Han ends at a space; a name in letters does not.
    let value = &rest[..end];
    let value = match value.find(' ') {
        Some(space) if value.chars().any(|c| c as u32 > 0x2e80) => &value[..space],
        _ => value,
    };
    (!value.trim().is_empty()).then(|| (label, value.trim().to_owned()))
}

/// `By Jane Doe`.
fn by(text: &str) -> Option<&str> {
    let rest =
        text.strip_prefix("By ").or_else(|| text.strip_prefix("by ")).or_else(|| text.strip_prefix("BY "))?;
    // A date or a label behind the name.
    let cut = |c: char| c.is_ascii_digit() || matches!(c, ',' | '|' | '•' | '·' | '\n' | '(' | ':');
    let mut end = rest.find(cut).unwrap_or(rest.len());
    for word in [
        " on ",
        " Published",
        " Updated",
        " Posted",
        " Jan",
        " Feb",
        " Mar ",
        " March",
        " Apr",
        " May ",
        " Jun",
        " Jul",
        " Aug",
        " Sep",
        " Oct",
        " Nov",
        " Dec",
        " in ",
    ] {
        end = rest[..end].find(word).unwrap_or(end);
    }
    let name = rest[..end].trim();
    let words = name.split(' ').count();
    ((1..=6).contains(&words) && name.chars().next().is_some_and(char::is_uppercase)).then_some(name)
}

/// Lines around the title and at both ends of the body, with their elements.
fn lines(outline: &Outline<'_>, title: Option<u32>, body: Option<(u32, u32)>) -> Vec<(String, u32)> {
    let all = outline.leaves.len() as u32;
    let title_to = title.map_or(0, |el| outline.el(el).to);
    let (from, to) = body.unwrap_or((title_to, title_to));
    let mut out: Vec<(String, u32)> = Vec::new();
    let mut last = None;
    let near = title_to.saturating_sub(8).min(from)..(from.min(title_to + 60) + 10).min(all);
    let before = from.saturating_sub(16).max(near.end.min(all))..from;
    let end = to.saturating_sub(6).max(near.end)..(to + 16).min(all);
    for at in near.chain(before).chain(end) {
        let leaf = &outline.leaves[at as usize];
        if leaf.hidden {
            continue;
        }
        if last != Some(leaf.line) {
            out.push((String::new(), leaf.el));
            last = Some(leaf.line);
        }
        if let Some((text, _)) = out.last_mut()
            && text.len() < 400
        {
            if !leaf.before.is_empty() {
                push_folded(text, " ");
            }
            push_folded(text, leaf.text);
        }
    }
    // A label and its value may be blocks of their own.
    for at in 1..out.len() {
        let label = out[at - 1].0.trim_end();
        if label.ends_with(['：', ':']) && label.chars().count() <= 8 {
            let joined = format!("{label}{}", out[at].0);
            out[at - 1].0 = joined;
        }
    }
    out
}

/// Small elements near the title whose class says what they are.
fn marked(outline: &Outline<'_>, title: Option<u32>, body: Option<(u32, u32)>, names: &[&str]) -> Vec<u32> {
    let from = title.map_or(0, |el| outline.el(el).from).saturating_sub(20);
    let to = body.map_or(outline.leaves.len() as u32, |(_, to)| to + 20);
    let mut out = Vec::new();
    for (at, el) in outline.els.iter().enumerate() {
        if !el.marks.has(Marks::BYLINE)
            || el.from < from
            || el.to > to
            || el.to - el.from > 6
            || el.from == el.to
            || matches!(el.tag, Tag::Body)
        {
            continue;
        }
        let Some(element) = el.node.value().as_element() else { continue };
        let said = |attr: &str| {
            element
                .attr(attr)
                .is_some_and(|value| names.iter().any(|name| value.to_ascii_lowercase().contains(name)))
        };
        if said("class") || said("id") || said("itemprop") || said("rel") {
            out.push(at as u32);
            if out.len() >= 4 {
                break;
            }
        }
    }
    out
}
