//! What an author writes: the trait, and what each call is given.

use serde::Serialize;
use serde::de::DeserializeOwned;

use crate::{About, DetailStep, Entry, Failure, Host, ListStep, Reply};

/// Everything that may differ between two runs of the same call.
///
/// `session` may be changed: what is left in it is handed to the next call.
#[derive(Clone, Debug)]
pub struct Ctx<C, S> {
    /// The code of the target, `<site>__<column>`, for messages.
    pub target: String,
    /// The site's address.
    pub base: String,
    /// The target's settings.
    pub config: C,
    /// What the last call left; the default at first.
    pub session: S,
    /// Milliseconds since 1970, frozen for this call.
    pub now: u64,
    /// 32 bytes: the only randomness there is.
    pub seed: Vec<u8>,
}

/// A site's knowledge as pure functions: given data, they answer with data.
pub trait Adapter {
    /// The target's settings. The host has already checked them against
    /// [`About::config_schema`](crate::About); what serde refuses ends as `Failure::Config`.
    type Config: DeserializeOwned;

    /// What is kept from call to call (a token, a hash of the last page): kept as JSON, at
    /// most 64 KiB. One that no longer parses ends as `Failure::Stale`, and the host begins
    /// again with the default.
    type Session: Serialize + DeserializeOwned + Default + PartialEq;

    /// What the adapter says of itself; constant.
    fn about() -> About;

    /// One page of the list: `replies` is empty on its first turn.
    fn list_page(
        host: &impl Host,
        ctx: &mut Ctx<Self::Config, Self::Session>,
        cursor: Option<&str>,
        replies: &[Reply],
    ) -> Result<ListStep, Failure>;

    /// One document: `replies` is empty on its first turn.
    fn detail(
        host: &impl Host,
        ctx: &mut Ctx<Self::Config, Self::Session>,
        entry: &Entry,
        replies: &[Reply],
    ) -> Result<DetailStep, Failure>;
}
