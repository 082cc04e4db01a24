//! What the generator means, before any template: what a crawler should have found. Does not look at how pages are read.

use sha2::{Digest as _, Sha256};

use crate::answer::Ask;
use crate::nfcms;
use crate::post::Head;
use crate::replica::Replica;
use crate::site::Site;

/// A post as its author wrote it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Post {
    /// The number in its address.
    pub id: u64,
    /// Its page, `https://…`.
    pub url: String,
    /// Its title.
    pub title: String,
    /// China time, `YYYY-MM-DD HH:MM:SS`.
    pub published: String,
    /// Where its page says it came from.
    pub source: String,
    /// Its text, paragraph by paragraph.
    pub paragraphs: Vec<String>,
    /// Name and sha256 of its files.
    pub files: Vec<(String, String)>,
    /// Document number, of a document library.
    pub doc_no: Option<String>,
    /// Index number, of a document library.
    pub index_no: Option<String>,
}

impl Replica {
    /// Every post of a column, newest first; nothing when there is no such column.
    pub fn posts(&self, host: &str, column: &str) -> Vec<Post> {
        let Some(site) = self.site(host) else { return Vec::new() };
        let Some(index) = site.columns.iter().position(|known| known.id == column) else { return Vec::new() };
        let (rows, _) = site.extent(index);
        site.rows(index, 0, rows).iter().map(|head| post(site, head)).collect()
    }
}

fn post(site: &Site, head: &Head) -> Post {
    let path = site.family.post_path(site, head);
    let library = site.host == "www.gd.gov.cn";
    Post {
        id: head.id,
        url: format!("https://{}{path}", site.host),
        title: head.title.clone(),
        published: head.at.format("%Y-%m-%d %H:%M:%S").to_string(),
        source: if site.host == "www.news.cn" { "新华网".to_owned() } else { head.source.clone() },
        paragraphs: paragraphs(site, head, &path),
        files: site.files(head).iter().map(|file| (file.name(), sha256(&file.bytes()))).collect(),
        doc_no: library.then(|| nfcms::document_number(head)),
        index_no: library.then(|| nfcms::index_number(head)),
    }
}

/// As many of the paragraphs as its page has room for: pages are filled up to their size.
fn paragraphs(site: &Site, head: &Head, path: &str) -> Vec<String> {
    let headers = http::HeaderMap::new();
    let ask = Ask { path, query: None, empty_list: false, headers: &headers, posted: None };
    let page = site.answer(&ask).body;
    let page = String::from_utf8_lossy(&page);
    let html = head.body(site.seed, &site.host, site.article_bytes.1 as usize);
    html.split_inclusive("</p>\n").take_while(|paragraph| page.contains(*paragraph)).map(plain).collect()
}

/// Without the generator's own tags and entities.
fn plain(html: &str) -> String {
    let mut text = String::new();
    let mut in_tag = false;
    for c in html.chars() {
        match c {
            '<' => in_tag = true,
            '>' => in_tag = false,
            c if !in_tag => text.push(c),
            _ => {}
        }
    }
    let text = text.replace("&lt;", "<").replace("&gt;", ">").replace("&quot;", "\"").replace("&#39;", "'");
    text.replace("&amp;", "&").trim().to_owned()
}

fn sha256(bytes: &[u8]) -> String {
    Sha256::digest(bytes).iter().map(|byte| format!("{byte:02x}")).collect()
}
