//! What an adapter may answer: pure checks of the values that came out of the sandbox.
//!
//! Values that break the contract fail the turn. A row or attachment whose link is broken is a
//! fact of life on real pages: it is left out with a remark, unless no row is left.

use serde_json::Value;
use url::Url;

use super::contract::{About, Article, Attachment, Body, Entry, Failure, Found, Page, Request};
use super::turn::Step;

/// Requests in one turn; what needs more takes another turn.
const MAX_REQUESTS: usize = 4;
/// Rows of one list page. Real ones have 10 to 300; a whole archive in one JSON some thousands.
const MAX_ENTRIES: usize = 10_000;
/// A title, a source, any named value: generous, as some sites put a whole abstract there.
const MAX_VALUE: usize = 64 * 1024;
/// Named values of one row or document, headers of one request.
const MAX_FIELDS: usize = 64;
/// An address: browsers and servers stop about here.
const MAX_URL: usize = 8 * 1024;
/// A tag, a field's name, an origin, an identifier.
const MAX_NAME: usize = 1024;
/// The opaque place of the next page: stored in a row of the queue.
const MAX_CURSOR: usize = 4 * 1024;
/// Cookies, tokens, keys: stored in a row of the queue.
const MAX_SESSION: usize = 64 * 1024;
/// A form or a query.
const MAX_REQUEST_BODY: usize = 1 << 20;
/// Files of one document; a gazette issue has dozens.
const MAX_ATTACHMENTS: usize = 1000;
/// Words of a failure: shown and stored.
const MAX_REASON: usize = 2 * 1024;
/// A JSON Schema of settings.
const MAX_SCHEMA: usize = 1 << 20;
/// A day: no politeness needs more between two requests.
const MAX_INTERVAL: u32 = 86_400;
/// Remarks of one turn that are worth a line each.
const MAX_REMARKS: usize = 10;

type Verdict<T = ()> = Result<T, String>;

/// What is wrong with a step.
#[derive(Debug)]
pub(super) enum Breach {
    /// It breaks the contract.
    Contract(String),
    /// It keeps to it, and none of its rows can be used: that is the page's fault or the settings', not the adapter's.
    Rows(String),
}

impl From<String> for Breach {
    fn from(words: String) -> Breach {
        Breach::Contract(words)
    }
}

/// Checks a step; relative links are relative to `base`. Also what was left out, in words.
pub(super) fn step(step: Step, base: &str) -> Result<(Step, Vec<String>), Breach> {
    let base = Url::parse(base).ok();
    let mut remarks = Vec::new();
    let step = match step {
        Step::Fetch(requests) => {
            check_requests(&requests, base.as_ref())?;
            Step::Fetch(requests)
        }
        Step::Page(page) => Step::Page(check_page(page, base.as_ref(), &mut remarks)?),
        Step::Article(article) => Step::Article(check_article(article, base.as_ref(), &mut remarks)?),
    };
    Ok((step, remarks))
}

/// Checks what is to be handed over to the next turn.
pub(super) fn session(session: &[u8]) -> Verdict {
    within("session", session.len(), MAX_SESSION)
}

/// Cuts the words of a failure to what may be shown.
pub(super) fn failure(failure: Failure) -> Failure {
    let cut = |words: String| -> String {
        words[..words.floor_char_boundary(MAX_REASON)]
            .chars()
            .map(|c| if c.is_control() { ' ' } else { c })
            .collect()
    };
    match failure {
        Failure::Config(words) => Failure::Config(cut(words)),
        Failure::Shape(words) => Failure::Shape(cut(words)),
        Failure::Refused(words) => Failure::Refused(cut(words)),
        Failure::Stale(words) => Failure::Stale(cut(words)),
        Failure::Gone => Failure::Gone,
    }
}

