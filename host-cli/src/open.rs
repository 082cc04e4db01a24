//! The options that every command shares, and the engine they describe.

use std::path::PathBuf;
use std::time::Duration;

use anyhow::Context;
use clap::Args;
use dibao::adapter::Registry;
use dibao::clock::SystemClock;
use dibao::desk::Actor;
use dibao::fetch::robots::OnUnreachable;
use dibao::fetch::{Profile, Resolve};
use dibao::store::{Files, SqliteStore, database_path};
use dibao::{Clock, Desk, Engine, EngineBuilder};

use crate::browser::BrowserArgs;
use crate::exit::Usage;
use crate::output::note;

/// Where data and adapters are, and how hosts are reached.
#[derive(Args)]
#[command(next_help_heading = "Where data and adapters are, how hosts are reached")]
pub struct OpenArgs {
    /// Directory of database and files
    #[arg(
        long,
        short = 'd',
        global = true,
        env = "DIBAO_DATA",
        default_value = "dibao-data",
        value_name = "DIR"
    )]
    pub data: PathBuf,

    /// Somebody named the directory: an option, a variable or the settings file.
    #[arg(skip)]
    pub data_is_named: bool,

    /// Directory of adapters with adapters.lock [default: DATA/adapters, then adapters beside the program]
    #[arg(long, global = true, env = "DIBAO_ADAPTERS", value_name = "DIR")]
    pub adapters: Option<PathBuf>,

    /// Reach a host at this address, as `curl --resolve` does (`HOST[:PORT]=ADDR:PORT`)
    #[arg(long, global = true, value_name = "HOST=ADDR:PORT")]
    pub resolve: Vec<Resolve>,

    /// Trust the certificates in this PEM file too
    #[arg(long, global = true, value_name = "FILE")]
    pub cacert: Vec<PathBuf>,

    /// Let requests reach loopback addresses (development only)
    #[arg(long, global = true)]
    pub allow_loopback: bool,

    /// Load adapter files that change at once, pinned or not (development only)
    #[arg(long, global = true)]
    pub dev: bool,

    /// Seconds between requests to a host, whatever sites say (for servers of your own)
    #[arg(long, global = true, value_name = "SECONDS", value_parser = seconds)]
    pub interval: Option<Duration>,

    /// Limits for sites that say nothing: polite (one at a time, 5 s apart) or fast [default: polite]
    #[arg(long, global = true, value_name = "NAME")]
    pub profile: Option<Profile>,

    /// How you are reached, told to every host: a mail address or a web address
    #[arg(long, global = true, env = "DIBAO_CONTACT", value_name = "ADDRESS")]
    pub contact: Option<String>,

    /// What requests call themselves, in place of `dibao/VERSION (CONTACT)`
    #[arg(long, global = true, value_name = "TEXT")]
    pub user_agent: Option<String>,

    /// What is done about a host whose robots.txt cannot be read and of which there is no copy: allow or deny
    #[arg(long, global = true, value_name = "WORD", default_value = "allow", value_parser = on_unreachable)]
    pub robots_on_unreachable: OnUnreachable,

    #[command(flatten)]
    browser: BrowserArgs,
}

/// A number of seconds from the command line.
pub fn seconds(text: &str) -> Result<Duration, String> {
    let number = text.parse().ok().and_then(|number| Duration::try_from_secs_f64(number).ok());
    number.ok_or_else(|| "write a number of seconds, 0 or more, for example 0.5".to_string())
}

fn on_unreachable(text: &str) -> Result<OnUnreachable, String> {
    match text {
        "allow" => Ok(OnUnreachable::Allow),
        "deny" => Ok(OnUnreachable::Deny),
        _ => Err("write allow or deny".to_string()),
    }
}

/// Whoever is at this terminal: what he changes is in the audit under that name.
pub fn actor() -> Actor {
    let names = ["SUDO_USER", "USER", "LOGNAME"].into_iter();
    let name = names.filter_map(|name| std::env::var(name).ok()).find(|name| !name.trim().is_empty());
    Actor::new(name.unwrap_or_else(|| "operator".to_string()), "cli")
}

/// A change that needs no engine, with its row in the audit.
pub async fn audited<T, E: std::fmt::Display + Into<anyhow::Error>>(
    store: &SqliteStore,
    action: &'static str,
    subject: &str,
    detail: serde_json::Value,
    work: impl Future<Output = Result<T, E>>,
) -> anyhow::Result<T> {
    let done = work.await;
    let (outcome, detail) = match &done {
        Ok(_) => ("ok", detail),
        Err(error) => ("refused", serde_json::json!({ "why": error.to_string() })),
    };
    store.note_change(SystemClock.now(), actor(), action, subject, outcome, detail).await?;
    done.map_err(Into::into)
}

impl OpenArgs {
    /// Opens everything.
    pub async fn engine(&self) -> anyhow::Result<Engine> {
        self.engine_in(self.data.clone()).await
    }

