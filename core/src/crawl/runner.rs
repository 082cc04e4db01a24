//! Carries out what [`super::step`] decides. No decision is made here.

use std::collections::HashSet;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Instant;

use futures::{StreamExt, TryStreamExt, stream};

use super::context::CrawlContext;
use super::dedup::Decision;
use super::detail::{EntryOutcome, keep_evidence, read_entry, record_entry};
use super::list::{list_page, rows};
use super::recheck;
use super::report::{CrawlEvent, FailureLine, Report};
use super::step::{Action, Bounds, Crawl, StopReason, follow_up, is_full_sweep};
use super::turns::StepError;
use crate::clock::Timestamp;
use crate::error::{Error, ErrorClass};
use crate::fetch::Validators;
use crate::model::{DownloadStatus, Entry};
use crate::store::{EntryKey, ListValidators, PageRecord, RunEnd, RunEndState, RunOptions, RunState};

/// How many entries an earlier run left behind are taken from the store at a time.
const LEFTOVERS: u32 = 500;

/// How many entries that were read may wait for the store while further ones are fetched: what a commit that takes
/// a while brings together. Each holds its text.
const STORING: usize = 8;

/// Crawls a target: takes up the unfinished run, if there is one, then makes the one asked for.
pub(crate) async fn run(ctx: &CrawlContext, asked: RunOptions) -> Result<Report, Error> {
    let began = Instant::now();
    let mut report = Report::new(&ctx.target.code, ctx.robots);
    let first = Run::begin(ctx, asked.clone(), &mut report).await?.go(&mut report).await?;
    if first.resumed && !matches!(report.stop, StopReason::Cancelled | StopReason::Cooldown) {
        let next = follow_up(&first.options, &asked);
        Run::begin(ctx, next, &mut report).await?.go(&mut report).await?;
    }
    report.elapsed = began.elapsed();
    Ok(report)
}

/// One run under way.
struct Run<'a> {
    ctx: &'a CrawlContext,
    state: RunState,
    crawl: Crawl,
    /// Addresses that came up in this run (S2-41, L3).
    seen: HashSet<String>,
    /// Entries that were tried in this run: a failed one waits for the next run.
    tried: HashSet<i64>,
    newest: Option<Timestamp>,
    pages_read: u32,
    bounds: Bounds,
    /// The version of the list's first page that this run has read.
    first_page: Option<Validators>,
}

