//! Tables over the whole syntax, and the search against a scan of every minute.

mod describe;
mod scan;
mod syntax;

use chrono::{DateTime, Utc};
use chrono_tz::Tz;

use super::{CronExpr, Dialect};

fn cron(text: &str) -> CronExpr {
    CronExpr::parse(text).unwrap_or_else(|error| panic!("{error}"))
}

fn with_seconds(text: &str) -> CronExpr {
    let dialect = Dialect { seconds: true, ..Dialect::default() };
    CronExpr::parse_as(text, dialect).unwrap_or_else(|error| panic!("{error}"))
}

fn utc(text: &str) -> DateTime<Utc> {
    DateTime::parse_from_rfc3339(text).unwrap_or_else(|error| panic!("{text}: {error}")).to_utc()
}

/// The next `count` moments, as local times.
fn times(cron: &CronExpr, from: &str, zone: Tz, count: usize) -> Vec<String> {
    let mut at = utc(from);
    let mut found = Vec::new();
    while found.len() < count {
        let Some(next) = cron.next_after(at, zone) else { break };
        assert!(next.to_utc() > at, "{cron} goes back");
        at = next.to_utc();
        found.push(next.format("%Y-%m-%d %H:%M:%S %z").to_string().replace(":00 +0000", ""));
    }
    found
}
