//! What the generator knows of each post, for tests that compare it with what was stored.

use anyhow::Context as _;
use sha2::{Digest as _, Sha256};

use super::{facts, is_link, page, places};
use crate::Replica;

/// A post as it was published.
#[derive(Debug, Clone)]
pub struct GkmlptPost {
    /// Its number.
    pub id: u64,
    /// The number of the column it lives in.
    pub column: String,
    /// Its title.
    pub title: String,
    /// China time, `YYYY-MM-DD HH:MM:SS`.
    pub published: String,
    /// 成文日期.
    pub written: String,
    /// 文号.
    pub doc_no: Option<String>,
    /// 索引号.
    pub index_no: Option<String>,
    /// 发布机构.
    pub publisher: Option<String>,
    /// 主题词.
    pub topic_words: Option<String>,
    /// 分类.
    pub open_category: String,
    /// 失效 or 废止.
    pub validity: Option<&'static str>,
    /// Its text, line by line; none for a post that leads out of the platform.
    pub lines: Option<Vec<String>>,
    /// Where a post that leads out of the platform leads.
    pub link: Option<String>,
    /// Its files.
    pub files: Vec<GkmlptFile>,
}

/// A file of a post.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct GkmlptFile {
    /// Its name with extension.
    pub name: String,
    /// The hash of its bytes, in hex.
    pub sha256: String,
}

impl Replica {
    /// Every post of a column of a gkmlpt host, newest first.
    pub fn gkmlpt_posts(&self, host: &str, column: &str) -> anyhow::Result<Vec<GkmlptPost>> {
        let places = places();
        let (.., mode, _) = places.iter().find(|place| place.0 == host).context("no gkmlpt host")?;
        let site = self.world().site(host).context("not served")?;
        let index = site.columns.iter().position(|known| known.id == column).context("no such column")?;
        let posts = site.rows(index, 0, u64::MAX).into_iter().map(|head| {
            let facts = facts(site, &head);
            let some = |text: String| (!text.is_empty()).then_some(text);
            let link = is_link(&head);
            let files = if link { Vec::new() } else { site.files(&head) };
            let mut files: Vec<GkmlptFile> = files
                .iter()
                .map(|file| GkmlptFile {
                    name: file.name(),
                    sha256: Sha256::digest(file.bytes()).iter().map(|byte| format!("{byte:02x}")).collect(),
                })
                .collect();
            files.sort();
            GkmlptPost {
                id: head.id,
                column: site.columns[head.column].id.to_owned(),
                published: head.at.format("%Y-%m-%d %H:%M:%S").to_string(),
                written: facts.written.format("%Y-%m-%d").to_string(),
                doc_no: some(facts.doc_no),
                index_no: some(facts.index_no),
                publisher: some(facts.publisher),
                topic_words: some(facts.keywords),
                open_category: format!("{}、{}", facts.theme, facts.genre),
                validity: facts.is_abolished.then_some("废止").or(facts.is_expired.then_some("失效")),
                lines: (!link).then(|| lines(&page::body(mode, site, &head))),
                link: link.then_some(facts.link),
                files,
                title: head.title,
            }
        });
        Ok(posts.collect())
    }
}

/// The text of generated paragraphs: one line each, without tags.
fn lines(html: &str) -> Vec<String> {
    let line = |line: &str| {
        let mut text = String::new();
        for piece in line.split('<') {
            text.push_str(piece.split_once('>').map_or("", |(_, text)| text));
        }
        let text =
            text.replace("&lt;", "<").replace("&gt;", ">").replace("&quot;", "\"").replace("&amp;", "&");
        text.trim().to_owned()
    };
    html.lines().map(line).filter(|line| !line.is_empty()).collect()
}
