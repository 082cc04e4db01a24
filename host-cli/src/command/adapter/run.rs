//! `dibao adapter run`: one list page and its first documents through the gate, turn by turn. Stores nothing.

use std::io::Write;

use clap::Args;
use dibao::adapter::contract::{Article, Body, Entry, Failure, Method, Request};
use dibao::adapter::fixture::Ending;
use dibao::adapter::{Adapter, Cost, LogLine};
use dibao::crawl::{Trial, TrialEvent};
use serde_json::json;
use url::Url;

use super::author::{Subject, TrialArgs};
use crate::exit::Exit;
use crate::open::OpenArgs;
use crate::output::{is_for_people, json_line, printable, short};

/// Rows of a list that are shown to people; programs get all.
const SHOWN_ROWS: usize = 10;
/// Characters of a value that are shown to people.
const SHOWN_CHARS: usize = 200;

#[derive(Args)]
pub struct RunArgs {
    #[command(flatten)]
    trial: TrialArgs,
}

pub async fn run(open: &OpenArgs, args: RunArgs) -> anyhow::Result<Exit> {
    let subject = Subject::find(&args.trial.adapter)?;
    let (_, steps) = steps(open, &args.trial, &subject, true).await?;
    let endings = steps.iter().filter_map(|step| step.case.expected.as_ref());
    let failed = endings.filter(|expected| matches!(expected.ending, Ending::Failure(_))).count();
    Ok(if failed == 0 { Exit::Ok } else { Exit::Server })
}

/// The list and the documents that are asked for, and the adapter that read them.
pub async fn steps(
    open: &OpenArgs,
    args: &TrialArgs,
    subject: &Subject,
    tell: bool,
) -> anyhow::Result<(Adapter, Vec<Trial>)> {
    let stage = args.open(open, subject).await?;
    let mut steps = Vec::new();
    // What cannot be written must not be silent, and a closure has no way out.
    let mut trouble = None;
    let mut watch = |step: &str, event: TrialEvent<'_>| {
        if tell && let Err(error) = say(step, &event) {
            trouble.get_or_insert(error);
        }
    };
    let entries = if args.document {
        let url = args.address()?.to_string();
        vec![Entry {
            url,
            title: String::new(),
            published: None,
            native_id: None,
            pinned: false,
            fields: vec![],
        }]
    } else {
        let list = stage.trial.list(args.cursor.clone(), &mut |event| watch("list", event)).await?;
        let entries = list.entries.iter().take(args.documents).cloned().collect();
        steps.push(list);
        entries
    };
    for (index, entry) in entries.into_iter().enumerate() {
        let name = format!("document {}", index + 1);
        steps.push(stage.trial.detail(entry, &mut |event| watch(&name, event)).await?);
    }
    match trouble {
        Some(error) => Err(error),
        None => Ok((stage.trial.adapter().clone(), steps)),
    }
}

fn say(step: &str, event: &TrialEvent<'_>) -> anyhow::Result<()> {
    let text = if is_for_people() { printable(&words(step, event)) } else { json_line(&facts(step, event))? };
    std::io::stdout().lock().write_all(text.as_bytes())?;
    Ok(())
}

/// For people.
fn words(step: &str, event: &TrialEvent<'_>) -> String {
    let mut out = String::new();
    let mut line = |text: String| {
        out.push_str(&text);
        out.push('\n');
    };
    match event {
        TrialEvent::Asked { turn, requests, log, cost } => {
            line(format!("{step}, turn {turn}{}", price(*cost)));
            for (request, url) in *requests {
                line(format!("  asks  {:<10} {}", request.tag, asked(request, url)));
            }
            log.iter().for_each(|entry| line(logged(entry)));
        }
        TrialEvent::Got { replies, .. } => {
            for reply in *replies {
                let kind = reply.headers.iter().find(|(name, _)| name == "content-type");
                let kind = kind.map_or("no content type", |(_, value)| value.as_str());
                line(format!(
                    "  gets  {:<10} {} {kind}, {} bytes, {}",
                    reply.tag,
                    reply.status,
                    reply.body.len(),
                    reply.url
                ));
            }
        }
        TrialEvent::Stale { turn, why } => {
            line(format!("{step}, turn {turn}"));
            line(format!("  stale: {why}; the session is dropped and the step begins again"));
        }
        TrialEvent::Ended { turn, ending, log, cost } => {
            line(format!("{step}, turn {turn}{}", price(*cost)));
            log.iter().for_each(|entry| line(logged(entry)));
            match ending {
                Ending::Page(page) => {
                    let next = page
                        .next
                        .as_ref()
                        .map_or("no further page".to_owned(), |next| format!("next page {next:?}"));
                    line(format!("  page  {} rows, {next}", page.entries.len()));
                    for entry in page.entries.iter().take(SHOWN_ROWS) {
                        let date = entry.published.as_deref().unwrap_or("no date");
                        line(format!("    {date:<16} {}", short(&entry.title, 60)));
                        line(format!("    {:<16} {}", "", short(&entry.url, SHOWN_CHARS)));
                    }
                    if page.entries.len() > SHOWN_ROWS {
                        line(format!("    … {} more", page.entries.len() - SHOWN_ROWS));
                    }
                }
                Ending::Article(article) => article_words(article).into_iter().for_each(&mut line),
                Ending::Failure(failure) => line(format!("  failure  {}", failure_words(failure))),
            }
        }
    }
    out
}

