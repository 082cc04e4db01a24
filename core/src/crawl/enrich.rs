//! What the program around the library adds to an article before it is stored (§2.4).

use std::sync::Arc;
use std::time::Duration;

use futures::future::BoxFuture;

use crate::model::Article;

/// How long one article may take: a crawl must not wait for somebody else's service for ever.
const LIMIT: Duration = Duration::from_secs(30);

/// Adds to articles: a classification, a summary, a translation.
///
/// It gets the article as it will be stored and answers with fields for its `metadata`; the article's own fields have
/// their provenance and are not its to change. A failure, or no answer within 30 seconds, is logged and stored as
/// `enrich_error`; the article is stored all the same.
///
/// ```
/// use dibao::crawl::Enricher;
/// use dibao::model::Article;
/// use futures::future::BoxFuture;
///
/// struct Length;
/// impl Enricher for Length {
///     fn enrich<'a>(&'a self, article: &'a Article) -> BoxFuture<'a, Result<Vec<(String, String)>, String>> {
///         let length = article.content_text.chars().count();
///         Box::pin(async move { Ok(vec![("length".to_owned(), length.to_string())]) })
///     }
/// }
/// let _engine = dibao::Engine::builder().enricher(Length);
/// ```
pub trait Enricher: Send + Sync + 'static {
    /// Further fields of an article. Dropping the future must be safe.
    fn enrich<'a>(&'a self, article: &'a Article) -> BoxFuture<'a, Result<Vec<(String, String)>, String>>;
}

/// Asks each of them.
pub(super) async fn enrich(enrichers: &[Arc<dyn Enricher>], article: &mut Article) {
    for enricher in enrichers {
        let added = match tokio::time::timeout(LIMIT, enricher.enrich(article)).await {
            Ok(added) => added,
            Err(_) => Err(format!("no answer within {} s", LIMIT.as_secs())),
        };
        match added {
            Ok(fields) => article.metadata.extend(fields),
            Err(error) => {
                tracing::warn!(url = %article.url, %error, "an article could not be enriched");
                article.metadata.insert("enrich_error".to_owned(), error);
            }
        }
    }
}
