//! Articles: to read, with the origin of every field, and the files beside them.
//!
//! Page and attachments come from elsewhere and are hostile: they are only ever saved, under a policy that runs nothing.

use axum::body::Body;
use dibao::desk::{Department, FoundIds, LookedAgain, Page, PageVersion, Paging, SearchHit, SearchQuery};
use dibao::model::Article;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::answer::{Done, Download, Shown, Text};
use crate::call::{Call, Route, Routes, Sent};
use crate::caller::Scope;
use crate::checked::Nothing;
use crate::paging::{Listed, list_query};
use crate::problem::{Code, Problem};

/// An article by its number.
#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Id {
    #[schemars(range(min = 1))]
    id: i64,
}

/// A file of an article.
#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct File {
    #[schemars(range(min = 1))]
    id: i64,
    /// Which, from 0.
    #[schemars(range(min = 0, max = 100_000))]
    n: u32,
}

/// Articles by their numbers.
#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Ids {
    #[schemars(length(min = 1, max = 1000), inner(range(min = 1)))]
    ids: Vec<i64>,
}

/// A status of an article.
#[derive(Clone, Copy, Debug, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum Status {
    Ready,
    Failed,
    Raw,
}

list_query! {
    /// Which articles; all of it must hold.
    Search {
        /// Words in title and body, two Chinese characters or more each; `"…"` keeps words together, `-word` must not be there.
        #[schemars(length(max = 200))]
        q: String,
        /// Code of a site.
        #[schemars(length(max = 200))]
        site: String,
        /// Code of a target.
        #[schemars(length(max = 200))]
        target: String,
        /// Number of a department.
        #[schemars(range(min = 1))]
        dept: i64,
        status: Status,
        /// Published on this day or later.
        #[schemars(regex(pattern = r"^\d{4}-\d{2}-\d{2}$"))]
        from: String,
        /// Published on this day or earlier.
        #[schemars(regex(pattern = r"^\d{4}-\d{2}-\d{2}$"))]
        to: String,
        /// A part of the document number, in any brackets and width.
        #[schemars(length(max = 200))]
        doc_no: String,
    }
}

impl Search {
    fn split(self) -> (SearchQuery, Paging) {
        let Search { q, site, target, dept, status, from, to, doc_no, limit, offset, cursor } = self;
        let status = status.map(|status| match status {
            Status::Ready => "ready".to_owned(),
            Status::Failed => "failed".to_owned(),
            Status::Raw => "raw".to_owned(),
        });
        let query = SearchQuery { q, site, target, department: dept, status, from, to, doc_no };
        (query, Paging { limit, offset, cursor })
    }
}

list_query! {
    /// Which part.
    Part {}
}

/// Which page.
#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Which {
    /// Number of a version; null: the page that the article was read from.
    #[schemars(range(min = 1))]
    version: Option<i64>,
}

/// How many are gone.
#[derive(Serialize, JsonSchema)]
pub struct Deleted {
    deleted: u64,
}

/// An article with its department.
#[derive(Serialize, JsonSchema)]
pub struct Whole {
    #[serde(flatten)]
    article: Article,
    department: Option<Department>,
    /// What its page was at other times; none: it never changed.
    versions: Vec<PageVersion>,
}

pub fn add(routes: &mut Routes) {
    routes
        .add(
            Route::get(
                "/admin/api/articles/search",
                Scope::Read,
                "Full text and filters, what fits best first",
            ),
            search,
        )
        .add(
            Route::get(
                "/admin/api/articles/search/ids",
                Scope::Read,
                "The numbers of all that is found, 10,000 at most",
            ),
            search_ids,
        )
        .add(Route::delete("/admin/api/articles/{id}", Scope::Admin, "Removes it with its files"), remove)
        .add(
            Route::post(
                "/admin/api/articles/bulk-delete",
                Scope::Admin,
                "Removes many with their files, all or none",
            )
            .keyed()
            .may(&[Code::NotFound]),
            remove_many,
        )
        .add(
            Route::get("/admin/api/articles/{id}", Scope::Read, "An article with the origin of every field"),
            show,
        )
        .add(Route::get("/admin/api/articles/{id}/text", Scope::Read, "Its whole text"), text)
        .add(Route::get("/admin/api/articles/{id}/raw", Scope::Read, "The page as it came, to be saved"), raw)
        .add(
            Route::get(
                "/admin/api/articles/{id}/versions",
                Scope::Read,
                "What its page was at other times, the oldest first",
            ),
            versions,
        )
        .add(
            Route::post(
                "/admin/api/articles/{id}/fetch",
                Scope::Run,
                "Asks for its page again, and keeps it beside the one before if it has changed",
            )
            .keyed()
            .asks_a_site(),
            look_again,
        )
        .add(
            Route::get("/admin/api/articles/{id}/attachments/{n}", Scope::Read, "A file of it, to be saved"),
            file,
        );
}

