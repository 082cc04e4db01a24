//! What the commands for authors share: which component is meant, where it is compiled to, and the target it is tried on.

use std::path::{Path, PathBuf};

use anyhow::Context;
use clap::Args;
use dibao::adapter::{Adapter, AdapterHost, HostOptions};
use dibao::config::{load_site, parse_site};
use dibao::model::{Site, Target};
use dibao::store::database_path;
use dibao::{Engine, TrialRequest};
use serde_json::{Map, Value, json};
use url::Url;

use crate::exit::Usage;
use crate::open::OpenArgs;
use crate::output::note;

/// An adapter, as an author names it.
pub struct Subject {
    /// The component.
    pub wasm: PathBuf,
    /// The project, or the directory of the component.
    pub dir: PathBuf,
}

impl Subject {
    /// A component, or a project that was built.
    pub fn find(path: &Path) -> anyhow::Result<Subject> {
        if path.is_file() {
            let dir = path.parent().filter(|dir| !dir.as_os_str().is_empty()).unwrap_or(Path::new("."));
            return Ok(Subject { wasm: path.to_path_buf(), dir: dir.to_path_buf() });
        }
        let inside = path.read_dir().with_context(|| format!("cannot read {}", path.display()))?;
        let mut built: Vec<PathBuf> = inside.filter_map(|entry| Some(entry.ok()?.path())).collect();
        built.retain(|file| file.extension().is_some_and(|ending| ending == "wasm"));
        let dir = path.to_path_buf();
        match built.len() {
            1 => {
                let wasm = built.remove(0);
                remind(&wasm, path);
                Ok(Subject { wasm, dir })
            }
            0 => Err(Usage(format!(
                "{0} has no component yet; `dibao adapter build {0}` makes it",
                path.display()
            ))
            .into()),
            _ => Err(Usage(format!("{} has several components; name the one that is meant", path.display()))
                .into()),
        }
    }

    /// The adapter alone, with its turns measured.
    pub fn load(&self) -> anyhow::Result<Adapter> {
        let bytes =
            std::fs::read(&self.wasm).with_context(|| format!("cannot read {}", self.wasm.display()))?;
        let options = HostOptions { cache_dir: Some(compiled()), measure: true, ..HostOptions::default() };
        Ok(AdapterHost::new(options)?.load(&bytes, &self.wasm.display().to_string())?)
    }

    /// Where its recorded cases are.
    pub fn fixtures(&self) -> PathBuf {
        self.dir.join("fixtures")
    }
}

/// Says when the sources are newer than what was built of them.
fn remind(wasm: &Path, dir: &Path) {
    let time = |path: &Path| path.metadata().and_then(|meta| meta.modified()).ok();
    let sources = ["src/lib.rs", "Cargo.toml", "app.py", "adapter.js"].map(|file| dir.join(file));
    if let Some(source) = sources.iter().find(|source| time(source) > time(wasm) && source.exists()) {
        note(format_args!(
            "{} is newer than {}; `dibao adapter build {}` builds it again",
            source.display(),
            wasm.display(),
            dir.display()
        ));
    }
}

/// Where compiled components are kept for these commands: an interpreter takes seconds to compile.
pub fn compiled() -> PathBuf {
    let named = |name: &str| std::env::var_os(name).filter(|value| !value.is_empty()).map(PathBuf::from);
    named("DIBAO_CACHE").unwrap_or_else(|| {
        let cache = named("XDG_CACHE_HOME").or_else(|| Some(named("HOME")?.join(".cache")));
        cache.unwrap_or_else(std::env::temp_dir).join("dibao/compiled")
    })
}

/// What an adapter is tried on.
#[derive(Args)]
pub struct TrialArgs {
    /// A project directory, or a .wasm file
    pub adapter: PathBuf,

    /// The first page of a list (with --document: one document)
    #[arg(long, value_name = "URL", required_unless_present = "site")]
    pub url: Option<String>,

    /// The address is a document, not a list
    #[arg(long, requires = "url")]
    pub document: bool,

    /// Settings of the adapter as JSON, beside `list_url`
    #[arg(long, value_name = "JSON", conflicts_with = "site")]
    pub settings: Option<String>,