/// Checks what an adapter says of itself; gives the parsed schema, or the bad field and why.
pub(super) fn about(about: &About) -> Result<Value, (&'static str, String)> {
    if !is_name(&about.name) {
        return Err((
            "name",
            format!("{:?} is not 1–64 lower-case letters, digits and hyphens", short(&about.name)),
        ));
    }
    if about.version.is_empty() || about.version.len() > 64 || about.version.contains(char::is_control) {
        return Err(("version", format!("{:?}", short(&about.version))));
    }
    if about.default_interval > MAX_INTERVAL {
        return Err(("default-interval", format!("{} s is more than a day", about.default_interval)));
    }
    within("hosts", about.hosts.len(), MAX_FIELDS).map_err(|reason| ("hosts", reason))?;
    if let Some(host) = about.hosts.iter().find(|host| !is_host_pattern(host)) {
        let why = "is not `site`, `https://host[:port]` or `https://*.domain`";
        return Err(("hosts", format!("{:?} {why}", short(host))));
    }
    within("config-schema", about.config_schema.len(), MAX_SCHEMA)
        .map_err(|reason| ("config-schema", reason))?;
    let schema: Value = serde_json::from_str(&about.config_schema)
        .map_err(|error| ("config-schema", format!("not JSON: {error}")))?;
    if !schema.is_object() && !schema.is_boolean() {
        return Err(("config-schema", "a JSON Schema is an object".into()));
    }
    Ok(schema)
}

/// `yaml-css`, `gkmlpt`, …
pub(super) fn is_name(name: &str) -> bool {
    (1..=64).contains(&name.len())
        && name.bytes().all(|b| b.is_ascii_lowercase() || b.is_ascii_digit() || b == b'-')
        && !name.starts_with('-')
        && !name.ends_with('-')
}

/// `site`, `*`, `host`, `https://host[:port]`, `https://*.domain`. Grants are matched by the gate; here only the form.
pub(super) fn is_host_pattern(pattern: &str) -> bool {
    if pattern == "site" || pattern == "*" {
        return true;
    }
    if pattern.is_empty()
        || pattern.len() > 260
        || pattern.contains(|c: char| c.is_control() || c.is_whitespace())
    {
        return false;
    }
    let (scheme, rest) = pattern.split_once("://").unwrap_or(("https", pattern));
    let host = rest.strip_prefix("*.").unwrap_or(rest);
    if !matches!(scheme, "http" | "https") || host.contains(['*', '/', '@', '?', '#', '\\']) {
        return false;
    }
    Url::parse(&format!("{scheme}://{host}/")).is_ok_and(|url| url.has_host())
}

fn check_requests(requests: &[Request], base: Option<&Url>) -> Verdict {
    if requests.is_empty() {
        return Err("asks for a fetch of nothing".into());
    }
    if requests.len() > MAX_REQUESTS {
        return Err(format!("asks for {} requests in one turn, {MAX_REQUESTS} are allowed", requests.len()));
    }
    for (index, request) in requests.iter().enumerate() {
        name("request.tag", &request.tag)?;
        if requests[..index].iter().any(|other| other.tag == request.tag) {
            return Err(format!("two requests have the tag {:?}", short(&request.tag)));
        }
        address(&request.url)?;
        let url = resolve(base, &request.url)
            .ok_or_else(|| format!("request.url {:?} is not an address", short(&request.url)))?;
        if !matches!(url.scheme(), "http" | "https") {
            return Err(format!("request.url {:?}: only http and https are fetched", short(&request.url)));
        }
        within("request.body", request.body.as_ref().map_or(0, Vec::len), MAX_REQUEST_BODY)?;
        within("request.headers", request.headers.len(), MAX_FIELDS)?;
        for (key, value) in &request.headers {
            within("request header", key.len() + value.len(), MAX_URL)?;
            if http::HeaderName::from_bytes(key.as_bytes()).is_err()
                || http::HeaderValue::from_str(value).is_err()
            {
                return Err(format!("request header {:?} is not a header", short(key)));
            }
        }
    }
    Ok(())
}

fn check_page(mut page: Page, base: Option<&Url>, remarks: &mut Vec<String>) -> Result<Page, Breach> {
    within("page.entries", page.entries.len(), MAX_ENTRIES)?;
    if let Some(next) = &page.next {
        within("page.next", next.len(), MAX_CURSOR)?;
        no_nul("page.next", next)?;
    }
    page.entries.iter().try_for_each(check_entry)?;
    let rows = page.entries.len();
    page.entries.retain(|entry| keep("row", &entry.url, base, remarks));
    if rows > 0 && page.entries.is_empty() {
        let why = format!("none of the {rows} rows has a usable address: {}", remarks.join("; "));
        return Err(Breach::Rows(why));
    }
    Ok(page)
}

