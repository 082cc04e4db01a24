//! `dibao crawl`: what is written, what is reported, what a second run does.

use std::collections::BTreeSet;
use std::process::Stdio;

use dibao_replica::NewPost;
use serde_json::Value;
use tokio::io::{AsyncBufReadExt, BufReader};

use crate::stage::{Run, Stage, finish, rows};

fn urls(rows: &[Value]) -> BTreeSet<String> {
    rows.iter().map(|row| row["url"].as_str().unwrap().to_owned()).collect()
}

#[tokio::test(flavor = "multi_thread")]
async fn a_crawl_writes_exactly_the_new_articles_and_the_next_one_stops_at_the_first_known() {
    let stage = Stage::new().await;
    let line = "crawl ndrc.yaml --column xwfb --max-items 20 -o out.jsonl";
    let report = stage.dibao(line).await.exits(0).row();
    assert_eq!(report["target"], "ndrc__xwfb");
    assert_eq!((&report["items_seen"], &report["items_new"]), (&20.into(), &20.into()), "{report}");
    let written = rows(&stage.read("out.jsonl"));
    assert_eq!(urls(&written).len(), 20);
    // What is written is what is stored, to the last field.
    let stored = stage.dibao("export").await.exits(0).rows();
    let by_url = |mut rows: Vec<Value>| {
        rows.sort_by_key(|row| row["url"].to_string());
        rows
    };
    assert_eq!(by_url(written), by_url(stored));

    let report = stage.dibao(line).await.exits(0).row();
    assert_eq!((&report["items_new"], &report["stop"]), (&0.into(), &"early_stop".into()), "{report}");
    assert_eq!(stage.read("out.jsonl"), "");

    let post = NewPost { title: "关于试行的通知".into(), ..NewPost::default() };
    let post = stage.replica.publish("www.ndrc.gov.cn", "xwfb", post).unwrap();
    stage.dibao(line).await.exits(0);
    let written = rows(&stage.read("out.jsonl"));
    assert_eq!(written.len(), 1);
    assert_eq!((&written[0]["url"], &written[0]["title"]), (&post.url.into(), &"关于试行的通知".into()));
}

#[tokio::test(flavor = "multi_thread")]
async fn force_reads_on_past_known_articles() {
    let stage = Stage::with_five().await;
    let report = stage.dibao("crawl ndrc.yaml --column xwfb --max-items 8 --force").await.exits(0).row();
    assert_eq!(
        (&report["items_new"], &report["items_duplicate"], &report["stop"]),
        (&3.into(), &5.into(), &"max_items".into()),
        "{report}"
    );
}

