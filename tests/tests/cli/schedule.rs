//! `dibao schedule`: decisions over a pipe, and policies compared over a trace.

use std::process::Stdio;

use serde_json::{Value, json};
use tempfile::TempDir;
use tokio::io::{AsyncBufReadExt, AsyncWriteExt, BufReader, Lines};
use tokio::process::{Child, ChildStdin, ChildStdout, Command};

use crate::stage::{dibao, finish};

const MONDAY: i64 = 1_715_529_600;
const HOUR: i64 = 3600;

/// `dibao schedule decide` at work.
struct Pipe {
    child: Child,
    input: ChildStdin,
    output: Lines<BufReader<ChildStdout>>,
}

impl Pipe {
    fn open(policy: &str) -> Pipe {
        let mut command = schedule(&["decide", "--policy", policy]);
        let mut child = command.stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().unwrap();
        let (input, output) = (child.stdin.take().unwrap(), child.stdout.take().unwrap());
        Pipe { child, input, output: BufReader::new(output).lines() }
    }

    /// One line and its answer, which comes before the next line is written.
    async fn ask(&mut self, line: &str) -> Value {
        self.input.write_all(format!("{line}\n").as_bytes()).await.unwrap();
        let answer = self.output.next_line().await.unwrap().expect("an answer to every line");
        serde_json::from_str(&answer).unwrap()
    }

    async fn exit(mut self) -> i32 {
        drop(self.input);
        self.child.wait().await.unwrap().code().unwrap()
    }
}

fn schedule(args: &[&str]) -> Command {
    let mut command = Command::new(dibao());
    command.arg("schedule").args(args).kill_on_drop(true).stdin(Stdio::null());
    command.stdout(Stdio::piped()).stderr(Stdio::piped());
    command
}

/// Watches two sources for three days; returns every answer.
async fn three_days(policy: &str, knob: f64) -> Vec<Value> {
    let mut pipe = Pipe::open(policy);
    let page: Vec<i64> = (1..=20).map(|i| MONDAY - i * 9 * HOUR).collect();
    let mut answers = Vec::new();
    for id in [json!("gov"), json!(7)] {
        let open = json!({ "op": "open", "id": id, "tz": "Asia/Shanghai", "now": MONDAY, "items": page, "knob": knob });
        let mut answer = pipe.ask(&open.to_string()).await;
        let mut now = MONDAY;
        while now < MONDAY + 72 * HOUR {
            let next = answer["next"].as_i64().unwrap();
            assert!(next > now && next <= now + 24 * HOUR, "{answer}");
            assert!(answer["why"].as_str().is_some_and(|why| why.len() > 5), "{answer}");
            let new: Vec<i64> = (now + 1..=next).filter(|at| at % (7 * HOUR) == 0).collect();
            answers.push(answer);
            now = next;
            let check = json!({ "op": "check", "id": id, "now": now, "new": new, "knob": knob });
            answer = pipe.ask(&check.to_string()).await;
        }
    }
    assert_eq!(pipe.exit().await, 0);
    answers
}