    /// Take settings and pace from a site file instead
    #[arg(long, value_name = "FILE")]
    pub site: Option<PathBuf>,

    /// Column of the site file [default: its first]
    #[arg(long, value_name = "ID", requires = "site")]
    pub column: Option<String>,

    /// Begin at this page, by the cursor of the one before
    #[arg(long, value_name = "CURSOR", conflicts_with = "document")]
    pub cursor: Option<String>,

    /// How many documents of the list are read
    #[arg(long, value_name = "N", default_value_t = 1)]
    pub documents: usize,

    /// Hosts the adapter may reach [default: site, those of the address]
    #[arg(long = "grant", value_name = "HOST", value_parser = super::host)]
    pub hosts: Vec<String>,
}

/// An adapter on its target, ready for steps.
pub struct Stage {
    pub trial: TrialRequest,
    /// Goes with the data that nobody wants to keep.
    _scratch: Option<tempfile::TempDir>,
}

impl TrialArgs {
    /// Opens the engine with this adapter and the target. Nothing is sent yet.
    pub async fn open(&self, open: &OpenArgs, subject: &Subject) -> anyhow::Result<Stage> {
        let (scratch, data) = match database_path(&open.data).exists() {
            true => (None, open.data.clone()),
            false => {
                let scratch = tempfile::tempdir()?;
                let path = scratch.path().to_path_buf();
                (Some(scratch), path)
            }
        };
        let hosts = if self.hosts.is_empty() { vec!["site".to_owned()] } else { self.hosts.clone() };
        let engine: Engine = open
            .builder_in(data)?
            .adapter_cache(compiled())
            .measure_turns(true)
            .adapter_file(&subject.wasm, hosts)
            .build()
            .await?;
        let loaded = engine.loaded_adapters();
        let about = loaded.first().context("the adapter was not loaded")?;
        let (site, target) = self.target(about.about())?;
        Ok(Stage { trial: engine.trial(site, target).await?, _scratch: scratch })
    }

    fn target(&self, about: &dibao::adapter::contract::About) -> anyhow::Result<(Site, Target)> {
        let (mut site, targets) = match &self.site {
            Some(file) => load_site(file)?.into_rows()?,
            None => parse_site(&self.made_up(about)?, "--url")?.into_rows()?,
        };
        site.adapter.clone_from(&about.name);
        let wanted = self.column.as_ref().map(|column| format!("{}__{column}", site.code));
        let known: Vec<String> = targets.iter().map(|target| target.code.clone()).collect();
        let target =
            targets.into_iter().find(|target| wanted.as_ref().is_none_or(|code| target.code == *code));
        let target = target.ok_or_else(|| {
            Usage(format!("no column {:?} in the site file; there are: {}", self.column, known.join(", ")))
        })?;
        Ok((site, target))
    }

    /// A site of one column, around the address.
    fn made_up(&self, about: &dibao::adapter::contract::About) -> anyhow::Result<String> {
        let url = self.address()?;
        let mut settings: Map<String, Value> = match &self.settings {
            None => Map::new(),
            Some(text) => serde_json::from_str(text).map_err(|error| {
                Usage(format!("--settings is no JSON object ({error}); write {{\"key\": …}}"))
            })?,
        };
        // Most adapters have this setting; one that has not must not be given it.
        let schema: Value = serde_json::from_str(&about.config_schema).unwrap_or_default();
        if schema["properties"].get("list_url").is_some() || schema.get("properties").is_none() {
            settings.entry("list_url").or_insert(json!(url.as_str()));
        }
        let column = json!({"column_id": "trial", "list_url": url.as_str(), "params": settings});
        let base = url.origin().ascii_serialization();
        let site = json!({
            "site_id": "trial", "site_name": "trial", "base_url": base, "adapter": about.name, "columns": [column],
        });
        Ok(site.to_string())
    }

    /// The address that was typed.
    pub fn address(&self) -> anyhow::Result<Url> {
        let text = self.url.as_deref().unwrap_or_default();
        let url = Url::parse(text).ok();
        let url = url.filter(|url| matches!(url.scheme(), "http" | "https") && url.has_host());
        Ok(url.ok_or_else(|| Usage(format!("{text:?} is no web address; write https://…")))?)
    }
}
