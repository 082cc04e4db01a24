//! One document: from the script of its page, from the page itself, from its row.
//!
//! The body is `_CONFIG.DETAIL.content` where the page has it, else what the page shows; where one of the row's two
//! addresses has no body, the other is asked. Metadata is believed in the order script, row, table: the first two are
//! the same database. A row that leads out of the platform (`type: "url"`) has no page: what the row says is the document,
//! with the address it leads to.

use dibao_adapter::{
    Article, Body, Ctx, DetailStep, Entry, Failure, Host, Reply, Request, found, nothing_found,
};
use serde_json::Value;

use crate::config::Config;
use crate::list::Session;
use crate::page::{self, Shown};
use crate::place::Root;
use crate::row::{Row, handed, handed_files, plain};
use crate::scalar::Scalar;
use crate::{answer, civil, fit, index};

/// The row's own address.
const FIRST: &str = "page";
/// The other address, after a first one without a body.
const OTHER: &str = "other";
/// The other address, after a first one that is gone.
const LAST: &str = "last";

/// One turn of a document.
pub fn turn(
    host: &impl Host,
    ctx: &Ctx<Config, Session>,
    entry: &Entry,
    replies: &[Reply],
) -> Result<DetailStep, Failure> {
    let root = Root::of(&ctx.base, ctx.config.dept_path.as_deref());
    let is_link = handed(entry, "entry_type") == Some("url");
    let Some(reply) = replies.last() else {
        return Ok(match is_link && !root.has(&entry.url) {
            true => DetailStep::Done(of_row(entry)),
            false => DetailStep::Fetch(vec![Request::page(FIRST, &entry.url)]),
        });
    };
    let other = handed(entry, "post_url").filter(|_| reply.tag == FIRST).filter(|url| root.has(url));
    let ask = |tag, url| Ok(DetailStep::Fetch(vec![Request::page(tag, url)]));
    match reply.status {
        0..=399 => {}
        404 | 410 => {
            return match other {
                Some(other) => ask(LAST, other),
                // Something was there under the first address: the document lives, though without a body.
                None if reply.tag == OTHER || is_link => Ok(DetailStep::Done(of_row(entry))),
                None => Err(Failure::Gone),
            };
        }
        status => return Err(Failure::Refused(format!("{} answered {status}", reply.url))),
    }
    let mut script = script(&answer::text(host, reply));
    if let Some((row, _)) = &mut script {
        row.title = row.title.text().map_or(Scalar::Nothing, |title| Scalar::Text(plain(host, title)));
        if !row.content.text().is_some_and(|html| says_something(&html)) {
            row.content = Scalar::Nothing;
        }
    }
    let shown = page::look(host, &reply.tag, &ctx.config.detail)?;
    let has_body =
        shown.body.is_some() || script.as_ref().is_some_and(|(row, _)| row.content != Scalar::Nothing);
    match other.filter(|_| !has_body) {
        Some(other) => ask(OTHER, other),
        None => Ok(DetailStep::Done(article(ctx, entry, script, shown))),
    }
}

/// `_CONFIG.DETAIL`, and the further values it may keep in `gkml_data`.
fn script(page: &str) -> Option<(Row, Row)> {
    let mut config = index::config(page)?;
    let mut detail = config.remove("DETAIL").filter(Value::is_object)?;
    let more = match detail.get_mut("gkml_data").map(Value::take) {
        Some(object @ Value::Object(_)) => serde_json::from_value(object).unwrap_or_default(),
        Some(Value::String(text)) => serde_json::from_str(&text).unwrap_or_default(),
        _ => Row::default(),
    };
    Some((serde_json::from_value(detail).unwrap_or_default(), more))
}

