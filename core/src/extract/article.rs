//! Puts an article together and says for each field where it was found.
//!
//! Decides the order of sources: what the adapter found, then the page's `<title>` for the title, then what the list said. Does not
//! judge whether the article is worth keeping.

use std::collections::BTreeMap;

use chrono_tz::Tz;
use scraper::Node;
use url::Url;

use super::attachments::Files;
use super::date::parse_published;
use super::dom::{Budget, Doc, NodeRef};
use super::pages::Pages;
use super::select::{self, fold, folded_text};
use super::text::{self, Reading};
use super::title::without_site;
use crate::adapter::contract;
use crate::clock::Timestamp;
use crate::model::{Entry, Published};

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
}

/// Puts together what `found` says, what its pages show and what the list said.
pub fn article(
    found: &contract::Article,
    pages: &Pages,
    entry: &Entry,
    site_name: &str,
    zone: Tz,
    now: Timestamp,
) -> Extracted {
    let mut out = Extracted::default();
    title(&mut out, found, pages, entry, site_name);
    published(&mut out, found, entry, zone, now);
    if let Some((value, origin)) = value_of(found.source.as_ref()) {
        let source = ["来源：", "来源:", "来 源：", "信息来源：", "信息来源:"]
            .iter()
            .find_map(|label| value.strip_prefix(label))
            .unwrap_or(&value)
            .trim();
        if !source.is_empty() {
            out.source = Some(source.to_owned());
            out.provenance.insert("source".into(), origin);
        }
    }
    fields(&mut out, found, entry);

    let mut files = Files::default();
    for attachment in &found.attachments {
        if let Some(url) = pages.resolve(&entry.url, &attachment.url) {
            files.name(url, attachment.name.as_deref());
        }
    }
    body(&mut out, found.content.as_ref(), pages, &entry.url, &mut files);
    out.attachments = files.into_vec();
    out
}

fn title(out: &mut Extracted, found: &contract::Article, pages: &Pages, entry: &Entry, site_name: &str) {
    let from_page = || {
        let title = pages.last_page().and_then(page_title).map(|title| without_site(&title, site_name));
        title.filter(|title| !title.is_empty()).map(|title| (title, "page:title".to_owned()))
    };
    let from_list = || (fold(&entry.title), "list".to_owned());
    let (title, origin) = value_of(found.title.as_ref()).or_else(from_page).unwrap_or_else(from_list);
    if !title.is_empty() {
        out.title = title;
        out.provenance.insert("title".into(), origin);
    }
}

fn page_title(doc: &Doc) -> Option<String> {
    // An `svg` may have a title too: the page's is the one that is HTML.
    let is_title = |name: &html5ever::QualName| &*name.local == "title" && name.ns == html5ever::ns!(html);
    let title = doc.root()?.descendent_elements().find(|element| is_title(&element.value().name))?;
    Some(folded_text(*title)).filter(|title| !title.is_empty())
}

fn published(out: &mut Extracted, found: &contract::Article, entry: &Entry, zone: Tz, now: Timestamp) {
    let own = found.published.as_ref().and_then(|value| {
        parse_published(&value.value, zone, now).map(|published| (published, value.origin.clone()))
    });
    let from_list = || entry.published.clone().map(|published| (published, "list".to_owned()));
    if let Some((published, origin)) = own.or_else(from_list) {
        out.published = Some(published);
        out.provenance.insert("published".into(), origin);
    }
}

