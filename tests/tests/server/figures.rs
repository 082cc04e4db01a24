//! What Prometheus is told after real work: base units, labels from short lists, sums that fit what was asked of the sites.

use std::collections::BTreeMap;

use reqwest::Method;
use serde_json::json;

use crate::bed::{Bed, SITE, Served};
use crate::operate::ended;

/// Every sample by its name with labels.
async fn samples(served: &Served) -> BTreeMap<String, f64> {
    let text = served.get("/metrics").await.is(200).text;
    assert!(text.ends_with("# EOF\n"), "{text}");
    let mut samples = BTreeMap::new();
    for line in text.lines().filter(|line| !line.starts_with('#')) {
        let (name, value) = line.rsplit_once(' ').unwrap();
        assert!(samples.insert(name.to_owned(), value.parse().unwrap()).is_none(), "{name} twice");
    }
    samples
}

#[tokio::test(flavor = "multi_thread")]
async fn a_crawl_is_counted_by_tier_outcome_and_adapter() {
    let bed = Bed::new().await;
    let served = bed.serve().await;
    let import = served.asked(Method::POST, "/admin/api/sites").header("content-type", "application/yaml");
    served.send(import.body(SITE)).await.is(201);
    let mut events = served.asked(Method::GET, "/admin/api/events").send().await.unwrap();
    let job =
        served.post("/admin/api/targets/ndrc__xwfb/run", json!({ "max_items": 5 })).await.is(202).json();
    let job = ended(&served, &mut events, job["job"].as_i64().unwrap()).await;
    assert_eq!(job["state"], "done", "{job}");
    // What robots.txt forbids, and a page that is gone.
    let look = |url: &str| {
        served.post("/admin/api/targets/discover-html", json!({ "url": url, "adapter": "yaml-css" }))
    };
    look("https://www.ndrc.gov.cn/search/").await.is(424);
    look("https://www.ndrc.gov.cn/nothing/").await.is(424);
    let told = samples(&served).await;
    let of = |name: &str| *told.get(name).unwrap_or_else(|| panic!("no {name} in {told:#?}"));
    let fetched =
        |outcome: &str| of(&format!("dibao_fetch_requests_total{{tier=\"http\",outcome=\"{outcome}\"}}"));
    // A list and five articles at least; robots.txt is no fetch of its own.
    assert!(fetched("ok") >= 6.0 && fetched("gone") == 1.0 && fetched("robots") == 1.0, "{told:#?}");
    assert_eq!(of("dibao_robots_denied_total"), 1.0);
    let count = of("dibao_fetch_duration_seconds_count{tier=\"http\"}");
    assert!(count >= 7.0 && of("dibao_fetch_duration_seconds_sum{tier=\"http\"}") > 0.0, "{told:#?}");
    let mut below = 0.0;
    for end in ["0.05", "0.1", "0.25", "0.5", "1.0", "2.5", "5.0", "10.0", "30.0", "60.0", "+Inf"] {
        let next = of(&format!("dibao_fetch_duration_seconds_bucket{{tier=\"http\",le=\"{end}\"}}"));
        assert!(next >= below, "{told:#?}");
        below = next;
    }
    assert_eq!(below, count, "the last class holds all");
    assert!(of("dibao_adapter_turns_total{adapter=\"yaml-css\"}") >= 12.0, "{told:#?}");
    assert!(of("dibao_adapter_fuel_total{adapter=\"yaml-css\"}") > 1_000.0, "{told:#?}");
    assert_eq!((of("dibao_leases_stalled_total"), of("dibao_drift_total")), (0.0, 0.0));
    assert!(of("dibao_schedule_lag_seconds") >= 0.0);
    assert_eq!(of("dibao_items_total{outcome=\"ready\"}"), 5.0);
    // A list that is no longer shaped as it was.
    let over = json!({ "override": { "list_selector": { "row": "ul.gone > li" } } });
    served.put("/admin/api/targets/ndrc__xwfb/parser", over).await.is(200);
    let job = served.post("/admin/api/targets/ndrc__xwfb/run", json!({ "force": true })).await.is(202).json();
    ended(&served, &mut events, job["job"].as_i64().unwrap()).await;
    assert!(samples(&served).await["dibao_drift_total"] >= 1.0);
}
