//! The promises of site files.

use std::path::Path;

use serde_json::json;

use super::*;
use crate::model::{Site, Target};

const SMALL: &str = r#"site_id: demo
site_name: 示例
base_url: https://www.example.gov.cn
interval_sec: 4
default_column:
  list_url: /{column}/index.html
  list_selector: {row: ul li}
  detail: {content: div.content}
columns:
  - column_id: a
    list_selector:
      row: "ul.list > li"
      date: span::text
      pinned: em.zd
    pagination: {type: path_pattern, pattern: "index_{page}.html", start: 1, max_pages: 3}
    interval_sec: 9
  - column_id: b
    alias_of: a
    list_url: https://files.example.gov.cn/b/
    enabled: false
  - column_id: c
    stop_after_duplicates: 5
"#;

fn rows(text: &str) -> (Site, Vec<Target>) {
    parse_site(text, "demo.yaml").expect("a good file").into_rows().expect("rows")
}

fn refusal(text: &str) -> String {
    parse_site(text, "bad.yaml").expect_err("a bad file").to_string()
}

#[test]
fn aliases_defaults_and_paces_are_resolved_into_rows() {
    let (site, targets) = rows(SMALL);
    assert_eq!(
        (site.code.as_str(), site.adapter.as_str(), site.strategy.as_str()),
        ("demo", "yaml-css", "auto")
    );
    assert_eq!(site.hosts, ["files.example.gov.cn"], "a list's host is a host of the site");
    let [a, b, c] = targets.as_slice() else { panic!("three targets") };
    assert_eq!(a.code, "demo__a");
    assert_eq!(a.entry_url, "https://www.example.gov.cn/a/index.html");
    assert_eq!((a.interval_sec, b.interval_sec), (Some(9.0), Some(4.0)), "I14: column, then site");
    assert_eq!(b.config["list_selector"], a.config["list_selector"], "S2-22");
    assert_eq!(b.config["pagination"]["start"], 1);
    assert_eq!(b.config["list_url"], "https://files.example.gov.cn/b/");
    assert!(!b.enabled);
    assert_eq!(c.config["list_selector"], json!({"row": "ul li"}), "what c leaves out");
    assert_eq!(c.config["detail"], json!({"content": "div.content"}));
}

#[test]
fn a_list_with_pins_needs_three_known_articles_in_a_row() {
    let (site, _) = rows(SMALL);
    assert_eq!(Incremental::of(&site, "demo__a").stop_after_duplicates, Some(3));
    assert_eq!(Incremental::of(&site, "demo__b").stop_after_duplicates, Some(3));
    assert_eq!(Incremental::of(&site, "demo__c").stop_after_duplicates, Some(5));
    assert_eq!(Incremental::of(&site, "demo__other").stop_after_duplicates, None);
}

#[test]
fn an_unlisted_column_is_made_from_the_template() {
    let site = parse_site(SMALL, "demo.yaml").expect("a good file");
    let target = site.column_target("tzgg").expect("made");
    assert_eq!(target.entry_url, "https://www.example.gov.cn/tzgg/index.html");
    assert_eq!(target.config["list_selector"]["row"], "ul li");
    assert!(site.column_target("../etc").is_err(), "an id is checked before it becomes an address");

    let without = SMALL
        .replace("  list_url: /{column}/index.html\n", "")
        .replace("  - column_id: c\n    stop_after_duplicates: 5\n", "")
        .replace("  - column_id: a\n", "  - column_id: zxbd\n    list_url: /a/\n")
        .replace("alias_of: a", "alias_of: zxbd");
    let error =
        parse_site(&without, "demo.yaml").expect("good").column_target("zxdb").unwrap_err().to_string();
    assert!(error.contains("did you mean `zxbd`?"), "{error}");
}

#[test]
fn unknown_keys_are_refused_with_their_line_and_what_was_meant() {
    let error = refusal(&SMALL.replace("    pagination:", "    paginaton:"));
    assert!(error.starts_with("bad.yaml:15:5: unknown key `paginaton`"), "{error}");
    assert!(error.contains("did you mean `pagination`?"), "{error}");
    let error = refusal(&SMALL.replace("max_pages", "maxpages"));
    assert!(error.contains("bad.yaml:15:") && error.contains("did you mean `max_pages`?"), "{error}");
    let error = refusal(&SMALL.replace("type: path_pattern", "type: path_patern"));
    assert!(error.contains("did you mean `path_pattern`?"), "{error}");
}

