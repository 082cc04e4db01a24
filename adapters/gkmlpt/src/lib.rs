//! The adapter of gkmlpt, the open-government catalogue of Guangdong (政府信息公开目录平台): its lists are JSON behind a
//! plain GET, its documents are in a script of their page.
//!
//! `list` reads columns and knows where they end, `row` makes entries, `detail` reads documents, `index` and `discover` find
//! the site's number and its columns, `js` reads the script literals in which both are written. `place` knows the
//! addresses. What the platform does not have (an HTML list, a search) is not here.

mod answer;
mod civil;
mod config;
mod detail;
mod discover;
mod files;
mod fit;
mod index;
mod js;
mod lax;
mod list;
mod page;
mod place;
mod row;
mod scalar;

pub use config::{Config, Detail};
use dibao_adapter::{About, Adapter, Ctx, DetailStep, Entry, Failure, Host, ListStep, Reply};
pub use list::Session;

/// The adapter.
pub struct Gkmlpt;

impl Adapter for Gkmlpt {
    type Config = Config;
    type Session = Session;

    fn about() -> About {
        About {
            name: "gkmlpt".to_owned(),
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
        match ctx.config.discover {
            true => discover::turn(host, ctx, replies),
            false => list::turn(host, ctx, cursor, replies),
        }
    }

    fn detail(
        host: &impl Host,
        ctx: &mut Ctx<Config, Session>,
        entry: &Entry,
        replies: &[Reply],
    ) -> Result<DetailStep, Failure> {
        detail::turn(host, ctx, entry, replies)
    }
}

dibao_adapter::export!(Gkmlpt);
