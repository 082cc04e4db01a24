//! The policy library of gov.cn: lists from either of its back ends or its static feed, documents from www.gov.cn.
//!
//! `gateway`, `search` and `feed` are the three profiles; what their rows have in common is in `row`, what their JSON
//! has in common in `wire`. `detail` reads documents, `table` the metadata above them. `cipher` makes the header that
//! the gateway wants. Every constant of the site is a default of `config`.

mod cipher;
mod config;
mod detail;
mod feed;
mod gateway;
mod paging;
mod row;
mod search;
mod table;
mod wire;

pub use config::{Config, Detail, Id, Profile, Xxgk, Zcwjk, Zuixin};
use dibao_adapter::{About, Adapter, Ctx, DetailStep, Entry, Failure, Host, ListStep, Reply, Request};
use serde::{Deserialize, Serialize};

/// The adapter.
pub struct GovCnPolicy;

/// What is kept between calls.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Session {
    /// What the gateway's warm-up gave.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub code: Option<String>,
}

impl Adapter for GovCnPolicy {
    type Config = Config;
    type Session = Session;

    fn about() -> About {
        let hosts = ["site", "https://sousuoht.www.gov.cn", "https://sousuo.www.gov.cn", "www.gov.cn"];
        About {
            name: "gov-cn-policy".to_owned(),
            version: env!("CARGO_PKG_VERSION").to_owned(),
            config_schema: include_str!("../config.schema.json").to_owned(),
            hosts: hosts.map(str::to_owned).to_vec(),
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
        match ctx.config.policy_profile {
            Profile::Xxgk => gateway::turn(host, ctx, page, replies),
            Profile::Zcwjk => search::turn(host, ctx, page, replies),
            Profile::Zuixin => feed::turn(host, ctx, replies),
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
            Some(reply) => detail::read(host, &ctx.config, entry, reply).map(DetailStep::Done),
        }
    }
}

dibao_adapter::export!(GovCnPolicy);
