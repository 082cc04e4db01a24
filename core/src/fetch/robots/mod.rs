//! robots.txt: does the site want it fetched? (S2-53, I19)
//!
//! | file | what it decides |
//! |---|---|
//! | `parse` | which groups and rules a file has, however badly it is written |
//! | `pattern` | whether a path matches a rule |
//! | `rules` | [`Robots::check`]: which rule decides about an address (RFC 9309 §2.2) |
//! | `policy` | what holds when the file cannot be had, and until when (RFC 9309 §2.3, §2.4) |
//! | `copy` | [`RobotsCopy`]: what is kept of a file, on a [`RobotsShelf`] |
//! | `book` | [`RobotsBook`]: asks each origin once, remembers, and puts the above together |
//!
//! Why a parser of our own: Google's published matcher is what site owners test against, leniencies included, and no
//! maintained crate follows it in every case. `tests/google.rs` goes through those cases one by one, retold with files of
//! our own, with [`Robots::check_written`]; [`Robots::check`], which the gate uses,
//! differs from them only where the standard does (escaped letters and addresses that are not escaped).
//!
//! Nothing here opens a connection: the gate hands in the way to fetch, so that a robots.txt passes the same
//! checks as any page, redirects included (at most [`MAX_REDIRECTS`]). What the chain of redirects ends with
//! counts for the origin that was asked.

mod book;
mod copy;
mod parse;
mod pattern;
mod policy;
mod rules;

pub use book::{RobotsBook, RobotsRequest, Standing};
pub use copy::{NoShelf, Origin, RobotsCopy, RobotsShelf};
pub use parse::MAX_BODY;
pub use policy::{
    Basis, Decision, Learned, MAX_REDIRECTS, OnUnreachable, RobotsAnswer, RobotsTimes, Trouble, decide, learn,
};
pub use rules::{Robots, RobotsVerdict, Rule, product_token};

#[cfg(test)]
mod tests;
