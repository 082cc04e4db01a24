//! The selector workbench: what unsaved settings would make of a target's list as it is now, or of a stored page.

use serde_json::{Map, Value};

use super::Engine;
use super::request::{CrawlRequest, Of};
use crate::Result;
use crate::crawl::{self, Preview, Reread};
use crate::model::{Article, Entry};
use crate::refusal::Refusal;

/// Rows of a list that are read for a preview: the first page, as a rule.
const ROWS: u32 = 20;

impl Engine {
    /// The rows of a target's list, as read now under these settings in place of the stored override; politely, through the
    /// gate. Nothing is stored.
    pub async fn preview_rows(&self, target: &str, over: Option<Map<String, Value>>) -> Result<Preview> {
        let (site, mut row) = self.stored_target(target).await?;
        row.parser_override = over.map(Value::Object);
        let preview = self.crawl_unstored(site, row).max_items(ROWS).force(true).preview().await;
        self.inner.gate.flush().await;
        preview
    }

    /// What a stored page gives under these settings, with the article as it is stored. Nothing is fetched or stored.
    pub async fn preview_page(
        &self,
        target: &str,
        over: Option<Map<String, Value>>,
        article: i64,
    ) -> Result<(Reread, Article)> {
        let (site, mut row) = self.stored_target(target).await?;
        let found = self.inner.store.article(article).await?.filter(|found| found.target == target);
        let Some(found) = found else {
            return Err(Refusal::not_found("article", article).into());
        };
        let Some(path) = &found.raw_html_path else {
            return Err(Refusal::not_found("page of article", article).into());
        };
        let page = self.inner.files.read(path).await?;
        row.parser_override = over.map(Value::Object);
        let request = CrawlRequest::new(self.clone(), Of::Code(String::new()));
        let ctx = self.context(&request, site, row).await?;
        let entry = Entry {
            id: found.id,
            url: found.url.clone(),
            url_hash: found.url_hash.clone(),
            title: String::new(),
            published_raw: None,
            published: None,
            native_id: found.native_post_id.clone(),
            pinned: false,
            fields: Vec::new(),
        };
        Ok((crawl::reread(&ctx, &entry, page).await?, found))
    }
}
