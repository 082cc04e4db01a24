//! What a page is doing, from the events it sends: which document stands, whether it is loaded, whether it still asks
//! for something. Pure: the time of an event is given.

use std::collections::{HashMap, HashSet};

use serde_json::Value;
use tokio::time::{Duration, Instant};

/// The head of a document.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Head {
    pub request: String,
    pub status: u16,
    pub mime: String,
    pub headers: Vec<(String, String)>,
}

/// What is known of a page.
#[derive(Debug)]
pub(super) struct Watch {
    pub frame: String,
    /// Addresses of the documents that stood here, and the present one's loader.
    loader: Option<String>,
    pub url: Option<String>,
    /// How many documents stood here.
    pub documents: u32,
    heads: HashMap<String, Head>,
    ready: Option<Instant>,
    loaded: bool,
    under_way: HashSet<String>,
    changed: Instant,
    pub crashed: bool,
    /// The address was a file to keep.
    pub download: bool,
}

/// Heads of documents that never came to stand; more are a game.
const MAX_HEADS: usize = 64;
/// Requests under way at once that are looked at.
const MAX_UNDER_WAY: usize = 4096;

impl Watch {
    pub fn new(frame: &str, now: Instant) -> Watch {
        Watch {
            frame: frame.to_owned(),
            loader: None,
            url: None,
            documents: 0,
            heads: HashMap::new(),
            ready: None,
            loaded: false,
            under_way: HashSet::new(),
            changed: now,
            crashed: false,
            download: false,
        }
    }

    pub fn note(&mut self, method: &str, params: &Value, now: Instant) {
        let text = |key: &str| params[key].as_str().unwrap_or_default().to_owned();
        match method {
            "Network.requestWillBeSent" => {
                // These are answered bit by bit, for ever.
                if params["type"] != "EventSource" && self.under_way.len() < MAX_UNDER_WAY {
                    self.under_way.insert(text("requestId"));
                }
                self.changed = now;
            }
            "Network.loadingFinished" | "Network.loadingFailed" => {
                self.under_way.remove(params["requestId"].as_str().unwrap_or_default());
                self.changed = now;
            }
            "Network.responseReceived" if params["type"] == "Document" && params["frameId"] == self.frame => {
                if self.heads.len() < MAX_HEADS {
                    self.heads.insert(text("loaderId"), head(text("requestId"), &params["response"]));
                }
                self.changed = now;
            }
            "Page.frameNavigated" if params["frame"]["id"] == self.frame => {
                let frame = &params["frame"];
                self.loader = frame["loaderId"].as_str().map(str::to_owned);
                self.url = frame["url"].as_str().map(str::to_owned);
                self.documents += 1;
                (self.ready, self.loaded, self.changed) = (None, false, now);
            }
            // The address of the same document.
            "Page.navigatedWithinDocument" if params["frameId"] == self.frame => {
                self.url = params["url"].as_str().map(str::to_owned);
            }
            "Page.lifecycleEvent"
                if params["frameId"] == self.frame
                    && params["loaderId"].as_str() == self.loader.as_deref() =>
            {
                match params["name"].as_str() {
                    Some("DOMContentLoaded") => self.ready = Some(now),
                    Some("load") => self.loaded = true,
                    _ => (),
                }
            }
            "Page.downloadWillBegin" if params["frameId"] == self.frame => self.download = true,
            "Inspector.targetCrashed" => self.crashed = true,
            _ => (),
        }
    }

    /// The head of the document that stands.
    pub fn head(&self) -> Option<&Head> {
        self.heads.get(self.loader.as_deref()?)
    }

    /// Whether all of the document is there, if not all of its parts.
    pub fn is_ready(&self) -> bool {
        self.ready.is_some()
    }

    /// Whether it asked for nothing for this long.
    pub fn is_quiet(&self, now: Instant, quiet: Duration) -> bool {
        self.under_way.is_empty() && now.duration_since(self.changed) >= quiet
    }

