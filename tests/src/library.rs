//! The policy library of gov.cn as its two search hosts show it. The documents are those of www.gov.cn; what is true of
//! each is told here, for tests that compare it with what was stored.

use std::sync::atomic::Ordering;

use crate::answer::{Answer, Ask};
use crate::athena::Athena;
use crate::govcn;
use crate::post::Head;
use crate::replica::Replica;
use crate::search_gov;
use crate::site::Site;

/// Where the documents are.
pub(crate) const DOCUMENTS: &str = "www.gov.cn";
/// The gateway and the search.
pub(crate) const HOSTS: [&str; 2] = ["sousuoht.www.gov.cn", "sousuo.www.gov.cn"];

/// Both hosts.
#[derive(Debug, Default)]
pub(crate) struct Library {
    pub(crate) athena: Athena,
}

impl Library {
    pub(crate) fn answer(&self, host: &str, documents: &Site, ask: &Ask<'_>) -> Answer {
        if ask.path == "/robots.txt" {
            let text = format!("User-agent: *\nDisallow: /admin/\n# {host}\n");
            return Answer::new(200, "text/plain; charset=utf-8", text);
        }
        if host == HOSTS[0] { self.athena.answer(documents, ask) } else { search_gov::answer(documents, ask) }
    }
}

/// What is true of one document of the library.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PolicyTruth {
    /// Its page, `https://…`.
    pub url: String,
    /// The number in its address.
    pub native_id: String,
    /// Its title.
    pub title: String,
    /// China time, `YYYY-MM-DD HH:MM:SS`.
    pub published: String,
    /// 来源, where the page names one.
    pub source: Option<String>,
    /// 发文字号.
    pub doc_no: String,
    /// 发文机关.
    pub publisher: String,
    /// 索引号.
    pub index_no: String,
    /// 主题分类.
    pub topic: String,
    /// 成文日期, `YYYY-MM-DD`.
    pub written: String,
    /// The lines of its text, names of its files last.
    pub lines: Vec<String>,
    /// Address, name and bytes of its files.
    pub files: Vec<(String, String, bytes::Bytes)>,
}

impl Replica {
    /// Every document of a column of www.gov.cn as it is now, newest first; empty where that host is not served.
    pub fn policy_truth(&self, column: usize) -> Vec<PolicyTruth> {
        let site = self.shared.world.site(DOCUMENTS);
        site.map(|site| site.rows(column, 0, u64::MAX).iter().map(|head| truth(site, head)).collect())
            .unwrap_or_default()
    }

    /// The gateway's public key as a site file names it: SPKI DER in base64.
    pub fn athena_public_key(&self) -> String {
        crate::athena::public_key()
    }

    /// From now on the gateway knows another code, and refuses the one it gave before.
    pub fn rotate_athena_code(&self) {
        self.shared.world.library.athena.rotate();
    }

    /// The gateway takes another code after every so many list pages; 0: never.
    pub fn athena_rotates_every(&self, lists: u64) {
        self.shared.world.library.athena.rotates_every.store(lists, Ordering::SeqCst);
    }
}

fn truth(site: &Site, head: &Head) -> PolicyTruth {
    let facts = govcn::facts(site, head);
    let path = site.family.post_path(site, head);
    let directory = &path[..path.rfind('/').map_or(0, |at| at + 1)];
    let files: Vec<_> = site
        .files(head)
        .iter()
        .map(|file| {
            let url = format!("https://{DOCUMENTS}{directory}{}", govcn::file_link(head, file));
            (url, file.name(), file.bytes())
        })
        .collect();
    let (_, body) = govcn::page(site, head);
    let lines = body.split("</p>").map(text_of).chain(files.iter().map(|(_, name, _)| name.clone()));
    PolicyTruth {
        url: format!("https://{DOCUMENTS}{path}"),
        native_id: head.id.to_string(),
        title: head.title.clone(),
        published: head.at.format("%Y-%m-%d %H:%M:%S").to_string(),
        // Formal documents have no such line.
        source: (head.column != 0).then(|| head.source.clone()),
        doc_no: facts.doc_no,
        publisher: facts.issuer.to_owned(),
        index_no: facts.index_no,
        topic: facts.topic,
        written: facts.written.format("%Y-%m-%d").to_string(),
        lines: lines.filter(|line| !line.is_empty()).collect(),
        files,
    }
}

/// A paragraph that the generator wrote, without its tags.
fn text_of(html: &str) -> String {
    let mut text = String::new();
    for piece in html.split('<') {
        text.push_str(piece.split_once('>').map_or(piece, |(_, text)| text));
    }
    let entities = [("&lt;", "<"), ("&gt;", ">"), ("&quot;", "\""), ("&amp;", "&")];
    entities.iter().fold(text, |text, (entity, plain)| text.replace(entity, plain)).trim().to_owned()
}
