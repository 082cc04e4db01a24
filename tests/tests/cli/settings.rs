//! What holds when the command line does not say: `dibao.toml`, variables, and who said what. Sites and departments by command.

use serde_json::{Value, json};

use crate::stage::{Run, Stage, finish};

fn of<'a>(rows: &'a [Value], setting: &str) -> &'a Value {
    rows.iter().find(|row| row["setting"] == setting).unwrap_or_else(|| panic!("no {setting}"))
}

#[tokio::test(flavor = "multi_thread")]
async fn each_value_is_shown_with_who_said_it() {
    let stage = Stage::new().await;
    let text = "[fetch]\ncontact = \"a@b.cn\"\nprofile = \"polite\"\n\n[work]\njobs = 5\n[server]\nhost = [\"dibao.example.org\"]\n";
    stage.write("dibao.toml", text);
    let mut command = stage.bare("config show --origin --profile fast");
    command.env("DIBAO__FETCH__INTERVAL", "2").env("SCHEDULER_RECONCILE_SEC", "60");
    let rows = finish(command).await.exits(0).says(&["file: dibao.toml"]).rows();
    assert_eq!(of(&rows, "fetch.contact")["value"], "a@b.cn");
    assert_eq!(of(&rows, "fetch.contact")["origin"], "dibao.toml:2");
    assert_eq!(of(&rows, "fetch.profile")["value"], "fast");
    assert_eq!(of(&rows, "fetch.profile")["origin"], "option");
    assert_eq!(of(&rows, "fetch.interval")["origin"], "variable DIBAO__FETCH__INTERVAL");
    assert_eq!(
        of(&rows, "work.reconcile"),
        &json!({"setting": "work.reconcile", "value": "60", "origin": "variable SCHEDULER_RECONCILE_SEC"})
    );
    assert_eq!(of(&rows, "work.jobs")["value"], "5");
    assert_eq!(
        of(&rows, "work.drain"),
        &json!({"setting": "work.drain", "value": "30", "origin": "default"})
    );
    assert_eq!(
        of(&rows, "store.data"),
        &json!({"setting": "store.data", "value": "data", "origin": "variable DIBAO_DATA"})
    );
}

#[tokio::test(flavor = "multi_thread")]
async fn a_mistake_is_named_with_its_line_and_help_is_given_all_the_same() {
    let stage = Stage::new().await;
    stage.write("wrong.toml", "[server]\nlsten = \"127.0.0.1:1\"\n");
    let run = stage.dibao("serve --config wrong.toml").await.exits(2);
    run.says(&["wrong.toml:2", "server.lsten", "did you mean listen?"]);
    stage.dibao("--config wrong.toml --help").await.exits(0);
    stage.write("value.toml", "[work]\njobs = 99\n");
    stage.dibao("run --config=value.toml").await.exits(2).says(&["value.toml:2", "work.jobs", "0..=64"]);
    stage.dibao("config show --config nowhere.toml").await.exits(2).says(&["nowhere.toml"]);
}

#[tokio::test(flavor = "multi_thread")]
async fn the_example_is_a_file_that_says_nothing() {
    let stage = Stage::new().await;
    let example = stage.dibao("config example").await.exits(0).stdout;
    assert!(example.contains("# listen = \"127.0.0.1:8787\""), "{example}");
    stage.write("dibao.toml", &example);
    let with = finish(stage.bare("config show")).await.exits(0).stdout;
    std::fs::remove_file(stage.path("dibao.toml")).unwrap();
    assert_eq!(with, finish(stage.bare("config show")).await.exits(0).stdout);
    // What it offers can be taken: every line uncommented is a file that is read.
    let taken: String = example
        .lines()
        .map(|line| match line.strip_prefix("# ") {
            Some(rest) if rest.split(' ').nth(1) == Some("=") && !rest.contains(" \"\"") => {
                format!("{rest}\n")
            }
            _ => format!("{line}\n"),
        })
        .collect();
    stage.write("taken.toml", &taken);
    stage.dibao("config show --config taken.toml").await.exits(0);
}

#[tokio::test(flavor = "multi_thread")]
async fn the_file_holds_for_what_is_run() {
    let stage = Stage::new().await;
    std::fs::create_dir(stage.path("etc")).unwrap();
    // Paths begin at the file, not where the command is typed.
    stage.write("etc/dibao.toml", "[store]\ndata = \"../kept\"\n[fetch]\ncacert = [\"../ca.pem\"]\n");
    let mut command = stage.command("--config etc/dibao.toml crawl ndrc.yaml --column xwfb --max-items 1");
    command.env_remove("DIBAO_DATA");
    finish(command).await.exits(0);
    assert!(stage.path("kept/dibao.db").exists());
    assert!(!stage.path("dibao-data").exists());
}

async fn done(stage: &Stage, args: &[&str]) -> Run {
    let mut command = stage.bare("");
    command.args(args).env("USER", "li").env_remove("SUDO_USER");
    finish(command).await
}

#[tokio::test(flavor = "multi_thread")]
async fn a_site_is_changed_by_command_as_by_the_api() {
    let stage = Stage::with_five().await;
    done(&stage, &["site", "set", "ndrc", "site_name=发改委", "crawl_plan={\"from\":2020}"]).await.exits(0);
    let exported = stage.dibao("site export ndrc").await.exits(0).stdout;
    assert!(exported.contains("发改委"), "{exported}");
    // Same validation as anywhere: the field is named.
    done(&stage, &["site", "set", "ndrc", "interval_sec=soon"]).await.exits(2).says(&["interval_sec"]);
    done(&stage, &["site", "set", "ndrc", "interval_secs=5"]).await.exits(2).says(&["interval_sec"]);
    done(&stage, &["site", "set", "nobody", "interval_sec=5"]).await.exits(2).says(&["nobody"]);
    done(&stage, &["site", "toggle", "ndrc", "--off"]).await.exits(0).says(&["ndrc: off"]);
    // What an operator set is left alone by the file.
    stage.dibao("site import ndrc.yaml").await.exits(0);
    assert_eq!(stage.dibao("site ls").await.rows()[0]["enabled"], false);
    assert_eq!(stage.dibao("site ls").await.rows()[0]["name"], "发改委");
    done(&stage, &["site", "rm", "ndrc"]).await.exits(2).says(&["--yes"]);
    done(&stage, &["site", "rm", "ndrc", "--yes"]).await.exits(0);
    assert!(stage.dibao("site ls").await.rows().is_empty());
    assert!(stage.dibao("export").await.rows().is_empty());
}

#[tokio::test(flavor = "multi_thread")]
async fn departments_are_kept_by_command() {
    let stage = Stage::with_five().await;
    let made = done(&stage, &["org", "add", "财政局", "--id", "7", "--region", "肇庆"]).await.exits(0).rows();
    assert_eq!(made[0]["dept_id"], 7);
    done(&stage, &["org", "add", "环保局", "--id", "7"]).await.exits(2).says(&["7"]);
    done(&stage, &["org", "set", "7", "--category", "政府", "--region", ""]).await.exits(0);
    let rows = done(&stage, &["org", "ls"]).await.exits(0).rows();
    assert_eq!(
        rows,
        [
            json!({"dept_id": 7, "full_name": "财政局", "short_name": null, "region": null, "category": "政府"})
        ]
    );
    done(&stage, &["org", "rm", "8"]).await.exits(2).says(&["8"]);
    done(&stage, &["org", "rm", "7"]).await.exits(0);
    assert!(done(&stage, &["org", "ls"]).await.rows().is_empty());
}
