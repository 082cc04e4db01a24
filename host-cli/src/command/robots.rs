//! `dibao robots check`: may an agent fetch an address, and which rule says so.
//!
//! Exit codes: 0 when every address is allowed, 8 when one is denied ("turned us away"). With `--jsonl` a denial is
//! a result like any other: 0, or 9 when some lines could not be read.

use std::io::{self, BufRead, Read, Write};
use std::path::PathBuf;

use anyhow::Context;
use clap::{Args, Subcommand};
use dibao::fetch::robots::{MAX_BODY, Robots, RobotsVerdict};
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};
use url::Url;

use crate::exit::{Exit, Usage};
use crate::open::OpenArgs;
use crate::output::print_rows;

#[derive(Subcommand)]
pub enum RobotsCommand {
    /// Say whether addresses may be fetched, with the rule that decided
    ///
    /// Exits with 0 when all of them are allowed and with 8 when one is denied.
    Check(CheckArgs),
}

#[derive(Args)]
pub struct CheckArgs {
    /// The product token that groups name, or a whole User-Agent
    #[arg(long, value_name = "UA", default_value = "dibao")]
    agent: String,

    /// A robots.txt (`-` = standard input) [default: that of each address's host, asked through the gate]
    #[arg(long, value_name = "FILE")]
    file: Option<PathBuf>,

    /// Read {"id","robots","ua","url"} lines and write {"id","allow","rule"} lines
    ///
    /// Addresses are compared as they are written, as the published cases of Google's matcher want it: give them escaped. One
    /// with letters that are not ASCII is allowed only when its escaped form is allowed too. A line that cannot be read is
    /// answered with {"id","error"} and the next one is taken; the exit code is then 9.
    #[arg(long, conflicts_with_all = ["file", "urls", "agent"])]
    jsonl: bool,

    /// Web addresses
    #[arg(value_name = "URL", required_unless_present = "jsonl")]
    urls: Vec<String>,
}

pub async fn run(open: &OpenArgs, command: RobotsCommand) -> anyhow::Result<Exit> {
    let RobotsCommand::Check(args) = command;
    if args.jsonl {
        return answer_lines(io::stdin().lock(), io::stdout().lock());
    }
    let rows = match &args.file {
        Some(file) => {
            let robots = Robots::parse(&read(file)?);
            args.urls.iter().map(|url| row(&args.agent, url, |agent, url| robots.check(agent, url))).collect()
        }
        None => live(open, &args).await,
    }?;
    print_rows(&rows, &["address", "", "rule", "line", "group", "delay"], |row| {
        vec![
            row.url.clone(),
            if row.allow { "allow" } else { "deny" }.into(),
            row.rule.clone().unwrap_or_else(|| "no rule matches".into()),
            row.line.map_or(String::new(), |line| line.to_string()),
            row.group.clone().unwrap_or_default(),
            row.crawl_delay_sec.map_or(String::new(), |seconds| format!("{seconds} s")),
        ]
    })?;
    Ok(if rows.iter().all(|row| row.allow) { Exit::Ok } else { Exit::Server })
}

/// What is printed of a verdict.
#[derive(Serialize)]
struct Row {
    url: String,
    allow: bool,
    rule: Option<String>,
    line: Option<u32>,
    group: Option<String>,
    crawl_delay_sec: Option<f64>,
}

/// Asks the hosts themselves, through the gate.
async fn live(open: &OpenArgs, args: &CheckArgs) -> anyhow::Result<Vec<Row>> {
    let (_scratch, engine) = open.engine_to_ask().await?;
    let mut rows = Vec::new();
    for address in &args.urls {
        let url = web_address(address)?;
        let Some(standing) = engine.robots(&url).await? else {
            return Err(Usage(format!("{address:?} has no robots.txt; write https://…")).into());
        };
        let mut row = row(&args.agent, address, |agent, url| standing.check(agent, url))?;
        if row.rule.is_none() {
            row.rule = Some(format!("no rule matches ({})", standing.decision.reason));
        }
        rows.push(row);
    }
    Ok(rows)
}

