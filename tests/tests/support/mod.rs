//! One column of a site file, asked natively and in the sandbox at once.

mod native;

use std::path::{Path, PathBuf};
use std::sync::{Arc, LazyLock};

use dibao::adapter::{Adapter, AdapterHost, Call, HostOptions, Registry, Step, TurnError, contract};
use dibao_adapter::{
    Article, Context, DetailStep, Entry, Failure, ListStep, Page, Reply, Request, detail_turn, list_turn,
};
use dibao_adapter_yaml_css::YamlCss;
use native::Native;
use serde_json::Value;

static ADAPTER: LazyLock<Adapter> = LazyLock::new(|| {
    let dir = root().join("target/adapters");
    let host = AdapterHost::new(HostOptions::default()).expect("a host");
    let registry = Registry::open(&dir).expect("run `cargo xtask adapters` first");
    registry.load(&host, "yaml-css").expect("run `cargo xtask adapters` first").adapter
});

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("..")
}

/// A saved page as the answer to a request.
pub fn reply(fixture: &str, status: u16) -> Reply {
    let body = std::fs::read(root().join("adapters/yaml-css/fixtures").join(fixture)).expect(fixture);
    let kind = if fixture.ends_with(".json") { "application/json" } else { "text/html" };
    Reply {
        tag: String::new(),
        status,
        url: "https://replied.gov.cn/page".into(),
        headers: vec![("content-type".into(), kind.into())],
        body,
    }
}

/// A page written in the test.
pub fn page(html: &str) -> Reply {
    Reply { body: html.as_bytes().to_vec(), ..reply("ndrc/stub.html", 200) }
}

/// One column and what its adapter remembers.
pub struct Column {
    config: Value,
    pub session: Vec<u8>,
}

impl Column {
    /// A column of a bundled site file.
    pub fn of(site: &str, column: &str) -> Column {
        let site = dibao::config::load_site(root().join(format!("sites/{site}.yaml"))).expect("a site file");
        let config = site.column_target(column).expect("a column").config;
        ADAPTER.check_config(&config).expect("settings that fit the adapter's schema");
        Column::with(config)
    }

    /// A column with these settings.
    pub fn with(config: Value) -> Column {
        Column { config, session: Vec::new() }
    }

    /// What is asked for first.
    pub fn first_request(&mut self, cursor: Option<&str>) -> Request {
        match self.list_step(cursor, Vec::new()).expect("a request") {
            ListStep::Fetch(mut requests) => requests.remove(0),
            ListStep::Done(page) => panic!("{page:?} without a reply"),
        }
    }

    /// A list page, from the answer to its request.
    pub fn list(&mut self, cursor: Option<&str>, reply: Reply) -> Result<Page, Failure> {
        match self.list_step(cursor, vec![Reply { tag: "list".into(), ..reply }])? {
            ListStep::Done(page) => Ok(page),
            ListStep::Fetch(requests) => panic!("{requests:?} after the reply"),
        }
    }

    /// A document, from the answer to its request.
    pub fn detail(&mut self, reply: Reply) -> Result<Article, Failure> {
        let entry = Entry::new("https://replied.gov.cn/page".into(), "列表标题".into());
        let replies = vec![Reply { tag: "page".into(), ..reply }];
        let native = detail_turn::<YamlCss>(&Native::new(&replies), self.context(), &entry, &replies);
        let call_entry = native::entry(&entry);
        let (sandboxed, _) = self.sandboxed(Call::Detail { entry: &call_entry }, &replies);
        same(&native.as_ref().map(|turn| &turn.step), &sandboxed);
        match native?.step {
            DetailStep::Done(article) => Ok(article),
            DetailStep::Fetch(requests) => panic!("{requests:?} after the reply"),
        }
    }

    fn list_step(&mut self, cursor: Option<&str>, replies: Vec<Reply>) -> Result<ListStep, Failure> {
        let native = list_turn::<YamlCss>(&Native::new(&replies), self.context(), cursor, &replies);
        let (sandboxed, session) = self.sandboxed(Call::List { cursor }, &replies);
        same(&native.as_ref().map(|turn| &turn.step), &sandboxed);
        let turn = native?;
        assert_eq!(Some(&turn.session), session.as_ref(), "the sessions");
        self.session.clone_from(&turn.session);
        Ok(turn.step)
    }

    fn context(&self) -> Context {
        Context {
            target: "demo__column".into(),
            base: "https://www.example.gov.cn".into(),
            config: self.config.to_string(),
            session: self.session.clone(),
            now: 1_775_800_000_000,
            seed: vec![7; 32],
        }
    }

    /// The same call in the sandbox, as words that can be compared.
    fn sandboxed(&self, call: Call<'_>, replies: &[Reply]) -> (String, Option<Vec<u8>>) {
        let Context { target, base, config, session, now, seed } = self.context();
        let context = contract::Context { target, base, config, session, now, seed };
        let replies = Arc::new(replies.iter().map(native::reply).collect());
        ADAPTER.turn(&context, call, replies, |turn, _| match turn {
            Ok(turn) => {
                let step = match turn.step {
                    Step::Fetch(requests) => format!("Fetch({requests:?})"),
                    Step::Page(page) => format!("Done({page:?})"),
                    Step::Article(article) => format!("Done({article:?})"),
                };
                (step, Some(turn.session))
            }
            Err(TurnError::Failure { failure, .. }) => (format!("{failure:?}"), None),
            Err(trap) => panic!("{trap}"),
        })
    }
}

/// Both sides write their records in the same way, field by field, in the contract's words.
fn same<T: std::fmt::Debug>(native: &Result<&T, &Failure>, sandboxed: &str) {
    let native = match native {
        Ok(step) => format!("{step:?}"),
        Err(failure) => format!("{failure:?}"),
    };
    let native = native.trim_start_matches("ListStep::").trim_start_matches("DetailStep::");
    assert_eq!(native, sandboxed, "natively (left) and in the sandbox (right)");
}
