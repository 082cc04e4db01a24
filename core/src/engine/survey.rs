//! The columns of a site that no adapter can name: found by looking at its pages, the nearest first, and made into a site file
//! for `yaml-css` (S2-56, S2-66).
//!
//! Every page is asked for through the gate, under the same pace and robots.txt as any crawl. The walk stays on one host, goes no
//! deeper and asks no more than it is told, and never follows a document: rows of a list lead to no further list.

use std::collections::{HashSet, VecDeque};
use std::sync::Arc;
use std::time::Duration;

use futures::FutureExt;
use serde::Serialize;
use serde_json::{Value, json};
use url::Url;

use super::Engine;
use super::discover::{Discovered, FoundColumn, site_config, site_id, slug};
use crate::config::{DEFAULT_ADAPTER, SiteConfig};
use crate::error::{Error, ErrorClass};
use crate::extract::listing::{self, Listing, Looked};
use crate::extract::{decode, normalize_url};
use crate::fetch::{Ask, Expects, Fetched, Grant, Purpose};
use crate::{Refusal, Result};

/// Pages that are looked at when nothing is said: enough for the menus of a county's site, five minutes at the usual pace.
const PAGES: u32 = 60;
/// More pages are a crawl.
const MOST_PAGES: u32 = 500;
/// Steps from the first page when nothing is said: home page, section, column.
const DEPTH: u32 = 3;
/// Deeper are documents.
const DEEPEST: u32 = 10;
/// Addresses that wait, at most.
const MOST_WAITING: usize = 20_000;
/// Files are no pages.
const FILES: &[&str] = &[
    "pdf", "doc", "docx", "xls", "xlsx", "ppt", "pptx", "wps", "ofd", "et", "zip", "rar", "7z", "gz", "jpg",
    "jpeg", "png", "gif", "bmp", "svg", "webp", "ico", "css", "js", "json", "xml", "txt", "mp3", "mp4",
    "flv", "avi", "wmv", "exe", "apk",
];

/// How far a site is looked at.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SurveyOptions {
    /// Pages that are asked for, at most: 1 to 500.
    pub pages: u32,
    /// Steps from the first page, at most: 0 to 10.
    pub depth: u32,
    /// The walk ends after this time with what it has.
    pub within: Option<Duration>,
}

impl Default for SurveyOptions {
    fn default() -> Self {
        SurveyOptions { pages: PAGES, depth: DEPTH, within: None }
    }
}

/// How a walk over a site went.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, schemars::JsonSchema)]
pub struct Walked {
    /// Pages that were read.
    pub pages: u32,
    /// Pages that could not be read, or may not: robots.txt, errors, other hosts behind a redirect.
    pub failed: u32,
    /// Addresses that were found and not asked for any more: there may be more columns.
    pub left: u32,
}

impl Engine {
    /// Looks at the pages of a site from `url` on, and proposes a column for each list of documents that it finds. Nothing is stored
    /// but what is known of its host.
    pub async fn survey(&self, url: &Url, options: SurveyOptions) -> Result<Discovered> {
        for (field, given, least, most) in
            [("pages", options.pages, 1, MOST_PAGES), ("depth", options.depth, 0, DEEPEST)]
        {
            if !(least..=most).contains(&given) {
                let fix = format!("write {least} to {most}");
                return Err(Refusal::invalid(field, format!("{given} is not possible"), fix).into());
            }
        }
        let mut first = url.clone();
        first.set_fragment(None);
        let mut walk = Walk::new(first.clone(), options);
        let late = async {
            match options.within {
                Some(within) => tokio::time::sleep(within).await,
                None => std::future::pending().await,
            }
        }
        .shared();
        while let Some((page, depth)) = walk.next() {
            let looked = tokio::select! {
                looked = self.look_at(&page, walk.host.as_deref()) => looked,
                () = late.clone() => {
                    walk.put_back(page, depth);
                    break;
                }
            };
            match looked {
                Ok((at, looked)) => walk.read(at, depth, looked),
                // A site that cannot be read at all is an error; a page of it is not.
                Err(error) if walk.pages == 0 && walk.is_over() => {
                    self.inner.gate.flush().await;
                    return Err(error);
                }
                Err(error) => {
                    tracing::debug!(%page, %error, "a page was passed over");
                    walk.failed += 1;
                }
            }
        }
        self.inner.gate.flush().await;
        walk.end(&first)
    }

