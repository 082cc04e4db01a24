//! The better adaptive policy, `adaptive: predictive`: looks at the moments where items are expected to wait.
//!
//! A proportional policy like [`classic`](super::classic) spends its looks where there are many items, not where a look
//! saves waiting. Here each source has a decayed rate times a picture of its day and week in its own zone, bent by
//! the age of its last item (clusters, or one notice a day); the time ahead is cut into pieces with so many expected items each, and the looks are laid so that the waiting of all
//! expected items plus the price of the looks is least (Sia, Cho & Cho 2007; Azar et al. 2018). One price for all
//! sources makes the interval of an even source go by the square root of its rate. An item of a slow source weighs
//! more, by `1 + 6 / rate`: that is the weighting which serves the mean delay over items *and* over sources. The rate in
//! this weight is that of months, and the expected items are those of today: so a slow source is not starved, and yet a
//! source that falls silent gives its looks to others and one that wakes up gets them.
//!
//! Publish times that tell nothing (midnight sharp from a source that does it always, not before the look that found
//! them, not after the look before) count as "somewhere between two looks".
//!
//! What it gains is printed by `dibao schedule simulate --synthetic`; see [`simulate`](super::simulate).

mod calendar;
mod habit;
mod minute;
mod plan;
mod pulse;
mod rate;
mod source;
#[cfg(test)]
mod tests;

pub use calendar::{Day, day_of};
pub use source::{Mode, Reason, Source};
