//! Begins and builds adapter projects: what `dibao adapter new` and `dibao adapter build` do, and how the examples of this
//! repository are built.
//!
//! [`begin`] writes a project that is complete in itself: contract, SDK and fixtures come out of this crate, so that nothing but the
//! language's own tools is needed. [`build`] turns a project into a component; what a language needs beyond its own tools is
//! installed from its registry into a private directory ([`tools`]). Nothing here knows the sandbox: whether a component is accepted
//! is the library's to say.
#![deny(missing_docs)]

mod error;
mod javascript;
mod project;
mod python;
mod rust;
mod template;
pub mod tools;

pub use error::KitError;
pub use project::{Language, Project, build};
pub use rust::{encode, wasm_target};
pub use template::{begin, is_name};

/// The contract, as adapters are built against it.
pub const WIT: &str = include_str!("../../../adapters-wit/wit/v0.1/adapter.wit");