    /// The columns of a site: by the adapter that was named; else by the one that knows its platform, and where that finds nothing, by
    /// looking at its pages.
    pub async fn find_columns(
        &self,
        adapter: Option<&str>,
        url: &Url,
        options: SurveyOptions,
    ) -> Result<Discovered> {
        match adapter {
            Some(adapter) if adapter != DEFAULT_ADAPTER => self.discover(adapter, url).await,
            Some(_) => self.survey(url, options).await,
            None => match self.discover(KNOWING, url).await {
                Err(Error::List {
                    class: ErrorClass::Shape | ErrorClass::Gone | ErrorClass::Server, ..
                })
                | Err(Error::Adapter(_) | Error::Config(_)) => self.survey(url, options).await,
                found => found,
            },
        }
    }

    async fn look_at(&self, url: &Url, host: Option<&str>) -> Result<(Url, Looked)> {
        let (_, ask) = self.ask_by_hand(url.clone()).await?;
        let mut ask = Ask { purpose: Purpose::List, expects: Expects::Html, ..ask };
        if let Some(host) = host {
            let only = [host.to_owned()];
            ask.grant = Arc::new(Grant::new("discover", &only, &only, &only));
        }
        let page = self.inner.gate.fetch(&ask).await?;
        if !(200..300).contains(&page.status) || !is_html(&page) {
            let message = format!("{} answered {} and is no page to look at", page.url, page.status);
            let class = match page.status {
                500.. => ErrorClass::Server,
                200..300 => ErrorClass::Shape,
                _ => ErrorClass::Gone,
            };
            return Err(Error::List { target: url.to_string(), class, message });
        }
        let (zone, now) = (self.inner.settings.zone, self.inner.settings.clock.now());
        super::blocking(move || {
            let text = decode(&page.body, page.header("content-type")).text.into_owned();
            let looked = listing::look(&text, &page.url, zone, now);
            Ok((page.url, looked))
        })
        .await
    }
}

/// The adapter that can be asked which columns a site has.
const KNOWING: &str = "gkmlpt";

fn is_html(page: &Fetched) -> bool {
    page.header("content-type").is_none_or(|kind| kind.contains("html") || kind.contains("xml"))
}

/// Where the walk has been and where it goes next. Pure.
struct Walk {
    options: SurveyOptions,
    /// The host it stays on; none: not known yet.
    host: Option<String>,
    /// Likely lists, then everything else.
    near: VecDeque<(Url, u32)>,
    far: VecDeque<(Url, u32)>,
    seen: HashSet<String>,
    documents: HashSet<Url>,
    /// By what words each page was reached.
    words: std::collections::HashMap<String, String>,
    found: Vec<(Url, Option<String>, Listing)>,
    asked: u32,
    pages: u32,
    failed: u32,
}

impl Walk {
    fn new(first: Url, options: SurveyOptions) -> Walk {
        Walk {
            options,
            host: None,
            seen: HashSet::from([key(&first)]),
            near: VecDeque::from([(first, 0)]),
            far: VecDeque::new(),
            documents: HashSet::new(),
            words: std::collections::HashMap::new(),
            found: Vec::new(),
            asked: 0,
            pages: 0,
            failed: 0,
        }
    }

    fn next(&mut self) -> Option<(Url, u32)> {
        if self.asked >= self.options.pages {
            return None;
        }
        loop {
            let (url, depth) = self.near.pop_front().or_else(|| self.far.pop_front())?;
            // Meanwhile it may have turned out to be a document.
            if !self.documents.contains(&url) {
                self.asked += 1;
                return Some((url, depth));
            }
        }
    }

    fn put_back(&mut self, url: Url, depth: u32) {
        self.near.push_front((url, depth));
    }

    fn is_over(&self) -> bool {
        self.near.is_empty() && self.far.is_empty()
    }

    fn read(&mut self, at: Url, depth: u32, looked: Looked) {
        self.pages += 1;
        // The first page may lead to another host by a redirect; from there on it stays.
        let host = self.host.get_or_insert_with(|| at.host_str().unwrap_or_default().to_owned()).clone();
        if self.pages > 1 || depth > 0 {
            self.seen.insert(key(&at));
        }
        self.documents.extend(looked.documents.iter().cloned());
        let further = looked.listing.as_ref().is_some_and(|listing| listing.pagination.is_some());
        if let Some(listing) = looked.listing
            && !self.found.iter().any(|(known, ..)| key(known) == key(&at))
        {
            self.found.push((at.clone(), looked.name, listing));
        }
        if depth >= self.options.depth {
            return;
        }
        for (url, words) in looked.links {
            let waiting = self.near.len() + self.far.len() < MOST_WAITING;
            let here = url.host_str() == Some(&host);
            if !here || !waiting || is_file(&url) || self.documents.contains(&url) {
                continue;
            }
            // The second page of a list is no other list.
            let page_number =
                words.trim().bytes().all(|byte| byte.is_ascii_digit()) && !words.trim().is_empty();
            if further && (page_number || words.contains('页')) {
                continue;
            }
            let key = key(&url);
            if !self.seen.insert(key.clone()) {
                continue;
            }
            self.words.insert(key, words);
            match looks_like_a_folder(&url) {
                true => self.near.push_back((url, depth + 1)),
                false => self.far.push_back((url, depth + 1)),
            }
        }
    }