fn check_entry(entry: &Entry) -> Verdict {
    value("entry.title", &entry.title)?;
    entry.published.as_deref().map_or(Ok(()), |text| value("entry.published", text))?;
    entry.native_id.as_deref().map_or(Ok(()), |text| name("entry.native-id", text))?;
    within("entry.fields", entry.fields.len(), MAX_FIELDS)?;
    for (key, text) in &entry.fields {
        name("entry.fields", key)?;
        value("entry.fields", text)?;
    }
    Ok(())
}

fn check_article(mut article: Article, base: Option<&Url>, remarks: &mut Vec<String>) -> Verdict<Article> {
    for (what, part) in [
        ("article.title", &article.title),
        ("article.published", &article.published),
        ("article.source", &article.source),
    ] {
        part.as_ref().map_or(Ok(()), |part| found(what, part))?;
    }
    match &article.content {
        // Its size is that of the whole answer, which the sandbox caps; the parser copes with the rest.
        Some(Body::Html(part)) => within("article.content", part.origin.len(), MAX_NAME)?,
        Some(Body::At(place)) => {
            name("article.content", &place.reply)?;
            value("article.content", &place.css)?;
        }
        None => {}
    }
    within("article.fields", article.fields.len(), MAX_FIELDS)?;
    for (key, part) in &article.fields {
        name("article.fields", key)?;
        found("article.fields", part)?;
    }
    within("article.attachments", article.attachments.len(), MAX_ATTACHMENTS)?;
    for Attachment { name: shown, .. } in &article.attachments {
        shown.as_deref().map_or(Ok(()), |text| value("attachment.name", text))?;
    }
    article.attachments.retain(|file| keep("attachment", &file.url, base, remarks));
    Ok(article)
}

/// Whether a link of a page can be an address at all. Other schemes pass: who reads the link
/// knows what to do with `javascript:`.
fn keep(what: &str, link: &str, base: Option<&Url>, remarks: &mut Vec<String>) -> bool {
    let good = address(link).is_ok() && resolve(base, link).is_some();
    if !good && remarks.len() < MAX_REMARKS {
        remarks.push(format!("{what} left out, its link {:?} is not an address", short(link)));
    }
    good
}

fn resolve(base: Option<&Url>, link: &str) -> Option<Url> {
    match base {
        Some(base) => base.join(link.trim()).ok(),
        None => Url::parse(link.trim()).ok(),
    }
}

fn address(text: &str) -> Verdict {
    if text.trim().is_empty() {
        return Err("an address is empty".into());
    }
    within("address", text.len(), MAX_URL)?;
    no_nul("address", text)
}

fn found(what: &str, part: &Found) -> Verdict {
    value(what, &part.value)?;
    within(what, part.origin.len(), MAX_NAME)?;
    no_nul(what, &part.origin)
}

fn value(what: &str, text: &str) -> Verdict {
    within(what, text.len(), MAX_VALUE)?;
    no_nul(what, text)
}

fn name(what: &str, text: &str) -> Verdict {
    if text.is_empty() {
        return Err(format!("{what} is empty"));
    }
    within(what, text.len(), MAX_NAME)?;
    no_nul(what, text)
}

fn within(what: &str, size: usize, limit: usize) -> Verdict {
    if size > limit { Err(format!("{what} has a size of {size}, {limit} is allowed")) } else { Ok(()) }
}

fn no_nul(what: &str, text: &str) -> Verdict {
    if text.contains('\0') { Err(format!("{what} {:?} contains NUL", short(text))) } else { Ok(()) }
}

