//! What is served: the description, figures, events; and how serving ends.

use futures::StreamExt;
use reqwest::Method;
use rustix::process::Signal;

use crate::bed::{Bed, TOO_LONG};

#[tokio::test(flavor = "multi_thread")]
async fn what_is_served_is_what_is_committed() {
    let bed = Bed::new().await;
    let served = bed.serve().await;
    let committed = concat!(env!("CARGO_MANIFEST_DIR"), "/../server/openapi.json");
    let answer = served.get("/admin/api/openapi.json").await.is(200);
    assert!(answer.text == std::fs::read_to_string(committed).unwrap());
    let again =
        served.request(Method::GET, "/admin/api/openapi.json").header("if-none-match", answer.header("etag"));
    assert!(served.send(again).await.is(304).text.is_empty());
}

#[tokio::test(flavor = "multi_thread")]
async fn it_is_well_and_says_so_in_figures() {
    let bed = Bed::new().await;
    let served = bed.serve().await;
    served.get("/healthz").await.is(200);
    served.get("/readyz").await.is(200);
    let figures = served.get("/metrics").await.is(200);
    assert!(figures.header("content-type").starts_with("application/openmetrics-text"));
    let text = figures.text;
    for line in [
        "dibao_http_requests_total{method=\"GET\",route=\"/healthz\",status=\"200\"} 1",
        "# TYPE dibao_queue_oldest_age_seconds gauge",
        "dibao_queue_jobs{state=\"queued\"} 0",
    ] {
        assert!(text.contains(line), "{line}\n{text}");
    }
    assert_eq!(text.matches("# EOF").count(), 1);
}

#[tokio::test(flavor = "multi_thread")]
async fn sigterm_lets_watchers_go_and_ends_well() {
    let bed = Bed::new().await;
    let served = bed.serve().await;
    let events = served.request(Method::GET, "/admin/api/events").send().await.unwrap();
    assert_eq!(events.status(), 200);
    let mut events = events.bytes_stream();
    let first = tokio::time::timeout(TOO_LONG, events.next()).await.unwrap().unwrap().unwrap();
    assert!(String::from_utf8_lossy(&first).contains("event: hello"));
    served.signal(Signal::TERM);
    while let Some(more) = tokio::time::timeout(TOO_LONG, events.next()).await.expect("the stream ends") {
        more.unwrap();
    }
    let log = served.log.clone();
    let ended = served.ended().await;
    assert!(ended.success(), "{ended:?}: {}", log.lock().unwrap());
}
