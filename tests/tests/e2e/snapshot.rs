//! A data directory as a value: everything that two crawls of one site must agree on.

use std::collections::BTreeMap;
use std::path::Path;

use dibao::store::database_path;
use rusqlite::{Connection, OpenFlags, types::Value};
use sha2::{Digest as _, Sha256};

/// Rows and files, without what may differ: times, durations, and the numbers of runs.
#[derive(Debug, PartialEq)]
pub struct Snapshot {
    /// Column values by row number, as the article took it from the frontier.
    pub articles: BTreeMap<i64, Vec<(String, Value)>>,
    /// Values by article and address.
    pub attachments: Vec<Vec<(String, Value)>>,
    /// What still waits in the frontier.
    pub waiting: Vec<Vec<(String, Value)>>,
    /// sha256 of every file by its path.
    pub files: BTreeMap<String, String>,
}

impl Snapshot {
    /// Reads a data directory that nobody writes.
    pub fn of(data: &Path) -> Snapshot {
        let db = open(data);
        let articles = rows(&db, "SELECT * FROM article ORDER BY id", &["fetched_at", "run_id"]);
        let id = |row: &Vec<(String, Value)>| match row.first() {
            Some((_, Value::Integer(id))) => *id,
            other => panic!("an article without a number: {other:?}"),
        };
        Snapshot {
            articles: articles.into_iter().map(|row| (id(&row), row)).collect(),
            // Numbered in the order of commits, which two articles under way at once do not promise.
            attachments: rows(&db, "SELECT * FROM attachment ORDER BY article_id, url", &["id"]),
            waiting: rows(&db, "SELECT url, state, error_class FROM entry ORDER BY id", &[]),
            files: tree(data),
        }
    }

    /// Fails with the first difference instead of two whole stores.
    pub fn assert_same(&self, other: &Snapshot) {
        let titles = |snapshot: &Snapshot| snapshot.articles.keys().copied().collect::<Vec<_>>();
        assert_eq!(titles(self), titles(other), "the numbers of the articles");
        for (id, row) in &self.articles {
            assert_eq!(row, &other.articles[id], "article {id}");
        }
        assert_eq!(self.attachments.len(), other.attachments.len(), "attachments");
        for (ours, theirs) in self.attachments.iter().zip(&other.attachments) {
            assert_eq!(ours, theirs);
        }
        assert_eq!(self.waiting, other.waiting, "the frontier");
        for path in self.files.keys().chain(other.files.keys()) {
            assert_eq!(self.files.get(path), other.files.get(path), "the file {path}");
        }
    }
}

/// The database, for questions that the store has no word for.
pub fn open(data: &Path) -> Connection {
    Connection::open_with_flags(database_path(data), OpenFlags::SQLITE_OPEN_READ_ONLY).expect("the database")
}

/// One number from the database.
pub fn number(data: &Path, sql: &str) -> i64 {
    open(data).query_row(sql, [], |row| row.get(0)).unwrap_or_else(|error| panic!("{sql}: {error}"))
}

fn rows(db: &Connection, sql: &str, without: &[&str]) -> Vec<Vec<(String, Value)>> {
    let mut query = db.prepare(sql).expect("a query");
    let names: Vec<String> = query.column_names().map(ToString::to_string).collect();
    let read = query.query_map([], |row| {
        names
            .iter()
            .filter(|name| !without.contains(&name.as_str()))
            .map(|name| Ok((name.clone(), row.get(name.as_str())?)))
            .collect()
    });
    read.and_then(Iterator::collect).expect("rows")
}

/// Every file below the data directory that belongs to its content: not the database, the compiled adapters, the locks.
pub fn tree(data: &Path) -> BTreeMap<String, String> {
    let mut files = BTreeMap::new();
    let mut open = vec![data.to_path_buf()];
    while let Some(dir) = open.pop() {
        for item in std::fs::read_dir(&dir).expect("a directory") {
            let path = item.expect("a directory entry").path();
            let rel = path.strip_prefix(data).expect("below the root").to_string_lossy().into_owned();
            if path.is_dir() {
                if !["cache", "locks"].contains(&rel.as_str()) {
                    open.push(path);
                }
            } else if !rel.starts_with(&database_name()) {
                files.insert(rel, sha256(&std::fs::read(&path).expect("a file")));
            }
        }
    }
    files
}

/// The database and what SQLite lays beside it.
fn database_name() -> String {
    database_path(Path::new("")).to_string_lossy().into_owned()
}

/// sha256 in hex.
pub fn sha256(bytes: &[u8]) -> String {
    Sha256::digest(bytes).iter().map(|byte| format!("{byte:02x}")).collect()
}
