//! `dibao parse PAGE --adapter NAME`: what an adapter makes of a page that is at hand. Nothing is asked of any site: whatever the
//! adapter asks for first is answered with the page, and one that asks for more is told of.

use std::path::Path;
use std::sync::Arc;

use anyhow::Context;
use clap::Args;
use dibao::adapter::contract::{self, Article, Body, Entry, Failure, Reply};
use dibao::adapter::fixture::Ending;
use dibao::adapter::{Adapter, AdapterHost, Call, HostOptions, LogLine, MAX_TURNS, Step, TurnError};
use serde_json::{Map, Value, json};
use url::Url;

use super::super::adapter::author::{Subject, compiled};
use crate::exit::{Exit, Usage};
use crate::open::OpenArgs;
use crate::output::{complain, is_for_people, json_line, note, print_rows};

/// Where a page is from when nobody says.
const SOMEWHERE: &str = "https://page.invalid/";

#[derive(Args)]
#[command(next_help_heading = "Read it with an adapter")]
pub struct AdapterArgs {
    /// Adapter that reads the page as a list: its name, a .wasm file or a project
    #[arg(long, value_name = "NAME")]
    pub adapter: Option<String>,

    /// Settings of the adapter as JSON, beside `list_url`
    #[arg(long, value_name = "JSON", requires = "adapter")]
    settings: Option<String>,

    /// The page is a document, not a list
    #[arg(long, requires = "adapter")]
    document: bool,
}

/// A page that is at hand.
pub struct Page {
    pub bytes: Vec<u8>,
    /// Empty when nobody knows.
    pub url: String,
    pub content_type: Option<String>,
}

/// Whether a page is a feed by its beginning: no reader of pages makes anything of one.
pub fn is_feed(bytes: &[u8]) -> bool {
    let head = String::from_utf8_lossy(&bytes[..bytes.len().min(4096)]).to_ascii_lowercase();
    let mut rest = head.trim_start_matches('\u{feff}').trim_start();
    // Declarations and comments come before the root.
    while rest.starts_with("<?") || rest.starts_with("<!") {
        let end = if rest.starts_with("<!--") { "-->" } else { ">" };
        let Some(at) = rest.find(end) else { return false };
        rest = rest[at + end.len()..].trim_start();
    }
    let root = |name: &str| {
        rest.strip_prefix(name)
            .is_some_and(|behind| behind.starts_with(|c: char| c == '>' || c.is_whitespace()))
    };
    root("<rss")
        || root("<feed")
        || root("<rdf:rdf")
        || rest.starts_with('{') && rest.contains("jsonfeed.org/version/")
}

/// Reads the page with the adapter called `name`.
pub fn run(open: &OpenArgs, args: &AdapterArgs, name: &str, page: Page) -> anyhow::Result<Exit> {
    let adapter = load(open, name)?;
    let url = if page.url.is_empty() { SOMEWHERE.to_owned() } else { page.url.clone() };
    let config = settings(args, &adapter, &url)?;
    let mut context = contract::Context {
        target: "parse__page".to_owned(),
        base: Url::parse(&url)?.origin().ascii_serialization(),
        config: config.to_string(),
        session: Vec::new(),
        now: u64::try_from(super::super::extract::now().0).unwrap_or_default(),
        seed: vec![0; 32],
    };
    let entry = Entry {
        url: url.clone(),
        title: String::new(),
        published: None,
        native_id: None,
        pinned: false,
        fields: vec![],
    };
    let mut replies: Arc<Vec<Reply>> = Arc::default();
    let mut given = false;
    for _ in 0..MAX_TURNS {
        let call = if args.document { Call::Detail { entry: &entry } } else { Call::List { cursor: None } };
        let turn = match adapter.turn(&context, call, Arc::clone(&replies), |turn, _| turn) {
            Ok(turn) => turn,
            Err(TurnError::Failure { failure, log, .. }) => {
                tell(&log);
                return show_failure(failure);
            }
            Err(trap) => {
                complain(&trap);
                return Ok(Exit::Adapter);
            }
        };
        tell(&turn.log);
        context.session = turn.session;
        match turn.step {
            Step::Page(list) => {
                note(format_args!("{} rows", list.entries.len()));
                print_rows(&list.entries, &["published", "title", "url"], |row| {
                    vec![row.published.clone().unwrap_or_default(), row.title.clone(), row.url.clone()]
                })?;
                return Ok(Exit::Ok);
            }
            Step::Article(article) => return show_article(article),
            Step::Fetch(requests) => {
                let [request] = &requests[..] else { return more(name, &requests) };
                if given {
                    return more(name, &requests);
                }
                given = true;
                let kind = page.content_type.iter().map(|kind| ("content-type".to_owned(), kind.clone()));
                replies = Arc::new(vec![Reply {
                    tag: request.tag.clone(),
                    status: 200,
                    url: url.clone(),
                    headers: kind.collect(),
                    body: page.bytes.clone(),
                }]);
            }
        }
    }
    complain(anyhow::anyhow!("the adapter was not done after {MAX_TURNS} turns"));
    Ok(Exit::Adapter)
}

