//! Puts an article together and says for each field where it was found.
//!
//! Decides the order of sources (S2-32): what the adapter found, then what the page says of itself, then the list where it knows better than
//! a guess, then what generic extraction reads from the page. Does not judge whether the article is worth keeping.

use std::collections::BTreeMap;

use chrono_tz::Tz;
use scraper::Node;
use url::Url;

use super::attachments::Files;
use super::date::parse_published;
use super::dom::{Budget, Doc, NodeRef};
use super::page::{Options, PageArticle, PageKind, Policy};
use super::pages::Pages;
use super::select::{self, fold};
use super::text::{self, Reading};
use crate::adapter::contract;
use crate::clock::Timestamp;
use crate::model::{Entry, Precision, Published};

/// A body with this much HTML is an article even where it has little text; nobody asks for more.
pub const ENOUGH_HTML: usize = 500;

/// An article as it was read, not yet sanitised.
#[derive(Clone, Debug, Default)]
pub struct Extracted {
    /// Title; empty only when neither page nor list has one.
    pub title: String,
    /// When it was published.
    pub published: Option<Published>,
    /// Where the site says it came from, without the label.
    pub source: Option<String>,
    /// Characters of the body's HTML, counted as far as [`ENOUGH_HTML`].
    pub html_chars: usize,
    /// The body as readable text.
    pub text: String,
    /// Files: those the adapter named, then links of the body; each address once.
    pub attachments: Vec<(Url, Option<String>)>,
    /// Number of images in the body.
    pub inline_image_count: u32,
    /// Further fields by the names of the store.
    pub fields: BTreeMap<String, String>,
    /// Where each field was found: `title` → `css:h1`, `published` → `list`, …
    pub provenance: BTreeMap<String, String>,
    /// The body is not the adapter's: generic extraction found it (S2-33).
    pub used_fallback: bool,
    /// Which of its scorers agreed on it.
    pub fallback_engine: Option<String>,
    /// The page's `<title>` as it stands: how the endings of a site's titles are learned.
    pub page_title: String,
}

/// What is known besides the page: its site and the moment.
#[derive(Clone, Debug)]
pub struct Setting {
    /// Name of the site, taken off titles.
    pub site_name: String,
    /// Endings of titles that other pages of the site have as well.
    pub endings: Vec<String>,
    /// The zone of times without one.
    pub zone: Tz,
    /// Now.
    pub now: Timestamp,
    /// When generic extraction steps in.
    pub policy: Policy,
}

/// A date this sure comes before what the list says.
const SURE: f64 = 0.9;

/// Puts together what `found` says, what its pages show and what the list said.
pub fn article(found: &contract::Article, pages: &Pages, entry: &Entry, setting: &Setting) -> Extracted {
    let page = generic(pages, entry, setting);
    let mut out = Extracted::default();
    title(&mut out, found, page.as_ref(), entry);
    published(&mut out, found, page.as_ref(), entry, setting);
    let said = value_of(found.source.as_ref()).and_then(|(value, origin)| {
        let source = ["来源：", "来源:", "来 源：", "信息来源：", "信息来源:"]
            .iter()
            .find_map(|label| value.strip_prefix(label))
            .unwrap_or(&value)
            .trim();
        (!source.is_empty()).then(|| (source.to_owned(), origin))
    });
    // A name of the site alone is no source.
    let read = || {
        let page = page.as_ref()?;
        let proof = page.provenance.get("source").filter(|proof| proof.confidence >= 0.5)?;
        Some((page.source.clone()?, proof.to_string()))
    };
    if let Some((source, origin)) = said.or_else(read) {
        out.source = Some(source);
        out.provenance.insert("source".into(), origin);
    }
    fields(&mut out, found, entry);
    if let Some(page) = &page {
        document(&mut out, page);
        if let Some(proof) = page.provenance.get("cut") {
            out.provenance.insert("cut".into(), proof.to_string());
        }
        out.page_title = page.page_title.clone();
    }

    let mut files = Files::default();
    for attachment in &found.attachments {
        if let Some(url) = pages.resolve(&entry.url, &attachment.url) {
            files.name(url, attachment.name.as_deref());
        }
    }
    body(&mut out, found.content.as_ref(), pages, &entry.url, &mut files);
    // S2-32: nothing was found, or so little that with the title missing as well it is the wrong place.
    let missing = out.html_chars == 0 && out.text.is_empty();
    let thin = out.html_chars < setting.policy.enough_html && value_of(found.title.as_ref()).is_none();
    if (missing || thin)
        && let Some(page) = page
    {
        fall_back(&mut out, page, setting.policy, &mut files);
    }
    out.attachments = files.into_vec();
    out
}