#[test]
fn every_mistake_names_its_place_and_its_fix() {
    for (from, to, place, words) in [
        ("column_id: b", "column_id: a", "bad.yaml:17:16: columns[1].column_id", "listed twice"),
        ("alias_of: a", "alias_of: aa", "bad.yaml:18:15: columns[1].alias_of", "did you mean `a`?"),
        ("alias_of: a", "alias_of: b", "columns[1].alias_of", "circle: b → b"),
        (
            "alias_of: a",
            "alias_of: a\n    detail: {title: h1}",
            "columns[1].alias_of",
            "remove `alias_of` or `detail`",
        ),
        (", max_pages: 3", "", "bad.yaml:15:", "max_pages: 30"),
        ("max_pages: 3", "max_pages: 501", "columns[0].pagination.max_pages", "at most 500"),
        ("index_{page}", "index_page", "columns[0].pagination.pattern", "{page}"),
        ("https://www.example.gov.cn\n", "www.example.gov.cn\n", "bad.yaml:3:11: base_url", "https://"),
        ("https://www.example.gov.cn\n", "file:///etc/passwd\n", "base_url", "http:// or https://"),
        ("site_id: demo", "site_id: De mo", "bad.yaml:1:10: site_id", "lower case"),
        ("span::text", "span::txet", "bad.yaml:13:13: columns[0].list_selector.date", "::text"),
        ("span::text", "\"span[\"", "columns[0].list_selector.date", "not a selector"),
        ("ul.list > li", "ul.list > li::text", "columns[0].list_selector.row", "remove the ending"),
        ("interval_sec: 9", "interval_sec: -1", "columns[0].interval_sec", "from 0"),
        ("interval_sec: 9", "interval_sec: soon", ": columns[0].interval_sec: ", "expected a number"),
        ("interval_sec: 9", "throttle_by: hosts", ": columns[0].throttle_by: ", "none of the choices"),
        ("interval_sec: 4", "hosts: true", ": hosts: ", "expected a list"),
        ("interval_sec: 9", "rps: 0", "columns[0].rps", "0.001 to 100"),
        ("interval_sec: 9", "burst: 0", "columns[0].burst", "1 to 100"),
        ("interval_sec: 9", "concurrency: 17", "columns[0].concurrency", "1 to 16"),
        ("interval_sec: 9", "profile: fsat", "bad.yaml:16:", "did you mean `fast`?"),
        ("interval_sec: 9", "throttle_by: hosts", "bad.yaml:16:", "did you mean `host`?"),
        ("interval_sec: 9", "intervall_sec: 9", "bad.yaml:16:5: unknown key", "did you mean `interval_sec`?"),
        ("interval_sec: 4", "attachment_interval_cap_sec: -2", "bad.yaml:4:", "from 0 to 86400"),
        ("interval_sec: 4", "user_agent: '例'", "bad.yaml:4:13: user_agent", "plain letters"),
        ("interval_sec: 4", "proxy: 'https://p:1'", "bad.yaml:4:8: proxy", "socks5://host:port"),
        ("interval_sec: 4", "ip_family: v5", "bad.yaml:4:", "did you mean `v4`?"),
        ("interval_sec: 4", "browser: {wait_for: 'li['}", "browser.wait_for", "not a selector"),
        ("interval_sec: 4", "browser: {wait_for: 'li::text'}", "browser.wait_for", "remove the ending"),
        ("interval_sec: 4", "browser: {scroll: 101}", "browser.scroll", "0 to 100"),
        ("interval_sec: 4", "browser: {block: [images]}", "bad.yaml:4:", "did you mean `image`?"),
        ("interval_sec: 4", "browser: {wait: li}", "bad.yaml:4:", "known here: wait_for"),
        ("interval_sec: 4", "tls: openssl", "bad.yaml:4:", "rustls, native"),
        ("interval_sec: 4", "ca_file: ''", "bad.yaml:4:10: ca_file", "PEM file"),
        ("interval_sec: 9", "schedule: daily", "columns[0].schedule", "0 7 * * *"),
        ("interval_sec: 4", "hosts: ['https://x.cn/']", "hosts[0]", "host alone"),
        ("interval_sec: 4", "adapter_params: {x: 1}", "adapter_params", "adapter"),
        (
            "stop_after_duplicates: 5",
            "stop_after_duplicates: 0",
            "columns[2].stop_after_duplicates",
            "1 or more",
        ),
        ("site_name: 示例\n", "", "bad.yaml", "`site_name` is missing"),
    ] {
        let text = SMALL.replace(from, to);
        assert_ne!(text, SMALL, "{from} is in the file");
        let error = refusal(&text);
        assert!(error.contains(place) && error.contains(words), "{to}: {error}");
    }
}

