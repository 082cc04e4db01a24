//! All routes, by chapter. Each file declares its own.

mod adapters;
mod articles;
mod cron;
mod cron_jobs;
mod departments;
mod hosts;
mod jobs;
mod numbers;
mod schedules;
mod session;
mod simulate;
mod sites;
mod targets;
mod tokens;
pub mod watch;

use std::collections::HashSet;

use axum::Router;
use axum::extract::Request;
use axum::response::{IntoResponse, Redirect, Response};
use axum::routing::get;

use crate::app::App;
use crate::call::Routes;
use crate::{openapi, page};
use watch::Document;

/// The routes as they are declared.
pub fn list() -> Routes {
    let mut routes = Routes::new();
    session::add(routes.tag("session"));
    sites::add(routes.tag("sites"));
    targets::add(routes.tag("targets"));
    articles::add(routes.tag("articles"));
    departments::add(routes.tag("departments"));
    tokens::add(routes.tag("tokens"));
    jobs::add(routes.tag("jobs"));
    schedules::add(routes.tag("schedules"));
    simulate::add(routes.tag("schedules"));
    cron::add(routes.tag("schedules"));
    cron_jobs::add(routes.tag("cron"));
    hosts::add(routes.tag("hosts"));
    numbers::add(routes.tag("numbers"));
    adapters::add(routes.tag("adapters"));
    watch::add(routes.tag("watching"));
    routes
}

/// The router of everything, the document that describes it, and the patterns of its routes.
pub fn all() -> (Router<App>, Document, HashSet<&'static str>) {
    let mut routes = list();
    let document = Document::new(openapi::describe(&mut routes));
    let patterns = routes.operations.iter().map(|operation| operation.route.path).collect();
    let router = routes
        .router
        .route("/", get(|| async { Redirect::temporary("/admin/") }))
        .route("/admin", get(|| async { Redirect::permanent("/admin/") }))
        .route("/admin/", get(file))
        .route("/admin/{*path}", get(file))
        .fallback(nothing);
    (router, document, patterns)
}

/// A file of the page.
async fn file(request: Request) -> Response {
    let path = request.uri().path().strip_prefix("/admin/").unwrap_or("");
    // What is not a route of the API is no file of the page either.
    if path.starts_with("api/") {
        return nothing().await;
    }
    page::serve(path, request.headers())
}

async fn nothing() -> Response {
    crate::problem::Problem::new(crate::problem::Code::NotFound, "there is no such address").into_response()
}
