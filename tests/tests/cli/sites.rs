//! `dibao site` and `dibao target`: what goes in comes out again, and nothing is made by looking.

use serde_json::Value;

use crate::stage::{Stage, finish};

/// Rows without what differs from store to store: numbers and times.
fn bare(rows: Vec<Value>) -> Vec<Value> {
    let mut rows = rows;
    for row in rows.iter_mut().filter_map(Value::as_object_mut) {
        row.retain(|key, _| {
            !matches!(
                key.as_str(),
                "id" | "site_id" | "source" | "yaml_path" | "last_crawled_at" | "last_article_time"
            )
        });
    }
    rows
}

#[tokio::test(flavor = "multi_thread")]
async fn an_exported_site_imports_as_the_same_rows() {
    let stage = Stage::new().await;
    stage.dibao("site import ndrc.yaml gdqy.yaml").await.exits(0).says(&["ndrc.yaml: 2 added"]);
    stage.dibao("target toggle ndrc__tz").await.exits(0).says(&["ndrc__tz: off"]);
    for site in ["ndrc", "gdqy"] {
        stage.dibao(&format!("site export {site} -o {site}-again.yaml")).await.exits(0);
    }
    stage.dibao("site import ndrc-again.yaml gdqy-again.yaml --data other").await.exits(0);
    for line in ["site ls", "target ls", "target ls ndrc"] {
        let here = bare(stage.dibao(line).await.exits(0).rows());
        let there = bare(stage.dibao(&format!("{line} --data other")).await.exits(0).rows());
        assert!(!here.is_empty());
        assert_eq!(here, there, "{line}");
    }
    // And an export of the import is the same file.
    let again = stage.dibao("site export ndrc --data other").await.exits(0).stdout;
    assert_eq!(again, stage.read("ndrc-again.yaml"));
    assert!(again.contains("新闻发布"), "{again}");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_switched_off_target_stays_off_and_says_how_to_switch_it_on() {
    let stage = Stage::with_five().await;
    stage.dibao("target toggle ndrc__xwfb --off").await.exits(0);
    stage.dibao("site import ndrc.yaml").await.exits(0);
    let off = &["ndrc__xwfb", "switched off", "dibao target toggle ndrc__xwfb"];
    stage.dibao("crawl ndrc__xwfb").await.exits(2).says(off);
    stage.dibao("crawl ndrc.yaml --column xwfb").await.exits(2).says(off);
    // The rest of the site is crawled without a word.
    let run = stage.dibao("crawl ndrc --max-items 1").await.exits(0);
    assert_eq!(run.row()["target"], "ndrc__tz");
    stage.dibao("target toggle ndrc__xwfb --on").await.exits(0);
    stage.dibao("crawl ndrc__xwfb --max-items 1").await.exits(0);
    stage.intact().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn the_pace_of_a_target_is_shown_with_its_origin_and_set_by_hand() {
    let stage = Stage::with_five().await;
    let said = |row: &Value, key: &str| {
        let origin = row[key]["origin"].as_str().unwrap_or_default().to_owned();
        (row[key]["value"].clone(), origin)
    };
    // The stage asks its own server without a pause, which overrules what the file says.
    let shown = stage.dibao("target show ndrc__tz").await.exits(0).row();
    assert_eq!(said(&shown, "interval_sec"), (0.0.into(), "engine".into()));
    assert_eq!(said(&shown, "concurrency"), (1.into(), "default".into()));

    stage.dibao("target set ndrc__tz concurrency=2 throttle_by=domain rps=0.5").await.exits(0);
    stage.dibao("site import ndrc.yaml").await.exits(0);
    let shown = stage.dibao("target show ndrc__tz").await.exits(0).row();
    assert_eq!(said(&shown, "concurrency"), (2.into(), "target".into()));
    assert_eq!(said(&shown, "throttle_by"), ("domain".into(), "target".into()));
    stage.dibao("target set ndrc__tz concurrency=").await.exits(0);
    let shown =
        stage.dibao("target show ndrc__tz --profile fast --contact ops@example.org").await.exits(0).row();
    assert_eq!(said(&shown, "concurrency"), (10.into(), "profile fast (engine)".into()));
    let agent = said(&shown, "user_agent");
    assert!(agent.0.as_str().is_some_and(|agent| agent.ends_with("; +ops@example.org)")), "{agent:?}");
    assert_eq!(agent.1, "engine");
    stage.dibao("target set ndrc__tz rps=0").await.exits(2).says(&["0.001"]);
    stage.dibao("target ls --contact nobody").await.exits(0);
    stage.dibao("target show ndrc__tz --contact nobody").await.exits(2).says(&["mail address"]);
    let table = stage.dibao("target show ndrc__tz --rows table").await.exits(0).stdout;
    assert!(table.contains("throttle_by") && table.contains("domain"), "{table}");
}

#[tokio::test(flavor = "multi_thread")]
async fn one_bad_file_among_several_imports_none() {
    let stage = Stage::new().await;
    stage.write("bad.yaml", "site_id: [");
    stage.dibao("site import ndrc.yaml bad.yaml").await.exits(2).says(&["bad.yaml:1"]);
    assert!(!stage.path("data").exists());
}

#[tokio::test(flavor = "multi_thread")]
async fn looking_makes_nothing_and_a_mistyped_directory_is_named() {
    let stage = Stage::new().await;
    for line in
        ["site ls", "target ls", "export", "show 1", "db check", "site export x", "crawl ndrc", "crawl --all"]
    {
        let run = stage.dibao(&format!("{line} --data tpyo")).await.exits(2);
        run.says(&["nothing is stored in tpyo", "--data"]);
        assert!(!stage.path("tpyo").exists(), "{line}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn unknown_names_are_answered_with_the_nearest() {
    let stage = Stage::with_five().await;
    for (line, near) in [
        ("crawl ndcr", "did you mean `ndrc`?"),
        ("crawl ndrc__xwfd", "did you mean `ndrc__xwfb`?"),
        ("crawl ndrc --column xwbf", "did you mean `xwfb`?"),
        ("crawl ndrc.yaml --column xwbf", "did you mean `xwfb`?"),
        ("target toggle ndrc__xwfb ndrc__zt", "did you mean `ndrc__tz`?"),
        ("target show ndrc__xwbf", "did you mean `ndrc__xwfb`?"),
        ("target set ndrc__xwfb intervall_sec=3", "did you mean `interval_sec`?"),
        ("target ls nrdc", "did you mean `ndrc`?"),
        ("site export nrdc", "did you mean `ndrc`?"),
        ("export --site nrdc", "did you mean `ndrc`?"),
        ("export --target ndrc__tx", "did you mean `ndrc__tz`?"),
    ] {
        stage.dibao(line).await.exits(2).says(&[near]);
    }
    // A mistake in one name switches none.
    assert!(stage.dibao("target ls").await.rows().iter().all(|row| row["enabled"] == true));
    stage.intact().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn the_schema_is_json_and_needs_no_store() {
    let stage = Stage::new().await;
    let run = finish(stage.bare("site schema")).await.exits(0);
    let schema: Value = serde_json::from_str(&run.stdout).unwrap();
    assert!(schema["properties"]["site_id"].is_object() && schema["properties"]["columns"].is_object());
    assert_eq!(schema["additionalProperties"], false, "editors flag unknown keys too");
}
