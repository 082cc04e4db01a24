//! Progress on standard error: a bar per target on a terminal, now and then a line elsewhere.

use std::io::IsTerminal;
use std::time::{Duration, Instant};

use dibao::CrawlEvent;
use indicatif::{MultiProgress, ProgressBar, ProgressStyle};

use crate::output::note;

/// Without a terminal, one line a minute is enough to see that it lives.
const LINE_EVERY: Duration = Duration::from_secs(60);

/// All bars of a command.
#[derive(Clone)]
pub struct Board {
    bars: Option<MultiProgress>,
}

/// Progress of one target.
pub struct Lane {
    target: String,
    bar: Option<ProgressBar>,
    listed: u64,
    stored: u64,
    failed: u64,
    files: u64,
    began: Instant,
    line: Instant,
    /// The last failure: said when something follows, because the failure that ends a run is the
    /// command's own error and is not said twice.
    held: Option<String>,
}

impl Board {
    pub fn new(quiet: bool) -> Board {
        let bars = (!quiet && std::io::stderr().is_terminal()).then(MultiProgress::new);
        Board { bars }
    }

    pub fn lane(&self, target: &str) -> Lane {
        let bar = self.bars.as_ref().map(|bars| {
            let style = ProgressStyle::with_template("{prefix:26!} {bar:24} {pos:>5}/{len:<5} {wide_msg}")
                .unwrap_or_else(|_| ProgressStyle::default_bar());
            let bar = bars.add(ProgressBar::new(0).with_style(style).with_prefix(target.to_string()));
            bar.enable_steady_tick(Duration::from_millis(200));
            bar
        });
        let now = Instant::now();
        let target = target.to_string();
        Lane { target, bar, listed: 0, stored: 0, failed: 0, files: 0, began: now, line: now, held: None }
    }
}

impl Lane {
    /// Takes note of an event.
    pub fn see(&mut self, event: &CrawlEvent) {
        if let Some(line) = self.held.take() {
            self.say(&line);
        }
        match event {
            CrawlEvent::Started { resumed: true, run_id, .. } => {
                self.say(&format!("{}: takes up unfinished run {run_id}", self.target));
            }
            CrawlEvent::Waiting { lane, process, job } => {
                let job = job.map(|job| format!(" (job {job})")).unwrap_or_default();
                let target = &self.target;
                self.say(&format!("{target}: waiting for {lane}: process {process} is at work there{job}"));
            }
            CrawlEvent::Listed { fresh, .. } => self.listed += u64::from(*fresh),
            CrawlEvent::Stored(article) => {
                self.stored += 1;
                self.files += article.attachments.len() as u64;
            }
            CrawlEvent::Failed(line) => {
                self.failed += 1;
                self.held = Some(format!("{}: {} {}", self.target, line.url, line.message));
            }
            _ => {}
        }
        let done = self.stored + self.failed;
        match &self.bar {
            Some(bar) => {
                bar.set_length(self.listed.max(done));
                bar.set_position(done);
                bar.set_message(format!(
                    "{} stored, {} failed, {} files",
                    self.stored, self.failed, self.files
                ));
            }
            None if self.line.elapsed() >= LINE_EVERY => {
                self.line = Instant::now();
                let minutes = self.began.elapsed().as_secs_f64() / 60.0;
                let pace = done as f64 / minutes.max(0.01);
                note(format_args!(
                    "{}: {done} articles (at {pace:.0}/min), {} failed",
                    self.target, self.failed
                ));
            }
            None => {}
        }
    }

    /// Takes the bar away; `ok`: the run itself ended well.
    pub fn end(mut self, ok: bool) {
        if let Some(line) = self.held.take().filter(|_| ok) {
            self.say(&line);
        }
        if let Some(bar) = self.bar {
            bar.finish_and_clear();
        }
    }

    fn say(&self, line: &str) {
        match &self.bar {
            Some(bar) => bar.suspend(|| note(line)),
            None => note(line),
        }
    }
}
