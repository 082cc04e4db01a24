//! Targets at the desk (S2-56): a target is a column of its site's settings, and is checked as one.

use serde_json::{Map, Value, json};

use super::Desk;
use super::runs::refused;
use super::sites::parsed;
use crate::config::{self, SiteConfig, effective_config};
use crate::desk::{BulkAct, BulkOutcome, Page, Paging, ParserView, TargetQuery, TargetRow};
use crate::model::{Pace, Site, Target};
use crate::queue::{JobQuery, JobState};
use crate::store::{SiteWrite, TargetWrite};
use crate::{Error, Refusal, Result};

/// Targets that are made by one call.
const MOST: usize = 1_000;

impl Desk {
    /// Targets that a question finds, by site and in the order in which they were stored.
    pub async fn targets(&self, query: TargetQuery, paging: Paging) -> Result<Page<TargetRow>> {
        Ok(self.store().target_page(query, paging).await?)
    }

    /// The codes of all targets that a question finds.
    pub async fn target_codes(&self, query: TargetQuery) -> Result<Vec<String>> {
        Ok(self.store().target_codes(query).await?)
    }

    /// One target.
    pub async fn target(&self, code: &str) -> Result<TargetRow> {
        match self.store().target_row(code).await? {
            Some(row) => Ok(row),
            None => Err(self.engine.unknown_target(code).await?),
        }
    }

    /// Makes a target of a stored site: the keys of a column in a site file, and `dept_id`. With nothing but a `column_id` (and a
    /// name) it is made from the site's `default_column` (S2-22).
    pub async fn create_target(&self, site: &str, column: Map<String, Value>) -> Result<TargetRow> {
        let mut made = self.create_some(site, vec![column], "target.create").await?;
        match made.pop() {
            Some((_, Ok(code))) => self.target(&code).await,
            Some((_, Err(error))) => Err(error),
            None => Err(Refusal::invalid("columns", "there is nothing to make", "name a column").into()),
        }
    }

    /// The same for many, at most 1,000; each has its own outcome.
    pub async fn create_targets(
        &self,
        site: &str,
        columns: Vec<Map<String, Value>>,
    ) -> Result<Vec<BulkOutcome>> {
        let made = self.create_some(site, columns, "target.bulk_create").await?;
        Ok(made
            .into_iter()
            .map(|(name, done)| match done {
                Ok(code) => BulkOutcome { name: code, act: BulkAct::Done },
                Err(error) => {
                    let refusal =
                        error.refusal().unwrap_or_else(|| Refusal::conflict("failed", error.to_string()));
                    BulkOutcome { name, act: refused(&refusal) }
                }
            })
            .collect())
    }

