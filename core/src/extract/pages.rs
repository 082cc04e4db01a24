//! The replies of one turn, decoded and parsed at most once each.
//!
//! Decides which page a name means and what its links are relative to. Lives on one thread, for one turn.

use std::borrow::Cow;
use std::cell::OnceCell;
use std::sync::Arc;

use url::Url;

use super::charset;
use super::dom::{Budget, Doc};
use super::select::{self, SelectError};
use super::text;
use crate::adapter::contract::{HtmlPage, Query, Reply, Table};

/// The replies of one turn.
pub struct Pages {
    replies: Arc<Vec<Reply>>,
    docs: Vec<OnceCell<Doc>>,
    /// Asked for once per link, and a page without `<base>` has to be searched to its end.
    base: OnceCell<Option<Url>>,
    budget: Budget,
}

impl std::fmt::Debug for Pages {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_list()
            .entries(self.replies.iter().map(|reply| (&reply.tag, &reply.url, reply.status)))
            .finish()
    }
}

impl Pages {
    /// Nothing is decoded or parsed until it is asked for.
    pub fn new(replies: Arc<Vec<Reply>>) -> Pages {
        let docs = replies.iter().map(|_| OnceCell::new()).collect();
        Pages { replies, docs, base: OnceCell::new(), budget: Budget::default() }
    }

    /// For each match of `row`, or once for the whole page, one cell per query.
    pub fn select(
        &self,
        page: &HtmlPage,
        row: Option<&str>,
        queries: &[Query],
    ) -> Result<Table, SelectError> {
        self.with(page, |doc| select::select(doc, row, queries))?
    }

    /// The readable text of a page.
    pub fn text(&self, page: &HtmlPage) -> Result<String, SelectError> {
        self.with(page, |doc| doc.root().map(|root| text::html_to_text(*root)).unwrap_or_default())
    }

    /// What links are relative to: the address of the last reply, or its `<base href>` where it is HTML.
    pub fn base(&self) -> Option<Url> {
        self.base_of_last().cloned()
    }

    /// A link as an absolute address, or none when it does not lead to a document on the web.
    pub fn resolve(&self, fallback_base: &str, link: &str) -> Option<Url> {
        match self.base_of_last() {
            Some(base) => resolve(Some(base), link),
            None => resolve(Url::parse(fallback_base).ok().as_ref(), link),
        }
    }

    /// The last reply: the page of a document.
    pub fn last(&self) -> Option<&Reply> {
        self.replies.last()
    }

    /// Whether some of a page's markup was left out, and why; for the log.
    pub fn cuts(&self) -> Vec<String> {
        let cut = |(reply, doc): (&Reply, &OnceCell<Doc>)| {
            let cut = doc.get()?.cut?;
            Some(format!("{}: not all of its markup was read, it has {cut}", reply.url))
        };
        self.replies.iter().zip(&self.docs).filter_map(cut).collect()
    }

    /// The tree of a reply.
    pub(crate) fn doc(&self, tag: &str) -> Result<&Doc, SelectError> {
        match self.replies.iter().position(|reply| reply.tag == tag) {
            Some(at) => Ok(self.doc_at(at)),
            None => Err(SelectError::Reply { tag: tag.chars().take(100).collect(), known: self.known() }),
        }
    }

    /// What the links of a reply are relative to.
    pub(crate) fn base_of(&self, tag: &str) -> Option<Url> {
        let at = self.replies.iter().position(|reply| reply.tag == tag)?;
        let own = Url::parse(&self.replies[at].url).ok()?;
        Some(base_of(self.doc_at(at), own))
    }

    /// The last reply that is a page, when there is one, with its text and its address.
    pub(crate) fn last_read(&self) -> Option<(&Doc, Cow<'_, str>, &str)> {
        let at = (0..self.replies.len()).rev().find(|at| self.looks_like_html(*at))?;
        let reply = &self.replies[at];
        let text = charset::decode(&reply.body, header(reply, "content-type")).text;
        Some((self.doc_at(at), text, &reply.url))
    }

    fn base_of_last(&self) -> Option<&Url> {
        let find = || {
            let last = self.replies.len().checked_sub(1)?;
            let own = Url::parse(&self.replies[last].url).ok()?;
            Some(if self.looks_like_html(last) { base_of(self.doc_at(last), own) } else { own })
        };
        self.base.get_or_init(find).as_ref()
    }

    fn doc_at(&self, at: usize) -> &Doc {
        self.docs[at].get_or_init(|| {
            let reply = &self.replies[at];
            let decoded = charset::decode(&reply.body, header(reply, "content-type"));
            Doc::page(&decoded.text, self.budget)
        })
    }

    /// Whether a reply is a page, by what was done with it, its header, or how it begins.
    fn looks_like_html(&self, at: usize) -> bool {
        let reply = &self.replies[at];
        let kind = header(reply, "content-type").unwrap_or_default().to_ascii_lowercase();
        let begin = reply.body.iter().position(|b| !b.is_ascii_whitespace()).unwrap_or(0);
        let markup = matches!(reply.body.get(begin), Some(b'<' | 0xef | 0xfe | 0xff));
        self.docs[at].get().is_some()
            || (markup && !kind.contains("json"))
            || (kind.contains("html") && !matches!(reply.body.get(begin), Some(b'{' | b'[')))
    }

    fn with<T>(&self, page: &HtmlPage, then: impl FnOnce(&Doc) -> T) -> Result<T, SelectError> {
        match page {
            HtmlPage::Reply(tag) => self.doc(tag).map(then),
            HtmlPage::Text(text) => Ok(then(&Doc::either(text, self.budget))),
        }
    }

