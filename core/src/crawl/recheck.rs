//! When an incremental run may ask whether its list has changed at all, and when what the list was answered with is
//! worth keeping for the next run. Pure; asking is the gate's business, keeping the store's.
//!
//! "Unchanged" ends a run at once, so it has to mean that there is nothing to do: the run that the validators are of
//! came to its end, everything it found is settled, and it read the page with the same adapter and settings.

use sha2::{Digest, Sha256};

use super::context::CrawlContext;
use super::step::{Bounds, StopReason};
use crate::clock::Timestamp;
use crate::store::{ListValidators, RunState};

/// A server that says "unchanged" for ever is believed for a day: then the list is read whatever it says.
const BELIEVED_FOR_MS: i64 = 24 * 3_600_000;

/// All that a list page's reading depends on beside the page: what was kept under another basis says nothing.
pub(super) fn basis(ctx: &CrawlContext) -> String {
    let bounds = format!("{} {:?}", ctx.bounds.max_pages, ctx.bounds.stop.after);
    digest(&[
        env!("CARGO_PKG_VERSION"),
        ctx.adapter.sha256(),
        &ctx.config,
        &ctx.target.entry_url,
        &ctx.site.base_url,
        &bounds,
    ])
}

/// Each part with its length before it: no two lists of parts look alike.
fn digest(parts: &[&str]) -> String {
    let mut hash = Sha256::new();
    for part in parts {
        hash.update((part.len() as u64).to_le_bytes());
        hash.update(part);
    }
    hash.finalize().iter().map(|byte| format!("{byte:02x}")).collect()
}

/// Whether this run may be ended by "unchanged": one from the top of the list that stops at known articles, with
/// nothing left to fetch from earlier ones.
pub(super) fn may_ask(run: &RunState, bounds: &Bounds, frontier_is_empty: bool) -> bool {
    !run.resumed && run.cursor.is_none() && run.pages == 0 && frontier_is_empty && !bounds.stop.force
}

/// Whether what was kept still holds.
pub(super) fn still_holds(kept: &ListValidators, basis: &str, now: Timestamp) -> bool {
    kept.basis == basis && (0..BELIEVED_FOR_MS).contains(&now.0.saturating_sub(kept.saved_at.0))
}

/// Whether a run that ended so has seen all that its list had for it.
pub(super) fn is_worth_keeping(reason: StopReason) -> bool {
    match reason {
        StopReason::LastPage | StopReason::EarlyStop | StopReason::MaxPages => true,
        // Fewer entries were asked for than there may be, or the list was not read to its end.
        StopReason::MaxItems | StopReason::ListFailed | StopReason::Cancelled | StopReason::Cooldown => false,
        // What was kept is kept, with its age.
        StopReason::Unchanged => false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::crawl::dedup::StopRule;
    use crate::fetch::Validators;
    use crate::store::{RunCounts, RunOptions};

    fn fresh() -> RunState {
        RunState {
            run_id: 1,
            resumed: false,
            options: RunOptions::default(),
            cursor: None,
            session: vec![],
            pages: 0,
            listing_done: false,
            counts: RunCounts::default(),
            runs_of_target: 3,
            gap: false,
        }
    }

    fn bounds(force: bool) -> Bounds {
        Bounds { max_items: None, max_pages: 9, stop: StopRule { after: None, force } }
    }

    #[test]
    fn only_a_fresh_incremental_run_with_nothing_left_over_asks() {
        assert!(may_ask(&fresh(), &bounds(false), true));
        assert!(!may_ask(&fresh(), &bounds(false), false), "entries wait");
        assert!(!may_ask(&fresh(), &bounds(true), true), "a forced run, a sweep, a gap");
        assert!(!may_ask(&RunState { resumed: true, ..fresh() }, &bounds(false), true));
        assert!(!may_ask(&RunState { cursor: Some("2".into()), ..fresh() }, &bounds(false), true));
        assert!(!may_ask(&RunState { pages: 1, ..fresh() }, &bounds(false), true));
    }

    #[test]
    fn what_was_kept_holds_for_a_day_and_under_its_own_basis() {
        let validators =
            Validators { url: "https://a.cn/".into(), etag: Some("\"1\"".into()), last_modified: None };
        let kept = ListValidators { validators, basis: "b".into(), saved_at: Timestamp(1000) };
        let holds = |basis: &str, now| still_holds(&kept, basis, Timestamp(now));
        assert!(holds("b", 1000) && holds("b", 999 + BELIEVED_FOR_MS));
        assert!(!holds("b", 1000 + BELIEVED_FOR_MS), "a server may be wrong for a day, not for ever");
        assert!(!holds("b", 999), "kept in the future");
        assert!(!holds("c", 1000), "another adapter, config or version");
    }

    #[test]
    fn a_run_that_did_not_see_all_keeps_nothing() {
        use StopReason::*;
        for (reason, keeps) in [
            (LastPage, true),
            (EarlyStop, true),
            (MaxPages, true),
            (MaxItems, false),
            (ListFailed, false),
            (Cancelled, false),
            (Cooldown, false),
            (Unchanged, false),
        ] {
            assert_eq!(is_worth_keeping(reason), keeps, "{reason:?}");
        }
    }

    #[test]
    fn parts_of_a_basis_do_not_run_into_each_other() {
        assert_ne!(digest(&["ab", "c"]), digest(&["a", "bc"]));
        assert_ne!(digest(&["a"]), digest(&["a", ""]));
        assert_eq!(digest(&["a"]).len(), 64);
    }
}
