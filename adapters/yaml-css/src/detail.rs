//! One document: an answer in, what the selectors find out (S2-20).
//!
//! What no selector finds is left out: the host then looks for it by itself, and records where it found it.

use dibao_adapter::{
    Article, Attachment, Failure, Found, Hit, Host, Reply, Row, Select, at, found, nothing_found,
};

use crate::config::{Config, Detail};
use crate::{css, fit};

/// Reads the answer to the request for a document.
pub fn read(host: &impl Host, config: &Config, reply: &Reply) -> Result<Article, Failure> {
    match reply.status {
        0..=399 => {}
        404 | 410 => return Err(Failure::Gone),
        status => return Err(Failure::Refused(format!("{} answered {status}", reply.url))),
    }
    let detail = &config.detail;
    let attachments = match &detail.attachment_css {
        Some(css) => attachments(host, css, reply)?,
        None => Vec::new(),
    };
    Ok(Article {
        content: detail.content.as_deref().map(|css| at(&reply.tag, css)),
        attachments,
        ..values(host, detail, reply)?
    })
}

/// All single values in one call.
fn values(host: &impl Host, detail: &Detail, reply: &Reply) -> Result<Article, Failure> {
    let asked: Vec<&str> = [&detail.title, &detail.publish_time, &detail.source]
        .into_iter()
        .flatten()
        .chain(detail.fields.values())
        .map(String::as_str)
        .collect();
    let mut article = nothing_found();
    if asked.is_empty() {
        return Ok(article);
    }
    let select = asked.iter().fold(Select::reply(&reply.tag), |select, css| select.one(css));
    let mut rows = select.run(host)?;
    let Some(mut row) = rows.iter_mut().next() else { return Ok(article) };
    let mut column = 0;
    let mut next = |row: &mut Row<'_>, css: &str| {
        column += 1;
        row.take_hit(column - 1).map(|hit| origin(hit, css))
    };
    article.title = detail.title.as_deref().and_then(|css| next(&mut row, css));
    article.published = detail.publish_time.as_deref().and_then(|css| next(&mut row, css));
    article.source = detail.source.as_deref().and_then(|css| next(&mut row, css));
    for (name, css) in &detail.fields {
        if let Some(value) = next(&mut row, css) {
            article.fields.push((name.clone(), value));
        }
    }
    Ok(article)
}

/// A value with the alternative that found it (I12).
fn origin(hit: Hit, css: &str) -> Found {
    let alternatives = css::alternatives(css);
    let matched = alternatives.get(hit.alternative as usize).copied().unwrap_or(css);
    found(fit::value(hit.value), fit::name(format!("css:{matched}")))
}

/// Here all alternatives count, as the seed's own example needs (`a[href$='.pdf'], a[href$='.docx']`): one document
/// has files of several kinds. A selector of something around the links finds the links in it.
fn attachments(host: &impl Host, css: &str, reply: &Reply) -> Result<Vec<Attachment>, Failure> {
    let any: Vec<&str> =
        css::alternatives(css).into_iter().map(css::without_ending).filter(|part| !part.is_empty()).collect();
    let any = format!(":is({})", any.join(", "));
    let mut rows = Select::reply(&reply.tag)
        .row(&format!("{any}[href], {any} a[href]"))
        .one("::attr(href)")
        .one("::text")
        .one("::attr(title)")
        .one("::attr(alt)")
        .one("::attr(download)")
        .run(host)?;
    let mut files: Vec<Attachment> = Vec::new();
    for mut row in rows.iter_mut() {
        let Some(url) = row.take(0).filter(|url| fit::is_link(url)) else { continue };
        let name = name(&mut row);
        match files.iter_mut().find(|file| file.url == url) {
            None => files.push(Attachment { url, name }),
            // Linked in the text and again below it: the link that shows a file's name knows better.
            Some(known) => {
                let better = |name: &Option<String>| name.as_deref().is_some_and(has_suffix);
                if better(&name) && !better(&known.name) {
                    known.name = name;
                }
            }
        }
    }
    Ok(files)
}

/// Text, `title`, `alt`, `download`: the first that looks like a file's name, else the first there is. Some
/// forms show `附件1` and keep the name in `alt`.
fn name(row: &mut Row<'_>) -> Option<String> {
    let names: Vec<String> = (1..=4).filter_map(|column| row.take(column)).collect();
    let file = names.iter().position(|name| has_suffix(name));
    names.into_iter().nth(file.unwrap_or(0)).map(fit::name)
}

fn has_suffix(name: &str) -> bool {
    name.trim().rsplit_once('.').is_some_and(|(stem, suffix)| {
        !stem.is_empty()
            && (2..=5).contains(&suffix.len())
            && suffix.bytes().all(|byte| byte.is_ascii_alphanumeric())
            && suffix.bytes().any(|byte| byte.is_ascii_alphabetic())
    })
}
