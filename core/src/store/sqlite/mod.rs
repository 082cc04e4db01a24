//! The store on SQLite: one file, one writer thread that commits in groups, readers beside it.
//!
//! What each step writes is in `sites`, `runs` and `articles` as functions of a connection; how steps are
//! put into transactions and answered is in `writer`; this file joins them to the trait.

mod articles;
mod backup;
mod desk;
mod hosts;
mod lists;
mod migrate;
mod queue;
mod readers;
mod rows;
mod runs;
mod schedule;
mod search;
mod sites;
mod table;
#[cfg(test)]
mod tests;
mod writer;

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use rusqlite::{Connection, OpenFlags};

use super::error::StoreError;
use super::files::{Durability, Files};
use super::search::segment;
use super::types::{
    ArticleQuery, ArticleRecord, EntryKey, FailedEntry, FailureRecord, Known, ListValidators, PageRecord,
    Recorded, RunEnd, RunOptions, RunState, SiteChange,
};
use super::{Store, StoreFuture};
use crate::clock::Timestamp;
use crate::fetch::hosts::HostRow;
use crate::fetch::ledger::Ledger;
use crate::fetch::reserve::{Reserved, Wish};
use crate::fetch::robots::{Origin, RobotsCopy};
use crate::model::{Article, Entry, Pace, RequestLog, Site, Target};
use crate::schedule::classic::SourceStats;
use crate::schedule::look::Look;
pub use backup::{Backup, restore};
pub(crate) use desk::{ArticleFiles, AuditEntry, Marks, SiteWrite, Span, TargetWrite};
use readers::Readers;
use rows::Fault;
use writer::Writer;

/// Name of the database in the data directory.
pub const DATABASE: &str = "dibao.db";

/// How long a statement waits for another process. Its longest reason is a checkpoint on a slow disk.
const BUSY: Duration = Duration::from_secs(10);

/// How often a transaction is begun anew after [`BUSY`] passed, before the caller hears of it.
const BUSY_TRIES: u32 = 3;

/// The store in a data directory.
///
/// Dropping it waits until every step that was accepted is written.
#[derive(Clone, Debug)]
pub struct SqliteStore {
    shared: Arc<Shared>,
    /// What is written through this handle is written under this lease, or not at all.
    fence: Option<i64>,
}

#[derive(Debug)]
struct Shared {
    files: Files,
    // Dropped in this order: the writer is the last to close the database, and so leaves one tidy file.
    readers: Readers,
    writer: Writer,
}

impl SqliteStore {
    /// Opens `dibao.db` in the data directory of `files`; makes it, or brings its schema up to date, first.
    pub fn open(files: Files) -> Result<SqliteStore, StoreError> {
        let path: Arc<Path> = files.root().join(DATABASE).into();
        let mut connection = connect(&path, files.durability())?;
        migrate::migrate(&mut connection, &path)?;
        search_what_is_new(&mut connection, &path, &files)?;
        let readers = Readers::new(path.clone(), files.durability());
        let writer = Writer::start(connection, path, files.clone())?;
        Ok(SqliteStore { shared: Arc::new(Shared { files, readers, writer }), fence: None })
    }

    /// Builds the full-text index anew; `told` hears how many articles are left. Searches find less until it is done.
    pub async fn reindex(&self, told: impl Fn(u64)) -> Result<(), StoreError> {
        let mut left = self.write("forgot its full-text index", search::forget).await?;
        while left > 0 {
            told(left);
            let files = self.files().clone();
            left = self.write("built its full-text index", move |db| search::work_off(db, &files)).await?;
        }
        told(0);
        Ok(())
    }

    /// The files beside the rows.
    pub fn files(&self) -> &Files {
        &self.shared.files
    }

