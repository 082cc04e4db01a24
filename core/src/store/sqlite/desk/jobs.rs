//! A page of the list of jobs. Its cost is that of the page: sums come from a table of counts, and the newest rows of each
//! group (one state of one kind) from an index, merged here.

use rusqlite::{Connection, params};

use super::super::queue;
use super::super::rows::Fault;
use crate::Refusal;
use crate::clock::Timestamp;
use crate::desk::{Cursor, KindWaiting, Page, Paging};
use crate::queue::{Job, JobQuery};

/// No page begins deeper than this without a cursor.
const DEEPEST: u64 = 100_000;
const LIST: &str = "jobs";

const COUNTS: &str =
    "SELECT kind, state, sum(jobs) FROM job_count WHERE ?1 IS NULL AND (?2 IS NULL OR kind = ?2)
    GROUP BY kind, state HAVING sum(jobs) > 0";
const COUNTS_OF_LANE: &str =
    "SELECT kind, state, jobs FROM job_count WHERE lane = ?1 AND (?2 IS NULL OR kind = ?2) AND jobs > 0";
const NEWEST: &str = "SELECT id FROM job WHERE id < ?1 ORDER BY id DESC LIMIT ?2";
const NEWEST_OF_GROUP: &str =
    "SELECT id FROM job WHERE ?1 IS NULL AND kind = ?2 AND state = ?3 AND id < ?4 ORDER BY id DESC LIMIT ?5";
const NEWEST_OF_LANE: &str =
    "SELECT id FROM job WHERE lane = ?1 AND kind = ?2 AND state = ?3 AND id < ?4 ORDER BY id DESC LIMIT ?5";

/// The kinds of jobs that could start and were due before this moment.
pub(super) fn waiting(db: &Connection, before: Timestamp) -> Result<Vec<KindWaiting>, Fault> {
    let mut rows = db.prepare_cached(
        "SELECT kind, count(*), min(due_at) FROM job WHERE state = 'queued' AND due_at < ? GROUP BY kind",
    )?;
    let rows = rows.query_map([before.0], |row| {
        Ok(KindWaiting {
            kind: row.get(0)?,
            jobs: row.get::<_, i64>(1)?.unsigned_abs(),
            since: Timestamp(row.get(2)?),
        })
    })?;
    Ok(rows.collect::<Result<_, _>>()?)
}

pub(super) fn page(db: &Connection, query: &JobQuery, paging: &Paging) -> Result<Page<Job>, Fault> {
    let limit = paging.rows()?;
    let asked = format!("{:?} {:?} {:?}", query.states, query.lane, query.kind);
    let place = paging.place(LIST)?;
    if place.as_ref().is_some_and(|place| place.asked != asked) {
        return Err(
            Refusal::invalid("cursor", "belongs to another list", "use it with the same filters").into()
        );
    }
    let (before, skip, seen) = match &place {
        Some(place) => (place.id, 0, place.seen),
        None if paging.skip() > DEEPEST => {
            let fix = format!("go on with `cursor`, or begin at {DEEPEST} at most");
            return Err(Refusal::invalid("offset", format!("{} is too deep", paging.skip()), fix).into());
        }
        None => (i64::MAX, paging.skip() as usize, paging.skip()),
    };
    let groups = groups(db, query)?;
    let total: u64 = groups.iter().map(|group| group.jobs).sum();
    let reach = skip + limit as usize;
    let all = query.lane.is_none() && query.kind.is_none() && query.states.is_empty();
    let ids = match all {
        true => newest_of_all(db, before, reach)?,
        false => newest(db, query.lane.as_deref(), &groups, before, reach)?,
    };
    let items = ids.into_iter().skip(skip).map(|id| queue::job(db, id)).collect::<Result<Vec<_>, _>>()?;
    let items: Vec<Job> = items.into_iter().flatten().collect();
    let next = seen + items.len() as u64;
    let more = items.len() == limit as usize && next < total;
    let cursor = items
        .last()
        .filter(|_| more)
        .map(|last| Cursor { id: last.id, seen: next, asked, ..Cursor::default() }.write(LIST));
    Ok(Page { count: items.len() as u32, total, total_exact: true, limit, offset: seen, items, cursor })
}

/// Jobs of one kind in one state.
struct Group {
    kind: String,
    state: String,
    jobs: u64,
}

fn groups(db: &Connection, query: &JobQuery) -> Result<Vec<Group>, Fault> {
    let mut found = db.prepare_cached(if query.lane.is_some() { COUNTS_OF_LANE } else { COUNTS })?;
    let rows = found.query_map(params![query.lane, query.kind], |row| {
        Ok(Group { kind: row.get(0)?, state: row.get(1)?, jobs: row.get::<_, i64>(2)?.unsigned_abs() })
    })?;
    let mut groups = rows.collect::<Result<Vec<_>, _>>()?;
    if !query.states.is_empty() {
        groups.retain(|group| query.states.iter().any(|state| state.as_str() == group.state));
    }
    Ok(groups)
}

fn newest_of_all(db: &Connection, before: i64, reach: usize) -> Result<Vec<i64>, Fault> {
    let mut found = db.prepare_cached(NEWEST)?;
    Ok(found.query_map(params![before, reach as i64], |row| row.get(0))?.collect::<Result<_, _>>()?)
}

