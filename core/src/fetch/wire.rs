//! How one site is reached, where it differs from the rest.

/// Settings of the way to a site's hosts. The default is everybody's way.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Wire {
    /// Says who is asking, in place of the engine's own words.
    pub user_agent: Option<String>,
}
