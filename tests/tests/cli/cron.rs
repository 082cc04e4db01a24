//! `dibao cron`: for people one expression, for scripts a line each.

use std::process::Stdio;

use serde_json::{Value, json};
use tokio::io::AsyncWriteExt as _;

use crate::stage::{Stage, dibao};

/// Runs the program on these lines and returns its own.
async fn batch(arguments: &[&str], lines: &[Value]) -> Vec<Value> {
    let mut child = tokio::process::Command::new(dibao())
        .args(arguments)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .expect("the program");
    let text: String = lines.iter().map(|line| format!("{line}\n")).collect();
    let mut input = child.stdin.take().expect("its input");
    input.write_all(format!("{text}\nnot json\n").as_bytes()).await.expect("written");
    drop(input);
    let output = child.wait_with_output().await.expect("its output");
    assert!(output.status.success());
    let said = String::from_utf8(output.stdout).expect("text");
    said.lines().map(|line| serde_json::from_str(line).expect("JSON")).collect()
}

#[tokio::test(flavor = "multi_thread")]
async fn scripts_ask_by_lines_of_json() {
    let ask = |id: Value, expr: &str, seconds: bool, tz: &str, from: &str, inclusive: bool| json!({"id": id, "expr": expr, "seconds": seconds, "tz": tz, "from": from, "inclusive": inclusive});
    let answers = batch(
        &["cron", "next", "--jsonl"],
        &[
            ask(json!(1), "0 9 * * 1-5", false, "Asia/Shanghai", "2026-04-10T01:00:00Z", false),
            ask(json!("b"), "0 9 * * 1-5", false, "Asia/Shanghai", "2026-04-10T01:00:00Z", true),
            ask(json!(3), "0 0 30 2 *", false, "UTC", "2026-04-10T01:00:00Z", false),
            ask(json!(4), "*/10 * * * * *", true, "UTC", "2026-04-10T01:00:00Z", false),
            ask(json!(5), "*/10 * * * * *", false, "UTC", "2026-04-10T01:00:00Z", false),
            ask(json!(6), "* * * * *", false, "Mars/Olympus", "2026-04-10T01:00:00Z", false),
            ask(json!(7), "* * * * *", false, "UTC", "yesterday", false),
        ],
    )
    .await;
    assert_eq!(answers[0], json!({"id": 1, "next": "2026-04-13T09:00:00+08:00"}));
    assert_eq!(answers[1], json!({"id": "b", "next": "2026-04-10T09:00:00+08:00"}));
    assert_eq!(answers[2], json!({"id": 3, "next": null}));
    assert_eq!(answers[3], json!({"id": 4, "next": "2026-04-10T01:00:10+00:00"}));
    for (at, words) in [(4, "6 fields"), (5, "Mars/Olympus"), (6, "yesterday"), (7, "line 9")] {
        let error = answers[at]["error"].as_str().expect("an error");
        assert!(error.contains(words), "{error}");
        assert_eq!(answers[at].as_object().map(|answer| answer.len()), Some(2), "{}", answers[at]);
    }
    let answers =
        batch(&["cron", "describe", "--jsonl"], &[json!({"expr": "0 9 * * 1-5"}), json!({"expr": "x"})])
            .await;
    assert_eq!(
        answers[0],
        json!({"expr": "0 9 * * 1-5", "zh": "工作日 09:00", "en": "at 09:00 on weekdays"})
    );
    assert!(answers[1]["error"].is_string() && answers[1]["expr"] == "x");
}

#[tokio::test(flavor = "multi_thread")]
async fn six_fields_are_described_with_their_seconds_and_an_id_comes_back() {
    let answers = batch(
        &["cron", "describe", "--jsonl"],
        &[
            json!({"expr": "30 0 9 * * 1-5"}),
            json!({"id": 7, "expr": "0 9 * * 1-5"}),
            json!({"id": "c", "expr": "30 0 9 * * 1-5", "seconds": false}),
        ],
    )
    .await;
    assert_eq!(
        answers[..2],
        [
            json!({"expr": "30 0 9 * * 1-5", "zh": "工作日 09:00:30", "en": "at 09:00:30 on weekdays"}),
            json!({"expr": "0 9 * * 1-5", "zh": "工作日 09:00", "en": "at 09:00 on weekdays", "id": 7}),
        ]
    );
    assert!(answers[2]["error"].as_str().is_some_and(|error| error.contains("6 fields")), "{}", answers[2]);
    let output = std::process::Command::new(dibao()).args(["cron", "describe", "30 0 9 * * 1-5"]).output();
    assert_eq!(output.expect("the program").stdout, "工作日 09:00:30\n".as_bytes());
}

