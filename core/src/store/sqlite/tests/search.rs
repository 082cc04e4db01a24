//! What is searched is found, nothing else is, in the transaction of its article and however deep the page.

use super::*;
use crate::desk::{Page, Paging, SearchHit, SearchQuery};

/// Stores articles of these titles and bodies, published on days of April 2026 in turn.
async fn stored(bench: &Bench, texts: &[(&str, &str)]) -> Vec<i64> {
    let urls: Vec<Entry> =
        (0..texts.len()).map(|at| entry(&format!("https://www.gd.gov.cn/s/{at}"), None)).collect();
    let entries = bench.list(bench.target_id, urls).await;
    let mut ids = Vec::new();
    for (at, (entry, (title, body))) in entries.iter().zip(texts).enumerate() {
        let mut record = bench.record(entry);
        let article = Arc::make_mut(&mut record.article);
        (article.title, article.content_text) = ((*title).into(), (*body).into());
        article.doc_no = None;
        let at_day = Timestamp(NOW.0 + at as i64 * 86_400_000);
        let date = at_day.to_utc().format("%Y-%m-%d").to_string();
        article.published = Some(Published { at: at_day, date, precision: Precision::Day });
        bench.store.record_article(record).await.unwrap();
        ids.push(entry.id);
    }
    ids
}

fn words(q: &str) -> SearchQuery {
    SearchQuery { q: Some(q.into()), ..SearchQuery::default() }
}

async fn page(bench: &Bench, query: SearchQuery, paging: Paging) -> Page<SearchHit> {
    bench.store.search(query, paging).await.unwrap()
}

async fn found(bench: &Bench, query: SearchQuery) -> Vec<i64> {
    page(bench, query, Paging::first(200)).await.items.into_iter().map(|hit| hit.id).collect()
}

#[tokio::test]
async fn two_characters_that_stand_together_are_found_and_only_those() {
    let dir = tempfile::tempdir().unwrap();
    let bench = Bench::open(dir.path(), Durability::Process).await;
    let ids = stored(
        &bench,
        &[
            ("关于印发办法的通知", "各地财政局：请遵照执行。"),
            ("公告", "财务与政策，通达而知。"),
            ("粤府〔2026〕12号", "国发〔2024〕5号文件 covid-19 Ünïcode"),
        ],
    )
    .await;
    for (q, expected) in [
        ("通知", vec![0]),
        ("财政", vec![0]),
        ("财政局", vec![0]),
        ("政局", vec![0]),
        ("财局", vec![]),
        ("印发 财政", vec![0]),
        ("印发 财务", vec![]),
        ("国发[2024]5号", vec![2]),
        ("国发（２０２４）５号", vec![2]),
        ("国发〔2024〕50号", vec![]),
        ("COVID", vec![2]),
        ("粤府〔2026〕12号", vec![2]),
        ("公告 -通知", vec![1]),
        ("\"通知\" OR * NEAR(", vec![]),
    ] {
        let expected: Vec<i64> = expected.into_iter().map(|at: usize| ids[at]).collect();
        assert_eq!(found(&bench, words(q)).await, expected, "{q}");
    }
    let hit = page(&bench, words("财政"), Paging::default()).await.items.remove(0);
    let marks: Vec<_> =
        hit.snippet.iter().filter(|piece| piece.hit).map(|piece| piece.text.as_str()).collect();
    assert_eq!(marks, ["财政"]);
    assert!(bench.store.search(words("的"), Paging::default()).await.is_err(), "one character is no word");
}

