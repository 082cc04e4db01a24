//! What a document's HTML page shows: its body, the table of its metadata, its files. By the templates of the
//! platform and of the content system behind it (NF-CMS), after the operator's own selectors.

use dibao_adapter::{Body, Failure, Found, Host, Row, Select, at, found};

use crate::config::Detail;
use crate::files::Files;
use crate::fit;

/// Where bodies are, the surest first.
const BODIES: [&str; 12] = [
    "div.article-content",
    "div.viewList.left > div.zw",
    "div.zw",
    "#zoomcon",
    "div.news_cont_d_wrap",
    "div.tyxxy_main",
    ".ucapcontent",
    "#UCAP-CONTENT",
    "div.article",
    "div.TRS_Editor",
    "#zoom",
    "div.content",
];
/// Links to files: the platform's own class, and its folder.
const FILES: &str = "a.nfw-cms-attachment[href], :is(div.article-content, div.zw, div.article, div.fjdown, div.tyxxy_fj, \
                     div.content) a[href*='/attachment/']";
const TITLES: [&str; 3] =
    ["h1.title::text", "span.document-number::attr(title)", "meta[name='ArticleTitle']::attr(content)"];
const TIMES: [&str; 1] = ["meta[name='PubDate']::attr(content)"];
const SOURCES: [&str; 1] = ["meta[name='ContentSource']::attr(content)"];
/// What tables write where there is nothing.
const BLANKS: [&str; 5] = ["", "-", "--", "无", "暂无"];

/// What a page shows.
#[derive(Debug, Default)]
pub struct Shown {
    /// Where the body is.
    pub body: Option<Body>,
    /// The title.
    pub title: Option<Found>,
    /// The time of publication, from the page's head or its table.
    pub published: Option<Found>,
    /// 来源.
    pub source: Option<Found>,
    /// Fields by the names of the store: the operator's, then those of the table.
    pub fields: Vec<(String, Found)>,
    /// Files.
    pub files: Files,
}

/// Looks at a page.
pub fn look(host: &impl Host, tag: &str, own: &Detail) -> Result<Shown, Failure> {
    let mut shown = Shown { body: body(host, tag, own)?, ..Shown::default() };
    single(host, tag, own, &mut shown)?;
    table(host, tag, &mut shown)?;
    files(host, tag, own, &mut shown.files)?;
    Ok(shown)
}

/// The first place with text, a picture or a link in it: a notice may be nothing but a scan or a file.
fn body(host: &impl Host, tag: &str, own: &Detail) -> Result<Option<Body>, Failure> {
    if let Some(css) = &own.content {
        let inside = format!(":is({css}) img::attr(src), :is({css}) a::attr(href)");
        let mut rows = Select::reply(tag).one(css).one(&inside).run(host)?;
        let there = rows.iter_mut().next().is_some_and(|row| row.get(0).or(row.get(1)).is_some());
        if there {
            return Ok(Some(at(tag, css)));
        }
    }
    let each = |ending: &str| BODIES.map(|css| format!("{css}{ending}")).join(", ");
    let mut rows = Select::reply(tag)
        .one(&each("::text"))
        .one(&each(" img::attr(src)"))
        .one(&each(" a::attr(href)"))
        .run(host)?;
    let Some(mut row) = rows.iter_mut().next() else { return Ok(None) };
    let first = (0..3).filter_map(|column| row.take_hit(column)).map(|hit| hit.alternative).min();
    Ok(first.and_then(|index| BODIES.get(index as usize)).map(|css| at(tag, css)))
}

/// All single values in one call: the adapter's three, the operator's three, the operator's fields.
fn single(host: &impl Host, tag: &str, own: &Detail, shown: &mut Shown) -> Result<(), Failure> {
    let mine = [&TITLES[..], &TIMES, &SOURCES];
    let theirs = [&own.title, &own.publish_time, &own.source].map(|css| css.as_deref());
    let mut select = Select::reply(tag);
    for alternatives in mine {
        select = select.one(&alternatives.join(", "));
    }
    for css in theirs.into_iter().flatten().chain(own.fields.values().map(String::as_str)) {
        select = select.one(css);
    }
    let mut rows = select.run(host)?;
    let Some(mut row) = rows.iter_mut().next() else { return Ok(()) };
    let mut next = mine.len();
    let mut operators = |row: &mut Row<'_>, css: &str| {
        next += 1;
        row.take(next - 1).map(|text| found(fit::value(text), fit::name(format!("css:{css}"))))
    };
    let slots = [&mut shown.title, &mut shown.published, &mut shown.source];
    for (column, (slot, theirs)) in slots.into_iter().zip(theirs).enumerate() {
        let by_template = row.take_hit(column).map(|hit| {
            let css = mine[column].get(hit.alternative as usize).copied().unwrap_or_default();
            found(fit::value(hit.value), format!("css:{css}"))
        });
        *slot = theirs.and_then(|css| operators(&mut row, css)).or(by_template);
    }
    for (name, css) in &own.fields {
        shown.fields.extend(operators(&mut row, css).map(|found| (fit::name(name.clone()), found)));
    }
    Ok(())
}

