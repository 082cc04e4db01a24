//! `dibao extract --jsonl`: pages in, articles out, one line each.
//!
//! For pipelines and benchmarks: one process, answers in the order of the questions, each flushed, and a bad line is answered and does not
//! end the run.

use std::io::{BufRead, Write};

use clap::Args;
use dibao::Timestamp;
use dibao::extract::{self, Options, PageArticle};
use serde::{Deserialize, Serialize};

use crate::exit::{Exit, Usage};
use crate::open::OpenArgs;
use crate::output::json_line;

#[derive(Args)]
pub struct ExtractArgs {
    /// Read lines {"id","html","url"} from standard input and write {"id","title","text","date","source",
    /// "author","attachments","provenance"}; `date` is the day of publication in China, YYYY-MM-DD
    #[arg(long, required = true)]
    jsonl: bool,
}

/// Bytes of one line. A page of 5 MB has at most 30 MB as JSON.
const LONGEST: usize = 64 << 20;

#[derive(Deserialize)]
struct Question {
    #[serde(default)]
    id: serde_json::Value,
    html: String,
    #[serde(default)]
    url: Option<String>,
}

#[derive(Serialize)]
struct Answer<'a> {
    id: &'a serde_json::Value,
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
    id: serde_json::Value,
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
            bad(serde_json::Value::Null, format!("the line is longer than {LONGEST} bytes"))?
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
    let question: Question = match serde_json::from_slice(line) {
        Ok(question) => question,
        Err(error) => {
            let id = serde_json::from_slice::<serde_json::Value>(line)
                .ok()
                .and_then(|value| value.get("id").cloned());
            return bad(id.unwrap_or_default(), format!("not a line {{\"id\",\"html\",\"url\"}}: {error}"));
        }
    };
    // Text is UTF-8 already, whatever the page says of itself.
    let mut options = Options::at(now());
    options.content_type = Some("text/html; charset=utf-8".to_owned());
    let article =
        extract::page(question.html.as_bytes(), question.url.as_deref().unwrap_or_default(), &options);
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

fn bad(id: serde_json::Value, error: String) -> anyhow::Result<String> {
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
    use super::*;

    fn answers(questions: &str) -> Vec<serde_json::Value> {
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
}
