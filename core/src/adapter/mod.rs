//! WHO knows the site: loads WASM components, checks them before they are compiled, and calls
//! them one turn at a time in a sandbox.

pub mod bindings;
mod error;

pub use bindings::contract;
pub use error::AdapterError;