    /// What operators do, done by whoever is at this terminal: it is in the audit under that name.
    pub async fn desk(&self) -> anyhow::Result<Desk> {
        self.must_exist()?;
        Ok(self.engine().await?.desk(actor()))
    }

    /// For requests by hand: the engine on the data directory if somebody named it or something is stored there, else on
    /// one that is thrown away. Pace, breaker and robots.txt of hosts are kept where they were asked to be.
    pub async fn engine_to_ask(&self) -> anyhow::Result<(Option<tempfile::TempDir>, Engine)> {
        match self.data_is_named {
            true => Ok((None, self.engine().await?)),
            false => self.engine_or_scratch().await,
        }
    }

    /// The engine on the data directory, or on one that is thrown away when nothing was stored yet.
    pub async fn engine_or_scratch(&self) -> anyhow::Result<(Option<tempfile::TempDir>, Engine)> {
        if database_path(&self.data).exists() {
            return Ok((None, self.engine().await?));
        }
        let scratch = tempfile::tempdir()?;
        let engine = self.engine_in(scratch.path().to_path_buf()).await?;
        Ok((Some(scratch), engine))
    }

    /// The same with another data directory.
    pub async fn engine_in(&self, data: PathBuf) -> anyhow::Result<Engine> {
        Ok(self.builder_in(data)?.build().await?)
    }

    /// The same, not opened yet.
    pub fn builder_in(&self, data: PathBuf) -> anyhow::Result<EngineBuilder> {
        let mut builder = Engine::builder()
            .data_dir(data)
            .allow_loopback(self.allow_loopback)
            .interval(self.interval)
            .robots_on_unreachable(self.robots_on_unreachable)
            .development(self.dev);
        if let Some(profile) = self.profile {
            builder = builder.profile(profile);
        }
        if let Some(contact) = self.contact.as_deref().filter(|contact| !contact.trim().is_empty()) {
            builder = builder.contact(contact);
        }
        if let Some(agent) = self.user_agent.clone().filter(|agent| !agent.trim().is_empty()) {
            builder = builder.gate(|gate| gate.user_agent = agent);
        }
        if let Some(dir) = self.adapter_dir() {
            builder = builder.adapters(dir);
        }
        for rule in &self.resolve {
            builder = builder.resolve_rule(rule.clone());
        }
        for file in &self.cacert {
            let pem =
                std::fs::read_to_string(file).with_context(|| format!("--cacert {}", file.display()))?;
            builder = builder.root_certificate(pem);
        }
        Ok(self.browser.add_to(builder))
    }

    /// A word to whoever starts what will ask hosts for months: they should know whom to ask.
    pub fn note_missing_contact(&self) {
        let given = |text: &Option<String>| text.as_deref().is_some_and(|text| !text.trim().is_empty());
        if !given(&self.contact) && !given(&self.user_agent) {
            note(
                "dibao: hosts are not told how to reach you; `--contact ADDRESS` or DIBAO_CONTACT tells them",
            );
        }
    }

    /// An error unless something was stored here before: a mistyped directory must not look like an empty one.
    pub fn must_exist(&self) -> anyhow::Result<()> {
        if database_path(&self.data).exists() {
            return Ok(());
        }
        let message = format!(
            "nothing is stored in {} yet; name another directory with --data or DIBAO_DATA, or begin with `dibao site import FILE` or `dibao crawl FILE`",
            self.data.display()
        );
        Err(Usage(message).into())
    }

    /// Only the store: for commands that need no adapter and no network.
    pub fn store(&self) -> anyhow::Result<SqliteStore> {
        self.must_exist()?;
        let files = Files::open(&self.data, Default::default())?;
        Ok(SqliteStore::open(files)?)
    }

    /// Only the adapters.
    pub fn registry(&self) -> anyhow::Result<Registry> {
        let dir = self.adapter_home();
        if !dir.is_dir() {
            let message = format!(
                "there is no directory of adapters at {}; name one with --adapters or DIBAO_ADAPTERS, or begin one with `dibao adapter pin FILE.wasm`",
                dir.display()
            );
            return Err(Usage(message).into());
        }
        Ok(Registry::open(dir)?)
    }

    /// Where adapters are, or would be.
    pub fn adapter_home(&self) -> PathBuf {
        self.adapter_dir().unwrap_or_else(|| self.data.join("adapters"))
    }

    /// The named directory, or the first of the usual places that exists.
    fn adapter_dir(&self) -> Option<PathBuf> {
        self.adapters.clone().or_else(|| {
            let program = std::env::current_exe().unwrap_or_default();
            // Beside the program as it is installed, and one above it as cargo builds it.
            let near = program.ancestors().skip(1).take(2).map(|dir| dir.join("adapters"));
            std::iter::once(self.data.join("adapters")).chain(near).find(|dir| dir.is_dir())
        })
    }
}