    /// Whether it can be taken: loaded and at rest, or whole for so long that it will not come to rest.
    pub fn is_settled(&self, now: Instant, quiet: Duration, settle: Duration) -> bool {
        let waited = self.ready.is_some_and(|at| now.duration_since(at) >= settle);
        self.loaded && self.is_quiet(now, quiet) || waited
    }
}

fn head(request: String, response: &Value) -> Head {
    let mut headers = Vec::new();
    for (name, value) in response["headers"].as_object().into_iter().flatten() {
        // Chromium joins headers of one name by line breaks.
        for line in value.as_str().unwrap_or_default().split('\n') {
            headers.push((name.to_ascii_lowercase(), line.to_owned()));
        }
    }
    Head {
        request,
        status: response["status"].as_u64().and_then(|status| u16::try_from(status).ok()).unwrap_or(0),
        mime: response["mimeType"].as_str().unwrap_or_default().to_ascii_lowercase(),
        headers,
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    const QUIET: Duration = Duration::from_millis(500);
    const SETTLE: Duration = Duration::from_secs(8);

    #[test]
    fn a_page_is_settled_when_it_is_loaded_and_at_rest_or_will_never_be() {
        let begin = Instant::now();
        let at = |ms: u64| begin + Duration::from_millis(ms);
        let mut watch = Watch::new("F", begin);
        let mut note = |ms: u64, method: &str, params: Value| watch.note(method, &params, at(ms));
        note(0, "Network.requestWillBeSent", json!({ "requestId": "1", "type": "Document" }));
        let response =
            json!({ "status": 412, "mimeType": "text/html", "headers": { "Set-Cookie": "a=1\nb=2" } });
        let received = json!({ "requestId": "1", "loaderId": "L1", "frameId": "F", "type": "Document", "response": response });
        note(5, "Network.responseReceived", received);
        note(
            6,
            "Page.frameNavigated",
            json!({ "frame": { "id": "F", "loaderId": "L1", "url": "https://a/" } }),
        );
        note(10, "Network.loadingFinished", json!({ "requestId": "1" }));
        note(11, "Page.lifecycleEvent", json!({ "frameId": "F", "loaderId": "L0", "name": "load" }));
        assert!(!watch.is_ready() && !watch.is_settled(at(5000), QUIET, SETTLE));
        for name in ["DOMContentLoaded", "load"] {
            watch.note(
                "Page.lifecycleEvent",
                &json!({ "frameId": "F", "loaderId": "L1", "name": name }),
                at(20),
            );
        }
        assert!(!watch.is_settled(at(400), QUIET, SETTLE) && watch.is_settled(at(510), QUIET, SETTLE));
        let head = watch.head().unwrap();
        assert_eq!((head.status, head.headers.len()), (412, 2));
        // Its script loads the real page.
        watch.note("Network.requestWillBeSent", &json!({ "requestId": "2", "type": "Document" }), at(600));
        assert!(!watch.is_settled(at(5000), QUIET, SETTLE));
        assert!(watch.is_settled(at(8020), QUIET, SETTLE), "as it stands");
        watch.note(
            "Page.frameNavigated",
            &json!({ "frame": { "id": "F", "loaderId": "L2", "url": "https://a/b" } }),
            at(700),
        );
        assert!(!watch.is_settled(at(9000), QUIET, SETTLE) && watch.head().is_none() && watch.documents == 2);
        // A frame in the page is not the page.
        watch.note(
            "Page.frameNavigated",
            &json!({ "frame": { "id": "G", "loaderId": "L3", "url": "https://x/" } }),
            at(800),
        );
        assert_eq!(watch.url.as_deref(), Some("https://a/b"));
    }

    #[test]
    fn a_stream_that_never_ends_does_not_keep_a_page_from_rest() {
        let begin = Instant::now();
        let mut watch = Watch::new("F", begin);
        watch.note("Network.requestWillBeSent", &json!({ "requestId": "1", "type": "EventSource" }), begin);
        assert!(watch.is_quiet(begin + QUIET, QUIET));
        watch.note("Network.requestWillBeSent", &json!({ "requestId": "2", "type": "XHR" }), begin);
        assert!(!watch.is_quiet(begin + SETTLE, QUIET));
    }
}