#[tokio::test(flavor = "multi_thread")]
async fn answers_come_before_the_next_question_and_bad_lines_do_not_stop_the_rest() {
    use tokio::io::AsyncBufReadExt as _;
    for (verb, good) in
        [("next", "2026-04-13T09:00:00+08:00"), ("describe", "工作日 09:00"), ("validate", "true")]
    {
        let mut child = tokio::process::Command::new(dibao())
            .args(["cron", verb, "--jsonl"])
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .kill_on_drop(true)
            .spawn()
            .expect("the program");
        let mut input = child.stdin.take().expect("its input");
        let mut output = tokio::io::BufReader::new(child.stdout.take().expect("its output")).lines();
        let question = json!({"id": 1, "expr": "0 9 * * 1-5", "from": "2026-04-10T01:00:00Z"}).to_string();
        let long = format!("{{\"expr\":\"{}\"}}", "*".repeat(2 << 20));
        for (line, words) in [
            (question.as_bytes(), good),
            (long.as_bytes(), "line 2: longer than 1048576 bytes"),
            (b"\n {\"expr\":\"\xc3\x28\"}", "line 4: "),
            (b"\r\n{\"expr\":17}", "line 6: "),
            (question.as_bytes(), good),
        ] {
            input.write_all(&[line, b"\n"].concat()).await.expect("written");
            let answer =
                output.next_line().await.expect("read").expect("an answer before the pipe is closed");
            assert!(answer.contains(words), "{verb}: {answer}");
        }
        drop(input);
        assert_eq!(output.next_line().await.expect("read"), None);
        assert!(child.wait().await.expect("its end").success());
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn people_ask_one_at_a_time() {
    let stage = Stage::new().await;
    let run = |arguments: &[&str]| {
        let output = std::process::Command::new(dibao()).args(arguments).output().expect("the program");
        let text = |bytes: Vec<u8>| String::from_utf8(bytes).expect("text");
        (output.status.code(), text(output.stdout), text(output.stderr))
    };
    let from = "2026-04-10T00:00:00Z";
    let (code, out, _) = run(&["cron", "next", "@daily", "--from", from, "--tz", "UTC", "-n", "2", "--json"]);
    let said: Value = serde_json::from_str(&out).expect("JSON");
    assert_eq!(code, Some(0));
    assert_eq!(said["next"], json!(["2026-04-11T00:00:00+00:00", "2026-04-12T00:00:00+00:00"]));
    assert_eq!(run(&["cron", "describe", "0 0 L * *"]).1, "每月最后一天 00:00\n");
    assert_eq!(run(&["cron", "describe", "0 9 * * *", "--style", "s3"]).1, "在第 0 分钟 在 9 点\n");
    assert_eq!(run(&["cron", "describe", "*/30 * * * *", "--lang", "en"]).1, "every 30 minutes\n");
    assert_eq!(run(&["cron", "describe", "0 9 * * 0", "--apscheduler"]).1, "每周一 09:00\n");
    let (code, out, error) = run(&["cron", "validate", "0 25 * * *"]);
    assert_eq!(code, Some(2));
    let said: Value = serde_json::from_str(&out).expect("JSON");
    assert_eq!((&said["valid"], &said["field"]), (&json!(false), &json!("hour")));
    assert!(error.contains("hour: `25` is not between 0 and 23; write 0–23"), "{error}");
    // What is refused here is refused in a site file, with its place.
    let bad = stage.read("ndrc.yaml").replacen("columns:", "schedule: 0 25 * * *\ncolumns:", 1);
    stage.write("bad.yaml", bad);
    stage.dibao("site import bad.yaml").await.exits(2).says(&["bad.yaml:", "schedule", "hour", "25"]);
}
