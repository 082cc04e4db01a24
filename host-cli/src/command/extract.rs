//! `dibao extract --jsonl`: pages in, articles out, one line each.
//!
//! For pipelines and benchmarks: one process, answers in the order of the questions, each flushed. A bad line is answered with what is wrong
//! with it and its id where that can be read, and does not end the run.

use std::io::{BufRead, Write};

use clap::Args;
use dibao::Timestamp;
use dibao::extract::{self, Options, PageArticle};
use serde::{Deserialize, Deserializer, Serialize};
use serde_json::Value;

use crate::exit::{Exit, Usage};
use crate::open::OpenArgs;
use crate::output::json_line;

#[derive(Args)]
pub struct ExtractArgs {
    /// Read lines {"id","html","url"} from standard input and write {"id","title","text","date","source",
    /// "author","attachments","provenance"} for each in its order; `date` is the day of publication as its readers
    /// see it, YYYY-MM-DD; `provenance` has a `cut` where a page has so much markup that some was left out. A line that
    /// cannot be read is answered with {"id","error"}, an empty one is passed over
    #[arg(long, required = true)]
    jsonl: bool,
}

/// Bytes of one line. A page of 5 MB has at most 30 MB as JSON.
const LONGEST: usize = 64 << 20;
/// Where the id of a line that is too long is looked for.
const ID_WITHIN: usize = 64 << 10;

#[derive(Deserialize)]
struct Question {
    #[serde(default)]
    id: Value,
    html: Page,
    #[serde(default)]
    url: Option<String>,
}

/// A page in a line. Programs that read bytes leniently escape what was no text as half a surrogate pair: that becomes U+FFFD, and the page stays.
struct Page(String);

impl<'de> Deserialize<'de> for Page {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Page, D::Error> {
        struct Text;
        impl serde::de::Visitor<'_> for Text {
            type Value = Page;

            fn expecting(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                f.write_str("a page as a string")
            }

            fn visit_bytes<E>(self, bytes: &[u8]) -> Result<Page, E> {
                Ok(Page(String::from_utf8_lossy(bytes).into_owned()))
            }
        }
        from.deserialize_bytes(Text)
    }
}

#[derive(Serialize)]
struct Answer<'a> {
    id: &'a Value,
    title: Option<&'a str>,
    text: &'a str,
    date: Option<&'a str>,
    source: Option<&'a str>,
    author: Option<&'a str>,
    attachments: Vec<Attachment<'a>>,
    provenance: &'a std::collections::BTreeMap<String, extract::Proof>,
}

#[derive(Serialize)]
pub struct Attachment<'a> {
    url: &'a str,
    name: Option<&'a str>,
}

#[derive(Serialize)]
struct Bad {
    id: Value,
    error: String,
}

pub async fn run(_open: &OpenArgs, args: ExtractArgs) -> anyhow::Result<Exit> {
    if !args.jsonl {
        return Err(Usage("say --jsonl".to_owned()).into());
    }
    tokio::task::spawn_blocking(|| answer_all(std::io::stdin().lock(), std::io::stdout().lock())).await?
}

fn answer_all(mut questions: impl BufRead, mut answers: impl Write) -> anyhow::Result<Exit> {
    let mut line = Vec::new();
    loop {
        line.clear();
        let read = std::io::Read::take(&mut questions, LONGEST as u64 + 1).read_until(b'\n', &mut line)?;
        if read == 0 {
            return Ok(Exit::Ok);
        }
        let answer = if line.len() > LONGEST && !line.ends_with(b"\n") {
            skip_line(&mut questions)?;
            bad(first_fields(&line[..ID_WITHIN]), format!("the line is longer than {LONGEST} bytes"))?
        } else if line.iter().all(u8::is_ascii_whitespace) {
            continue;
        } else {
            answer(&line)?
        };
        answers.write_all(answer.as_bytes())?;
        answers.flush()?;
    }
}

