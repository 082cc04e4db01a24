//! The crawl loop as a pure state machine: what to do next, and why a run ends.
//!
//! ```text
//!            ┌──────────── page recorded ───────────┐
//!            ▼                                      │
//! begin ─▶ Drain ── frontier empty ─▶ List ── rows ─┘
//!            │                          │
//!            └── listing done ──▶ End ◀─┴── list unreadable or unchanged, cancelled
//! ```
//!
//! It begins with `Drain` because the frontier may hold what an earlier run left behind.

use super::dedup::{Decision, Row, StopRule, Streak, decide};
use crate::store::{RunCounts, RunOptions, RunState};

/// No list is read deeper than this in one run, whatever a site file says (S2-21).
pub const HARD_MAX_PAGES: u32 = 5_000;

/// Why a run ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum StopReason {
    /// The list has no further page.
    LastPage,
    /// As many entries as were asked for were listed.
    MaxItems,
    /// The page limit was reached.
    MaxPages,
    /// Known articles were reached (S2-3).
    EarlyStop,
    /// A list page could not be read.
    ListFailed,
    /// Stopped on request; the next run goes on.
    Cancelled,
    /// The host is left alone for a while (C6); the next run goes on.
    Cooldown,
    /// The list has not changed since a run last read it to its end, says its server.
    Unchanged,
}

impl StopReason {
    /// The name under which it is stored.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::LastPage => "last_page",
            Self::MaxItems => "max_items",
            Self::MaxPages => "max_pages",
            Self::EarlyStop => "early_stop",
            Self::ListFailed => "list_failed",
            Self::Cancelled => "cancelled",
            Self::Cooldown => "cooldown",
            Self::Unchanged => "unchanged",
        }
    }
}

/// Where a run ends at the latest.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Bounds {
    /// Rows to look at.
    pub max_items: Option<u32>,
    /// List pages to read.
    pub max_pages: u32,
    /// When known rows end the run.
    pub stop: StopRule,
}

/// What the runner does next.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Action {
    /// Fetch what waits in the frontier.
    Drain,
    /// Read the next list page.
    List,
    /// Close the run.
    End(StopReason),
}

/// What a list page comes to.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PagePlan {
    /// One decision per row; rows beyond `max_items` have none.
    pub decisions: Vec<Decision>,
    /// What the page adds to the counters.
    pub counts: RunCounts,
    /// Whether this was the last page, and why.
    pub done: Option<StopReason>,
}

/// The loop.
#[derive(Clone, Debug)]
pub struct Crawl {
    bounds: Bounds,
    phase: Phase,
    pages: u32,
    listed: u32,
    streak: Streak,
    done: Option<StopReason>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Phase {
    Drain,
    List,
    End,
}

impl Crawl {
    /// Begins a run, or takes one up where the store says it was left.
    pub fn new(bounds: Bounds, state: &RunState) -> Self {
        Crawl {
            bounds,
            phase: Phase::Drain,
            pages: state.pages,
            listed: state.counts.listed,
            streak: Streak::default(),
            done: state.listing_done.then_some(StopReason::LastPage),
        }
    }

    /// What to do now.
    pub fn action(&self) -> Action {
        match (self.phase, self.done) {
            (Phase::Drain, _) => Action::Drain,
            (Phase::List, None) => Action::List,
            (Phase::List | Phase::End, reason) => Action::End(reason.unwrap_or(StopReason::LastPage)),
        }
    }

    /// The frontier is empty.
    pub fn drained(&mut self) {
        self.phase = if self.done.is_some() { Phase::End } else { Phase::List };
    }

    /// A list page came, with what is known of its rows.
    pub fn listed(&mut self, rows: &[Row], has_next: bool) -> PagePlan {
        let room = self.bounds.max_items.map_or(u32::MAX, |max| max.saturating_sub(self.listed)) as usize;
        let taken = &rows[..rows.len().min(room)];
        let (decisions, border) = decide(taken, self.bounds.stop, &mut self.streak);
        // Rows below the border were on the page and not looked at.
        let listed = decisions.iter().filter(|decision| **decision != Decision::BelowBorder).count() as u32;
        self.pages += 1;
        self.listed += listed;
        self.done = if border {
            Some(StopReason::EarlyStop)
        } else if self.bounds.max_items.is_some_and(|max| self.listed >= max) {
            Some(StopReason::MaxItems)
        } else if !has_next {
            Some(StopReason::LastPage)
        } else if self.pages >= self.bounds.max_pages.min(HARD_MAX_PAGES) {
            Some(StopReason::MaxPages)
        } else {
            None
        };
        self.phase = Phase::Drain;
        let duplicate = decisions.iter().filter(|decision| decision.is_duplicate()).count() as u32;
        let counts = RunCounts { listed, duplicate, ..RunCounts::default() };
        PagePlan { decisions, counts, done: self.done }
    }

    /// A list page could not be read: what waits is kept, the run ends.
    pub fn list_failed(&mut self) {
        self.end(StopReason::ListFailed);
    }

    /// The list is the one that was read before.
    pub fn unchanged(&mut self) {
        self.end(StopReason::Unchanged);
    }

    /// Somebody asked to stop.
    pub fn cancelled(&mut self) {
        self.end(StopReason::Cancelled);
    }

