//! What a list says itself about when it is worth another look: its cache headers, and what a feed has in its head (`ttl`,
//! `skipHours`, `skipDays`, `sy:updatePeriod`). Pure.
//!
//! Believed for at most 24 hours: a wrong number in a template must not hide a source.

use std::time::Duration;

use quick_xml::events::Event;
use quick_xml::reader::Reader;
use serde::{Deserialize, Serialize};

use super::look::{HeldUntil, Layer};
use crate::clock::Timestamp;
use crate::extract::charset;

/// Nothing that a list says puts a look off for longer.
const LONGEST_MS: i64 = 24 * HOUR_MS;
const HOUR_MS: i64 = 3_600_000;
/// What a feed says of itself stands before its items.
const HEAD: usize = 256 << 10;
/// A week: beyond it, every hour is skipped.
const HOURS: i64 = 7 * 24;

/// What a list said when it was read.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Said {
    /// Until then its headers call it fresh.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub fresh_until: Option<Timestamp>,
    /// What it says as a feed, which is nothing for all other lists; none: it had not changed, and was not read.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub feed: Option<FeedSaid>,
}

/// What a feed says.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct FeedSaid {
    /// `ttl`, in minutes.
    #[serde(default)]
    pub ttl: u32,
    /// `sy:updatePeriod` by `sy:updateFrequency`, in minutes.
    #[serde(default)]
    pub period: u32,
    /// `skipHours`, by UTC: bit 0 to 23.
    #[serde(default)]
    pub skip_hours: u32,
    /// `skipDays`: bit 0 is Monday.
    #[serde(default)]
    pub skip_days: u8,
}

impl Said {
    /// What an answer that came at `now` says, which by its headers is `fresh` for so long. Without a body it is the page that
    /// is known.
    pub fn of(
        fresh: Option<Duration>,
        content_type: Option<&str>,
        body: Option<&[u8]>,
        now: Timestamp,
    ) -> Said {
        let until = |fresh: Duration| {
            let fresh = i64::try_from(fresh.as_millis()).unwrap_or(i64::MAX);
            Timestamp(now.0.saturating_add(fresh.min(LONGEST_MS)))
        };
        Said { fresh_until: fresh.map(until), feed: body.map(|body| FeedSaid::of(body, content_type)) }
    }

    /// What holds the next look back; `at` is when it would be otherwise.
    pub fn holds(&self, now: Timestamp, at: Timestamp) -> Vec<HeldUntil> {
        let latest = Timestamp(now.0.saturating_add(LONGEST_MS));
        let hold = |until: Timestamp, why: &str| HeldUntil {
            layer: Layer::Said,
            until: until.min(latest),
            why: why.to_owned(),
        };
        let minutes = |minutes: u32| Timestamp(now.0.saturating_add(i64::from(minutes) * 60_000));
        let feed = self.feed.unwrap_or_default();
        let mut holds = Vec::new();
        if let Some(until) = self.fresh_until {
            holds.push(hold(until, CACHE));
        }
        for (span, why) in [(feed.ttl, TTL), (feed.period, PERIOD)] {
            if span > 0 {
                holds.push(hold(minutes(span), why));
            }
        }
        let at = holds.iter().map(|hold| hold.until).fold(at, Timestamp::max);
        if let Some((until, why)) = feed.skipped(at) {
            holds.push(hold(until, why));
        }
        holds
    }
}

/// The words of [`HeldUntil::why`].
pub(super) const CACHE: &str = "the cache headers of its list";
pub(super) const TTL: &str = "the feed's ttl";
pub(super) const PERIOD: &str = "the feed's updatePeriod";
pub(super) const SKIP_HOURS: &str = "the feed's skipHours";
pub(super) const SKIP_DAYS: &str = "the feed's skipDays";

