//! An operator's day, from the empty page to a target that is switched off.

use serde_json::json;

use crate::chromium::Browser;
use crate::served::Served;
use crate::stage::{NDRC, Stage};

/// Every page, with the name of its picture.
const PLACES: [(&str, &str); 15] = [
    ("#/", "home"),
    ("#/sites", "sites"),
    ("#/sites/ndrc", "site"),
    ("#/targets", "targets"),
    ("#/targets/ndrc__xwfb", "target"),
    ("#/targets/ndrc__xwfb/parser", "workbench"),
    ("#/articles", "articles"),
    ("#/articles/1", "reader"),
    ("#/departments", "departments"),
    ("#/jobs", "queue"),
    ("#/jobs/list", "jobs"),
    ("#/jobs/schedules", "schedules"),
    ("#/monitoring/hosts", "hosts"),
    ("#/monitoring/logs", "requests"),
    ("#/stats", "stats"),
];

/// Walks through all pages: each has what it asked for, fits its window, and knows its words.
async fn walk(browser: &Browser, whole: bool, suffix: &str) {
    for (place, name) in PLACES {
        browser.visit(place).await;
        browser.picture(&format!("{name}-{suffix}")).await;
        assert!(browser.overflow().await <= 0, "{place} is wider than its window ({suffix})");
        let text = browser.eval("document.body.innerText").await;
        let text = text.as_str().unwrap_or_default();
        assert!(
            !text.contains('⟦') && !text.contains("undefined") && !text.contains("[object"),
            "{place}: {text}"
        );
        if whole {
            assert_eq!(
                browser.eval("document.querySelector('.problem')?.innerText ?? ''").await,
                "",
                "{place}"
            );
        }
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_site_is_imported_crawled_before_ones_eyes_read_mended_and_switched_off() {
    let served = Served::start(Stage::new().await, "").await;
    let Some(browser) = served.signed_in(1280, false).await else { return };
    browser.shows("还没有站点").await;
    browser.picture("empty-home-1280-light").await;

    // Imports.
    browser.visit("#/sites").await;
    browser.press("导入站点").await;
    browser.fill("dialog textarea[name=yaml]", NDRC).await;
    browser.picture("import-1280-light").await;
    browser.press("导入站点").await;
    browser.until("location.hash === '#/targets?site=ndrc'").await;
    browser.shows("新闻发布").await;

    // Runs it, and sees each step as it happens.
    browser.visit("#/targets/ndrc__xwfb").await;
    browser.press("运行").await;
    browser.shows("入库").await;
    browser.shows("结束").await;
    browser
        .until("[...document.querySelectorAll('td .pill')].some((pill) => pill.innerText === '完成')")
        .await;
    browser.picture("target-after-run-1280-light").await;

    // Searches with the keyboard alone.
    let first = served.api("GET", "/articles/1", json!(null)).await;
    let title = first["title"].as_str().expect("a title").to_owned();
    let word: String = title.chars().filter(|c| c.is_alphabetic()).take(2).collect();
    browser.key("/").await;
    browser.until("document.activeElement?.closest('.find')").await;
    browser.fill(".find input", &word).await;
    browser.key("Enter").await;
    browser.until(&format!("location.hash === '#/articles?q=' + encodeURIComponent({})", json!(word))).await;
    browser.settled().await;
    let missing = served.missing().await;
    if !missing.contains(&"/articles/search") {
        browser.until("document.querySelector('tbody th mark')").await;
        browser.picture("search-1280-light").await;
        browser.eval("document.querySelector('tbody th a').click()").await;
        browser.until("document.querySelector('article.paper h1')").await;
    }

    // Reads, and sees where each field was found.
    browser.visit("#/articles/1").await;
    browser.shows(&title).await;
    browser.eval("document.querySelector('h1 .traced').focus()").await;
    browser.until("getComputedStyle(document.querySelector('h1 .origin')).display !== 'none'").await;
    browser.shows("由选择器取得").await;
    browser.picture("reader-origin-1280-light").await;

    // Mends a selector on a stored page: the field changes before anything is saved.
    browser.visit("#/targets/ndrc__xwfb/parser").await;
    let selector = "p.nothing-of-this-name::text, .laiyuantext span::text";
    browser.fill("[data-key='detail.title']", selector).await;
    if !missing.contains(&"/parser/preview") {
        browser.until("document.querySelector('tr[data-row=title] .changed')").await;
    }
    browser.picture("workbench-changed-1280-light").await;
    assert_eq!(
        served.api("GET", "/targets/ndrc__xwfb/parser", json!(null)).await["parser_override"],
        json!(null)
    );
    browser.press("保存覆盖").await;
    browser.shows("已保存").await;
    let kept = served.api("GET", "/targets/ndrc__xwfb/parser", json!(null)).await;
    assert_eq!(kept["parser_override"]["detail"]["title"], selector);

    // Why it is due when it is.
    browser.visit("#/targets/ndrc__xwfb").await;
    browser.until("document.querySelector('.words p')?.innerText.length > 5").await;

    // Off means off, and says so.
    browser.press("停用").await;
    browser.shows("这个目标已停用").await;
    browser.until("[...document.querySelectorAll('button')].filter((b) => b.innerText === '运行').every((b) => b.disabled)").await;

    // By keyboard from page to page.
    browser.eval("document.activeElement?.blur()").await;
    browser.key("g").await;
    browser.key("c").await;
    browser.until("location.hash === '#/stats'").await;
    browser.key("?").await;
    browser.until("document.querySelector('dialog[open] kbd')").await;
    browser.key("Escape").await;
    browser.until("!document.querySelector('dialog[open]')").await;

    walk(&browser, missing.is_empty(), "1280-light").await;
    browser.width(390).await;
    walk(&browser, missing.is_empty(), "390-light").await;
    browser.eval("document.querySelector('[data-act=theme]').click()").await;
    browser.until("document.documentElement.dataset.theme === 'dark'").await;
    browser.eval("document.querySelector('[data-act=language]').click()").await;
    browser.until("document.documentElement.lang === 'en'").await;
    walk(&browser, missing.is_empty(), "390-dark-en").await;
    browser.width(1280).await;
    walk(&browser, missing.is_empty(), "1280-dark-en").await;
    served.nothing_amiss(&browser).await;
}
