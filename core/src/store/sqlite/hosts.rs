//! What is known of hosts: copies of their robots.txt, their state, and what was done to them day by day.
//!
//! A row that cannot be read any more is no row: what it held is only asked for again.

use rusqlite::{Connection, OptionalExtension, params};

use super::rows::{Fault, json};
use crate::clock::Timestamp;
use crate::fetch::hosts::HostRow;
use crate::fetch::ledger::Ledger;
use crate::fetch::reserve::{Reserved, Wish, reserve};
use crate::fetch::robots::{Origin, RobotsCopy};

/// The copy last saved for an origin.
pub(super) fn robots(db: &Connection, origin: &Origin) -> Result<Option<RobotsCopy>, Fault> {
    let text: Option<String> = db
        .prepare_cached("SELECT copy_json FROM robots_copy WHERE origin = ?")?
        .query_row([origin.as_str()], |row| row.get(0))
        .optional()?;
    Ok(text.and_then(|text| serde_json::from_str(&text).ok()))
}

/// Keeps a copy in place of the one before.
pub(super) fn save_robots(db: &Connection, origin: &Origin, copy: &RobotsCopy) -> Result<(), Fault> {
    db.prepare_cached(
        "INSERT INTO robots_copy (origin, copy_json, fetched_at) VALUES (?1, ?2, ?3)
         ON CONFLICT (origin) DO UPDATE SET copy_json = ?2, fetched_at = ?3",
    )?
    .execute(params![origin.as_str(), json(copy), copy.fetched_at.0])?;
    Ok(())
}

/// What is stored of one host.
pub(super) fn host(db: &Connection, host: &str) -> Result<Option<HostRow>, Fault> {
    let text: Option<String> = db
        .prepare_cached("SELECT state_json FROM host_state WHERE host = ?")?
        .query_row([host], |row| row.get(0))
        .optional()?;
    Ok(text.and_then(|text| serde_json::from_str(&text).ok()))
}

/// What is stored of all hosts, by name.
pub(super) fn hosts(db: &Connection) -> Result<Vec<(String, HostRow)>, Fault> {
    let mut statement = db.prepare_cached("SELECT host, state_json FROM host_state ORDER BY host")?;
    let rows = statement.query_map([], |row| Ok((row.get(0)?, row.get::<_, String>(1)?)))?;
    let mut found = Vec::new();
    for row in rows {
        let (host, text) = row?;
        found.extend(serde_json::from_str(&text).ok().map(|row| (host, row)));
    }
    Ok(found)
}

/// Joins rows with those that are stored and adds up their days. In one transaction, so what another process wrote
/// in the meantime is not lost.
pub(super) fn save_hosts(db: &Connection, rows: &[(String, HostRow)], now: Timestamp) -> Result<(), Fault> {
    for (name, row) in rows {
        let joined = match host(db, name)? {
            Some(stored) => row.clone().join(stored, now),
            None => row.clone(),
        };
        keep(db, name, &joined, now)?;
        for day in row.days.iter().filter(|day| !day.is_empty()) {
            add_day(db, name, day)?;
        }
    }
    Ok(())
}

/// Takes the next start of a host, if it is free.
pub(super) fn reserve_start(db: &Connection, name: &str, wish: &Wish) -> Result<Reserved, Fault> {
    let mut row = host(db, name)?.unwrap_or_default();
    let reserved = reserve(&mut row, wish);
    if reserved == Reserved::Go {
        keep(db, name, &row, wish.now)?;
    }
    Ok(reserved)
}

fn keep(db: &Connection, name: &str, row: &HostRow, now: Timestamp) -> Result<(), Fault> {
    db.prepare_cached(
        "INSERT INTO host_state (host, state_json, updated_at) VALUES (?1, ?2, ?3)
         ON CONFLICT (host) DO UPDATE SET state_json = ?2, updated_at = ?3",
    )?
    .execute(params![name, json(row), now.0])?;
    Ok(())
}

fn add_day(db: &Connection, host: &str, day: &Ledger) -> Result<(), Fault> {
    let verdicts = &day.verdicts;
    db.prepare_cached(
        "INSERT INTO host_day (host, day, requests, bytes, ok, thin, challenge, blocked, gone, retry_after,
             server_error, wrong_content, network_error, robots_denied, refused, retry_after_honoured, cooldowns)
         VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12, ?13, ?14, ?15, ?16, ?17)
         ON CONFLICT (host, day) DO UPDATE SET
             requests = requests + ?3, bytes = bytes + ?4, ok = ok + ?5, thin = thin + ?6,
             challenge = challenge + ?7, blocked = blocked + ?8, gone = gone + ?9,
             retry_after = retry_after + ?10, server_error = server_error + ?11,
             wrong_content = wrong_content + ?12, network_error = network_error + ?13,
             robots_denied = robots_denied + ?14, refused = refused + ?15,
             retry_after_honoured = retry_after_honoured + ?16, cooldowns = cooldowns + ?17",
    )?
    .execute(params![
        host,
        day.day.to_string(),
        day.requests,
        i64::try_from(day.bytes).unwrap_or(i64::MAX),
        verdicts.ok,
        verdicts.thin,
        verdicts.challenge,
        verdicts.blocked,
        verdicts.gone,
        verdicts.retry_after,
        verdicts.server_error,
        verdicts.wrong_content,
        verdicts.network_error,
        day.robots_denied,
        day.refused,
        day.retry_after_honoured,
        day.cooldowns,
    ])?;
    Ok(())
}

