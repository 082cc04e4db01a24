//! Who calls, and what he may do.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::problem::{Code, Problem};

/// What somebody may do; each includes those before it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum Scope {
    /// Look.
    Read,
    /// Look, and start and stop work.
    Run,
    /// Everything.
    Admin,
}

impl Scope {
    /// Its name.
    pub fn as_str(self) -> &'static str {
        match self {
            Scope::Read => "read",
            Scope::Run => "run",
            Scope::Admin => "admin",
        }
    }
}

impl From<dibao::desk::Scope> for Scope {
    fn from(scope: dibao::desk::Scope) -> Scope {
        match scope {
            dibao::desk::Scope::Read => Scope::Read,
            dibao::desk::Scope::Run => Scope::Run,
            dibao::desk::Scope::Admin => Scope::Admin,
        }
    }
}

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
}

impl Caller {
    pub fn stranger() -> Caller {
        Caller { name: String::new(), scope: None, via: Via::Nothing, until: None }
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
