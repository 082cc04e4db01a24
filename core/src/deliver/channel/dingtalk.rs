//! A robot in a DingTalk group, with the signature of its security settings (加签).

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use futures::future::BoxFuture;
use serde_json::json;
use url::Url;

use super::webhook::hmac_sha256;
use super::{Delivery, DeliveryError, Post, Receipt, Words, cut};
use crate::clock::{Clock, SystemClock};
use crate::deliver::message::Message;

/// 20,000 bytes for the whole message; the rest is its envelope.
const MAX_TEXT: usize = 18_000;
/// "send too fast", the system is busy.
const BUSY: &[i64] = &[-1, 130_101, 410_100, 660_026];

pub(in super::super) struct DingTalk {
    pub post: Post,
    pub url: Url,
    pub secret: Option<String>,
    pub words: Words,
}

impl Delivery for DingTalk {
    fn send<'a>(&'a self, message: &'a Message) -> BoxFuture<'a, Result<Receipt, DeliveryError>> {
        Box::pin(async move {
            let mut url = self.url.clone();
            if let Some(secret) = &self.secret {
                let at = SystemClock.now().0;
                let sign = sign(secret, at);
                url.query_pairs_mut().append_pair("timestamp", &at.to_string()).append_pair("sign", &sign);
            }
            let text = cut(self.words.text(message), MAX_TEXT);
            let body = json!({
                "msgtype": "markdown",
                "markdown": {"title": cut(self.words.title(message), 200), "text": text},
            });
            let answer = self.post.json(&url, body.to_string().into_bytes(), &[]).await?;
            answer.code(&["errcode"], BUSY)
        })
    }
}

fn sign(secret: &str, at: i64) -> String {
    STANDARD.encode(hmac_sha256(secret.as_bytes(), format!("{at}\n{secret}").as_bytes()))
}
