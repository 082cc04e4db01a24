//! Write dibao adapters in Rust.
//!
//! An adapter is a type that implements [`Adapter`]: three pure functions with typed settings
//! and a typed session. The same code runs natively in tests, against any [`Host`], and as a
//! WASM component, for which one line is needed:
//!
//! ```
//! use dibao_adapter::{
//!     About, Adapter, Ctx, DetailStep, Entry, Failure, Host, ListStep, Page, Reply, Request,
//!     Select,
//! };
//!
//! struct News;
//!
//! #[derive(serde::Deserialize)]
//! struct Config {
//!     list_url: String,
//! }
//!
//! impl Adapter for News {
//!     type Config = Config;
//!     type Session = ();
//!
//!     fn about() -> About {
//!         About {
//!             name: "news".into(),
//!             version: "0.1.0".into(),
//!             config_schema: r#"{"type":"object","required":["list_url"]}"#.into(),
//!             hosts: vec!["site".into()],
//!             default_interval: 0,
//!         }
//!     }
//!
//!     fn list_page(
//!         host: &impl Host,
//!         ctx: &mut Ctx<Config, ()>,
//!         _cursor: Option<&str>,
//!         replies: &[Reply],
//!     ) -> Result<ListStep, Failure> {
//!         let Some(reply) = replies.last() else {
//!             return Ok(ListStep::Fetch(vec![Request::page("list", &ctx.config.list_url)]));
//!         };
//!         let mut rows = Select::reply(&reply.tag)
//!             .row("ul.news > li")
//!             .one("a::attr(href)")
//!             .one("a::text")
//!             .run(host)?;
//!         let entries = rows
//!             .iter_mut()
//!             .filter_map(|mut row| Some(Entry::new(row.take(0)?, row.take(1).unwrap_or_default())))
//!             .collect();
//!         Ok(ListStep::Done(Page { entries, next: None }))
//!     }
//!
//!     fn detail(
//!         _host: &impl Host,
//!         _ctx: &mut Ctx<Config, ()>,
//!         entry: &Entry,
//!         replies: &[Reply],
//!     ) -> Result<DetailStep, Failure> {
//!         let Some(reply) = replies.last() else {
//!             return Ok(DetailStep::Fetch(vec![Request::page("page", &entry.url)]));
//!         };
//!         Ok(DetailStep::Done(dibao_adapter::Article {
//!             content: Some(dibao_adapter::at(&reply.tag, "div.content")),
//!             ..dibao_adapter::nothing_found()
//!         }))
//!     }
//! }
//!
//! dibao_adapter::export!(News);
//! ```
//!
//! What is not here: anything that touches the world. An adapter asks for requests and is
//! called again with the replies.
#![deny(missing_docs)]

mod adapter;
#[cfg(target_arch = "wasm32")]
mod allocator;
#[doc(hidden)]
pub mod bindings;
mod host;
pub mod json;
mod make;
mod select;
#[doc(hidden)]
pub mod turn;

pub use adapter::{Adapter, Ctx};
pub use bindings::contract::*;
pub use host::Host;
pub use make::{at, found, nothing_found};
pub use select::{Row, Rows, Select};
pub use turn::{detail_turn, list_turn};

/// Makes the crate a component when it is built for WASM, and does nothing elsewhere.
#[macro_export]
macro_rules! export {
    ($adapter:ty) => {
        #[cfg(target_arch = "wasm32")]
        mod __component {
            #![allow(unsafe_code)] // the generated export functions
            use super::*;
            type Exported = $crate::turn::Exported<$adapter>;
            $crate::bindings::export!(Exported with_types_in $crate::bindings);
        }
    };
}