    fn write<T, F>(&self, doing: &'static str, mut step: F) -> StoreFuture<'_, T>
    where
        T: Send + 'static,
        F: FnMut(&Connection) -> Result<T, Fault> + Send + 'static,
    {
        match self.fence {
            None => Box::pin(self.shared.writer.run(doing, step)),
            Some(token) => Box::pin(self.shared.writer.run(doing, move |db| {
                queue::fence(db, token)?;
                step(db)
            })),
        }
    }

    fn read<T, F>(&self, doing: &'static str, query: F) -> StoreFuture<'_, T>
    where
        T: Send + 'static,
        F: FnOnce(&Connection) -> Result<T, Fault> + Send + 'static,
    {
        Box::pin(self.shared.readers.run(doing, query))
    }
}

/// Indexes articles from before there was an index, piece by piece: who is killed goes on where he was.
fn search_what_is_new(db: &mut Connection, path: &Path, files: &Files) -> Result<(), StoreError> {
    let doing = "built its full-text index";
    let begun = |error| StoreError::sql(path, doing, error);
    let some: bool =
        db.query_row("SELECT EXISTS (SELECT 1 FROM search_backlog)", [], |row| row.get(0)).map_err(begun)?;
    let mut left = u64::from(some);
    while left > 0 {
        let piece = db.transaction_with_behavior(rusqlite::TransactionBehavior::Immediate).map_err(begun)?;
        left = search::work_off(&piece, files).map_err(|fault| fault.at(path, doing))?;
        piece.commit().map_err(begun)?;
        tracing::info!(left, "articles are added to the full-text index");
    }
    Ok(())
}

/// Opens a connection with everything set that a connection carries.
fn connect(path: &Path, durability: Durability) -> Result<Connection, StoreError> {
    let fail = |error| StoreError::sql(path, "opened it", error);
    let flags =
        OpenFlags::SQLITE_OPEN_READ_WRITE | OpenFlags::SQLITE_OPEN_CREATE | OpenFlags::SQLITE_OPEN_NO_MUTEX;
    let connection = Connection::open_with_flags(path, flags).map_err(fail)?;
    connection.busy_timeout(BUSY).map_err(fail)?;
    // Two processes that make the same new database at once: the switch to WAL does not wait by itself.
    let mut tries = 0;
    while let Err(error) = connection.pragma_update(None, "journal_mode", "wal") {
        tries += 1;
        if tries >= 100 || error.sqlite_error_code() != Some(rusqlite::ErrorCode::DatabaseBusy) {
            return Err(fail(error));
        }
        std::thread::sleep(Duration::from_millis(20));
    }
    // In WAL mode, NORMAL survives a killed process and FULL the loss of power: one fsync per commit.
    let synchronous = match durability {
        Durability::Process => "normal",
        Durability::Power => "full",
    };
    for (name, value) in [
        ("synchronous", synchronous),
        ("foreign_keys", "on"),
        ("temp_store", "memory"),
        // 16 MB of pages, in KiB as SQLite wants it.
        ("cache_size", "-16000"),
        // A checkpoint every 16 MB of log instead of 4: a backfill rewrites the same index pages over and over.
        ("wal_autocheckpoint", "4000"),
        ("journal_size_limit", "67108864"),
    ] {
        connection.pragma_update(None, name, value).map_err(fail)?;
    }
    connection.set_prepared_statement_cache_capacity(64);
    Ok(connection)
}

impl Store for SqliteStore {
    fn put_site(&self, site: Site, targets: Vec<Target>) -> StoreFuture<'_, SiteChange> {
        self.write("stored a site", move |db| sites::put_site(db, &site, &targets))
    }

    fn put_target(&self, site: &str, target: Target) -> StoreFuture<'_, Target> {
        let site = site.to_owned();
        self.write("stored a target", move |db| sites::put_target(db, &site, &target))
    }

