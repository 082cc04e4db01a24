//! What a guest's imports see: the pages of the turn, the log buffer, its meter.
//!
//! A store's data must be `Send` for WASI, parsed pages are not: they stay in a slot of the
//! thread that runs the turn, which is also the thread on which every import is called.

use std::cell::RefCell;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::rc::Rc;
use std::time::Instant;

use wasmtime::component::ResourceTable;
use wasmtime_wasi::{WasiCtx, WasiCtxView, WasiView};

use super::bindings::dibao::adapter::{charset, html, log, types};
use super::contract::Level;
use super::cost::Cost;
use super::limits::{Limits, Meter};
use super::said::Said;
use crate::extract::Pages;

/// A line that an adapter logged.
#[derive(Clone, Debug, PartialEq, serde::Serialize)]
pub struct LogLine {
    /// How important the adapter thinks it is.
    pub level: Level,
    /// One line, cut to its cap, control characters made visible as spaces.
    pub message: String,
}

/// The lines of one turn, capped.
#[derive(Debug)]
pub(super) struct Log {
    lines: Vec<LogLine>,
    dropped: u64,
    max_lines: usize,
    max_bytes: usize,
}

impl Log {
    /// An empty log.
    pub fn new(limits: &Limits) -> Self {
        Log { lines: Vec::new(), dropped: 0, max_lines: limits.log_lines, max_bytes: limits.log_line_bytes }
    }

    /// Keeps a line, or counts it.
    pub fn push(&mut self, level: Level, message: &str) {
        if self.lines.len() >= self.max_lines {
            self.dropped += 1;
            return;
        }
        let kept = &message[..message.floor_char_boundary(self.max_bytes)];
        // A line break in a message must not look like a second line of the log.
        let message = kept.chars().map(|c| if c.is_control() { ' ' } else { c }).collect();
        self.lines.push(LogLine { level, message });
    }

    /// The last error or warning: a guest that panics says why here, if anywhere.
    pub fn last_words(&self) -> Option<&str> {
        let grave = |line: &&LogLine| matches!(line.level, Level::Error | Level::Warn);
        self.lines.iter().rev().find(grave).map(|line| line.message.as_str())
    }

    /// The lines, and a last one about those that were dropped.
    pub fn finish(mut self) -> Vec<LogLine> {
        if self.dropped > 0 {
            let message = format!("{} more lines of this turn were dropped", self.dropped);
            self.lines.push(LogLine { level: Level::Warn, message });
        }
        self.lines
    }
}

/// The data of one store.
pub(super) struct State {
    pub meter: Meter,
    pub log: Log,
    /// What the host did for this guest; none when nobody counts.
    pub cost: Option<Cost>,
    /// What it prints, by WASI.
    pub said: Said,
    /// Only for guests that import WASI.
    pub wasi: Option<(WasiCtx, ResourceTable)>,
}

thread_local! {
    static PAGES: RefCell<Option<Rc<Pages>>> = const { RefCell::new(None) };
}

/// Lends the pages to the imports until it is dropped.
pub(super) struct Lent(Option<Rc<Pages>>);

impl Lent {
    /// Puts `pages` into the thread's slot.
    pub fn new(pages: &Rc<Pages>) -> Lent {
        Lent(PAGES.replace(Some(Rc::clone(pages))))
    }
}

impl Drop for Lent {
    fn drop(&mut self) {
        PAGES.set(self.0.take());
    }
}

/// Runs `read` on the turn's pages. A panic there is the host's own fault, but it was a guest or a page that found
/// it: the turn ends, the process does not.
fn pages<T>(read: impl FnOnce(&Pages) -> T) -> wasmtime::Result<T> {
    let pages = PAGES.with_borrow(Clone::clone);
    let Some(pages) = pages else { return Err(wasmtime::Error::msg("no page belongs to this call")) };
    catch_unwind(AssertUnwindSafe(|| read(&pages))).map_err(|_| {
        wasmtime::Error::msg("the host failed to read this page (a bug of dibao: please report it)")
    })
}

impl types::Host for State {}

impl log::Host for State {
    fn write(&mut self, level: Level, message: String) -> wasmtime::Result<()> {
        self.log.push(level, &message);
        Ok(())
    }
}

impl html::Host for State {
    fn select(
        &mut self,
        page: html::Page,
        row: Option<String>,
        queries: Vec<html::Query>,
    ) -> wasmtime::Result<Result<html::Table, String>> {
        let began = self.cost.is_some().then(Instant::now);
        let found =
            pages(|pages| pages.select(&page, row.as_deref(), &queries).map_err(|error| error.to_string()));
        if let (Some(began), Some(cost)) = (began, &mut self.cost) {
            cost.selected(began.elapsed(), row.as_deref(), &queries);
        }
        found
    }

    fn text(&mut self, page: html::Page) -> wasmtime::Result<Result<String, String>> {
        let began = Instant::now();
        let text = pages(|pages| pages.text(&page).map_err(|error| error.to_string()));
        if let Some(cost) = &mut self.cost {
            cost.host += began.elapsed();
        }
        text
    }
}

impl charset::Host for State {
    fn decode(&mut self, bytes: Vec<u8>, content_type: Option<String>) -> wasmtime::Result<String> {
        catch_unwind(|| crate::extract::charset::decode(&bytes, content_type.as_deref()).text.into()).map_err(
            |_| {
                wasmtime::Error::msg(
                    "the host failed to decode these bytes (a bug of dibao: please report it)",
                )
            },
        )
    }
}

impl WasiView for State {
    fn ctx(&mut self) -> WasiCtxView<'_> {
        // Only linkers of interpreted guests lead here, and their stores always have one; were it missing, they
        // get the same nothing.
        let (ctx, table) = self.wasi.get_or_insert_with(|| super::wasi::nothing(0, &[], &self.said));
        WasiCtxView { ctx, table }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_flood_of_lines_is_cut_and_counted() {
        let limits = Limits::default();
        let mut log = Log::new(&limits);
        for _ in 0..1000 {
            log.push(Level::Info, &"邸报\n".repeat(10_000));
        }
        let lines = log.finish();
        assert_eq!(lines.len(), limits.log_lines + 1);
        assert!(
            lines
                .iter()
                .all(|line| line.message.len() <= limits.log_line_bytes && !line.message.contains('\n'))
        );
        assert!(lines.last().unwrap().message.starts_with("900 more"));
    }
}
