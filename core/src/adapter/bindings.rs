//! The generated side of the contract; the only file with `bindgen!`.
//!
//! Imports may trap (`trappable`): a host function that meets a bug of its own ends the turn with
//! an error instead of unwinding through the guest.
#![allow(missing_docs)]

wasmtime::component::bindgen!({
    path: "../adapters-wit/wit/v0.1",
    world: "adapter",
    imports: { default: trappable },
    additional_derives: [PartialEq, serde::Serialize, serde::Deserialize],
});

/// The contract's records, by the names of the WIT.
pub mod contract {
    pub use super::dibao::adapter::html::{Hit, Page as HtmlPage, Query, Table};
    pub use super::dibao::adapter::log::Level;
    pub use super::dibao::adapter::types::*;
    pub use super::exports::dibao::adapter::site::{DetailStep, DetailTurn, ListStep, ListTurn};
}
