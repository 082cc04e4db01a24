//! What a site's settings say about pages that scripts make: when such a page is complete, and what of it need not be
//! loaded. Values only; a backend that renders pages carries them out.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// What a browser does with the pages of a site.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct Rendering {
    /// A CSS selector: the page is taken when something matches it, or as it stands when nothing has for a while.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub wait_for: Option<String>,
    /// How often the page is scrolled to its end at the most, for lists that grow as they are scrolled. It ends
    /// early when the page no longer grows.
    #[serde(skip_serializing_if = "is_zero")]
    pub scroll: u32,
    /// What is not loaded, in place of the usual `[image, media, font]`; an empty list loads everything.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub block: Option<Vec<Part>>,
}

impl Rendering {
    /// More than any list needs.
    pub const MOST_SCROLLS: u32 = 100;
}

fn is_zero(number: &u32) -> bool {
    *number == 0
}

/// A kind of thing that pages load.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Part {
    /// Pictures.
    Image,
    /// Sound and video.
    Media,
    /// Fonts.
    Font,
    /// Style sheets.
    Stylesheet,
    /// Frames in the page.
    Frame,
    /// Sockets and streams that stay open.
    Socket,
}
