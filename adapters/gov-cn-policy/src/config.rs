//! The settings of one target: `config.schema.json` in types.
//!
//! What the site's own pages carry as constants (keys, tokens, names) are defaults here, and a test holds them against
//! the schema's: when the site changes one, it is written into a site file, and nothing is built again.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

/// Settings of one target.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(default)]
pub struct Config {
    /// Which back end lists the documents.
    pub policy_profile: Profile,
    /// Rows of a page; in a grouped answer, rows of each class.
    pub page_size: u32,
    /// How many pages are read at most (S2-24).
    pub hard_max_pages: u32,
    /// What relative links of rows are relative to.
    pub landing: String,
    /// The athena gateway.
    pub xxgk: Xxgk,
    /// The search of the document library.
    pub zcwjk: Zcwjk,
    /// The static feed.
    pub zuixin: Zuixin,
    /// Selectors that are tried before the built-in ones (S2-52).
    pub detail: Detail,
}

/// The ways to list the library.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Profile {
    /// 政府信息公开: the athena gateway.
    #[default]
    Xxgk,
    /// 政策文件库: the search.
    Zcwjk,
    /// 最新政策: one static file with the newest thousand.
    Zuixin,
}

/// The athena gateway.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(default)]
pub struct Xxgk {
    /// Its origin.
    pub gateway: String,
    /// Path segment of the warm-up.
    pub warmup_token: String,
    /// Path segment of the list.
    pub list_token: String,
    /// SPKI DER in base64; PEM lines are accepted.
    pub public_key: String,
    /// What is encrypted.
    pub app_key: String,
    /// Sent percent-encoded.
    pub app_name: String,
    /// `thirdPartyName` of the warm-up.
    pub third_party_name: String,
    /// `thirdPartyTenantId` of the warm-up.
    pub tenant_id: String,
    /// `thirdPartyCode` of the list.
    pub third_party_code: String,
    /// `thirdPartyTableId` of the list.
    pub table_id: u64,
    /// Only these come back.
    pub result_fields: Vec<String>,
    /// Where `search_word` is looked for; empty: in the whole text.
    pub search_field: String,
    /// Empty: everything.
    pub search_word: String,
    /// The word must stand there as it is.
    pub precise: bool,
    /// The field by which rows are sorted.
    pub sort_field: String,
    /// Ids of categories; empty: all.
    pub categories: Vec<Id>,
    /// `Origin` header.
    pub origin: String,
    /// `Referer` header.
    pub referer: String,
}

/// The browser sends the root category as a string and the others as numbers.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(untagged)]
pub enum Id {
    /// `1108`.
    Number(u64),
    /// `"1100"`.
    Word(String),
}

/// The search of the document library.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(default)]
pub struct Zcwjk {
    /// Its address.
    pub endpoint: String,
    /// `Referer` header.
    pub referer: String,
    /// Laid over the parameters that the browser sends; `p` and `n` are the adapter's own.
    pub query: BTreeMap<String, String>,
}

/// The static feed.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(default)]
pub struct Zuixin {
    /// Its address.
    pub feed: String,
}

/// Selectors that are tried before the built-in ones.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct Detail {
    /// The title.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub title: Option<String>,
    /// The time of publication.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub publish_time: Option<String>,
    /// 来源.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub source: Option<String>,
    /// The body.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub content: Option<String>,
    /// Links to attachments.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub attachment_css: Option<String>,
    /// Further fields.
    pub fields: BTreeMap<String, String>,
}

impl Default for Config {
    fn default() -> Self {
        Config {
            policy_profile: Profile::default(),
            page_size: 20,
            hard_max_pages: 5,
            landing: "https://www.gov.cn/zhengce/xxgk/".to_owned(),
            xxgk: Xxgk::default(),
            zcwjk: Zcwjk::default(),
            zuixin: Zuixin::default(),
            detail: Detail::default(),
        }
    }
}

impl Default for Xxgk {
    fn default() -> Self {
        let word = str::to_owned;
        Xxgk {
            gateway: word("https://sousuoht.www.gov.cn"),
            warmup_token: word("DA2FE8C6CAD0EEBC5F97F7E3F3633A7188DAA40373EEA0E4024A081201F4D546"),
            list_token: word("486B5ABFBAD0FF5743F5E82E007EF04DDD6388E7989E9EC9CC7B84917AC81A5F"),
            public_key: word(concat!(
                "MIGfMA0GCSqGSIb3DQEBAQUAA4GNADCBiQKBgQCSMhMJQ+XLI7oW0k9Bwufur4Ag40tcsrzT7WZf6Ao0O/hyY1gZtCSYFxkxIZUXjW46",
                "j27XSW8IDX1rTJoHaMxHCWsOpTi2W5stybGYZytsY5on8gd8AIaS1d52h9eaS2TFydtJJtE50xHmT0WmoyoinWCuVCOkdCLhh9b9jSde",
                "SQIDAQAB",
            )),
            app_key: word("a46884b2013e4d189f2a8e2d49a23525"),
            app_name: word("国网搜索"),
            third_party_name: word("hycloud"),
            tenant_id: word("8"),
            third_party_code: word("thirdparty_code_107"),
            table_id: 30,
            result_fields: ["pub_url", "maintitle", "fwzh", "cwrq", "publish_time"].map(word).to_vec(),
            search_field: word("maintitle"),
            search_word: String::new(),
            precise: false,
            sort_field: word("publish_time"),
            categories: Vec::new(),
            origin: word("https://www.gov.cn"),
            referer: word("https://www.gov.cn/zhengce/xxgk/"),
        }
    }
}

impl Default for Zcwjk {
    fn default() -> Self {
        Zcwjk {
            endpoint: "https://sousuo.www.gov.cn/search-gov/data".to_owned(),
            referer: "https://sousuo.www.gov.cn/zcwjk/policyDocumentLibrary".to_owned(),
            query: BTreeMap::new(),
        }
    }
}

impl Default for Zuixin {
    fn default() -> Self {
        Zuixin { feed: "https://www.gov.cn/zhengce/zuixin/ZUIXINZHENGCE.json".to_owned() }
    }
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::Config;

    /// The values that a schema gives to what is left out.
    fn defaults(schema: &Value) -> Value {
        match (schema.get("default"), schema.get("properties").and_then(Value::as_object)) {
            (Some(value), _) => value.clone(),
            (None, Some(properties)) => properties
                .iter()
                .map(|(name, schema)| (name.clone(), defaults(schema)))
                .filter(|(_, value)| !value.is_null())
                .collect(),
            (None, None) => Value::Null,
        }
    }

    #[test]
    fn the_schema_names_the_defaults_that_are_in_force() {
        let schema: Value = serde_json::from_str(include_str!("../config.schema.json")).unwrap();
        assert_eq!(defaults(&schema), serde_json::to_value(Config::default()).unwrap());
    }

    #[test]
    fn one_changed_constant_leaves_the_others_as_they_are() {
        let config: Config = serde_json::from_value(json!({"xxgk": {"app_key": "new"}})).unwrap();
        assert_eq!((config.xxgk.app_key.as_str(), config.xxgk.table_id, config.page_size), ("new", 30, 20));
    }
}
