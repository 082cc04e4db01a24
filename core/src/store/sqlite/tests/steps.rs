//! The steps of a crawl, as the crawl sees them.

use std::sync::Arc;

use super::*;
use crate::ErrorClass;
use crate::model::Pace;
use crate::store::types::{RunCounts, RunEndState};

#[tokio::test]
async fn a_site_comes_back_as_it_was_put() {
    let dir = tempfile::tempdir().unwrap();
    let store = open(dir.path());
    let change = store.put_site(site("gd"), vec![target("gd", "a"), target("gd", "b")]).await.unwrap();
    assert_eq!(change.added, ["gd__a", "gd__b"]);
    let stored = store.site("gd").await.unwrap().unwrap();
    assert_eq!(stored, Site { id: change.site_id, ..site("gd") });
    assert_eq!(store.sites().await.unwrap(), std::slice::from_ref(&stored));
    let targets = store.targets(Some("gd")).await.unwrap();
    assert_eq!(targets.len(), 2);
    let (of, b) = store.target("gd__b").await.unwrap().unwrap();
    assert_eq!(of, stored);
    assert_eq!(b, Target { id: b.id, site_id: stored.id, ..target("gd", "b") });
    assert!(store.site("none").await.unwrap().is_none());
    assert!(store.target("none").await.unwrap().is_none());
    let again = store.put_site(site("gd"), vec![target("gd", "a"), target("gd", "b")]).await.unwrap();
    assert_eq!(again, SiteChange { site_id: change.site_id, ..SiteChange::default() }, "nothing changed");
}

#[tokio::test]
async fn the_pace_that_was_set_by_hand_survives_an_import() {
    let dir = tempfile::tempdir().unwrap();
    let store = open(dir.path());
    store.put_site(site("gd"), vec![target("gd", "a")]).await.unwrap();
    let pace = Pace::default().set(["interval_sec=10", "rps=0.5"]).unwrap();
    assert!(store.set_target_pace("gd__a", pace.clone()).await.unwrap());
    assert!(!store.set_target_pace("gd__none", pace.clone()).await.unwrap());
    let slower = Target { interval_sec: Some(60.0), ..target("gd", "a") };
    let change = store.put_site(site("gd"), vec![slower]).await.unwrap();
    assert_eq!(change.changed, ["gd__a"]);
    let (_, stored) = store.target("gd__a").await.unwrap().unwrap();
    assert_eq!((stored.interval_sec, stored.pace), (Some(60.0), pace));
}

#[tokio::test]
async fn an_import_keeps_what_was_set_by_hand_and_disables_what_is_missing() {
    let dir = tempfile::tempdir().unwrap();
    let store = open(dir.path());
    let both = || vec![target("gd", "a"), target("gd", "b")];
    store.put_site(site("gd"), both()).await.unwrap();
    assert!(store.set_target_enabled("gd__a", false).await.unwrap());
    assert!(!store.set_target_enabled("gd__none", false).await.unwrap());

    let renamed = Target { name: "新名".into(), ..target("gd", "a") };
    let change = store.put_site(site("gd"), vec![renamed]).await.unwrap();
    assert_eq!((change.changed, change.disabled), (vec!["gd__a".to_owned()], vec!["gd__b".to_owned()]));
    let a = store.target("gd__a").await.unwrap().unwrap().1;
    assert_eq!(
        (a.name.as_str(), a.enabled),
        ("新名", false),
        "the switch survives, the name follows the file"
    );
    assert!(!store.target("gd__b").await.unwrap().unwrap().1.enabled);

    store.put_site(site("gd"), both()).await.unwrap();
    assert!(store.target("gd__b").await.unwrap().unwrap().1.enabled, "back in the file, back on");
    assert!(!store.target("gd__a").await.unwrap().unwrap().1.enabled);

    let one = store.put_target("gd", target("gd", "c")).await.unwrap();
    assert!(one.id > 0 && store.target("gd__b").await.unwrap().unwrap().1.enabled, "siblings are left alone");
    let missing = store.put_target("nowhere", target("nowhere", "c")).await;
    assert!(matches!(missing, Err(StoreError::Missing { .. })));

    let taken = store.put_site(site("other"), vec![target("gd", "a")]).await.unwrap_err();
    assert!(matches!(&taken, StoreError::Taken { site, .. } if site == "gd"), "{taken:?}");
    assert!(store.site("other").await.unwrap().is_none(), "a refused import leaves nothing");
}