fn web_address(address: &str) -> anyhow::Result<Url> {
    Url::parse(address).map_err(|error| Usage(format!("{address:?} is no web address: {error}")).into())
}

fn row(agent: &str, address: &str, check: impl FnOnce(&str, &Url) -> RobotsVerdict) -> anyhow::Result<Row> {
    let url = web_address(address)?;
    let RobotsVerdict { allow, rule, group, crawl_delay } = check(agent, &url);
    let (line, rule) = rule.map(|rule| (rule.line, rule.text)).unzip();
    Ok(Row {
        url: url.into(),
        allow,
        rule,
        line,
        group,
        crawl_delay_sec: crawl_delay.map(|delay| delay.as_secs_f64()),
    })
}

/// One byte more than counts, so that a longer file is known to be longer.
fn read(file: &PathBuf) -> anyhow::Result<Vec<u8>> {
    let mut body = Vec::new();
    let limit = MAX_BODY as u64 + 1;
    if file.as_os_str() == "-" {
        io::stdin().lock().take(limit).read_to_end(&mut body)?;
    } else {
        let open = std::fs::File::open(file).with_context(|| file.display().to_string())?;
        open.take(limit).read_to_end(&mut body).with_context(|| file.display().to_string())?;
    }
    Ok(body)
}

/// A robots.txt of full length takes up to six characters a byte in JSON.
const MAX_LINE: u64 = 4 << 20;

#[derive(Deserialize)]
struct Question {
    robots: String,
    ua: String,
    url: String,
}

fn answer_lines(mut input: impl BufRead, mut output: impl Write) -> anyhow::Result<Exit> {
    let mut exit = Exit::Ok;
    let mut line = Vec::new();
    // Lists of addresses of one site come with the same file in every line.
    let mut last: Option<(String, Robots)> = None;
    loop {
        line.clear();
        if (&mut input).take(MAX_LINE).read_until(b'\n', &mut line)? == 0 {
            break;
        }
        let answer = if line.len() as u64 == MAX_LINE && !line.ends_with(b"\n") {
            input.skip_until(b'\n')?;
            Err(json!({ "error": format!("the line is longer than {MAX_LINE} bytes") }))
        } else if line.trim_ascii().is_empty() {
            continue;
        } else {
            answer(&line, &mut last)
        };
        exit = if answer.is_err() { Exit::Partial } else { exit };
        let answer = answer.unwrap_or_else(|error| error);
        // Answered at once: whoever asks may want to read before asking on.
        writeln!(output, "{answer}")?;
        output.flush()?;
    }
    Ok(exit)
}

/// The answer to one line, or what is wrong with it.
fn answer(line: &[u8], last: &mut Option<(String, Robots)>) -> Result<Value, Value> {
    let mut value: Value =
        serde_json::from_slice(line).map_err(|error| json!({ "error": error.to_string() }))?;
    let id = value.get_mut("id").map(Value::take);
    let question: Question = serde_json::from_value(value).map_err(|error| {
        let error = error.to_string();
        match &id {
            Some(id) => json!({ "id": id, "error": error }),
            None => json!({ "error": error }),
        }
    })?;
    if last.as_ref().is_none_or(|(text, _)| *text != question.robots) {
        let robots = Robots::parse(question.robots.as_bytes());
        *last = Some((question.robots, robots));
    }
    let verdict = last.as_ref().map(|(_, robots)| {
        let written = robots.check_written(&question.ua, &question.url);
        // It goes out escaped, whatever was written: what forbids that forbids it.
        match written.allow && !question.url.is_ascii() {
            true => Some(robots.check_written(&question.ua, &escaped(&question.url)))
                .filter(|verdict| !verdict.allow)
                .unwrap_or(written),
            false => written,
        }
    });
    let (allow, rule) = verdict.map_or((true, None), |verdict| (verdict.allow, verdict.rule));
    Ok(json!({ "id": id, "allow": allow, "rule": rule.map(|rule| rule.text) }))
}

