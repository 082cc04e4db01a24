//! Where `-o` puts new articles: one JSON line each, written as it is stored.

use std::io::{ErrorKind, Write};
use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, Ordering};

use anyhow::Context;
use dibao::model::Article;

use crate::output::{json_line, open_output};

pub struct Sink {
    name: String,
    out: Mutex<Box<dyn Write + Send>>,
    reader_gone: AtomicBool,
}

impl Sink {
    pub fn open(path: &str) -> anyhow::Result<Sink> {
        let out = Mutex::new(open_output(path)?);
        Ok(Sink { name: path.to_string(), out, reader_gone: AtomicBool::new(false) })
    }

    /// Whether standard output belongs to the articles.
    pub fn is_stdout(&self) -> bool {
        self.name == "-"
    }

    /// Whether whoever read the articles has gone, as `head` does. Nothing is wrong then.
    pub fn reader_gone(&self) -> bool {
        self.reader_gone.load(Ordering::Relaxed)
    }

    /// Writes one article; false when nobody reads any more.
    pub fn put(&self, article: &Article) -> anyhow::Result<bool> {
        let line = json_line(article)?;
        let mut out = self.out.lock().unwrap_or_else(|poisoned| poisoned.into_inner());
        match out.write_all(line.as_bytes()).and_then(|()| out.flush()) {
            Ok(()) => Ok(true),
            Err(error) if error.kind() == ErrorKind::BrokenPipe => {
                self.reader_gone.store(true, Ordering::Relaxed);
                Ok(false)
            }
            Err(error) => Err(error).with_context(|| {
                format!(
                    "cannot write {}; the articles themselves are stored, `dibao export` writes them",
                    self.name
                )
            }),
        }
    }
}
