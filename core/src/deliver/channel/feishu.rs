//! A bot in a Feishu (Lark) group, with its signature (签名校验).

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use futures::future::BoxFuture;
use serde_json::json;
use url::Url;

use super::webhook::hmac_sha256;
use super::{Delivery, DeliveryError, Post, Receipt, Words, cut};
use crate::clock::{Clock, SystemClock};
use crate::deliver::message::Message;

/// 20 KB for the whole request.
const MAX_TEXT: usize = 16_000;
/// Too many requests.
const BUSY: &[i64] = &[9_499, 11_232];

pub(in super::super) struct Feishu {
    pub post: Post,
    pub url: Url,
    pub secret: Option<String>,
    pub words: Words,
}

impl Delivery for Feishu {
    fn send<'a>(&'a self, message: &'a Message) -> BoxFuture<'a, Result<Receipt, DeliveryError>> {
        Box::pin(async move {
            let text = cut(self.words.text(message), MAX_TEXT);
            let mut content: Vec<_> =
                text.lines().map(|line| json!([{"tag": "text", "text": line}])).collect();
            let web = message
                .url
                .as_deref()
                .filter(|url| url.starts_with("http://") || url.starts_with("https://"));
            if let Some(url) = web {
                content.push(json!([{"tag": "a", "text": url, "href": url}]));
            }
            let mut body = json!({
                "msg_type": "post",
                "content": {"post": {"zh_cn": {"title": cut(self.words.title(message), 200), "content": content}}},
            });
            if let Some(secret) = &self.secret {
                let at = SystemClock.now().0 / 1000;
                body["timestamp"] = at.to_string().into();
                body["sign"] = sign(secret, at).into();
            }
            let answer = self.post.json(&self.url, body.to_string().into_bytes(), &[]).await?;
            answer.code(&["code", "StatusCode"], BUSY)
        })
    }
}

/// Other than DingTalk's: the text is the key, and nothing is what is signed.
fn sign(secret: &str, at: i64) -> String {
    STANDARD.encode(hmac_sha256(format!("{at}\n{secret}").as_bytes(), b""))
}
