//! Which rows of a list page are new, and when known ones end an incremental run.
//!
//! Lists are newest first, so the first article that this target already holds is the border of
//! history (S2-3). Three things look like that border and are not: an old post kept at the top
//! (I11), a post that another column stored (I10), and a row that came up twice in one run (S2-41).

use crate::clock::Timestamp;
use crate::store::Known;

/// What the decision needs to know of one row.
#[derive(Clone, Debug, PartialEq)]
pub struct Row {
    /// What the store knows of it.
    pub known: Known,
    /// The same address came up earlier in this run (L3).
    pub seen_in_run: bool,
    /// The site marks it as kept at the top.
    pub pinned: bool,
    /// Publication time, where the list shows one.
    pub published: Option<Timestamp>,
}

/// When known rows end a run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct StopRule {
    /// So many known rows in a row; none = 1, or 3 on a list with pinned posts (I11).
    pub after: Option<u32>,
    /// Never stop at known rows (S2-4).
    pub force: bool,
}

/// What happens to one row.
#[derive(Clone, Copy, Debug, PartialEq, Eq, serde::Serialize, schemars::JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Decision {
    /// Fetch it.
    Fetch,
    /// This target stored it before.
    DuplicateUrlHash,
    /// Another target stored it, or it is stored under another address.
    DuplicateOtherTarget,
    /// It came up earlier in this run.
    SeenInRun,
    /// It is in the frontier already and will be fetched from there.
    Waiting,
    /// It was given up earlier: gone, or unreadable.
    GivenUp,
    /// It stands below the border at which the run stopped.
    BelowBorder,
}

impl Decision {
    /// Whether it counts as a duplicate in the report.
    pub fn is_duplicate(self) -> bool {
        matches!(self, Self::DuplicateUrlHash | Self::DuplicateOtherTarget | Self::SeenInRun)
    }
}

/// How many known rows came in a row so far; carried from page to page.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Streak(pub u32);

/// Decides every row of a page. The flag says whether the border of history was reached.
pub fn decide(rows: &[Row], rule: StopRule, streak: &mut Streak) -> (Vec<Decision>, bool) {
    let has_pins = rows.iter().any(|row| row.pinned);
    let threshold = rule.after.unwrap_or(if has_pins { 3 } else { 1 }).max(1);
    let mut stopped = false;
    let mut decisions = Vec::with_capacity(rows.len());
    for (index, row) in rows.iter().enumerate() {
        if stopped {
            decisions.push(Decision::BelowBorder);
            continue;
        }
        let decision = if row.seen_in_run {
            Decision::SeenInRun
        } else {
            match row.known {
                Known::New => Decision::Fetch,
                Known::SameTarget => Decision::DuplicateUrlHash,
                // Seen by this run before it was interrupted.
                Known::ThisRun => Decision::SeenInRun,
                Known::OtherTarget => Decision::DuplicateOtherTarget,
                Known::Waiting => Decision::Waiting,
                // Whoever asks for everything may have mended a selector since.
                Known::Dead if rule.force => Decision::Fetch,
                Known::Dead => Decision::GivenUp,
            }
        };
        match decision {
            Decision::Fetch => streak.0 = 0,
            Decision::DuplicateUrlHash if !stands_too_high(rows, index) => {
                streak.0 += 1;
                stopped = !rule.force && streak.0 >= threshold;
            }
            _ => {}
        }
        decisions.push(decision);
    }
    (decisions, stopped)
}

/// A row that is marked as pinned, or is older than the row below it: its place says nothing about
/// where history begins.
fn stands_too_high(rows: &[Row], index: usize) -> bool {
    let row = &rows[index];
    let below = rows.get(index + 1).and_then(|next| next.published);
    row.pinned || matches!((row.published, below), (Some(here), Some(below)) if here < below)
}

#[cfg(test)]
mod tests {
    use super::*;

    const INCREMENTAL: StopRule = StopRule { after: None, force: false };

