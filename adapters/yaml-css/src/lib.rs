//! The adapter behind site YAML files: lists and documents by CSS selectors.
//!
//! It knows no site: everything comes from the settings, which the host has already resolved (aliases,
//! defaults, overrides). `list` reads lists, `paging` says where the next page is, `detail` reads documents.

mod config;
mod css;
mod detail;
mod fit;
mod json;
mod list;
mod native_id;
mod paging;
mod records;

pub use config::{Config, Detail, ListJson, ListSelector, Pagination, PaginationKind};
use dibao_adapter::{About, Adapter, Ctx, DetailStep, Entry, Failure, Host, ListStep, Reply, Request};
use serde::{Deserialize, Serialize};

/// The adapter.
pub struct YamlCss;

/// What is remembered of the page before, to notice a list that repeats itself.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Session {
    /// Hash of each address of the last page.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub last_page: Vec<u32>,
}

impl Adapter for YamlCss {
    type Config = Config;
    type Session = Session;

    fn about() -> About {
        About {
            name: "yaml-css".to_owned(),
            version: env!("CARGO_PKG_VERSION").to_owned(),
            config_schema: include_str!("../config.schema.json").to_owned(),
            hosts: vec!["site".to_owned()],
            default_interval: 0,
        }
    }

    fn list_page(
        host: &impl Host,
        ctx: &mut Ctx<Config, Session>,
        cursor: Option<&str>,
        replies: &[Reply],
    ) -> Result<ListStep, Failure> {
        let page = paging::number(cursor)?;
        match replies.last() {
            None => {
                let url = paging::address(&ctx.config, page)?;
                let request = match ctx.config.list_json {
                    Some(_) => Request::json("list", &url),
                    None => Request::page("list", &url),
                };
                Ok(ListStep::Fetch(vec![request]))
            }
            Some(reply) => list::read(host, ctx, page, reply).map(ListStep::Done),
        }
    }

    fn detail(
        host: &impl Host,
        ctx: &mut Ctx<Config, Session>,
        entry: &Entry,
        replies: &[Reply],
    ) -> Result<DetailStep, Failure> {
        match replies.last() {
            None => Ok(DetailStep::Fetch(vec![Request::page("page", &entry.url)])),
            Some(reply) => detail::read(host, &ctx.config, reply).map(DetailStep::Done),
        }
    }
}

dibao_adapter::export!(YamlCss);
