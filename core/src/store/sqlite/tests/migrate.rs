//! A store of every version before this one, with rows in it, opens, is whole and is searched.

use super::*;
use crate::desk::{Paging, SearchQuery};

/// Rows as the first version had them: later versions only add to these tables.
const ROWS: &str = "
    INSERT INTO local_department (dept_id, full_name) VALUES (1, '发改局');
    INSERT INTO crawl_site (id, site_code, site_name, base_url, cms_adapter) VALUES (1, 'gd', '广东', 'https://www.gd.gov.cn/', 'yaml-css');
    INSERT INTO crawl_target (id, site_id, target_code, target_name, entry_url, dept_id)
        VALUES (1, 1, 'gd__wjk', '文件库', 'https://www.gd.gov.cn/wjk/', 1);
    INSERT INTO crawl_run (id, target_id, state, options_json, started_at) VALUES (1, 1, 'interrupted', '{}', 1);
    INSERT INTO entry (id, target_id, url, url_hash, title, found_at)
        VALUES (7, 1, 'https://www.gd.gov.cn/7', hex(zeroblob(32)), '等待', 1);
    INSERT INTO article (id, site_id, target_id, dept_id, run_id, url, url_hash, title, publish_time, publish_date, content_text, status,
            fetch_strategy, fetched_at)
        VALUES (5, 1, 1, 1, 1, 'https://www.gd.gov.cn/5', lower(hex(randomblob(32))), '关于印发办法的通知', 1775784600000,
            '2026-04-10', '各地财政局', 'ready', 'http', 2);
    INSERT INTO attachment (article_id, url, filename, download_status) VALUES (5, 'https://www.gd.gov.cn/a.pdf', 'a.pdf', 'failed');
    INSERT INTO crawl_log (site_id, target_id, article_id, occurred_at, purpose, success, fetch_strategy, duration_ms, url)
        VALUES (1, 1, 5, 2, 'detail', 1, 'http', 3, 'https://www.gd.gov.cn/5');
";

#[tokio::test]
async fn every_version_is_brought_up_to_date_with_its_rows() {
    for version in 1..migrate::STEPS.len() {
        let dir = tempfile::tempdir().unwrap();
        {
            let old = Connection::open(dir.path().join(DATABASE)).unwrap();
            migrate::STEPS[..version].iter().for_each(|step| old.execute_batch(step).unwrap());
            old.pragma_update(None, "application_id", migrate::APPLICATION_ID).unwrap();
            old.pragma_update(None, "user_version", version as i64).unwrap();
            old.execute_batch(ROWS).unwrap();
            // From version 10 on the program puts an article into the index, or its number here.
            if version >= 10 {
                old.execute_batch("INSERT INTO search_backlog VALUES (5)").unwrap();
            }
        }
        let store = open(dir.path());
        assert_eq!(store.check().await.unwrap(), Vec::<String>::new(), "version {version}");
        let article = store.article(5).await.unwrap().expect("it is there");
        assert_eq!((article.title.as_str(), article.attachments.len()), ("关于印发办法的通知", 1));
        let query = SearchQuery { q: Some("财政".into()), department: Some(1), ..SearchQuery::default() };
        let found = store.search(query, Paging::default()).await.unwrap();
        assert_eq!(found.items.iter().map(|hit| hit.id).collect::<Vec<_>>(), [5], "version {version}");
        // What was interrupted goes on.
        let run = store.begin_run(1, RunOptions::default(), NOW).await.unwrap();
        assert!(run.resumed && store.waiting(1, 10).await.unwrap().len() == 1, "version {version}");
        drop(store);
        assert_eq!(open(dir.path()).targets(None).await.unwrap().len(), 1, "and opens again");
    }
}
