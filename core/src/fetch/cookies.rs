//! Cookies that a host set, and which of them go with a request.

use serde::{Deserialize, Serialize};

use crate::clock::Timestamp;

/// One cookie as it is kept (C15).
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Cookie {
    /// Its name.
    pub name: String,
    /// Its value.
    pub value: String,
    /// The host that set it, or the domain it named; lower case, without a leading dot.
    pub domain: String,
    /// Only for that very host, not for hosts below it.
    pub host_only: bool,
    /// The path it is for.
    pub path: String,
    /// When it ends; none: with the session.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub expires: Option<Timestamp>,
    /// Only over TLS.
    pub secure: bool,
}