    fn known(&self) -> String {
        if self.replies.is_empty() {
            return "none".into();
        }
        self.replies.iter().map(|reply| format!("`{}`", reply.tag)).collect::<Vec<_>>().join(", ")
    }
}

/// A link as an absolute http(s) address. White space around it is dropped, as is inside it what browsers drop (tabs, newlines).
pub(crate) fn resolve(base: Option<&Url>, link: &str) -> Option<Url> {
    let link = link
        .trim_matches(|c: char| c.is_whitespace() || c.is_control() || matches!(c, '\u{200b}' | '\u{feff}'));
    // A fragment alone is the page itself, not another document.
    if link.is_empty() || link.starts_with('#') {
        return None;
    }
    let url = match base {
        Some(base) => base.join(link).ok()?,
        None => Url::parse(link).ok()?,
    };
    (matches!(url.scheme(), "http" | "https") && url.has_host()).then_some(url)
}

fn base_of(doc: &Doc, own: Url) -> Url {
    let href = doc.root().and_then(|root| {
        root.descendent_elements().find_map(|element| match element.value().name() {
            "base" => element.attr("href"),
            _ => None,
        })
    });
    href.and_then(|href| resolve(Some(&own), href)).unwrap_or(own)
}

fn header<'a>(reply: &'a Reply, name: &str) -> Option<&'a str> {
    reply.headers.iter().find(|(key, _)| key.eq_ignore_ascii_case(name)).map(|(_, value)| value.as_str())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn reply(tag: &str, url: &str, kind: &str, body: &[u8]) -> Reply {
        Reply {
            tag: tag.into(),
            status: 200,
            url: url.into(),
            headers: vec![("content-type".into(), kind.into())],
            body: body.to_vec(),
        }
    }

    fn pages(replies: Vec<Reply>) -> Pages {
        Pages::new(Arc::new(replies))
    }

    fn query(css: &str) -> Query {
        Query { css: css.into(), all: false }
    }

    #[test]
    fn a_reply_is_named_by_its_tag_and_decoded_on_the_way() {
        let body = encoding_rs::GBK.encode("<meta charset=gb2312><h1>示例标题</h1>").0.into_owned();
        let pages = pages(vec![
            reply("a", "https://x.cn/", "text/html", b"<h1>a</h1>"),
            reply("b", "https://x.cn/", "text/html", &body),
        ]);
        for (tag, title) in [("a", "a"), ("b", "示例标题")] {
            let table = pages.select(&HtmlPage::Reply(tag.into()), None, &[query("h1")]).unwrap();
            assert_eq!(table.cells[0].as_ref().unwrap().value, title);
        }
        let error = pages.select(&HtmlPage::Reply("c".into()), None, &[]).unwrap_err().to_string();
        assert_eq!(error, "no reply is tagged `c`; this turn has `a`, `b`");
    }

    #[test]
    fn a_reply_is_parsed_once() {
        let pages = pages(vec![reply("a", "https://x.cn/", "text/html", b"<h1>a</h1>")]);
        let first: *const Doc = pages.doc("a").unwrap();
        pages.text(&HtmlPage::Reply("a".into())).unwrap();
        assert!(std::ptr::eq(first, pages.doc("a").unwrap()));
    }

    #[test]
    fn text_of_the_adapters_own_is_a_page_too() {
        let pages = pages(Vec::new());
        let page = HtmlPage::Text("<li><a href=1>a</a><li><a href=2>b</a>".into());
        assert_eq!(pages.select(&page, Some("li"), &[query("a::attr(href)")]).unwrap().rows, 2);
        assert_eq!(pages.text(&page).unwrap(), "a\nb");
        assert_eq!(pages.text(&HtmlPage::Text(String::new())).unwrap(), "");
    }

    #[test]
    fn links_are_relative_to_the_last_reply_or_its_base_tag() {
        let page = b"<html><head><base href='/b/'></head>";
        let html = reply("p", "https://x.cn/a/i.html", "text/html", page);
        let json = reply("j", "https://y.cn/api/l?p=1", "application/json", b"{\"a\":\"<base href='/b/'>\"}");
        for (replies, link, expected) in [
            (vec![html.clone()], "c.html", Some("https://x.cn/b/c.html")),
            (vec![html.clone()], "//z.cn/c", Some("https://z.cn/c")),
            (vec![html.clone()], " ../c.html\n", Some("https://x.cn/c.html")),
            (vec![html.clone(), json], "./c.html", Some("https://y.cn/api/c.html")),
            (vec![], "c.html", Some("https://f.cn/d/c.html")),
            (vec![html.clone()], "javascript:void(0)", None),
            (vec![html.clone()], "mailto:a@x.cn", None),
            (vec![html.clone()], "data:text/plain,x", None),
            (vec![html.clone()], "#top", None),
            (vec![html.clone()], " ", None),
            (vec![html], "http://[", None),
        ] {
            let url = pages(replies).resolve("https://f.cn/d/", link);
            assert_eq!(url.as_ref().map(Url::as_str), expected, "{link}");
        }
    }

    #[test]
    fn a_page_that_was_cut_says_so() {
        let pages = pages(vec![reply("a", "https://x.cn/", "text/html", "<div>".repeat(5000).as_bytes())]);
        assert!(pages.cuts().is_empty());
        pages.text(&HtmlPage::Reply("a".into())).unwrap();
        assert_eq!(pages.cuts().len(), 1);
        assert!(
            pages.cuts()[0].starts_with("https://x.cn/: ") && pages.cuts()[0].contains("above each other")
        );
    }
}
