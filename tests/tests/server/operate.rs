//! An operator's work over the API: import, run, search, remove; and what hostile words become on the way.

use reqwest::Method;
use serde_json::{Value, json};

use crate::bed::{Bed, SITE, Served, TOO_LONG};

/// Puts a crawl in line under a key.
async fn run(served: &Served, key: &str, body: &Value) -> crate::bed::Answer {
    let request = served.asked(Method::POST, "/admin/api/targets/ndrc__xwfb/run");
    let request = request.header("content-type", "application/json").header("idempotency-key", key);
    served.send(request.body(body.to_string())).await
}

/// Waits for the end of a job by the events that tell of it.
pub async fn ended(served: &Served, events: &mut reqwest::Response, job: i64) -> Value {
    let wait = async {
        loop {
            let now = served.get(&format!("/admin/api/jobs/{job}")).await.is(200).json();
            if ["done", "failed", "cancelled"].contains(&now["state"].as_str().unwrap()) {
                return now;
            }
            events.chunk().await.unwrap().expect("the events go on");
        }
    };
    tokio::time::timeout(TOO_LONG, wait).await.expect("the job ends")
}

fn joined(pieces: &Value) -> String {
    pieces.as_array().unwrap().iter().map(|piece| piece["text"].as_str().unwrap()).collect()
}

/// Two characters of a title that stand together.
fn word(title: &str) -> String {
    let characters: Vec<char> = title.chars().collect();
    let is_han = |c: &char| ('\u{4e00}'..='\u{9fff}').contains(c);
    let pair = characters.windows(2).find(|pair| pair.iter().all(is_han));
    pair.expect("a Chinese title").iter().collect()
}

async fn import(served: &Served) {
    let request = served.asked(Method::POST, "/admin/api/sites").header("content-type", "application/yaml");
    served.send(request.body(SITE)).await.is(201);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_site_is_imported_run_once_searched_and_emptied() {
    let bed = Bed::new().await;
    let served = bed.serve().await;
    import(&served).await;
    let mut events = served.asked(Method::GET, "/admin/api/events").send().await.unwrap();

    // Sent twice, done once.
    let body = json!({ "max_items": 5 });
    let first = run(&served, "key-1", &body).await.is(202);
    let again = run(&served, "key-1", &body).await.is(202);
    assert_eq!((again.header("idempotency-replayed"), &again.text), ("true", &first.text));
    run(&served, "key-1", &json!({ "max_items": 6 })).await.is(409).problem("conflict");
    run(&served, "\u{e9}", &body).await.is(422).problem("invalid");
    let job = ended(&served, &mut events, first.json()["job"].as_i64().unwrap()).await;
    assert_eq!(job["state"], "done", "{job}");
    let after = run(&served, "key-1", &body).await.is(202);
    assert_eq!(after.text, first.text, "the same answer when it is over");

    // Whatever two characters of a title are asked for, they are found and marked.
    let all = served.get("/admin/api/articles/search?limit=2").await.is(200).json();
    assert_eq!((all["total"].clone(), all["count"].clone()), (json!(5), json!(2)));
    let title = joined(&all["items"][0]["title"]);
    let word = word(&title);
    let query = |path: &str| format!("/admin/api/articles/{path}?q={}", urlencoded(&word));
    let found = served.get(&query("search")).await.is(200).json();
    assert!(found["total"].as_u64().unwrap() >= 1, "{word}: {found}");
    for hit in found["items"].as_array().unwrap() {
        let pieces =
            [&hit["title"], &hit["snippet"]].into_iter().flat_map(|pieces| pieces.as_array().unwrap());
        assert!(
            pieces.into_iter().any(|piece| piece["hit"] == true && piece["text"] == word),
            "{word}: {hit}"
        );
    }
    let ids = served.get(&query("search/ids")).await.is(200).json();
    assert!(ids["ids"].as_array().unwrap().contains(&all["items"][0]["id"]), "{ids}");
    let next = format!("/admin/api/articles/search?limit=2&cursor={}", all["cursor"].as_str().unwrap());
    let next = served.get(&next).await.is(200).json();
    assert_ne!(next["items"][0]["id"], all["items"][0]["id"]);
    let nothing = served.get("/admin/api/articles/search?status=failed").await.is(200).json();
    assert_eq!(nothing["total"], 0);
    served.get("/admin/api/articles/search?status=good").await.is(422).problem("invalid");
    served.get("/admin/api/articles/search?from=yesterday").await.is(422).problem("invalid");

    // All of them go, with their files.
    let ids = served.get("/admin/api/articles/search/ids").await.is(200).json()["ids"].clone();
    let gone = served.post("/admin/api/articles/bulk-delete", json!({ "ids": ids })).await.is(200).json();
    assert_eq!(gone["deleted"], 5);
    assert_eq!(served.get("/admin/api/articles/search").await.is(200).json()["total"], 0);
    let audit = served.get("/admin/api/audit").await.is(200).text;
    assert!(audit.contains("article"), "{audit}");
}

#[tokio::test(flavor = "multi_thread")]
async fn hostile_words_stay_words() {
    let bed = Bed::new().await;
    let served = bed.serve().await;
    let name = "<script>alert(1)</script>\u{202e}\"'&";
    let made = served.post("/admin/api/local-departments", json!({ "full_name": name })).await;
    let made = made.is(201);
    let shown = served.get("/admin/api/local-departments").await.is(200);
    assert_eq!(shown.header("content-type"), "application/json");
    assert_eq!(shown.header("x-content-type-options"), "nosniff");
    assert_eq!(shown.json()["items"][0]["full_name"], made.json()["full_name"]);
    assert!(shown.json()["items"][0]["full_name"].as_str().unwrap().contains("<script>"));
    let id = made.json()["dept_id"].as_i64().or(made.json()["id"].as_i64()).unwrap();
    let path = format!("/admin/api/local-departments/{id}");
    served.put(&path, json!({ "full_name": "" })).await.is(422).problem("invalid");
    served.put(&path, json!({ "full_name": "发展改革局" })).await.is(200);
    served.delete(&path).await.is(204);
}

fn urlencoded(text: &str) -> String {
    text.bytes().map(|byte| format!("%{byte:02X}")).collect()
}