fn fields(out: &mut Extracted, found: &contract::Article, entry: &Entry) {
    let own = found.fields.iter().map(|(name, value)| (name, &value.value, value.origin.as_str()));
    let listed = entry.fields.iter().map(|(name, value)| (name, value, "list"));
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
mod tests {
    use std::sync::Arc;

    use chrono_tz::Asia::Shanghai;

    use super::*;

    const NOW: Timestamp = Timestamp(1_780_000_000_000);
    const PAGE: &str = "<html><head><title>关于示例的通知_通知公告_中国政府网</title></head><body>\
        <div class=TRS_Editor> </div><div id=zoom><p>第一段。</p><p>第二段<img src=a.jpg>。</p><script>var x=1</script>\
        <p><a href='./P020260410.pdf'>附件1：示例.pdf</a><a href='./P020260410.pdf#page=2'>下载</a>\
        <a class=nfw-cms-attachment href='/attachment/0/1' alt='名单.xlsx'>下载</a><a href='b.html'>相关</a></p></div>";

    fn found(value: &str, origin: &str) -> Option<contract::Found> {
        Some(contract::Found { value: value.into(), origin: origin.into() })
    }

    fn nothing() -> contract::Article {
        contract::Article {
            title: None,
            published: None,
            source: None,
            content: None,
            fields: vec![],
            attachments: vec![],
        }
    }

    fn entry() -> Entry {
        Entry {
            id: 0,
            url: "https://www.gov.cn/a/t1.html".into(),
            url_hash: String::new(),
            title: "列表标题…".into(),
            published_raw: None,
            published: parse_published("2026-04-09", Shanghai, NOW),
            native_id: None,
            pinned: false,
            fields: vec![("doc_no".into(), "国发〔2026〕1号".into()), ("publisher".into(), "国务院".into())],
        }
    }

    fn read(article_found: &contract::Article, body: &str) -> Extracted {
        let reply = contract::Reply {
            tag: "page".into(),
            status: 200,
            url: "https://www.gov.cn/a/t1.html".into(),
            headers: vec![("content-type".into(), "text/html; charset=utf-8".into())],
            body: body.into(),
        };
        article(article_found, &Pages::new(Arc::new(vec![reply])), &entry(), "", Shanghai, NOW)
    }

    #[test]
    fn what_the_adapter_found_comes_first() {
        let article = contract::Article {
            title: found(" 自己的\u{a0}标题 ", "css:h1"),
            published: found("时间：2026-04-10 09:30", "css:.time"),
            source: found("来源：新华社", "css:.source"),
            content: Some(contract::Body::At(contract::Place {
                reply: "page".into(),
                css: "div.TRS_Editor, #zoom".into(),
            })),
            fields: vec![(
                "doc_no".into(),
                contract::Found { value: "国发〔2026〕2号".into(), origin: "css:td".into() },
            )],
            attachments: vec![contract::Attachment { url: "/attachment/0/1".into(), name: None }],
        };
        let out = read(&article, PAGE);
        assert_eq!((out.title.as_str(), out.source.as_deref()), ("自己的 标题", Some("新华社")));
        assert_eq!(out.published.as_ref().unwrap().at.to_string(), "2026-04-10T01:30:00.000Z");
        assert_eq!(out.text.lines().take(2).collect::<Vec<_>>(), ["第一段。", "第二段。"]);
        assert!((150..ENOUGH_HTML).contains(&out.html_chars), "{}", out.html_chars);
        assert_eq!(out.inline_image_count, 1);
        let files: Vec<_> =
            out.attachments.iter().map(|(url, name)| (url.as_str(), name.as_deref())).collect();
        assert_eq!(
            files,
            [
                ("https://www.gov.cn/attachment/0/1", Some("名单.xlsx")),
                ("https://www.gov.cn/a/P020260410.pdf", Some("附件1：示例.pdf")),
            ]
        );
        assert_eq!(out.fields["doc_no"], "国发〔2026〕2号");
        assert_eq!(out.fields["publisher"], "国务院");
        for (field, origin) in [
            ("title", "css:h1"),
            ("published", "css:.time"),
            ("source", "css:.source"),
            ("content", "css:#zoom"),
            ("doc_no", "css:td"),
            ("publisher", "list"),
        ] {
            assert_eq!(out.provenance[field], origin, "{field}");
        }
    }

    #[test]
    fn what_it_did_not_find_comes_from_the_page_and_then_from_the_list() {
        let out = read(&nothing(), PAGE);
        assert_eq!((out.title.as_str(), out.provenance["title"].as_str()), ("关于示例的通知", "page:title"));
        assert_eq!(
            (out.published.unwrap().date.as_str(), out.provenance["published"].as_str()),
            ("2026-04-09", "list")
        );
        let out = read(
            &contract::Article {
                published: found("昨天", "css:i"),
                title: found(" ", "css:h1"),
                ..nothing()
            },
            "{}",
        );
        assert_eq!((out.title.as_str(), out.provenance["title"].as_str()), ("列表标题…", "list"));
        assert_eq!(out.provenance["published"], "list");
    }

    #[test]
    fn html_of_the_adapters_own_is_read_the_same_way() {
        let html = "<p>甲</p><p>乙<img src=x></p><a href=f.docx title=说明.docx>附件</a>";
        let content = Some(contract::Body::Html(contract::Found {
            value: html.into(),
            origin: "json:data.content".into(),
        }));
        let out = read(&contract::Article { content, ..nothing() }, "{}");
        assert_eq!(
            (out.text.as_str(), out.html_chars, out.inline_image_count),
            ("甲\n乙\n附件", html.chars().count(), 1)
        );
        assert_eq!(out.attachments[0].0.as_str(), "https://www.gov.cn/a/f.docx");
        assert_eq!(out.attachments[0].1.as_deref(), Some("说明.docx"));
        assert_eq!(out.provenance["content"], "json:data.content");
    }

    #[test]
    fn a_place_that_cannot_be_read_says_why() {
        for (reply, css, words) in
            [("other", "p", "no reply is tagged `other`"), ("page", "p[", "bad selector `p[`")]
        {
            let content = Some(contract::Body::At(contract::Place { reply: reply.into(), css: css.into() }));
            let out = read(&contract::Article { content, ..nothing() }, PAGE);
            assert!(out.provenance["content"].contains(words));
            assert!(out.text.is_empty());
        }
    }
}
