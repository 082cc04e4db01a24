//! Sites at the desk (S2-55): made and changed under the rules of site files, whatever form they come in.

use serde_json::{Map, Value, json};

use super::Desk;
use crate::config::{self, SiteConfig, effective_config};
use crate::desk::SiteRow;
use crate::model::Site;
use crate::store::{AuditEntry, SiteChange, SiteWrite, TargetLock};
use crate::{Refusal, Result};

/// Rows that are removed in one transaction.
const PIECE: u32 = 500;
/// Largest crawl plan.
const LONGEST_PLAN: usize = 64 << 10;

impl Desk {
    /// All sites with their targets.
    pub async fn sites(&self) -> Result<Vec<SiteRow>> {
        Ok(self.store().site_rows(None).await?)
    }

    /// One site with its targets.
    pub async fn site(&self, code: &str) -> Result<SiteRow> {
        match self.store().site_rows(Some(code)).await?.pop() {
            Some(site) => Ok(site),
            None => Err(self.unknown_site(code).await?.into()),
        }
    }

    /// Makes a site of the text of a site file: YAML, or JSON with the same keys. A code that is taken is a conflict.
    pub async fn create_site(&self, text: &str) -> Result<SiteRow> {
        let code = site_id_of(text);
        let entry = self.entry("site.create", &code, json!(null));
        let done = async {
            let config = parsed(text)?;
            let write = SiteWrite { new: true, ..self.site_write(&config, Vec::new()).await? };
            self.store().write_site(write, entry.clone()).await?;
            self.site(&config.site_id).await
        }
        .await;
        self.settle(entry, done).await
    }

    /// Makes a site of fields with the keys of site files.
    pub async fn create_site_of(&self, fields: Map<String, Value>) -> Result<SiteRow> {
        self.create_site(&Value::Object(fields).to_string()).await
    }

    /// Changes settings of a site: keys of site files; objects are merged, `null` takes a setting back. What is set here is left
    /// alone by later imports of its file (I14). `crawl_plan` is kept as it is given. Columns are changed one by one, as targets.
    pub async fn update_site(&self, code: &str, mut patch: Map<String, Value>) -> Result<SiteRow> {
        let keys: Vec<String> = patch.keys().cloned().collect();
        let entry = self.entry("site.update", code, json!({ "keys": keys }));
        let done = async {
            let row = self.site(code).await?;
            let crawl_plan = patch.shift_remove("crawl_plan").map(plan).transpose()?;
            if patch.get("site_id").is_some_and(|id| id != code) {
                return Err(Refusal::invalid("site_id", "the code of a site stays", "leave it out").into());
            }
            patch.shift_remove("site_id");
            if patch.contains_key("columns") {
                return Err(
                    Refusal::invalid("columns", "are changed one by one", "change the targets").into()
                );
            }
            let mut marks = row.operator_set.clone();
            marks.extend(patch.keys().filter(|key| !row.operator_set.contains(key)).cloned());
            let mut settings = config::written(&row.site).to_json();
            config::lay_over(&mut settings, &Value::Object(patch));
            let config = parsed(&settings.to_string())?;
            let mut write = self.site_write(&config, marks).await?;
            // The row is the word on whether it is on; the settings it was made of may be older.
            if !keys.iter().any(|key| key == "enabled") {
                write.site.enabled = row.site.enabled;
            }
            write.site.yaml_path.clone_from(&row.site.yaml_path);
            self.store().write_site(SiteWrite { crawl_plan, ..write }, entry.clone()).await?;
            self.site(code).await
        }
        .await;
        self.settle(entry, done).await
    }

    /// Stores a site that was read before, as [`Engine::import_site_config`](crate::Engine::import_site_config) does. An import that changes
    /// nothing leaves no row.
    pub async fn import_site(&self, config: &SiteConfig) -> Result<SiteChange> {
        let entry = self.entry("site.import", config.site_id.clone(), json!(null));
        let before = self.store().site_rows(Some(&config.site_id)).await?;
        let done = self.engine.import_site_config(config).await;
        if let Ok(change) = &done
            && before != self.store().site_rows(Some(&config.site_id)).await?
        {
            self.store().audit(AuditEntry { detail: json!(change), ..entry.clone() }).await?;
        }
        self.settle(entry, done).await
    }

    /// Takes a whole site file, as somebody sent it, in place of the one before.
    pub async fn replace_site(&self, code: &str, text: &str) -> Result<SiteRow> {
        let entry = self.entry("site.update", code, json!(null));
        let read = async {
            self.site(code).await?;
            let config = parsed(text)?;
            if config.site_id != code {
                let message = format!("is `{}`; the code of a site stays", config.site_id);
                return Err(Refusal::invalid("site_id", message, format!("write `{code}`")).into());
            }
            Ok(config)
        };
        let config = self.settle(entry, read.await).await?;
        self.import_site(&config).await?;
        self.site(code).await
    }