    fn end(self, first: &Url) -> Result<Discovered> {
        let walked = Walked {
            pages: self.pages,
            failed: self.failed,
            left: u32::try_from(self.near.len() + self.far.len()).unwrap_or(u32::MAX),
        };
        let mut base = first.clone();
        if let Some(host) = &self.host {
            let _ = base.set_host(Some(host));
        }
        base.set_path("/");
        base.set_query(None);
        let mut ids = HashSet::new();
        let mut columns = Vec::new();
        for (url, name, listing) in &self.found {
            let reached = self.words.get(&key(url)).map(|words| words.trim());
            let reached = reached.filter(|words| is_name(words)).map(str::to_owned);
            let id = column_id(url, &mut ids);
            let name = name.clone().or(reached).unwrap_or_else(|| id.clone());
            columns.push(column(&id, &name, url, listing));
        }
        let settings = json!({
            "site_id": site_id(&base), "site_name": base.host_str().unwrap_or("?"),
            "base_url": base.as_str().trim_end_matches('/'), "columns": columns,
        });
        let site: SiteConfig = site_config(settings)?;
        let found = self.found.iter().zip(&site.columns).map(|((url, _, listing), column)| {
            let name = column.name.clone().unwrap_or_default();
            FoundColumn {
                id: column.column_id.clone(),
                path: name.clone(),
                name,
                post_count: None,
                is_list: true,
                jump_url: None,
                url: url.to_string(),
                titles: listing.rows.iter().take(3).map(|(title, _)| title.clone()).collect(),
                column: Some(column.clone()),
            }
        });
        Ok(Discovered { columns: found.collect(), site: site.clone(), walked: Some(walked) })
    }
}

fn column(id: &str, name: &str, url: &Url, listing: &Listing) -> Value {
    let mut column = json!({
        "column_id": id, "name": name, "list_url": url.as_str(), "list_selector": listing.selector,
    });
    if let Some(pagination) = &listing.pagination {
        column["pagination"] = json!(pagination);
    }
    column
}

/// One address however it is written.
fn key(url: &Url) -> String {
    let url = normalize_url(url);
    let text = url.as_str();
    let rest = text.split_once("://").map_or(text, |(_, rest)| rest);
    let rest = ["index.html", "index.htm", "index.shtml", "index.jhtml", "index.jsp", "index.php"]
        .iter()
        .find_map(|name| rest.strip_suffix(name).filter(|rest| rest.ends_with('/')))
        .unwrap_or(rest);
    rest.to_owned()
}

fn is_file(url: &Url) -> bool {
    let name = url.path_segments().and_then(|mut parts| parts.next_back()).unwrap_or_default();
    let ending = name.rsplit_once('.').map(|(_, ending)| ending.to_ascii_lowercase());
    ending.is_some_and(|ending| FILES.contains(&ending.as_str()))
}

/// Columns are folders, or pages without a long number in their names; documents have one.
fn looks_like_a_folder(url: &Url) -> bool {
    let name = url.path_segments().and_then(|mut parts| parts.next_back()).unwrap_or_default();
    let longest = name.split(|c: char| !c.is_ascii_digit()).map(str::len).max().unwrap_or(0);
    longest < 5 && url.query().is_none()
}

/// Words of a link that name what it leads to.
fn is_name(words: &str) -> bool {
    let count = words.chars().count();
    (2..=20).contains(&count)
        && !words.contains("更多")
        && !words.eq_ignore_ascii_case("more")
        && words.chars().any(char::is_alphabetic)
}

