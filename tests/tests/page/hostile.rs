//! A site that attacks whoever looks at it: its titles, texts, file names, errors and departments are scripts and
//! layout breakers. Nothing runs, and nothing is wider than a phone.

use dibao_replica::{Fault, FaultRule};
use serde_json::json;

use crate::served::Served;
use crate::stage::Stage;

const HOST: &str = "www.gdqy.gov.cn";
const SCRIPT: &str = "<script>alert(1)</script><img src=x onerror=\"alert(2)\"><svg onload=alert(3)>\"'`${alert(4)}{{alert(5)}}";

/// What a title may be, from bad to worse.
fn titles() -> Vec<String> {
    vec![
        SCRIPT.to_owned(),
        "javascript:alert(6)//</textarea></title><iframe srcdoc='<script>alert(7)</script>'>".to_owned(),
        "\u{202e}gpj.exe\u{2066}倒着写的标题\u{202d}继续".to_owned(),
        "很长".repeat(900),
        "W".repeat(1_500),
        "👩‍👩‍👧‍👦🏳️‍🌈".repeat(200),
        format!("e{}", "\u{0301}\u{0323}".repeat(400)),
    ]
}

fn escaped(text: &str) -> String {
    text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;").replace('"', "&quot;")
}

/// Puts a page of the test's own under a path of the replica.
fn put(stage: &Stage, path: &str, html: &str) {
    let body =
        format!("<!DOCTYPE html><html><head><meta charset=\"utf-8\"></head><body>{html}</body></html>");
    let fault = Fault::Status { code: 200, retry_after: None, body: Some(body) };
    stage.replica.fault(FaultRule::new(fault).host(HOST).path(path.to_owned()));
}

/// The site: a row for each title, one that is gone, and files whose names are attacks.
fn build(stage: &Stage) -> String {
    let titles = titles();
    let rows: String = (0..=titles.len())
        .map(|n| {
            let title = titles.get(n).map_or(SCRIPT, String::as_str);
            format!(
                "<li><a href=\"/evil/{n}.html\" title=\"{0}\">{0}</a><span>2026-04-0{1}</span></li>",
                escaped(title),
                1 + n % 9
            )
        })
        .collect();
    put(stage, "/evil/index.html*", &format!("<ul class=\"list\">{rows}</ul>"));
    for (n, title) in titles.iter().enumerate() {
        let words = escaped(title);
        let file = escaped(&format!("{SCRIPT}\u{202e}fdp.pdf"));
        put(
            stage,
            &format!("/evil/{n}.html*"),
            &format!(
                "<h1>{words}</h1><p class=\"from\">{words}</p><div class=\"text\"><p>{words}</p><p>{}</p><a href=\"/evil/file{n}.pdf\">{file}</a></div>",
                escaped(SCRIPT).repeat(20)
            ),
        );
    }
    json!({
        "site_id": "evil", "site_name": SCRIPT, "base_url": format!("https://{HOST}"),
        "columns": [{
            "column_id": "a", "name": format!("{}{SCRIPT}", "N".repeat(300)), "list_url": format!("https://{HOST}/evil/index.html"),
            "channel_name": SCRIPT,
            "list_selector": { "row": "ul.list > li", "href": "a::attr(href)", "title": "a::text", "date": "span::text" },
            "detail": { "title": "h1::text", "source": ".from::text", "content": ".text", "attachment_css": ".text a[href$='.pdf']" },
        }],
    })
    .to_string()
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_hostile_site_runs_nothing_and_breaks_no_layout() {
    let stage = Stage::new().await;
    let site = build(&stage);
    let served = Served::start(stage, "").await;
    let Some(browser) = served.signed_in(390, true).await else { return };
    served.api("POST", "/sites", serde_json::from_str(&site).unwrap()).await;
    let long = format!("{}{SCRIPT}", "D".repeat(80));
    let department = json!({ "full_name": long, "short_name": SCRIPT, "region": "\u{202e}R\"><script>alert(8)</script>", "category": "C".repeat(90) });
    let department = served.api("POST", "/local-departments", department).await;
    served.api("PUT", "/targets/evil__a", json!({ "dept_id": department["dept_id"] })).await;
    browser.visit("#/targets/evil__a").await;
    browser.press("运行").await;
    browser.shows("结束").await;

    let mut places: Vec<String> = [
        "#/",
        "#/sites",
        "#/sites/evil",
        "#/targets",
        "#/targets/evil__a",
        "#/targets/evil__a/parser",
        "#/articles",
        "#/articles?q=%E5%BE%88%E9%95%BF",
        "#/departments",
        "#/jobs",
        "#/jobs/list",
        "#/monitoring",
        "#/monitoring/hosts",
        "#/monitoring/logs",
        "#/monitoring/audit",
        "#/stats",
        "#/articles?q=%3Cscript%3Ealert(9)%3C%2Fscript%3E",
        "#/targets?q=%22%3E%3Cimg%20src%3Dx%20onerror%3Dalert(10)%3E",
    ]
    .map(str::to_owned)
    .to_vec();
    places.extend((1..=titles().len()).map(|id| format!("#/articles/{id}")));
    for width in [390, 1280] {
        browser.width(width).await;
        for (n, place) in places.iter().enumerate() {
            browser.visit(place).await;
            if n < 18 || place == "#/articles/1" {
                browser.picture(&format!("hostile-{n}-{width}-dark")).await;
            }
            assert!(browser.overflow().await <= 0, "{place} is wider than its window at {width}");
            let strange = "document.querySelectorAll('main script, main iframe, main img, main svg[onload], [onerror], [onload], a[href^=\"javascript:\" i]').length";
            assert_eq!(browser.eval(strange).await, 0, "{place}");
        }
    }
    served.nothing_amiss(&browser).await;
}
