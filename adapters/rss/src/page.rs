//! A document: from the feed alone, or from its page with what the feed knows of it.

use dibao_adapter::{
    Article, Attachment, Body, Entry, Failure, Found, Hit, Host, Reply, Select, at, found, nothing_found,
};

use crate::config::{Config, Detail, Selectors};
use crate::{entry, fit};

/// Where the bodies of Chinese portals and of common blog programs are. What none of them finds, the host looks for.
const USUAL_BODIES: &str = "div.TRS_Editor, .trs_editor_view, #UCAP-CONTENT, .article-content, #zoom, #Zoom, \
    #detailContent, .entry-content, .post-content, .article_con, article";

/// A document of which the feed has the text, or as much of it as there is.
pub fn from_feed(row: &Entry) -> Article {
    let short = || entry::short(row).map(|html| (html.to_owned(), "feed:summary"));
    let text = entry::content(row).map(|html| (html, "feed:content")).or_else(short);
    Article { content: text.map(|(html, origin)| Body::Html(found(html, origin))), ..known(row) }
}

/// A document from its page.
pub fn from_page(host: &impl Host, config: &Config, row: &Entry, reply: &Reply) -> Result<Article, Failure> {
    match reply.status {
        0..=399 => {}
        // What the feed has is less than the page, and more than nothing.
        404 | 410 if entry::short(row).is_some() => return Ok(from_feed(row)),
        _ if is_denied(reply) && entry::short(row).is_some() => return Ok(from_feed(row)),
        404 | 410 => return Err(Failure::Gone),
        status => return Err(Failure::Refused(format!("{} answered {status}", reply.url))),
    }
    let mut article = known(row);
    let Detail::Selectors(selectors) = &config.detail else {
        article.content = Some(at(&reply.tag, USUAL_BODIES));
        return Ok(article);
    };
    article.content = Some(at(&reply.tag, selectors.content.as_deref().unwrap_or(USUAL_BODIES)));
    values(host, selectors, reply, &mut article)?;
    if let Some(css) = &selectors.attachment_css {
        article.attachments.extend(attachments(host, css, reply)?);
    }
    Ok(article)
}

/// Whether the host's own rules forbid the page: nothing was asked, and nothing will be.
fn is_denied(reply: &Reply) -> bool {
    reply.headers.iter().any(|(name, _)| name == "dibao-denied")
}

/// What the feed says.
fn known(row: &Entry) -> Article {
    // Some feeds cut titles: then the page's is better.
    let cut = row.title.ends_with('…') || row.title.ends_with("...");
    let title = (!cut).then(|| row.title.clone()).and_then(|title| fit::value(&title));
    Article {
        title: title.map(|title| found(title, "feed:title")),
        published: row.published.as_deref().map(|text| found(text, "feed:published")),
        source: entry::source(row).map(|source| found(source, "feed:source")),
        attachments: entry::files(row),
        ..nothing_found()
    }
}

/// All single values in one call.
fn values(
    host: &impl Host,
    selectors: &Selectors,
    reply: &Reply,
    article: &mut Article,
) -> Result<(), Failure> {
    let own = [&selectors.title, &selectors.publish_time, &selectors.source];
    let asked: Vec<&str> =
        own.into_iter().flatten().chain(selectors.fields.values()).map(String::as_str).collect();
    if asked.is_empty() {
        return Ok(());
    }
    let select = asked.iter().fold(Select::reply(&reply.tag), |select, css| select.one(css));
    let mut rows = select.run(host)?;
    let Some(mut row) = rows.iter_mut().next() else { return Ok(()) };
    let mut column = 0;
    for (css, place) in own.into_iter().zip([&mut article.title, &mut article.published, &mut article.source])
    {
        let Some(css) = css else { continue };
        *place = row.take_hit(column).and_then(|hit| value(hit, css)).or(place.take());
        column += 1;
    }
    for (name, css) in &selectors.fields {
        if let Some(value) = row.take_hit(column).and_then(|hit| value(hit, css)) {
            article.fields.push((name.clone(), value));
        }
        column += 1;
    }
    Ok(())
}

fn value(hit: Hit, css: &str) -> Option<Found> {
    Some(found(fit::value(&hit.value)?, fit::name(&format!("css:{css}"))?))
}

/// Every link that the selector finds, or that stands inside of what it finds.
fn attachments(host: &impl Host, css: &str, reply: &Reply) -> Result<Vec<Attachment>, Failure> {
    let mut rows = Select::reply(&reply.tag)
        .row(&format!(":is({css})[href], :is({css}) a[href]"))
        .one("::attr(href)")
        .one("::text, ::attr(title)")
        .run(host)?;
    let file = |mut row: dibao_adapter::Row<'_>| {
        let url = fit::link(&row.take(0)?)?;
        Some(Attachment { url, name: row.take(1).as_deref().and_then(fit::name) })
    };
    Ok(rows.iter_mut().filter_map(file).take(500).collect())
}