#[tokio::test]
async fn an_article_comes_back_as_it_was_recorded() {
    let dir = tempfile::tempdir().unwrap();
    let bench = Bench::open(dir.path(), Durability::Process).await;
    let entries = bench.list(bench.target_id, vec![entry("https://www.gd.gov.cn/1", Some("n1"))]).await;
    assert_eq!(bench.store.waiting(bench.target_id, 10).await.unwrap(), entries);
    let record = bench.record(&entries[0]);
    let recorded = bench.store.record_article(record.clone()).await.unwrap();
    assert!(matches!(recorded, Recorded::Stored { ref cut, .. } if cut.is_empty()));
    let stored = bench.store.article(entries[0].id).await.unwrap().unwrap();
    assert_eq!(stored, *record.article);
    assert!(bench.store.waiting(bench.target_id, 10).await.unwrap().is_empty());
    for key in [entries[0].id.to_string(), record.article.url.clone(), stored.url_hash[..8].to_uppercase()] {
        assert_eq!(bench.store.find_article(&key).await.unwrap().as_ref(), Some(&stored), "{key}");
    }
    for key in ["", "99", "https://www.gd.gov.cn/2", &stored.url_hash[..7], "'; DROP TABLE article"] {
        assert_eq!(bench.store.find_article(key).await.unwrap(), None, "{key}");
    }
    let again = bench.store.record_article(record).await.unwrap();
    assert_eq!(again, Recorded::Duplicate(Known::ThisRun), "a repeated step stores nothing twice");
    assert!(bench.store.check().await.unwrap().is_empty());
}

/// I10, in the order of the table: the address, the site's own identifier, the frontier.
#[tokio::test]
async fn what_is_known_follows_i10() {
    let dir = tempfile::tempdir().unwrap();
    let bench = Bench::open(dir.path(), Durability::Process).await;
    let store = &bench.store;
    let other = store.put_target("gd", target("gd", "other")).await.unwrap().id;
    let foreign = store.put_site(site("sz"), vec![target("sz", "x")]).await.unwrap().site_id;
    let long = "9".repeat(80);
    let urls = ["https://a/1", "https://a/2", "https://a/3", "https://a/4"];
    let entries: Vec<_> = urls.iter().map(|url| entry(url, Some(url))).collect();
    let mut listed = bench.list(bench.target_id, entries).await;
    listed[1].native_id = Some(long.clone());
    for stored in &listed[..2] {
        store.record_article(bench.record(stored)).await.unwrap();
    }
    let give_up = FailureRecord {
        run_id: bench.run_id,
        site_id: bench.site_id,
        target_id: bench.target_id,
        entry_id: listed[3].id,
        at: NOW,
        class: ErrorClass::Gone,
        message: "410".into(),
        is_final: true,
        log: vec![],
    };
    store.record_failure(give_up).await.unwrap();

    let longer = format!("{}8", "9".repeat(79));
    for (url, native, site_id, target_id, known) in [
        ("https://a/1", None, bench.site_id, bench.target_id, Known::ThisRun),
        ("https://a/1", None, bench.site_id, other, Known::OtherTarget),
        ("https://a/1", None, foreign, 99, Known::OtherTarget),
        ("https://b/1", Some("https://a/1"), bench.site_id, bench.target_id, Known::OtherTarget),
        ("https://b/1", Some("https://a/1"), bench.site_id, other, Known::OtherTarget),
        ("https://b/1", Some("https://a/1"), foreign, 99, Known::New),
        ("https://b/1", Some(&*long), bench.site_id, other, Known::OtherTarget),
        ("https://b/1", Some(&*longer), bench.site_id, other, Known::New),
        ("https://b/1", Some(""), bench.site_id, other, Known::New),
        ("https://a/3", None, bench.site_id, bench.target_id, Known::Waiting),
        ("https://a/3", None, bench.site_id, other, Known::New),
        ("https://a/4", None, bench.site_id, bench.target_id, Known::Dead),
        ("https://a/5", Some("n5"), bench.site_id, bench.target_id, Known::New),
    ] {
        let key = EntryKey { url_hash: hash(url), native_id: native.map(str::to_owned) };
        assert_eq!(
            store.known(site_id, target_id, vec![key]).await.unwrap(),
            [known],
            "{url} {native:?} {target_id}"
        );
    }
    let revived = bench.list(bench.target_id, vec![entry("https://a/4", None)]).await;
    assert_eq!(revived[0].id, listed[3].id, "it keeps its number");
    assert_eq!(store.waiting(bench.target_id, 10).await.unwrap().len(), 2);
    let end = RunEnd { state: RunEndState::Done, reason: "last_page".into(), last_article_time: None };
    store.end_run(bench.run_id, end, NOW).await.unwrap();
    let key = EntryKey { url_hash: hash("https://a/1"), native_id: None };
    let known = store.known(bench.site_id, bench.target_id, vec![key]).await.unwrap();
    assert_eq!(known, [Known::SameTarget], "once its run is over, it is the border of history");
}

