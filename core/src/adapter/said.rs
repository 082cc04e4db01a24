//! What an interpreted guest prints: lines for the log, and its last words when it falls.
//!
//! An interpreter tells of an exception on standard error and then traps; without these words an author would only read
//! `unreachable`. A guest may print without end: only the last part is kept, and nothing is ever refused.

use std::sync::{Arc, Mutex, PoisonError};

use bytes::Bytes;
use tokio::io::AsyncWrite;
use wasmtime_wasi::async_trait;
use wasmtime_wasi::cli::{IsTerminal, StdoutStream};
use wasmtime_wasi::p2::{OutputStream, Pollable, StreamResult};

/// Bytes that are kept of a turn: a traceback with room.
const KEPT: usize = 16 * 1024;
/// What a guest may write at once.
const AT_ONCE: usize = 64 * 1024;
/// Lines that make up last words: an exception, and where it was.
const LAST: usize = 6;

/// How lines begin that an interpreter's own runtime adds when it falls.
const RUNTIME: [&str; 4] =
    ["thread '", "note: run with", "Python function threw", "Redirecting call to abort"];

/// Standard output and standard error of one turn, as one.
#[derive(Clone, Default)]
pub(super) struct Said(Arc<Mutex<Vec<u8>>>);

impl Said {
    /// What was kept, line by line.
    pub fn lines(&self) -> Vec<String> {
        let kept = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let text = String::from_utf8_lossy(&kept);
        text.lines().filter(|line| !line.trim().is_empty()).map(str::to_owned).collect()
    }

    /// The end of it in one line; none when it said nothing.
    pub fn last_words(&self) -> Option<String> {
        let mut lines = self.lines();
        // What interpreters say of themselves after the exception is of no use to an author.
        lines.retain(|line| !RUNTIME.iter().any(|words| line.trim_start().starts_with(words)));
        let last: Vec<&str> =
            lines[lines.len().saturating_sub(LAST)..].iter().map(|line| line.trim()).collect();
        (!last.is_empty())
            .then(|| last.join(" / ").chars().map(|c| if c.is_control() { ' ' } else { c }).collect())
    }

    fn hear(&self, bytes: &[u8]) {
        let mut kept = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        kept.extend_from_slice(bytes);
        if kept.len() > 2 * KEPT {
            let from = kept.len() - KEPT;
            kept.drain(..from);
        }
    }
}

impl OutputStream for Said {
    fn write(&mut self, bytes: Bytes) -> StreamResult<()> {
        self.hear(&bytes);
        Ok(())
    }

    fn flush(&mut self) -> StreamResult<()> {
        Ok(())
    }

    fn check_write(&mut self) -> StreamResult<usize> {
        Ok(AT_ONCE)
    }
}

#[async_trait]
impl Pollable for Said {
    async fn ready(&mut self) {}
}

impl IsTerminal for Said {
    fn is_terminal(&self) -> bool {
        false
    }
}

impl StdoutStream for Said {
    fn p2_stream(&self) -> Box<dyn OutputStream> {
        Box::new(self.clone())
    }

    /// Only WASI 0.3 asks for it, which is not linked.
    fn async_stream(&self) -> Box<dyn AsyncWrite + Send + Sync> {
        Box::new(tokio::io::empty())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_end_of_a_flood_is_kept() {
        let said = Said::default();
        assert_eq!(said.last_words(), None);
        for number in 0..20_000 {
            said.hear(format!("line {number}\n").as_bytes());
        }
        said.hear("Traceback\n  File \"/0/app.py\", line 7\n\nKeyError: '邸报\u{7}'\n".as_bytes());
        said.hear(b"thread '<unnamed>' (1) panicked at runtime/src/lib.rs:1:\nPython function threw an unexpected exception\n");
        let words = said.last_words().unwrap();
        assert!(words.ends_with("Traceback / File \"/0/app.py\", line 7 / KeyError: '邸报 '"), "{words}");
        assert!(said.0.lock().unwrap().len() <= 2 * KEPT + 100);
    }
}
