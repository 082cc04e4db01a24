//! Dirty data, full and damaged disks, other processes.

use super::*;
use rusqlite::params;
use std::sync::Arc;

#[tokio::test]
async fn dirty_data_is_cut_and_told_and_never_costs_the_article() {
    let dir = tempfile::tempdir().unwrap();
    let bench = Bench::open(dir.path(), Durability::Process).await;
    let mut dirty = entry("https://a/1", Some(&"n".repeat(100)));
    dirty.title = "题\0".repeat(5_000_000);
    let entries = bench.list(bench.target_id, vec![dirty]).await;
    assert_eq!(entries[0].title.chars().count(), 4000);
    let mut record = bench.record(&entries[0]);
    Arc::make_mut(&mut record.article).title = "t".repeat(10 << 20);
    Arc::make_mut(&mut record.article).doc_no = Some("号".repeat(201));
    Arc::make_mut(&mut record.article).source_raw = Some("\0\u{1}源\u{1b}[31m".into());
    Arc::make_mut(&mut record.article).content_text = "文".repeat(14_001);
    Arc::make_mut(&mut record.article).native_post_id = Some("n".repeat(100));
    Arc::make_mut(&mut record.article).metadata.insert("k\0".into(), "v".repeat(5000));
    Arc::make_mut(&mut record.article).attachments[0].filename = "\0附件.pdf".into();
    record.log[0].error = Some("e".repeat(100_000));
    let Recorded::Stored { cut, .. } = bench.store.record_article(record).await.unwrap() else {
        panic!("stored")
    };
    for line in [
        "title: 10481760 characters cut",
        "doc_no: 1 characters cut",
        "source_raw: 3 control characters dropped",
        "content_text: 1 characters cut",
        "metadata.k: 1000 characters cut",
        "attachment.filename: 1 control characters dropped",
    ] {
        assert!(cut.iter().any(|cut| cut == line), "{line}: {cut:?}");
    }
    let stored = bench.store.article(entries[0].id).await.unwrap().unwrap();
    assert_eq!(stored.title.len(), 4000);
    assert_eq!(stored.source_raw.as_deref(), Some("源[31m"));
    assert!(stored.truncated && stored.content_text.chars().count() == 14_000);
    assert_eq!(
        stored.native_post_id, entries[0].native_id,
        "cut in the same way in the list and in the article"
    );
    assert_eq!(stored.attachments[0].filename, "附件.pdf");
}

#[tokio::test]
async fn a_step_that_fails_or_panics_takes_back_itself_only() {
    let dir = tempfile::tempdir().unwrap();
    let bench = Bench::open(dir.path(), Durability::Process).await;
    let insert = "INSERT INTO local_department (dept_id, full_name) VALUES (?, 'x')";
    let store = &bench.store;
    // Held up behind the first, the rest are one group.
    let (gate, held) = std::sync::mpsc::channel::<()>();
    let held = std::sync::Mutex::new(held);
    let first = store.write("waited", move |_| Ok(held.lock().unwrap().recv().is_ok()));
    let good = store.write("inserted", move |db| Ok(db.execute(insert, [1])?));
    let bad = store.write("failed", move |db| {
        db.execute(insert, [2])?;
        db.execute(insert, [1]).map_err(Fault::from)
    });
    let panics = store.write("panicked", move |db| -> Result<(), Fault> {
        db.execute(insert, [3])?;
        panic!("on purpose")
    });
    let last = store.write("inserted", move |db| Ok(db.execute(insert, [4])?));
    let open = async { gate.send(()).unwrap() };
    let (_, good, bad, panics, last, ()) = tokio::join!(first, good, bad, panics, last, open);
    assert!(good.is_ok() && last.is_ok(), "{good:?} {last:?}");
    assert!(matches!(bad, Err(StoreError::Sql { .. })), "{bad:?}");
    assert!(matches!(panics, Err(StoreError::Bug { .. })), "{panics:?}");
    let kept = store
        .read("read", |db| {
            let mut query = db.prepare("SELECT dept_id FROM local_department ORDER BY 1")?;
            Ok(query.query_map([], |row| row.get::<_, i64>(0))?.collect::<Result<Vec<_>, _>>()?)
        })
        .await
        .unwrap();
    assert_eq!(kept, [1, 4]);
}

