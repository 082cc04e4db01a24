//! What the performance table is made from: small experiments that compare dibao with plain code for the same job,
//! in one run on one machine. Ratios are the result; seconds are only shown beside them.
//!
//! `bare` is the yardstick and knows nothing of dibao; `contender` is dibao through its public interface.
//! Nothing here asserts a speed: a figure that misses its goal is printed as such.
#![deny(missing_docs)]

pub mod bare;
pub mod contender;
pub mod crawl;
pub mod figures;
pub mod gate;
pub mod languages;
pub mod list;
pub mod load;
pub mod pages;
pub mod queue;
pub mod schedule;
pub mod search;
pub mod serve;
pub mod usage;
pub mod world;
