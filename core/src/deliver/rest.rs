//! When a channel may be told something: how many messages a minute it takes, and until when it asked to be left alone. Pure.
//!
//! Of this process only: another one that tells the same channel hears of its limit by itself, with one message.

use std::collections::VecDeque;

use crate::clock::Timestamp;

const MINUTE: i64 = 60_000;

/// What is remembered of one channel.
#[derive(Clone, Debug, Default)]
pub(super) struct Rest {
    until: Option<(Timestamp, String)>,
    sent: VecDeque<Timestamp>,
}

impl Rest {
    /// Lets a message go now, and counts it; else until when it waits, and why.
    pub fn go(&mut self, per_minute: Option<usize>, now: Timestamp) -> Result<(), (Timestamp, String)> {
        if let Some((until, why)) = &self.until {
            if *until > now {
                return Err((*until, why.clone()));
            }
            self.until = None;
        }
        let Some(most) = per_minute else { return Ok(()) };
        // What lies in the future was before the clock was set back.
        self.sent.retain(|at| (0..MINUTE).contains(&(now.0.saturating_sub(at.0))));
        if self.sent.len() >= most
            && let Some(first) = self.sent.front()
        {
            let until = Timestamp(first.0.saturating_add(MINUTE));
            return Err((until, format!("the channel takes {most} messages a minute")));
        }
        self.sent.push_back(now);
        Ok(())
    }

    /// It asked to be left alone.
    pub fn rests(&mut self, until: Timestamp, why: String) {
        if self.until.as_ref().is_none_or(|(known, _)| *known < until) {
            self.until = Some((until, why));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_channel_is_told_so_much_a_minute_and_nothing_while_it_rests() {
        let mut rest = Rest::default();
        let at = Timestamp;
        assert_eq!([0, 1, 2].map(|ms| rest.go(Some(2), at(ms)).is_ok()), [true, true, false]);
        assert_eq!(rest.go(Some(2), at(59_999)).unwrap_err().0, at(60_000));
        assert!(rest.go(Some(2), at(60_000)).is_ok());
        assert!(rest.go(Some(2), at(-9)).is_ok(), "the clock was set back");
        rest.rests(at(70_000), "not so fast".into());
        rest.rests(at(65_000), "a little".into());
        assert_eq!(rest.go(None, at(69_999)), Err((at(70_000), "not so fast".into())));
        assert!(rest.go(None, at(70_000)).is_ok());
    }
}
