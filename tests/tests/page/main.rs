//! What an operator can count on from the admin page: its files as they are, and the real `dibao serve` in a real
//! Chromium on the replica sites. Pictures of every page are left in `target/page` for people to look at. Without a
//! Chromium the tests that need one are skipped and say so, except on CI, where they fail.

mod chromium;
mod day;
mod door;
mod files;
mod hostile;
mod served;
#[allow(dead_code, reason = "the stage of the command's tests has more than is needed here")]
#[path = "../cli/stage.rs"]
mod stage;
mod windows;