impl FeedSaid {
    fn of(body: &[u8], content_type: Option<&str>) -> FeedSaid {
        let head = &body[..body.len().min(HEAD)];
        let decoded = charset::decode(head, content_type);
        let text = decoded.text.trim_start_matches('\u{feff}').trim_start();
        let mut said = FeedSaid::default();
        if !text.starts_with('<') {
            return said;
        }
        let mut reader = Reader::from_str(text);
        let config = reader.config_mut();
        (config.check_end_names, config.allow_dangling_amp) = (false, true);
        let (mut is_feed, mut items, mut open) = (false, 0u32, String::new());
        let mut value = String::new();
        let (mut period, mut frequency) = (0u32, 1u32);
        // Up to the first mistake, or the end of what was looked at.
        while let Ok(event) = reader.read_event() {
            match event {
                Event::Start(tag) => {
                    let name = local(tag.name().0);
                    if !is_feed && !["rss", "feed", "rdf"].contains(&name.as_str()) {
                        return said;
                    }
                    is_feed = true;
                    items += u32::from(name == "item" || name == "entry");
                    (open, value) = (name, String::new());
                }
                Event::Text(text) if items == 0 && value.len() < 64 => value.push_str(&text),
                Event::CData(text) if items == 0 && value.len() < 64 => value.push_str(&text),
                Event::End(tag) => {
                    let name = local(tag.name().0);
                    if name == "item" || name == "entry" {
                        items = items.saturating_sub(1);
                    } else if items == 0 && name == open {
                        let word = value.trim();
                        let number = word.parse::<u32>().ok();
                        match name.as_str() {
                            "ttl" => said.ttl = number.unwrap_or(0),
                            "hour" => said.skip_hours |= number.map_or(0, |hour| 1 << (hour % 24)),
                            "day" => said.skip_days |= weekday(word),
                            "updateperiod" => period = minutes_of(word),
                            "updatefrequency" => frequency = number.unwrap_or(1).max(1),
                            _ => {}
                        }
                    }
                    open.clear();
                }
                Event::Eof => break,
                _ => {}
            }
        }
        said.period = period / frequency;
        said
    }

    /// Whether a moment is one to skip: until when, and which of the two says so.
    fn skipped(&self, at: Timestamp) -> Option<(Timestamp, &'static str)> {
        let hour_of = |at: Timestamp| at.0.div_euclid(HOUR_MS);
        let by = |hour: i64| {
            // 1970-01-01 was a Thursday.
            let day = (hour.div_euclid(24) + 3).rem_euclid(7);
            if self.skip_days >> day & 1 == 1 {
                Some(SKIP_DAYS)
            } else {
                (self.skip_hours >> hour.rem_euclid(24) & 1 == 1).then_some(SKIP_HOURS)
            }
        };
        let first = by(hour_of(at))?;
        let end = (hour_of(at) + 1..=hour_of(at) + HOURS).find(|hour| by(*hour).is_none())?;
        Some((Timestamp(end * HOUR_MS), first))
    }
}

fn local(name: &str) -> String {
    name.rsplit(':').next().unwrap_or(name).to_ascii_lowercase()
}

fn weekday(word: &str) -> u8 {
    const DAYS: [&str; 7] = ["monday", "tuesday", "wednesday", "thursday", "friday", "saturday", "sunday"];
    DAYS.iter().position(|day| day.eq_ignore_ascii_case(word)).map_or(0, |day| 1 << day)
}

