//! Who calls, and what he may do.

pub use dibao::desk::Scope;
use schemars::JsonSchema;
use serde::Serialize;

use crate::problem::{Code, Problem};

/// How he proved it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum Via {
    /// He did not.
    Nothing,
    /// By being on this machine, where no password is set.
    Local,
    /// A session of the page.
    Session,
    /// User and password.
    Basic,
    /// A token.
    Token,
}

/// Somebody who calls.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Caller {
    /// For the log and the audit.
    pub name: String,
    pub scope: Option<Scope>,
    pub via: Via,
    /// Until when a session lasts, in milliseconds since 1970.
    pub until: Option<i64>,
    pub standing: Standing,
}

/// What one's rights hang on, for who stays longer than a request.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum Standing {
    #[default]
    Settings,
    /// A token, by its number.
    Token(i64),
    /// A session, by what its cookie holds.
    Session(String),
}

impl Caller {
    pub fn stranger() -> Caller {
        Caller {
            name: String::new(),
            scope: None,
            via: Via::Nothing,
            until: None,
            standing: Standing::Settings,
        }
    }

    /// Refuses who may not.
    pub fn needs(&self, scope: Scope) -> Result<(), Problem> {
        match self.scope {
            None => Err(Problem::new(Code::Unauthenticated, "sign in, or send a token")),
            Some(has) if has < scope => Err(Problem::new(
                Code::Forbidden,
                format!("this needs the scope `{}`; yours is `{}`", scope.as_str(), has.as_str()),
            )),
            Some(_) => Ok(()),
        }
    }
}