/// `…/xwdt/xwfb/index.html` → `xwfb`, or with more of the way when that is taken.
fn column_id(url: &Url, taken: &mut HashSet<String>) -> String {
    let parts: Vec<&str> =
        url.path_segments().into_iter().flatten().filter(|part| !part.is_empty()).collect();
    let is_page = |part: &str| part.contains('.');
    let stem = |part: &&str| part.split('.').next().unwrap_or_default().to_owned();
    let mut words: Vec<String> = match parts.split_last() {
        Some((last, folders)) if is_page(last) => {
            let stem = stem(last);
            let usual = ["index", "list", "home", "default", "node"].contains(&stem.as_str());
            let folders = folders.iter().map(|part| (*part).to_owned());
            if usual && !parts.is_empty() { folders.collect() } else { folders.chain([stem]).collect() }
        }
        _ => parts.iter().map(|part| (*part).to_owned()).collect(),
    };
    if let Some(query) = url.query() {
        words.push(query.to_owned());
    }
    for from in (0..words.len()).rev() {
        let id = slug(&words[from..].join("_"));
        if !id.bytes().all(|byte| byte.is_ascii_digit()) && taken.insert(id.clone()) {
            return id;
        }
    }
    let base = slug(&words.join("_"));
    let numbered = (1..).map(|n| if n == 1 { base.clone() } else { format!("{base}_{n}") });
    numbered.into_iter().find(|id| taken.insert(id.clone())).unwrap_or(base)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn url(text: &str) -> Url {
        Url::parse(text).unwrap()
    }

    fn page(links: &[(&str, &str)]) -> Looked {
        let links = links.iter().map(|(href, words)| (url(href), (*words).to_owned())).collect();
        Looked { links, ..Looked::default() }
    }

    #[test]
    fn the_walk_stays_on_its_host_takes_folders_first_and_ends() {
        let mut walk = Walk::new(url("https://a.cn/"), SurveyOptions { pages: 4, depth: 1, within: None });
        let (first, depth) = walk.next().unwrap();
        let looked = page(&[
            ("https://a.cn/t20260410_1234567.html", "一篇文章"),
            ("https://b.cn/", "别处"),
            ("https://a.cn/index.html", "首页"),
            ("http://a.cn/zwgk/", "公开"),
            ("https://a.cn/zwgk/index.html", "公开"),
            ("https://a.cn/x.pdf", "文件"),
            ("https://a.cn/news/", "新闻"),
            ("https://a.cn/more/", "更多"),
        ]);
        walk.read(first, depth, looked);
        let mut order = Vec::new();
        while let Some((at, depth)) = walk.next() {
            order.push((at.path().to_owned(), depth));
            walk.read(at, depth, page(&[("https://a.cn/deeper/", "更深")]));
        }
        // Four pages in all; nothing below the first step.
        assert_eq!(order, [("/zwgk/".into(), 1), ("/news/".into(), 1), ("/more/".into(), 1)]);
        let found = walk.end(&url("https://a.cn/")).unwrap();
        assert_eq!(found.walked, Some(Walked { pages: 4, failed: 0, left: 1 }));
    }

    #[test]
    fn a_document_is_not_followed_and_a_second_page_is_no_second_list() {
        let mut walk = Walk::new(url("https://a.cn/l/"), SurveyOptions::default());
        let (at, depth) = walk.next().unwrap();
        let mut looked = page(&[
            ("https://a.cn/l/a.html", "文章"),
            ("https://a.cn/l/index_2.html", "下一页"),
            ("https://a.cn/l/index_3.html", "3"),
        ]);
        looked.documents.insert(url("https://a.cn/l/a.html"));
        looked.listing = Some(Listing {
            selector: Default::default(),
            pagination: Some(Default::default()),
            rows: Vec::new(),
        });
        walk.read(at, depth, looked);
        assert!(walk.next().is_none());
    }

    #[test]
    fn columns_are_named_after_their_folders() {
        let mut taken = HashSet::new();
        for (at, id) in [
            ("https://a.cn/xwdt/xwfb/index.html", "xwfb"),
            ("https://a.cn/zwgk/xwfb/", "zwgk_xwfb"),
            ("https://a.cn/zcwj.shtml", "zcwj"),
            ("https://a.cn/col/col1234/index.html", "col1234"),
            ("https://a.cn/list/123/", "list_123"),
            ("https://a.cn/", "site"),
            ("https://a.cn/?cat=2", "cat_2"),
            ("https://a.cn/公开/", "e5_85_ac_e5_bc_80"),
        ] {
            assert_eq!(column_id(&url(at), &mut taken), id, "{at}");
        }
        assert_eq!(column_id(&url("https://a.cn/"), &mut taken), "site_2");
    }
}
