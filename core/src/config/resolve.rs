//! What a site file means: aliases and defaults applied, one row per column.

use serde::Deserialize;
use serde_json::{Map, Value, json};
use url::Url;

use super::error::{ConfigError, suggestion};
use super::model::{Column, DEFAULT_ADAPTER, Detail, ListJson, ListSelector, Pagination, SiteConfig};
use crate::model::{FEEDS, Pace, Site, Target};

/// Adapters whose settings take a column's own `list_url` and `pagination`: their lists are pages at an address.
const LISTS_BY_ADDRESS: &[&str] = &[FEEDS];
/// A feed is not always in order, and its rows are in hand anyway: so many known ones in a row end a run, which is a
/// whole feed of the usual size and a page or two of one with an archive.
const KNOWN_ROWS_OF_A_FEED: u32 = 50;

/// How a column is read, wherever that was written.
pub(crate) struct Reading<'a> {
    pub list_selector: Option<&'a ListSelector>,
    pub list_json: Option<&'a ListJson>,
    pub pagination: Option<&'a Pagination>,
    pub detail: Option<&'a Detail>,
}

/// When an incremental run of a column ends (I11).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Incremental {
    /// So many known articles in a row end it: as written, 3 where pinned posts are told apart; none = the crawl
    /// loop's own rule.
    pub stop_after_duplicates: Option<u32>,
    /// Every so many runs the whole list is read.
    pub full_sweep_every: Option<u32>,
}

impl Incremental {
    /// The rule of one target, read from the settings kept with its site; the seed's rule (the first
    /// known article ends the run) for what is not written there.
    pub fn of(site: &Site, target_code: &str) -> Incremental {
        let id = target_code.strip_prefix(&format!("{}__", site.code)).unwrap_or(target_code);
        SiteConfig::deserialize(&site.source)
            .map_or(Incremental { stop_after_duplicates: None, full_sweep_every: None }, |config| {
                config.incremental(id)
            })
    }
}

/// A target's settings with the operator's `parser_override` laid over them: what the adapter is given.
pub fn effective_config(target: &Target) -> Value {
    let mut config = target.config.clone();
    if let Some(over) = &target.parser_override {
        lay_over(&mut config, over);
    }
    config
}

/// Objects are merged key by key, `null` removes a key, everything else replaces.
pub(crate) fn lay_over(base: &mut Value, over: &Value) {
    match (base, over) {
        (Value::Object(base), Value::Object(over)) => {
            for (key, value) in over {
                if value.is_null() {
                    base.shift_remove(key);
                } else {
                    lay_over(base.entry(key.clone()).or_insert(Value::Null), value);
                }
            }
        }
        (base, over) => *base = over.clone(),
    }
}

/// Aliases followed, then what is missing taken from `default_column`.
pub(crate) fn reading<'a>(site: &'a SiteConfig, column: &'a Column) -> Reading<'a> {
    let mut source = column;
    // `check` has refused circles; the bound keeps this total for unchecked settings too.
    for _ in 0..site.columns.len() {
        match source.alias_of.as_deref().and_then(|other| site.column(other)) {
            Some(other) => source = other,
            None => break,
        }
    }
    let defaults = site.default_column.as_ref();
    let own_list = source.list_selector.is_some() || source.list_json.is_some();
    Reading {
        list_selector: match own_list {
            true => source.list_selector.as_ref(),
            false => defaults.and_then(|d| d.list_selector.as_ref()),
        },
        list_json: match own_list {
            true => source.list_json.as_ref(),
            false => defaults.and_then(|d| d.list_json.as_ref()),
        },
        pagination: source.pagination.as_ref().or(defaults.and_then(|d| d.pagination.as_ref())),
        detail: source.detail.as_ref().or(defaults.and_then(|d| d.detail.as_ref())),
    }
}

impl SiteConfig {
    /// The rows of the store: the site, and one target per listed column.
    pub fn into_rows(&self) -> Result<(Site, Vec<Target>), ConfigError> {
        let targets: Vec<Target> =
            self.columns.iter().map(|column| self.target(column)).collect::<Result<_, _>>()?;
        let base = Url::parse(&self.base_url).ok();
        let base_host = base.as_ref().and_then(Url::host_str);
        let mut hosts = self.hosts.clone();
        for target in &targets {
            // An address in the settings names a host of the site as much as `hosts` does.
            let url = Url::parse(&target.entry_url).ok();
            if let Some(host) = url.as_ref().and_then(Url::host_str)
                && Some(host) != base_host
                && !hosts.iter().any(|known| known == host)
            {
                hosts.push(host.to_owned());
            }
        }
        let site = Site {
            id: 0,
            code: self.site_id.clone(),
            name: self.site_name.clone(),
            base_url: self.base_url.clone(),
            adapter: self.adapter_name().to_owned(),
            strategy: self.default_strategy.as_str().to_owned(),
            schedule: self.schedule.clone(),
            enabled: self.enabled,
            respect_robots: self.respect_robots,
            concurrency: self.concurrency.unwrap_or(1),
            hosts,
            yaml_path: None,
            source: self.to_json(),
        };
        Ok((site, targets))
    }

