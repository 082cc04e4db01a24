//! Articles at the desk: one with all that is known of it, and removing them with their files.

use serde_json::json;

use super::Desk;
use crate::desk::Department;
use crate::model::Article;
use crate::store::ArticleFiles;
use crate::{Refusal, Result};

/// Articles that are removed by one call.
const MOST: usize = 1_000;

impl Desk {
    /// One article with its attachments and its department.
    pub async fn article(&self, id: i64) -> Result<(Article, Option<Department>)> {
        match self.store().article_row(id).await? {
            Some(found) => Ok(found),
            None => Err(Refusal::not_found("article", id).into()),
        }
    }

    /// Removes an article with its files. A file that another article has too stays for that one.
    pub async fn delete_article(&self, id: i64) -> Result<()> {
        self.delete_articles(vec![id]).await.map(|_| ())
    }

    /// Removes articles with their files, all of them or none: at most 1,000. Answers how many.
    pub async fn delete_articles(&self, mut ids: Vec<i64>) -> Result<u64> {
        ids.sort_unstable();
        ids.dedup();
        let subject = match ids.as_slice() {
            [one] => one.to_string(),
            many => format!("{} articles", many.len()),
        };
        let entry = self.entry("article.delete", subject, json!({ "ids": ids }));
        let done = async {
            if ids.is_empty() || ids.len() > MOST {
                let message = format!("{} articles", ids.len());
                return Err(Refusal::invalid("ids", message, format!("name 1 to {MOST}")).into());
            }
            let gone = self.store().drop_articles(ids, entry.clone()).await?;
            let count = gone.len() as u64;
            self.remove_files(gone).await?;
            Ok(count)
        }
        .await;
        self.settle(entry, done).await
    }

    /// The files of articles whose rows are gone.
    pub(super) async fn remove_files(&self, gone: Vec<ArticleFiles>) -> Result<()> {
        let (mut paths, mut blobs) = (Vec::new(), Vec::new());
        for article in gone {
            paths.extend(article.paths);
            blobs.extend(article.blobs);
        }
        blobs.sort_unstable();
        blobs.dedup();
        let unused = self.store().unused_blobs(blobs).await?;
        Ok(self.engine.inner.files.remove(paths, unused).await?)
    }
}
