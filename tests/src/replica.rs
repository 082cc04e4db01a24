//! A running replica: started, asked, told, and gone when dropped.

use std::net::{Ipv4Addr, SocketAddr};
use std::sync::Arc;

use anyhow::Context as _;
use tokio::net::TcpListener;
use tokio_rustls::TlsAcceptor;
use tokio_util::sync::{CancellationToken, DropGuard};

use crate::faults::{FaultRule, Faults};
use crate::log::{Log, Seen};
use crate::options::ReplicaOptions;
use crate::post::{NewPost, Published};
use crate::server::{self, Shared};
use crate::tls::Authority;
use crate::versions::Versions;
use crate::world::World;

/// Replica sites on two loopback ports. Stops, with all its connections, when dropped.
#[derive(Debug)]
pub struct Replica {
    pub(crate) shared: Arc<Shared>,
    ca_pem: String,
    https: Option<SocketAddr>,
    http: SocketAddr,
    _stop: DropGuard,
}

impl Replica {
    /// Binds 127.0.0.1 on ports of the system's choice and serves from the current runtime.
    pub async fn start(options: ReplicaOptions) -> anyhow::Result<Self> {
        let world = World::new(&options)?;
        let authority = Authority::new(&world.all_hosts())?;
        let log = Arc::new(Log::new(options.log_capacity));
        let versions = options.versions.then(Versions::new);
        let (gzip, max_age) = (options.gzip, options.max_age);
        let shared = Arc::new(Shared { world, faults: Faults::new(), log, gzip, versions, max_age });
        let stop = CancellationToken::new();
        let mut https = None;
        if options.tls {
            let listener = bind().await?;
            https = Some(listener.local_addr()?);
            let acceptor = TlsAcceptor::from(Arc::clone(&authority.server));
            tokio::spawn(server::serve(listener, Some(acceptor), Arc::clone(&shared), stop.clone()));
        }
        let listener = bind().await?;
        let http = listener.local_addr()?;
        tokio::spawn(server::serve(listener, None, Arc::clone(&shared), stop.clone()));
        Ok(Self { shared, ca_pem: authority.ca_pem, https, http, _stop: stop.drop_guard() })
    }

    pub(crate) fn world(&self) -> &World {
        &self.shared.world
    }

    /// The root to trust, in PEM.
    pub fn ca_pem(&self) -> &str {
        &self.ca_pem
    }

    /// Where `https://` of every host lives (plain HTTP when TLS is off).
    pub fn addr(&self) -> SocketAddr {
        self.https.unwrap_or(self.http)
    }

    /// The TLS port, if there is one.
    pub fn https_addr(&self) -> Option<SocketAddr> {
        self.https
    }

    /// Where `http://` of every host lives.
    pub fn http_addr(&self) -> SocketAddr {
        self.http
    }

    /// The real host names it answers for.
    pub fn hosts(&self) -> Vec<String> {
        self.shared.world.all_hosts()
    }

    pub(crate) fn site(&self, host: &str) -> Option<&crate::site::Site> {
        self.shared.world.site(host)
    }

    /// Puts a post on top of a column: lists shift, its page and files are there.
    pub fn publish(&self, host: &str, column: &str, post: NewPost) -> anyhow::Result<Published> {
        self.shared.world.publish(host, column, post)
    }

    /// What the feeds of `www.people.com.cn` say, newest first: what a crawl of a column must have stored.
    pub fn feed_truth(&self, column: &str) -> Vec<crate::FeedTruth> {
        let site = self.shared.world.site(crate::feeds::HOST);
        let found =
            site.and_then(|site| Some((site, site.columns.iter().position(|known| known.id == column)?)));
        found.map(|(site, column)| crate::feeds::truth(site, column)).unwrap_or_default()
    }

    /// Makes matching requests go wrong from now on; the id is for [`Replica::remove_fault`].
    pub fn fault(&self, rule: FaultRule) -> u64 {
        self.shared.faults.add(rule)
    }

    /// Takes one rule back and lets go of the requests it holds.
    pub fn remove_fault(&self, id: u64) -> bool {
        self.shared.faults.remove(id)
    }

    /// Takes all rules back.
    pub fn clear_faults(&self) {
        self.shared.faults.clear();
    }

    /// The rules in force with their ids.
    pub fn faults(&self) -> Vec<(u64, FaultRule)> {
        self.shared.faults.all()
    }

    /// The remembered requests in order of arrival.
    pub fn requests(&self) -> Vec<Seen> {
        self.shared.log.all()
    }

    /// Requests since the start, forgotten ones included.
    pub fn request_count(&self) -> u64 {
        self.shared.log.count()
    }

    /// Forgets the requests so far; the count goes on.
    pub fn forget_requests(&self) {
        self.shared.log.clear();
    }

    /// The most requests a host had in work at one moment.
    pub fn peak(&self, host: &str) -> u64 {
        self.shared.log.peak(host)
    }

    /// Waits, without polling, until `count` of the remembered requests satisfy the test, and returns them.
    pub async fn wait_for(&self, count: usize, test: impl Fn(&Seen) -> bool) -> Vec<Seen> {
        self.shared.log.wait_until(count, test).await
    }

    /// Offers the same operations as JSON over HTTP on one more loopback port, until the runtime ends.
    pub async fn open_admin(self: &Arc<Self>) -> anyhow::Result<SocketAddr> {
        let listener = bind().await?;
        let addr = listener.local_addr()?;
        tokio::spawn(crate::admin::serve(listener, Arc::clone(self)));
        Ok(addr)
    }
}

async fn bind() -> anyhow::Result<TcpListener> {
    TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).await.context("no free loopback port")
}