fn article(ctx: &Ctx<Config, Session>, entry: &Entry, script: Option<(Row, Row)>, shown: Shown) -> Article {
    let mut article = nothing_found();
    let own = &ctx.config.detail;
    let (mut detail, more) = script.unwrap_or_default();
    for (row, origin) in [(&detail, "js:_CONFIG.DETAIL"), (&more, "js:_CONFIG.DETAIL.gkml_data")] {
        for (name, value, key) in row.fields() {
            if !article.fields.iter().any(|(known, _)| known == name) {
                article.fields.push((name.to_owned(), found(value, format!("{origin}.{key}"))));
            }
        }
        if article.title.is_none() {
            let title = row.title.text().map(|title| found(fit::value(title), format!("{origin}.title")));
            article.title = title;
        }
    }
    // The operator's selectors come before everything, the table's values after the row's, which the host has.
    for (name, value) in shown.fields {
        let by_operator = own.fields.contains_key(&name);
        let known = article.fields.iter().position(|(known, _)| *known == name);
        match known {
            Some(at) if by_operator => article.fields[at].1 = value,
            Some(_) => {}
            None if by_operator || handed(entry, &name).is_none() => article.fields.push((name, value)),
            None => {}
        }
    }
    let listed = Some(found(entry.title.clone(), "list")).filter(|title| !title.value.is_empty());
    let title =
        if own.title.is_some() { shown.title.or(article.title) } else { article.title.or(shown.title) };
    // Without this the host would take the page's <title>, which is the platform's name.
    article.title = title.or(listed);
    if own.publish_time.is_some() || entry.published.is_none() {
        let times = [&detail, &more].into_iter().find_map(|row| civil::published(row, ctx.now));
        let times = times.map(|(time, key)| found(time, format!("js:_CONFIG.DETAIL.{key}")));
        article.published =
            if own.publish_time.is_some() { shown.published } else { times.or(shown.published) };
    }
    article.source = shown.source;
    let mut files = std::mem::take(&mut detail.attachment);
    files.extend(std::mem::take(&mut detail.attachments));
    files.extend(more.attachment);
    files.extend(handed_files(entry));
    files.extend(shown.files);
    article.attachments = files.into_vec();
    let written = std::mem::take(&mut detail.content).into_text();
    article.content = match (written, shown.body) {
        (_, Some(body)) if own.content.is_some() => Some(body),
        (Some(html), _) => Some(Body::Html(found(html, "js:_CONFIG.DETAIL.content"))),
        (None, body) => body,
    };
    article
}

/// The document of a row that has no page.
fn of_row(entry: &Entry) -> Article {
    let mut html = format!("<p>{}</p>", escape(&entry.title));
    if let Some(summary) = handed(entry, "abstract") {
        html.push_str(&format!("<p>{}</p>", escape(summary)));
    }
    let publisher = handed(entry, "publisher").unwrap_or("发布机构");
    let url = escape(&entry.url);
    html.push_str(&format!(
        "<p>{}登载的这一条目没有本站页面，原文在：<a href=\"{url}\">{url}</a></p>",
        escape(publisher)
    ));
    Article {
        title: Some(found(entry.title.clone(), "list")).filter(|title| !title.value.is_empty()),
        content: Some(Body::Html(found(html, "list"))),
        attachments: handed_files(entry).into_vec(),
        ..nothing_found()
    }
}

/// Whether a reader would see anything of it: text, a picture, a link. Editors leave `<p>&nbsp;</p>` behind.
fn says_something(html: &str) -> bool {
    let mut outside = html.split('<');
    let before = outside.next().unwrap_or_default();
    let shows = |tag: &str| {
        let name: String = tag.chars().take_while(char::is_ascii_alphanumeric).collect();
        ["img", "a", "iframe", "video", "embed", "object"]
            .iter()
            .any(|known| name.eq_ignore_ascii_case(known))
    };
    let has_text = |text: &str| !text.replace("&nbsp;", "").trim().is_empty();
    has_text(before)
        || outside.any(|piece| shows(piece) || piece.split_once('>').is_some_and(|(_, text)| has_text(text)))
}

fn escape(text: &str) -> String {
    text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;").replace('"', "&quot;")
}

#[cfg(test)]
mod tests {
    use super::says_something;

    #[test]
    fn markup_alone_says_nothing() {
        for nothing in
            ["", " ", "<p></p>", "<p class='x'>&nbsp;\u{3000}</p><br>", "<p", "<span title='x'></span>"]
        {
            assert!(!says_something(nothing), "{nothing}");
        }
        for something in ["正文", "<p>正文</p>", "<IMG src=1>", "<p><a href=x></a></p>", "1 < 2"] {
            assert!(says_something(something), "{something}");
        }
    }
}