#[tokio::test]
async fn what_was_accepted_is_written_before_the_store_closes() {
    let dir = tempfile::tempdir().unwrap();
    let store = Arc::new(open(dir.path()));
    let (started, wait) = std::sync::mpsc::channel();
    let writing = tokio::spawn({
        let store = store.clone();
        async move {
            let step = store.write("inserted", move |db| {
                let _ = started.send(());
                Ok(db.execute("INSERT INTO local_department (dept_id, full_name) VALUES (1, 'x')", [])?)
            });
            step.await
        }
    });
    tokio::task::spawn_blocking(move || wait.recv().unwrap()).await.unwrap();
    writing.abort();
    let _ = writing.await;
    drop(store);
    let db = Connection::open(database_path(dir.path())).unwrap();
    let rows: i64 = db.query_row("SELECT count(*) FROM local_department", [], |row| row.get(0)).unwrap();
    assert_eq!(rows, 1);
}

/// The page limit of the connection stands for the size of the disk: SQLite answers `SQLITE_FULL` to both.
#[tokio::test]
async fn a_full_disk_keeps_what_was_stored_and_goes_on_when_there_is_space() {
    let dir = tempfile::tempdir().unwrap();
    let bench = Bench::open(dir.path(), Durability::Process).await;
    let limit = |pages: i64| {
        bench.store.write("set a limit", move |db| {
            let now: i64 = db.pragma_query_value(None, "page_count", |row| row.get(0))?;
            Ok(db.pragma_update_and_check(None, "max_page_count", now + pages, |row| row.get::<_, i64>(0))?)
        })
    };
    let before = bench.store_one().await.unwrap();
    limit(4).await.unwrap();
    let mut stored = vec![before];
    let mut full = 0;
    for _ in 0..20 {
        // Eight at once, so that whole groups meet the end of the disk.
        let eight = futures::future::join_all((0..8).map(|_| bench.store_one())).await;
        for outcome in eight {
            match outcome {
                Ok(id) => stored.push(id),
                Err(StoreError::Full { path }) => {
                    assert!(path.ends_with(DATABASE));
                    full += 1;
                }
                Err(other) => panic!("{other:?}"),
            }
        }
    }
    assert!(full > 0, "the limit was not reached");
    for id in &stored {
        assert!(bench.store.article(*id).await.unwrap().is_some(), "answered article {id} is lost");
    }
    assert!(bench.store.check().await.unwrap().is_empty());
    limit(1_000_000).await.unwrap();
    bench.store_one().await.expect("space is back");
}

#[test]
fn a_database_that_cannot_be_used_says_why_and_what_to_do() {
    let dir = tempfile::tempdir().unwrap();
    let path = database_path(dir.path());
    let try_open =
        || SqliteStore::open(Files::open(dir.path(), Durability::Process).unwrap()).map(drop).unwrap_err();
    let says = |error: StoreError, words: &str| {
        let text = error.to_string();
        assert!(text.contains(words) && text.contains(DATABASE), "{text}");
    };

    std::fs::write(&path, "this is not a database, but it is long enough to be looked at".repeat(100))
        .unwrap();
    let error = try_open();
    assert!(matches!(error, StoreError::Corrupt { .. }), "{error:?}");
    says(error, "restore it from a backup");
    std::fs::remove_file(&path).unwrap();

    std::fs::create_dir(&path).unwrap();
    let error = try_open();
    assert!(matches!(error, StoreError::Open { .. }), "{error:?}");
    says(error, "check that the directory exists");
    std::fs::remove_dir(&path).unwrap();

    let other = Connection::open(&path).unwrap();
    other.execute_batch("CREATE TABLE mine (x)").unwrap();
    drop(other);
    says(try_open(), "another program");
    std::fs::remove_file(&path).unwrap();

    drop(open(dir.path()));
    let newer = Connection::open(&path).unwrap();
    newer.pragma_update(None, "user_version", 99).unwrap();
    drop(newer);
    let error = try_open();
    assert!(matches!(error, StoreError::Migration { found: 99, known: 3..99, .. }), "{error:?}");
    says(error, "newer dibao");
}