#[test]
fn what_a_browser_does_with_a_sites_pages_is_written_in_its_file() {
    let said = "interval_sec: 4\nbrowser: {wait_for: 'ul.list > li', scroll: 5, block: [image, stylesheet]}";
    let site = parse_site(&SMALL.replace("interval_sec: 4", said), "a.yaml").unwrap();
    let rendering = site.browser.unwrap();
    assert_eq!((rendering.wait_for.as_deref(), rendering.scroll), (Some("ul.list > li"), 5));
    assert_eq!(rendering.block, Some(vec![crate::fetch::Part::Image, crate::fetch::Part::Stylesheet]));
}

#[test]
fn malformed_yaml_says_where() {
    for text in ["site_id: [", "a: b: c", "\t- x", "site_id: *nowhere", "- 1", "", "site_id: 1\nsite_id: 2"] {
        let error = refusal(text);
        assert!(error.starts_with("bad.yaml"), "{text}: {error}");
    }
    let error = refusal("site_id: x\nsite_name: y\nbase_url: https://a.cn\nconcurrency: many\n");
    assert!(error.starts_with("bad.yaml:4:14"), "{error}");
}

#[test]
fn an_alias_bomb_and_a_huge_file_are_refused_quickly() {
    let mut bomb = "a: &a0 [x,x,x,x,x,x,x,x,x,x]\n".to_owned();
    for level in 1..12 {
        let refs = vec![format!("*a{}", level - 1); 10].join(",");
        bomb.push_str(&format!("b{level}: &a{level} [{refs}]\n"));
    }
    bomb.push_str("adapter_params: {x: *a11}\n");
    assert!(parse_site(&bomb, "bomb.yaml").is_err());
    let wrapped = format!("adapter_params:\n{}", bomb.replace('\n', "\n  ").replace("a: &a0", "  a: &a0"));
    assert!(parse_site(&wrapped, "bomb.yaml").is_err());
    let huge = format!("{SMALL}# {}\n", "x".repeat(MAX_FILE as usize));
    assert!(matches!(parse_site(&huge, "huge.yaml"), Err(ConfigError::TooLarge { .. })));
    let deep = format!("adapter_params: {}{}", "[".repeat(20_000), "]".repeat(20_000));
    assert!(parse_site(&deep, "deep.yaml").is_err());
}

#[test]
fn what_is_exported_gives_the_same_rows_again() {
    let (site, targets) = rows(SMALL);
    let (site_again, targets_again) = rows(&export_site(&site, &targets));
    assert_eq!(targets_again, targets);
    assert_eq!(Site { source: json!(null), ..site_again }, Site { source: json!(null), ..site });
}

#[test]
fn what_the_operator_changed_in_the_store_is_exported() {
    let (mut site, mut targets) = rows(SMALL);
    site.enabled = false;
    targets[0].name = "改名".into();
    targets[1].config["list_selector"]["row"] = json!("table tr");
    targets[1].interval_sec = None;
    targets[2].parser_override = Some(json!({"detail": {"title": "h1"}}));
    targets[2].schedule = Some("0 7 * * *".into());
    targets.push(parse_site(SMALL, "x").expect("good").column_target("extra").expect("made"));
    let (site_again, targets_again) = rows(&export_site(&site, &targets));
    assert_eq!(targets_again, targets);
    assert!(!site_again.enabled);
    assert_eq!(
        effective_config(&targets_again[2])["detail"],
        json!({"content": "div.content", "title": "h1"})
    );

    let bare = Site { source: json!(null), ..site };
    assert_eq!(rows(&export_site(&bare, &targets)).1, targets, "a site that never had a file");
}

