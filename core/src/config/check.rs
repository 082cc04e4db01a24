//! What is well written but cannot work: found before anything is stored, with place and fix.

use std::collections::HashSet;

use url::Url;

use super::error::{ConfigError, Place, suggestion};
use super::model::{ColumnDefaults, Detail, ListJson, ListSelector, Pagination, PaginationKind, SiteConfig};
use super::place;
use super::resolve::reading;
use crate::model::Pace;
use crate::schedule::cron::CronExpr;

/// No list is read further than this, whatever the file says (S2-21).
pub const HARD_MAX_PAGES: u32 = 500;
/// Longest name of a site or column: both together are a file name.
const LONGEST_SLUG: usize = 64;
/// Longest `user_agent`; servers refuse long header lines.
const LONGEST_AGENT: usize = 512;

/// Checks a whole site file.
pub(crate) fn site(site: &SiteConfig) -> Result<(), ConfigError> {
    let check = Check { site };
    check.slug("site_id", &site.site_id)?;
    if site.site_id.contains("__") {
        return Err(check.invalid(
            "site_id",
            "`__` separates site and column in the names of targets",
            "use a single `_`",
        ));
    }
    if site.site_name.trim().is_empty() {
        return Err(check.invalid("site_name", "the name is empty", "write the site's name"));
    }
    check.absolute("base_url", &site.base_url)?;
    check.pace("", &site.pace())?;
    check.reach()?;
    check.schedule("schedule", site.schedule.as_deref())?;
    for (index, host) in site.hosts.iter().enumerate() {
        check.host(&format!("hosts[{index}]"), host)?;
    }
    if site.uses_yaml_css() && !site.adapter_params.is_empty() {
        return Err(check.invalid(
            "adapter_params",
            "yaml-css has no parameters of this kind",
            "name the adapter they are for (`adapter: …`), or remove them",
        ));
    }
    if let Some(defaults) = &site.default_column {
        check.defaults(defaults)?;
    }
    check.columns()
}

struct Check<'a> {
    site: &'a SiteConfig,
}

