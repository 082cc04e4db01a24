//! Which columns a site has: asked of the adapter that knows its platform, and made into a site file.
//!
//! The knowledge is the adapter's: with `discover: true` in its settings it lists columns instead of documents, each an
//! entry whose `native-id` is the column's number and whose fields say the rest (`path`, `post_count`, `is_list`,
//! `jump_url`, and of the site `root`, `sid`, `site_name`). Here it is only asked, through the same gate as any crawl.

use std::collections::HashMap;

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value, json};
use url::Url;

use super::Engine;
use super::survey::Walked;
use crate::Result;
use crate::config::{Column, ConfigError, SiteConfig};
use crate::model::Entry;

/// Longest name of a site.
const LONGEST_ID: usize = 64;

/// A site as its adapter found it.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct Discovered {
    /// Everything that was found, in the site's order.
    pub columns: Vec<FoundColumn>,
    /// A site file of the columns that list documents. Those without any are switched off in it.
    pub site: SiteConfig,
    /// How its pages were gone through, when no adapter could name its columns.
    pub walked: Option<Walked>,
}

/// A column of a site.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[non_exhaustive]
pub struct FoundColumn {
    /// The site's own number.
    pub id: String,
    /// Name.
    pub name: String,
    /// The names from the top, separated by `/`.
    pub path: String,
    /// How many documents the site says it has.
    pub post_count: Option<u64>,
    /// Whether documents are listed under it: others hold columns or lead elsewhere.
    pub is_list: bool,
    /// Where it leads instead.
    pub jump_url: Option<String>,
    /// The first page of its list.
    pub url: String,
    /// Titles of its first documents, where they were seen.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub titles: Vec<String>,
    /// As a column of a site file; none: it lists no documents.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub column: Option<Column>,
}

impl Engine {
    /// Asks an adapter which columns the site at `url` has. Any page of the site will do. Nothing is stored but what is
    /// known of its host.
    pub async fn discover(&self, adapter: &str, url: &Url) -> Result<Discovered> {
        let mut base = url.clone();
        base.set_fragment(None);
        base.set_query(None);
        let asked = site_config(json!({
            "site_id": site_id(&base), "site_name": base.host_str().unwrap_or("?"), "base_url": base.as_str(), "adapter": adapter,
            "adapter_params": { "discover": true }, "columns": [{ "column_id": "discover" }],
        }))?;
        let (site, mut targets) = asked.into_rows()?;
        let target = targets.remove(0);
        let preview = self.crawl_unstored(site, target).preview().await?;
        self.inner.gate.flush().await;
        let entries: Vec<Entry> = preview.rows.into_iter().map(|row| row.entry).collect();
        let site = found_site(&base, adapter, &entries)?;
        let mut columns: Vec<FoundColumn> = entries.into_iter().map(column).collect();
        for found in columns.iter_mut().filter(|found| found.is_list) {
            let id = slug(&found.id);
            found.column = site.columns.iter().find(|column| column.column_id == id).cloned();
        }
        Ok(Discovered { site, columns, walked: None })
    }
}

fn column(entry: Entry) -> FoundColumn {
    let Entry { url, title, native_id, fields, .. } = entry;
    let mut fields: HashMap<String, String> = fields.into_iter().collect();
    FoundColumn {
        id: native_id.unwrap_or_default(),
        path: fields.remove("path").unwrap_or_else(|| title.clone()),
        post_count: fields.remove("post_count").and_then(|count| count.parse().ok()),
        is_list: fields.remove("is_list").is_some_and(|flag| flag == "true"),
        jump_url: fields.remove("jump_url"),
        name: title,
        url,
        titles: Vec::new(),
        column: None,
    }
}

/// The site file of what was found.
fn found_site(asked: &Url, adapter: &str, entries: &[Entry]) -> Result<SiteConfig> {
    let about = |name: &str| {
        let fields = entries.first().map(|entry| entry.fields.as_slice()).unwrap_or_default();
        fields
            .iter()
            .find(|(known, _)| known == name)
            .map(|(_, value)| value.trim())
            .filter(|v| !v.is_empty())
    };
    let root = about("root").and_then(|root| Url::parse(root).ok()).unwrap_or_else(|| asked.clone());
    let mut params = Map::new();
    if let Some(sid) = about("sid") {
        params.insert("sid".to_owned(), json!(sid));
    }
    let columns: Vec<Value> = entries
        .iter()
        .cloned()
        .map(column)
        .filter(|column| column.is_list)
        .map(|column| {
            let number = column.id.parse::<u64>().map_or_else(|_| json!(column.id), |number| json!(number));
            json!({
                "column_id": slug(&column.id), "name": column.name, "channel_path": column.path,
                "params": { "column_id": number }, "enabled": column.post_count != Some(0),
            })
        })
        .collect();
    site_config(json!({
        "site_id": site_id(&root), "site_name": about("site_name").or(root.host_str()).unwrap_or("?"),
        "base_url": root.as_str().trim_end_matches('/'), "adapter": adapter, "adapter_params": params, "columns": columns,
    }))
}

