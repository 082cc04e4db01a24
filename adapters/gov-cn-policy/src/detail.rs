//! One document, in either template of gov.cn (S2-25).
//!
//! A, formal documents: tables within tables, metadata above the text. B, articles: `h1#ti`, a line with date and source.
//! Nothing depends on which one it is: every value has its places in both, and the body is whatever carries
//! `UCAP-CONTENT`, wherever it lies.

use dibao_adapter::{
    Article, Attachment, Entry, Failure, Found, Host, Reply, Row, Rows, Select, at, found, nothing_found,
};

use crate::config::{Config, Detail};
use crate::{row, table};

const TITLE: &str = "h1#ti::text, td.zcwj_title::text";
/// Behind the table's own 标题: where else a title may be.
const OTHER_TITLE: &str = ".article h1::text, h1::text, div.share-title::text";
const PUBLISHED: &str = "meta[name='firstpublishedtime' i]::attr(content), .pages-date::text";
const SOURCE: &str = ".pages-date span::text, span.font-zyygwj::text";
const CONTENT: &str = "td#UCAP-CONTENT, div.pages_content#UCAP-CONTENT, #UCAP-CONTENT, div.pages_content, \
     .trs_editor_view, .TRS_UEDITOR, .TRS_Editor, td.b12c, .mxxgkwrap";
/// `files` is where the publishing system keeps what belongs to a document.
const FILES: &str = ":is(#UCAP-CONTENT, .pages_content, .trs_editor_view, .mxxgkwrap, .attachment) a[href]";

/// `meta` tags and what they are called in the store.
const META: [(&str, &str); 7] = [
    ("manuscriptId", "manuscript_id"),
    ("lastmodifiedtime", "modified"),
    ("author", "author"),
    ("keywords", "keywords"),
    ("description", "summary"),
    ("lanmu", "channel_name"),
    ("catalog", "catalog"),
];

/// Endings of files that offices publish.
const SUFFIXES: [&str; 16] = [
    "pdf", "doc", "docx", "xls", "xlsx", "ppt", "pptx", "zip", "rar", "7z", "ofd", "wps", "et", "csv", "txt",
    "rtf",
];

/// Reads the answer to the request for a document.
pub fn read(host: &impl Host, config: &Config, entry: &Entry, reply: &Reply) -> Result<Article, Failure> {
    match reply.status {
        0..=399 => {}
        404 | 410 => return Err(Failure::Gone),
        status => return Err(Failure::Refused(format!("{} answered {status}", reply.url))),
    }
    let own = &config.detail;
    let lines = table::read(host, &reply.tag);
    let mut article = values(host, own, entry, &lines, reply)?;
    for (name, value, label) in lines {
        if !matches!(name, table::TITLE | table::PUBLISHED) {
            add(&mut article, name, found(value, format!("table:{label}")));
        }
    }
    article.content = Some(at(&reply.tag, &before(&own.content, CONTENT)));
    article.attachments = attachments(host, own, reply)?;
    Ok(article)
}

/// The operator's selector before the built-in one.
fn before(own: &Option<String>, built_in: &str) -> String {
    own.as_ref().map_or_else(|| built_in.to_owned(), |css| format!("{css}, {built_in}"))
}

/// A name is filled once; the host takes what the list said for those that are not filled at all.
fn add(article: &mut Article, name: &str, value: Found) {
    if !value.value.is_empty() && !article.fields.iter().any(|(known, _)| known == name) {
        article.fields.push((name.to_owned(), value));
    }
}