impl Check<'_> {
    fn columns(&self) -> Result<(), ConfigError> {
        let mut seen = HashSet::new();
        for (index, column) in self.site.columns.iter().enumerate() {
            let at = |key: &str| format!("columns[{index}].{key}");
            self.slug(&at("column_id"), &column.column_id)?;
            if !seen.insert(column.column_id.as_str()) {
                return Err(self.invalid(
                    &at("column_id"),
                    &format!("`{}` is listed twice", column.column_id),
                    "give each column its own id",
                ));
            }
            if let Some(other) = &column.alias_of {
                self.alias(index, other)?;
            }
            self.parts(
                &format!("columns[{index}]."),
                column.list_selector.as_ref(),
                column.list_json.as_ref(),
                column.pagination.as_ref(),
                column.detail.as_ref(),
            )?;
            self.schedule(&at("schedule"), column.schedule.as_deref())?;
            self.pace(&at(""), &column.pace())?;
            if column.stop_after_duplicates == Some(0) {
                return Err(self.invalid(
                    &at("stop_after_duplicates"),
                    "0 would end every run before its first article",
                    "write 1 or more",
                ));
            }
            if column.full_sweep_every == Some(0) {
                return Err(self.invalid(
                    &at("full_sweep_every"),
                    "there is no 0th run",
                    "write 1 or more, or remove it for never",
                ));
            }
            if self.site.uses_yaml_css() && !column.params.is_empty() {
                return Err(self.invalid(
                    &at("params"),
                    "yaml-css has no parameters of this kind",
                    "write `list_selector`, `pagination` and `detail` instead",
                ));
            }
        }
        // Only now: an alias may point at a column further down.
        for (index, column) in self.site.columns.iter().enumerate() {
            self.complete(index)?;
            if let Some(url) = &column.list_url {
                self.address(&format!("columns[{index}].list_url"), url)?;
            }
        }
        Ok(())
    }

    fn alias(&self, index: usize, other: &str) -> Result<(), ConfigError> {
        let path = format!("columns[{index}].alias_of");
        let column = &self.site.columns[index];
        for (own, there) in [
            ("list_selector", column.list_selector.is_some()),
            ("list_json", column.list_json.is_some()),
            ("pagination", column.pagination.is_some()),
            ("detail", column.detail.is_some()),
        ] {
            if there {
                return Err(self.invalid(
                    &path,
                    &format!("a column that reads like `{other}` has no `{own}` of its own"),
                    &format!("remove `alias_of` or `{own}`"),
                ));
            }
        }
        let mut visited = vec![column.column_id.as_str()];
        let mut next = Some(other);
        while let Some(name) = next {
            if visited.contains(&name) {
                visited.push(name);
                return Err(self.invalid(
                    &path,
                    &format!("the aliases go in a circle: {}", visited.join(" → ")),
                    "let one of them have selectors of its own",
                ));
            }
            visited.push(name);
            next = match self.site.column(name) {
                Some(column) => column.alias_of.as_deref(),
                None => {
                    let known = self.site.columns.iter().map(|c| c.column_id.as_str());
                    let others = known.filter(|id| *id != column.column_id);
                    return Err(self.invalid(
                        &path,
                        &format!("there is no column `{name}`"),
                        &suggestion(name, others),
                    ));
                }
            };
        }
        Ok(())
    }

    /// With aliases and defaults applied, is there enough to read a list?
    fn complete(&self, index: usize) -> Result<(), ConfigError> {
        let column = &self.site.columns[index];
        if !self.site.uses_yaml_css() {
            return Ok(());
        }
        let path = format!("columns[{index}]");
        let reading = reading(self.site, column);
        if reading.list_selector.is_none() && reading.list_json.is_none() {
            return Err(self.invalid(
                &path,
                &format!("column `{}` does not say how its list is read", column.column_id),
                "add `list_selector: {row: …}`, `list_json`, `alias_of` or a `default_column`",
            ));
        }
        if self.site.list_url(column).is_none() {
            return Err(self.invalid(
                &path,
                &format!("column `{}` has no address", column.column_id),
                "add `list_url: https://…`",
            ));
        }
        Ok(())
    }

    fn defaults(&self, defaults: &ColumnDefaults) -> Result<(), ConfigError> {
        if let Some(url) = &defaults.list_url {
            self.address("default_column.list_url", &url.replace("{column}", "column"))?;
        }
        self.schedule("default_column.schedule", defaults.schedule.as_deref())?;
        self.parts(
            "default_column.",
            defaults.list_selector.as_ref(),
            defaults.list_json.as_ref(),
            defaults.pagination.as_ref(),
            defaults.detail.as_ref(),
        )
    }

    fn parts(
        &self,
        at: &str,
        list: Option<&ListSelector>,
        json: Option<&ListJson>,
        pagination: Option<&Pagination>,
        detail: Option<&Detail>,
    ) -> Result<(), ConfigError> {
        if list.is_some() && json.is_some() {
            return Err(self.invalid(
                &format!("{at}list_json"),
                "a list is read from HTML or from JSON, not both",
                "remove `list_selector` or `list_json`",
            ));
        }
        if let Some(list) = list {
            self.list_selector(&format!("{at}list_selector"), list)?;
        }
        if let Some(json) = json {
            self.list_json(&format!("{at}list_json"), json)?;
        }
        if let Some(pagination) = pagination {
            self.pagination(&format!("{at}pagination"), pagination)?;
        }
        if let Some(detail) = detail {
            self.detail(&format!("{at}detail"), detail)?;
        }
        Ok(())
    }

    fn list_selector(&self, at: &str, list: &ListSelector) -> Result<(), ConfigError> {
        self.elements(&format!("{at}.row"), &list.row)?;
        for (key, css) in
            [("href", &list.href), ("title", &list.title), ("date", &list.date), ("pinned", &list.pinned)]
        {
            if let Some(css) = css {
                self.selector(&format!("{at}.{key}"), css)?;
            }
        }
        match &list.native_id {
            Some(rule) if !rule.contains("{digits}") => self.selector(&format!("{at}.native_id"), rule),
            _ => Ok(()),
        }
    }

    fn list_json(&self, at: &str, json: &ListJson) -> Result<(), ConfigError> {
        for (key, path) in [("url", &json.url), ("title", &json.title)] {
            if path.trim().is_empty() {
                return Err(self.invalid(
                    &format!("{at}.{key}"),
                    "the path is empty",
                    "write the names that lead to the value, separated by dots",
                ));
            }
        }
        Ok(())
    }

    fn pagination(&self, at: &str, pagination: &Pagination) -> Result<(), ConfigError> {
        let key = |key: &str| format!("{at}.{key}");
        match pagination.kind {
            PaginationKind::None => return Ok(()),
            PaginationKind::PageParam => {
                if pagination.param.as_deref().is_none_or(|param| param.trim().is_empty()) {
                    return Err(self.invalid(
                        &key("param"),
                        "`page_param` needs the name of the parameter",
                        "add `param: page`",
                    ));
                }
            }
            PaginationKind::PathPattern => {
                if !pagination.pattern.as_deref().is_some_and(|p| p.contains("{page}")) {
                    return Err(self.invalid(
                        &key("pattern"),
                        "`path_pattern` needs a pattern with `{page}` in it",
                        "add `pattern: index_{page}.html`",
                    ));
                }
            }
        }
        match pagination.max_pages {
            None => Err(self.invalid(
                &key("max_pages"),
                "`max_pages` is missing",
                "say how many pages are read at most: `max_pages: 30`",
            )),
            Some(0) => Err(self.invalid(&key("max_pages"), "0 pages", "write 1 or more")),
            Some(pages) if pages > HARD_MAX_PAGES => Err(self.invalid(
                &key("max_pages"),
                &format!("{pages} pages"),
                &format!("at most {HARD_MAX_PAGES} are read (hard_max_pages)"),
            )),
            Some(_) => Ok(()),
        }
    }

    fn detail(&self, at: &str, detail: &Detail) -> Result<(), ConfigError> {
        for (key, css) in
            [("title", &detail.title), ("publish_time", &detail.publish_time), ("source", &detail.source)]
        {
            if let Some(css) = css {
                self.selector(&format!("{at}.{key}"), css)?;
            }
        }
        for (key, css) in [("content", &detail.content), ("attachment_css", &detail.attachment_css)] {
            if let Some(css) = css {
                self.elements(&format!("{at}.{key}"), css)?;
            }
        }
        for (name, css) in &detail.fields {
            self.selector(&format!("{at}.fields.{name}"), css)?;
        }
        Ok(())
    }

    fn selector(&self, path: &str, css: &str) -> Result<(), ConfigError> {
        crate::extract::css::check(css).map_err(|why| {
            self.invalid(
                path,
                &format!("`{css}` is not a selector: {why}"),
                "write CSS, perhaps ending in `::text`, `::attr(name)` or `::html`",
            )
        })
    }

    /// A selector of elements: an ending would be read as part of them.
    fn elements(&self, path: &str, css: &str) -> Result<(), ConfigError> {
        self.selector(path, css)?;
        if css.contains("::") {
            return Err(self.invalid(
                path,
                &format!("`{css}` must choose elements"),
                "remove the ending after `::`",
            ));
        }
        Ok(())
    }

    fn slug(&self, path: &str, slug: &str) -> Result<(), ConfigError> {
        let fits = |c: char| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '_' || c == '-';
        let starts = slug.starts_with(|c: char| c.is_ascii_lowercase() || c.is_ascii_digit());
        if starts && slug.len() <= LONGEST_SLUG && slug.chars().all(fits) {
            return Ok(());
        }
        Err(self.invalid(
            path,
            &format!("`{slug}` is not a name"),
            &format!(
                "use up to {LONGEST_SLUG} lower case letters, digits, `_` and `-`, a letter or digit first"
            ),
        ))
    }

    fn absolute(&self, path: &str, text: &str) -> Result<Url, ConfigError> {
        let fix = "write an address such as https://www.example.gov.cn";
        let url = Url::parse(text)
            .map_err(|why| self.invalid(path, &format!("`{text}` is not an address ({why})"), fix))?;
        self.web(path, url)
    }

    /// An address that may be relative to `base_url`.
    fn address(&self, path: &str, text: &str) -> Result<Url, ConfigError> {
        let base = self.absolute("base_url", &self.site.base_url)?;
        let url = base.join(text.trim()).map_err(|why| {
            self.invalid(path, &format!("`{text}` is not an address ({why})"), "write https://…")
        })?;
        self.web(path, url)
    }

    fn web(&self, path: &str, url: Url) -> Result<Url, ConfigError> {
        let web = matches!(url.scheme(), "http" | "https") && url.host_str().is_some();
        if !web {
            return Err(self.invalid(
                path,
                &format!("`{url}` is not a web address"),
                "it must begin with http:// or https://",
            ));
        }
        if !url.username().is_empty() || url.password().is_some() {
            return Err(self.invalid(
                path,
                "the address holds a user name or password",
                "remove what stands before the @",
            ));
        }
        Ok(url)
    }

    fn host(&self, path: &str, host: &str) -> Result<(), ConfigError> {
        let parsed = Url::parse(&format!("https://{host}/"));
        let plain = parsed.is_ok_and(|url| {
            url.path() == "/" && url.query().is_none() && url.username().is_empty() && !host.contains('/')
        });
        if plain && !host.trim().is_empty() && !host.contains('*') {
            return Ok(());
        }
        Err(self.invalid(
            path,
            &format!("`{host}` is not a host"),
            "write the host alone, such as `files.example.gov.cn`",
        ))
    }

    /// The pace of one level; `at` leads to it and ends in a dot.
    fn pace(&self, at: &str, pace: &Pace) -> Result<(), ConfigError> {
        match pace.fault() {
            Some((key, message, fix)) => Err(self.invalid(&format!("{at}{key}"), &message, &fix)),
            None => Ok(()),
        }
    }

    /// How the site's hosts are reached.
    fn reach(&self) -> Result<(), ConfigError> {
        if let Some(agent) = &self.site.user_agent {
            let sendable = agent.bytes().all(|byte| matches!(byte, 0x20..=0x7e));
            if agent.trim().is_empty() || agent.len() > LONGEST_AGENT || !sendable {
                return Err(self.invalid(
                    "user_agent",
                    "it cannot be sent",
                    &format!(
                        "write one line of at most {LONGEST_AGENT} plain letters, with a way to reach you"
                    ),
                ));
            }
        }
        if let Some(browser) = &self.site.browser {
            if let Some(css) = &browser.wait_for {
                self.selector("browser.wait_for", css)?;
                if css.contains("::") {
                    return Err(self.invalid(
                        "browser.wait_for",
                        "it is an element that is waited for",
                        "remove the ending that begins with `::`",
                    ));
                }
            }
            if browser.scroll > crate::fetch::Rendering::MOST_SCROLLS {
                return Err(self.invalid("browser.scroll", "that is no list's length", "write 0 to 100"));
            }
        }
        if let Some(proxy) = &self.site.proxy {
            crate::fetch::Wire::proxy_of(proxy)
                .map_err(|why| self.invalid("proxy", &why, "write http://host:port or socks5://host:port"))?;
        }
        if self.site.ca_file.as_deref().is_some_and(|file| file.trim().is_empty()) {
            return Err(self.invalid("ca_file", "the name is empty", "write the name of a PEM file"));
        }
        Ok(())
    }

    fn schedule(&self, path: &str, schedule: Option<&str>) -> Result<(), ConfigError> {
        let Some(cron) = schedule else { return Ok(()) };
        // What is accepted here is what will be run (S3-8).
        let Err(error) = CronExpr::parse(cron) else { return Ok(()) };
        let place = error.field.map(|field| format!(" (its {field})")).unwrap_or_default();
        let message = format!("`{cron}` is not a cron expression{place}: `{}` {}", error.text, error.message);
        Err(self.invalid(path, &message, &error.fix))
    }

    fn invalid(&self, path: &str, message: &str, fix: &str) -> ConfigError {
        ConfigError::Invalid {
            place: Place {
                origin: self.site.origin.name.clone(),
                at: place::locate(&self.site.origin.text, path),
                path: path.to_owned(),
            },
            message: message.to_owned(),
            fix: fix.to_owned(),
        }
    }
}