/// The beginning of a value, for messages.
fn short(text: &str) -> &str {
    &text[..text.floor_char_boundary(80)]
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::adapter::contract::{Expects, Method, Place};
    use proptest::prelude::*;

    const BASE: &str = "https://www.gd.gov.cn/zwgk/index.html";

    fn request(tag: &str, url: &str) -> Request {
        Request {
            tag: tag.into(),
            method: Method::Get,
            url: url.into(),
            headers: vec![],
            body: None,
            expects: Expects::Html,
        }
    }

    fn entry(url: &str, title: &str) -> Entry {
        Entry {
            url: url.into(),
            title: title.into(),
            published: None,
            native_id: None,
            pinned: false,
            fields: vec![],
        }
    }

    #[test]
    fn requests_are_few_distinct_and_http() {
        let ok = |requests: Vec<Request>| step(Step::Fetch(requests), BASE).is_ok();
        assert!(ok(vec![request("a", "index_2.html"), request("b", "//static.gd.gov.cn/x.json")]));
        assert!(!ok(vec![]));
        assert!(!ok((0..5).map(|n| request(&n.to_string(), "/")).collect()));
        assert!(!ok(vec![request("a", "/"), request("a", "/2")]));
        for url in ["", "http://", "file:///etc/passwd", "javascript:1", "https://a:99999/", "/\0"] {
            assert!(!ok(vec![request("a", url)]), "{url:?}");
        }
        let mut split = request("a", "/");
        split.headers = vec![("x".into(), "1\r\nhost: other".into())];
        assert!(!ok(vec![split]));
    }

    #[test]
    fn one_broken_link_costs_its_row_only() {
        let page = |entries| Step::Page(Page { entries, next: None });
        let (kept, remarks) = step(page(vec![entry("http://[", "a"), entry("t1.html", "b")]), BASE).unwrap();
        assert!(matches!(kept, Step::Page(page) if page.entries.len() == 1));
        assert_eq!(remarks.len(), 1);
        assert!(matches!(step(page(vec![entry("http://[", "a")]), BASE), Err(Breach::Rows(_))));
        assert!(step(page(vec![]), BASE).is_ok());
    }

    #[test]
    fn sizes_and_nul_fail_the_turn() {
        let page = |entry| step(Step::Page(Page { entries: vec![entry], next: None }), BASE);
        assert!(page(entry("t1.html", &"题".repeat(3_500_000))).is_err());
        assert!(page(entry("t1.html", "a\0b")).is_err());
        assert!(page(entry("t1.html", "正常")).is_ok());
        assert!(step(Step::Page(Page { entries: vec![], next: Some("x".repeat(5000)) }), BASE).is_err());
        assert!(session(&vec![0; MAX_SESSION + 1]).is_err());
    }

    #[test]
    fn host_patterns_have_one_of_the_known_forms() {
        for good in
            ["site", "*", "www.gov.cn", "https://www.gov.cn", "https://a.cn:8443", "https://*.gd.gov.cn"]
        {
            assert!(is_host_pattern(good), "{good}");
        }
        for bad in
            ["", "https://", "ftp://a.cn", "https://a.cn/x", "https://*", "a b", "https://u@a.cn", "*.*"]
        {
            assert!(!is_host_pattern(bad), "{bad}");
        }
    }

    fn text() -> impl Strategy<Value = String> {
        prop_oneof![any::<String>(), "https?://[^ ]{0,20}", "[\\x00-\\x20/:#?@\\[\\]]{0,12}"]
    }

    proptest! {
        #[test]
        fn no_answer_makes_the_checks_panic(
            base in text(), a in text(), b in text(), c in proptest::option::of(text()),
            bytes in proptest::option::of(any::<Vec<u8>>()), kind in 0u8..3, copies in 0usize..6,
        ) {
            let found = Found { value: a.clone(), origin: b.clone() };
            let made = match kind {
                0 => Step::Fetch((0..copies).map(|_| Request {
                    tag: a.clone(), method: Method::Post, url: b.clone(), headers: vec![(a.clone(), b.clone())],
                    body: bytes.clone(), expects: Expects::Any,
                }).collect()),
                1 => Step::Page(Page {
                    entries: (0..copies).map(|_| Entry {
                        url: a.clone(), title: b.clone(), published: c.clone(), native_id: c.clone(), pinned: true,
                        fields: vec![(b.clone(), a.clone())],
                    }).collect(),
                    next: c.clone(),
                }),
                _ => Step::Article(Article {
                    title: Some(found.clone()), published: None, source: Some(found.clone()),
                    content: Some(if copies > 2 { Body::Html(found.clone()) } else {
                        Body::At(Place { reply: a.clone(), css: b.clone() })
                    }),
                    fields: vec![(a.clone(), found)],
                    attachments: (0..copies).map(|_| Attachment { url: b.clone(), name: c.clone() }).collect(),
                }),
            };
            let _ = step(made, &base);
            let _ = failure(Failure::Shape(a.repeat(copies * 100)));
            let _ = about(&About {
                name: a.clone(), version: b.clone(), config_schema: b, hosts: vec![a, base], default_interval: 0,
            });
        }
    }
}