    async fn create_some(
        &self,
        site: &str,
        columns: Vec<Map<String, Value>>,
        action: &'static str,
    ) -> Result<Vec<(String, Result<String>)>> {
        let ids: Vec<String> = columns.iter().map(|column| text_of(column, "column_id")).collect();
        let subject = match ids.as_slice() {
            [one] => format!("{site}__{one}"),
            many => format!("{site}: {} targets", many.len()),
        };
        let entry = self.entry(action, subject, json!({ "columns": ids }));
        let done = async {
            if columns.is_empty() || columns.len() > MOST {
                let message = format!("{} columns", columns.len());
                return Err(Error::from(Refusal::invalid("columns", message, format!("name 1 to {MOST}"))));
            }
            let stored = self.known_site(site).await?;
            let adapter = self.engine.adapter(&stored.adapter).await?.adapter;
            let known = self
                .store()
                .target_codes(TargetQuery { site: Some(site.to_owned()), ..Default::default() })
                .await?;
            let mut config = config::written(&stored);
            let mut outcomes = Vec::new();
            let mut writes = Vec::new();
            for (mut column, id) in columns.into_iter().zip(ids) {
                let code = format!("{site}__{id}");
                let made = (|| {
                    let dept_id = dept_of(&mut column)?;
                    if known.contains(&code)
                        || writes.iter().any(|write: &TargetWrite| write.target.code == code)
                    {
                        let message = format!(
                            "the target {code} exists already; change it, or choose another column_id"
                        );
                        return Err(Error::from(Refusal::conflict("exists", message)));
                    }
                    let with = with_column(&config, &id, column)?;
                    let target = with.column_target(&id)?;
                    adapter.check_config(&effective_config(&target))?;
                    config = with;
                    Ok((target, dept_id))
                })();
                outcomes.push(match made {
                    Ok((target, dept_id)) => {
                        let (site, operator_set) = (site.to_owned(), vec!["created".to_owned()]);
                        writes.push(TargetWrite { site, target, new: true, operator_set, dept_id });
                        (id, Ok(code))
                    }
                    Err(error) => (id, Err(error)),
                });
            }
            // Nothing to write is an answer too; one that was refused alone is the refusal.
            if writes.is_empty() {
                return match outcomes.len() {
                    1 => Err(outcomes.pop().and_then(|(_, done)| done.err()).unwrap_or(Error::Interrupted)),
                    _ => Ok(outcomes),
                };
            }
            let source = source_write(&stored, &config)?;
            self.store().write_targets(writes, Some(source), entry.clone()).await?;
            Ok(outcomes)
        }
        .await;
        self.settle(entry, done).await
    }

    /// Changes settings of a target: the keys of a column, `dept_id`, and the pace. Objects are merged, `null` takes a setting back;
    /// `parser_override` is replaced whole. What is set here is left alone by later imports (I14).
    pub async fn update_target(&self, code: &str, mut patch: Map<String, Value>) -> Result<TargetRow> {
        let keys: Vec<String> = patch.keys().cloned().collect();
        let entry = self.entry("target.update", code, json!({ "keys": keys }));
        let done = async {
            let row = self.target(code).await?;
            let stored = self.known_site(&row.site).await?;
            let id = column_id(&row.site, code).to_owned();
            if patch.shift_remove("column_id").is_some_and(|other| other != id.as_str()) {
                return Err(Refusal::invalid("column_id", "the id of a column stays", "leave it out").into());
            }
            let dept_id = dept_of(&mut patch)?;
            let mut target = row.target.clone();
            target.pace = pace(&target.pace, &mut patch)?;
            let mut marks = row.operator_set.clone();
            let source = match patch.is_empty() {
                true => None,
                false => {
                    let config = patched(&config::written(&stored), &id, &patch)?;
                    take_over(&mut target, &config.column_target(&id)?, &patch, &mut marks);
                    let adapter = self.engine.adapter(&stored.adapter).await?.adapter;
                    adapter.check_config(&effective_config(&target))?;
                    Some(source_write(&stored, &config)?)
                }
            };
            if dept_id.is_some() && !marks.iter().any(|mark| mark == "dept_id") {
                marks.push("dept_id".to_owned());
            }
            let write = TargetWrite { site: row.site, target, new: false, operator_set: marks, dept_id };
            self.store().write_targets(vec![write], source, entry.clone()).await?;
            self.target(code).await
        }
        .await;
        self.settle(entry, done).await
    }

    /// Switches a target on or off; later imports leave the switch alone.
    pub async fn toggle_target(&self, code: &str, on: bool) -> Result<TargetRow> {
        let entry = self.entry("target.toggle", code, json!({ "on": on }));
        let done = async {
            self.target(code).await?;
            self.store().set_target_switch(code, on, entry.clone()).await?;
            self.target(code).await
        }
        .await;
        self.settle(entry, done).await
    }