fn answer(line: &[u8]) -> anyhow::Result<String> {
    // Some editors begin a file so.
    let line = line.strip_prefix(b"\xef\xbb\xbf").unwrap_or(line);
    let read = match std::str::from_utf8(line) {
        Ok(text) => serde_json::from_str::<Question>(text)
            .map_err(|error| format!("not a line {{\"id\",\"html\",\"url\"}}: {error}")),
        Err(error) => Err(format!("the line is not UTF-8 at byte {}", error.valid_up_to() + 1)),
    };
    let question = match read {
        Ok(question) => question,
        Err(error) => return bad(id_of(line), error),
    };
    // Text is UTF-8 already, whatever the page says of itself.
    let mut options = Options::at(now());
    options.content_type = Some("text/html; charset=utf-8".to_owned());
    let article =
        extract::page(question.html.0.as_bytes(), question.url.as_deref().unwrap_or_default(), &options);
    json_line(&Answer {
        id: &question.id,
        title: article.title.as_deref(),
        text: &article.text,
        date: article.published.as_ref().map(|published| published.date.as_str()),
        source: article.source.as_deref(),
        author: article.author.as_deref(),
        attachments: attachments(&article),
        provenance: &article.provenance,
    })
}

/// The files of an article, for JSON.
pub fn attachments(article: &PageArticle) -> Vec<Attachment<'_>> {
    article
        .attachments
        .iter()
        .map(|(url, name)| Attachment { url: url.as_str(), name: name.as_deref() })
        .collect()
}

/// The moment, for dates that lie ahead and for relative ones.
pub fn now() -> Timestamp {
    let since = std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH).unwrap_or_default();
    Timestamp(i64::try_from(since.as_millis()).unwrap_or(i64::MAX))
}

/// The id of a line that cannot be read otherwise.
fn id_of(line: &[u8]) -> Value {
    let text = String::from_utf8_lossy(line);
    match serde_json::from_str::<Value>(&text) {
        Ok(Value::Object(mut map)) => map.remove("id").unwrap_or_default(),
        Ok(_) => Value::Null,
        Err(_) => first_fields(text.as_bytes()),
    }
}

/// The id of a line that breaks off: its fields are read one by one as far as they go.
fn first_fields(line: &[u8]) -> Value {
    let Some(mut rest) = line.trim_ascii_start().strip_prefix(b"{") else { return Value::Null };
    loop {
        let Some((Value::String(name), behind)) = first_value(rest) else { return Value::Null };
        let Some(behind) = behind.trim_ascii_start().strip_prefix(b":") else { return Value::Null };
        let Some((value, behind)) = first_value(behind) else { return Value::Null };
        if name == "id" {
            return value;
        }
        let Some(behind) = behind.trim_ascii_start().strip_prefix(b",") else { return Value::Null };
        rest = behind;
    }
}

fn first_value(text: &[u8]) -> Option<(Value, &[u8])> {
    let mut values = serde_json::Deserializer::from_slice(text).into_iter::<Value>();
    let value = values.next()?.ok()?;
    Some((value, &text[values.byte_offset()..]))
}

fn bad(id: Value, error: String) -> anyhow::Result<String> {
    json_line(&Bad { id, error })
}

