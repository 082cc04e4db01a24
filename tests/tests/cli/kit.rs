//! `dibao adapter` for authors: begin, build, try, record, replay, pin, crawl. Real toolchains, the replica as the site.
//!
//! The tools of other languages are those that `cargo xtask adapters` installed; what is built is shared between runs.

use std::path::{Path, PathBuf};
use std::time::Duration;

use tokio::process::Command;

use crate::guest::{Guest, guest};
use crate::stage::{Run, Stage, adapters};

/// A toolchain may have to compile a whole project on a busy machine.
const TOO_LONG: Duration = Duration::from_secs(900);
const LIST: &str = "https://www.gdqy.gov.cn/gdqy/newxxgk/tzgg/index.html";

/// A directory beside the bundled adapters, kept between runs.
fn kept(name: &str) -> PathBuf {
    adapters().canonicalize().unwrap().with_file_name(name)
}

/// A command with what authors' commands keep between runs.
async fn author(mut command: Command) -> Run {
    command.env("DIBAO_TOOLS", kept("adapter-tools")).env("DIBAO_CACHE", kept("adapter-compiled"));
    command.env("CARGO_TARGET_DIR", kept("adapter-projects"));
    let output = tokio::time::timeout(TOO_LONG, command.output()).await;
    Run::of(output.unwrap_or_else(|_| panic!("{command:?} hangs")).unwrap())
}

async fn run(stage: &Stage, line: &str) -> Run {
    author(stage.command(line)).await
}

fn edit(path: &Path, changes: &[(&str, &str)]) {
    let mut text = std::fs::read_to_string(path).unwrap();
    for (from, to) in changes {
        assert!(text.contains(from), "no {from:?} in {}", path.display());
        text = text.replace(from, to);
    }
    std::fs::write(path, text).unwrap();
}

#[tokio::test(flavor = "multi_thread")]
async fn from_an_address_to_a_pinned_adapter_in_rust() {
    let stage = Stage::new().await;
    run(&stage, "adapter new qingyuan --lang rust").await.exits(0).says(&["dibao adapter build qingyuan"]);
    run(&stage, "adapter test qingyuan").await.exits(2).says(&["has no component yet", "adapter build"]);
    run(&stage, "adapter build qingyuan").await.exits(0).says(&["qingyuan.wasm", "wants site"]);
    let rows = run(&stage, "adapter test qingyuan").await.exits(0).rows();
    assert_eq!(rows.len(), 4);
    assert!(
        rows.iter().all(|row| row["passed"] == true && row["cost"]["fuel"].as_u64() > Some(0)),
        "{rows:?}"
    );
    let slowest = rows.iter().find(|row| row["case"] == "list").unwrap()["cost"]["slowest"].to_string();
    assert!(slowest.contains("ul.news > li"), "a slow selector is named: {slowest}");
    let facts = run(&stage, "adapter check qingyuan/qingyuan.wasm").await.exits(0).row();
    assert_eq!((&facts["name"], &facts["inspection"]["interpreted"]), (&"qingyuan".into(), &false.into()));

    // As it is, it does not fit the site: the turns and the failure are shown.
    let tried = run(&stage, &format!("adapter run qingyuan --url {LIST}")).await.exits(8);
    let events: Vec<_> = tried.rows().iter().map(|row| row["event"].as_str().unwrap().to_owned()).collect();
    assert_eq!(events, ["asks", "gets", "failure"], "{}", tried.stdout);

    // The author changes two selectors, builds again and tries again.
    let source = stage.path("qingyuan/src/lib.rs");
    edit(
        &source,
        &[("\"ul.news > li\"", "\"div.news_list ul li\""), ("\"div.content\"", "\"div.article-content\"")],
    );
    edit(&source, &[("div.content a[href*='/files/']", "a.nfw-cms-attachment")]);
    run(&stage, "adapter build qingyuan").await.exits(0);
    let tried = run(&stage, &format!("adapter run qingyuan --url {LIST}")).await.exits(0).rows();
    assert_eq!(tried.len(), 6, "{tried:?}");
    assert_eq!(tried[0]["requests"][0]["url"], LIST);
    assert_eq!(tried[2]["answer"]["page"]["entries"].as_array().unwrap().len(), 20);
    let title = &tried[2]["answer"]["page"]["entries"][0]["title"];
    assert_eq!(&tried[5]["answer"]["article"]["title"]["value"], title);
    let people =
        run(&stage, &format!("adapter run qingyuan --url {LIST} --rows table")).await.exits(0).stdout;
    for words in
        ["list, turn 1", "asks  list", "gets  list", "page  20 rows, next page \"2\"", "article", "fuel"]
    {
        assert!(people.contains(words), "no {words:?} in {people}");
    }

    // The old cases no longer hold, and the difference can be read; the new ones are recorded from the site.
    let failed = run(&stage, "adapter test qingyuan").await.exits(1);
    failed.says(&[
        "list: page (recorded)",
        "+    \"Shape\": \"no row matches div.news_list ul li\"",
        "failed",
    ]);
    std::fs::remove_dir_all(stage.path("qingyuan/fixtures")).unwrap();
    stage.replica.forget_requests();
    let record = format!("adapter record qingyuan --url {LIST} --case tzgg");
    run(&stage, &record).await.exits(0).says(&[
        "tzgg: page",
        "tzgg-document: an article",
        "headers left out",
    ]);
    let pages = stage.asked().into_iter().filter(|path| !path.ends_with("robots.txt")).count();
    assert_eq!(pages, 2, "one run: {:?}", stage.asked());
    run(&stage, &record).await.exits(2).says(&["there already", "--replace"]);
    run(&stage, "adapter test qingyuan").await.exits(0).says(&["2 cases, 0 failed"]);

    // Approved, it crawls.
    run(&stage, "adapter pin qingyuan/qingyuan.wasm --adapters own").await.exits(0).says(&["may reach site"]);
    edit(
        &stage.path("qingyuan/site.yaml"),
        &[
            ("https://www.example.gov.cn/news/index.html", LIST),
            ("https://www.example.gov.cn", "https://www.gdqy.gov.cn"),
        ],
    );
    run(&stage, "crawl qingyuan/site.yaml --adapters own --max-items 5").await.exits(0);
    let stored = run(&stage, "export --target qingyuan__news").await.exits(0).rows();
    assert_eq!(stored.len(), 5);
    assert!(
        stored
            .iter()
            .all(|row| row["content_text"].as_str().unwrap().len() > 300 && row["provenance"].is_object())
    );
}