    /// Removes a target with its schedule, articles and files. One that is being crawled is a conflict.
    pub async fn delete_target(&self, code: &str) -> Result<()> {
        let entry = self.entry("target.delete", code, json!(null));
        let done = async {
            self.target(code).await?;
            let _lock = self.hold(&[code.to_owned()]).await?;
            let off = self.entry("target.toggle", code, json!({ "on": false }));
            self.store().set_target_switch(code, false, off).await?;
            self.empty_target(code).await?;
            Ok(self.store().drop_target(code, entry.clone()).await?)
        }
        .await;
        self.settle(entry, done).await
    }

    /// How a target's pages are read, in layers.
    pub async fn parser(&self, code: &str) -> Result<ParserView> {
        let row = self.target(code).await?;
        let site = self.known_site(&row.site).await?;
        let effective = effective_config(&row.target);
        let parser_override = match row.target.parser_override {
            Some(Value::Object(over)) => Some(over),
            _ => None,
        };
        Ok(ParserView {
            target: row.target.code,
            adapter: site.adapter,
            config: row.target.config,
            parser_override,
            effective,
        })
    }

    /// Lays an override over a target's settings, in place of the one before; none takes it back.
    pub async fn set_parser(&self, code: &str, over: Option<Map<String, Value>>) -> Result<ParserView> {
        let over = over.map_or(Value::Null, Value::Object);
        self.update_target(code, Map::from_iter([("parser_override".to_owned(), over)])).await?;
        self.parser(code).await
    }

    /// Calls off what waits of a target.
    pub(super) async fn call_off(&self, code: &str) -> Result<()> {
        let waits = vec![JobState::Scheduled, JobState::Queued, JobState::RetryWait];
        let kind = Some(crate::engine::CRAWL.to_owned());
        let query = JobQuery { states: waits, kind, limit: u32::MAX, ..JobQuery::default() };
        for job in self.engine.queue().table().jobs(query).await? {
            if job.payload.get("target").and_then(Value::as_str) == Some(code) {
                self.engine.queue().cancel(job.id).await?;
            }
        }
        Ok(())
    }
}

fn column_id<'a>(site: &str, code: &'a str) -> &'a str {
    code.strip_prefix(site).and_then(|rest| rest.strip_prefix("__")).unwrap_or(code)
}

fn text_of(fields: &Map<String, Value>, key: &str) -> String {
    fields.get(key).and_then(Value::as_str).unwrap_or_default().to_owned()
}

/// None: nothing was said; inner none: taken back.
fn dept_of(fields: &mut Map<String, Value>) -> Result<Option<Option<i64>>> {
    match fields.shift_remove("dept_id") {
        None => Ok(None),
        Some(Value::Null) => Ok(Some(None)),
        Some(value) => match value.as_i64() {
            Some(id) => Ok(Some(Some(id))),
            None => {
                Err(Refusal::invalid("dept_id", "is no number", "write the number of a department, or null")
                    .into())
            }
        },
    }
}

/// The settings of the site with one more column, checked as a whole.
fn with_column(config: &SiteConfig, id: &str, column: Map<String, Value>) -> Result<SiteConfig> {
    let mut settings = config.to_json();
    columns_of(&mut settings).retain(|known| known.get("column_id").and_then(Value::as_str) != Some(id));
    columns_of(&mut settings).push(Value::Object(column));
    checked(settings, id)
}

/// The settings of the site with one column changed.
fn patched(config: &SiteConfig, id: &str, patch: &Map<String, Value>) -> Result<SiteConfig> {
    let mut settings = config.to_json();
    let columns = columns_of(&mut settings);
    let known = columns.iter().position(|column| column.get("column_id").and_then(Value::as_str) == Some(id));
    let at = known.unwrap_or_else(|| {
        // Made from `default_column` and never listed.
        columns.push(json!({ "column_id": id }));
        columns.len() - 1
    });
    for (key, value) in patch {
        if key == "parser_override"
            && let Some(column) = columns[at].as_object_mut()
        {
            column.shift_remove(key);
            if !value.is_null() {
                column.insert(key.clone(), value.clone());
            }
            continue;
        }
        config::lay_over(&mut columns[at], &Value::Object(Map::from_iter([(key.clone(), value.clone())])));
    }
    checked(settings, id)
}

