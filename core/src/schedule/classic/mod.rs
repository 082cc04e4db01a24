//! The compatible adaptive policy, `adaptive: classic`: the cadences P0–P6 of the smart scheduler (S0).
//!
//! Every number here is the seed's, so that a set of sources moved over from it behaves as before. The policy that new
//! targets get is the sibling module `predictive`; `dibao schedule simulate` shows what the two do to the same sources.
//!
//! Times are seconds since 1970 as in the seed (C13). Now, the random number and the zone are arguments.
//!
//! ```
//! use dibao::schedule::classic::{Cadence, Entry, Frequency, classify_update_frequency};
//! let daily: Vec<Entry> = (0..10).rev().map(|day| Entry::at(1_700_000_000 + day * 86_400)).collect();
//! assert_eq!(classify_update_frequency(&daily, chrono_tz::Asia::Shanghai), (Frequency::Daily, Cadence::P2));
//! ```

mod backoff;
mod cadence;
mod entry;
mod next;
#[cfg(test)]
mod properties;
mod stats;

pub use backoff::calculate_backoff;
pub use cadence::{Cadence, Frequency, cadence_of_interval};
pub use entry::{Entry, calculate_publish_time_stats, classify_update_frequency, typical_hour};
pub use next::calculate_next_check_time;
pub use stats::{Looked, SourceStats, due_sources, update_source_stats};
