//! WHEN: what makes a source due, as pure functions: no clock, no randomness and no table of their own.

pub mod classic;
pub mod cron;
pub mod policy;
pub mod predictive;
pub mod simulate;
