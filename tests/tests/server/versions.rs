//! A page that is looked at again: what it has become is kept beside what it was.

use dibao_replica::{Fault, FaultRule};
use reqwest::Method;
use serde_json::{Value, json};

use crate::bed::{Bed, SITE};
use crate::operate::ended;

#[tokio::test(flavor = "multi_thread")]
async fn a_page_that_changes_is_kept_as_it_was_and_as_it_is_ten_times_at_most() {
    let bed = Bed::new().await;
    let served = bed.serve().await;
    let import = served.asked(Method::POST, "/admin/api/sites").header("content-type", "application/yaml");
    served.send(import.body(SITE)).await.is(201);
    let mut events = served.asked(Method::GET, "/admin/api/events").send().await.unwrap();
    let job =
        served.post("/admin/api/targets/ndrc__xwfb/run", json!({ "max_items": 1 })).await.is(202).json();
    ended(&served, &mut events, job["job"].as_i64().unwrap()).await;
    let all = served.get("/admin/api/articles/search").await.is(200).json();
    let article = format!("/admin/api/articles/{}", all["items"][0]["id"]);
    let first = served.get(&format!("{article}/raw")).await.is(200).text;

    // As it was: nothing is kept.
    let looked = served.post(&format!("{article}/fetch"), json!({})).await.is(200).json();
    assert_eq!(looked, json!({ "changed": false, "versions": [] }));
    let page = url::Url::parse(all["items"][0]["url"].as_str().unwrap()).unwrap();
    let become_ = |text: String| {
        bed.replica.clear_faults();
        let fault = Fault::Status { code: 200, retry_after: None, body: Some(text) };
        bed.replica.fault(FaultRule::new(fault).host("www.ndrc.gov.cn").path(page.path().to_owned()));
    };
    let text =
        |n: usize| format!("<html><body><h2>第{n}版</h2><p>{}</p></body></html>", "正文。".repeat(300));
    for n in 1..=12 {
        become_(text(n));
        let looked = served.post(&format!("{article}/fetch"), json!({})).await.is(200).json();
        assert_eq!(looked["changed"], true, "{n}: {looked}");
        assert_eq!(looked["versions"].as_array().unwrap().len(), (n + 1).min(10), "{n}: {looked}");
        let again = served.post(&format!("{article}/fetch"), json!({})).await.is(200).json();
        assert_eq!((&again["changed"], &again["versions"]), (&json!(false), &looked["versions"]));
    }
    // The first stays, then the newest; the article is what it was.
    let versions = served.get(&format!("{article}/versions")).await.is(200).json();
    let numbers: Vec<i64> =
        versions["items"].as_array().unwrap().iter().map(|version| version["n"].as_i64().unwrap()).collect();
    let body = async |n: i64| served.get(&format!("{article}/raw?version={n}")).await.is(200).text;
    assert_eq!((numbers.len(), body(numbers[0]).await), (10, first.clone()));
    assert_eq!((body(numbers[1]).await, body(numbers[9]).await), (text(4), text(12)));
    assert_eq!(served.get(&format!("{article}/raw")).await.is(200).text, first);
    let whole = served.get(&article).await.is(200).json();
    assert_eq!(whole["versions"], versions["items"]);
    served.get(&format!("{article}/raw?version=987654")).await.is(404).problem("not_found");
    served.get("/admin/api/articles/987654/versions").await.is(404).problem("not_found");
    // One that is gone is no version.
    bed.replica.clear_faults();
    let fault = Fault::Status { code: 404, retry_after: None, body: None };
    bed.replica.fault(FaultRule::new(fault).host("www.ndrc.gov.cn").path(page.path().to_owned()));
    served.post(&format!("{article}/fetch"), json!({})).await.is(424).problem("upstream");

    // Nothing of it is left when it is removed, and nothing lies about that no row names.
    let blobs = || -> Vec<std::path::PathBuf> {
        let dir = bed.path("data/blobs");
        let folders = std::fs::read_dir(dir).into_iter().flatten().flatten();
        folders
            .flat_map(|folder| std::fs::read_dir(folder.path()).unwrap().flatten())
            .map(|file| file.path())
            .collect()
    };
    let versions_on_disk = |kept: &[Value]| {
        let names: Vec<&str> = kept.iter().map(|version| version["sha256"].as_str().unwrap()).collect();
        blobs().iter().filter(|path| names.contains(&path.file_name().unwrap().to_str().unwrap())).count()
    };
    let kept = versions["items"].as_array().unwrap();
    assert_eq!(versions_on_disk(kept), 10);
    let before = blobs().len();
    served.delete(&article).await.is(204);
    assert_eq!(versions_on_disk(kept), 0);
    assert!(blobs().len() <= before - 10, "{before}");
}