#[tokio::test]
async fn filters_hold_with_words_and_without() {
    let dir = tempfile::tempdir().unwrap();
    let bench = Bench::open(dir.path(), Durability::Process).await;
    let ids = stored(&bench, &[("通知一", "正文"), ("通知二", "正文"), ("通知三", "正文")]).await;
    for q in [Some("通知".to_owned()), None] {
        let query = |site: &str, from: &str, to: &str| SearchQuery {
            q: q.clone(),
            site: Some(site.into()),
            from: Some(from.into()),
            to: Some(to.into()),
            status: Some("ready".into()),
            ..SearchQuery::default()
        };
        let day = |at: i64| Timestamp(NOW.0 + at * 86_400_000).to_utc().format("%Y-%m-%d").to_string();
        assert_eq!(found(&bench, query("gd", &day(1), &day(2))).await, [ids[2], ids[1]], "{q:?}");
        assert_eq!(found(&bench, query("gd", &day(5), "2027-01-01")).await, [0i64; 0], "{q:?}");
        assert_eq!(found(&bench, query("elsewhere", &day(0), &day(2))).await, [0i64; 0], "{q:?}");
        let target = SearchQuery { q: q.clone(), target: Some("gd__wjk".into()), ..SearchQuery::default() };
        assert_eq!(found(&bench, target).await.len(), 3, "{q:?}");
    }
}

#[tokio::test]
async fn a_word_in_the_title_leads_and_pages_hold_every_match_once() {
    let dir = tempfile::tempdir().unwrap();
    let bench = Bench::open(dir.path(), Durability::Process).await;
    let mut texts = vec![("专项通知", "正文")];
    texts.extend(std::iter::repeat_n(("别的", "这里有通知"), 250));
    let ids = stored(&bench, &texts).await;
    let first = page(&bench, words("通知"), Paging::first(40)).await;
    assert_eq!(
        (first.total, first.total_exact, first.items[0].id),
        (251, true, ids[0]),
        "the oldest, by its title"
    );
    for by_cursor in [true, false] {
        let (mut seen, mut paging) = (Vec::new(), Paging::first(40));
        loop {
            let page = page(&bench, words("通知"), paging.clone()).await;
            seen.extend(page.items.iter().map(|hit| hit.id));
            match page.cursor {
                Some(cursor) if by_cursor => paging.cursor = Some(cursor),
                Some(_) => paging.offset = Some(seen.len() as u64),
                None => break,
            }
        }
        let count = seen.len();
        seen.sort_unstable();
        seen.dedup();
        assert_eq!((count, seen.len()), (251, 251), "by cursor: {by_cursor}");
    }
    let cursor = first.cursor;
    let other = bench.store.search(words("正文"), Paging { cursor, ..Paging::first(40) }).await;
    assert!(other.is_err(), "a cursor belongs to its question");
    let ids = bench.store.search_ids(words("通知")).await.unwrap();
    assert_eq!((ids.count, ids.complete), (251, true));
}

#[tokio::test]
async fn what_is_found_is_listed_by_day_of_publication_whatever_was_stored_first() {
    let dir = tempfile::tempdir().unwrap();
    let bench = Bench::open(dir.path(), Durability::Process).await;
    // A list is read from its newest row down, a hundred and fifty days; three were published on one day, two say no day at all.
    let urls: Vec<Entry> = (0..305).map(|at| entry(&format!("https://www.gd.gov.cn/b/{at}"), None)).collect();
    let entries = bench.list(bench.target_id, urls).await;
    let mut expected = Vec::new();
    for (at, entry) in entries.iter().enumerate() {
        let mut record = bench.record(entry);
        let article = Arc::make_mut(&mut record.article);
        (article.title, article.content_text, article.doc_no) = ("别的".into(), "这里有通知".into(), None);
        let day = if at % 100 == 0 { 40 } else { (at as i64 * 37) % 150 };
        let time = Timestamp(NOW.0 - day * 86_400_000);
        let date = time.to_utc().format("%Y-%m-%d").to_string();
        let undated = at == 7 || at == 200 + 8;
        article.published =
            (!undated).then(|| Published { at: time, date: date.clone(), precision: Precision::Day });
        expected.push((if undated { String::new() } else { date }, at, entry.id));
        bench.store.record_article(record).await.unwrap();
    }
    expected.sort();
    let expected: Vec<i64> = expected.into_iter().rev().map(|(.., id)| id).collect();
    let ids = bench.store.search_ids(words("通知")).await.unwrap().ids;
    assert_eq!(ids, expected);
    // Equal in everything, so weighing changes nothing: pages are the same list, by cursor and by offset.
    for by_cursor in [true, false] {
        let (mut seen, mut paging) = (Vec::new(), Paging::first(33));
        loop {
            let page = page(&bench, words("通知"), paging.clone()).await;
            seen.extend(page.items.iter().map(|hit| hit.id));
            match page.cursor {
                Some(cursor) if by_cursor => paging.cursor = Some(cursor),
                Some(_) => paging.offset = Some(seen.len() as u64),
                None => break,
            }
        }
        assert_eq!(seen[100..], expected[100..], "by cursor: {by_cursor}");
        let newest: std::collections::BTreeSet<_> = seen[..100].iter().collect();
        assert_eq!(newest, expected[..100].iter().collect(), "the newest lead, by cursor: {by_cursor}");
    }
}