/// Letters that are not ASCII as they go over the wire; the rest as it is.
fn escaped(address: &str) -> String {
    let mut text = String::with_capacity(address.len() * 3);
    for byte in address.bytes() {
        match byte {
            0..0x80 => text.push(byte as char),
            _ => text.push_str(&format!("%{byte:02X}")),
        }
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    fn answers(input: &[u8]) -> (Vec<Value>, Exit) {
        let mut output = Vec::new();
        let exit = answer_lines(input, &mut output).unwrap();
        let lines = output.split(|&byte| byte == b'\n').filter(|line| !line.is_empty());
        (lines.map(|line| serde_json::from_slice(line).unwrap()).collect(), exit)
    }

    #[test]
    fn each_line_is_answered_in_its_turn_and_bad_ones_do_not_stop_the_rest() {
        let mut input =
            br#"{"id":1,"robots":"User-agent: *\nDisallow: /a # no","ua":"x","url":"https://e.cn/a"}
{"id":"b","robots":"User-agent: *\nDisallow: /a # no","ua":"x","url":"https://e.cn/b"}

not json
{"id":[3],"robots":"","ua":"x"}
{"robots":7}
{"robots":"","ua":"","url":"","more":1}
[]
"#
            .to_vec();
        input.extend(b"\xff\xfe\n");
        input.extend(vec![b' '; MAX_LINE as usize * 2 + 5]);
        input.extend(b"x\n{\"id\":9,\"robots\":\"\",\"ua\":\"\",\"url\":\"\"}");
        let (answers, exit) = answers(&input);
        assert_eq!(exit, Exit::Partial);
        assert_eq!(answers[0], json!({ "id": 1, "allow": false, "rule": "Disallow: /a" }));
        assert_eq!(answers[1], json!({ "id": "b", "allow": true, "rule": null }));
        assert!(answers[2]["error"].is_string() && answers[2].get("id").is_none());
        assert!(answers[3]["id"] == json!([3]) && answers[3]["error"].as_str().unwrap().contains("url"));
        assert!(answers[4]["error"].is_string());
        assert_eq!(answers[5], json!({ "id": null, "allow": true, "rule": null }));
        for bad in &answers[6..9] {
            assert!(bad["error"].is_string(), "{bad}");
        }
        assert_eq!(answers[9]["id"], 9);
        assert_eq!(answers.len(), 10);
    }

    #[test]
    fn denials_are_results_among_lines() {
        let line = br#"{"id":1,"robots":"User-agent: *\nDisallow: /","ua":"x","url":"https://e.cn/a"}"#;
        assert_eq!(answers(line).1, Exit::Ok);
        assert_eq!(answers(b"").1, Exit::Ok);
    }

    #[test]
    fn an_address_that_is_not_escaped_is_not_allowed_where_it_would_be_denied_on_the_wire() {
        let ask = |rule: &str, url: &str| {
            let robots = format!("User-agent: *\n{rule}");
            let line = json!({ "id": 1, "robots": robots, "ua": "x", "url": url }).to_string();
            answers(line.as_bytes()).0[0].clone()
        };
        let denied = json!({ "id": 1, "allow": false, "rule": "Disallow: /公报" });
        for url in ["https://e.cn/公报/1", "https://e.cn/%E5%85%AC%E6%8A%A5/1"] {
            assert_eq!(ask("Disallow: /公报", url), denied, "{url}");
        }
        // As Google's published cases have it: what only the escaped form allows is not allowed as written.
        let rules = "Disallow: /\nAllow: /foo/bar/ツ";
        assert_eq!(ask(rules, "http://foo.bar/foo/bar/ツ")["allow"], false);
        assert_eq!(ask(rules, "http://foo.bar/foo/bar/%E3%83%84")["allow"], true);
    }

    #[test]
    fn addresses_are_judged_as_the_gate_would_fetch_them() {
        let robots = Robots::parse("User-agent: *\nDisallow: /公报\nCrawl-delay: 1.5".as_bytes());
        let row = row("dibao/1", "https://e.cn/公报", |agent, url| robots.check(agent, url)).unwrap();
        assert_eq!((row.allow, row.line, row.crawl_delay_sec), (false, Some(2), Some(1.5)));
        assert!(super::row("dibao", "e.cn/a", |agent, url| robots.check(agent, url)).is_err());
    }
}