/// What the page itself gives, when it is one.
fn generic(pages: &Pages, entry: &Entry, setting: &Setting) -> Option<PageArticle> {
    let (doc, source, url) = pages.last_read()?;
    let options = Options {
        zone: setting.zone,
        foreign_in_utc: false,
        site_name: setting.site_name.clone(),
        endings: setting.endings.clone(),
        policy: setting.policy,
        ..Options::at(setting.now)
    };
    let url = if url.is_empty() { &entry.url } else { url };
    Some(super::page::read(doc, &source, url, &options))
}

/// The body that generic extraction found, where it is one.
fn fall_back(out: &mut Extracted, page: PageArticle, policy: Policy, files: &mut Files) {
    let enough = page.text.chars().nth(policy.enough_text.saturating_sub(1)).is_some();
    let better = page.text.len() > out.text.len();
    let shown = page.kind == PageKind::Images && out.inline_image_count == 0;
    if page.kind == PageKind::List || !(enough && better || shown) {
        return;
    }
    if let Some(proof) = page.provenance.get("content") {
        out.fallback_engine = Some(format!("{}:{}", proof.engine, proof.rule));
        out.provenance.insert("content".into(), proof.to_string());
    }
    out.used_fallback = true;
    out.html_chars = out.html_chars.max(page.text.chars().take(ENOUGH_HTML).count());
    out.text = page.text;
    out.inline_image_count = page.inline_image_count;
    for (url, name) in page.attachments {
        files.name(url, name.as_deref());
    }
}

/// What makes it an official document, where neither adapter nor list said it.
fn document(out: &mut Extracted, page: &PageArticle) {
    let document = &page.document;
    let keys: Vec<String> = document.doc_numbers.iter().map(super::docno::DocNo::key).collect();
    let read = [
        ("doc_no", document.doc_no.clone(), "doc_no"),
        ("index_no", document.index_no.clone(), "index_no"),
        ("publisher", document.issuer.clone(), "publisher"),
        ("topic", document.topic.clone(), "topic"),
        ("topic_words", document.topic_words.clone(), "topic_words"),
        ("open_category", document.open_category.clone(), "open_category"),
        ("written_date", document.written.as_ref().map(|written| written.date.clone()), "written"),
        ("validity", document.validity.clone(), "validity"),
        ("author", page.author.clone(), "author"),
        ("modified", page.modified.as_ref().map(|modified| modified.at.to_string()), "modified"),
        ("lead_image", page.lead_image.as_ref().map(Url::to_string), "lead_image"),
    ];
    for (name, value, proof) in read {
        let Some(value) = value.filter(|value| !value.is_empty()) else { continue };
        if out.fields.contains_key(name) {
            continue;
        }
        if let Some(proof) = page.provenance.get(proof) {
            out.provenance.insert(name.into(), proof.to_string());
        }
        out.fields.insert(name.into(), value);
    }
    // The number of the list or the adapter is normalised the same way.
    let keys = match out.fields.get("doc_no") {
        Some(text) if keys.is_empty() || document.doc_no.as_ref() != Some(text) => {
            super::docno::doc_numbers(text).iter().map(super::docno::DocNo::key).collect()
        }
        _ => keys,
    };
    if !keys.is_empty() {
        out.fields.insert("doc_no_key".into(), keys.join(" "));
    }
}

fn title(out: &mut Extracted, found: &contract::Article, page: Option<&PageArticle>, entry: &Entry) {
    let from_page = || {
        let page = page?;
        Some((page.title.clone()?, page.provenance.get("title")?.to_string()))
    };
    let from_list = || (fold(&entry.title), "list".to_owned());
    let (title, origin) = value_of(found.title.as_ref()).or_else(from_page).unwrap_or_else(from_list);
    if !title.is_empty() {
        out.title = title;
        out.provenance.insert("title".into(), origin);
    }
}