/// Of each group so many, of all of them together so many.
fn newest(
    db: &Connection,
    lane: Option<&str>,
    groups: &[Group],
    before: i64,
    reach: usize,
) -> Result<Vec<i64>, Fault> {
    let mut found = db.prepare_cached(if lane.is_some() { NEWEST_OF_LANE } else { NEWEST_OF_GROUP })?;
    let mut ids: Vec<i64> = Vec::new();
    for group in groups {
        let of = params![lane, group.kind, group.state, before, reach as i64];
        for id in found.query_map(of, |row| row.get(0))? {
            ids.push(id?);
        }
        ids.sort_unstable_by(|a, b| b.cmp(a));
        ids.truncate(reach);
    }
    Ok(ids)
}

#[cfg(test)]
mod tests {
    use super::super::super::{DATABASE, tests::open};
    use super::*;
    use crate::queue::JobState;
    use rusqlite::StatementStatus;

    const FILL: &str = "
        INSERT OR IGNORE INTO lane (name) VALUES ('a.gov.cn'), ('b.gov.cn'), ('serial');
        WITH RECURSIVE n (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < ?1)
        INSERT INTO job (kind, lane, state, rank, order_at, due_at, created_at, finished_at)
        SELECT CASE i % 7 WHEN 0 THEN 'deliver' ELSE 'crawl' END,
               CASE WHEN i % 7 = 0 THEN 'serial' WHEN i % 2 = 0 THEN 'a.gov.cn' ELSE 'b.gov.cn' END,
               CASE WHEN i <= 3 THEN 'failed' WHEN i % 3 = 0 THEN 'queued' ELSE 'done' END,
               0, i, i, i, CASE WHEN i > 3 AND i % 3 = 0 THEN NULL ELSE i END FROM n";

    fn filled(jobs: u32) -> (tempfile::TempDir, Connection) {
        let dir = tempfile::tempdir().unwrap();
        drop(open(dir.path()));
        let db = Connection::open(dir.path().join(DATABASE)).unwrap();
        db.execute_batch(&FILL.replace("?1", &jobs.to_string())).unwrap();
        (dir, db)
    }

    fn asked(states: &[JobState], lane: Option<&str>, kind: Option<&str>) -> JobQuery {
        let (lane, kind) = (lane.map(str::to_owned), kind.map(str::to_owned));
        JobQuery { states: states.to_vec(), lane, kind, ..JobQuery::default() }
    }

    fn questions() -> Vec<JobQuery> {
        use JobState::{Done, Failed, Queued, Running};
        vec![
            asked(&[], None, None),
            // All three are at the very end of the list.
            asked(&[Failed], None, None),
            asked(&[Running], None, None),
            asked(&[Queued, Failed], None, Some("crawl")),
            asked(&[], Some("serial"), None),
            asked(&[Failed, Done], Some("a.gov.cn"), Some("crawl")),
            asked(&[Queued], Some("a.gov.cn"), Some("deliver")),
        ]
    }

    /// What the engine of the database did for it, in its own steps.
    fn steps(db: &Connection, query: &JobQuery, paging: &Paging) -> i64 {
        let all = [COUNTS, COUNTS_OF_LANE, NEWEST, NEWEST_OF_GROUP, NEWEST_OF_LANE];
        let count = || -> i64 {
            let of = |sql: &str| db.prepare_cached(sql).unwrap().get_status(StatementStatus::VmStep);
            all.iter().map(|sql| i64::from(of(sql))).sum()
        };
        let before = count();
        page(db, query, paging).unwrap();
        count() - before
    }

    #[test]
    fn a_page_of_forty_thousand_jobs_costs_what_a_page_of_four_thousand_does() {
        let ((_few_dir, few), (_many_dir, many)) = (filled(4_000), filled(40_000));
        for query in questions() {
            for paging in [Paging::first(50), Paging { offset: Some(100), ..Paging::first(50) }] {
                let (small, large) = (steps(&few, &query, &paging), steps(&many, &query, &paging));
                assert!(large <= small + small / 5 + 50, "{query:?}: {small} steps, then {large}");
            }
        }
    }

    #[test]
    fn pages_are_what_one_statement_over_everything_would_say() {
        let (_dir, db) = filled(500);
        db.execute_batch(
            "DELETE FROM job WHERE id % 10 = 3; UPDATE job SET lane = 'serial' WHERE id % 10 = 4",
        )
        .unwrap();
        for query in questions() {
            let expected: Vec<i64> = queue::jobs(&db, &JobQuery { limit: 10_000, ..query.clone() })
                .unwrap()
                .iter()
                .map(|job| job.id)
                .collect();
            let (mut found, mut paging) = (Vec::new(), Paging::first(37));
            loop {
                let page = page(&db, &query, &paging).unwrap();
                assert_eq!((page.total, page.total_exact), (expected.len() as u64, true), "{query:?}");
                let skipped = Paging { offset: Some(found.len() as u64), ..Paging::first(37) };
                assert_eq!(super::page(&db, &query, &skipped).unwrap().items, page.items, "{query:?}");
                found.extend(page.items.iter().map(|job| job.id));
                match page.cursor {
                    Some(cursor) => paging.cursor = Some(cursor),
                    None => break,
                }
            }
            assert_eq!(found, expected, "{query:?}");
        }
        let first = page(&db, &questions()[0], &Paging::first(5)).unwrap();
        let foreign = Paging { cursor: first.cursor, ..Paging::first(5) };
        assert!(page(&db, &questions()[1], &foreign).is_err(), "a cursor of another list");
        assert!(
            page(&db, &questions()[0], &Paging { offset: Some(DEEPEST + 1), ..Paging::first(5) }).is_err()
        );
    }
}
