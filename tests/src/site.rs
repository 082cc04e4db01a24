//! One host: its columns, what stands on which list page, which post has which number, what was published
//! since the start. Holds nothing that grows with the size knob. How it looks is its family's business.

use std::sync::{Arc, PoisonError, RwLock};

use chrono::{NaiveDateTime, TimeDelta};

use crate::answer::{Answer, Ask};
use crate::files::Attachment;
use crate::post::{self, Head, NewPost};
use crate::seed::Chance;

/// How one kind of portal writes its addresses and pages.
pub(crate) trait Family: Send + Sync + std::fmt::Debug {
    /// The address of a post's page, from the root of the host.
    fn post_path(&self, site: &Site, head: &Head) -> String;
    /// The page, list, file or 404 under an address.
    fn answer(&self, site: &Site, ask: &Ask<'_>) -> Answer;
    /// Whether whoever calls himself this gets a reset connection instead of an answer.
    fn hangs_up_on(&self, _agent: &str) -> bool {
        false
    }
}

/// A column of a site.
#[derive(Debug, Clone)]
pub(crate) struct Column {
    /// What callers name it by.
    pub(crate) id: &'static str,
    /// The address of its first list page, from the root of the host.
    pub(crate) list: &'static str,
    pub(crate) name: &'static str,
    /// An old post stands on top of its first page.
    pub(crate) pinned: bool,
}

impl Column {
    /// The directory of its list pages, with both slashes.
    pub(crate) fn directory(&self) -> &'static str {
        &self.list[..self.list.rfind('/').map_or(0, |at| at + 1)]
    }
}

/// A row of a list page.
#[derive(Debug, Clone)]
pub(crate) struct Row {
    pub(crate) head: Head,
    pub(crate) pinned: bool,
}

/// One host of the replica.
#[derive(Debug)]
pub(crate) struct Site {
    pub(crate) host: String,
    pub(crate) name: &'static str,
    pub(crate) family: &'static dyn Family,
    pub(crate) columns: Vec<Column>,
    pub(crate) page_size: u64,
    pub(crate) seed: u64,
    pub(crate) articles: u64,
    /// The number of the newest seeded post; older ones count down, published ones up.
    pub(crate) newest_id: u64,
    pub(crate) with_files: bool,
    /// Smallest and largest article page in bytes.
    pub(crate) article_bytes: (u64, u64),
    pub(crate) published: RwLock<Vec<Arc<Head>>>,
}

impl Site {
    /// The seeded post with this index, 0 being the newest.
    fn seeded(&self, index: u64) -> Head {
        let column = (index % self.columns.len() as u64) as usize;
        post::seeded(self.seed, &self.host, index, self.newest_id - index, column)
    }

    /// The post with this number.
    pub(crate) fn post(&self, id: u64) -> Option<Head> {
        if id > self.newest_id {
            let fresh = self.published.read().unwrap_or_else(PoisonError::into_inner);
            return fresh.get((id - self.newest_id - 1) as usize).map(|head| head.as_ref().clone());
        }
        let index = self.newest_id - id;
        (index < self.articles).then(|| self.seeded(index))
    }

    /// The post with this number if this really is its address: a wrong month or column is a 404.
    pub(crate) fn post_at(&self, id: u64, path: &str) -> Option<Head> {
        self.post(id).filter(|head| self.family.post_path(self, head) == path)
    }

    /// The post of the first column that the second one lists too.
    fn shared(&self) -> Option<u64> {
        let columns = self.columns.len() as u64;
        (columns > 1).then(|| if self.articles > 2 * columns { 2 * columns } else { 0 })
    }

    /// Seeded rows of a column.
    fn seeded_rows(&self, column: usize) -> u64 {
        let columns = self.columns.len() as u64;
        let own = self.articles.saturating_sub(column as u64).div_ceil(columns);
        own + u64::from(column == 1)
    }

    /// The index of the seeded post on this row of a column, newest first.
    fn seeded_index(&self, column: usize, row: u64) -> u64 {
        let columns = self.columns.len() as u64;
        let own = |row: u64| row * columns + column as u64;
        match self.shared().filter(|_| column == 1) {
            None => own(row),
            Some(shared) => match row.cmp(&(shared / columns)) {
                std::cmp::Ordering::Less => own(row),
                std::cmp::Ordering::Equal => shared,
                std::cmp::Ordering::Greater => own(row - 1),
            },
        }
    }

