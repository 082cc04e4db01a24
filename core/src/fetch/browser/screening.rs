//! Which requests of a page go out. Pure, but for the gate's own answer.

use serde_json::Value;
use url::Url;

use crate::fetch::backend::Screen;
use crate::fetch::error::FetchErrorKind;
use crate::fetch::rendering::Part;

/// A request that waits for our word.
#[derive(Debug)]
pub(super) struct Paused<'e> {
    pub id: &'e str,
    pub url: &'e str,
    pub kind: &'e str,
    /// It would become the page itself.
    pub is_page: bool,
}

/// What becomes of it.
#[derive(Debug)]
pub(super) enum Word {
    Go,
    /// Not wanted.
    Skip,
    /// Not allowed.
    Refuse(FetchErrorKind),
}

impl<'e> Paused<'e> {
    /// Reads a `Fetch.requestPaused`; `page` is the main frame.
    pub fn read(params: &'e Value, page: &str) -> Option<Paused<'e>> {
        let kind = params["resourceType"].as_str().unwrap_or("Other");
        Some(Paused {
            id: params["requestId"].as_str()?,
            url: params["request"]["url"].as_str()?,
            kind,
            is_page: kind == "Document" && params["frameId"] == page,
        })
    }

    pub fn judge(&self, screen: &dyn Screen, block: &[Part]) -> Word {
        if !self.is_page && part(self.kind).is_some_and(|part| block.contains(&part)) {
            return Word::Skip;
        }
        // Pages report home with these; nobody waits for an answer.
        if matches!(self.kind, "Ping" | "CSPViolationReport") {
            return Word::Skip;
        }
        let Ok(url) = Url::parse(self.url) else { return Word::Skip };
        match url.scheme() {
            "http" | "https" => match screen.check(&url, self.is_page) {
                Ok(()) => Word::Go,
                Err(why) => Word::Refuse(why),
            },
            // They lead nowhere.
            "data" | "blob" | "about" if !self.is_page => Word::Go,
            _ => Word::Skip,
        }
    }
}

fn part(kind: &str) -> Option<Part> {
    Some(match kind {
        "Image" => Part::Image,
        "Media" | "TextTrack" => Part::Media,
        "Font" => Part::Font,
        "Stylesheet" => Part::Stylesheet,
        "Document" => Part::Frame,
        "WebSocket" | "EventSource" => Part::Socket,
        _ => return None,
    })
}
