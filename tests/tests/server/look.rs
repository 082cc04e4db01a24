//! What is found by looking: columns of a site that nobody knows, and what policies would have made of a history.

use serde_json::json;

use crate::bed::Bed;

#[tokio::test(flavor = "multi_thread")]
async fn a_site_that_no_adapter_knows_becomes_targets_over_the_api() {
    let bed = Bed::new().await;
    let served = bed.serve().await;
    let ask = |body| served.post("/admin/api/targets/discover-html", body);
    let found =
        ask(json!({ "url": "https://www.gdqy.gov.cn/", "pages": 8, "depth": 2 })).await.is(200).json();
    let columns = found["columns"].as_array().unwrap();
    assert_eq!(columns.iter().map(|column| &column["id"]).collect::<Vec<_>>(), ["tzgg", "zlxx"], "{found}");
    assert!(found["walked"]["pages"].as_u64().unwrap() <= 8, "{}", found["walked"]);
    // The file makes a site, and a column a target of a site that is there.
    let yaml = found["yaml"].as_str().unwrap().to_owned();
    let request =
        served.asked(reqwest::Method::POST, "/admin/api/sites").header("content-type", "application/yaml");
    let site = served.send(request.body(yaml)).await.is(201).json();
    assert_eq!(site["targets"].as_array().unwrap().len(), 2, "{site}");
    let mut column = columns[1]["column"].clone();
    column["column_id"] = json!("again");
    let body = json!({ "site": site["code"], "columns": [column] });
    let made = served.post("/admin/api/targets/bulk-create", body).await.is(200).json();
    assert_eq!(made["results"][0]["outcome"], "done", "{made}");
    for (body, field) in [
        (json!({ "url": "nonsense" }), "url"),
        (json!({ "url": "https://www.gdqy.gov.cn/", "pages": 501 }), "pages"),
        (json!({ "url": "https://www.gdqy.gov.cn/", "depth": -1 }), "depth"),
    ] {
        assert_eq!(ask(body).await.is(422).problem("invalid")["field"], field);
    }
    // What leads nowhere is the site's fault, and what may not be asked is not asked.
    ask(json!({ "url": "https://www.gdqy.gov.cn/nothing/", "adapter": "yaml-css" })).await.is(424);
    ask(json!({ "url": "https://www.gdqy.gov.cn/search/", "adapter": "yaml-css" })).await.is(424);
    assert!(bed.replica.requests().iter().all(|seen| !seen.path.starts_with("/search/")));
}

#[tokio::test(flavor = "multi_thread")]
async fn policies_are_compared_over_a_history_of_bounded_size() {
    let bed = Bed::new().await;
    let served = bed.serve().await;
    let ask = |body| served.post("/admin/api/schedules/simulate", body);
    // Twice a day for six weeks.
    let published: Vec<i64> = (0..84).map(|n| 1_775_700_000 + n * 43_200).collect();
    let trace = json!({ "sources": [{ "id": "a", "published": published }] });
    let told =
        ask(json!({ "trace": trace, "policies": ["predictive", "interval:3600"], "budget": 12 })).await;
    let told = told.is(200).json();
    let policies = told["policies"].as_array().unwrap();
    assert_eq!((policies.len(), &policies[1]["policy"]), (2, &json!("interval:3600")));
    let delay = |at: usize| policies[at]["mean_delay_items_h"].as_f64().unwrap();
    assert!(delay(0) < delay(1) && policies[1]["budget_met"] == true, "{told}");
    let usual = ask(json!({ "trace": trace })).await.is(200).json();
    assert_eq!(usual["policies"].as_array().unwrap().len(), 3);
    for (body, field) in [
        (json!({}), "trace"),
        (json!({ "trace": trace, "target_ids": ["a"] }), "trace"),
        (json!({ "trace": { "sources": [{ "id": "a", "published": [5] }] } }), "trace"),
        (json!({ "trace": { "sources": [{ "id": "a", "published": [1, 4_000_000_000i64] }] } }), "trace"),
        (
            json!({ "trace": { "sources": [{ "id": "a", "tz": "Mars/Base", "published": [1, 2] }] } }),
            "trace.sources[0].tz",
        ),
        (json!({ "trace": trace, "policies": ["interval:1"] }), "policies[0]"),
        (json!({ "trace": trace, "policies": ["psychic"] }), "policies[0]"),
        (json!({ "trace": trace, "budget": 0 }), "budget"),
    ] {
        assert_eq!(ask(body.clone()).await.is(422).problem("invalid")["field"], field, "{body}");
    }
    ask(json!({ "target_ids": ["nobody"] })).await.is(404).problem("not_found");
}
