//! What is known of hosts: copies of their robots.txt.
//!
//! A row that cannot be read any more is no row: what it held is only asked for again.

use rusqlite::{Connection, OptionalExtension, params};

use super::rows::{Fault, json};
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

#[cfg(test)]
mod tests {
    use super::super::tests::open;
    use crate::clock::Timestamp;
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
    async fn a_copy_that_cannot_be_read_is_none() {
        let dir = tempfile::tempdir().unwrap();
        drop(open(dir.path()));
        let db = rusqlite::Connection::open(crate::store::database_path(dir.path())).unwrap();
        db.execute("INSERT INTO robots_copy VALUES ('https://a.cn', 'rubbish', 1)", []).unwrap();
        let origin = Origin::of(&"https://a.cn/".parse().unwrap()).unwrap();
        assert_eq!(open(dir.path()).robots(&origin).await.unwrap(), None);
    }
}
