//! A webhook of your own: the message as JSON, signed as Standard Webhooks says.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use futures::future::BoxFuture;
use hmac::{Hmac, KeyInit as _, Mac as _};
use sha2::Sha256;
use url::Url;

use super::{Delivery, DeliveryError, Post, Receipt};
use crate::clock::{Clock, SystemClock};
use crate::deliver::message::Message;
use crate::error::ErrorClass;

pub(in super::super) struct Webhook {
    pub post: Post,
    pub url: Url,
    pub secret: Option<String>,
}

impl Delivery for Webhook {
    fn send<'a>(&'a self, message: &'a Message) -> BoxFuture<'a, Result<Receipt, DeliveryError>> {
        Box::pin(async move {
            let body = serde_json::to_vec(message)
                .map_err(|error| DeliveryError::new(ErrorClass::Config, error.to_string()))?;
            let at = SystemClock.now().0 / 1000;
            let id = header_safe(&message.key);
            let mut headers = vec![
                ("idempotency-key", id.clone()),
                ("webhook-id", id.clone()),
                ("webhook-timestamp", at.to_string()),
            ];
            if let Some(secret) = &self.secret {
                headers.push(("webhook-signature", format!("v1,{}", sign(secret, &id, at, &body))));
            }
            self.post.json(&self.url, body, &headers).await?.accepted_or_later()
        })
    }
}

/// HMAC-SHA256 over `id.timestamp.body`, in base64. A secret with `whsec_` before it is base64 itself.
fn sign(secret: &str, id: &str, at: i64, body: &[u8]) -> String {
    let decoded = secret.strip_prefix("whsec_").and_then(|text| STANDARD.decode(text).ok());
    let key = decoded.unwrap_or_else(|| secret.as_bytes().to_vec());
    let mut content = format!("{id}.{at}.").into_bytes();
    content.extend_from_slice(body);
    STANDARD.encode(hmac_sha256(&key, &content))
}

/// HMAC-SHA256.
pub(super) fn hmac_sha256(key: &[u8], content: &[u8]) -> Vec<u8> {
    // Any length of key will do: longer ones are hashed first.
    let Ok(mut mac) = Hmac::<Sha256>::new_from_slice(key) else { return Vec::new() };
    mac.update(content);
    mac.finalize().into_bytes().to_vec()
}

/// A key as a header can carry it.
fn header_safe(key: &str) -> String {
    percent_encoding::utf8_percent_encode(key, percent_encoding::CONTROLS).to_string()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_signature_is_that_of_the_standard() {
        // The example of the Standard Webhooks specification.
        let secret = "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw";
        let signed = sign(secret, "msg_p5jXN8AQM9LWM0D4loKWxJek", 1614265330, br#"{"test": 2432232314}"#);
        assert_eq!(signed, "g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE=");
    }
}
