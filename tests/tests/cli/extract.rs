//! `dibao extract --jsonl` in a pipe: what a program at the other end can count on.

use std::process::Stdio;

use serde_json::{Value, json};
use tokio::io::{AsyncBufReadExt, AsyncReadExt, AsyncWriteExt, BufReader, Lines};
use tokio::process::{Child, ChildStdin, ChildStdout};

use crate::stage::{Stage, finish, rows};

/// The keys of an answer, in their order.
const KEYS: [&str; 8] = ["id", "title", "text", "date", "source", "author", "attachments", "provenance"];
/// More than one line may have.
const TOO_LONG: usize = (64 << 20) + 4096;

fn page(number: usize) -> String {
    format!(
        "<title>第{number}号通知_某市人民政府</title><h1>关于第{number}件示例工作的通知</h1><p>来源：某市民政局 2026-04-{:02}</p>\
         <div id=zoom><p>各县区人民政府：为了做好第{number}件示例工作，现将有关事项通知如下，请认真贯彻执行。</p></div>",
        number % 28 + 1
    )
}

fn keys(answer: &Value) -> Vec<&str> {
    answer.as_object().unwrap().keys().map(String::as_str).collect()
}

/// A running `dibao extract --jsonl` that is asked and waited for, line by line.
struct Partner {
    child: Child,
    questions: ChildStdin,
    answers: Lines<BufReader<ChildStdout>>,
}

impl Partner {
    fn of(stage: &Stage) -> Partner {
        let mut child = stage.bare("extract --jsonl").stdin(Stdio::piped()).spawn().unwrap();
        let questions = child.stdin.take().unwrap();
        let answers = BufReader::new(child.stdout.take().unwrap()).lines();
        Partner { child, questions, answers }
    }

    /// Nothing more is said until the answer is there: without a flush per line this would wait for ever.
    async fn ask(&mut self, line: &[u8]) -> Value {
        self.questions.write_all(line).await.unwrap();
        self.questions.write_all(b"\n").await.unwrap();
        serde_json::from_str(&self.answers.next_line().await.unwrap().unwrap()).unwrap()
    }

    async fn ends_well(mut self) {
        drop(self.questions);
        assert_eq!(self.answers.next_line().await.unwrap(), None, "one answer a question and nothing else");
        assert!(self.child.wait().await.unwrap().success());
        let mut said = String::new();
        self.child.stderr.take().unwrap().read_to_string(&mut said).await.unwrap();
        assert_eq!(said, "");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_partner_that_waits_for_each_answer_gets_it_whatever_it_said() {
    let stage = Stage::new().await;
    let mut partner = Partner::of(&stage);
    for (line, id, words) in [
        (&b"not JSON"[..], Value::Null, "not a line"),
        (b"[]", Value::Null, "not a line"),
        (b"{\"id\":\"a\"}", json!("a"), "missing field `html`"),
        (b"{\"id\":\"b\",\"html\":7}", json!("b"), "html"),
        (b"{\"id\":{\"n\":1},\"html\":\"<p>", json!({"n": 1}), "EOF"),
        (b"{\"id\":\"c\",\"html\":\"<p>\xc3\x28</p>\",\"url\":\"\"}", json!("c"), "not UTF-8"),
        (b"\xff\xfe", Value::Null, "not UTF-8"),
        (b"{\"id\":\"d\",\"html\":\"\",\"url\":5}", json!("d"), "url"),
    ] {
        let bad = partner.ask(line).await;
        assert_eq!((keys(&bad), &bad["id"]), (vec!["id", "error"], &id), "{bad}");
        assert!(bad["error"].as_str().unwrap().contains(words), "{bad}");
        // Nothing of the bad line is left for the next one.
        let good = partner.ask(json!({"id": 1, "html": page(3)}).to_string().as_bytes()).await;
        assert_eq!((keys(&good), &good["date"]), (KEYS.to_vec(), &json!("2026-04-04")), "{good}");
    }
    partner.ends_well().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_line_that_is_too_long_is_answered_and_the_next_one_is_read_whole() {
    let stage = Stage::new().await;
    let mut partner = Partner::of(&stage);
    let long = [&b"{\"id\":\"long\",\"html\":\""[..], &vec![b'x'; TOO_LONG], b"\"}"].concat();
    let refused = partner.ask(&long).await;
    assert_eq!(refused["id"], "long");
    assert!(refused["error"].as_str().unwrap().contains("longer than"), "{refused}");
    let next = partner.ask(json!({"id": "next", "html": page(1)}).to_string().as_bytes()).await;
    assert_eq!((&next["id"], &next["source"]), (&json!("next"), &json!("某市民政局")));
    partner.ends_well().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn every_page_is_answered_once_and_in_its_order_whatever_it_is() {
    let stage = Stage::new().await;
    let ids = [json!(0), json!("二"), Value::Null, json!([1, {"a": 2.5}]), json!(true), json!(-7)];
    let pages: Vec<String> = (0..60)
        .map(|number| match number % 6 {
            0 => String::new(),
            1 => "<ul>".to_owned() + &"<li><a href=x>关于示例工作的通知</a>".repeat(40),
            2 => "<div>".repeat(3_000),
            3 => "\u{0}<\u{202e}table><p>\u{7f}".to_owned(),
            _ => page(number),
        })
        .collect();
    let line = |(number, html): (usize, &String)| {
        let url = [json!("https://www.example.gov.cn/a/1.html"), json!("no address"), Value::Null];
        json!({"id": ids[number % ids.len()], "html": html, "url": url[number % 3]}).to_string()
    };
    // Blank lines are passed over, and the last line need not end.
    let questions = pages.iter().enumerate().map(line).collect::<Vec<_>>().join("\r\n\n \t\r\n");
    stage.write("pages.jsonl", questions);
    let mut command = stage.bare("extract --jsonl");
    command.stdin(std::fs::File::open(stage.path("pages.jsonl")).unwrap());
    let run = finish(command).await.exits(0);
    let answers = rows(&run.stdout);
    assert_eq!(answers.len(), pages.len());
    for (number, answer) in answers.iter().enumerate() {
        assert_eq!(keys(answer), KEYS, "{number}");
        assert_eq!(answer["id"], ids[number % ids.len()], "{number}");
        assert!(answer["text"].is_string() && answer["attachments"].is_array(), "{answer}");
        if number % 6 > 3 {
            assert!(answer["text"].as_str().unwrap().contains(&format!("第{number}件")), "{answer}");
            assert_eq!(answer["title"], format!("关于第{number}件示例工作的通知"));
            assert_eq!(answer["provenance"]["published"]["engine"], "page");
        }
    }
    assert_eq!(run.stderr, "", "a pipeline's log stays clean");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_reader_that_leaves_ends_the_run_without_a_word() {
    let stage = Stage::new().await;
    let mut partner = Partner::of(&stage);
    let line = json!({"id": 1, "html": page(1)}).to_string();
    partner.ask(line.as_bytes()).await;
    let Partner { mut child, mut questions, answers } = partner;
    drop(answers);
    // The program may be gone before all of it is written.
    for _ in 0..50 {
        if questions.write_all(format!("{line}\n").as_bytes()).await.is_err() {
            break;
        }
    }
    let _ = questions.shutdown().await;
    drop(questions);
    let status = child.wait().await.unwrap();
    let mut said = String::new();
    child.stderr.take().unwrap().read_to_string(&mut said).await.unwrap();
    assert_eq!((status.code(), said.as_str()), (Some(0), ""));
}