async fn find<Q, B>(call: &Call<Id, Q, B>) -> Result<Article, Problem> {
    let id = call.path.id;
    call.app.engine.store().article(id).await?.ok_or_else(|| Problem::not_found("article", id))
}

async fn search(call: Call<Nothing, Search>) -> Result<Shown<Page<SearchHit>>, Problem> {
    let (query, paging) = call.query.clone().split();
    Ok(Shown(call.desk().search(query, paging).await?))
}

async fn search_ids(call: Call<Nothing, Search>) -> Result<Shown<FoundIds>, Problem> {
    let (query, _) = call.query.clone().split();
    Ok(Shown(call.desk().search_ids(query).await?))
}

async fn show(call: Call<Id>) -> Result<Shown<Whole>, Problem> {
    let (article, department) = call.desk().article(call.path.id).await?;
    let versions = call.desk().page_versions(article.id).await?;
    Ok(Shown(Whole { article, department, versions }))
}

async fn remove(call: Call<Id>) -> Result<Done, Problem> {
    call.desk().delete_article(call.path.id).await?;
    call.app.events.changed("article", call.path.id);
    Ok(Done)
}

async fn remove_many(call: Call<Nothing, Nothing, Sent<Ids>>) -> Result<Shown<Deleted>, Problem> {
    let deleted = call.desk().delete_articles(call.body.0.ids.clone()).await?;
    call.app.events.changed("article", &call.body.0.ids);
    Ok(Shown(Deleted { deleted }))
}

async fn text(call: Call<Id>) -> Result<Text, Problem> {
    let article = find(&call).await?;
    let Some(path) = article.text_path else { return Ok(Text(article.content_text)) };
    let bytes = call.app.engine.files().read(&path).await?;
    Ok(Text(String::from_utf8_lossy(&bytes).into_owned()))
}

async fn versions(call: Call<Id, Part>) -> Result<Shown<Page<PageVersion>>, Problem> {
    let all = call.desk().page_versions(call.path.id).await?;
    Ok(Shown(Page::of(all, &call.query.paging(), "versions")?))
}

async fn look_again(call: Call<Id>) -> Result<Shown<LookedAgain>, Problem> {
    let id = call.path.id;
    let looked = call.desk().look_again(id).await?;
    if looked.changed {
        call.app.events.changed("article", id);
    }
    Ok(Shown(looked))
}

async fn raw(call: Call<Id, Which>) -> Result<Download, Problem> {
    let article = find(&call).await?;
    if let Some(n) = call.query.version {
        let bytes = call.desk().page_version(article.id, n).await?;
        let size = Some(bytes.len() as u64);
        return Ok(Download {
            name: format!("article-{}-{n}.html.txt", article.id),
            body: Body::from(bytes),
            size,
        });
    }
    let path = article.raw_html_path.ok_or_else(|| Problem::not_found("page of article", article.id))?;
    let bytes = call.app.engine.files().read(&path).await?;
    let size = Some(bytes.len() as u64);
    Ok(Download { name: format!("article-{}.html.txt", article.id), body: Body::from(bytes), size })
}

async fn file(call: Call<File>) -> Result<Download, Problem> {
    let File { id, n } = call.path;
    let article = call.app.engine.store().article(id).await?;
    let article = article.ok_or_else(|| Problem::not_found("article", id))?;
    let files = article.attachments;
    let file = files.into_iter().nth(n as usize).ok_or_else(|| Problem::not_found("attachment", n))?;
    let path = file.file_path.ok_or_else(|| Problem::not_found("file of attachment", n))?;
    let bytes = call.app.engine.files().read(&path).await?;
    let size = Some(bytes.len() as u64);
    Ok(Download { name: file.filename, body: Body::from(bytes), size })
}