#[tokio::test(flavor = "multi_thread")]
async fn decisions_come_line_by_line_and_are_the_same_every_time() {
    for policy in ["predictive", "budget", "classic", "interval:5000"] {
        let first = three_days(policy, 1.0).await;
        assert_eq!(first, three_days(policy, 1.0).await, "{policy}");
        assert!(three_days(policy, 9.0).await.len() < first.len(), "{policy}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_line_that_cannot_be_answered_does_not_stop_the_rest() {
    let mut pipe = Pipe::open("predictive");
    for (line, words) in [
        ("not json", "expected"),
        (r#"{"op":"check","id":"a","now":1715529600,"new":[]}"#, "not open"),
        (r#"{"op":"open","id":"a","tz":"Mars/Olympus","now":1715529600,"items":[]}"#, "time zone"),
        (r#"{"op":"open","id":"a","now":1715529600000,"items":[]}"#, "seconds since 1970"),
        (r#"{"op":"open","id":"a","now":1715529600,"items":[],"knob":0}"#, "above zero"),
        (r#"{"op":"shut","id":"a"}"#, "unknown variant"),
        (r#"{"op":"open","now":1}"#, "id"),
    ] {
        let answer = pipe.ask(line).await;
        assert!(answer["error"].as_str().is_some_and(|error| error.contains(words)), "{line}: {answer}");
        assert!(answer.get("next").is_none());
    }
    let answer =
        pipe.ask(r#"{"op":"open","id":"a","now":1715529600.5,"items":[1715520000, -3, 9e18]}"#).await;
    assert!(answer["next"].as_i64().is_some_and(|next| next > MONDAY), "{answer}");
    assert_eq!(pipe.exit().await, 9);
}

#[tokio::test(flavor = "multi_thread")]
async fn what_is_no_line_of_text_is_told_with_its_number_and_the_next_line_goes_on() {
    let mut pipe = Pipe::open("budget");
    let open = r#"{"op":"open","id":"a","now":1715529600,"items":[]}"#;
    assert!(pipe.ask(open).await["next"].is_i64());
    // A blank line has no answer; the answer that comes is that of the line after it.
    pipe.input.write_all(b"\n \t\r\n").await.unwrap();
    let long = format!("{{\"op\":\"open\",\"id\":\"{}\"}}", "a".repeat(5 << 20));
    let answer = pipe.ask(&long).await;
    assert_eq!(answer, json!({ "error": "line 4: longer than 4194304 bytes" }));
    pipe.input.write_all(b"{\"op\":\"check\",\"id\":\"\xff\xfe\",\"now\":1715529601}\n").await.unwrap();
    let answer = pipe.ask(r#"{"op":"check","id":"a","now":1715533200}"#).await;
    assert!(answer["error"].as_str().is_some_and(|error| error.starts_with("line 5: ")), "{answer}");
    let answer: Value = serde_json::from_str(&pipe.output.next_line().await.unwrap().unwrap()).unwrap();
    assert!(answer["next"].as_i64().is_some_and(|next| next > MONDAY + HOUR), "{answer}");
    // Many at once, the last without an end.
    let check = r#"{"op":"check","id":"a","now":1715533201}"#;
    pipe.input.write_all(format!("{}{check}", format!("{check}\n").repeat(999)).as_bytes()).await.unwrap();
    drop(pipe.input);
    for _ in 0..1_000 {
        assert!(pipe.output.next_line().await.unwrap().is_some_and(|line| line.contains("next")));
    }
    assert_eq!(pipe.output.next_line().await.unwrap(), None);
    assert_eq!(pipe.child.wait().await.unwrap().code(), Some(9));
}

#[tokio::test(flavor = "multi_thread")]
async fn policies_are_compared_over_a_trace_at_an_equal_number_of_checks() {
    let dir = TempDir::new().unwrap();
    let file = dir.path().join("trace.json");
    // Nine o'clock every day for four months.
    let published: Vec<i64> = (0..120).map(|day| MONDAY + day * 24 * HOUR + 9 * HOUR).collect();
    let trace = json!({ "sources": [{ "id": "nine", "tz": "Asia/Shanghai", "published": published }] });
    std::fs::write(&file, trace.to_string()).unwrap();
    let file = file.display().to_string();
    let policies = ["--policy", "budget", "--policy", "interval:60", "--policy", "classic"];
    let args = [&["simulate", "--trace", &file, "--budget", "6", "--json"][..], &policies].concat();
    let run = finish(schedule(&args)).await.exits(0);
    let report: Value = serde_json::from_str(&run.stdout).unwrap();
    let rows = report["policies"].as_array().unwrap();
    assert_eq!(rows.len(), 3);
    for row in rows {
        let checks = row["checks_per_source_day"].as_f64().unwrap();
        assert!((5.7..6.3).contains(&checks) && row["budget_met"] == true, "{row}");
        for field in ["hit_rate", "mean_delay_sources_h", "median_delay_h", "p90_delay_h", "pushed_off"] {
            assert!(row[field].is_number(), "{field}: {row}");
        }
    }
    let delay = |row: &Value| row["mean_delay_items_h"].as_f64().unwrap();
    assert!(
        delay(&rows[0]) < 0.5 && delay(&rows[0]) < delay(&rows[1]) && delay(&rows[0]) < delay(&rows[2]),
        "{report}"
    );

    let table = finish(schedule(&["simulate", "--trace", &file, "--rows", "table"])).await.exits(0);
    assert!(table.stdout.contains("predictive") && table.stdout.contains("by source h"), "{}", table.stdout);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_bad_trace_or_policy_is_a_usage_error_that_says_why() {
    let dir = TempDir::new().unwrap();
    let file = dir.path().join("trace.json").display().to_string();
    for (content, words) in [
        ("{", "a trace is"),
        (r#"{"sources":[{"id":"a","tz":"Nowhere","published":[1,2]}]}"#, "no time zone"),
        (r#"{"sources":[]}"#, "nothing to replay"),
    ] {
        std::fs::write(&file, content).unwrap();
        let run = finish(schedule(&["simulate", "--trace", &file])).await.exits(2);
        assert!(run.stderr.contains(words), "{}", run.stderr);
    }
    let run = finish(schedule(&["decide", "--policy", "clever"])).await.exits(2);
    assert!(run.stderr.contains("there are classic"), "{}", run.stderr);
}

#[tokio::test(flavor = "multi_thread")]
async fn schedules_are_listed_explained_changed_paused_and_run_by_hand() {
    use crate::stage::Stage;
    let stage = Stage::with_five().await;
    let row = |rows: Vec<Value>, name: &str| rows.into_iter().find(|row| row["name"] == name).unwrap();
    let listed = stage.dibao("schedule ls").await.exits(0).rows();
    let crawled = row(listed, "target.ndrc__xwfb");
    assert_eq!((&crawled["trigger"]["type"], &crawled["origin"]), (&json!("adaptive"), &json!("default")));
    let told = stage.dibao("schedule explain ndrc__xwfb").await.exits(0).row();
    assert_eq!((&told["because"]["by"], &told["numbers"]["checks"]), (&json!("policy"), &json!(1)), "{told}");
    let words = stage.dibao("schedule explain ndrc__xwfb --lang zh --rows table").await.exits(0).stdout;
    assert!(words.contains("target.ndrc__xwfb 将于") && words.contains("预计"), "{words}");

    let mut add = stage.command("schedule add nightly --crawl ndrc__xwfb --max-items 3");
    add.args(["--cron", "0 3 * * *"]);
    finish(add).await.exits(0).says(&["nightly: due at"]);
    stage.dibao("schedule add nightly --crawl ndrc__xwfb --every 60").await.exits(2).says(&["already"]);
    stage.dibao("schedule add x --crawl ndrc__xwfx --every 60").await.exits(2).says(&["did you mean"]);
    let mut bad = stage.command("schedule set nightly");
    bad.args(["--cron", "61 * * * *"]);
    finish(bad).await.exits(2).says(&["minute"]);
    stage.dibao("schedule pause nightly").await.exits(0).says(&["nightly: off"]);
    stage.dibao("schedule resume nightly").await.exits(0).says(&["due at"]);
    stage.dibao("schedule run nightly").await.exits(0).says(&["waits for a worker"]);
    stage.dibao("schedule run nightly").await.exits(75).says(&["at work already"]);
    stage.dibao("run --until-empty").await.exits(0);
    let ran = row(stage.dibao("schedule ls").await.exits(0).rows(), "nightly");
    assert_eq!((&ran["last_status"], &ran["run_count"]), (&json!("ok"), &json!(1)), "{ran}");
    stage.dibao("schedule rm target.ndrc__xwfb").await.exits(2).says(&["follows its target"]);
    stage.dibao("schedule rm nightly").await.exits(0);
    let hours = stage.dibao("schedule next --hours 24").await.exits(0).rows();
    assert_eq!(hours.len(), 24);
    assert!(hours.iter().map(|hour| hour["adaptive"].as_u64().unwrap()).sum::<u64>() > 0);
    let budget = stage.dibao("schedule budget 500").await.exits(0).row();
    assert_eq!((&budget["checks_per_day"], &budget["price"]), (&json!(500.0), &json!(1.0)));
}

#[tokio::test(flavor = "multi_thread")]
async fn policies_are_compared_over_what_the_store_has_seen_itself() {
    use crate::stage::Stage;
    let stage = Stage::new().await;
    stage.dibao("crawl ndrc.yaml --column xwfb --max-items 40").await.exits(0);
    let run = stage.dibao("schedule simulate --json --from-store ndrc__xwfb").await.exits(0);
    let report: Value = serde_json::from_str(&run.stdout).unwrap();
    let rows = report["policies"].as_array().unwrap();
    assert_eq!(rows.len(), 3, "{report}");
    assert!(rows.iter().all(|row| row["sources"] == 1 && row["items"].as_u64().unwrap() > 5), "{report}");
    let all = stage.dibao("schedule simulate --policy budget --json --from-store").await.exits(0).stdout;
    assert_eq!(serde_json::from_str::<Value>(&all).unwrap()["policies"][0]["sources"], 1);
    stage.dibao("schedule simulate --from-store ndrc__xwfx").await.exits(2).says(&["did you mean"]);
    stage.dibao("schedule simulate --from-store ndrc__tz").await.exits(2).says(&["nothing to replay"]);
    stage
        .dibao("schedule simulate --from-store ndrc__xwfb --days 1")
        .await
        .exits(2)
        .says(&["fewer than two"]);
}
