//! Reconciling (S2-47 … S2-50, I15): site files that have changed are read again, then schedules follow sites and targets.

use std::io::Read as _;
use std::path::Path;

use futures::future::BoxFuture;

use super::schedules::Reconciled;
use super::{CRAWL, Engine, blocking};
use crate::Result;
use crate::config::{self, SiteConfig};
use crate::queue::{JobContext, JobDone, JobHandler, JobResult};
use crate::schedule::SiteFile;

impl Engine {
    /// Reads the site files that have changed since they were last read, and makes schedules follow. A file that is invalid
    /// or gone is told once; what was last read from it holds. It is tried again each time all the same: an adapter that was
    /// missing may have come.
    pub async fn reconcile(&self) -> Result<Reconciled> {
        let (mut sites, mut invalid) = (Vec::new(), Vec::new());
        for known in self.inner.table.site_files().await? {
            let path = known.path.clone();
            let (sha256, read) = blocking(move || Ok(read(Path::new(&path)))).await?;
            if sha256 == known.sha256 && known.error.is_none() && !sha256.is_empty() {
                continue;
            }
            let ended = match read {
                Ok(site) if site.site_id != known.site => {
                    Err(format!("the site in it is `{}` now; import it by hand", site.site_id))
                }
                Ok(site) => {
                    self.store_site(&site, Some(&known.path)).await.map_err(|error| error.to_string())
                }
                Err(error) => Err(error),
            };
            let error = ended.err();
            if error.is_some() && error == known.error && sha256 == known.sha256 {
                invalid.extend(error.map(|error| (known.site, error)));
                continue;
            }
            match &error {
                None => sites.push(known.site.clone()),
                Some(error) => invalid.push((known.site.clone(), error.clone())),
            }
            let file = SiteFile { site: known.site, path: known.path, sha256, error };
            let now = self.inner.settings.clock.now();
            self.inner.table.keep_site_file(file, self.inner.channels.alerts(&[CRAWL]), now).await?;
        }
        Ok(Reconciled { sites, invalid, ..self.follow_targets().await? })
    }
}

/// A site file with the hash of its bytes.
fn read(path: &Path) -> (String, Result<SiteConfig, String>) {
    (hash(path), config::load_site(path).map_err(|error| error.to_string()))
}

/// The hash of a file's bytes, which are no more than a site file has; empty if there are none to be had.
fn hash(path: &Path) -> String {
    let mut bytes = Vec::new();
    let read =
        std::fs::File::open(path).and_then(|file| file.take(config::MAX_FILE + 1).read_to_end(&mut bytes));
    read.map_or_else(|_| String::new(), |_| config::sha256(&bytes))
}

/// `builtin:reconcile` as a job.
pub(super) struct ReconcileHandler(pub Engine);

impl JobHandler for ReconcileHandler {
    fn run<'a>(&'a self, _: &'a JobContext) -> BoxFuture<'a, JobResult> {
        Box::pin(async move {
            let done = self.0.reconcile().await?;
            Ok(JobDone::saying(serde_json::json!(done).to_string()))
        })
    }
}
