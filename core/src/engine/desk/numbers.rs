//! Numbers to watch: which moments are counted from is decided here, by the engine's zone.

use chrono::{Days, NaiveDate, NaiveTime, TimeZone};
use chrono_tz::Tz;

use super::Desk;
use crate::clock::Timestamp;
use crate::desk::{DayCount, DeptCount, Freshness, Overview, SiteCount, TargetHealth};
use crate::store::{Marks, Span};
use crate::{Refusal, Result};

const HOUR: i64 = 3_600_000;
/// Days that are counted at most.
const MOST_DAYS: u32 = 366;

impl Desk {
    /// The dashboard.
    pub async fn overview(&self) -> Result<Overview> {
        Ok(self.store().overview(self.marks()).await?)
    }

    /// Articles by site.
    pub async fn stats_by_site(&self) -> Result<Vec<SiteCount>> {
        Ok(self.store().site_counts(self.marks()).await?)
    }

    /// Articles by department; the last row is what has none.
    pub async fn stats_by_department(&self) -> Result<Vec<DeptCount>> {
        Ok(self.store().dept_counts(self.marks()).await?)
    }

    /// Articles by day, of the last so many days (1 to 366), the oldest first; of one site or of all.
    pub async fn stats_by_day(&self, days: u32, site: Option<&str>) -> Result<Vec<DayCount>> {
        if days == 0 || days > MOST_DAYS {
            let fix = format!("write 1 to {MOST_DAYS}");
            return Err(Refusal::invalid("days", format!("{days} days cannot be counted"), fix).into());
        }
        if let Some(code) = site {
            self.known_site(code).await?;
        }
        let zone = self.engine.inner.settings.zone;
        let today = self.now().to_utc().with_timezone(&zone).date_naive();
        let spans = (0..days).rev().filter_map(|back| {
            let day = today.checked_sub_days(Days::new(back.into()))?;
            let next = day.succ_opt()?;
            Some(Span { day: day.to_string(), from: midnight(day, zone), to: midnight(next, zone) })
        });
        Ok(self.store().day_counts(spans.collect(), site.map(str::to_owned)).await?)
    }

    /// How fresh each site is.
    pub async fn freshness(&self) -> Result<Vec<Freshness>> {
        Ok(self.store().freshness().await?)
    }

    /// How a target is doing: what fails, since when, why, and what to try.
    pub async fn target_health(&self, code: &str) -> Result<TargetHealth> {
        match self.store().target_health(code).await? {
            Some(health) => Ok(health),
            None => Err(self.engine.unknown_target(code).await?),
        }
    }

    fn marks(&self) -> Marks {
        let zone = self.engine.inner.settings.zone;
        let now = self.now();
        let today = now.to_utc().with_timezone(&zone).date_naive();
        let week = today.checked_sub_days(Days::new(6)).unwrap_or(today);
        let hour = now.0.div_euclid(HOUR) * HOUR;
        let hours = (0..24).rev().map(|back| Timestamp(hour - back * HOUR)).collect();
        Marks { now, today: midnight(today, zone), week: midnight(week, zone), hours }
    }
}

/// The first moment of a day, also where the clock jumps over midnight.
fn midnight(day: NaiveDate, zone: Tz) -> Timestamp {
    let wall = |hour| day.and_time(NaiveTime::from_hms_opt(hour, 0, 0).unwrap_or_default());
    let first = (0..4).find_map(|hour| zone.from_local_datetime(&wall(hour)).earliest());
    first.map_or_else(|| Timestamp::from(wall(0).and_utc()), Timestamp::from)
}
