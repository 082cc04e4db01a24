//! Many windows of one browser.

use serde_json::{Value, json};

use crate::served::Served;
use crate::stage::Stage;

const SITE: &str = include_str!("../../../sites/ndrc.yaml");
const ON: &str = "document.querySelector('.live')?.dataset.state === 'on'";

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn eight_windows_are_all_live_and_stay_so_when_the_one_with_the_line_is_closed() {
    let served = Served::start(Stage::new().await, "--jobs 0").await;
    let Some(browser) = served.signed_in(1280, false).await else { return };
    let mut windows = Vec::new();
    for _ in 0..7 {
        let window = browser.beside(&format!("{}/admin/#/sites", served.origin)).await;
        browser.until_in(&window, ON).await;
        browser
            .until_in(&window, "document.querySelector('main') && !document.querySelector('.loading')")
            .await;
        windows.push(window);
    }
    served.api("POST", "/sites", json!(SITE)).await;
    for window in &windows {
        browser
            .until_in(window, "document.querySelector('main').innerText.includes('国家发展和改革委员会')")
            .await;
    }
    // The first one held the line.
    browser.open("about:blank").await;
    served.api("PUT", "/sites/ndrc", json!({ "site_name": "发展改革委" })).await;
    for window in &windows {
        let seen = "document.querySelector('main').innerText.includes('发展改革委') && !document.querySelector('main').innerText.includes('国家')";
        browser.until_in(window, seen).await;
        browser.until_in(window, ON).await;
    }
    assert_eq!(browser.amiss(), Vec::<String>::new());
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_department_that_is_mistyped_is_told_and_takes_nothing_away() {
    let served = Served::start(Stage::new().await, "--jobs 0").await;
    let Some(browser) = served.signed_in(1280, false).await else { return };
    served.api("POST", "/sites", json!(SITE)).await;
    let department = served.api("POST", "/local-departments", json!({ "full_name": "省教育厅" })).await;
    let id = department["dept_id"].as_i64().unwrap();
    served.api("PUT", "/targets/ndrc__xwfb", json!({ "dept_id": id })).await;
    browser.visit("#/targets/ndrc__xwfb").await;
    browser.press("编辑").await;
    browser.fill("dialog [name=dept]", "省教育厅厅").await;
    browser.press("保存").await;
    browser.shows("没有叫「省教育厅厅」的部门").await;
    browser.until("document.querySelector('dialog [name=dept][aria-invalid]')").await;
    let of =
        async || served.api("GET", "/targets/ndrc__xwfb", Value::Null).await["department"]["dept_id"].clone();
    assert_eq!(of().await, json!(id));
    browser.key("Escape").await;
    // A filter of none finds none, and says so; the address has the number.
    browser.visit("#/targets?dept=省教育厅厅").await;
    browser.shows("没有叫「省教育厅厅」的部门").await;
    browser.fill("[name=dept]", "省教育厅").await;
    browser.until(&format!("location.hash.includes('dept={id}')")).await;
    browser.shows("新闻发布").await;
    assert_eq!(browser.eval("document.querySelector('[name=dept]').value").await, "省教育厅");
    // Only who leaves it empty takes it away.
    browser.visit("#/targets/ndrc__xwfb").await;
    browser.press("编辑").await;
    browser.until("document.querySelector('dialog [name=dept]')").await;
    browser.eval("document.querySelector('dialog [name=dept]').value = ''").await;
    browser.press("保存").await;
    browser.until("!document.querySelector('dialog')").await;
    assert_eq!(of().await, Value::Null);
}
