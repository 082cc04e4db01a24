//! The server: its options, what its routes share, and its life from the address to the last answer.

use std::collections::HashSet;
use std::net::SocketAddr;
use std::sync::Arc;

use axum::Router;
use dibao::queue::{Handlers, QueueEvent};
use dibao::{CrawlEvent, Engine, Report};
use futures::StreamExt;
use tokio::net::TcpListener;
use tokio::sync::Semaphore;
use tokio_util::sync::CancellationToken;

use crate::auth::{Auth, Password, random};
use crate::error::ServerError;
use crate::events::Events;
use crate::listen;
use crate::metrics::Metrics;
use crate::routes::{self, watch::Document};

/// How a server is reached, and by whom.
#[derive(Clone, Debug)]
pub struct Options {
    /// The address. Another than loopback needs credentials.
    pub listen: SocketAddr,
    /// Name and password of the administrator; none: whoever is on this machine is one.
    pub admin: Option<(String, Password)>,
    /// Names under which it is reached, besides addresses and `localhost`.
    pub names: Vec<String>,
    /// A proxy before it speaks TLS: cookies are for TLS only.
    pub https: bool,
}

impl Default for Options {
    fn default() -> Self {
        Options { listen: ([127, 0, 0, 1], 8787).into(), admin: None, names: Vec::new(), https: false }
    }
}

/// What all routes share.
#[derive(Clone)]
pub struct App(Arc<Shared>);

pub struct Shared {
    pub engine: Engine,
    pub auth: Auth,
    pub events: Events,
    pub metrics: Metrics,
    pub names: Vec<String>,
    pub openapi: Document,
    pub stop: CancellationToken,
    /// One long computation at a time: it takes a core.
    pub computing: Arc<Semaphore>,
    patterns: HashSet<&'static str>,
}

impl Shared {
    /// The pattern of a route, as a label: from a short list only.
    pub fn pattern(&self, matched: &str) -> &'static str {
        self.patterns.get(matched).copied().unwrap_or("page")
    }
}

impl std::ops::Deref for App {
    type Target = Shared;

    fn deref(&self) -> &Shared {
        &self.0
    }
}

/// A server that has its address.
pub struct Server {
    listener: TcpListener,
    router: Router,
    app: App,
}

impl Server {
    /// Checks the options and takes the address. Nothing is answered before [`run`](Self::run).
    pub async fn bind(engine: Engine, options: Options) -> Result<Server, ServerError> {
        let listen = options.listen;
        let open = options.admin.is_none();
        if open && !listen.ip().to_canonical().is_loopback() {
            return Err(ServerError::Open { listen });
        }
        let stop = CancellationToken::new();
        let boot: String = random()[..6].iter().map(|byte| format!("{byte:02x}")).collect();
        let (routes, openapi, patterns) = routes::all();
        let app = App(Arc::new(Shared {
            auth: Auth::new(options.admin, open, options.https)?,
            engine,
            events: Events::new(boot, stop.clone()),
            metrics: Metrics::new(),
            names: options.names,
            openapi,
            stop,
            computing: Arc::new(Semaphore::new(1)),
            patterns,
        }));
        let listener = TcpListener::bind(listen).await;
        let listener = listener.map_err(|source| ServerError::Bind { listen, source })?;
        let router = listen::layers(routes, app.clone());
        Ok(Server { listener, router, app })
    }

    /// Where it is, with the port that the system chose when none was asked for.
    pub fn addr(&self) -> Result<SocketAddr, ServerError> {
        let failed =
            |error: std::io::Error| ServerError::Setting { what: "listen", message: error.to_string() };
        self.listener.local_addr().map_err(failed)
    }

    /// The engine's own work, told to whoever watches.
    pub fn handlers(&self) -> Handlers {
        let (events, app) = (self.app.events.clone(), self.app.clone());
        let watch = events.crawls();
        let watcher = Arc::new(move |target: &str, event: &CrawlEvent| {
            app.metrics.crawled(event);
            watch(target, event);
        });
        let ended =
            Arc::new(move |target: &str, result: &dibao::Result<Report>| events.ended(target, result));
        let engine = &self.app.engine;
        engine.handlers().and(engine.watched_handlers(Some(watcher), Some(ended)))
    }

    /// Serves until `stop` is cancelled, then lets what is under way finish.
    pub async fn run(self, stop: CancellationToken) -> Result<(), ServerError> {
        let Server { listener, router, app } = self;
        let told = app.clone();
        let jobs = app.engine.queue().watch().inspect(move |event| {
            if let QueueEvent::Job { kind, state, .. } = event
                && state.is_end()
            {
                told.metrics.ended(kind, state.as_str());
            }
        });
        let follow = app.events.clone();
        let follow = tokio::spawn(async move { follow.follow(jobs).await });
        listen::serve(listener, router, stop, app.stop.clone()).await;
        follow.abort();
        Ok(())
    }
}