fn minutes_of(period: &str) -> u32 {
    match period.to_ascii_lowercase().as_str() {
        "hourly" => 60,
        "daily" => 24 * 60,
        "weekly" => 7 * 24 * 60,
        "monthly" => 30 * 24 * 60,
        "yearly" => 365 * 24 * 60,
        _ => 0,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// 2026-04-10T01:30:00Z, a Friday.
    const NOW: Timestamp = Timestamp(1_775_784_600_000);

    fn at(minutes: i64) -> Timestamp {
        Timestamp(NOW.0 + minutes * 60_000)
    }

    #[test]
    fn a_feed_says_when_it_is_worth_another_look_in_its_head_and_nowhere_else() {
        let rss =
            |inner: &str| format!("\u{feff}\n<?xml version='1.0'?><rss><channel>{inner}</channel></rss>");
        for (text, expected) in [
            (rss("<ttl> 90 </ttl><item><ttl>5</ttl></item>"), FeedSaid { ttl: 90, ..FeedSaid::default() }),
            (
                rss("<skipHours><hour>0</hour><hour>24</hour><hour>5</hour></skipHours><skipDays><day>Saturday</day><day>Feiertag</day></skipDays>"),
                FeedSaid { skip_hours: 1 << 5 | 1, skip_days: 1 << 5, ..FeedSaid::default() },
            ),
            (
                "<rdf:RDF><channel><sy:updatePeriod>daily</sy:updatePeriod><sy:updateFrequency>4</sy:updateFrequency></channel></rdf:RDF>".into(),
                FeedSaid { period: 360, ..FeedSaid::default() },
            ),
            // After the items, and without an end.
            (rss("<item><title>a</title></item><ttl>7</ttl><item><title>&nbsp;&"), FeedSaid { ttl: 7, ..FeedSaid::default() }),
            (rss("<ttl>often</ttl><hour>x</hour>"), FeedSaid::default()),
            ("<html><body><ttl>90</ttl></body></html>".into(), FeedSaid::default()),
            ("{\"ttl\": 90}".into(), FeedSaid::default()),
            (String::new(), FeedSaid::default()),
        ] {
            assert_eq!(FeedSaid::of(text.as_bytes(), Some("text/xml; charset=utf-8")), expected, "{text}");
        }
    }

    #[test]
    fn what_a_list_says_holds_back_up_to_a_day_and_hours_are_skipped_after_everything_else() {
        let feed = |ttl, period, skip_hours, skip_days| FeedSaid { ttl, period, skip_hours, skip_days };
        for (fresh, feed, otherwise, expected) in [
            (None, feed(0, 0, 0, 0), 10, vec![]),
            (Some(20), feed(90, 0, 0, 0), 10, vec![(20, CACHE), (90, TTL)]),
            (None, feed(100_000, 10_080, 0, 0), 10, vec![(1_440, TTL), (1_440, PERIOD)]),
            // 03:00 is skipped, 02:59 is not; the ttl leads into it.
            (None, feed(0, 0, 1 << 3, 0), 89, vec![]),
            (None, feed(0, 0, 1 << 3, 0), 90, vec![(150, SKIP_HOURS)]),
            (None, feed(95, 0, 1 << 3, 0), 10, vec![(95, TTL), (150, SKIP_HOURS)]),
            // From Friday evening over a weekend: a day is all that is believed.
            (None, feed(0, 0, 0, 0b110_0000), 23 * 60, vec![(1_440, SKIP_DAYS)]),
            // Nobody skips all.
            (None, feed(0, 0, 0xff_ffff, 0), 10, vec![]),
        ] {
            let said = Said { fresh_until: fresh.map(at), feed: Some(feed) };
            let holds = said.holds(NOW, at(otherwise));
            let got: Vec<_> = holds.iter().map(|hold| (hold.until, hold.why.as_str())).collect();
            let expected: Vec<_> = expected.into_iter().map(|(until, why)| (at(until), why)).collect();
            assert_eq!(got, expected, "{feed:?}");
        }
    }

    #[test]
    fn headers_count_for_a_day_at_most_and_an_unchanged_list_says_nothing_new_as_a_feed() {
        let said = Said::of(Some(Duration::from_secs(u64::MAX)), None, None, NOW);
        assert_eq!(said, Said { fresh_until: Some(at(1_440)), feed: None });
        assert_eq!(Said::of(None, None, Some(b""), NOW).feed, Some(FeedSaid::default()));
    }
}