#[tokio::test]
async fn a_run_is_taken_up_where_it_stood() {
    let dir = tempfile::tempdir().unwrap();
    let options = RunOptions { max_items: Some(20), force: true };
    let (target_id, run_id) = {
        let store = open(dir.path());
        let site_id = store.put_site(site("gd"), vec![target("gd", "wjk")]).await.unwrap().site_id;
        let target_id = store.target("gd__wjk").await.unwrap().unwrap().1.id;
        let run = store.begin_run(target_id, options.clone(), NOW).await.unwrap();
        assert!(!run.resumed && run.cursor.is_none() && run.runs_of_target == 0);
        let page = PageRecord {
            run_id: run.run_id,
            site_id,
            target_id,
            at: NOW,
            entries: vec![entry("https://a/1", None), entry("https://a/1", None), entry("https://a/2", None)],
            cursor: Some("page 2".into()),
            session: vec![1, 0, 255],
            listing_done: false,
            counts: RunCounts { listed: 4, duplicate: 1, ..RunCounts::default() },
            log: vec![request("https://a/")],
        };
        let entries = store.record_page(page).await.unwrap();
        assert_eq!(entries[0].id, entries[1].id, "one row for one address");
        (target_id, run.run_id)
    };
    let store = open(dir.path());
    let run = store.begin_run(target_id, RunOptions::default(), NOW).await.unwrap();
    assert_eq!((run.run_id, run.resumed, run.options), (run_id, true, options));
    assert_eq!((run.cursor.as_deref(), &*run.session, run.pages), (Some("page 2"), &[1u8, 0, 255][..], 1));
    assert_eq!(run.counts, RunCounts { listed: 4, duplicate: 1, requests: 1, ..RunCounts::default() });
    assert_eq!(store.waiting(target_id, 10).await.unwrap().len(), 2);

    let end = |state| RunEnd { state, reason: "test".into(), last_article_time: Some(NOW) };
    store.end_run(run_id, end(RunEndState::Interrupted), NOW).await.unwrap();
    assert_eq!(store.target("gd__wjk").await.unwrap().unwrap().1.last_crawled_at, None);
    assert_eq!(store.begin_run(target_id, RunOptions::default(), NOW).await.unwrap().run_id, run_id);
    store.end_run(run_id, end(RunEndState::Done), NOW).await.unwrap();
    let next = store.begin_run(target_id, RunOptions::default(), NOW).await.unwrap();
    assert!(next.run_id > run_id && !next.resumed && next.runs_of_target == 1);
    let older = RunEnd { last_article_time: Some(Timestamp(5)), ..end(RunEndState::Failed) };
    store.end_run(next.run_id, older, NOW).await.unwrap();
    let target = store.target("gd__wjk").await.unwrap().unwrap().1;
    assert_eq!(
        (target.last_crawled_at, target.last_article_time),
        (Some(NOW), Some(NOW)),
        "never moves back"
    );
    assert!(matches!(store.end_run(99, end(RunEndState::Done), NOW).await, Err(StoreError::Missing { .. })));
}

