//! What the browser tier promises, with a real Chromium: firewalls that want a script are passed, pages are complete, no
//! connection goes where the gate would not go, and no process stays. Few tests, because each starts a Chromium.
//! Without one they are skipped and say so, except on CI, where they fail.

#[allow(dead_code, reason = "the bed of the end-to-end tests has more than is needed here")]
#[path = "../e2e/bed.rs"]
mod bed;
mod challenge;
mod crawl;
mod escape;
mod pages;
mod processes;
mod stage;
