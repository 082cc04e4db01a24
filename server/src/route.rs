//! What is said of a route beside its types: its address, who may, how long it may take, what can go wrong.

use std::time::Duration;

use http::Method;

use crate::caller::Scope;
use crate::problem::Code;

/// How long an answer may take unless its route says more.
const USUAL: Duration = Duration::from_secs(30);

/// What is said of a route beside its types.
#[derive(Clone, Debug)]
pub struct Route {
    pub method: Method,
    pub path: &'static str,
    /// None: everybody.
    pub scope: Option<Scope>,
    pub tag: &'static str,
    pub about: &'static str,
    /// Problems of its own, besides those that follow from its inputs.
    pub may: Vec<Code>,
    pub within: Option<Duration>,
    /// It heeds an `Idempotency-Key`.
    pub keyed: bool,
}

/// What each writing route is called in the audit.
const CHANGES: &[(Method, &str, &str)] = &[
    (Method::POST, "/admin/api/sites", "site.create"),
    (Method::PUT, "/admin/api/sites/{code}", "site.update"),
    (Method::DELETE, "/admin/api/sites/{code}", "site.delete"),
    (Method::POST, "/admin/api/sites/{code}/toggle", "site.toggle"),
    (Method::POST, "/admin/api/targets", "target.create"),
    (Method::POST, "/admin/api/targets/bulk-create", "target.bulk_create"),
    (Method::POST, "/admin/api/targets/bulk-create-yaml", "target.bulk_create"),
    (Method::POST, "/admin/api/targets/bulk-run", "target.bulk_run"),
    (Method::PUT, "/admin/api/targets/{code}", "target.update"),
    (Method::DELETE, "/admin/api/targets/{code}", "target.delete"),
    (Method::POST, "/admin/api/targets/{code}/toggle", "target.toggle"),
    (Method::PUT, "/admin/api/targets/{code}/parser", "target.update"),
    (Method::POST, "/admin/api/targets/{code}/run", "target.run"),
    (Method::POST, "/api/sources/{code}/fetch", "target.run"),
    (Method::DELETE, "/admin/api/articles/{id}", "article.delete"),
    (Method::POST, "/admin/api/articles/bulk-delete", "article.delete"),
    (Method::POST, "/admin/api/articles/{id}/fetch", "article.fetch"),
    (Method::POST, "/admin/api/local-departments", "department.create"),
    (Method::PUT, "/admin/api/local-departments/{id}", "department.update"),
    (Method::DELETE, "/admin/api/local-departments/{id}", "department.delete"),
    (Method::POST, "/admin/api/hosts/{host}/cool", "host.cool"),
    (Method::POST, "/admin/api/hosts/{host}/reset", "host.reset"),
    (Method::POST, "/admin/api/jobs/{id}/cancel", "job.cancel"),
    (Method::POST, "/admin/api/jobs/{id}/retry", "job.retry"),
    (Method::POST, "/admin/api/schedules", "schedule.create"),
    (Method::PUT, "/admin/api/schedules/{name}", "schedule.update"),
    (Method::DELETE, "/admin/api/schedules/{name}", "schedule.delete"),
    (Method::POST, "/admin/api/schedules/{name}/run", "schedule.run"),
    (Method::POST, "/api/cron/jobs", "schedule.create"),
    (Method::PUT, "/api/cron/jobs/{id}", "schedule.update"),
    (Method::DELETE, "/api/cron/jobs/{id}", "schedule.delete"),
    (Method::POST, "/api/cron/jobs/{id}/run", "schedule.run"),
    (Method::POST, "/api/cron/jobs/{id}/execute", "schedule.run"),
    (Method::POST, "/admin/api/tokens", "token.create"),
    (Method::DELETE, "/admin/api/tokens/{id}", "token.revoke"),
];

macro_rules! methods {
    ($($name:ident $method:ident;)+) => {$(
        pub fn $name(path: &'static str, scope: impl Into<Option<Scope>>, about: &'static str) -> Route {
            Route::new(Method::$method, path, scope.into(), about)
        }
    )+};
}

impl Route {
    fn new(method: Method, path: &'static str, scope: Option<Scope>, about: &'static str) -> Route {
        Route { method, path, scope, tag: "", about, may: Vec::new(), within: Some(USUAL), keyed: false }
    }

    methods! {
        get GET;
        post POST;
        put PUT;
        delete DELETE;
    }

    /// What it changes, as the audit names it; none: it only asks.
    pub fn changes(&self) -> Option<&'static str> {
        let of = |method: &Method, path: &str| *method == self.method && self.path == path;
        CHANGES.iter().find(|(method, path, _)| of(method, path)).map(|(_, _, action)| *action)
    }

    /// Problems of its own.
    pub fn may(mut self, codes: &[Code]) -> Route {
        self.may.extend_from_slice(codes);
        self
    }

    /// Sent twice with the same `Idempotency-Key`, it is done once and answered alike.
    pub fn keyed(mut self) -> Route {
        self.keyed = true;
        self.may(&[Code::Conflict])
    }

    /// It asks a remote site, politely: that takes its time.
    pub fn asks_a_site(mut self) -> Route {
        self.within = Some(Duration::from_secs(180));
        self.may(&[Code::Upstream, Code::Timeout, Code::Busy])
    }

    /// It works for a while, one at a time.
    pub fn computes(mut self) -> Route {
        self.within = Some(Duration::from_secs(180));
        self.may(&[Code::Throttled, Code::Timeout])
    }

    /// It goes on as long as somebody listens.
    pub fn lasting(mut self) -> Route {
        self.within = None;
        self
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Routes that are asked with a body and change nothing.
    const ASKS: [&str; 5] = [
        "/admin/api/cron/validate",
        "/api/cron/validate",
        "/admin/api/schedules/simulate",
        "/admin/api/targets/discover-html",
        "/admin/api/targets/{code}/parser/preview",
    ];

    #[test]
    fn every_route_that_writes_has_its_name_in_the_audit() {
        let routes = crate::routes::list();
        let writes = |route: &&Route| route.method != Method::GET && route.scope.is_some();
        let writing: Vec<&Route> = routes.operations.iter().map(|one| &one.route).filter(writes).collect();
        for route in &writing {
            assert_eq!(
                route.changes().is_none(),
                ASKS.contains(&route.path),
                "{} {}",
                route.method,
                route.path
            );
        }
        assert_eq!(writing.len(), CHANGES.len() + ASKS.len(), "no name is of a route that is gone");
    }
}
