//! Every change has its row: who, by which door, what, and whether it was done.

use reqwest::Method;
use serde_json::{Value, json};

use crate::bed::{Bed, SITE, Served};
use crate::rights::{filled, operations};

/// Routes that are asked with a body and change nothing.
const ASKS: [&str; 5] = ["/validate", "/simulate", "/discover-html", "/preview", "/session"];

async fn newest(served: &Served, count: usize) -> Vec<Value> {
    let page = served.get(&format!("/admin/api/audit?limit={count}")).await.is(200).json();
    page["items"].as_array().unwrap().clone()
}

#[tokio::test(flavor = "multi_thread")]
async fn every_writing_route_leaves_one_row_when_it_is_refused() {
    let bed = Bed::new().await;
    let served = bed.guarded().await;
    let document = served.get("/admin/api/openapi.json").await.is(200).json();
    let token = json!({ "name": "looker", "scope": "read" });
    let token =
        served.post("/admin/api/tokens", token).await.is(201).json()["token"].as_str().unwrap().to_owned();
    let total =
        async || served.get("/admin/api/audit?limit=1").await.is(200).json()["total"].as_u64().unwrap();
    let mut seen = 0;
    for (method, path, _) in operations(&document) {
        if method == Method::GET || ASKS.iter().any(|ask| path.ends_with(ask)) {
            continue;
        }
        let route = format!("{method} {path}");
        let before = total().await;
        // What is not there, or says nothing.
        let ask = |request: reqwest::RequestBuilder| {
            let request = request.header("content-type", "application/json");
            served.send(if method == Method::DELETE { request } else { request.body("{}") })
        };
        let refused = ask(served.asked(method.clone(), &filled(&path))).await;
        assert!([404, 409, 422].contains(&refused.status.as_u16()), "{route}: {refused:?}");
        let rows = newest(&served, 1).await;
        assert_eq!(total().await, before + 1, "{route}: {rows:?}");
        let row = &rows[0];
        assert_eq!(row["request"], refused.header("x-request-id"), "{route}: {row}");
        assert_eq!((&row["actor"], &row["via"]), (&json!("admin"), &json!("api")), "{route}: {row}");
        assert_eq!(row["outcome"], refused.json()["code"], "{route}: {row}");
        assert!(row["action"].as_str().unwrap().contains('.'), "{route}: {row}");
        // Somebody who may not is in it as well; nobody is not.
        ask(served.request(method.clone(), &filled(&path)).bearer_auth(&token)).await.is(403);
        let row = newest(&served, 1).await.remove(0);
        assert_eq!((&row["outcome"], total().await), (&json!("forbidden"), before + 2), "{route}: {row}");
        ask(served.request(method.clone(), &filled(&path))).await.is(401);
        assert_eq!(total().await, before + 2, "{route}");
        seen += 1;
    }
    assert!(seen >= 30, "{seen}");
}

#[tokio::test(flavor = "multi_thread")]
async fn what_is_done_over_the_api_and_by_command_is_in_the_audit_with_its_doer() {
    let bed = Bed::new().await;
    let served = bed.serve().await;
    let import = served.asked(Method::POST, "/admin/api/sites").header("content-type", "application/yaml");
    served.send(import.body(SITE)).await.is(201);
    let post = async |path: &str, body: Value| served.post(&format!("/admin/api/{path}"), body).await;
    post("hosts/www.ndrc.gov.cn/cool", json!({ "seconds": 60 })).await.is(200);
    post("hosts/www.ndrc.gov.cn/reset", json!({})).await.is(200);
    let schedule =
        json!({ "name": "nightly", "kind": "hook:x", "trigger": { "type": "cron", "cron": "0 3 * * *" } });
    let made = post("schedules", schedule).await;
    let made = if made.status == 201 { made } else { panic!("{made:?}") };
    drop(made);
    served.put("/admin/api/schedules/nightly", json!({ "enabled": false })).await.is(200);
    served.delete("/admin/api/schedules/nightly").await.is(204);
    // At the terminal, by somebody with a name.
    let file = bed.path("ndrc.yaml");
    std::fs::write(&file, SITE.replace("新闻发布", "新闻")).unwrap();
    for line in [
        "target set ndrc__xwfb interval_sec=7",
        "target set ndrc__xwfb interval_sec=never",
        "target toggle ndrc__xwfb --off",
        "site import ndrc.yaml",
        "site import ndrc.yaml",
        "host cool www.ndrc.gov.cn --for 1h",
        "host reset www.ndrc.gov.cn",
        "schedule add weekly --cron 0+4+*+*+1 --kind hook:y",
        "schedule pause weekly",
        "schedule rm weekly",
        "queue cancel 987654",
    ] {
        let words: Vec<String> = line.split(' ').map(|word| word.replace('+', " ")).collect();
        let words: Vec<&str> = words.iter().map(String::as_str).collect();
        bed.command(&words).env("USER", "liu").output().await.unwrap();
    }
    let mut rows = newest(&served, 100).await;
    rows.reverse();
    let told = |via: &str| -> Vec<(String, String)> {
        let text = |value: &Value| value.as_str().unwrap().to_owned();
        let by = rows.iter().filter(|row| row["via"] == via);
        by.map(|row| (text(&row["action"]), text(&row["outcome"]))).collect()
    };
    let ok = |action: &str| (action.to_owned(), "ok".to_owned());
    let no = |action: &str| (action.to_owned(), "refused".to_owned());
    assert_eq!(
        told("api"),
        ["site.create", "host.cool", "host.reset", "schedule.create", "schedule.update", "schedule.delete"]
            .map(ok)
    );
    assert_eq!(
        told("cli"),
        [
            ok("target.update"),
            no("target.update"),
            ok("target.toggle"),
            // The second import changed nothing.
            ok("site.import"),
            ok("host.cool"),
            ok("host.reset"),
            ok("schedule.create"),
            ok("schedule.update"),
            ok("schedule.delete"),
            no("job.cancel"),
        ],
        "{rows:#?}"
    );
    assert!(rows.iter().filter(|row| row["via"] == "cli").all(|row| row["actor"] == "liu"), "{rows:#?}");
}
