//! A robot in a WeCom (企业微信) group. Its address holds its key; it is not signed.

use futures::future::BoxFuture;
use serde_json::json;
use url::Url;

use super::{Delivery, DeliveryError, Post, Receipt, Words, cut};
use crate::deliver::message::Message;

/// Bytes of UTF-8 in one markdown message.
const MAX_TEXT: usize = 4_096;
/// The system is busy; more than 20 messages a minute.
const BUSY: &[i64] = &[-1, 45_009, 45_033];

pub(in super::super) struct WeCom {
    pub post: Post,
    pub url: Url,
    pub words: Words,
}

impl Delivery for WeCom {
    fn send<'a>(&'a self, message: &'a Message) -> BoxFuture<'a, Result<Receipt, DeliveryError>> {
        Box::pin(async move {
            let content = cut(self.words.text(message), MAX_TEXT);
            let body = json!({"msgtype": "markdown", "markdown": {"content": content}});
            let answer = self.post.json(&self.url, body.to_string().into_bytes(), &[]).await?;
            answer.code(&["errcode"], BUSY)
        })
    }
}
