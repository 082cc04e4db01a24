//! What an operator asks of the store: each change one transaction with its audit row, each question one snapshot.

mod access;
mod articles;
mod audit;
mod departments;
mod edit;
mod jobs;
mod logs;
mod remove;
mod stats;
mod targets;
mod versions;

pub(crate) use articles::ArticleFiles;
pub(crate) use audit::Entry as AuditEntry;
pub(crate) use edit::{SiteWrite, TargetWrite};
pub(crate) use stats::{Marks, Span};

use rusqlite::Connection;

use super::rows::Fault;
use super::{SqliteStore, search};
use crate::clock::Timestamp;
use crate::desk::{
    Actor, AlertRow, AuditQuery, AuditRow, Begun, DayCount, Department, DepartmentEdit, DeptCount, FoundIds,
    Freshness, KindWaiting, LogQuery, LogRow, Overview, Page, PageVersion, Paging, Scope, SearchHit,
    SearchQuery, SiteCount, SiteRow, TargetHealth, TargetQuery, TargetRow, TokenRow,
};
use crate::model::Article;
use crate::queue::{Job, JobQuery};
use crate::store::{Blob, StoreError};

type Answer<T> = Result<T, StoreError>;

impl SqliteStore {
    /// A change with its audit row, both or neither.
    async fn change<T, F>(&self, doing: &'static str, entry: AuditEntry, mut step: F) -> Answer<T>
    where
        T: Send + 'static,
        F: FnMut(&Connection) -> Result<T, Fault> + Send + 'static,
    {
        self.write(doing, move |db| {
            let done = step(db)?;
            audit::insert(db, &entry)?;
            Ok(done)
        })
        .await
    }

    pub(crate) async fn audit(&self, entry: AuditEntry) -> Answer<()> {
        self.write("wrote down a refusal", move |db| audit::insert(db, &entry)).await
    }

    /// Writes down a change that was made without an engine, or why it was refused.
    pub async fn note_change(
        &self,
        at: Timestamp,
        actor: Actor,
        action: &'static str,
        subject: &str,
        outcome: &str,
        detail: serde_json::Value,
    ) -> Answer<()> {
        let (subject, outcome) = (subject.to_owned(), outcome.to_owned());
        self.audit(AuditEntry { at, actor, action, subject, outcome, detail }).await
    }

    pub(crate) async fn audit_rows(&self, query: AuditQuery, paging: Paging) -> Answer<Page<AuditRow>> {
        self.read("read the audit", move |db| audit::page(db, &query, &paging)).await
    }

    pub(crate) async fn site_rows(&self, code: Option<&str>) -> Answer<Vec<SiteRow>> {
        let code = code.map(str::to_owned);
        self.read("read the sites", move |db| targets::site_rows(db, code.as_deref())).await
    }

    pub(crate) async fn target_page(&self, query: TargetQuery, paging: Paging) -> Answer<Page<TargetRow>> {
        self.read("read the targets", move |db| targets::page(db, &query, &paging)).await
    }

    pub(crate) async fn target_codes(&self, query: TargetQuery) -> Answer<Vec<String>> {
        self.read("read the targets", move |db| targets::codes(db, &query)).await
    }

    pub(crate) async fn target_row(&self, code: &str) -> Answer<Option<TargetRow>> {
        let code = code.to_owned();
        self.read("read a target", move |db| targets::row(db, &code)).await
    }

    pub(crate) async fn write_site(&self, write: SiteWrite, entry: AuditEntry) -> Answer<()> {
        self.change("changed a site", entry, move |db| edit::site(db, &write)).await
    }

    pub(crate) async fn write_targets(
        &self,
        writes: Vec<TargetWrite>,
        source: Option<SiteWrite>,
        entry: AuditEntry,
    ) -> Answer<()> {
        self.change("changed targets", entry, move |db| {
            if let Some(source) = &source {
                edit::source(db, source)?;
            }
            writes.iter().try_for_each(|write| edit::target(db, write))
        })
        .await
    }

    pub(crate) async fn set_site_switch(&self, code: &str, on: bool, entry: AuditEntry) -> Answer<()> {
        let code = code.to_owned();
        self.change("switched a site", entry, move |db| edit::switch_site(db, &code, on)).await
    }

    pub(crate) async fn set_target_switch(&self, code: &str, on: bool, entry: AuditEntry) -> Answer<()> {
        let code = code.to_owned();
        self.change("switched a target", entry, move |db| edit::switch_target(db, &code, on)).await
    }

    /// Up to `limit` articles of a target go; answers what is left of their files, to be removed after this.
    pub(crate) async fn drop_articles_of(&self, target: &str, limit: u32) -> Answer<Vec<ArticleFiles>> {
        let target = target.to_owned();
        self.write("removed articles", move |db| articles::drop_of_target(db, &target, limit)).await
    }

    /// Up to `limit` rows of a target's log go; answers how many.
    pub(crate) async fn drop_log_of(&self, target: &str, limit: u32) -> Answer<usize> {
        let target = target.to_owned();
        self.write("removed a log", move |db| remove::log_of_target(db, &target, limit)).await
    }

    pub(crate) async fn drop_target(&self, code: &str, entry: AuditEntry) -> Answer<()> {
        let code = code.to_owned();
        self.change("removed a target", entry, move |db| remove::target(db, &code, true)).await
    }

    pub(crate) async fn drop_site(&self, code: &str, entry: AuditEntry) -> Answer<()> {
        let code = code.to_owned();
        self.change("removed a site", entry, move |db| remove::site(db, &code)).await
    }

    pub(crate) async fn drop_articles(&self, ids: Vec<i64>, entry: AuditEntry) -> Answer<Vec<ArticleFiles>> {
        self.change("removed articles", entry, move |db| articles::drop_all(db, &ids)).await
    }

    pub(crate) async fn page_versions(&self, article: i64) -> Answer<Vec<PageVersion>> {
        self.read("read the versions of a page", move |db| versions::all(db, article)).await
    }

    /// Adds versions of a page; answers contents that may be used no more.
    pub(crate) async fn add_page_versions(
        &self,
        article: i64,
        new: Vec<(Timestamp, Blob)>,
        entry: AuditEntry,
    ) -> Answer<Vec<String>> {
        self.change("kept a version of a page", entry, move |db| versions::add(db, article, &new)).await
    }

    /// Of these blobs those that nothing names any more.
    pub(crate) async fn unused_blobs(&self, sha256: Vec<String>) -> Answer<Vec<String>> {
        self.read("looked for blobs", move |db| articles::unused_blobs(db, &sha256)).await
    }

    pub(crate) async fn article_row(&self, id: i64) -> Answer<Option<(Article, Option<Department>)>> {
        self.read("read an article", move |db| articles::with_department(db, id)).await
    }

    pub(crate) async fn departments(
        &self,
        region: Option<String>,
        category: Option<String>,
    ) -> Answer<Vec<Department>> {
        self.read("read the departments", move |db| {
            departments::all(db, region.as_deref(), category.as_deref())
        })
        .await
    }

    pub(crate) async fn add_department(&self, edit: DepartmentEdit, entry: AuditEntry) -> Answer<Department> {
        let mut entry = entry;
        self.write("made a department", move |db| {
            let made = departments::add(db, &edit)?;
            entry.subject = made.dept_id.to_string();
            audit::insert(db, &entry)?;
            Ok(made)
        })
        .await
    }

    pub(crate) async fn edit_department(
        &self,
        id: i64,
        edit: DepartmentEdit,
        entry: AuditEntry,
    ) -> Answer<Department> {
        self.change("changed a department", entry, move |db| departments::edit(db, id, &edit)).await
    }

    pub(crate) async fn drop_department(&self, id: i64, entry: AuditEntry) -> Answer<()> {
        self.change("removed a department", entry, move |db| departments::remove(db, id)).await
    }

    pub(crate) async fn log_page(
        &self,
        query: LogQuery,
        paging: Paging,
        now: Timestamp,
    ) -> Answer<Page<LogRow>> {
        self.read("read the log", move |db| logs::page(db, &query, &paging, now)).await
    }

    pub(crate) async fn job_page(&self, query: JobQuery, paging: Paging) -> Answer<Page<Job>> {
        self.read("read the jobs", move |db| jobs::page(db, &query, &paging)).await
    }

    pub(crate) async fn kinds_waiting(&self, before: Timestamp) -> Answer<Vec<KindWaiting>> {
        self.read("looked for jobs that wait", move |db| jobs::waiting(db, before)).await
    }

    pub(crate) async fn alert_rows(&self) -> Answer<Vec<AlertRow>> {
        self.read("read the alerts", logs::alerts).await
    }

    pub(crate) async fn overview(&self, marks: Marks) -> Answer<Overview> {
        self.read("counted", move |db| stats::overview(db, &marks)).await
    }

    pub(crate) async fn site_counts(&self, marks: Marks) -> Answer<Vec<SiteCount>> {
        self.read("counted by site", move |db| stats::by_site(db, &marks)).await
    }

    pub(crate) async fn dept_counts(&self, marks: Marks) -> Answer<Vec<DeptCount>> {
        self.read("counted by department", move |db| stats::by_dept(db, &marks)).await
    }

    pub(crate) async fn day_counts(&self, days: Vec<Span>, site: Option<String>) -> Answer<Vec<DayCount>> {
        self.read("counted by day", move |db| stats::by_day(db, &days, site.as_deref())).await
    }

    pub(crate) async fn freshness(&self) -> Answer<Vec<Freshness>> {
        self.read("looked how fresh sites are", stats::freshness).await
    }

    pub(crate) async fn target_health(&self, code: &str) -> Answer<Option<TargetHealth>> {
        let code = code.to_owned();
        self.read("looked how a target is", move |db| stats::health(db, &code)).await
    }

    pub(crate) async fn search(&self, query: SearchQuery, paging: Paging) -> Answer<Page<SearchHit>> {
        let files = self.files().clone();
        self.read("searched", move |db| search::page(db, &files, &query, &paging)).await
    }

    pub(crate) async fn search_ids(&self, query: SearchQuery) -> Answer<FoundIds> {
        self.read("searched", move |db| search::ids(db, &query)).await
    }

    pub(crate) async fn add_token(
        &self,
        name: String,
        hash: String,
        scope: Scope,
        now: Timestamp,
        expires: Option<Timestamp>,
        entry: AuditEntry,
    ) -> Answer<TokenRow> {
        self.change("made a token", entry, move |db| access::add(db, &name, &hash, scope, now, expires)).await
    }

    pub(crate) async fn tokens(&self) -> Answer<Vec<TokenRow>> {
        self.read("read the tokens", access::all).await
    }

    pub(crate) async fn revoke_token(
        &self,
        key: &str,
        now: Timestamp,
        entry: AuditEntry,
    ) -> Answer<TokenRow> {
        let key = key.to_owned();
        self.change("took a token back", entry, move |db| access::revoke(db, &key, now)).await
    }

    pub(crate) async fn token(&self, hash: &str, now: Timestamp) -> Answer<Option<TokenRow>> {
        let hash = hash.to_owned();
        let found = self.read("looked for a token", move |db| access::find(db, &hash, now)).await?;
        if let Some(token) = found.as_ref().filter(|token| access::is_stale(token, now)) {
            let id = token.id;
            self.write("noted that a token was used", move |db| access::used(db, id, now)).await?;
        }
        Ok(found)
    }

    pub(crate) async fn token_by_number(&self, id: i64, now: Timestamp) -> Answer<Option<TokenRow>> {
        self.read("looked for a token", move |db| access::held(db, id, now)).await
    }

    pub(crate) async fn begin_idempotent(
        &self,
        actor: &str,
        key: &str,
        asked: &str,
        now: Timestamp,
    ) -> Answer<Begun> {
        let (actor, key, asked) = (actor.to_owned(), key.to_owned(), asked.to_owned());
        self.write("began a request", move |db| access::begin(db, &actor, &key, &asked, now)).await
    }

    pub(crate) async fn end_idempotent(
        &self,
        actor: &str,
        key: &str,
        answer: Option<(u16, String)>,
    ) -> Answer<()> {
        let (actor, key) = (actor.to_owned(), key.to_owned());
        self.write("kept an answer", move |db| {
            access::end(db, &actor, &key, answer.as_ref().map(|(status, body)| (*status, body.as_str())))
        })
        .await
    }
}
