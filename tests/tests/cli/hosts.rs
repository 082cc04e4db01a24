//! `dibao host` and `dibao fetch --explain`: what they say is what the server saw.

use dibao_replica::{Fault, FaultRule};
use serde_json::Value;

use crate::stage::{Run, Stage, finish};

const NDRC: &str = "www.ndrc.gov.cn";
const PAGE: &str = "https://www.ndrc.gov.cn/xwdt/xwfb/index.html";

fn status(code: u16, retry_after: Option<&str>) -> Fault {
    Fault::Status { code, retry_after: retry_after.map(str::to_owned), body: None }
}

fn checks(run: &Run) -> Vec<(String, bool)> {
    let of = |row: Value| (row["check"].as_str().unwrap().to_owned(), row["passed"].as_bool().unwrap());
    run.rows().into_iter().map(of).collect()
}

#[tokio::test(flavor = "multi_thread")]
async fn explain_tells_each_decision_in_the_order_of_the_gate() {
    let stage = Stage::with_five().await;
    let order = ["grant", "public", "address", "robots", "breaker", "throttle", "http", "verdict"];
    let run = stage.dibao(&format!("fetch {PAGE} --explain")).await.exits(0);
    let told = checks(&run);
    assert_eq!(told.iter().map(|(check, _)| check.as_str()).collect::<Vec<_>>(), order, "{}", run.stdout);
    assert!(told.iter().all(|(_, passed)| *passed), "{}", run.stdout);
    let detail = |check: &str| {
        let row = run.rows().into_iter().find(|row| row["check"] == check).unwrap();
        row["detail"].as_str().unwrap().to_owned()
    };
    assert!(detail("verdict").starts_with("ok"), "{}", run.stdout);
    assert!(
        detail("throttle").ends_with("0.0 s between requests, as the settings say; 1 at once"),
        "{}",
        run.stdout
    );
    assert!(run.stderr.contains("settings of ndrc"), "{}", run.stderr);
    // Each hop begins anew, and a check that stops it is the last.
    let away = Fault::RedirectTo { location: "http://169.254.169.254/latest/".into() };
    stage.replica.fault(FaultRule::new(away).path("/xwfb/index.html"));
    let run = stage.dibao(&format!("fetch {PAGE} --explain")).await;
    let told = checks(&run);
    let names: Vec<&str> = told.iter().map(|(check, _)| check.as_str()).collect();
    assert_eq!(names[..7], order[..7], "{}", run.stdout);
    let stopped: Vec<&str> =
        told.iter().filter(|(_, passed)| !passed).map(|(check, _)| check.as_str()).collect();
    assert!(matches!(stopped[..], ["public" | "address", "verdict"]), "{}", run.stdout);
    assert!(run.code == 8 && run.stderr.contains("169.254.169.254"), "{} {}", run.code, run.stderr);
}

