//! What every test stands on: a replica, a data directory, and an engine that reaches the one and writes the other.

use std::path::{Path, PathBuf};
use std::time::Duration;

use dibao::config::{SiteConfig, load_site};
use dibao::fetch::Resolve;
use dibao::store::{ArticleQuery, Durability};
use dibao::{Engine, EngineBuilder, Report};
use dibao_replica::{Replica, ReplicaOptions};
use tempfile::TempDir;

/// The host of `sites/ndrc.yaml` (TRS).
pub const NDRC: &str = "www.ndrc.gov.cn";

/// A replica and a data directory, both gone when dropped.
pub struct Bed {
    pub replica: Replica,
    dir: TempDir,
}

impl Bed {
    /// A replica with so many articles per site. Its pages are small: size is what the benchmarks are about.
    pub async fn new(articles: u64) -> Bed {
        Bed::with(ReplicaOptions { articles, ..ReplicaOptions::default() }).await
    }

    pub async fn with(options: ReplicaOptions) -> Bed {
        let options = ReplicaOptions { article_kib: 4..=8, ..options };
        let replica = Replica::start(options).await.expect("a replica on loopback");
        Bed { replica, dir: tempfile::tempdir().expect("a temporary directory") }
    }

    /// A data directory by name; not made yet.
    pub fn data(&self, name: &str) -> PathBuf {
        self.dir.path().join(name)
    }

    /// An engine on the data directory of this name, before it is opened.
    pub fn builder(&self, name: &str) -> EngineBuilder {
        let mut builder = Engine::builder()
            .data_dir(self.data(name))
            .adapters(adapters())
            .root_certificate(self.replica.ca_pem())
            .durability(Durability::Process)
            .retries(0)
            .interval(Some(Duration::ZERO));
        for rule in self.rules() {
            builder = builder.resolve_rule(rule);
        }
        builder
    }

    /// An engine that reaches the replica without waiting between requests.
    pub async fn engine(&self, name: &str) -> Engine {
        self.builder(name).build().await.expect("an engine")
    }

    /// An engine that knows a site of `sites/`.
    pub async fn engine_with(&self, name: &str, site: &SiteConfig) -> Engine {
        let engine = self.engine(name).await;
        engine.import_site_config(site).await.expect("the site file fits its adapter");
        engine
    }

    /// Every host of the replica, on both schemes: old links on gov.cn are plain HTTP.
    pub fn rules(&self) -> Vec<Resolve> {
        let rule = |host: String, port, addr| Resolve { host, port: Some(port), addr };
        let ports = [(443, self.replica.addr()), (80, self.replica.http_addr())];
        let hosts = self.replica.hosts();
        hosts.iter().flat_map(|host| ports.map(|(port, addr)| rule(host.clone(), port, addr))).collect()
    }

    /// The paths that were asked for since the log was last forgotten.
    pub fn asked(&self) -> Vec<String> {
        self.replica.requests().into_iter().map(|seen| seen.path).collect()
    }

    /// Forgets the requests so far.
    pub fn forget(&self) {
        self.replica.forget_requests();
    }
}

/// Where `cargo xtask adapters` leaves the bundled adapters.
pub fn adapters() -> PathBuf {
    let named = std::env::var_os("DIBAO_ADAPTERS").map(PathBuf::from);
    // With a target directory elsewhere, they are beside the profile's directory this test was built into.
    let beside = std::env::current_exe().ok().and_then(|exe| Some(exe.ancestors().nth(3)?.join("adapters")));
    let found = [named, beside].into_iter().flatten().find(|dir| dir.join("adapters.lock").is_file());
    found.expect("the adapters are not built; run `cargo xtask adapters` first")
}

/// A file of `sites/`.
pub fn site_file(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../sites").join(format!("{name}.yaml"))
}

/// A site of `sites/`.
pub fn site(name: &str) -> SiteConfig {
    load_site(site_file(name)).expect("the site files of the project are good")
}

/// Crawls a target to its end.
pub async fn crawl(engine: &Engine, target: &str) -> Report {
    engine.crawl(target).run().await.unwrap_or_else(|error| panic!("{target}: {error}"))
}

/// All articles of a target, in the order of their numbers.
pub async fn articles(engine: &Engine, target: &str) -> Vec<dibao::model::Article> {
    let query = ArticleQuery { target: Some(target.into()), limit: 10_000, ..ArticleQuery::default() };
    engine.store().articles(query).await.expect("the articles")
}

/// `listed`, `new`, `duplicate`, `failed` of a report.
pub fn counts(report: &Report) -> (u32, u32, u32, u32) {
    (report.items_seen, report.items_new, report.items_duplicate, report.items_failed)
}