/// A file or a project, or one of the directory of adapters.
fn load(open: &OpenArgs, name: &str) -> anyhow::Result<Adapter> {
    let path = Path::new(name);
    if path.extension().is_some_and(|ending| ending == "wasm") || path.is_dir() {
        return Subject::find(path)?.load();
    }
    let options = HostOptions { cache_dir: Some(compiled()), ..HostOptions::default() };
    Ok(open.registry()?.load(&AdapterHost::new(options)?, name)?.adapter)
}

fn settings(args: &AdapterArgs, adapter: &Adapter, url: &str) -> anyhow::Result<Value> {
    let mut settings: Map<String, Value> = match &args.settings {
        None => Map::new(),
        Some(text) => serde_json::from_str(text).map_err(|error| {
            Usage(format!("--settings is no JSON object ({error}); write {{\"key\": …}}"))
        })?,
    };
    // Most adapters have this setting; one that has not must not be given it.
    let schema: Value = serde_json::from_str(&adapter.about().config_schema).unwrap_or_default();
    if schema["properties"].get("list_url").is_some() {
        settings.entry("list_url").or_insert(json!(url));
    }
    let settings = Value::Object(settings);
    adapter.check_config(&settings).context("--settings")?;
    Ok(settings)
}

fn tell(log: &[LogLine]) {
    log.iter().for_each(|line| note(&line.message));
}

fn more(name: &str, requests: &[contract::Request]) -> anyhow::Result<Exit> {
    let asked: Vec<&str> = requests.iter().map(|request| request.url.as_str()).collect();
    complain(anyhow::anyhow!(
        "{name} wants more than this page: {}; `dibao adapter run` asks for it",
        asked.join(", ")
    ));
    Ok(Exit::Adapter)
}

fn show_failure(failure: Failure) -> anyhow::Result<Exit> {
    let (kind, why) = match failure {
        Failure::Config(why) => ("config", why),
        Failure::Shape(why) => ("shape", why),
        Failure::Refused(why) => ("refused", why),
        Failure::Stale(why) => ("stale", why),
        Failure::Gone => ("gone", "the document no longer exists".to_owned()),
    };
    complain(anyhow::anyhow!("{kind}: {why}"));
    Ok(if kind == "config" { Exit::Usage } else { Exit::Server })
}

fn show_article(article: Article) -> anyhow::Result<Exit> {
    if !is_for_people() {
        print!("{}", json_line(&Ending::Article(article))?);
        return Ok(Exit::Ok);
    }
    let mut rows: Vec<(String, String)> = Vec::new();
    for (name, found) in
        [("title", &article.title), ("published", &article.published), ("source", &article.source)]
    {
        rows.extend(found.iter().map(|found| (name.to_owned(), found.value.clone())));
    }
    rows.extend(article.content.iter().map(|body| {
        let words = match body {
            Body::Html(found) => found.value.clone(),
            Body::At(place) => place.css.clone(),
        };
        ("content".to_owned(), words)
    }));
    rows.extend(article.fields.iter().map(|(name, found)| (name.clone(), found.value.clone())));
    rows.extend(article.attachments.iter().map(|file| ("attachment".to_owned(), file.url.clone())));
    print_rows(&rows, &["field", "value"], |(name, value)| vec![name.clone(), value.clone()])?;
    Ok(Exit::Ok)
}