impl<'a> Run<'a> {
    async fn begin(
        ctx: &'a CrawlContext,
        options: RunOptions,
        report: &mut Report,
    ) -> Result<Run<'a>, Error> {
        let state = ctx.store.begin_run(ctx.target.id, options, ctx.clock.now()).await?;
        ctx.keep_session(state.session.clone());
        report.run_id = state.run_id;
        report.resumed |= state.resumed;
        let mut stop = ctx.bounds.stop;
        // The run's own word, not the caller's: a run that is taken up goes on as it was begun.
        let sweep = is_full_sweep(state.runs_of_target, ctx.full_sweep_every);
        stop.force = state.options.force || state.gap || sweep;
        let bounds = Bounds { max_items: state.options.max_items, stop, ..ctx.bounds };
        let (target, run_id, resumed) = (ctx.target.code.clone(), state.run_id, state.resumed);
        tracing::debug!(%target, run_id, resumed, "run begins");
        ctx.tell(CrawlEvent::Started { target, run_id, resumed }).await;
        let crawl = Crawl::new(bounds, &state);
        let (seen, tried) = Default::default();
        Ok(Run { ctx, state, crawl, seen, tried, newest: None, pages_read: 0, bounds, first_page: None })
    }

    async fn go(mut self, report: &mut Report) -> Result<RunState, Error> {
        let mut waiting = self.leftovers().await?;
        let mut known = self.known_list(waiting.is_empty()).await?;
        let mut list_error = None;
        loop {
            if self.ctx.cancel.is_cancelled() {
                self.crawl.cancelled();
            }
            match self.crawl.action() {
                _ if report.cooling_until.is_some() => {
                    report.stop = StopReason::Cooldown;
                    self.end(StopReason::Cooldown, None).await?;
                    break;
                }
                Action::Drain if waiting.is_empty() => self.crawl.drained(),
                Action::Drain => {
                    self.fetch(std::mem::take(&mut waiting), report).await?;
                    if self.state.resumed && self.pages_read == 0 {
                        waiting = self.leftovers().await?;
                    }
                }
                Action::List => match self.list(known.take(), report).await? {
                    Ok(fresh) => waiting = fresh,
                    Err(error) => {
                        self.crawl.list_failed();
                        list_error = Some(error);
                    }
                },
                Action::End(reason) => {
                    report.stop = reason;
                    self.end(reason, list_error.as_ref()).await?;
                    break;
                }
            }
        }
        match list_error {
            Some(error) => Err(self.list_error(error, report).await),
            None => Ok(self.state),
        }
    }

    /// What earlier runs recorded and did not finish.
    async fn leftovers(&self) -> Result<Vec<Entry>, Error> {
        let limit = LEFTOVERS.saturating_add(self.tried.len() as u32);
        let mut waiting = self.ctx.store.waiting(self.ctx.target.id, limit).await?;
        waiting.retain(|entry| !self.tried.contains(&entry.id));
        Ok(waiting)
    }

    /// The version of the list that need not be read again, if there is one.
    async fn known_list(&self, frontier_is_empty: bool) -> Result<Option<Validators>, Error> {
        let ctx = self.ctx;
        if !recheck::may_ask(&self.state, &self.bounds, frontier_is_empty) {
            return Ok(None);
        }
        let kept = ctx.store.list_validators(ctx.target.id).await?;
        let holds = |kept: &ListValidators| recheck::still_holds(kept, &recheck::basis(ctx), ctx.clock.now());
        Ok(kept.filter(holds).map(|kept| kept.validators))
    }

    /// Reads a list page and records it; one that is `known` ends the run. The outer error is the store's.
    async fn list(
        &mut self,
        known: Option<Validators>,
        report: &mut Report,
    ) -> Result<Result<Vec<Entry>, StepError>, Error> {
        let ctx = self.ctx;
        let mut log = Vec::new();
        let is_first = self.state.cursor.is_none() && self.state.pages == 0 && self.pages_read == 0;
        let listed = list_page(ctx, self.state.cursor.clone(), known, &mut log).await;
        // Of the pages of a list the first one is what is looked at again.
        let said = ctx.take_said();
        if is_first {
            report.said = said;
        }
        let page = match listed {
            Ok(Some(page)) => page,
            Ok(None) => {
                report.requests += log.len() as u32;
                report.pages_unchanged += 1;
                ctx.store.log_requests(ctx.site.id, ctx.target.id, log).await?;
                self.crawl.unchanged();
                ctx.tell(CrawlEvent::Unchanged { target: ctx.target.code.clone() }).await;
                return Ok(Ok(Vec::new()));
            }
            Err(error) => {
                report.requests += log.len() as u32;
                ctx.store.log_requests(ctx.site.id, ctx.target.id, log).await?;
                return Ok(Err(error));
            }
        };
        if page.unusable > 0 {
            let rows = page.unusable;
            tracing::warn!(target = %ctx.target.code, rows, "rows whose link is not a web address were left out");
        }
        let keys = page.entries.iter().map(EntryKey::from).collect();
        let known = ctx.store.known(ctx.site.id, ctx.target.id, keys).await?;
        let rows = rows(&page.entries, known, |hash| self.seen.contains(hash));
        let plan = self.crawl.listed(&rows, page.next.is_some());
        self.seen.extend(page.entries.iter().map(|entry| entry.url_hash.clone()));
        let fresh: Vec<Entry> = page
            .entries
            .into_iter()
            .zip(&plan.decisions)
            .filter(|(_, decision)| **decision == Decision::Fetch)
            .map(|(entry, _)| entry)
            .collect();
        if is_first {
            self.first_page = page.validators;
        }
        self.pages_read += 1;
        report.pages += 1;
        report.items_seen += plan.counts.listed;
        report.items_duplicate += plan.counts.duplicate;
        report.requests += log.len() as u32;
        self.state.cursor = page.next.clone();
        let (rows, count) = (plan.counts.listed, fresh.len() as u32);
        let entries = ctx
            .store
            .record_page(PageRecord {
                run_id: self.state.run_id,
                site_id: ctx.site.id,
                target_id: ctx.target.id,
                at: ctx.clock.now(),
                entries: fresh,
                cursor: page.next,
                session: ctx.session(),
                listing_done: plan.done.is_some(),
                counts: plan.counts,
                log,
            })
            .await?;
        let target = ctx.target.code.clone();
        ctx.tell(CrawlEvent::Listed { target, page: self.pages_read, rows, fresh: count }).await;
        Ok(Ok(entries))
    }

    /// Fetches entries, as many at a time as the host bears, and stores them meanwhile. A cancelled run starts no further one.
    async fn fetch(&mut self, entries: Vec<Entry>, report: &mut Report) -> Result<(), Error> {
        self.tried.extend(entries.iter().map(|entry| entry.id));
        let (ctx, run_id) = (self.ctx, self.state.run_id);
        let at_once = ctx.policy.max_concurrency.max(1) as usize;
        // Set when the host is given up: what waits behind the entry that heard of it would hear the same.
        let cooling = AtomicBool::new(false);
        let given_up = &cooling;
        let mut outcomes = stream::iter(entries)
            .take_while(|_| {
                let goes_on = !ctx.cancel.is_cancelled() && !given_up.load(Ordering::Relaxed);
                futures::future::ready(goes_on)
            })
            .map(|entry| async move {
                let read = read_entry(ctx, &entry).await?;
                given_up.fetch_or(read.is_postponed(), Ordering::Relaxed);
                Ok::<_, Error>((entry, read))
            })
            .buffer_unordered(at_once)
            .map(|done| async move {
                let (entry, read) = done?;
                let (outcome, requests) = record_entry(ctx, run_id, &entry, read).await?;
                Ok::<_, Error>((entry, outcome, requests))
            })
            .buffer_unordered(STORING);
        while let Some((entry, outcome, requests)) = outcomes.try_next().await? {
            report.requests += requests;
            match outcome {
                EntryOutcome::Stored(article) => {
                    self.newest = self.newest.max(article.published.as_ref().map(|published| published.at));
                    let files = article.attachments.len();
                    let done =
                        article.attachments.iter().filter(|file| file.status == DownloadStatus::Done).count();
                    report.items_new += 1;
                    report.attachments += done as u32;
                    report.attachments_failed += (files - done) as u32;
                    ctx.tell(CrawlEvent::Stored(article)).await;
                }
                EntryOutcome::Duplicate => {
                    report.items_duplicate += 1;
                    ctx.tell(CrawlEvent::Duplicate { url: entry.url }).await;
                }
                EntryOutcome::Postponed(error) => {
                    tracing::debug!(url = %entry.url, "left for later: {}", error.message);
                    report.cooling_until = report.cooling_until.max(error.cooling);
                }
                EntryOutcome::Failed(error) => {
                    report.items_failed += 1;
                    let line = FailureLine {
                        url: entry.url,
                        title: entry.title,
                        class: error.class,
                        will_retry: error.may_heal(),
                        message: error.message,
                    };
                    tracing::debug!(url = %line.url, class = line.class.as_str(), "{}", line.message);
                    report.failed(line.clone());
                    ctx.tell(CrawlEvent::Failed(line)).await;
                }
            }
        }
        Ok(())
    }

    async fn end(&self, reason: StopReason, list_error: Option<&StepError>) -> Result<(), Error> {
        let state = match list_error {
            None if matches!(reason, StopReason::Cancelled | StopReason::Cooldown) => {
                RunEndState::Interrupted
            }
            None => RunEndState::Done,
            // A backfill that meets a bad minute goes on from its page; one that cannot get past
            // the page it was taken up on begins anew, or it would never see the top of the list. The
            // store remembers the gap, and that next run reads the whole list.
            Some(error) if error.may_heal() && self.pages_read > 0 => RunEndState::Interrupted,
            Some(_) => RunEndState::Failed,
        };
        let words = match list_error {
            Some(error) => format!("{}: {}", reason.as_str(), error.message),
            None => reason.as_str().to_string(),
        };
        let end = RunEnd { state, reason: words, last_article_time: self.newest };
        let now = self.ctx.clock.now();
        self.ctx.store.end_run(self.state.run_id, end, now).await?;
        // Afterwards: a crash in between leaves older ones, which only cost a page.
        if let Some(validators) = self.first_page.clone()
            && state == RunEndState::Done
            && recheck::is_worth_keeping(reason)
        {
            let kept = ListValidators { validators, basis: recheck::basis(self.ctx), saved_at: now };
            self.ctx.store.keep_list_validators(self.ctx.target.id, kept).await?;
        }
        Ok(())
    }

    /// The list could not be read: the one failure that a caller must hear of as an error.
    async fn list_error(&self, error: StepError, report: &mut Report) -> Error {
        let target = self.ctx.target.code.clone();
        let nowhere = Entry {
            id: 0,
            url: self.ctx.target.entry_url.clone(),
            url_hash: String::new(),
            title: String::new(),
            published_raw: None,
            published: None,
            native_id: None,
            pinned: false,
            fields: Vec::new(),
        };
        keep_evidence(self.ctx, &nowhere, &error).await;
        let line = FailureLine {
            url: nowhere.url,
            title: String::new(),
            class: error.class,
            message: error.message.clone(),
            will_retry: error.may_heal(),
        };
        report.failed(line.clone());
        self.ctx.tell(CrawlEvent::Failed(line)).await;
        if error.class == ErrorClass::Config {
            match self.ctx.store.set_target_enabled(&target, false).await {
                Ok(_) => {
                    tracing::error!(%target, "switched off, its settings cannot work: {}", error.message)
                }
                Err(problem) => tracing::error!(%target, "could not be switched off: {problem}"),
            }
        }
        match error.cause {
            Some(cause) => cause,
            None => Error::List { target, class: error.class, message: error.message },
        }
    }
}
