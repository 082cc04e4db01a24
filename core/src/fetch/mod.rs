//! One gate for every request there is.
//!
//! A list page, a detail page, an attachment, a redirect hop: each passes the same checks in the
//! same order, and no second way out exists (I9). `chain` holds the order, one file holds each rule:
//!
//! | # | check | file | what it decides |
//! |---|---|---|---|
//! | 1 | grant | `grant` | may this adapter talk to that host at all? |
//! | 2 | public path | `public` | is it a public page of a host we watch? (S2-54, I18) |
//! | 3 | address guard | `guard`, `resolver` | is the address one of the public internet? |
//! | 4 | robots | [`robots`], `consult` | does the site want it fetched? (S2-53) |
//! | 5 | breaker | [`breaker`], [`hosts`], `admit` | is the host cooling down? (S2-27) |
//! | 6 | throttle | `throttle` | when may it go? (S2-29, S2-64, C10) |
//! | 7 | tiers | `tiers`, `http`, [`cookies`], [`escalate`], [`FetchBackend`] | how is it fetched? (S2-26, S2-28) |
//!
//! Grant and public path are pure functions of the address. The address guard is asked twice: about
//! literal addresses before anything is sent, and about names where the connection is made, because
//! only there it is certain which address a name stands for.
//!
//! An answer with an error status is an answer ([`Fetched::status`]); a [`FetchError`] means that there
//! was no whole answer, or that the request was not allowed. What a body says is not decided here:
//! decoding to text belongs to [`extract`](crate::extract).

mod admit;
mod ask;
mod backend;
mod body;
pub mod breaker;
#[cfg(feature = "browser")]
pub mod browser;
mod bucket;
mod chain;
pub mod challenge;
mod clients;
mod consult;
pub mod cookies;
mod error;
pub mod escalate;
mod freshness;
#[doc(hidden)]
pub mod fuzzing;
mod gate;
mod glance;
mod grant;
mod guard;
mod headers;
mod host;
pub mod hosts;
mod http;
pub mod ledger;
mod options;
mod policy;
mod public;
mod read;
mod redirect;
mod rendering;
pub mod reserve;
mod resolver;
pub mod retry_after;
pub mod robots;
mod throttle;
mod tiers;
mod trip;
mod validators;
pub mod verdict;
mod wire;

pub use admit::HostShelf;
pub use ask::{Aside, Ask, Downloaded, Expects, Fetched, Hop, Method, Purpose, RobotsMode};
pub use backend::{BackendOrder, BackendPage, FetchBackend, Screen, Unavailable};
pub(crate) use clients::rustls_config;
pub use error::{FetchError, FetchErrorKind, Phase};
pub(crate) use freshness::fresh_for;
pub use gate::Gate;
pub use grant::{Denial, Grant, HostPattern, Remedy};
pub use guard::{AddressGuard, Forbidden, classify};
pub use options::{GateOptions, Resolve, Timeouts};
pub use policy::{HostPolicy, Profile, ThrottleKey};
pub use public::{DEFAULT_DENIED_SEGMENTS, DEFAULT_SUFFIXES, NotPublic, PublicRule};
pub use rendering::{Part, Rendering};
pub use resolver::{NameLookup, SystemLookup};
pub use trip::Step;
pub use validators::Validators;
pub use wire::{IpFamily, Tls, Wire};

#[cfg(test)]
mod tests;