fn published(
    out: &mut Extracted,
    found: &contract::Article,
    page: Option<&PageArticle>,
    entry: &Entry,
    setting: &Setting,
) {
    let own = found.published.as_ref().and_then(|value| {
        parse_published(&value.value, setting.zone, setting.now)
            .map(|published| (published, value.origin.clone()))
    });
    let read = || {
        let page = page?;
        let proof = page.provenance.get("published")?;
        Some((page.published.clone()?, proof))
    };
    let listed = || entry.published.clone().map(|published| (published, "list".to_owned()));
    let chosen = own.or_else(|| match (read(), listed()) {
        // A list that knows the time is the adapter's own word, unless the page is more exact about the same day.
        (read, Some((known, origin)))
            if known.precision != Precision::Day
                && read.as_ref().is_none_or(|(published, _)| {
                    published.precision != Precision::Second || known.precision == Precision::Second
                }) =>
        {
            Some((known, origin))
        }
        // The page adds the time to the day the list knows.
        (Some((published, proof)), Some((known, _)))
            if proof.confidence >= SURE || published.date == known.date =>
        {
            Some((published, proof.to_string()))
        }
        (_, Some(listed)) => Some(listed),
        (Some((published, proof)), None) => Some((published, proof.to_string())),
        (None, None) => None,
    });
    if let Some((published, origin)) = chosen {
        out.published = Some(published);
        out.provenance.insert("published".into(), origin);
    }
}

fn fields(out: &mut Extracted, found: &contract::Article, entry: &Entry) {
    let own = found.fields.iter().map(|(name, value)| (name, &value.value, value.origin.as_str()));
    // What begins with `_` the adapter told itself, from the list to the document.
    let listed = entry.fields.iter().filter(|(name, _)| !name.starts_with('_'));
    let listed = listed.map(|(name, value)| (name, value, "list"));
    for (name, value, origin) in own.chain(listed) {
        let value = fold(value);
        if !value.is_empty() && !out.fields.contains_key(name) {
            out.fields.insert(name.clone(), value);
            out.provenance.insert(name.clone(), origin.to_owned());
        }
    }
}

fn body(
    out: &mut Extracted,
    content: Option<&contract::Body>,
    pages: &Pages,
    address: &str,
    files: &mut Files,
) {
    match content {
        None => {}
        Some(contract::Body::Html(found)) => {
            let doc = Doc::fragment(&found.value, Budget::default());
            if let Some(root) = doc.root() {
                let base = pages.base().or_else(|| Url::parse(address).ok());
                take(out, text::read(*root), base.as_ref(), files);
            }
            out.html_chars = found.value.chars().take(ENOUGH_HTML).count();
            out.provenance.insert("content".into(), found.origin.clone());
        }
        Some(contract::Body::At(place)) => {
            let found = pages.doc(&place.reply).and_then(|doc| select::place(doc, &place.css));
            match found {
                Ok(Some((css, element))) => {
                    take(out, text::read(*element), pages.base_of(&place.reply).as_ref(), files);
                    out.html_chars = html_chars(*element);
                    out.provenance.insert("content".into(), format!("css:{css}"));
                }
                Ok(None) => {}
                Err(error) => {
                    out.provenance.insert("content".into(), format!("none: {error}"));
                }
            }
        }
    }
}

/// How long the inside of an element is as HTML, entities aside. It is not written out: a page of 60 KB would be
/// written for the sake of its first 500 characters.
fn html_chars(element: NodeRef<'_>) -> usize {
    let mut chars = 0;
    for node in element.descendants().skip(1) {
        chars += match node.value() {
            Node::Text(text) => text.chars().take(ENOUGH_HTML).count(),
            Node::Element(element) => {
                let attrs = element.attrs().map(|(name, value)| name.len() + value.chars().count() + 4);
                2 * element.name().len() + "<></>".len() + attrs.sum::<usize>()
            }
            _ => 0,
        };
        if chars >= ENOUGH_HTML {
            return ENOUGH_HTML;
        }
    }
    chars
}

fn take(out: &mut Extracted, reading: Reading<'_>, base: Option<&Url>, files: &mut Files) {
    for link in &reading.links {
        files.link(*link, base);
    }
    out.inline_image_count = reading.images;
    out.text = reading.text;
}

fn value_of(found: Option<&contract::Found>) -> Option<(String, String)> {
    let found = found?;
    let value = fold(&found.value);
    (!value.is_empty()).then(|| (value, found.origin.clone()))
}

#[cfg(test)]
mod tests;