/// `div.classify`: a label and its value in one cell, or in two.
fn table(host: &impl Host, tag: &str, shown: &mut Shown) -> Result<(), Failure> {
    let mut rows = Select::reply(tag)
        .row("div.classify td, div.classify th")
        .one("label::text, .td-label::text")
        .one("label + span::text, .td-value::text, .td-value-xl::text, span::text")
        .one("::text")
        .run(host)?;
    let mut label: Option<&'static str> = None;
    for mut row in rows.iter_mut() {
        let (named, value, whole) = (row.take(0), row.take(1), row.take(2).unwrap_or_default());
        let value = match (named.as_deref().or(Some(&whole)).and_then(field), value) {
            (Some(name), Some(value)) if named.is_some() => {
                label = Some(name);
                value
            }
            (Some(name), _) => {
                label = Some(name);
                continue;
            }
            (None, value) => value.unwrap_or(whole),
        };
        let Some(name) = label.take().filter(|_| !BLANKS.contains(&value.trim())) else { continue };
        let value = found(fit::value(value), "css:div.classify td");
        match name {
            "title" => shown.title = shown.title.take().or(Some(value)),
            "published" => shown.published = shown.published.take().or(Some(value)),
            _ if shown.fields.iter().any(|(known, _)| known == name) => {}
            _ => shown.fields.push((name.to_owned(), value)),
        }
    }
    Ok(())
}

/// What a label names, by the names of the store. Labels are spread with blanks: 索 引 号：
fn field(label: &str) -> Option<&'static str> {
    let label: String =
        label.chars().filter(|c| !c.is_whitespace() && !matches!(c, '：' | ':')).take(8).collect();
    Some(match label.as_str() {
        "索引号" => "index_no",
        "分类" => "open_category",
        "发布机构" | "发文机关" => "publisher",
        "成文日期" => "written_date",
        "名称" | "标题" => "title",
        "文号" | "发文字号" => "doc_no",
        "发布日期" => "published",
        "主题词" => "topic_words",
        _ => return None,
    })
}

fn files(host: &impl Host, tag: &str, own: &Detail, files: &mut Files) -> Result<(), Failure> {
    let any = match &own.attachment_css {
        // A selector of something around the links finds the links in it.
        Some(css) => format!(":is({css})[href], :is({css}) a[href], {FILES}"),
        None => FILES.to_owned(),
    };
    // One row selector, not alternatives: a document has files of several kinds.
    let mut rows = Select::reply(tag)
        .row(&format!(":is({any})"))
        .one("::attr(href)")
        .one("::attr(alt)")
        .one("::attr(title)")
        .one("::attr(download)")
        .one("::text")
        .run(host)?;
    for mut row in rows.iter_mut() {
        let Some(url) = row.take(0) else { continue };
        let names: Vec<String> = (1..=4).filter_map(|column| row.take(column)).collect();
        // Forms show 点击下载 and keep the name in `alt`; others have the name in the text.
        let file = names.iter().position(|name| has_suffix(name)).unwrap_or(0);
        files.add(&url, names.into_iter().nth(file));
    }
    Ok(())
}

fn has_suffix(name: &str) -> bool {
    name.trim().rsplit_once('.').is_some_and(|(stem, suffix)| {
        !stem.is_empty()
            && (2..=5).contains(&suffix.len())
            && suffix.bytes().all(|b| b.is_ascii_alphanumeric())
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn labels_are_known_however_they_are_spread() {
        assert_eq!(field("索 引 号："), Some("index_no"));
        assert_eq!(field("文\u{3000}\u{3000}号:"), Some("doc_no"));
        assert_eq!(field("粤府〔2026〕1号"), None);
    }
}
