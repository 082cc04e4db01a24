//! The adapter's host without a sandbox: dibao's own selection, called directly.

use std::sync::Arc;

use dibao::adapter::contract;
use dibao::extract::{Pages, charset};
use dibao_adapter::{Entry, Hit, Host, HtmlPage, Level, Query, Reply, Table};

pub struct Native {
    pages: Pages,
}

impl Native {
    pub fn new(replies: &[Reply]) -> Native {
        Native { pages: Pages::new(Arc::new(replies.iter().map(reply).collect())) }
    }
}

impl Host for Native {
    fn select(&self, page: &HtmlPage, row: Option<&str>, queries: &[Query]) -> Result<Table, String> {
        let queries: Vec<_> =
            queries.iter().map(|q| contract::Query { css: q.css.clone(), all: q.all }).collect();
        let table = self.pages.select(&html(page), row, &queries).map_err(|error| error.to_string())?;
        let hit = |hit: contract::Hit| Hit { alternative: hit.alternative, value: hit.value, more: hit.more };
        let cells = table.cells.into_iter().map(|cell| cell.map(hit)).collect();
        Ok(Table { alternative: table.alternative, rows: table.rows, cells })
    }

    fn text(&self, page: &HtmlPage) -> Result<String, String> {
        self.pages.text(&html(page)).map_err(|error| error.to_string())
    }

    fn decode(&self, bytes: &[u8], content_type: Option<&str>) -> String {
        charset::decode(bytes, content_type).text.into()
    }

    fn log(&self, _: Level, _: &str) {}
}

fn html(page: &HtmlPage) -> contract::HtmlPage {
    match page {
        HtmlPage::Reply(tag) => contract::HtmlPage::Reply(tag.clone()),
        HtmlPage::Text(text) => contract::HtmlPage::Text(text.clone()),
    }
}

pub fn reply(reply: &Reply) -> contract::Reply {
    let Reply { tag, status, url, headers, body } = reply.clone();
    contract::Reply { tag, status, url, headers, body }
}

pub fn entry(entry: &Entry) -> contract::Entry {
    let Entry { url, title, published, native_id, pinned, fields } = entry.clone();
    contract::Entry { url, title, published, native_id, pinned, fields }
}