fn skip_line(from: &mut impl BufRead) -> std::io::Result<()> {
    loop {
        let buffer = from.fill_buf()?;
        if buffer.is_empty() {
            return Ok(());
        }
        let end = buffer.iter().position(|b| *b == b'\n');
        let used = end.map_or(buffer.len(), |end| end + 1);
        from.consume(used);
        if end.is_some() {
            return Ok(());
        }
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn answers(questions: &str) -> Vec<Value> {
        let mut out = Vec::new();
        answer_all(questions.as_bytes(), &mut out).unwrap();
        String::from_utf8(out).unwrap().lines().map(|line| serde_json::from_str(line).unwrap()).collect()
    }

    #[test]
    fn each_line_is_answered_in_order_and_a_bad_one_does_not_end_the_run() {
        let page = "<title>关于示例的通知_某市人民政府</title><h1>关于示例的通知</h1><p>来源：某市人民政府 2026-04-10</p>\
            <div id=zoom><p>各县区人民政府：为了做好示例工作，现将有关事项通知如下。</p><p><a href=/f.pdf>附件.pdf</a></p></div>";
        let good = serde_json::json!({"id": 1, "html": page, "url": "https://x.gov.cn/a.html"});
        let lines =
            format!("{good}\nnot json\n\n{{\"id\":\"b\"}}\n{}\n", serde_json::json!({"id": "c", "html": ""}));
        let out = answers(&lines);
        assert_eq!(out.len(), 4);
        assert_eq!(
            (&out[0]["id"], &out[0]["title"]),
            (&serde_json::json!(1), &serde_json::json!("关于示例的通知"))
        );
        assert_eq!(out[0]["date"], "2026-04-10");
        assert_eq!(out[0]["source"], "某市人民政府");
        assert_eq!(out[0]["attachments"][0]["url"], "https://x.gov.cn/f.pdf");
        assert_eq!(out[0]["provenance"]["content"]["engine"], "generic");
        assert!(out[0]["text"].as_str().unwrap().starts_with("各县区人民政府"));
        assert!(out[1]["error"].as_str().unwrap().contains("not a line") && out[1]["id"].is_null());
        assert!(out[2]["error"].as_str().unwrap().contains("html") && out[2]["id"] == "b");
        assert_eq!((&out[3]["id"], &out[3]["text"]), (&serde_json::json!("c"), &serde_json::json!("")));
    }

    #[test]
    fn a_line_that_cannot_be_read_is_answered_with_its_id_where_that_is_known() {
        for (line, id, words) in [
            (&b"{\"id\":\"a\",\"html\":\"<p>\xff</p>\"}"[..], json!("a"), "not UTF-8 at byte 22"),
            (b"{\"url\":\"x\",\"id\":[7],\"html\":\"<p", json!([7]), "EOF"),
            (b"{\"id\":5,\"id\":6,\"html\":\"\"}", json!(6), "duplicate"),
            (b"{\"html\":\"<p\",\"id\":", Value::Null, "EOF"),
            (b"{\"id\":\"a\",\"html\":null}", json!("a"), "a page as a string"),
            (b"{\"id\":\"a\",\"html\":\"\"} {}", json!("a"), "trailing"),
            (b"[1]", Value::Null, "not a line"),
            (b"\"a\"", Value::Null, "not a line"),
            (b"{", Value::Null, "EOF"),
        ] {
            let out: Value = serde_json::from_str(&answer(line).unwrap()).unwrap();
            assert_eq!(out["id"], id, "{}", String::from_utf8_lossy(line));
            assert!(out["error"].as_str().is_some_and(|error| error.contains(words)), "{out}");
        }
    }

    #[test]
    fn a_page_that_lost_markup_says_so_and_keeps_its_text() {
        let page =
            format!("{}<p>各县区人民政府：为了做好示例工作，现将有关事项通知如下。</p>", "<div>".repeat(600));
        let out = answers(&json!({"id": 1, "html": page}).to_string());
        assert!(out[0]["provenance"]["cut"].to_string().contains("above each other"), "{}", out[0]);
        assert!(out[0]["text"].as_str().unwrap().contains("现将有关事项通知如下"), "{}", out[0]);
        assert!(answers(r#"{"id":1,"html":"<p>x</p>"}"#)[0]["provenance"].get("cut").is_none());
    }

    #[test]
    fn half_a_surrogate_pair_costs_that_character_and_not_the_page() {
        let out = answers(
            "\u{feff}{\"id\":1,\"html\":\"<div id=zoom><p>各地要认真组织\\ud800实施，确保取得实效。</p></div>\"}",
        );
        let text = out[0]["text"].as_str().unwrap();
        assert!(
            text.starts_with("各地要认真组织\u{fffd}") && text.ends_with("实施，确保取得实效。"),
            "{text}"
        );
    }

    #[test]
    fn every_beginning_of_a_line_is_answered_by_one_line() {
        let line = "{\"url\":null,\"id\":{\"a\":[1,\"中\\n\"]},\"html\":\"<p>\\ud83d\\ude00</p>\"}";
        for end in 1..=line.len() {
            let out = answer(&line.as_bytes()[..end]).unwrap();
            assert!(out.ends_with('\n') && out.matches('\n').count() == 1, "{out}");
            let out: Value = serde_json::from_str(&out).unwrap();
            assert_eq!(out["id"].is_object(), end > 33, "{end}: {out}");
            assert_eq!(out["error"].is_null(), end == line.len(), "{end}: {out}");
        }
    }
}