/// The ledger of one host or of all, the newest days first.
pub(super) fn days(db: &Connection, host: Option<&str>, limit: u32) -> Result<Vec<(String, Ledger)>, Fault> {
    let mut statement = db.prepare_cached(
        "SELECT * FROM host_day WHERE ?1 IS NULL OR host = ?1 ORDER BY day DESC, host LIMIT ?2",
    )?;
    let rows = statement.query_map(params![host, limit], |row| {
        let mut ledger =
            Ledger { day: row.get::<_, String>("day")?.parse().unwrap_or_default(), ..Ledger::default() };
        ledger.bytes = row.get::<_, i64>("bytes")?.max(0) as u64;
        for (counter, name) in ledger.counters() {
            *counter = row.get::<_, i64>(name)?.clamp(0, u32::MAX.into()) as u32;
        }
        Ok((row.get("host")?, ledger))
    })?;
    Ok(rows.collect::<Result<_, _>>()?)
}

#[cfg(test)]
mod tests {
    use super::super::tests::open;
    use crate::clock::Timestamp;
    use crate::fetch::breaker::Why;
    use crate::fetch::hosts::HostRow;
    use crate::fetch::ledger::{Day, Ledger};
    use crate::fetch::robots::{Origin, RobotsCopy};
    use crate::store::Store;

    #[tokio::test]
    async fn a_robots_copy_survives_the_process_and_a_later_one_takes_its_place() {
        let dir = tempfile::tempdir().unwrap();
        let origin = Origin::of(&"https://www.gd.gov.cn/a".parse().unwrap()).unwrap();
        for (at, body) in [(1, &b"User-agent: *"[..]), (2, b"Disallow: /\xcd\xa8")] {
            let copy = RobotsCopy::new(Timestamp(at), 200, body);
            let store = open(dir.path());
            store.save_robots(&origin, &copy).await.unwrap();
            drop(store);
            assert_eq!(open(dir.path()).robots(&origin).await.unwrap(), Some(copy));
        }
        let other = Origin::of(&"http://www.gd.gov.cn/".parse().unwrap()).unwrap();
        assert_eq!(open(dir.path()).robots(&other).await.unwrap(), None);
    }

    #[tokio::test]
    async fn the_days_of_two_processes_add_up_and_their_rows_are_joined() {
        let dir = tempfile::tempdir().unwrap();
        let now = Timestamp(1_794_988_800_000);
        let mut day = Ledger { day: Day::of(now), requests: 2, bytes: 10, ..Ledger::default() };
        day.verdicts.challenge = 1;
        let mut cooled = HostRow { days: vec![day.clone()], ..HostRow::default() };
        cooled.cool(Timestamp(now.0 + 60_000), Why::Operator, now);
        let later = Timestamp(now.0 + 5);
        let other = HostRow { days: vec![day], seen_at: later, breaker_at: later, ..HostRow::default() };
        for row in [cooled, other] {
            open(dir.path()).save_hosts(vec![("a.gov.cn".to_owned(), row)], now).await.unwrap();
        }
        let store = open(dir.path());
        let row = store.host("a.gov.cn").await.unwrap().unwrap();
        assert_eq!(row.breaker.refusal(now), Some((Timestamp(now.0 + 60_000), Why::Operator)));
        assert_eq!(store.hosts().await.unwrap(), [("a.gov.cn".to_owned(), row)]);
        let (host, day) = store.host_days(None, 9).await.unwrap().remove(0);
        assert_eq!(
            (host.as_str(), day.day, day.requests, day.bytes, day.verdicts.challenge),
            ("a.gov.cn", Day::of(now), 4, 20, 2)
        );
        assert!(store.host_days(Some("b.gov.cn"), 9).await.unwrap().is_empty());
    }

    #[tokio::test]
    async fn a_copy_that_cannot_be_read_is_none() {
        let dir = tempfile::tempdir().unwrap();
        drop(open(dir.path()));
        let db = rusqlite::Connection::open(crate::store::database_path(dir.path())).unwrap();
        db.execute("INSERT INTO robots_copy VALUES ('https://a.cn', 'rubbish', 1)", []).unwrap();
        let origin = Origin::of(&"https://a.cn/".parse().unwrap()).unwrap();
        assert_eq!(open(dir.path()).robots(&origin).await.unwrap(), None);
    }
}
