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
        self.may(&[Code::Upstream, Code::Timeout])
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
