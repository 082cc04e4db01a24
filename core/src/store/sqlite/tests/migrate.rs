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

/// What each step was when the first store was brought to it: stores out there have taken it as it was then, so a change
/// belongs into a new step.
const TAKEN: [&str; 13] = [
    "5a36cdd28dca0f65dd7fc44656c7ce7271b546c0172dcc33088ce42b7551000a",
    "fcd0b56595661189b6e20cb8b69a4c6e509c412e0aeab0c99da8c4823735c00e",
    "74609a5fa71a89ccf353219aebdb9a5d377c7668bc133af652c6f1f12b05f4e3",
    "b14ab83d84ab7ad68b3794bfcac3f30c2708505f6b5ec5cfa61cfab85eb89d24",
    "65f9c707df022c82916e231a1620c22db537604897cb0fe40db24033cc708927",
    "ce83a839263fd7ec490d02b7be85b857ef0c0a9b76a4e07e24086ad798dcbfcc",
    "b648d0d09349ada8ed0f08482b57dcb7cbdee7088822f1a1f9382e0da3c6540f",
    "72d739fe25efca8f831b0b1bd7722e09316ebb3d9b58b8d3ea7ffc1e4d66da45",
    "8c765653f67cf1d17cf6d7c7aaf5eece8ea87b07bf5ae5a6aa2bbe6218c272f0",
    "2925c311beee2af51e3810ad5587089835b19845f629d4e12fcb7bb7688a9364",
    "8577aa3893a5180e18bdde241285cad6702e8e26ffd4a2eee1fa967c6fc54e84",
    "74a49ef0944d6927348e2e955ff1915f9af355d0b303d6aca789ea08a275c55a",
    "db36331a0add1e04ba02dd255e9846065de397516fe514906b11c08863021fc1",
];

#[test]
fn a_step_that_stores_have_taken_never_changes() {
    use sha2::{Digest, Sha256};
    let digest =
        |step: &&str| Sha256::digest(step.as_bytes()).iter().map(|byte| format!("{byte:02x}")).collect();
    let steps: Vec<String> = migrate::STEPS.iter().map(digest).collect();
    assert_eq!(steps, TAKEN, "add a step, and its digest here, instead of editing one");
}
