//! The settings of one target, as the host hands them over: `config.schema.json` in types.

use std::collections::BTreeMap;

use serde::Deserialize;

use crate::scalar::Scalar;

/// How far a column is read when nothing is said. At a hundred rows a page this is more than any column seen; it is
/// there for a site whose list never ends.
const MAX_PAGES: u32 = 500;

/// Settings of one target.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(default)]
pub struct Config {
    column_id: Scalar,
    /// The column by name or path.
    pub column_name: Option<String>,
    sid: Scalar,
    /// The department's part of the address.
    pub dept_path: Option<String>,
    area_code: Scalar,
    /// Where the list is, with places to fill in.
    pub list_api_path_tpl: Option<String>,
    /// For the template.
    pub page_size: Option<u32>,
    hard_max_pages: Option<u32>,
    /// List columns instead of documents.
    pub discover: bool,
    /// Selectors of the operator's own.
    pub detail: Detail,
}

/// Selectors that come before the adapter's own (S2-52).
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(default)]
pub struct Detail {
    /// The title.
    pub title: Option<String>,
    /// The time of publication.
    pub publish_time: Option<String>,
    /// 来源.
    pub source: Option<String>,
    /// The body.
    pub content: Option<String>,
    /// Links to attachments.
    pub attachment_css: Option<String>,
    /// Further fields.
    pub fields: BTreeMap<String, String>,
}

impl Config {
    /// The column's number, when it is written.
    pub fn column_id(&self) -> Option<u64> {
        self.column_id.natural()
    }

    /// The site's number, when it is written.
    pub fn sid(&self) -> Option<String> {
        self.sid.text()
    }

    /// For the template.
    pub fn area_code(&self) -> Option<String> {
        self.area_code.text()
    }

    /// No column is read further than this.
    pub fn max_pages(&self) -> u32 {
        self.hard_max_pages.unwrap_or(MAX_PAGES)
    }
}