    fn row(known: Known, day: i64) -> Row {
        Row { known, seen_in_run: false, pinned: false, published: Some(Timestamp(day * 86_400_000)) }
    }

    fn run(rows: &[Row], rule: StopRule) -> (Vec<Decision>, bool) {
        decide(rows, rule, &mut Streak::default())
    }

    #[test]
    fn the_first_article_of_this_target_ends_the_run() {
        let rows = [row(Known::New, 9), row(Known::SameTarget, 8), row(Known::New, 7)];
        let (decisions, stopped) = run(&rows, INCREMENTAL);
        assert!(stopped);
        assert_eq!(decisions, [Decision::Fetch, Decision::DuplicateUrlHash, Decision::BelowBorder]);
    }

    #[test]
    fn an_article_of_another_target_is_skipped_and_the_run_goes_on() {
        let rows = [row(Known::OtherTarget, 9), row(Known::New, 8)];
        assert_eq!(run(&rows, INCREMENTAL), (vec![Decision::DuplicateOtherTarget, Decision::Fetch], false));
    }

    #[test]
    fn a_pinned_old_post_does_not_end_the_run() {
        let mut rows = vec![row(Known::SameTarget, 1), row(Known::New, 9), row(Known::New, 8)];
        rows[0].pinned = true;
        let (decisions, stopped) = run(&rows, INCREMENTAL);
        assert!(!stopped);
        assert_eq!(decisions[1..], [Decision::Fetch, Decision::Fetch]);
    }

    #[test]
    fn an_unmarked_old_post_above_newer_ones_does_not_end_the_run() {
        let rows = [row(Known::SameTarget, 1), row(Known::New, 9), row(Known::SameTarget, 8)];
        let (decisions, stopped) = run(&rows, INCREMENTAL);
        assert!(stopped);
        assert_eq!(decisions, [Decision::DuplicateUrlHash, Decision::Fetch, Decision::DuplicateUrlHash]);
    }

    #[test]
    fn a_list_with_pins_wants_three_known_rows_in_a_row() {
        let mut rows = vec![row(Known::SameTarget, 1)];
        rows[0].pinned = true;
        rows.extend([row(Known::SameTarget, 9), row(Known::New, 8)]);
        rows.extend((4..8).rev().map(|day| row(Known::SameTarget, day)));
        let (decisions, stopped) = run(&rows, INCREMENTAL);
        assert!(stopped);
        assert_eq!(decisions[2], Decision::Fetch);
        assert_eq!(decisions[6], Decision::BelowBorder);
    }

    #[test]
    fn force_never_stops_and_still_skips_what_is_known() {
        let rows = [row(Known::SameTarget, 9), row(Known::SameTarget, 8), row(Known::New, 7)];
        let (decisions, stopped) = run(&rows, StopRule { after: None, force: true });
        assert!(!stopped);
        assert_eq!(decisions[2], Decision::Fetch);
    }

    #[test]
    fn what_was_given_up_is_tried_again_only_by_force() {
        let rows = [row(Known::Dead, 9)];
        assert_eq!(run(&rows, INCREMENTAL).0, [Decision::GivenUp]);
        assert_eq!(run(&rows, StopRule { after: None, force: true }).0, [Decision::Fetch]);
    }

    #[test]
    fn the_streak_is_carried_over_pages() {
        let rule = StopRule { after: Some(3), force: false };
        let mut streak = Streak::default();
        assert!(!decide(&[row(Known::SameTarget, 9), row(Known::SameTarget, 8)], rule, &mut streak).1);
        assert!(decide(&[row(Known::SameTarget, 7)], rule, &mut streak).1);
    }

    #[test]
    fn rows_without_dates_stop_as_usual() {
        let mut rows = [row(Known::SameTarget, 0), row(Known::New, 0)];
        rows.iter_mut().for_each(|row| row.published = None);
        assert!(run(&rows, INCREMENTAL).1);
    }
}