    /// Rows of a column and its pages (at least one).
    pub(crate) fn extent(&self, column: usize) -> (u64, u64) {
        let rows = self.fresh(column).len() as u64 + self.seeded_rows(column);
        (rows, rows.div_ceil(self.page_size).max(1))
    }

    /// Published posts of a column, newest first.
    fn fresh(&self, column: usize) -> Vec<Arc<Head>> {
        let fresh = self.published.read().unwrap_or_else(PoisonError::into_inner);
        fresh.iter().rev().filter(|head| head.column == column).cloned().collect()
    }

    /// The rows `from..to` of a column, newest first, without the pinned one.
    pub(crate) fn rows(&self, column: usize, from: u64, to: u64) -> Vec<Head> {
        let fresh = self.fresh(column);
        let total = fresh.len() as u64 + self.seeded_rows(column);
        (from..to.min(total))
            .map(|row| match fresh.get(row as usize) {
                Some(head) => head.as_ref().clone(),
                None => self.seeded(self.seeded_index(column, row - fresh.len() as u64)),
            })
            .collect()
    }

    /// List page `page` (from 1); `None` past the end. The pinned row comes on top of the first page's own rows.
    pub(crate) fn page(&self, column: usize, page: u64, ask: &Ask<'_>) -> Option<Vec<Row>> {
        let (_, pages) = self.extent(column);
        if page == 0 || page > pages {
            return None;
        }
        if ask.empty_list {
            return Some(Vec::new());
        }
        let from = (page - 1) * self.page_size;
        let rows = self.rows(column, from, from + self.page_size);
        let pinned = self.pinned(column).filter(|_| page == 1).map(|head| Row { head, pinned: true });
        Some(pinned.into_iter().chain(rows.into_iter().map(|head| Row { head, pinned: false })).collect())
    }

    /// The oldest post of a column that pins one; a column of less than ten rows has nothing old.
    pub(crate) fn pinned(&self, column: usize) -> Option<Head> {
        let rows = self.seeded_rows(column);
        (self.columns[column].pinned && rows >= 10).then(|| self.seeded(self.seeded_index(column, rows - 1)))
    }

    /// The column whose first list page, or whose directory, this is.
    pub(crate) fn column_of_list(&self, path: &str) -> Option<usize> {
        self.columns.iter().position(|column| column.list == path || column.directory() == path)
    }

    /// Files of a post.
    pub(crate) fn files(&self, head: &Head) -> Vec<Attachment> {
        if self.with_files { head.files(self.seed, &self.host) } else { Vec::new() }
    }

    /// The text of a post, sized so that its page, of which `frame` bytes are written already, has its due size.
    pub(crate) fn body(&self, head: &Head, frame: usize) -> String {
        let (least, most) = self.article_bytes;
        let mut chance = Chance::new(self.seed, &self.host, "size", head.id);
        let due = least + chance.below(most.saturating_sub(least) + 1);
        head.body(self.seed, &self.host, (due as usize).saturating_sub(frame))
    }

    /// Puts a post on top of a column.
    pub(crate) fn publish(&self, column: usize, new: NewPost, at: Option<NaiveDateTime>) -> Head {
        let mut fresh = self.published.write().unwrap_or_else(PoisonError::into_inner);
        let before = fresh.last().map_or_else(post::newest, |head| head.at);
        let id = self.newest_id + 1 + fresh.len() as u64;
        let at = at.unwrap_or(before + TimeDelta::minutes(7));
        let head = Arc::new(post::published(self.seed, &self.host, id, column, at, new));
        fresh.push(Arc::clone(&head));
        head.as_ref().clone()
    }

    /// robots.txt: a word for crawlers that is the same in spirit on all these sites.
    pub(crate) fn robots(&self) -> Answer {
        let text = format!(
            "User-agent: *\nDisallow: /admin/\nDisallow: /search/\nSitemap: https://{}/sitemap.xml\n",
            self.host
        );
        Answer::new(200, "text/plain; charset=utf-8", text)
    }

    /// The answer to any request for this host.
    pub(crate) fn answer(&self, ask: &Ask<'_>) -> Answer {
        if ask.path == "/robots.txt" { self.robots() } else { self.family.answer(self, ask) }
    }
}