    /// The target of one column; a column that is not listed is made from `default_column`.
    pub fn column_target(&self, column: &str) -> Result<Target, ConfigError> {
        if let Some(listed) = self.column(column) {
            return self.target(listed);
        }
        let unknown = |fix| ConfigError::UnknownColumn {
            origin: self.origin.name.clone(),
            site: self.site_id.clone(),
            column: column.to_owned(),
            fix,
        };
        let known = || suggestion(column, self.columns.iter().map(|c| c.column_id.as_str()));
        let Some(defaults) = &self.default_column else { return Err(unknown(known())) };
        if !defaults.list_url.as_deref().is_some_and(|url| url.contains("{column}")) {
            return Err(unknown(format!(
                "{} (for unlisted columns, `default_column` needs a `list_url` with {{column}} in it)",
                known()
            )));
        }
        // The id becomes part of an address and of a file name: the file's own rule holds for it too.
        let mut with = self.clone();
        with.columns.push(Column { column_id: column.to_owned(), enabled: true, ..Column::default() });
        super::check::site(&with)?;
        with.column(column).map_or_else(|| Err(unknown(known())), |added| with.target(added))
    }

    /// When an incremental run of a column ends.
    pub fn incremental(&self, column: &str) -> Incremental {
        let unlisted = Column::default();
        let column = self.column(column).unwrap_or(&unlisted);
        let pins = reading(self, column).list_selector.is_some_and(|list| list.pinned.is_some());
        Incremental {
            stop_after_duplicates: column
                .stop_after_duplicates
                .or(pins.then_some(3))
                .or((self.adapter_name() == FEEDS).then_some(KNOWN_ROWS_OF_A_FEED)),
            full_sweep_every: column.full_sweep_every,
        }
    }

    pub(crate) fn column(&self, id: &str) -> Option<&Column> {
        self.columns.iter().find(|column| column.column_id == id)
    }

    pub(crate) fn adapter_name(&self) -> &str {
        self.adapter.as_deref().unwrap_or(DEFAULT_ADAPTER)
    }

    pub(crate) fn uses_yaml_css(&self) -> bool {
        // `yaml` is what the seed calls it.
        matches!(self.adapter_name(), DEFAULT_ADAPTER | "yaml")
    }

    /// The column's list address, still as written.
    pub(crate) fn list_url(&self, column: &Column) -> Option<String> {
        let template = || self.default_column.as_ref()?.list_url.as_ref();
        column.list_url.clone().or_else(|| template().map(|url| url.replace("{column}", &column.column_id)))
    }

    fn target(&self, column: &Column) -> Result<Target, ConfigError> {
        let reading = reading(self, column);
        let entry_url = self.absolute(self.list_url(column).as_deref().unwrap_or(&self.base_url))?;
        let config = match self.uses_yaml_css() {
            true => yaml_css(&entry_url, &reading),
            false => self.foreign(column, &reading, &entry_url),
        };
        let defaults = self.default_column.as_ref();
        Ok(Target {
            id: 0,
            site_id: 0,
            code: format!("{}__{}", self.site_id, column.column_id),
            name: column.name.clone().unwrap_or_else(|| column.column_id.clone()),
            entry_url,
            channel_name: column.channel_name.clone(),
            channel_path: column.channel_path.clone(),
            content_category: column.category.clone().or_else(|| defaults.and_then(|d| d.category.clone())),
            content_subcategory: column.subcategory.clone(),
            schedule: column.schedule.clone().or_else(|| defaults.and_then(|d| d.schedule.clone())),
            // I14: what the file says; `pace` has the whole chain.
            interval_sec: column.interval_sec.or(self.interval_sec),
            interval_jitter_sec: column.interval_jitter_sec.or(self.interval_jitter_sec),
            pace: Pace::default(),
            config,
            parser_override: column.parser_override.clone().map(Value::Object),
            enabled: column.enabled,
            last_crawled_at: None,
            last_article_time: None,
        })
    }

    /// Settings of an adapter other than yaml-css: its own words, the column's over the site's.
    fn foreign(&self, column: &Column, reading: &Reading<'_>, entry_url: &str) -> Value {
        let mut config = Value::Object(self.adapter_params.clone());
        if let (true, Value::Object(config)) = (LISTS_BY_ADDRESS.contains(&self.adapter_name()), &mut config)
        {
            config.insert("list_url".to_owned(), json!(entry_url));
            if let Some(pagination) = reading.pagination {
                config.insert("pagination".to_owned(), json!(pagination));
            }
        }
        if let Some(defaults) = &self.default_column {
            lay_over(&mut config, &Value::Object(defaults.params.clone()));
        }
        if let Some(other) = column.alias_of.as_deref().and_then(|other| self.column(other)) {
            lay_over(&mut config, &Value::Object(other.params.clone()));
        }
        lay_over(&mut config, &Value::Object(column.params.clone()));
        if let (Some(detail), Value::Object(config)) = (reading.detail, &mut config) {
            // S2-52, mixed mode: the list by the adapter, the document by these selectors.
            config.insert("detail".to_owned(), json!(detail));
        }
        config
    }

    fn absolute(&self, url: &str) -> Result<String, ConfigError> {
        Url::parse(&self.base_url).and_then(|base| base.join(url.trim())).map(String::from).map_err(|why| {
            ConfigError::Refused {
                what: format!("{}: {url}", self.origin.name),
                message: format!("not an address ({why})"),
                fix: "write https://…".to_owned(),
            }
        })
    }

    pub(crate) fn to_json(&self) -> Value {
        // Plain data with string keys: this cannot fail.
        serde_json::to_value(self).unwrap_or_default()
    }
}

fn yaml_css(list_url: &str, reading: &Reading<'_>) -> Value {
    let mut config = Map::new();
    config.insert("list_url".to_owned(), json!(list_url));
    if let Some(list) = reading.list_selector {
        config.insert("list_selector".to_owned(), json!(list));
    }
    if let Some(list) = reading.list_json {
        config.insert("list_json".to_owned(), json!(list));
    }
    if let Some(pagination) = reading.pagination {
        config.insert("pagination".to_owned(), json!(pagination));
    }
    if let Some(detail) = reading.detail {
        config.insert("detail".to_owned(), json!(detail));
    }
    Value::Object(config)
}
