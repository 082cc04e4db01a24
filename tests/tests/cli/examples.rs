//! The programs in `core/examples` do what their comments say.

use tokio::process::Command;

use crate::stage::{Stage, adapters, beside, finish};

/// Runs an example in the stage's directory, with the way to the replica.
async fn example(stage: &Stage, name: &str, args: &[&str]) -> String {
    example_with(stage, name, args, &[]).await
}

async fn example_with(stage: &Stage, name: &str, args: &[&str], env: &[(&str, &str)]) -> String {
    let mut command =
        Command::new(beside(&format!("examples/{name}"), "cargo build --package dibao --examples"));
    let rules: Vec<String> =
        stage.replica.hosts().iter().map(|host| format!("{host}={}", stage.replica.addr())).collect();
    command.args(args).current_dir(stage.path("."));
    command
        .env("DIBAO_ADAPTERS", adapters())
        .env("DIBAO_CACERT", "ca.pem")
        .env("DIBAO_RESOLVE", rules.join(","));
    command.envs(env.iter().copied());
    finish(command).await.exits(0).stdout
}

#[tokio::test(flavor = "multi_thread")]
async fn crawl_yaml_crawls_every_column_and_the_second_time_finds_nothing_new() {
    let stage = Stage::new().await;
    let said = example(&stage, "crawl_yaml", &["ndrc.yaml", "data"]).await;
    assert!(said.contains("ndrc__xwfb: 10 new") && said.contains("ndrc__tz: 9 new, 1 known"), "{said}");
    let said = example(&stage, "crawl_yaml", &["ndrc.yaml", "data"]).await;
    assert!(said.contains("ndrc__xwfb: 0 new") && said.contains("ndrc__tz: 0 new"), "{said}");
    // The command reads what the library stored.
    assert_eq!(stage.dibao("export").await.exits(0).rows().len(), 19);
}

#[tokio::test(flavor = "multi_thread")]
async fn stream_items_shows_articles_as_they_come_and_goes_on_where_it_stopped() {
    let stage = Stage::new().await;
    let args = ["ndrc.yaml", "ndrc__xwfb", "data"];
    let first = example(&stage, "stream_items", &args).await;
    assert!(
        first.starts_with("1. ") && first.contains("\n3. ") && first.ends_with("ended: cancelled\n"),
        "{first}"
    );
    let second = example(&stage, "stream_items", &args).await;
    let title = |said: &str| said.lines().next().map(str::to_owned);
    assert_ne!(title(&first), title(&second), "no article twice");
}

#[tokio::test(flavor = "multi_thread")]
async fn own_adapter_brings_a_file_of_its_own() {
    let stage = Stage::new().await;
    std::fs::copy(adapters().join("yaml-css.wasm"), stage.path("mine.wasm")).unwrap();
    let said = example(&stage, "own_adapter", &["mine.wasm", "ndrc.yaml", "data"]).await;
    assert!(said.contains("would like to reach site") && said.contains("ndrc__xwfb: 5 new"), "{said}");
}

#[tokio::test(flavor = "multi_thread")]
async fn the_greeting_is_switched_off_unless_it_is_asked_for() {
    let stage = Stage::new().await;
    let said = example(&stage, "greeting", &["data", "ops"]).await;
    assert!(said.starts_with("switched off"), "{said}");
    assert!(stage.dibao("queue ls").await.exits(0).rows().is_empty(), "nothing was put in line");
}

#[tokio::test(flavor = "multi_thread")]
async fn own_backend_fetches_in_place_of_http_and_is_passed_over_when_it_is_away() {
    let stage = Stage::new().await;
    let list = "https://www.ndrc.gov.cn/xwdt/xwfb/index.html";
    let said = example(&stage, "own_backend", &[list, "data"]).await;
    assert_eq!(said, "Browser: 200 by second-client\nAuto: 200 by http\n");
    let said = example_with(&stage, "own_backend", &[list, "data"], &[("SECOND_CLIENT", "off")]).await;
    assert!(said.contains("Browser: ") && said.contains("switched off by SECOND_CLIENT=off"), "{said}");
    assert!(said.ends_with("Auto: 200 by http\n"), "{said}");
}