fn article_words(article: &Article) -> Vec<String> {
    let mut lines = vec!["  article".to_owned()];
    let mut field = |name: &str, value: &str, origin: &str| {
        lines.push(format!("    {name:<12} {}  ({origin})", short(value, SHOWN_CHARS)));
    };
    let parts = [("title", &article.title), ("published", &article.published), ("source", &article.source)];
    for (name, part) in parts {
        match part {
            Some(found) => field(name, &found.value, &found.origin),
            None => field(name, "–", "the host looks for it"),
        }
    }
    match &article.content {
        Some(Body::At(place)) => field("content", &place.css, &format!("read from reply {}", place.reply)),
        Some(Body::Html(found)) => {
            field("content", &format!("{} bytes of HTML", found.value.len()), &found.origin)
        }
        None => field("content", "–", "the host looks for it"),
    }
    for (name, found) in &article.fields {
        field(name, &found.value, &found.origin);
    }
    for file in &article.attachments {
        field("attachment", &file.url, file.name.as_deref().unwrap_or("without a name"));
    }
    lines
}

fn failure_words(failure: &Failure) -> String {
    match failure {
        Failure::Config(why) => format!("config: {why} (the target would be switched off)"),
        Failure::Shape(why) => format!("shape: {why} (the page would be kept as evidence)"),
        Failure::Refused(why) => format!("refused: {why} (the host would be left alone for a while)"),
        Failure::Stale(why) => format!("stale: {why} (twice in one step)"),
        Failure::Gone => "gone (recorded, not asked for again)".to_owned(),
    }
}

fn asked(request: &Request, url: &Url) -> String {
    let mut text = format!("{} {url}", method(request));
    for (name, value) in &request.headers {
        text.push_str(&format!("\n                   {name}: {}", short(value, SHOWN_CHARS)));
    }
    if let Some(body) = &request.body {
        text.push_str(&format!(
            "\n                   {}",
            short(&String::from_utf8_lossy(body), SHOWN_CHARS)
        ));
    }
    text
}

fn logged(line: &LogLine) -> String {
    format!("  log   {:?}: {}", line.level, line.message)
}

fn price(cost: Option<&Cost>) -> String {
    let Some(cost) = cost else { return String::new() };
    let mut text = format!("  (fuel {}", cost.fuel);
    if let Some((css, took)) = &cost.slowest {
        let (count, all) = (cost.selections, cost.host.as_micros());
        text.push_str(&format!(
            "; {count} selections {all} µs, the slowest {} µs: {}",
            took.as_micros(),
            short(css, 60)
        ));
    }
    text + ")"
}

/// For programs.
fn facts(step: &str, event: &TrialEvent<'_>) -> serde_json::Value {
    match event {
        TrialEvent::Asked { turn, requests, log, cost } => {
            let requests: Vec<_> = requests
                .iter()
                .map(|(request, url)| {
                    let body = request.body.as_ref().map(|body| String::from_utf8_lossy(body).into_owned());
                    json!({"tag": request.tag, "method": method(request), "url": url, "headers": request.headers, "body": body})
                })
                .collect();
            json!({"step": step, "turn": turn, "event": "asks", "requests": requests, "log": log, "cost": cost})
        }
        TrialEvent::Got { turn, replies } => {
            let reply = |reply: &dibao::adapter::contract::Reply| json!({"tag": reply.tag, "status": reply.status, "url": reply.url, "headers": reply.headers, "bytes": reply.body.len()});
            json!({"step": step, "turn": turn, "event": "gets", "replies": replies.iter().map(reply).collect::<Vec<_>>()})
        }
        TrialEvent::Stale { turn, why } => json!({"step": step, "turn": turn, "event": "stale", "why": why}),
        TrialEvent::Ended { turn, ending, log, cost } => {
            json!({"step": step, "turn": turn, "event": ending.kind(), "answer": ending, "log": log, "cost": cost})
        }
    }
}

fn method(request: &Request) -> &'static str {
    match request.method {
        Method::Get => "GET",
        Method::Head => "HEAD",
        Method::Post => "POST",
    }
}
