//! One target of the adapter, asked natively and in the sandbox at once.

#[path = "../support/native.rs"]
mod native;

use std::path::{Path, PathBuf};
use std::sync::{Arc, LazyLock};

use dibao::adapter::{Adapter, AdapterHost, Call, HostOptions, Registry, Step, TurnError, contract};
use dibao_adapter::{
    Article, Context, DetailStep, Entry, Failure, ListStep, Page, Reply, Request, detail_turn, list_turn,
};
use dibao_adapter_gov_cn_policy::GovCnPolicy;
use native::Native;
use serde_json::Value;

static ADAPTER: LazyLock<Adapter> = LazyLock::new(|| {
    let host = AdapterHost::new(HostOptions::default()).expect("a host");
    let registry = Registry::open(root().join("target/adapters")).expect("run `cargo xtask adapters` first");
    // The spelling of the seed's site files.
    registry.load(&host, "gov_cn_policy").expect("run `cargo xtask adapters` first").adapter
});

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("..")
}

/// A saved answer under this tag.
pub fn reply(tag: &str, fixture: &str) -> Reply {
    let body = std::fs::read(root().join("adapters/gov-cn-policy/fixtures").join(fixture)).expect(fixture);
    Reply { body, ..answer(tag, 200, "") }
}

/// An answer with these words.
pub fn answer(tag: &str, status: u16, body: &str) -> Reply {
    Reply {
        tag: tag.into(),
        status,
        url: "https://sousuoht.www.gov.cn/athena/forward/X".into(),
        headers: vec![("content-type".into(), "application/json;charset=UTF-8".into())],
        body: body.as_bytes().to_vec(),
    }
}

/// A row of which only the address is known.
pub fn row() -> Entry {
    Entry::new("https://www.gov.cn/zhengce/content/202604/content_7000001.htm".into(), "列表标题".into())
}

/// Settings, session and seed of one target.
pub struct Target {
    config: Value,
    pub session: Vec<u8>,
    pub seed: u8,
}

impl Target {
    /// A target with these settings, which must fit the adapter's schema.
    pub fn with(config: Value) -> Target {
        ADAPTER.check_config(&config).expect("settings that fit the adapter's schema");
        Target { config, session: Vec::new(), seed: 7 }
    }

    /// What is asked for when these replies are in.
    pub fn asks(&mut self, cursor: Option<&str>, replies: Vec<Reply>) -> Request {
        match self.list_step(cursor, replies).expect("a request") {
            ListStep::Fetch(mut requests) => requests.remove(0),
            ListStep::Done(page) => panic!("{page:?} instead of a request"),
        }
    }

    /// The page that this answer makes.
    pub fn list(&mut self, cursor: Option<&str>, reply: Reply) -> Result<Page, Failure> {
        match self.list_step(cursor, vec![reply])? {
            ListStep::Done(page) => Ok(page),
            ListStep::Fetch(requests) => panic!("{requests:?} after the reply"),
        }
    }

    /// The document that this page makes.
    pub fn detail(&self, entry: &Entry, reply: Reply) -> Result<Article, Failure> {
        let replies = vec![Reply { url: entry.url.clone(), ..reply }];
        let native = detail_turn::<GovCnPolicy>(&Native::new(&replies), self.context(), entry, &replies);
        let call_entry = native::entry(entry);
        let (sandboxed, _) = self.sandboxed(Call::Detail { entry: &call_entry }, &replies);
        same(&native.as_ref().map(|turn| &turn.step), &sandboxed);
        match native?.step {
            DetailStep::Done(article) => Ok(article),
            DetailStep::Fetch(requests) => panic!("{requests:?} after the reply"),
        }
    }

    /// One turn of a list page.
    pub fn list_step(&mut self, cursor: Option<&str>, replies: Vec<Reply>) -> Result<ListStep, Failure> {
        let native = list_turn::<GovCnPolicy>(&Native::new(&replies), self.context(), cursor, &replies);
        let (sandboxed, session) = self.sandboxed(Call::List { cursor }, &replies);
        same(&native.as_ref().map(|turn| &turn.step), &sandboxed);
        let turn = native?;
        assert_eq!(Some(&turn.session), session.as_ref(), "the sessions");
        self.session.clone_from(&turn.session);
        Ok(turn.step)
    }

    fn context(&self) -> Context {
        Context {
            target: "policy__column".into(),
            base: "https://www.gov.cn".into(),
            config: self.config.to_string(),
            session: self.session.clone(),
            now: 1_775_800_000_000,
            seed: vec![self.seed; 32],
        }
    }

    /// The same call in the sandbox, as words that can be compared. A trap fails the test.
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

/// Both sides write their records in the same way, field by field, in the contract's words. The host cuts and cleans
/// the words of a failure; its kind is what counts.
fn same<T: std::fmt::Debug>(native: &Result<&T, &Failure>, sandboxed: &str) {
    let native = match native {
        Ok(step) => format!("{step:?}"),
        Err(failure) => {
            let kind = format!("{failure:?}").split('(').next().unwrap_or_default().to_owned();
            let kind = kind.trim_start_matches("Failure::").to_owned();
            let there = sandboxed.trim_start_matches("Failure::");
            assert!(there.starts_with(&kind), "{failure:?} natively, {sandboxed} in the sandbox");
            return;
        }
    };
    let native = native.trim_start_matches("ListStep::").trim_start_matches("DetailStep::");
    assert_eq!(native, sandboxed, "natively (left) and in the sandbox (right)");
}
