//! `dibao robots check`: from a file, from the host itself, and line by line.

use std::process::Stdio;

use dibao_replica::{Fault, FaultRule};
use serde_json::{Value, json};
use tokio::io::{AsyncBufReadExt, AsyncWriteExt, BufReader};

use crate::stage::{Stage, finish};

const FILE: &str = "\
User-agent: *
Disallow: /search   # slow
Allow: /search/about
Crawl-delay: 2

User-agent: owl
Disallow: /公报
";

#[tokio::test(flavor = "multi_thread")]
async fn a_file_decides_for_each_address_with_its_rule_and_line() {
    let stage = Stage::new().await;
    stage.write("robots.txt", FILE);
    stage.replica.forget_requests();
    let check = "robots check --file robots.txt";
    let line =
        format!("{check} --agent dibao/1 https://e.cn/search?q=1 https://e.cn/search/about https://e.cn/a");
    let run = finish(stage.bare(&line)).await.exits(8);
    let seen: Vec<_> =
        run.rows().iter().map(|r| json!([r["allow"], r["rule"], r["line"], r["group"]])).collect();
    assert_eq!(
        seen,
        [
            json!([false, "Disallow: /search", 2, "*"]),
            json!([true, "Allow: /search/about", 3, "*"]),
            json!([true, null, null, "*"]),
        ]
    );
    assert_eq!(run.rows()[0]["crawl_delay_sec"], 2.0);
    // Another agent has another group; its rule is in UTF-8, the address escaped.
    let owl = format!("{check} --agent Owl https://e.cn/%E5%85%AC%E6%8A%A5/1");
    assert_eq!(finish(stage.bare(&owl)).await.exits(8).row()["line"], 7);
    finish(stage.bare(&format!("{check} --agent Owl https://e.cn/search"))).await.exits(0);
    finish(stage.bare(&format!("{check} e.cn/search"))).await.exits(2).says(&["e.cn/search", "web address"]);
    let missing = finish(stage.bare("robots check --file none.txt https://e.cn/")).await;
    assert!(missing.code != 0 && missing.stderr.contains("none.txt"), "{missing:?}");
    assert!(stage.asked().is_empty(), "a file needs nobody else");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_live_address_is_decided_by_its_own_host() {
    let stage = Stage::new().await;
    stage.replica.forget_requests();
    let run = stage.dibao("robots check https://www.ndrc.gov.cn/admin/x https://www.ndrc.gov.cn/xwdt/").await;
    let rows = run.exits(8).rows();
    assert_eq!((&rows[0]["allow"], &rows[0]["rule"]), (&json!(false), &json!("Disallow: /admin/")));
    assert_eq!(rows[1]["allow"], true);
    assert_eq!(stage.asked(), ["www.ndrc.gov.cn/robots.txt"], "one question for two addresses, and no page");
    let gone = Fault::Status { code: 404, retry_after: None, body: None };
    stage.replica.fault(FaultRule::new(gone).host("www.gov.cn").path("/robots.txt"));
    let row = stage.dibao("robots check https://www.gov.cn/admin/x").await.exits(0).row();
    assert!(row["rule"].as_str().is_some_and(|words| words.contains("404")), "{row}");
}

#[tokio::test(flavor = "multi_thread")]
async fn each_line_is_answered_before_the_next_is_asked_and_a_bad_one_stops_nothing() {
    let stage = Stage::new().await;
    let mut child = stage.bare("robots check --jsonl").stdin(Stdio::piped()).spawn().unwrap();
    let mut ask = child.stdin.take().unwrap();
    let mut answers = BufReader::new(child.stdout.take().unwrap()).lines();
    let question =
        |id: Value, url: &str| json!({ "id": id, "robots": FILE, "ua": "fox", "url": url }).to_string();
    let lines = [
        (
            question(json!(1), "https://e.cn/search"),
            json!({ "id": 1, "allow": false, "rule": "Disallow: /search" }),
        ),
        // A path alone is an address too.
        (
            question(json!("b"), "/search/about"),
            json!({ "id": "b", "allow": true, "rule": "Allow: /search/about" }),
        ),
        (question(json!(null), ""), json!({ "id": null, "allow": true, "rule": null })),
        ("{\"id\": 4, \"robots\": ".into(), Value::Null),
        ("{\"id\": 5, \"ua\": \"fox\"}".into(), Value::Null),
        (question(json!(6), "/search?x"), json!({ "id": 6, "allow": false, "rule": "Disallow: /search" })),
    ];
    for (line, expected) in lines {
        ask.write_all(format!("{line}\n").as_bytes()).await.unwrap();
        // Nothing more is asked until this is answered: an answer that waits for the end would never come.
        let answer: Value = serde_json::from_str(&answers.next_line().await.unwrap().unwrap()).unwrap();
        match expected {
            Value::Null => assert!(answer["error"].is_string() && answer.get("allow").is_none(), "{answer}"),
            expected => assert_eq!(answer, expected),
        }
    }
    drop(ask);
    assert_eq!(answers.next_line().await.unwrap(), None);
    assert_eq!(child.wait().await.unwrap().code(), Some(9), "some lines could not be read");
}
