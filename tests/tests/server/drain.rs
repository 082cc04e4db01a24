//! A signal in the middle of everything: what was accepted is done, once, by whoever is started next.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};

use reqwest::Method;
use rustix::process::Signal;
use serde_json::json;

use crate::bed::{Bed, TOO_LONG};

/// Three hosts of two columns each.
const SITES: [&str; 3] = [
    "site_id: ndrc\nsite_name: 发改委\nbase_url: https://www.ndrc.gov.cn\ndefault_column:\n  list_selector: {row: 'ul.u-list > li:not(.empty)', title: 'a::attr(title), a::text', date: 'span::text', pinned: em.zd}\n  pagination: {type: path_pattern, pattern: 'index_{page}.html', start: 1, max_pages: 30}\n  detail: {title: 'h2.article_title::text', content: '.article_con .TRS_Editor'}\ncolumns:\n  - {column_id: xwfb, list_url: 'https://www.ndrc.gov.cn/xwdt/xwfb/index.html'}\n  - {column_id: tz, list_url: 'https://www.ndrc.gov.cn/xxgk/zcfb/tz/index.html'}\n",
    "site_id: gdqy\nsite_name: 清远\nbase_url: https://www.gdqy.gov.cn\ndefault_column:\n  list_selector: {row: 'div.news_list ul li', title: 'a._recurl::text', date: 'span::text'}\n  pagination: {type: path_pattern, pattern: 'index_{page}.html', max_pages: 30}\n  detail: {title: 'h1.title::text', content: div.article-content}\ncolumns:\n  - {column_id: tzgg, list_url: 'https://www.gdqy.gov.cn/gdqy/newxxgk/tzgg/index.html'}\n  - {column_id: zlxx, list_url: 'https://www.gdqy.gov.cn/gdqy/newxxgk/zdly/spypaqbz/zlxx/index.html'}\n",
    "site_id: gd\nsite_name: 广东\nbase_url: https://www.gd.gov.cn\ndefault_column:\n  list_selector: {row: 'div.viewList ul li', title: '.name a::text', href: '.name a::attr(href)', date: '.date::text'}\n  pagination: {type: path_pattern, pattern: 'index_{page}.html', max_pages: 30}\n  detail: {title: 'h3.zw-title::text', content: div.zw}\ncolumns:\n  - {column_id: yf, list_url: 'https://www.gd.gov.cn/zwgk/wjk/qbwj/yf/index.html'}\n  - {column_id: yfb, list_url: 'https://www.gd.gov.cn/zwgk/wjk/qbwj/yfb/index.html'}\n",
];
/// Articles of each host of the bed.
const EACH: u64 = 60;

#[tokio::test(flavor = "multi_thread")]
async fn a_signal_under_load_drains_and_loses_nothing() {
    let bed = Bed::new().await;
    let served = bed.serve().await;
    for site in SITES {
        let import =
            served.asked(Method::POST, "/admin/api/sites").header("content-type", "application/yaml");
        served.send(import.body(site)).await.is(201);
    }
    let targets = ["ndrc__xwfb", "ndrc__tz", "gdqy__tzgg", "gdqy__zlxx", "gd__yf", "gd__yfb"];
    let mut events = served.asked(Method::GET, "/admin/api/events").send().await.unwrap();
    let run = served.post("/admin/api/targets/bulk-run", json!({ "targets": targets })).await.is(202).json();
    let jobs: Vec<i64> =
        run["results"].as_array().unwrap().iter().map(|one| one["job"].as_i64().unwrap()).collect();
    assert_eq!(jobs.len(), targets.len());

    // Others write all the while; each counts what he was told is done.
    let (over, accepted) = (Arc::new(AtomicBool::new(false)), Arc::new(AtomicUsize::new(0)));
    let writers: Vec<_> = (0..4)
        .map(|writer| {
            let (over, accepted) = (over.clone(), accepted.clone());
            let (client, url) =
                (served.client.clone(), format!("{}/admin/api/local-departments", served.base));
            tokio::spawn(async move {
                let mut n = 0;
                while !over.load(Ordering::Relaxed) {
                    n += 1;
                    let body = json!({ "full_name": format!("第{writer}组{n}号") });
                    let request = client.post(&url).header("content-type", "application/json");
                    match request.body(body.to_string()).send().await {
                        Ok(answer) if answer.status() == 201 => accepted.fetch_add(1, Ordering::Relaxed),
                        // It drains: it says so, or is gone.
                        _ => break,
                    };
                }
            })
        })
        .collect();
    // In the middle: something is stored of each host, and not everything of any.
    let wait = async {
        loop {
            let stats = served.get("/admin/api/stats/by-site?limit=10").await.is(200).json();
            let counts: Vec<u64> = stats["items"]
                .as_array()
                .unwrap()
                .iter()
                .map(|site| site["articles"].as_u64().unwrap())
                .collect();
            if counts.iter().sum::<u64>() >= 6 {
                return counts;
            }
            events.chunk().await.unwrap().expect("the events go on");
        }
    };
    let counts = tokio::time::timeout(TOO_LONG, wait).await.expect("it stores something");
    assert!(counts.iter().sum::<u64>() < 3 * EACH, "it was not in the middle: {counts:?}");
    served.signal(Signal::TERM);
    let ended = served.ended().await;
    over.store(true, Ordering::Relaxed);
    futures::future::join_all(writers).await;
    assert!(ended.success(), "{ended}");

    // What was left is done by the next one, and nothing twice.
    let served = bed.serve().await;
    let mut events = served.asked(Method::GET, "/admin/api/events").send().await.unwrap();
    for job in jobs {
        let done = crate::operate::ended(&served, &mut events, job).await;
        assert_eq!((&done["state"], &done["stalls"]), (&json!("done"), &json!(0)), "{done}");
    }
    let found = served.get("/admin/api/articles/search?limit=1").await.is(200).json();
    assert_eq!(found["total"], 3 * EACH);
    let departments = served.get("/admin/api/local-departments?limit=1").await.is(200).json();
    let accepted = accepted.load(Ordering::Relaxed) as u64;
    let kept = departments["total"].as_u64().unwrap();
    // One for each writer may have been done without his hearing of it.
    assert!((accepted..=accepted + 4).contains(&kept), "{accepted} were accepted, {kept} are kept");
    let check = bed.command(&["db", "check"]).output().await.unwrap();
    assert!(check.status.success(), "{}", String::from_utf8_lossy(&check.stderr));
}
