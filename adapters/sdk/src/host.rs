//! What an adapter may ask of the host: selection, text, decoding, the log. All pure.

use crate::{HtmlPage, Level, Query, Table};

/// The contract's imports. The component calls the real ones; a test brings its own.
pub trait Host {
    /// For each match of `row` (once for the page when none) one cell per query.
    fn select(&self, page: &HtmlPage, row: Option<&str>, queries: &[Query]) -> Result<Table, String>;

    /// Readable text of a page or fragment.
    fn text(&self, page: &HtmlPage) -> Result<String, String>;

    /// Bytes to text: BOM, header, meta, detector.
    fn decode(&self, bytes: &[u8], content_type: Option<&str>) -> String;

    /// A line for the run's log.
    fn log(&self, level: Level, message: &str);
}

/// The imports of the component.
#[cfg(target_arch = "wasm32")]
pub(crate) struct Imports;

#[cfg(target_arch = "wasm32")]
impl Host for Imports {
    fn select(&self, page: &HtmlPage, row: Option<&str>, queries: &[Query]) -> Result<Table, String> {
        crate::bindings::dibao::adapter::html::select(page, row, queries)
    }

    fn text(&self, page: &HtmlPage) -> Result<String, String> {
        crate::bindings::dibao::adapter::html::text(page)
    }

    fn decode(&self, bytes: &[u8], content_type: Option<&str>) -> String {
        crate::bindings::dibao::adapter::charset::decode(bytes, content_type)
    }

    fn log(&self, level: Level, message: &str) {
        crate::bindings::dibao::adapter::log::write(level, message);
    }
}