#[tokio::test]
async fn the_index_follows_its_articles_and_can_be_built_again() {
    let dir = tempfile::tempdir().unwrap();
    let bench = Bench::open(dir.path(), Durability::Process).await;
    let ids = stored(&bench, &[("通知一", "财政"), ("通知二", "财政")]).await;
    let gone = ids[0];
    bench
        .store
        .write("deleted it", move |db| Ok(db.execute("DELETE FROM article WHERE id = ?", [gone])?))
        .await
        .unwrap();
    assert_eq!(found(&bench, words("通知")).await, [ids[1]]);
    bench.store.reindex(|_| {}).await.unwrap();
    assert_eq!(found(&bench, words("财政")).await, [ids[1]]);
    // Whatever goes by cascade is gone too.
    bench.store.write("deleted it", |db| Ok(db.execute("DELETE FROM crawl_site", [])?)).await.unwrap();
    assert_eq!(found(&bench, words("财政")).await, [0i64; 0]);
    let rows: i64 = bench
        .store
        .read("counted", |db| Ok(db.query_row("SELECT count(*) FROM article_fts", [], |row| row.get(0))?))
        .await
        .unwrap();
    assert_eq!(rows, 0);
}

#[tokio::test]
async fn articles_from_before_the_index_are_indexed_when_the_store_is_opened() {
    let dir = tempfile::tempdir().unwrap();
    let bench = Bench::open(dir.path(), Durability::Process).await;
    let ids = stored(&bench, &[("通知一", "财政")]).await;
    bench.store.write("made it old", search::forget).await.unwrap();
    assert_eq!(found(&bench, words("通知")).await, [0i64; 0]);
    drop(bench);
    let store = open(dir.path());
    let page = store.search(words("通知"), Paging::default()).await.unwrap();
    assert_eq!(page.items[0].id, ids[0]);
}

#[tokio::test]
async fn a_word_far_behind_in_a_long_text_is_found_shown_and_survives_a_new_index() {
    let dir = tempfile::tempdir().unwrap();
    let bench = Bench::open(dir.path(), Durability::Process).await;
    let long = format!("{}压轴条款在最后。", "本办法自印发之日起施行。\n".repeat(4_000));
    let entries = bench.list(bench.target_id, vec![entry("https://www.gd.gov.cn/long", None)]).await;
    let mut record = bench.record(&entries[0]);
    let article = Arc::make_mut(&mut record.article);
    bench.store.files().write("text/long.txt", long.clone().into_bytes()).await.unwrap();
    (article.content_text, article.text_path) = (long, Some("text/long.txt".into()));
    bench.store.record_article(record).await.unwrap();
    let kept = bench.store.article(entries[0].id).await.unwrap().unwrap();
    assert!(kept.truncated && !kept.content_text.contains("压轴"), "the row has the beginning only");
    for built in ["as it came", "anew"] {
        let hits = page(&bench, words("压轴条款"), Paging::first(10)).await.items;
        assert_eq!(hits.len(), 1, "{built}");
        let marks: Vec<&str> =
            hits[0].snippet.iter().filter(|piece| piece.hit).map(|piece| piece.text.as_str()).collect();
        assert_eq!(marks, ["压轴条款"], "{built}");
        assert!(!hits[0].target_name.is_empty(), "who looks is told a name");
        assert!(hits[0].score.is_some_and(|score| score > 0.0), "{built}");
        bench.store.reindex(|_| {}).await.unwrap();
    }
}
