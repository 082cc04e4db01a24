//! A bot of Telegram: `sendMessage` with the HTML it understands.

use std::time::Duration;

use futures::future::BoxFuture;
use serde_json::{Value, json};
use url::Url;

use super::{Delivery, DeliveryError, Post, Receipt, Words, cut};
use crate::deliver::message::Message;

/// Telegram counts 4,096 characters; bytes are never fewer.
const MAX_TEXT: usize = 4_096;

pub(in super::super) struct Telegram {
    pub post: Post,
    /// `https://api.telegram.org/bot<token>/sendMessage`
    pub url: Url,
    pub chat_id: String,
    pub words: Words,
}

impl Delivery for Telegram {
    fn send<'a>(&'a self, message: &'a Message) -> BoxFuture<'a, Result<Receipt, DeliveryError>> {
        Box::pin(async move {
            let text = self.words.text(message);
            let mut body = json!({"chat_id": self.chat_id, "text": text, "parse_mode": "HTML"});
            if text.len() > MAX_TEXT {
                // Cut HTML may have lost the end of a tag: what is too long goes without.
                let plain = format!("{}\n{}", message.title, message.text);
                let tail = format!("\n{}", message.url.as_deref().unwrap_or_default());
                let plain = cut(plain, MAX_TEXT.saturating_sub(tail.len())) + &tail;
                body = json!({"chat_id": self.chat_id, "text": cut(plain, MAX_TEXT)});
            }
            let answer = self.post.json(&self.url, body.to_string().into_bytes(), &[]).await?;
            let told: Value = serde_json::from_str(&answer.body).unwrap_or_default();
            if answer.status.is_success() && told["ok"] == true {
                return Ok(Receipt(format!("message {}", told["result"]["message_id"])));
            }
            let mut refusal = answer.refusal(None);
            if let Some(seconds) = told["parameters"]["retry_after"].as_u64() {
                refusal.retry_after = Some(Duration::from_secs(seconds.min(86_400)));
            }
            Err(refusal)
        })
    }
}