#[tokio::test(flavor = "multi_thread")]
async fn a_project_in_another_language_builds_and_passes_as_it_is() {
    let stage = Stage::new().await;
    for language in ["python", "javascript"] {
        run(&stage, &format!("adapter new news-{language} --lang {language}")).await.exits(0);
        run(&stage, &format!("adapter build news-{language}"))
            .await
            .exits(0)
            .says(&[&format!("news-{language}.wasm")]);
        let rows = run(&stage, &format!("adapter test news-{language}")).await.exits(0).rows();
        assert!(rows.len() == 4 && rows.iter().all(|row| row["passed"] == true), "{rows:?}");
    }
    // A mistake is told in the words of the language.
    edit(&stage.path("news-python/app.py"), &[("class Site:", "class Site(")]);
    run(&stage, "adapter build news-python").await.exits(7).says(&["componentize-py", "SyntaxError"]);
    edit(&stage.path("news-javascript/adapter.js"), &[("export const site = {", "export const site = {{")]);
    run(&stage, "adapter build news-javascript").await.exits(7).says(&["SyntaxError"]);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_tool_that_is_missing_is_named_in_one_sentence() {
    let stage = Stage::new().await;
    std::fs::create_dir(stage.path("nothing")).unwrap();
    for (language, words) in [
        ("python", "Python 3.10 or newer"),
        ("javascript", "Node.js 18 or newer"),
        ("rust", "the Rust toolchain"),
    ] {
        run(&stage, &format!("adapter new {language}-news --lang {language}")).await.exits(0);
        let mut build = stage.bare(&format!("adapter build {language}-news"));
        build.env("PATH", stage.path("nothing")).env("DIBAO_TOOLS", stage.path("tools"));
        for name in ["CARGO", "RUSTC"] {
            build.env_remove(name);
        }
        let said = crate::stage::finish(build).await.exits(2).says(&[words, "is needed", "install"]);
        assert_eq!(
            said.stderr.lines().filter(|line| line.starts_with("dibao:")).count(),
            1,
            "{}",
            said.stderr
        );
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn bytes_that_nobody_approved_run_in_development_only() {
    let stage = Stage::new().await;
    std::fs::create_dir(stage.path("own")).unwrap();
    std::fs::copy(adapters().join("yaml-css.wasm"), stage.path("own/yaml-css.wasm")).unwrap();
    let crawl = "crawl ndrc.yaml --column xwfb --max-items 2 --adapters own";
    run(&stage, crawl).await.exits(7).says(&["is not pinned"]);
    run(&stage, &format!("{crawl} --dev")).await.exits(0);
    run(&stage, crawl).await.exits(7).says(&["is not pinned"]);
}

#[tokio::test(flavor = "multi_thread")]
async fn names_are_checked_and_nothing_is_overwritten() {
    let stage = Stage::new().await;
    for bad in ["City", "../x", "2nd", "a_b", "-x"] {
        let run = run(&stage, &format!("adapter new {bad}")).await;
        assert_eq!(run.code, 2, "{bad}: {}", run.stderr);
    }
    std::fs::create_dir(stage.path("mine")).unwrap();
    stage.write("mine/app.py", "mine");
    run(&stage, "adapter new mine --lang python").await.exits(2).says(&["mine is there already"]);
    assert_eq!(stage.read("mine/app.py"), "mine");
    run(&stage, "adapter new news --dir mine").await.exits(2).says(&["there already"]);
    run(&stage, "adapter build mine/nowhere").await.exits(2).says(&["is no adapter project"]);
}

/// A guest that asks for one list and then says `done`, with an empty page, whatever came back.
fn asks_for(url: &str) -> Guest {
    let mut made = crate::guest::requests(&[("list", url)]);
    // A reply was handed over: answer with the empty page of the template instead.
    made.list = format!("(if (i32.eqz (local.get 15)) (then {}))", made.list);
    Guest { name: "asks", hosts: vec!["site"], ..made }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_request_is_compared_whole_and_bless_rewrites_it() {
    let stage = Stage::new().await;
    std::fs::create_dir(stage.path("asks")).unwrap();
    stage.write("asks/asks.wasm", asks_for("/gdqy/newxxgk/tzgg/index.html").build());
    run(&stage, "adapter test asks").await.exits(2).says(&["there is no case", "adapter record"]);
    let record = "adapter record asks --url https://www.gdqy.gov.cn/ --case front --documents 0";
    run(&stage, record).await.exits(0).says(&["front: page, requests: 1"]);
    run(&stage, "adapter test asks").await.exits(0);
    // Another address, everything else alike.
    stage.write("asks/asks.wasm", asks_for("/gdqy/newxxgk/tzgg/index_2.html").build());
    let failed = run(&stage, "adapter test asks").await.exits(1);
    failed.says(&[
        "turn 1, requests",
        "-    \"url\": \"/gdqy/newxxgk/tzgg/index.html\"",
        "+    \"url\": \"/gdqy/newxxgk/tzgg/index_2.html\"",
    ]);
    assert_eq!(run(&stage, "adapter test asks --bless").await.exits(0).row()["blessed"], true);
    run(&stage, "adapter test asks").await.exits(0);
    // A case that expects a header which is not sent.
    let case = stage.path("asks/fixtures/front/case.json");
    edit(
        &case,
        &[(
            "\"headers\": [],\n          \"expects\"",
            "\"headers\": [[\"x-a\", \"1\"]],\n          \"expects\"",
        )],
    );
    run(&stage, "adapter test asks").await.exits(1).says(&["x-a"]);
    // A case that is no case.
    std::fs::write(&case, "{").unwrap();
    run(&stage, "adapter test asks").await.exits(2).says(&["case.json"]);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_live_run_stays_within_the_rules_and_the_grant() {
    let stage = Stage::new().await;
    stage.write("asks.wasm", asks_for("https://www.ndrc.gov.cn/xwdt/xwfb/index.html").build());
    let line = "adapter run asks.wasm --url https://www.gdqy.gov.cn/";
    run(&stage, line).await.exits(8).says(&["www.ndrc.gov.cn"]);
    assert!(stage.asked().is_empty(), "{:?}", stage.asked());
    stage.write("asks.wasm", asks_for("/search/x.html").build());
    run(&stage, line).await.exits(8).says(&["robots.txt"]);
    stage.write("asks.wasm", guest("unreachable").build());
    run(&stage, line).await.exits(7).says(&["trap"]);
    run(&stage, "adapter run asks.wasm --url gdqy").await.exits(2).says(&["no web address"]);
    run(&stage, "adapter run asks.wasm").await.exits(2);
}
