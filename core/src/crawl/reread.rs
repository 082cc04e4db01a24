//! A page that is stored, read again under other settings: nothing is fetched, nothing is stored.

use std::collections::BTreeMap;
use std::sync::Arc;

use serde::Serialize;
use url::Url;

use super::context::CrawlContext;
use super::turns::{Outcome, OwnedCall, StepError, one_turn, turn_failed};
use crate::adapter::{MAX_TURNS, Step, contract};
use crate::error::{Error, ErrorClass};
use crate::extract::{self, Extracted};
use crate::model::{Entry, Published};

/// What a stored page gives.
#[derive(Clone, Debug, Serialize, schemars::JsonSchema)]
#[non_exhaustive]
pub struct Reread {
    /// Title.
    pub title: String,
    /// When it was published.
    pub published: Option<Published>,
    /// Where the site says it came from.
    pub source: Option<String>,
    /// The text.
    pub content: String,
    /// Addresses of its files.
    pub attachments: Vec<String>,
    /// Images in the body.
    pub inline_image_count: u32,
    /// Further fields.
    pub fields: BTreeMap<String, String>,
    /// Where each field was found.
    pub provenance: BTreeMap<String, String>,
    /// The body is not the selectors': generic extraction found it.
    pub used_fallback: bool,
}

/// Drives the adapter's detail step with the stored page as the answer to whatever asks for the document.
pub(crate) async fn reread(ctx: &CrawlContext, entry: &Entry, page: Vec<u8>) -> Result<Reread, Error> {
    let failed = |error: StepError| {
        let target = ctx.target.code.clone();
        error.cause.unwrap_or(Error::Trial { target, class: error.class, message: error.message })
    };
    let row = contract::Entry {
        url: entry.url.clone(),
        title: entry.title.clone(),
        published: entry.published_raw.clone(),
        native_id: entry.native_id.clone(),
        pinned: false,
        fields: entry.fields.clone(),
    };
    let setting = extract::Setting {
        site_name: ctx.site.name.clone(),
        endings: Vec::new(),
        zone: ctx.zone,
        now: ctx.clock.now(),
        policy: extract::Policy::default(),
    };
    let known = entry.clone();
    let finish = move |step: Step, pages: &extract::Pages| match step {
        Step::Article(found) => Some(extract::article(&found, pages, &known, &setting)),
        _ => None,
    };
    let mut replies: Arc<Vec<contract::Reply>> = Arc::default();
    for _ in 0..MAX_TURNS {
        let call = OwnedCall::Detail { entry: row.clone() };
        match one_turn(ctx, call, replies.clone(), finish.clone()).await.map_err(failed)? {
            Outcome::Done(Some(extracted), _) => return Ok(shown(extracted)),
            Outcome::Done(None, _) => {
                let message = "the adapter answered a detail with a list";
                return Err(failed(StepError::new(ErrorClass::Adapter, message)));
            }
            Outcome::Fetch(requests, _) => {
                let answered: Vec<_> = requests
                    .iter()
                    .map(|(request, url)| reply(request, url, &entry.url, &page, requests.len() == 1))
                    .collect();
                replies = Arc::new(answered);
            }
            Outcome::BadUrl(url) => {
                let message = format!("the adapter asked for {url:?}, which is not a web address");
                return Err(failed(StepError::new(ErrorClass::Adapter, message)));
            }
            Outcome::Failed(error) => return Err(failed(turn_failed(error, &replies))),
        }
    }
    let message = "the adapter wants more than the stored page; only a crawl can read this document";
    Err(failed(StepError::new(ErrorClass::Adapter, message)))
}

/// The stored page for the document, and nothing for anything else.
fn reply(
    request: &contract::Request,
    url: &Url,
    document: &str,
    page: &[u8],
    alone: bool,
) -> contract::Reply {
    let it = alone || url.as_str() == document;
    contract::Reply {
        tag: request.tag.clone(),
        status: if it { 200 } else { 404 },
        url: url.to_string(),
        headers: vec![("content-type".to_owned(), "text/html".to_owned())],
        body: if it { page.to_vec() } else { Vec::new() },
    }
}

fn shown(extracted: Extracted) -> Reread {
    Reread {
        title: extracted.title,
        published: extracted.published,
        source: extracted.source,
        content: extracted.text,
        attachments: extracted.attachments.into_iter().map(|(url, _)| url.to_string()).collect(),
        inline_image_count: extracted.inline_image_count,
        fields: extracted.fields,
        provenance: extracted.provenance,
        used_fallback: extracted.used_fallback,
    }
}
