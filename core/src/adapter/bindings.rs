//! The generated side of the contract; the only file with `bindgen!`.
#![allow(missing_docs)]

wasmtime::component::bindgen!({
    path: "../adapters-wit/wit/v0.1",
    world: "adapter",
});

/// The contract's records, by the names of the WIT.
pub mod contract {
    pub use super::dibao::adapter::html::{Hit, Page as HtmlPage, Query, Table};
    pub use super::dibao::adapter::log::Level;
    pub use super::dibao::adapter::types::*;
    pub use super::exports::dibao::adapter::site::{DetailStep, DetailTurn, ListStep, ListTurn};
}
