//! S2-26, S2-28, C8: the browser passes once, HTTP goes on with the cookie it earned.

use dibao::fetch::FetchErrorKind;
use dibao::fetch::browser::BrowserOptions;
use dibao::fetch::escalate::Strategy;
use dibao::{Engine, Lookup};
use dibao_replica::{Fault, FaultRule};
use url::Url;

use crate::bed::{Bed, NDRC};
use crate::stage::{GDQY, chromium, quick};

const LIST: &str = "https://www.gdqy.gov.cn/gdqy/newxxgk/tzgg/index.html";

async fn look(engine: &Engine, url: &str) -> Lookup {
    engine.look_up(Url::parse(url).unwrap(), Some(Strategy::Auto)).await.expect("a look")
}

fn challenge(bed: &Bed, code: u16, cookie: &str) -> u64 {
    let fault = Fault::Challenge { code, cookie: cookie.to_owned() };
    bed.replica.fault(FaultRule::new(fault).host(GDQY).path("/gdqy/"))
}

/// How often a host was asked for pages.
fn pages(bed: &Bed, host: &str) -> usize {
    let asked = bed.replica.requests();
    asked.iter().filter(|seen| seen.host == host && seen.path.ends_with(".html")).count()
}

#[tokio::test(flavor = "multi_thread")]
async fn the_browser_passes_once_per_incident_and_http_goes_on_with_its_cookie() {
    if !chromium().await {
        return;
    }
    let bed = Bed::new(20).await;
    let engine = bed.builder("data").browser(quick()).build().await.expect("an engine");

    // First fetch by browser, the next ones by HTTP with the cookie.
    let first = challenge(&bed, 412, "pass=one");
    let passed = look(&engine, LIST).await;
    let fetched = passed.result.expect("the real page");
    assert_eq!((fetched.tier, fetched.status), ("browser", 200));
    assert!(String::from_utf8_lossy(&fetched.body).contains("news_list"), "the real page");
    assert_eq!(fetched.hops.len(), 1, "what HTTP met is written down");
    bed.forget();
    for _ in 0..2 {
        let again = look(&engine, LIST).await.result.expect("the real page");
        assert_eq!((again.tier, again.status), ("http", 200));
    }
    let asked = bed.replica.requests();
    assert_eq!(asked.len(), 2, "robots.txt is known, and nothing else was asked: {:?}", bed.asked());
    assert!(asked.iter().all(|seen| seen.header("cookie") == Some("pass=one")));
    let kept = engine.store().host(GDQY).await.unwrap().expect("known").cookies;
    let kept: Vec<_> = kept.iter().collect();
    assert_eq!((kept.len(), kept[0].domain.as_str(), kept[0].path.as_str()), (1, GDQY, "/"));
    assert!(kept[0].expires.is_some(), "S2-28: no cookie is kept for ever");

    // The cookie does not help any more: it is forgotten, and the browser earns the next one.
    bed.replica.remove_fault(first);
    let second = challenge(&bed, 521, "pass=two");
    bed.forget();
    let renewed = look(&engine, LIST).await.result.expect("the real page");
    assert_eq!((renewed.tier, renewed.status), ("browser", 200));
    let asked = bed.replica.requests().into_iter().filter(|seen| seen.path.ends_with(".html"));
    let cookies: Vec<_> = asked.map(|seen| seen.header("cookie").map(str::to_owned)).collect();
    assert_eq!(cookies, [Some("pass=one".into()), None, Some("pass=two".into())]);
    assert_eq!(look(&engine, LIST).await.result.expect("a page").tier, "http");
    // Who asks is the same honest name in both tiers.
    let agents: std::collections::BTreeSet<_> = bed
        .replica
        .requests()
        .iter()
        .filter_map(|seen| seen.header("user-agent").map(str::to_owned))
        .collect();
    assert_eq!(agents.len(), 1, "{agents:?}");
    assert!(agents.iter().all(|agent| agent.contains("dibao/")), "{agents:?}");

    // One that no browser passes is tried once per incident.
    bed.replica.remove_fault(second);
    bed.replica.fault(
        FaultRule::new(Fault::Status { code: 412, retry_after: None, body: None }).host(NDRC).path(".html"),
    );
    bed.forget();
    let ndrc = format!("https://{NDRC}/xwdt/xwfb/index.html");
    let refused = look(&engine, &ndrc).await;
    assert!(refused.steps.iter().any(|step| step.check == "escalate" && step.passed), "{:?}", refused.steps);
    assert_eq!((refused.result.unwrap_err().tier(), pages(&bed, NDRC)), ("browser", 2));
    let refused = look(&engine, &ndrc).await;
    assert!(refused.steps.iter().any(|step| step.check == "escalate" && !step.passed), "{:?}", refused.steps);
    assert_eq!((refused.result.unwrap_err().tier(), pages(&bed, NDRC)), ("http", 3));
}

#[tokio::test]
async fn neither_the_wire_nor_a_host_that_names_a_time_leads_to_the_browser() {
    let bed = Bed::new(20).await;
    // A program that would be seen: it is asked for nothing, so it is never started.
    let options = BrowserOptions { program: Some("/bin/false".into()), ..quick() };
    let engine = bed.builder("data").browser(options).build().await.expect("an engine");
    for (host, path, fault) in [
        (GDQY, "/gdqy/newxxgk/tzgg/index.html", Fault::Reset),
        ("www.gov.cn", "/zhengce/zuixin/home.htm", Fault::Truncate),
        (
            NDRC,
            "/xwdt/xwfb/index.html",
            Fault::Status { code: 429, retry_after: Some("120".into()), body: None },
        ),
        (
            "www.gd.gov.cn",
            "/zwgk/wjk/qbwj/yf/index.html",
            Fault::Status { code: 404, retry_after: None, body: None },
        ),
    ] {
        bed.replica.fault(FaultRule::new(fault.clone()).host(host).path(path));
        bed.forget();
        let looked = look(&engine, &format!("https://{host}{path}")).await;
        assert!(looked.steps.iter().all(|step| step.check != "escalate"), "{fault:?}: {:?}", looked.steps);
        assert_eq!(bed.asked().iter().filter(|asked| *asked == path).count(), 1, "{fault:?}");
    }
    let cooling = look(&engine, &format!("https://{NDRC}/")).await.result.unwrap_err();
    assert!(matches!(cooling.kind(), FetchErrorKind::CoolingDown { .. }), "{cooling}");
}

#[tokio::test]
async fn without_chromium_auto_goes_on_by_http_and_says_why() {
    let bed = Bed::new(20).await;
    let away = BrowserOptions { program: Some("/nowhere/chromium".into()), ..quick() };
    let engine = bed.builder("data").browser(away).build().await.expect("an engine");
    let good = look(&engine, "https://www.gov.cn/zhengce/zuixin/home.htm").await;
    assert_eq!(good.result.expect("a page").tier, "http");
    challenge(&bed, 412, "pass=one");
    let looked = look(&engine, LIST).await;
    let said = looked.steps.iter().find(|step| step.check == "escalate").expect("a reason");
    assert!(!said.passed && said.detail.contains("DIBAO_CHROMIUM"), "{said:?}");
    let error = looked.result.unwrap_err();
    assert!(matches!(error.kind(), FetchErrorKind::TurnedAway { .. }), "{error}");
    let only = engine.look_up(Url::parse(LIST).unwrap(), Some(Strategy::Browser)).await.unwrap();
    let error = only.result.unwrap_err();
    assert!(matches!(error.kind(), FetchErrorKind::NoBackend(_)), "{error}");
    assert!(error.to_string().contains("/nowhere/chromium is no program"), "{error}");
}
