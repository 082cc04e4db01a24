//! Rows of the store as a site file again: what the operator changed in the store is in it.

use serde::Deserialize;
use serde_json::{Map, Value};

use super::model::{Column, SiteConfig, Strategy};
use crate::model::{Pace, Site, Target};

/// The YAML from which the same rows can be made.
pub fn export_site(site: &Site, targets: &[Target]) -> String {
    // What was written is kept as far as it still says the same: names, order, aliases.
    let mut config = SiteConfig::deserialize(&site.source).unwrap_or_else(|_| bare(site));
    config.site_id.clone_from(&site.code);
    config.site_name.clone_from(&site.name);
    config.base_url.clone_from(&site.base_url);
    if config.adapter_name() != site.adapter {
        config.adapter = Some(site.adapter.clone());
    }
    config.default_strategy = strategy(&site.strategy);
    config.schedule.clone_from(&site.schedule);
    config.enabled = site.enabled;
    config.respect_robots = site.respect_robots;
    if config.concurrency.unwrap_or(1) != site.concurrency {
        config.concurrency = Some(site.concurrency);
    }
    config.hosts.clone_from(&site.hosts);

    // A target without a pace of its own cannot be said beside one of the site.
    if targets.iter().any(|target| target.interval_sec.is_none()) {
        config.interval_sec = None;
    }
    if targets.iter().any(|target| target.interval_jitter_sec.is_none()) {
        config.interval_jitter_sec = None;
    }
    let written = std::mem::take(&mut config.columns);
    let ids: Vec<&str> = targets.iter().map(|target| column_id(site, target)).collect();
    config.columns = written.iter().filter(|c| ids.contains(&c.column_id.as_str())).cloned().collect();
    for (target, id) in targets.iter().zip(&ids) {
        if config.column(id).is_none() {
            let added = Column { column_id: (*id).to_owned(), enabled: true, ..Column::default() };
            config.columns.push(added);
        }
        let as_written = config.column_target(id).ok();
        let (pace, jitter) = (config.interval_sec, config.interval_jitter_sec);
        if let Some(column) = config.columns.iter_mut().find(|column| column.column_id == *id) {
            update(column, target, as_written.as_ref(), &site.adapter);
            column.interval_sec = target.interval_sec.filter(|own| Some(*own) != pace);
            column.interval_jitter_sec = target.interval_jitter_sec.filter(|own| Some(*own) != jitter);
            by_hand(column, &target.pace);
        }
    }
    serde_saphyr::to_string(&config).unwrap_or_default()
}

/// Writes into the column what its row says otherwise.
fn update(column: &mut Column, target: &Target, as_written: Option<&Target>, adapter: &str) {
    let same = |field: fn(&Target) -> &Option<String>| {
        as_written.is_some_and(|written| field(written) == field(target))
    };
    if as_written.is_none_or(|written| written.name != target.name) {
        column.name = Some(target.name.clone());
    }
    if as_written.is_none_or(|written| written.entry_url != target.entry_url) {
        column.list_url = Some(target.entry_url.clone());
    }
    if !same(|t| &t.content_category) {
        column.category.clone_from(&target.content_category);
    }
    if !same(|t| &t.schedule) {
        column.schedule.clone_from(&target.schedule);
    }
    column.subcategory.clone_from(&target.content_subcategory);
    column.channel_name.clone_from(&target.channel_name);
    column.channel_path.clone_from(&target.channel_path);
    column.enabled = target.enabled;
    column.parser_override = match &target.parser_override {
        Some(Value::Object(over)) => Some(over.clone()),
        _ => None,
    };
    if as_written.is_none_or(|written| written.config != target.config) {
        write_out(column, &target.config, adapter);
    }
}

/// What the operator set about the pace is the column's word in the file.
fn by_hand(column: &mut Column, pace: &Pace) {
    column.profile = pace.profile.or(column.profile);
    column.interval_sec = pace.interval_sec.or(column.interval_sec);
    column.interval_jitter_sec = pace.interval_jitter_sec.or(column.interval_jitter_sec);
    column.concurrency = pace.concurrency.or(column.concurrency);
    column.rps = pace.rps.or(column.rps);
    column.burst = pace.burst.or(column.burst);
    column.throttle_by = pace.throttle_by.or(column.throttle_by);
    column.attachment_interval_cap_sec =
        pace.attachment_interval_cap_sec.or(column.attachment_interval_cap_sec);
}

/// The settings differ from what the file would give: they are written in full.
fn write_out(column: &mut Column, config: &Value, adapter: &str) {
    column.alias_of = None;
    let part = |key: &str| config.get(key).cloned().unwrap_or_default();
    column.detail = Option::deserialize(part("detail")).unwrap_or_default();
    if matches!(adapter, super::DEFAULT_ADAPTER | "yaml") {
        column.list_selector = Option::deserialize(part("list_selector")).unwrap_or_default();
        column.list_json = Option::deserialize(part("list_json")).unwrap_or_default();
        column.pagination = Option::deserialize(part("pagination")).unwrap_or_default();
    } else {
        column.params = config.as_object().cloned().unwrap_or_default();
        if column.detail.is_some() {
            column.params.shift_remove("detail");
        }
    }
}

fn column_id<'a>(site: &Site, target: &'a Target) -> &'a str {
    target
        .code
        .strip_prefix(site.code.as_str())
        .and_then(|rest| rest.strip_prefix("__"))
        .unwrap_or(&target.code)
}

/// A site that was made in the store and never had a file (S2-52).
pub(super) fn bare(site: &Site) -> SiteConfig {
    SiteConfig {
        site_id: site.code.clone(),
        site_name: site.name.clone(),
        base_url: site.base_url.clone(),
        adapter: Some(site.adapter.clone()),
        adapter_params: Map::new(),
        default_strategy: strategy(&site.strategy),
        concurrency: Some(site.concurrency),
        profile: None,
        interval_sec: None,
        interval_jitter_sec: None,
        rps: None,
        burst: None,
        throttle_by: None,
        attachment_interval_cap_sec: None,
        user_agent: None,
        ip_family: None,
        browser: None,
        proxy: None,
        ca_file: None,
        tls: None,
        enabled: site.enabled,
        respect_robots: site.respect_robots,
        hosts: site.hosts.clone(),
        schedule: site.schedule.clone(),
        adaptive: None,
        combine: None,
        default_column: None,
        columns: Vec::new(),
        origin: Default::default(),
    }
}

fn strategy(name: &str) -> Strategy {
    match name {
        "http" => Strategy::Http,
        "browser" => Strategy::Browser,
        _ => Strategy::Auto,
    }
}