#[test]
fn the_pace_that_was_set_by_hand_is_exported_as_the_columns_own() {
    let (site, mut targets) = rows(SMALL);
    targets[1].pace = targets[1].pace.set(["interval_sec=30", "rps=0.5", "profile=fast"]).expect("good");
    let (site_again, targets_again) = rows(&export_site(&site, &targets));
    let (before, after) =
        (PaceLayers::of(&site, &targets[1]), PaceLayers::of(&site_again, &targets_again[1]));
    assert_eq!(after.effective().policy(), before.effective().policy());
    assert_eq!(after.effective().rps.origin, SettingOrigin::Column);
}

#[test]
fn a_ca_file_is_read_beside_the_site_file_and_goes_with_the_site() {
    let dir = tempfile::tempdir().expect("a directory");
    let file = dir.path().join("demo.yaml");
    std::fs::write(&file, format!("{SMALL}ca_file: ca.pem\n")).expect("written");
    let error = load_site(&file).expect_err("there is none").to_string();
    assert!(error.contains("ca_file") && error.contains("ca.pem"), "{error}");
    std::fs::write(dir.path().join("ca.pem"), "no certificate").expect("written");
    let error = load_site(&file).expect_err("it is empty").to_string();
    assert!(error.contains("ca_file") && error.contains("no certificate"), "{error}");
    let key = rcgen::KeyPair::generate().expect("a key");
    let pem = rcgen::CertificateParams::new(["a.cn".to_owned()])
        .expect("names")
        .self_signed(&key)
        .expect("one")
        .pem();
    std::fs::write(dir.path().join("ca.pem"), &pem).expect("written");
    let (site, targets) = load_site(&file).expect("good").into_rows().expect("rows");
    assert_eq!(site.source["ca_file"], pem);
    assert_eq!(rows(&export_site(&site, &targets)).0.source["ca_file"], pem);
}

#[test]
fn other_adapters_get_their_own_words() {
    let (site, targets) = rows(
        "site_id: qy\nsite_name: 清远\nbase_url: https://www.gdqy.gov.cn\ncms_adapter: gkmlpt\ndefault_strategy: httpx\n\
         adapter_params: {page_size: 20, sid: '763001'}\ncolumns:\n  - {column_id: x, params: {page_size: 5}}\n",
    );
    assert_eq!((site.adapter.as_str(), site.strategy.as_str()), ("gkmlpt", "http"));
    assert_eq!(targets[0].config, json!({"page_size": 5, "sid": "763001"}));
    assert_eq!(rows(&export_site(&site, &targets)).1, targets);
}

#[test]
fn the_bundled_site_files_are_good_and_fit_the_schema_and_the_adapter() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("..");
    let schema = jsonschema::validator_for(&site_schema()).expect("a schema");
    let mut files = 0;
    for file in std::fs::read_dir(root.join("sites")).expect("sites") {
        let path = file.expect("a file").path();
        let site = load_site(&path).unwrap_or_else(|error| panic!("{error}"));
        let written: serde_json::Value =
            serde_saphyr::from_str(&std::fs::read_to_string(&path).expect("text")).expect("YAML");
        if let Err(error) = schema.validate(&written) {
            panic!("{}: {error}", path.display());
        }
        let (row, targets) = site.into_rows().expect("rows");
        let adapter = root.join("adapters").join(row.adapter.replace('_', "-")).join("config.schema.json");
        let adapter = std::fs::read_to_string(adapter).expect("its schema");
        let adapter = serde_json::from_str(&adapter).expect("JSON");
        let adapter = jsonschema::validator_for(&adapter).expect("a schema");
        for target in &targets {
            if let Err(error) = adapter.validate(&target.config) {
                panic!("{}: {error}", target.code);
            }
        }
        assert_eq!(rows(&export_site(&row, &targets)).1, targets, "{}", path.display());
        files += 1;
    }
    assert!(files >= 6);
}
