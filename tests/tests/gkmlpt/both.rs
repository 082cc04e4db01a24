//! One target, asked natively and in the sandbox at once, turn after turn.

use std::fmt::Debug;
use std::path::{Path, PathBuf};
use std::sync::{Arc, LazyLock};
use std::time::Duration;

use dibao::adapter::{Adapter, AdapterHost, Call, HostOptions, Registry, Step, TurnError, contract};
use dibao_adapter::{
    Article, Context, DetailStep, Entry, Failure, ListStep, Page, Reply, Request, detail_turn, list_turn,
};
use dibao_adapter_gkmlpt::Gkmlpt;
use serde_json::Value;

use crate::native::{self, Native};

/// 2026-07-10 in China: the saved answers are from the days before.
pub const NOW: u64 = 1_783_670_400_000;
pub const BASE: &str = "https://www.example.gov.cn/dept";

pub static ADAPTER: LazyLock<Adapter> = LazyLock::new(|| {
    let mut options = HostOptions::default();
    // What is asked here is whether an answer fits into the sandbox, on a machine that may be busy.
    options.limits.deadline = Duration::from_secs(30);
    let host = AdapterHost::new(options).expect("a host");
    let registry = Registry::open(adapters()).expect("run `cargo xtask adapters` first");
    registry.load(&host, "gkmlpt").expect("run `cargo xtask adapters` first").adapter
});

pub fn adapters() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../target/adapters")
}

/// A saved answer.
pub fn saved(fixture: &str) -> Vec<u8> {
    let dir = Path::new(env!("CARGO_MANIFEST_DIR")).join("../adapters/gkmlpt/fixtures");
    std::fs::read(dir.join(fixture)).unwrap_or_else(|error| panic!("{fixture}: {error}"))
}

/// What comes back for a request.
pub fn reply(request: &Request, status: u16, body: Vec<u8>) -> Reply {
    let kind = if body.starts_with(b"<") { "text/html; charset=utf-8" } else { "application/json" };
    Reply {
        tag: request.tag.clone(),
        status,
        url: request.url.clone(),
        headers: vec![("content-type".into(), kind.into())],
        body,
    }
}

/// A target and what its adapter remembers.
pub struct Target {
    pub config: Value,
    pub session: Vec<u8>,
    /// What was asked for, in order.
    pub asked: Vec<String>,
}

impl Target {
    pub fn with(config: Value) -> Target {
        ADAPTER.check_config(&config).expect("settings that fit the schema");
        Target { config, session: Vec::new(), asked: Vec::new() }
    }

    /// A list page; the answers to the requests in order: status and fixture.
    pub fn list(&mut self, cursor: Option<&str>, answers: &[(u16, &str)]) -> Result<Page, Failure> {
        let mut answers = answers.iter();
        let mut replies = Vec::new();
        loop {
            let native = list_turn::<Gkmlpt>(&Native::new(&replies), self.context(), cursor, &replies);
            let (sandboxed, session) = self.sandboxed(Call::List { cursor }, &replies);
            same(&native.as_ref().map(|turn| &turn.step), &sandboxed);
            let turn = native?;
            assert_eq!(Some(&turn.session), session.as_ref(), "the sessions");
            self.session = turn.session;
            match turn.step {
                ListStep::Done(page) => {
                    assert_eq!(answers.next(), None, "an answer was not asked for");
                    return Ok(page);
                }
                ListStep::Fetch(requests) => replies = self.answer(requests, &mut answers),
            }
        }
    }

    /// A document.
    pub fn detail(&mut self, entry: &Entry, answers: &[(u16, &str)]) -> Result<Article, Failure> {
        let mut answers = answers.iter();
        let mut replies = Vec::new();
        loop {
            let native = detail_turn::<Gkmlpt>(&Native::new(&replies), self.context(), entry, &replies);
            let known = native::entry(entry);
            let (sandboxed, _) = self.sandboxed(Call::Detail { entry: &known }, &replies);
            same(&native.as_ref().map(|turn| &turn.step), &sandboxed);
            match native?.step {
                DetailStep::Done(article) => {
                    assert_eq!(answers.next(), None, "an answer was not asked for");
                    return Ok(article);
                }
                DetailStep::Fetch(requests) => replies = self.answer(requests, &mut answers),
            }
        }
    }

    fn answer(
        &mut self,
        requests: Vec<Request>,
        answers: &mut std::slice::Iter<'_, (u16, &str)>,
    ) -> Vec<Reply> {
        let answer = |request: &Request| {
            self.asked.push(request.url.clone());
            let (status, fixture) =
                answers.next().unwrap_or_else(|| panic!("{} was not expected", request.url));
            reply(request, *status, if fixture.is_empty() { Vec::new() } else { saved(fixture) })
        };
        requests.iter().map(answer).collect()
    }

    fn context(&self) -> Context {
        Context {
            target: "demo__column".into(),
            base: BASE.into(),
            config: self.config.to_string(),
            session: self.session.clone(),
            now: NOW,
            seed: vec![7; 32],
        }
    }

    /// The same call in the sandbox, as words that can be compared.
    pub fn sandboxed(&self, call: Call<'_>, replies: &[Reply]) -> (String, Option<Vec<u8>>) {
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
fn same<T: Debug>(native: &Result<&T, &Failure>, sandboxed: &str) {
    let native = match native {
        Ok(step) => format!("{step:?}"),
        Err(failure) => format!("{failure:?}"),
    };
    let native = native.trim_start_matches("ListStep::").trim_start_matches("DetailStep::");
    assert_eq!(native, sandboxed, "natively (left) and in the sandbox (right)");
}
