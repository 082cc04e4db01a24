//! Sites that want credentials (C9): a crawl that is answered with 401 has one job made for its site, which signs in again
//! and hands the cookies to the pool. After three failures the site's sources are parked with an alert, until somebody
//! resumes them.

use std::time::Duration;

use futures::future::BoxFuture;
use serde::{Deserialize, Serialize};
use serde_json::json;
use url::Url;

use super::Engine;
use crate::Result;
use crate::clock::Timestamp;
use crate::deliver::Notice;
use crate::deliver::alert::{Alert, AlertState};
use crate::error::{Error, ErrorClass};
use crate::fetch::cookies::parse_set_cookie;
use crate::model::Site;
use crate::queue::{JobContext, JobDone, JobFailed, JobHandler, JobResult, JobRules, NewJob, RetryPolicy};
use crate::schedule::{ByHand, Change, ScheduleEdit, target_schedule};

/// The kind of the job that signs in again at a site.
pub const CREDENTIAL: &str = "credential:refresh";
/// C9: after so many failures the sources are parked.
const TRIES: u32 = 3;
/// To sign in takes a few requests, not more.
const WALL: Duration = Duration::from_secs(300);

#[derive(Serialize, Deserialize)]
struct Asked {
    site: String,
}

/// The job that signs in again at a site; as long as it is not over there is no second one.
pub(super) fn credential_job(site: &str) -> NewJob {
    let name = format!("{CREDENTIAL}:{site}");
    NewJob::new(CREDENTIAL, name.clone()).unique(name).payload(json!(Asked { site: site.to_owned() }))
}

pub(super) struct CredentialHandler(pub(super) Engine);

impl JobHandler for CredentialHandler {
    fn run<'a>(&'a self, context: &'a JobContext) -> BoxFuture<'a, JobResult> {
        Box::pin(async move {
            let asked = serde_json::from_value::<Asked>(context.job.payload.clone());
            let asked = asked.map_err(|error| JobFailed::Error {
                class: ErrorClass::Config,
                message: format!("what the job is told cannot be read: {error}"),
                not_before: None,
            })?;
            let Some(site) = context.store.site(&asked.site).await.map_err(Error::from)? else {
                return Ok(JobDone::saying("the site is gone"));
            };
            let why = match self.sign_in(&site).await {
                Ok(kept) => return Ok(JobDone::saying(format!("signed in: {kept} cookies"))),
                Err(why) => why,
            };
            let message = format!("signing in at {} failed: {why}", site.code);
            let last = context.job.attempts >= TRIES;
            if last {
                self.park(&site, &message, context).await?;
            }
            // What failed may go well the next time; the last time is the end.
            let class = if last { ErrorClass::Auth } else { ErrorClass::Server };
            Err(JobFailed::Error { class, message, not_before: None })
        })
    }

    fn rules(&self) -> JobRules {
        let (first, longest) = (Duration::from_secs(300), Duration::from_secs(3_600));
        let retry = RetryPolicy { retries: TRIES - 1, first, longest };
        JobRules { retry, wall: Some(WALL), ..JobRules::default() }
    }
}

impl CredentialHandler {
    fn now(&self) -> Timestamp {
        self.0.inner.settings.clock.now()
    }

    /// Answers how many cookies the pool has kept.
    async fn sign_in(&self, site: &Site) -> Result<usize, String> {
        let url = Url::parse(&site.base_url).map_err(|error| format!("{}: {error}", site.base_url))?;
        let lines = self.0.inner.credentials.sign_in(&site.code, &url).await?;
        let cookies: Vec<_> = lines
            .iter()
            .filter_map(|line| parse_set_cookie(line, &url, self.now()))
            .filter(|cookie| cookie.may_be_set_by(&url))
            .collect();
        if cookies.is_empty() {
            return Err("it brought no cookie that this site may set".to_owned());
        }
        let kept = cookies.len();
        let targets =
            self.0.inner.store.targets(Some(&site.code)).await.map_err(|error| error.to_string())?;
        // The pool is kept under the name by which the site's requests are paced.
        let paced =
            targets.first().map(|(site, target)| self.0.inner.settings.pace(site, target, 0).policy());
        let host = self.0.gate().key(&paced.unwrap_or_default(), &url);
        self.0.gate().hosts().earn(&host, &url, cookies);
        // They have to survive a kill.
        self.0.gate().flush().await;
        Ok(kept)
    }

    /// Its sources come due no more, and whoever hears alerts is told. An operator's `resume` ends it.
    async fn park(&self, site: &Site, why: &str, context: &JobContext) -> Result<()> {
        let (inner, now) = (&self.0.inner, self.now());
        let targets = context.store.targets(Some(&site.code)).await?;
        let edit = |why: &str| ScheduleEdit {
            enabled: Some((false, Some(why.to_owned()))),
            by_hand: vec![ByHand::Enabled],
            ..ScheduleEdit::default()
        };
        let changes = targets
            .iter()
            .map(|(_, target)| Change::Edit(target_schedule(&target.code), Box::new(edit(why))))
            .collect();
        inner.table.change(changes, now, inner.settings.zone).await?;
        let Some(watch) = inner.channels.alerts(&[CREDENTIAL]) else { return Ok(()) };
        let state = AlertState { failures: TRIES, since: context.job.created_at.0, ..AlertState::default() };
        let key = format!("{CREDENTIAL}:{}", context.job.id);
        let message = Alert::Failing.message(&site.code, &state, Some(("auth", why)), &key, now);
        let notice = Notice::Message(Box::new(message));
        let jobs = watch.channels.iter().map(|channel| notice.job(channel, &key)).collect();
        self.0.queue().submit_all(jobs).await?;
        Ok(())
    }
}
