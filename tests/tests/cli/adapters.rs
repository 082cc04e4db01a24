//! `dibao adapter`: what a file is, why it is refused, and that only approved bytes ever run.

use crate::guest::{Guest, good, guest};
use crate::stage::{Stage, adapters, finish};

#[tokio::test(flavor = "multi_thread")]
async fn a_good_adapter_is_described() {
    let stage = Stage::new().await;
    let file = adapters().join("yaml-css.wasm").display().to_string();
    let facts = finish(stage.bare(&format!("adapter check {file}"))).await.exits(0).row();
    assert_eq!((&facts["accepted"], &facts["name"]), (&true.into(), &"yaml-css".into()));
    assert_eq!(facts["hosts"], serde_json::json!(["site"]));
    assert!(facts["compile_ms"].is_u64() && facts["config_schema"]["type"] == "object");
    let inspection = &facts["inspection"];
    assert!(inspection["imports"].as_array().unwrap().iter().any(|name| name == "dibao:adapter/html@0.1.0"));
    assert_eq!(inspection["size"], std::fs::metadata(&file).unwrap().len());
    let people = finish(stage.bare(&format!("adapter check {file} --rows table"))).await.exits(0).stdout;
    for word in ["contract", "imports", "wanted hosts", "compile time", "config schema", "sha256"] {
        assert!(people.contains(word), "{people}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_refused_component_says_why_and_what_to_do() {
    let stage = Stage::new().await;
    let mut wanting = guest("(call $get)");
    wanting.imports = r#"(import "dibao:adapter/net@0.1.0" "get" (func $get))"#.into();
    wanting.wit = wanting.wit.replace("import charset;", "import charset; import net;")
        + "interface net { get: func(); }";
    let whole = good();
    let table: [(&str, Vec<u8>, &[&str]); 9] = [
        ("core module", guest("").module(), &["core WebAssembly module", "wasm-tools component new"]),
        ("cut off", whole[..whole.len() / 2].to_vec(), &["cut off", "copy or build it again"]),
        ("empty", Vec::new(), &["empty", "cargo xtask adapters"]),
        ("page", b"<html>not found</html>".to_vec(), &["HTML"]),
        ("newer", guest("").build_as("0.2.0"), &["@0.2.0", "@0.1.0", "upgrade dibao"]),
        ("older", guest("").build_as("0.0.9"), &["@0.0.9", "@0.1.0", "upgrade the adapter"]),
        ("import", wanting.build(), &["dibao:adapter/net@0.1.0", "remove the dependency"]),
        ("other", wat::parse_str("(component)").unwrap(), &["not an adapter", "dibao:adapter/site@0.1.0"]),
        (
            "loop",
            Guest { fields: "(func $s (loop $l (br $l))) (start $s)".into(), ..guest("") }.build(),
            &["deadline"],
        ),
    ];
    for (what, bytes, words) in table {
        stage.write("x.wasm", bytes);
        for line in ["adapter check x.wasm", "adapter pin x.wasm --adapters own"] {
            let run = finish(stage.bare(line)).await;
            assert_eq!(run.code, 7, "{what}: {}", run.stderr);
            let run = run.exits(7).says(words).says(&["x.wasm"]);
            assert_eq!(run.stdout, "", "{what}");
        }
    }
    assert!(!stage.path("own").exists(), "what is refused is not copied");
    finish(stage.bare("adapter check nowhere.wasm")).await.exits(3).says(&["nowhere.wasm"]);
}

#[tokio::test(flavor = "multi_thread")]
async fn only_approved_bytes_run_and_stored_articles_outlive_their_adapter() {
    let stage = Stage::with_five().await;
    let own = stage.path("own");
    let bundled = std::fs::read(adapters().join("yaml-css.wasm")).unwrap();
    stage.write("yaml-css.wasm", &bundled);
    let crawl = "crawl ndrc__xwfb --force --max-items 6 --adapters own";
    stage.dibao(crawl).await.exits(7).says(&["yaml-css", "own does not exist", "--adapters"]);
    stage.dibao("adapter ls --adapters own").await.exits(2).says(&["own", "adapter pin"]);

    stage
        .dibao("adapter pin yaml-css.wasm --adapters own")
        .await
        .exits(0)
        .says(&["yaml-css: pinned, may reach site"]);
    let entry = stage.dibao("adapter ls --adapters own").await.exits(0).row();
    assert_eq!((&entry["name"], &entry["state"]["state"]), (&"yaml-css".into(), &"pinned".into()));
    stage.dibao(crawl).await.exits(0);

    // Other bytes that are an adapter too, then bytes that are none, then no bytes.
    let path = own.join("yaml-css.wasm");
    let pin = "dibao adapter pin own/yaml-css.wasm";
    std::fs::write(&path, Guest { name: "yaml-css", ..guest("") }.build()).unwrap();
    stage.dibao(crawl).await.exits(7).says(&["has changed", pin]);
    assert_eq!(stage.dibao("adapter ls --adapters own").await.row()["state"]["state"], "changed");
    std::fs::write(&path, &bundled[..bundled.len() / 2]).unwrap();
    stage.dibao(crawl).await.exits(7).says(&["has changed"]);
    stage.dibao("adapter pin yaml-css.wasm --adapters own --grant site").await.exits(0);
    stage.dibao(crawl).await.exits(0);
    std::fs::remove_file(&path).unwrap();
    stage.dibao(crawl).await.exits(7).says(&["own/yaml-css.wasm", "not there"]);
    std::fs::write(own.join("adapters.lock"), "[adapters\n").unwrap();
    stage.dibao(crawl).await.exits(2).says(&["adapters.lock", "dibao adapter pin FILE"]);
    std::fs::remove_file(own.join("adapters.lock")).unwrap();
    stage.dibao(crawl).await.exits(7).says(&["no adapter `yaml-css`"]);
    std::fs::write(&path, &bundled).unwrap();
    stage.dibao(crawl).await.exits(7).says(&["is not pinned", pin]);
    stage.intact().await;
}