fn values(
    host: &impl Host,
    own: &Detail,
    entry: &Entry,
    lines: &[table::Line],
    reply: &Reply,
) -> Result<Article, Failure> {
    let mut select = Select::reply(&reply.tag)
        .one(&before(&own.title, TITLE))
        .one(OTHER_TITLE)
        .one(&before(&own.publish_time, PUBLISHED))
        .all(&before(&own.source, SOURCE));
    for (name, _) in META {
        select = select.one(&format!("meta[name='{name}' i]::attr(content)"));
    }
    for css in own.fields.values() {
        select = select.one(css);
    }
    let mut rows = run(select, host)?;
    let mut article = nothing_found();
    let Some(mut cells) = rows.iter_mut().next() else { return Ok(article) };

    let line = |name: &str| {
        let found_at = |label: &str| format!("table:{label}");
        let line = lines.iter().find(|(known, ..)| *known == name);
        line.map(|(_, value, label)| found(value.clone(), found_at(label)))
    };
    article.title =
        cell(&mut cells, 0, "title").or_else(|| line(table::TITLE)).or_else(|| cell(&mut cells, 1, "title"));
    // The table knows a day. A list that knows the hour knows better, and the host asks it next.
    let listed_hour = entry.published.as_deref().is_some_and(|text| text.contains(':'));
    article.published =
        cell(&mut cells, 2, "published").or_else(|| line(table::PUBLISHED).filter(|_| !listed_hour));
    article.source = source(&mut cells, own.source.is_some());
    for (number, name) in own.fields.keys().enumerate() {
        if let Some(value) = cell(&mut cells, 4 + META.len() + number, name) {
            add(&mut article, name, value);
        }
    }
    // The list knows the class of a document and its summary better than the page's head does.
    let listed = |name: &str| entry.fields.iter().any(|(known, _)| known == name);
    for (number, (meta, name)) in META.into_iter().enumerate() {
        if let Some(mut value) = cell(&mut cells, 4 + number, meta).filter(|_| !listed(name)) {
            value.origin = format!("meta:{meta}");
            add(&mut article, name, value);
        }
    }
    Ok(article)
}

fn cell(row: &mut Row<'_>, column: usize, what: &str) -> Option<Found> {
    let hit = row.take_hit(column)?;
    Some(found(row::value(hit.value), row::name(format!("css:{what}/{}", hit.alternative))))
}

/// The line with the date has several spans; the one that says 来源 is meant, unless the operator named it.
fn source(row: &mut Row<'_>, named: bool) -> Option<Found> {
    let hit = row.take_hit(3)?;
    let origin = format!("css:source/{}", hit.alternative);
    if named && hit.alternative == 0 {
        return Some(found(row::value(hit.value), origin));
    }
    let spans = std::iter::once(hit.value).chain(hit.more);
    let source = spans.filter_map(|text| {
        let (_, source) = text.split_once("来源")?;
        let source = source.trim_matches(|c: char| c.is_whitespace() || matches!(c, ':' | '：'));
        (!source.is_empty()).then(|| source.to_owned())
    });
    source.take(1).last().map(|source| found(row::value(source), origin))
}

/// A selector of ours that the page is too large for is no mistake in the settings.
fn run(select: Select, host: &impl Host) -> Result<Rows, Failure> {
    select.run(host).map_err(|failure| match failure {
        Failure::Config(words) if !words.starts_with("bad selector") => Failure::Shape(words),
        other => other,
    })
}

fn attachments(host: &impl Host, own: &Detail, reply: &Reply) -> Result<Vec<Attachment>, Failure> {
    let select = |css: &str| {
        Select::reply(&reply.tag)
            .row(css)
            .one("::attr(href)")
            .one("::text")
            .one("::attr(title)")
            .one("::attr(alt)")
            .one("::attr(download)")
    };
    let mut files: Vec<Attachment> = Vec::new();
    let mut take = |mut rows: Rows, any: bool| {
        for mut row in rows.iter_mut() {
            let Some(url) = row.take(0).filter(|url| any || is_file(url)) else { continue };
            if url.len() <= 8 * 1024 && files.len() < 500 && !files.iter().any(|known| known.url == url) {
                let name = name(&mut row);
                files.push(Attachment { url, name });
            }
        }
    };
    if let Some(css) = &own.attachment_css {
        take(run(select(css), host)?, true);
    }
    take(run(select(FILES), host)?, false);
    Ok(files)
}

fn is_file(url: &str) -> bool {
    let path = url.split(['?', '#']).next().unwrap_or_default();
    path.rsplit_once('.').is_some_and(|(_, suffix)| has_file_suffix(suffix))
}

fn has_file_suffix(suffix: &str) -> bool {
    SUFFIXES.iter().any(|known| suffix.eq_ignore_ascii_case(known))
}

/// What readers see, or the attribute that looks like a file's name where the text does not.
fn name(row: &mut Row<'_>) -> Option<String> {
    let names: Vec<String> = (1..=4).filter_map(|column| row.take(column)).collect();
    let full = names.iter().position(|name| {
        name.trim().rsplit_once('.').is_some_and(|(stem, suffix)| !stem.is_empty() && has_file_suffix(suffix))
    });
    names.into_iter().nth(full.unwrap_or(0)).map(row::name)
}