#[tokio::test(flavor = "multi_thread")]
async fn a_dry_run_shows_requests_and_rows_and_stores_nothing() {
    let stage = Stage::new().await;
    let line = "crawl ndrc.yaml --column xwfb --max-items 20 --dry-run";
    let run = stage.dibao(line).await.exits(0);
    let run = run.says(&["ndrc__xwfb: list https://www.ndrc.gov.cn/xwdt/xwfb/index.html 200"]);
    assert_eq!(run.rows().len(), 20);
    assert!(run.rows().iter().all(|row| row["decision"] == "fetch" && row["title"] != ""), "{}", run.stdout);
    assert!(!stage.path("data").exists(), "a dry run leaves no data directory behind");
    assert_eq!(stage.asked(), ["www.ndrc.gov.cn/robots.txt", "www.ndrc.gov.cn/xwdt/xwfb/index.html"]);

    // With a store it says what is known, and still changes nothing.
    stage.dibao("crawl ndrc.yaml --column xwfb --max-items 5").await.exits(0);
    let before = stage.dibao("target ls").await.stdout;
    let rows = stage.dibao(line).await.exits(0).rows();
    assert_eq!(rows[0]["decision"], "duplicate_url_hash", "{}", rows[0]);
    for line in ["crawl ndrc --dry-run --max-items 3", "crawl --all --dry-run", "crawl ndrc__xwfb --dry-run"]
    {
        assert!(!stage.dibao(line).await.exits(0).rows().is_empty(), "{line}");
    }
    assert_eq!(stage.dibao("target ls").await.stdout, before);
    stage.intact().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn with_a_dash_standard_output_belongs_to_the_articles() {
    let stage = Stage::new().await;
    let run = stage.dibao("crawl ndrc.yaml --column tz --max-items 4 -o -").await.exits(0);
    assert_eq!(run.rows().len(), 4);
    assert!(run.rows().iter().all(|row| row["target"] == "ndrc__tz" && row["url_hash"].is_string()));
}

#[tokio::test(flavor = "multi_thread")]
async fn stored_sites_and_targets_are_crawled_by_name_and_hosts_beside_each_other() {
    let stage = Stage::new().await;
    stage.dibao("site import ndrc.yaml gdqy.yaml").await.exits(0);
    let targets = |run: &Run| -> Vec<String> {
        let mut names: Vec<_> =
            run.rows().iter().map(|row| row["target"].as_str().unwrap().to_owned()).collect();
        names.sort();
        names
    };
    let run = stage.dibao("crawl ndrc__tz --max-items 3").await.exits(0);
    assert_eq!(targets(&run), ["ndrc__tz"]);
    // Named twice, crawled once.
    let run = stage.dibao("crawl ndrc ndrc__xwfb --max-items 3").await.exits(0);
    assert_eq!(targets(&run), ["ndrc__tz", "ndrc__xwfb"]);
    let run = stage.dibao("crawl ndrc --column xwfb --max-items 3").await.exits(0);
    assert_eq!(targets(&run), ["ndrc__xwfb"]);
    let run = stage.dibao("crawl --all --jobs 2 --max-items 3").await.exits(0);
    assert_eq!(targets(&run), ["gdqy__zlxx", "ndrc__tz", "ndrc__xwfb"]);
    // One page at a time; the files of an article come two at a time (S2-39), and only one of the sites has any.
    assert_eq!(stage.replica.peak("www.gdqy.gov.cn"), 1);
    assert!(stage.replica.peak("www.ndrc.gov.cn") <= 2);
    // A column that only the file's default describes.
    let run = stage.dibao("crawl gdqy.yaml --column tzgg --max-items 2").await.exits(0);
    assert_eq!((targets(&run).join(""), &run.row()["items_new"]), ("gdqy__tzgg".into(), &2.into()));
}

#[tokio::test(flavor = "multi_thread")]
async fn quiet_is_quiet_and_piped_output_has_no_colour() {
    let stage = Stage::new().await;
    let run = stage.dibao("crawl ndrc.yaml --column xwfb --max-items 2 --quiet").await.exits(0);
    assert_eq!(run.stderr, "");
    for line in ["export --quiet -o all.jsonl", "site import ndrc.yaml -q", "target toggle ndrc__tz -q"] {
        let run = stage.dibao(line).await.exits(0);
        assert_eq!((run.stdout.as_str(), run.stderr.as_str()), ("", ""), "{line}");
    }
    let run = stage.dibao("crawl ndrc__xwfb --force --max-items 3 -vv").await.exits(0);
    assert!(!run.stderr.is_empty() && !run.stderr.contains('\u{1b}'), "{}", run.stderr);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_reader_that_leaves_ends_the_crawl_in_peace_and_the_next_one_goes_on() {
    let stage = Stage::new().await;
    let mut command = stage.command("crawl ndrc.yaml --column xwfb --max-items 50 -o -");
    let mut child = command.stderr(Stdio::piped()).spawn().unwrap();
    let mut lines = BufReader::new(child.stdout.take().unwrap()).lines();
    let first = lines.next_line().await.unwrap().unwrap();
    drop(lines);
    let run = Run::of(child.wait_with_output().await.unwrap()).exits(0);
    assert_eq!(run.stderr, "", "as `head` does it, nothing is wrong");
    assert!(first.starts_with('{'));
    let run = stage.dibao("crawl ndrc__xwfb --max-items 50").await.exits(0);
    assert_eq!(run.row()["items_failed"], 0);
    // The column has 30 of the site's 60 articles.
    assert_eq!(stage.dibao("export").await.rows().len(), 30);

    // The same for a table of names, and when nobody reads what is said.
    for line in ["export", "site schema", "target ls"] {
        let mut command = stage.bare(line);
        let (reader, writer) = std::io::pipe().unwrap();
        drop(reader);
        command.stdout(writer.try_clone().unwrap()).stderr(writer);
        finish_unread(command, line).await;
    }
}

async fn finish_unread(mut command: tokio::process::Command, line: &str) {
    let status = command.status().await.unwrap();
    assert_eq!(status.code(), Some(0), "{line}");
}

#[tokio::test(flavor = "multi_thread")]
async fn help_teaches_by_example_and_names_the_exit_codes() {
    let stage = Stage::new().await;
    let help = finish(stage.bare("--help")).await.exits(0).stdout;
    assert!(help.contains("Exit codes:") && help.contains("130") && help.contains("Examples:"), "{help}");
    for line in ["crawl -h", "show -h", "export -h", "site -h", "adapter pin -h"] {
        let help = finish(stage.bare(line)).await.exits(0).stdout;
        assert!(help.contains("Usage:"), "{line}");
    }
    let help = finish(stage.bare("crawl -h")).await.exits(0).stdout;
    assert!(help.contains("dibao crawl site.yaml --column zxbd --max-items 20 -o out.jsonl"), "{help}");
}
