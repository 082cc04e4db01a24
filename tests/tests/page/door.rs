//! Signing in.

use crate::chromium::{Browser, program};
use crate::served::Served;
use crate::stage::Stage;

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_wrong_password_is_told_with_the_request_and_lets_nobody_in() {
    let Some(program) = program() else { return };
    let served = Served::start(Stage::new().await, "--jobs 0").await;
    let browser = Browser::start(&program, 390, false).await;
    browser.open(&format!("{}/admin/", served.origin)).await;
    browser.fill("input[name=user]", "admin").await;
    browser.fill("input[name=password]", "guessed").await;
    browser.press("登录").await;
    browser.shows("用户名或密码不对").await;
    browser.shows("请求号").await;
    browser.picture("door-wrong-390-light").await;
    assert_eq!(browser.overflow().await, 0);
    assert_eq!(browser.eval("document.querySelector('.side')").await, serde_json::Value::Null);
    // The refusal itself is all that the browser complains of.
    let amiss = browser.amiss();
    assert!(amiss.iter().all(|line| line.contains("401") && line.contains("/session")), "{amiss:?}");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn the_page_says_when_the_server_is_gone_and_goes_on_when_it_is_back() {
    if program().is_none() {
        return;
    }
    let mut served = Served::start(Stage::new().await, "--jobs 0").await;
    let Some(browser) = served.signed_in(1280, true).await else { return };
    browser.visit("#/sites").await;
    served.stop().await;
    browser.until("document.querySelector('.live').dataset.state === 'lost'").await;
    browser.shows("连接已断开").await;
    browser.picture("connection-lost-1280-dark").await;
    served.again().await;
    // Sessions end with the process: whoever is back signs in again.
    browser.until("document.querySelector('input[name=password]')").await;
    browser.fill("input[name=user]", "admin").await;
    browser.fill("input[name=password]", crate::served::PASSWORD).await;
    browser.press("登录").await;
    browser.until("document.querySelector('.live')?.dataset.state === 'on'").await;
    assert_eq!(browser.eval("location.hash").await, "#/sites", "he is where he was");
}
