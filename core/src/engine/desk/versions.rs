//! Looking at the page of a stored article again: what it has become is kept beside what it was (I24). The article stays as it was
//! read; whether it should be read anew is for people to say.

use serde_json::json;
use sha2::{Digest, Sha256};
use tokio::io::AsyncWriteExt;
use url::Url;

use super::Desk;
use crate::desk::{LookedAgain, PageVersion};
use crate::engine::{CrawlRequest, Of};
use crate::error::{Error, ErrorClass};
use crate::fetch::{Expects, Fetched, Purpose};
use crate::store::sanitize::hex;
use crate::store::{Blob, StoreError, layout};
use crate::{Refusal, Result};

impl Desk {
    /// What the page of an article was at other times, the oldest first; none: it never changed.
    pub async fn page_versions(&self, id: i64) -> Result<Vec<PageVersion>> {
        self.article(id).await?;
        Ok(self.store().page_versions(id).await?)
    }

    /// The bytes of one of them.
    pub async fn page_version(&self, id: i64, n: i64) -> Result<Vec<u8>> {
        let version = self.page_versions(id).await?.into_iter().find(|version| version.n == n);
        let version = version.ok_or_else(|| Refusal::not_found("version", n))?;
        Ok(self.engine.inner.files.read(&layout::blob_path(&version.sha256)).await?)
    }

    /// Asks for the page of an article again, through the gate as any crawl does, and keeps it if it has changed: the first and the
    /// newest, ten at most.
    pub async fn look_again(&self, id: i64) -> Result<LookedAgain> {
        let entry = self.entry("article.fetch", id.to_string(), json!(null));
        let done = async {
            let (article, _) = self.article(id).await?;
            if article.metadata.get("has_page").is_some_and(|has| has == "false") {
                let fix = "it came with its list; crawl its target again";
                return Err(Refusal::invalid("id", "the article has no page of its own", fix).into());
            }
            let page = self.page_now(&article.target, &article.url).await?;
            let versions = self.store().page_versions(id).await?;
            let files = &self.engine.inner.files;
            // Before there is a second version, the first one is where the article left it.
            let first = match (&versions.is_empty(), &article.raw_html_path) {
                (true, Some(path)) => Some(files.read(path).await?),
                _ => None,
            };
            let known = match &first {
                Some(bytes) => Some(hex(&Sha256::digest(bytes))),
                None => versions.last().map(|version| version.sha256.clone()),
            };
            if known.is_some_and(|known| known == hex(&Sha256::digest(&page.body))) {
                return Ok(LookedAgain { changed: false, versions });
            }
            let mut new = Vec::new();
            if let Some(bytes) = first {
                new.push((article.fetched_at, self.keep(&bytes).await?));
            }
            new.push((self.now(), self.keep(&page.body).await?));
            let detail = json!({ "sha256": new.last().map(|(_, blob)| &blob.sha256) });
            let kept = crate::store::AuditEntry { detail, ..entry.clone() };
            let gone = self.store().add_page_versions(id, new, kept).await?;
            let unused = self.store().unused_blobs(gone).await?;
            files.remove(Vec::new(), unused).await?;
            Ok(LookedAgain { changed: true, versions: self.store().page_versions(id).await? })
        }
        .await;
        self.settle(entry, done).await
    }

    async fn keep(&self, bytes: &[u8]) -> Result<Blob> {
        let mut blob = self.engine.inner.files.blob().await?;
        let failed = |error: std::io::Error| StoreError::Lost { reason: error.to_string() };
        blob.write_all(bytes).await.map_err(failed)?;
        Ok(blob.finish().await?)
    }

    /// The page as it is now, under the rules of its target.
    async fn page_now(&self, target: &str, url: &str) -> Result<Fetched> {
        let (site, row) = self.engine.stored_target(target).await?;
        let url = Url::parse(url)
            .map_err(|error| Refusal::invalid("url", error.to_string(), "the article has no web address"))?;
        let (site_id, target_id) = (site.id, row.id);
        let request = CrawlRequest::new(self.engine.clone(), Of::Code(String::new()));
        let ctx = self.engine.context(&request, site, row).await?;
        let ask = ctx.ask(Purpose::Detail, url.clone(), Expects::Html);
        let fetched = ctx.gate.fetch(&ask).await;
        ctx.gate.flush().await;
        let log = match &fetched {
            Ok(page) => {
                let answer = (page.status, &page.verdict, page.tier);
                ctx.log_answer(Purpose::Detail, (&page.asides, &page.hops), &page.url, page.duration, answer)
            }
            Err(error) => ctx.log_error(Purpose::Detail, &url, error),
        };
        self.engine.inner.store.log_requests(site_id, target_id, log).await?;
        let page = fetched?;
        if !(200..300).contains(&page.status) {
            let class = match page.status {
                404 | 410 => ErrorClass::Gone,
                500.. => ErrorClass::Server,
                _ => ErrorClass::Blocked,
            };
            let message = format!("{} answered {}", page.url, page.status);
            return Err(Error::Trial { target: target.to_owned(), class, message });
        }
        Ok(page)
    }
}
