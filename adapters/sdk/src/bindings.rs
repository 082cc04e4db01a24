//! The generated side of the contract; the only file with `generate!`.
#![allow(missing_docs)]
#![allow(unsafe_code)] // lifting and lowering of values at the component's edge
#![allow(clippy::all, unused_qualifications)]

wit_bindgen::generate!({
    path: "../../adapters-wit/wit/v0.1",
    world: "adapter",
    pub_export_macro: true,
    export_macro_name: "export",
    generate_all,
    additional_derives: [PartialEq],
});

/// The contract's records, by the names of the WIT. They are plain data and exist natively too.
pub mod contract {
    pub use super::dibao::adapter::html::{Hit, Page as HtmlPage, Query, Table};
    pub use super::dibao::adapter::log::Level;
    pub use super::dibao::adapter::types::{
        About, Article, Attachment, Body, Context, Entry, Expects, Failure, Field, Found, Method, Page,
        Place, Reply, Request,
    };
    pub use super::exports::dibao::adapter::site::{DetailStep, DetailTurn, ListStep, ListTurn};
}