#[tokio::test(flavor = "multi_thread")]
async fn explain_says_what_stopped_a_request_and_sends_nothing() {
    let stage = Stage::with_five().await;
    let robots = Fault::Status {
        code: 200,
        retry_after: None,
        body: Some("User-agent: *\nDisallow: /xwdt/\nCrawl-delay: 1\n".into()),
    };
    stage.replica.fault(FaultRule::new(robots).path("/robots.txt"));
    // The copy of before is still good: another data directory has none.
    stage.dibao("site import ndrc.yaml --data other").await.exits(0);
    for (line, stops_at, words, requests) in [
        ("fetch https://10.0.0.1/ --explain --data other", "address", "private", 0),
        ("fetch https://www.ndrc.gov.cn:22/ --explain --data other", "public", "22", 0),
        ("fetch https://u:p@www.ndrc.gov.cn/ --explain --data other", "public", "user name", 0),
        ("fetch https://www.ndrc.gov.cn/admin/ --explain --data other", "public", "admin", 0),
        (&format!("fetch {PAGE} --explain --data other"), "robots", "Disallow: /xwdt/", 1),
    ] {
        stage.replica.forget_requests();
        let run = stage.dibao(line).await.exits(8);
        let row = run.rows().into_iter().find(|row| row["passed"] == false).unwrap();
        assert_eq!(row["check"], stops_at, "{line}: {}", run.stdout);
        assert!(row["detail"].as_str().unwrap().contains(words), "{line}: {row}");
        assert!(
            run.rows().last().unwrap()["detail"].as_str().unwrap().contains("nothing was sent"),
            "{line}"
        );
        assert_eq!(stage.asked().len(), requests, "{line}: {:?}", stage.asked());
    }
    let other = "fetch https://www.ndrc.gov.cn/xxgk/zcfb/tz/index.html --explain --data other";
    let run = stage.dibao(other).await.exits(0);
    let throttle = run.rows().into_iter().find(|row| row["check"] == "throttle").unwrap();
    assert!(
        throttle["detail"].as_str().unwrap().contains("1.0 s between requests, as robots.txt asks"),
        "{throttle}"
    );
    let day = stage.dibao("host show www.ndrc.gov.cn --data other").await.exits(0).row()["days"][0].clone();
    assert_eq!((&day["robots_denied"], &day["requests"]), (&1.into(), &2.into()), "{day}");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_directory_that_was_named_keeps_what_is_known_of_hosts_from_the_first_request_on() {
    let stage = Stage::new().await;
    stage.replica.fault(FaultRule::new(Fault::Reset).host(NDRC));
    // Two requests each, for robots.txt and for the page: three failures are enough.
    for _ in 0..2 {
        stage.dibao(&format!("fetch {PAGE} --tier http")).await;
    }
    stage.replica.forget_requests();
    let run = stage.dibao(&format!("fetch {PAGE} --tier http")).await;
    run.says(&["left alone until"]);
    assert_eq!(stage.asked(), Vec::<String>::new());
    // Where nobody named one, looking at an address leaves nothing behind.
    let mut command = stage.command(&format!("fetch {PAGE} --tier http"));
    command.env_remove("DIBAO_DATA");
    finish(command).await;
    assert!(!stage.asked().is_empty());
    assert!(!stage.path("dibao-data").exists());
}

#[tokio::test(flavor = "multi_thread")]
async fn a_host_whose_robots_txt_cannot_be_read_is_not_asked_when_that_is_the_rule() {
    let stage = Stage::new().await;
    stage.replica.fault(FaultRule::new(status(500, None)).path("/robots.txt"));
    let run = stage.dibao(&format!("fetch {PAGE} --explain --robots-on-unreachable deny")).await;
    let stop = run.rows().into_iter().find(|row| row["passed"] == false).unwrap();
    assert_eq!(stop["check"], "robots", "{}", run.stdout);
    assert_eq!(stage.asked(), ["www.ndrc.gov.cn/robots.txt"]);
    // The rule is that it may be; what came of asking for the file is told.
    let run = stage.dibao(&format!("fetch {PAGE} --explain --data other")).await.exits(0);
    let robots = run.rows().into_iter().find(|row| row["check"] == "robots").unwrap();
    let detail = robots["detail"].as_str().unwrap();
    assert!(detail.contains("/robots.txt server_error: status 500"), "{detail}");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_host_is_cooled_and_reset_by_hand_and_the_next_process_heeds_it() {
    let stage = Stage::with_five().await;
    stage.dibao("host ls --cooling").await.exits(0).says(&["no host is left alone"]);
    stage
        .dibao("host cool www.ndrc.gov.cn --for 2h")
        .await
        .exits(0)
        .says(&["is left alone until", "host reset"]);
    let row = stage.dibao("host ls --cooling").await.exits(0).row();
    assert_eq!((&row["host"], &row["why"]), (&NDRC.into(), &"set by hand".into()), "{row}");
    stage.replica.forget_requests();
    let run = stage.dibao(&format!("fetch {PAGE} --explain")).await;
    assert_eq!(checks(&run).last().unwrap(), &("verdict".to_owned(), false));
    let stop = run.rows().into_iter().find(|row| row["passed"] == false).unwrap();
    assert_eq!(stop["check"], "breaker", "{}", run.stdout);
    stage.dibao("crawl ndrc__xwfb --force --max-items 8").await.says(&["left alone until", "set by hand"]);
    assert_eq!(stage.asked(), Vec::<String>::new());
    let day = stage.dibao("host show www.ndrc.gov.cn").await.exits(0).row()["days"][0].clone();
    assert!(day["refused"].as_u64() >= Some(2), "what was not sent is counted: {day}");

    stage.dibao("host reset www.ndrc.gov.cn").await.exits(0).says(&["nothing is held against"]);
    stage.dibao("host ls --cooling").await.exits(0).says(&["no host is left alone"]);
    stage.dibao("crawl ndrc__xwfb --force --max-items 8").await.exits(0);
    stage.dibao("host reset www.ndcr.gov.cn").await.exits(2).says(&["nothing is known", NDRC]);
    stage.dibao("host show nowhere.gov.cn").await.exits(2).says(&["nothing is known"]);
    stage.dibao("host cool www.ndrc.gov.cn --for 9y").await.exits(2).says(&["s, m, h or d"]);
    stage.intact().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn the_ledger_of_a_day_is_what_the_server_counted() {
    let stage = Stage::new().await;
    stage.dibao("site import ndrc.yaml").await.exits(0);
    let details = |fault| FaultRule::new(fault).path("*/t2026*");
    let challenge = Fault::Status {
        code: 412,
        retry_after: None,
        body: Some("<html><head><title>Environment Checking</title><script src=\"/ctct_bundle_0a1b2c3d.js\"></script></head></html>".into()),
    };
    // One of each, a good page between two, and at the end the host says when to come back.
    for (index, fault) in [
        Fault::Reset,
        status(404, None),
        status(503, None),
        status(403, None),
        challenge,
        Fault::RedirectLoop,
    ]
    .into_iter()
    .enumerate()
    {
        stage.replica.fault(details(fault).skip(2 * index as u64 + 1).times(1));
    }
    stage.dibao("crawl ndrc__xwfb").await;
    let later = stage.replica.fault(FaultRule::new(status(429, Some("1800"))).path("/tz/"));
    stage.dibao("crawl ndrc__tz").await;
    stage.replica.remove_fault(later);
    stage.dibao("crawl ndrc__tz").await;

    let asked = stage.replica.requests();
    let count = asked.iter().filter(|seen| seen.host == NDRC).count() as u64;
    let row = stage.dibao("host show www.ndrc.gov.cn").await.exits(0).row();
    // The test may run over midnight.
    let days = row["days"].as_array().unwrap();
    let sum = |name: &str| -> u64 {
        days.iter()
            .map(|day| day.pointer(name).and_then(Value::as_u64).unwrap_or_else(|| panic!("{name}: {day}")))
            .sum()
    };
    assert_eq!(sum("/requests"), count, "{row}");
    let verdicts = [
        "ok",
        "thin",
        "challenge",
        "blocked",
        "gone",
        "retry_after",
        "server_error",
        "wrong_content",
        "network_error",
    ];
    let judged: u64 = verdicts.iter().map(|name| sum(&format!("/verdicts/{name}"))).sum();
    assert_eq!(judged, count, "every request has its verdict: {row}");
    for (name, expected) in
        [("challenge", 1), ("blocked", 1), ("gone", 1), ("retry_after", 1), ("server_error", 1)]
    {
        assert_eq!(sum(&format!("/verdicts/{name}")), expected, "{name}: {row}");
    }
    assert!(sum("/verdicts/network_error") >= 1 && sum("/bytes") > 10_000, "{row}");
    assert_eq!((sum("/retry_after_honoured"), sum("/cooldowns")), (1, 1), "{row}");
    assert!(sum("/refused") >= 1, "{row}");
    let line = stage.dibao("host ls").await.exits(0).row();
    assert_eq!(line["why"], "the host said when to come back", "{line}");
    assert!(
        line["cooling_until"].is_string()
            && line["last_verdict"].as_str().unwrap().starts_with("retry_after"),
        "{line}"
    );
    // The log of requests agrees with both.
    let db = rusqlite::Connection::open(dibao::store::database_path(&stage.path("data"))).unwrap();
    let logged: u64 =
        db.query_row("SELECT count(*) FROM crawl_log", [], |row| row.get::<_, i64>(0)).unwrap() as u64;
    assert_eq!(logged, count);
    let unjudged: i64 =
        db.query_row("SELECT count(*) FROM crawl_log WHERE verdict IS NULL", [], |row| row.get(0)).unwrap();
    assert_eq!(unjudged, 0, "every hop has its verdict");
}