    /// Switches a site on or off; later imports leave the switch alone.
    pub async fn toggle_site(&self, code: &str, on: bool) -> Result<SiteRow> {
        let entry = self.entry("site.toggle", code, json!({ "on": on }));
        let done = async {
            self.known_site(code).await?;
            self.store().set_site_switch(code, on, entry.clone()).await?;
            self.site(code).await
        }
        .await;
        self.settle(entry, done).await
    }

    /// Removes a site with its targets, schedules, articles and files. A site that is being crawled is a conflict. It is
    /// switched off first; if this is cut off, what is left can be removed by calling it again.
    pub async fn delete_site(&self, code: &str) -> Result<()> {
        let entry = self.entry("site.delete", code, json!(null));
        let done = async {
            let site = self.site(code).await?;
            let codes: Vec<String> = site.targets.into_iter().map(|row| row.target.code).collect();
            let _locks = self.hold(&codes).await?;
            self.store()
                .set_site_switch(code, false, self.entry("site.toggle", code, json!({ "on": false })))
                .await?;
            for target in &codes {
                self.empty_target(target).await?;
            }
            Ok(self.store().drop_site(code, entry.clone()).await?)
        }
        .await;
        self.settle(entry, done).await
    }

    /// The right to run these targets: nobody crawls them while they go.
    pub(super) async fn hold(&self, codes: &[String]) -> Result<Vec<TargetLock>> {
        let (root, codes) = (self.engine.inner.files.root().to_path_buf(), codes.to_vec());
        crate::engine::blocking(move || {
            let take = |code: &String| match TargetLock::try_take(&root, code)? {
                Some(lock) => Ok(lock),
                None => {
                    let message = format!("{code} is being crawled; cancel that job, or wait for it");
                    Err(Refusal::conflict("active", message).into())
                }
            };
            codes.iter().map(take).collect()
        })
        .await
    }

    /// Articles, files, waiting jobs and log of a target, piece by piece.
    pub(super) async fn empty_target(&self, code: &str) -> Result<()> {
        self.call_off(code).await?;
        loop {
            let gone = self.store().drop_articles_of(code, PIECE).await?;
            if gone.is_empty() {
                break;
            }
            self.remove_files(gone).await?;
        }
        while self.store().drop_log_of(code, PIECE * 10).await? > 0 {}
        Ok(())
    }

    /// The rows of settings that are whole; each target is checked by its adapter, as an import does.
    async fn site_write(&self, config: &SiteConfig, operator_set: Vec<String>) -> Result<SiteWrite> {
        let (site, targets) = config.into_rows()?;
        let adapter = self.engine.adapter(&site.adapter).await?.adapter;
        for target in &targets {
            adapter.check_config(&effective_config(target))?;
        }
        crate::engine::settings::wire(&site).await?;
        Ok(SiteWrite { site, targets, new: false, operator_set, crawl_plan: None })
    }

    pub(super) async fn known_site(&self, code: &str) -> Result<Site> {
        match self.engine.inner.store.site(code).await? {
            Some(site) => Ok(site),
            None => Err(self.unknown_site(code).await?.into()),
        }
    }

    async fn unknown_site(&self, code: &str) -> Result<config::ConfigError> {
        let sites = self.engine.inner.store.sites().await?;
        Ok(config::ConfigError::unknown("site", code, sites.iter().map(|site| site.code.as_str())))
    }
}

/// Text that somebody sent. Files of this machine are not his to name.
pub(super) fn parsed(text: &str) -> Result<SiteConfig> {
    let config = config::parse_site(text, "request")?;
    if config.ca_file.as_deref().is_some_and(|file| !file.contains("-----BEGIN ")) {
        return Err(Refusal::invalid(
            "ca_file",
            "a file of this machine cannot be named here",
            "send the PEM text itself",
        )
        .into());
    }
    Ok(config)
}

fn plan(plan: Value) -> Result<Option<Value>> {
    match plan {
        Value::Null => Ok(None),
        Value::Object(_) if plan.to_string().len() <= LONGEST_PLAN => Ok(Some(plan)),
        _ => {
            Err(Refusal::invalid("crawl_plan", "is no object, or is longer than 64 KB", "write {…} or null")
                .into())
        }
    }
}

/// The code that a text is about, for the audit; it may not be one.
fn site_id_of(text: &str) -> String {
    let after = text.split("site_id").nth(1).unwrap_or("");
    let from = after.trim_start_matches(['"', '\'', ':', ' ']);
    from.chars().take_while(|c| c.is_ascii_alphanumeric() || matches!(c, '_' | '-')).take(64).collect()
}
