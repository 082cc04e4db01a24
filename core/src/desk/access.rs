//! Who may: tokens and their scopes; and answers that are given again. Plain data.

use serde::{Deserialize, Serialize};

use crate::clock::Timestamp;

/// What a token may do; each scope holds the one before.
#[derive(
    Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, schemars::JsonSchema,
)]
#[serde(rename_all = "lowercase")]
pub enum Scope {
    /// Look.
    Read,
    /// Start, stop and retry work.
    Run,
    /// Change everything.
    Admin,
}

impl Scope {
    /// The name under which it is stored.
    pub fn as_str(self) -> &'static str {
        match self {
            Scope::Read => "read",
            Scope::Run => "run",
            Scope::Admin => "admin",
        }
    }
}

impl std::str::FromStr for Scope {
    type Err = crate::Refusal;

    fn from_str(word: &str) -> Result<Scope, Self::Err> {
        let found = [Scope::Read, Scope::Run, Scope::Admin].into_iter().find(|scope| scope.as_str() == word);
        found.ok_or_else(|| {
            crate::Refusal::invalid("scope", format!("`{word}` is no scope"), "write read, run or admin")
        })
    }
}

/// A token as it is kept: without the token.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, schemars::JsonSchema)]
pub struct TokenRow {
    /// Its number.
    pub id: i64,
    /// Its name, which no other has.
    pub name: String,
    /// What it may do.
    pub scope: Scope,
    /// When it was made.
    pub created_at: Timestamp,
    /// When it ends; none: never.
    pub expires_at: Option<Timestamp>,
    /// About when it was last used, to the minute.
    pub used_at: Option<Timestamp>,
    /// When it was taken back.
    pub revoked_at: Option<Timestamp>,
}

/// A token that was just made: the only time it is seen.
#[derive(Clone, PartialEq, Eq, Serialize, schemars::JsonSchema)]
pub struct NewToken {
    /// What is sent as `Authorization: Bearer …`.
    pub token: String,
    /// As it is kept.
    #[serde(flatten)]
    pub row: TokenRow,
}

impl std::fmt::Debug for NewToken {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "NewToken({:?}, …)", self.row.name)
    }
}

/// What is known of a request with an idempotency key.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Begun {
    /// It is new: do it, then say what came of it.
    Go,
    /// It was done: this was the answer.
    Answered {
        /// The HTTP status.
        status: u16,
        /// The body.
        answer: String,
    },
}