    fn sites(&self) -> StoreFuture<'_, Vec<Site>> {
        self.read("read the sites", sites::sites)
    }

    fn site(&self, code: &str) -> StoreFuture<'_, Option<Site>> {
        let code = code.to_owned();
        self.read("read a site", move |db| sites::site(db, &code))
    }

    fn targets(&self, site: Option<&str>) -> StoreFuture<'_, Vec<(Site, Target)>> {
        let site = site.map(str::to_owned);
        self.read("read the targets", move |db| sites::targets(db, site.as_deref(), None))
    }

    fn target(&self, code: &str) -> StoreFuture<'_, Option<(Site, Target)>> {
        let code = code.to_owned();
        self.read("read a target", move |db| Ok(sites::targets(db, None, Some(&code))?.pop()))
    }

    fn set_target_enabled(&self, code: &str, on: bool) -> StoreFuture<'_, bool> {
        let code = code.to_owned();
        self.write("switched a target", move |db| sites::set_target_enabled(db, &code, on))
    }

    fn set_target_pace(&self, code: &str, pace: Pace) -> StoreFuture<'_, bool> {
        let code = code.to_owned();
        self.write("set a target's pace", move |db| sites::set_target_pace(db, &code, &pace))
    }

    fn begin_run(&self, target_id: i64, options: RunOptions, now: Timestamp) -> StoreFuture<'_, RunState> {
        self.write("began a run", move |db| runs::begin(db, target_id, &options, now))
    }

    fn known(&self, site_id: i64, target_id: i64, keys: Vec<EntryKey>) -> StoreFuture<'_, Vec<Known>> {
        self.read("looked up entries", move |db| {
            keys.iter().map(|key| articles::known(db, site_id, target_id, key)).collect()
        })
    }

    fn record_page(&self, mut page: PageRecord) -> StoreFuture<'_, Vec<Entry>> {
        self.write("recorded a list page", move |db| runs::record_page(db, &mut page))
    }

    fn waiting(&self, target_id: i64, limit: u32) -> StoreFuture<'_, Vec<Entry>> {
        self.read("read the frontier", move |db| runs::waiting(db, target_id, limit))
    }

    fn record_article(&self, mut record: ArticleRecord) -> StoreFuture<'_, Recorded> {
        // Cut into words and cleaned here, on the caller's thread: the writer is the narrow place. The whole text is searched,
        // though the row will hold its beginning only.
        let body = segment(search::searched(&record.article.content_text));
        let cut = articles::clean(&mut record);
        let words = search::Words::of(&record.article, body);
        self.write("recorded an article", move |db| articles::record(db, &record, &cut, &words))
    }

    fn record_failure(&self, mut failure: FailureRecord) -> StoreFuture<'_, ()> {
        self.write("recorded a failure", move |db| runs::record_failure(db, &mut failure))
    }

    fn failures(&self, target_id: i64, run: Option<i64>, limit: u32) -> StoreFuture<'_, Vec<FailedEntry>> {
        self.read("read the failures", move |db| runs::failures(db, target_id, run, limit))
    }

    fn log_requests(&self, site_id: i64, target_id: i64, mut log: Vec<RequestLog>) -> StoreFuture<'_, ()> {
        self.write("logged requests", move |db| {
            runs::insert_log(db, site_id, target_id, None, &mut log).map_err(Fault::from)
        })
    }

    fn end_run(&self, run_id: i64, end: RunEnd, now: Timestamp) -> StoreFuture<'_, ()> {
        self.write("ended a run", move |db| runs::end(db, run_id, &end, now))
    }

    fn list_validators(&self, target_id: i64) -> StoreFuture<'_, Option<ListValidators>> {
        self.read("read the version of a list", move |db| lists::validators(db, target_id))
    }

    fn keep_list_validators(&self, target_id: i64, kept: ListValidators) -> StoreFuture<'_, ()> {
        self.write("kept the version of a list", move |db| lists::keep(db, target_id, &kept))
    }

    fn record_look(&self, look: Look) -> StoreFuture<'_, Option<SourceStats>> {
        self.write("planned the next look", move |db| schedule::record_look(db, &look).map(Some))
    }

    fn article(&self, id: i64) -> StoreFuture<'_, Option<Article>> {
        self.read("read an article", move |db| articles::by_id(db, id))
    }

    fn find_article(&self, key: &str) -> StoreFuture<'_, Option<Article>> {
        let key = key.trim().to_owned();
        self.read("looked for an article", move |db| articles::find(db, &key))
    }

    fn articles(&self, query: ArticleQuery) -> StoreFuture<'_, Vec<Article>> {
        self.read("read articles", move |db| articles::page(db, &query))
    }

    fn robots(&self, origin: &Origin) -> StoreFuture<'_, Option<RobotsCopy>> {
        let origin = origin.clone();
        self.read("read a copy of robots.txt", move |db| hosts::robots(db, &origin))
    }

    fn save_robots(&self, origin: &Origin, copy: &RobotsCopy) -> StoreFuture<'_, ()> {
        let (origin, copy) = (origin.clone(), copy.clone());
        self.write("kept a copy of robots.txt", move |db| hosts::save_robots(db, &origin, &copy))
    }

    fn host(&self, host: &str) -> StoreFuture<'_, Option<HostRow>> {
        let host = host.to_owned();
        self.read("read a host", move |db| hosts::host(db, &host))
    }

    fn hosts(&self) -> StoreFuture<'_, Vec<(String, HostRow)>> {
        self.read("read the hosts", hosts::hosts)
    }

    fn save_hosts(&self, rows: Vec<(String, HostRow)>, now: Timestamp) -> StoreFuture<'_, ()> {
        self.write("stored what is known of hosts", move |db| hosts::save_hosts(db, &rows, now))
    }

    fn reserve_start(&self, host: &str, wish: Wish) -> StoreFuture<'_, Option<Reserved>> {
        let host = host.to_owned();
        self.write("stored the start of a request", move |db| {
            hosts::reserve_start(db, &host, &wish).map(Some)
        })
    }

    fn host_days(&self, host: Option<&str>, limit: u32) -> StoreFuture<'_, Vec<(String, Ledger)>> {
        let host = host.map(str::to_owned);
        self.read("read the ledger", move |db| hosts::days(db, host.as_deref(), limit))
    }

    fn fenced(&self, token: i64) -> Arc<dyn Store> {
        Arc::new(SqliteStore { shared: self.shared.clone(), fence: Some(token) })
    }

    fn check(&self) -> StoreFuture<'_, Vec<String>> {
        let files = self.shared.files.clone();
        self.read("checked itself", move |db| articles::check(db, &files))
    }
}

/// The database of a data directory.
pub fn database_path(data_dir: &Path) -> PathBuf {
    data_dir.join(DATABASE)
}