/// Root may write where permissions forbid it, so the connection itself is told to refuse.
#[tokio::test]
async fn a_read_only_store_says_so_and_can_still_be_read() {
    let dir = tempfile::tempdir().unwrap();
    let bench = Bench::open(dir.path(), Durability::Process).await;
    let id = bench.store_one().await.unwrap();
    bench
        .store
        .write("made it read-only", |db| Ok(db.pragma_update(None, "query_only", "on")?))
        .await
        .unwrap();
    let error = bench.store_one().await.unwrap_err();
    assert!(matches!(error, StoreError::ReadOnly { .. }), "{error:?}");
    assert!(error.to_string().contains("make it writable"), "{error}");
    assert!(bench.store.article(id).await.unwrap().is_some());
    for (error, words) in [
        (std::io::ErrorKind::ReadOnlyFilesystem, "read-only"),
        (std::io::ErrorKind::PermissionDenied, "read-only"),
        (std::io::ErrorKind::StorageFull, "is full"),
    ] {
        let error = StoreError::io(Path::new("/data/x"), error.into()).to_string();
        assert!(error.contains(words) && error.contains("/data/x"), "{error}");
    }
}

#[tokio::test]
async fn a_damaged_page_is_found_by_the_check() {
    let dir = tempfile::tempdir().unwrap();
    {
        let bench = Bench::open(dir.path(), Durability::Process).await;
        for _ in 0..50 {
            bench.store_one().await.unwrap();
        }
    }
    let path = database_path(dir.path());
    let mut bytes = std::fs::read(&path).unwrap();
    let from = bytes.len() - 4 * 4096;
    bytes[from..].fill(0x5a);
    std::fs::write(&path, bytes).unwrap();
    let damaged = match SqliteStore::open(Files::open(dir.path(), Durability::Process).unwrap()) {
        Err(error) => matches!(error, StoreError::Corrupt { .. }),
        Ok(store) => match store.check().await {
            Ok(found) => !found.is_empty(),
            Err(error) => matches!(error, StoreError::Corrupt { .. }),
        },
    };
    assert!(damaged);
}

/// Several stores on one file stand for several processes: SQLite's locks do not know the difference.
#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn several_writers_and_readers_never_hear_that_the_database_is_locked() {
    let dir = tempfile::tempdir().unwrap();
    let first = Bench::open(dir.path(), Durability::Process).await;
    let mut tasks = Vec::new();
    for writer in 0..4 {
        let (path, run_id) = (dir.path().to_path_buf(), first.run_id);
        let (site_id, target_id) = (first.site_id, first.target_id);
        tasks.push(tokio::spawn(async move {
            let bench =
                Bench { store: open(&path), site_id, target_id, run_id, next: AtomicU64::new(writer * 1000) };
            for _ in 0..25 {
                let stored = futures::future::join_all((0..4).map(|_| bench.store_one())).await;
                for id in stored {
                    let id = id.expect("written");
                    assert!(bench.store.article(id).await.expect("read").is_some(), "own writes are seen");
                }
                bench.store.waiting(target_id, 10).await.expect("read");
            }
        }));
    }
    for task in tasks {
        task.await.unwrap();
    }
    let query = ArticleQuery { limit: 1000, ..ArticleQuery::default() };
    assert_eq!(first.store.articles(query).await.unwrap().len(), 400);
    let run = first.store.begin_run(first.target_id, RunOptions::default(), NOW).await.unwrap();
    assert_eq!(run.counts.new, 400, "no count is lost between writers");
    assert!(first.store.check().await.unwrap().is_empty());
}

#[tokio::test]
async fn an_article_takes_its_number_from_the_frontier_and_numbers_are_not_given_twice() {
    let dir = tempfile::tempdir().unwrap();
    let bench = Bench::open(dir.path(), Durability::Process).await;
    let stray = Entry { id: 77, ..entry("https://a/1", None) };
    let error = bench.store.record_article(bench.record(&stray)).await.unwrap_err();
    assert!(matches!(error, StoreError::Missing { what: "entry", .. }), "{error:?}");
    let id = bench.store_one().await.unwrap();
    bench
        .store
        .write("deleted it", move |db| Ok(db.execute("DELETE FROM article WHERE id = ?", params![id])?))
        .await
        .unwrap();
    assert!(bench.store_one().await.unwrap() > id);
}
