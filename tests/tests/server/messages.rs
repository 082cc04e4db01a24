//! Jobs with a message, in the shapes of another program: they are said, once for each time they are asked for.

use reqwest::Method;
use serde_json::{Value, json};

use crate::bed::{Bed, Served};
use crate::operate::ended;

async fn run(served: &Served, id: &str, key: &str) -> crate::bed::Answer {
    let path = format!("/api/cron/jobs/{id}/run");
    let request = served.asked(Method::POST, &path).header("idempotency-key", key);
    served.send(request).await
}

async fn made(served: &Served, said: Value) -> String {
    let made = served.post("/api/cron/jobs", said).await.is(201).json();
    made["id"].as_str().unwrap().to_owned()
}

#[tokio::test(flavor = "multi_thread")]
async fn a_message_reaches_its_channel_once_for_each_time_it_is_asked_for() {
    let bed = Bed::new().await;
    std::fs::create_dir_all(bed.path("data")).unwrap();
    let channels = "[channels.ops]\nkind = \"file\"\npath = \"said.jsonl\"\n";
    std::fs::write(bed.path("data/channels.toml"), channels).unwrap();
    let served = bed.serve().await;
    let mut events = served.asked(Method::GET, "/admin/api/events").send().await.unwrap();
    let said = json!({ "name": "morning", "schedule": "0 3 1 1 *", "message": "早上好\n今天有雨", "channel": "ops" });
    let id = made(&served, said).await;
    let job = run(&served, &id, "monday").await.is(202).json();
    ended(&served, &mut events, job["job"].as_i64().unwrap()).await;
    // Asked again under the same key it is not said again.
    let again = run(&served, &id, "monday").await.is(202);
    assert_eq!(again.header("idempotency-replayed"), "true");
    assert_eq!(again.json(), job);
    let row = served.get(&format!("/api/cron/jobs/{id}")).await.is(200).json();
    assert_eq!((&row["run_count"], &row["last_status"]), (&json!(1), &json!("ok")), "{row}");
    assert!(row["last_response"].as_str().unwrap().contains("ops"), "{row}");
    let deliveries = served.get("/admin/api/jobs/list?kind=deliver").await.is(200).json();
    ended(&served, &mut events, deliveries["items"][0]["id"].as_i64().unwrap()).await;
    let lines = std::fs::read_to_string(bed.path("data/said.jsonl")).unwrap();
    assert_eq!(lines.lines().count(), 1, "{lines}");
    let line: Value = serde_json::from_str(lines.trim()).unwrap();
    assert_eq!((&line["title"], &line["text"]), (&json!("早上好"), &json!("早上好\n今天有雨")), "{line}");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_message_that_cannot_be_told_says_why() {
    let bed = Bed::new().await;
    let served = bed.serve().await;
    let mut events = served.asked(Method::GET, "/admin/api/events").send().await.unwrap();
    for (channel, field, words) in
        [(Some("nowhere"), "last_error", "nowhere"), (None, "last_response", "no channel is named")]
    {
        let said = json!({ "name": "x", "schedule": "0 3 1 1 *", "message": "早上好", "channel": channel });
        let id = made(&served, said).await;
        let job = run(&served, &id, &id).await.is(202).json();
        ended(&served, &mut events, job["job"].as_i64().unwrap()).await;
        let row = served.get(&format!("/api/cron/jobs/{id}")).await.is(200).json();
        assert!(row[field].as_str().unwrap().contains(words), "{row}");
    }
    // Nobody here does this: nothing is said of it until it has waited long.
    let queue = served.get("/admin/api/jobs/queue").await.is(200).json();
    assert_eq!(queue["unhandled"], json!([]));
}
