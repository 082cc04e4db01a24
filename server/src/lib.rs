//! The REST API, the live events and the admin page, as a thin layer over [`dibao::Engine`]: no logic of its own.
//!
//! [`Server::bind`] checks the options and takes the address, [`Server::run`] serves until it is told to stop; timer and
//! workers are the caller's. Every route is declared once, in `routes/`, with its scope, its inputs and its answers: the
//! declaration is what is served, what is checked, and what [`openapi`] describes.
#![forbid(unsafe_code)]
// A problem is made where a request ends, at most once each: its size costs nothing.
#![allow(clippy::result_large_err)]

mod answer;
mod app;
mod auth;
mod body;
mod call;
mod caller;
mod checked;
mod error;
mod events;
mod idempotency;
mod listen;
mod metrics;
mod openapi;
mod origin;
mod page;
mod paging;
mod places;
mod problem;
mod route;
mod routes;
mod session;
mod stream;
mod throttle;

pub use app::{Options, Server};
pub use auth::Password;
pub use error::ServerError;
pub use openapi::openapi;
