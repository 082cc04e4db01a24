//! Site files with mistakes: the place, the fix, exit code 2, and everything else as it was.

use crate::stage::{NDRC, Stage};

#[tokio::test(flavor = "multi_thread")]
async fn every_mistake_in_a_site_file_is_named_with_its_place_and_fix() {
    let stage = Stage::with_five().await;
    let targets = stage.dibao("target ls").await.stdout;
    let with = |from: &str, to: &str| {
        assert!(NDRC.contains(from), "{from}");
        NDRC.replacen(from, to, 1)
    };
    let table: &[(String, &[&str])] = &[
        (with("columns:\n", "columns: [\n"), &["bad.yaml:"]),
        (with("    category: 新闻\n", "  category: 新闻\n"), &["bad.yaml:7"]),
        (
            with("    pagination:", "    paginaton:"),
            &["bad.yaml:14", "unknown key `paginaton`", "did you mean `pagination`?"],
        ),
        (
            with("base_url: https://www.ndrc.gov.cn\n", "base_url: www.ndrc.gov.cn\n"),
            &["bad.yaml:3", "base_url"],
        ),
        (with("base_url: https://www.ndrc.gov.cn\n", ""), &["base_url", "missing"]),
        (
            with("row: ul.u-list > li:not(.empty)", "row: 'ul[['"),
            &["bad.yaml:10", "columns[0].list_selector.row"],
        ),
        (with("content: .article_con .TRS_Editor", "content: 'div::text'"), &["bad.yaml:", "detail.content"]),
        (with("alias_of: xwfb", "alias_of: xwbf"), &["bad.yaml:", "xwbf", "did you mean `xwfb`?"]),
        (with("type: path_pattern", "type: path_patern"), &["path_patern", "did you mean `path_pattern`?"]),
        (with("max_pages: 30", "max_pages: many"), &["bad.yaml:14"]),
        (with("site_id: ndrc", "site_id: ../../etc"), &["bad.yaml:1", "site_id"]),
        (with("column_id: tz", "column_id: xwfb"), &["bad.yaml:", "xwfb", "twice"]),
        (String::new(), &["bad.yaml"]),
        ("just a sentence\n".into(), &["bad.yaml"]),
        (format!("a: &a [x]\n{}", "b: [*a, *a, *a, *a, *a, *a, *a, *a]\n".repeat(3)), &["bad.yaml"]),
        ("[".repeat(100_000), &["bad.yaml"]),
    ];
    for (text, words) in table {
        stage.write("bad.yaml", text);
        for line in ["crawl bad.yaml", "crawl bad.yaml --dry-run", "site import bad.yaml"] {
            let run = stage.dibao(line).await.exits(2).says(words);
            assert_eq!(run.stdout, "", "{line}");
            assert!(run.stderr.lines().count() < 12, "one message, not a flood: {}", run.stderr);
        }
    }
    stage.write("bad.yaml", [b"site_id: \xb9\xa4\xd7\xf7\n".as_slice()].concat());
    stage.dibao("crawl bad.yaml").await.exits(2).says(&["bad.yaml", "UTF-8"]);
    stage.write("bad.yaml", "#".repeat(2 << 20));
    stage.dibao("crawl bad.yaml").await.exits(2).says(&["bad.yaml", "2097152 bytes"]);
    stage.dibao("crawl nowhere.yaml").await.exits(2).says(&["nowhere.yaml", "cannot be read"]);
    // Nothing of all this was stored or fetched.
    assert_eq!(stage.dibao("target ls").await.stdout, targets);
    stage.intact().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_mistake_leaves_no_data_directory_and_no_output_behind() {
    let stage = Stage::new().await;
    stage.write("out.jsonl", "kept\n");
    stage.write("bad.yaml", "site_id: x\nsite_nam: y\n");
    stage.dibao("crawl bad.yaml -o out.jsonl").await.exits(2).says(&["did you mean `site_name`?"]);
    stage
        .dibao("crawl ndrc.yaml --column nothere -o out.jsonl")
        .await
        .exits(2)
        .says(&["nothere", "ndrc.yaml"]);
    assert!(!stage.path("data").exists());
    assert_eq!(stage.read("out.jsonl"), "kept\n");
    assert_eq!(stage.replica.request_count(), 0);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_selector_that_finds_nothing_is_told_apart_from_an_empty_list() {
    let stage = Stage::with_five().await;
    stage.write("bad.yaml", NDRC.replace("ul.u-list > li:not(.empty)", "div.not-on-this-site"));
    let run = stage.dibao("crawl bad.yaml --column xwfb").await.exits(8);
    run.says(&["ndrc__xwfb", "div.not-on-this-site"]);
    stage.intact().await;
}