pub(super) fn site_config(value: Value) -> Result<SiteConfig> {
    SiteConfig::deserialize(value).map_err(|error| {
        let fix = "write the site file by hand".to_owned();
        ConfigError::Refused { what: "the site that was found".to_owned(), message: error.to_string(), fix }
            .into()
    })
}

/// A name for a site from its address: `https://www.zhaoqing.gov.cn/zqhjj` → `zhaoqing_zqhjj`.
pub(super) fn site_id(url: &Url) -> String {
    let host = url.host_str().unwrap_or_default();
    let host = host.strip_prefix("www.").unwrap_or(host);
    let host = [".gov.cn", ".com.cn", ".cn"].iter().find_map(|end| host.strip_suffix(end)).unwrap_or(host);
    let folders = url.path_segments().into_iter().flatten();
    let folders =
        folders.take_while(|name| *name != "gkmlpt").filter(|name| !name.is_empty() && !name.contains('.'));
    let words: Vec<&str> = std::iter::once(host).chain(folders).collect();
    slug(&words.join("_"))
}

/// Lower case letters, digits and single underscores.
pub(super) fn slug(text: &str) -> String {
    let mut slug = String::new();
    for c in text.chars().take(LONGEST_ID) {
        let c = c.to_ascii_lowercase();
        let kept = c.is_ascii_lowercase() || c.is_ascii_digit() || c == '-';
        if kept || !slug.ends_with('_') {
            slug.push(if kept { c } else { '_' });
        }
    }
    let slug = slug.trim_matches(['_', '-']);
    if slug.is_empty() { "site".to_owned() } else { slug.to_owned() }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sites_are_named_after_their_address() {
        for (url, id) in [
            ("https://www.zhaoqing.gov.cn/zqhjj", "zhaoqing_zqhjj"),
            ("http://www.sz.gov.cn/", "sz"),
            ("https://rsj.huizhou.gov.cn/gkmlpt/index", "rsj_huizhou"),
            ("https://a.gov.cn/X__y/index.html", "a_x_y"),
            ("https://例子.cn/", "xn--fsqu00a"),
            ("http://[::1]/", "1"),
        ] {
            assert_eq!(site_id(&Url::parse(url).unwrap()), id, "{url}");
        }
        assert_eq!(slug("__"), "site");
    }

    #[test]
    fn a_site_file_has_the_columns_that_list_documents() {
        let entry = |id: &str, fields: &[(&str, &str)]| Entry {
            id: 0,
            url: format!("https://a.gov.cn/d/gkmlpt/api/all/{id}"),
            url_hash: String::new(),
            title: format!("栏目{id}"),
            published_raw: None,
            published: None,
            native_id: Some(id.to_owned()),
            pinned: false,
            fields: fields.iter().map(|(name, value)| (name.to_string(), value.to_string())).collect(),
        };
        let site =
            [("root", "https://a.gov.cn/d"), ("sid", "7"), ("site_name", "某局"), ("is_list", "false")];
        let entries = [
            entry("1", &site),
            entry("2", &[("is_list", "true"), ("path", "栏目1/栏目2"), ("post_count", "9")]),
            entry("3", &[("is_list", "true"), ("post_count", "0")]),
        ];
        let asked = Url::parse("https://a.gov.cn/d/gkmlpt/index").unwrap();
        let found = found_site(&asked, "gkmlpt", &entries).unwrap();
        let (site, targets) = found.into_rows().unwrap();
        let text = crate::config::export_site(&site, &targets);
        let again =
            crate::config::parse_site(&text, "found.yaml").unwrap_or_else(|error| panic!("{error}\n{text}"));
        let (site, targets) = again.into_rows().unwrap();
        assert_eq!((site.code.as_str(), site.name.as_str()), ("a_d", "某局"));
        assert_eq!(site.base_url, "https://a.gov.cn/d");
        let rows: Vec<_> = targets.iter().map(|t| (t.code.as_str(), t.enabled, t.config.clone())).collect();
        assert_eq!(
            rows,
            [
                ("a_d__2", true, json!({"sid": "7", "column_id": 2})),
                ("a_d__3", false, json!({"sid": "7", "column_id": 3}))
            ]
        );
    }
}
