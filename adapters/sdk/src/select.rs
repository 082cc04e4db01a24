//! A selection as one call: rows, and in each row one cell per query, asked for by position.

use crate::{Failure, Hit, Host, HtmlPage, Query, Table};

/// A selection to be made: a page, perhaps rows, and what to read from each.
pub struct Select {
    page: HtmlPage,
    row: Option<String>,
    queries: Vec<Query>,
}

impl Select {
    /// In a reply of this turn, by its tag; the host decodes it.
    pub fn reply(tag: &str) -> Select {
        Select::page(HtmlPage::Reply(tag.to_owned()))
    }

    /// In text of the adapter's own.
    pub fn text(html: &str) -> Select {
        Select::page(HtmlPage::Text(html.to_owned()))
    }

    fn page(page: HtmlPage) -> Select {
        Select { page, row: None, queries: Vec::new() }
    }

    /// Once for each match of this selector, instead of once for the page.
    pub fn row(mut self, css: &str) -> Select {
        self.row = Some(css.to_owned());
        self
    }

    /// Then the first match of this one.
    pub fn one(mut self, css: &str) -> Select {
        self.queries.push(Query { css: css.to_owned(), all: false });
        self
    }

    /// Then every match of this one.
    pub fn all(mut self, css: &str) -> Select {
        self.queries.push(Query { css: css.to_owned(), all: true });
        self
    }

    /// Asks the host. A selector that it refuses is a mistake in the settings.
    pub fn run(self, host: &impl Host) -> Result<Rows, Failure> {
        let table = host.select(&self.page, self.row.as_deref(), &self.queries).map_err(Failure::Config)?;
        Ok(Rows { table, width: self.queries.len() })
    }
}

/// What a selection found.
pub struct Rows {
    table: Table,
    width: usize,
}

impl Rows {
    /// Number of rows.
    pub fn len(&self) -> usize {
        self.table.rows as usize
    }

    /// Whether no row matched.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Index of the row selector's alternative that matched.
    pub fn alternative(&self) -> u32 {
        self.table.alternative
    }

    /// Row by row; values can be taken out without copying.
    pub fn iter_mut(&mut self) -> impl Iterator<Item = Row<'_>> {
        // A width of 0 would make no chunks at all: such a selection has rows without cells.
        self.table.cells.chunks_exact_mut(self.width.max(1)).map(Row)
    }
}

/// One row: its cells in the order of the queries.
pub struct Row<'a>(&'a mut [Option<Hit>]);

impl Row<'_> {
    /// The value of a cell, moved out; none when the query found nothing.
    pub fn take(&mut self, column: usize) -> Option<String> {
        self.take_hit(column).map(|hit| hit.value)
    }

    /// A whole cell, moved out: which alternative matched, the value, the further ones.
    pub fn take_hit(&mut self, column: usize) -> Option<Hit> {
        self.0.get_mut(column)?.take()
    }

    /// The value of a cell.
    pub fn get(&self, column: usize) -> Option<&str> {
        Some(self.0.get(column)?.as_ref()?.value.as_str())
    }
}