#[tokio::test]
async fn a_failing_entry_is_tried_five_times_and_counted_once() {
    let dir = tempfile::tempdir().unwrap();
    let bench = Bench::open(dir.path(), Durability::Process).await;
    let entries =
        bench.list(bench.target_id, vec![entry("https://a/1", None), entry("https://a/2", None)]).await;
    let fail = |entry_id| FailureRecord {
        run_id: bench.run_id,
        site_id: bench.site_id,
        target_id: bench.target_id,
        entry_id,
        at: NOW,
        class: ErrorClass::Network,
        message: "connection reset\0".into(),
        is_final: false,
        log: vec![request("https://a/1")],
    };
    for _ in 0..4 {
        bench.store.record_failure(fail(entries[0].id)).await.unwrap();
    }
    let waiting = bench.store.waiting(bench.target_id, 10).await.unwrap();
    assert_eq!(
        waiting.iter().map(|e| e.id).collect::<Vec<_>>(),
        [entries[1].id, entries[0].id],
        "untried first"
    );
    bench.store.record_failure(fail(entries[0].id)).await.unwrap();
    bench.store.record_failure(fail(entries[1].id)).await.unwrap();
    let ledger = bench.store.failures(bench.target_id, Some(bench.run_id), 10).await.unwrap();
    let lines: Vec<_> = ledger.iter().map(|line| (line.entry.id, line.attempts, line.dead)).collect();
    assert_eq!(lines, [(entries[1].id, 1, false), (entries[0].id, 5, true)]);
    assert_eq!((ledger[0].class.as_str(), ledger[0].message.as_str()), ("network", "connection reset"));
    let state = || bench.store.begin_run(bench.target_id, RunOptions::default(), NOW);
    assert_eq!(state().await.unwrap().counts.failed, 2);
    bench.store.record_article(bench.record(&entries[1])).await.unwrap();
    let counts = state().await.unwrap().counts;
    let expected = RunCounts { new: 1, failed: 1, attachments: 1, requests: 7, ..RunCounts::default() };
    assert_eq!(counts, expected, "success after failure in one run is a success");
}

#[tokio::test]
async fn articles_are_paged_by_number() {
    let dir = tempfile::tempdir().unwrap();
    let bench = Bench::open(dir.path(), Durability::Process).await;
    let mut ids = Vec::new();
    for _ in 0..5 {
        ids.push(bench.store_one().await.unwrap());
    }
    let query = ArticleQuery { limit: 2, target: Some("gd__wjk".into()), ..ArticleQuery::default() };
    let mut seen = Vec::new();
    loop {
        let after_id = seen.last().copied().unwrap_or(0);
        let page = bench.store.articles(ArticleQuery { after_id, ..query.clone() }).await.unwrap();
        if page.is_empty() {
            break;
        }
        seen.extend(page.iter().map(|article| article.id));
    }
    assert_eq!(seen, ids);
    let of = |site: Option<&str>, run| ArticleQuery {
        site: site.map(str::to_owned),
        run,
        ..ArticleQuery::default()
    };
    assert_eq!(bench.store.articles(of(Some("gd"), Some(bench.run_id))).await.unwrap().len(), 5);
    assert!(bench.store.articles(of(Some("sz"), None)).await.unwrap().is_empty());
    assert!(bench.store.articles(of(None, Some(99))).await.unwrap().is_empty());
}

#[tokio::test]
async fn a_check_names_the_files_that_are_missing() {
    let dir = tempfile::tempdir().unwrap();
    let bench = Bench::open(dir.path(), Durability::Process).await;
    let entries = bench.list(bench.target_id, vec![entry("https://a/1", None)]).await;
    let mut record = bench.record(&entries[0]);
    Arc::make_mut(&mut record.article).text_path = Some("text/gd/x.txt".into());
    Arc::make_mut(&mut record.article).attachments[0].file_path = Some("attachments/x.pdf".into());
    bench.store.files().write("text/gd/x.txt", "text").await.unwrap();
    bench.store.files().write("attachments/x.pdf", "twelve bytes").await.unwrap();
    bench.store.record_article(record).await.unwrap();
    assert!(bench.store.check().await.unwrap().is_empty());
    bench.store.files().write("attachments/x.pdf", "half").await.unwrap();
    std::fs::remove_file(dir.path().join("text/gd/x.txt")).unwrap();
    let found = bench.store.check().await.unwrap();
    assert_eq!(found.len(), 2, "{found:?}");
    assert!(found[0].contains("text/gd/x.txt") && found[1].contains("4 bytes instead of 12"), "{found:?}");
}