    fn end(&mut self, reason: StopReason) {
        self.done = Some(reason);
        self.phase = Phase::End;
    }
}

/// Whether this run reads the whole list though nobody asked it to: every `every`-th run does, so
/// that posts slipped in below the border are found (I11).
pub fn is_full_sweep(runs_before: u32, every: Option<u32>) -> bool {
    every.is_some_and(|every| every > 0 && runs_before > 0 && runs_before.is_multiple_of(every))
}

/// A run that was taken up again has read an old list; this is the run that follows it at once, so
/// that the caller also gets what was published since. A backfill that was asked for and has just
/// been finished is not begun again.
pub fn follow_up(finished: &RunOptions, asked: &RunOptions) -> RunOptions {
    RunOptions { max_items: asked.max_items, force: asked.force && !finished.force }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::clock::Timestamp;
    use crate::store::Known;

    fn state() -> RunState {
        RunState {
            run_id: 1,
            resumed: false,
            options: RunOptions::default(),
            cursor: None,
            session: vec![],
            pages: 0,
            listing_done: false,
            counts: RunCounts::default(),
            runs_of_target: 0,
            gap: false,
        }
    }

    fn bounds(max_items: Option<u32>, max_pages: u32) -> Bounds {
        Bounds { max_items, max_pages, stop: StopRule { after: None, force: false } }
    }

    fn rows(count: usize, known: Known) -> Vec<Row> {
        (0..count)
            .map(|index| Row {
                known,
                seen_in_run: false,
                pinned: false,
                published: Some(Timestamp(-(index as i64))),
            })
            .collect()
    }

    #[test]
    fn a_run_drains_what_was_left_before_it_lists() {
        let mut crawl = Crawl::new(bounds(None, 9), &state());
        assert_eq!(crawl.action(), Action::Drain);
        crawl.drained();
        assert_eq!(crawl.action(), Action::List);
        assert_eq!(crawl.listed(&rows(2, Known::New), true).done, None);
        assert_eq!(crawl.action(), Action::Drain);
    }

    #[test]
    fn max_items_cuts_a_page() {
        let mut crawl = Crawl::new(bounds(Some(3), 9), &state());
        crawl.drained();
        let plan = crawl.listed(&rows(20, Known::New), true);
        assert_eq!((plan.decisions.len(), plan.done), (3, Some(StopReason::MaxItems)));
        crawl.drained();
        assert_eq!(crawl.action(), Action::End(StopReason::MaxItems));
    }

    #[test]
    fn a_resumed_run_counts_what_it_listed_before() {
        let mut before = state();
        before.counts.listed = 18;
        before.pages = 1;
        let mut crawl = Crawl::new(bounds(Some(20), 9), &before);
        crawl.drained();
        assert_eq!(crawl.listed(&rows(20, Known::New), true).decisions.len(), 2);
    }

    #[test]
    fn a_run_killed_after_its_last_page_only_drains() {
        let before = RunState { listing_done: true, ..state() };
        let mut crawl = Crawl::new(bounds(None, 9), &before);
        assert_eq!(crawl.action(), Action::Drain);
        crawl.drained();
        assert_eq!(crawl.action(), Action::End(StopReason::LastPage));
    }

    #[test]
    fn the_page_limit_ends_the_run_with_its_reason() {
        let mut crawl = Crawl::new(bounds(None, 2), &state());
        for expected in [None, Some(StopReason::MaxPages)] {
            crawl.drained();
            assert_eq!(crawl.listed(&rows(2, Known::New), true).done, expected);
        }
    }

    #[test]
    fn an_unreadable_list_ends_the_run() {
        let mut crawl = Crawl::new(bounds(None, 2), &state());
        crawl.drained();
        crawl.list_failed();
        assert_eq!(crawl.action(), Action::End(StopReason::ListFailed));
    }

    #[test]
    fn every_nth_run_is_a_full_sweep_and_the_first_is_not() {
        assert!(!is_full_sweep(0, Some(10)));
        assert!(is_full_sweep(10, Some(10)));
        assert!(!is_full_sweep(11, Some(10)));
        assert!(!is_full_sweep(10, None));
        assert!(!is_full_sweep(10, Some(0)));
    }

    #[test]
    fn a_finished_backfill_is_not_begun_again() {
        let forced = RunOptions { max_items: None, force: true };
        let plain = RunOptions { max_items: Some(5), force: false };
        assert!(!follow_up(&forced, &forced).force);
        assert!(follow_up(&plain, &forced).force);
        assert_eq!(follow_up(&forced, &plain), plain);
    }

    proptest! {
        #[test]
        fn the_loop_always_ends_and_never_lists_more_than_asked(
            max_items in proptest::option::of(0u32..50),
            max_pages in 1u32..20,
            pages in proptest::collection::vec((0usize..30, any::<bool>(), any::<bool>()), 1..40),
        ) {
            let mut crawl = Crawl::new(bounds(max_items, max_pages), &state());
            let mut listed = 0;
            let mut turns = 0;
            let mut pages = pages.into_iter().cycle();
            loop {
                turns += 1;
                prop_assert!(turns < 200);
                match crawl.action() {
                    Action::Drain => crawl.drained(),
                    Action::List => {
                        let (count, fresh, next) = pages.next().unwrap();
                        let known = if fresh { Known::New } else { Known::SameTarget };
                        listed += crawl.listed(&rows(count, known), next).counts.listed;
                    }
                    Action::End(_) => break,
                }
            }
            prop_assert!(max_items.is_none_or(|max| listed <= max));
        }
    }
}
