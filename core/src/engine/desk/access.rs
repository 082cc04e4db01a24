//! Tokens and idempotency keys at the desk.

use std::time::Duration;

use serde_json::json;
use sha2::{Digest, Sha256};

use super::Desk;
use crate::clock::Timestamp;
use crate::desk::{Begun, NewToken, Scope, TokenRow};
use crate::store::sanitize::hex;
use crate::{Refusal, Result};

/// What every token begins with, so that one that leaked is recognised.
const PREFIX: &str = "dibao_";
/// Bytes of randomness.
const BYTES: usize = 32;
/// Longest key and name.
const LONGEST: usize = 200;

impl Desk {
    /// Makes a token. It is shown once: only its hash is kept.
    pub async fn create_token(&self, name: &str, scope: Scope, lives: Option<Duration>) -> Result<NewToken> {
        let entry = self.entry(
            "token.create",
            name,
            json!({ "scope": scope, "seconds": lives.map(|d| d.as_secs()) }),
        );
        let done = async {
            let name = name.trim().to_owned();
            if name.is_empty() || name.len() > LONGEST || name.chars().any(char::is_control) {
                return Err(Refusal::invalid("name", "is empty or too long", "write a short name").into());
            }
            let mut bytes = [0u8; BYTES];
            getrandom::fill(&mut bytes).map_err(|error| {
                Refusal::conflict("entropy", format!("this system gives no random bytes: {error}"))
            })?;
            let token = format!("{PREFIX}{}", hex(&bytes));
            let now = self.now();
            let expires = lives.map(|lives| {
                Timestamp(now.0.saturating_add(i64::try_from(lives.as_millis()).unwrap_or(i64::MAX)))
            });
            let row =
                self.store().add_token(name, hashed(&token), scope, now, expires, entry.clone()).await?;
            Ok(NewToken { token, row })
        }
        .await;
        self.settle(entry, done).await
    }

    /// All tokens, those that were taken back too.
    pub async fn tokens(&self) -> Result<Vec<TokenRow>> {
        Ok(self.store().tokens().await?)
    }

    /// Takes a token back, by name or number.
    pub async fn revoke_token(&self, key: &str) -> Result<TokenRow> {
        let entry = self.entry("token.revoke", key, json!(null));
        let done = self.store().revoke_token(key, self.now(), entry.clone()).await;
        self.settle(entry, done.map_err(Into::into)).await
    }

    /// Begins a request with an idempotency key: the same actor, key and question is answered as the first time, for a day. The same
    /// key with another question, or while the first is under way, is a conflict.
    pub async fn begin_idempotent(&self, key: &str, asked: &[u8]) -> Result<Begun> {
        if key.is_empty() || key.len() > LONGEST || !key.bytes().all(|byte| byte.is_ascii_graphic()) {
            let fix = format!("send 1 to {LONGEST} printable characters");
            return Err(Refusal::invalid("Idempotency-Key", "is no key", fix).into());
        }
        let asked = hex(&Sha256::digest(asked));
        Ok(self.store().begin_idempotent(&self.actor.name, key, &asked, self.now()).await?)
    }

    /// Keeps the answer of a request that was begun; none: it failed, and the key is free again.
    pub async fn end_idempotent(&self, key: &str, answer: Option<(u16, String)>) -> Result<()> {
        Ok(self.store().end_idempotent(&self.actor.name, key, answer).await?)
    }
}

impl crate::Engine {
    /// The token that somebody sent, if it holds: known, not taken back, not over.
    pub async fn token(&self, token: &str) -> Result<Option<TokenRow>> {
        // Looked up by hash: nothing of the comparison tells how near a guess was.
        let wrong = !token.starts_with(PREFIX) || token.len() != PREFIX.len() + 2 * BYTES;
        if wrong {
            return Ok(None);
        }
        Ok(self.inner.rows.token(&hashed(token), self.inner.settings.clock.now()).await?)
    }

    /// The token of this number, if it still holds.
    pub async fn token_by_number(&self, id: i64) -> Result<Option<TokenRow>> {
        Ok(self.inner.rows.token_by_number(id, self.inner.settings.clock.now()).await?)
    }
}

fn hashed(token: &str) -> String {
    hex(&Sha256::digest(token.as_bytes()))
}