/// A fault in the column names its key alone: the asker sent a column, not a site.
fn checked(settings: Value, id: &str) -> Result<SiteConfig> {
    let at = settings.get("columns").and_then(Value::as_array).and_then(|columns| {
        columns.iter().position(|column| column.get("column_id").and_then(Value::as_str) == Some(id))
    });
    parsed(&settings.to_string()).map_err(|error| match (error.refusal(), at) {
        (Some(Refusal::Invalid { field, message, fix }), Some(at)) => {
            let inside = format!("columns[{at}]");
            let field = match field.strip_prefix(inside.as_str()) {
                Some("") => "column_id".to_owned(),
                Some(rest) => rest.trim_start_matches('.').to_owned(),
                None => field,
            };
            Refusal::Invalid { field, message, fix }.into()
        }
        _ => error,
    })
}

fn columns_of(settings: &mut Value) -> &mut Vec<Value> {
    if !settings.get("columns").is_some_and(Value::is_array) {
        settings["columns"] = json!([]);
    }
    match &mut settings["columns"] {
        Value::Array(columns) => columns,
        _ => unreachable!("it was just made one"),
    }
}

/// What is left of the patch when the pace is taken out of it.
fn pace(known: &Pace, patch: &mut Map<String, Value>) -> Result<Pace> {
    let mut words = Vec::new();
    for key in config::PACE_KEYS {
        if let Some(value) = patch.shift_remove(key) {
            words.push(match value {
                Value::Null => format!("{key}="),
                Value::String(text) => format!("{key}={text}"),
                other => format!("{key}={other}"),
            });
        }
    }
    Ok(known.set(words.iter().map(String::as_str))?)
}

/// Takes from the computed row what the patch is about, and marks it.
fn take_over(target: &mut Target, computed: &Target, patch: &Map<String, Value>, marks: &mut Vec<String>) {
    let mut mark = |name: &str| {
        if !marks.iter().any(|known| known == name) {
            marks.push(name.to_owned());
        }
    };
    for key in patch.keys() {
        match key.as_str() {
            "name" => {
                target.name.clone_from(&computed.name);
                mark("target_name");
            }
            "category" => {
                target.content_category.clone_from(&computed.content_category);
                mark("content_category");
            }
            "subcategory" => {
                target.content_subcategory.clone_from(&computed.content_subcategory);
                mark("content_subcategory");
            }
            "channel_name" => {
                target.channel_name.clone_from(&computed.channel_name);
                mark("channel_name");
            }
            "channel_path" => {
                target.channel_path.clone_from(&computed.channel_path);
                mark("channel_path");
            }
            "schedule" => {
                target.schedule.clone_from(&computed.schedule);
                mark("schedule_cron");
            }
            "enabled" => {
                target.enabled = computed.enabled;
                mark("enabled");
            }
            "parser_override" => {
                target.parser_override.clone_from(&computed.parser_override);
                mark("parser_override_json");
            }
            "stop_after_duplicates" | "full_sweep_every" => mark(key),
            // The address, the selectors and the adapter's parameters are one thing to the adapter.
            _ => {
                if key == "list_url" {
                    target.entry_url.clone_from(&computed.entry_url);
                    mark("entry_url");
                }
                target.config.clone_from(&computed.config);
                mark("config_json");
            }
        }
    }
}

/// Only the settings of a site: its own row stays as it is.
fn source_write(stored: &Site, config: &SiteConfig) -> Result<SiteWrite> {
    let (made, _) = config.into_rows()?;
    let site = Site { source: made.source, hosts: made.hosts, ..stored.clone() };
    Ok(SiteWrite { site, targets: Vec::new(), new: false, operator_set: Vec::new(), crawl_plan: None })
}
