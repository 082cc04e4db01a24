//! What a process used, asked by the process itself: processor time and the most memory it ever held.

use serde_json::{Value, json};

/// What one crawl took.
#[derive(Clone, Copy, Debug, Default)]
pub struct Usage {
    /// Articles stored.
    pub articles: u64,
    /// From start to the last byte stored.
    pub seconds: f64,
    /// Processor time of all threads, user and system.
    pub cpu_seconds: f64,
    /// The most resident memory, in MB.
    pub peak_mb: f64,
}

impl Usage {
    /// What this process used since it began.
    pub fn of_this_process(articles: u64, seconds: f64) -> anyhow::Result<Usage> {
        let cpu = rustix::time::clock_gettime(rustix::time::ClockId::ProcessCPUTime);
        let status = std::fs::read_to_string("/proc/self/status")?;
        let peak = status.lines().find_map(|line| line.strip_prefix("VmHWM:"));
        let kib: f64 =
            peak.and_then(|rest| rest.trim().strip_suffix(" kB")?.trim().parse().ok()).unwrap_or(0.0);
        let cpu_seconds = cpu.tv_sec as f64 + cpu.tv_nsec as f64 / 1e9;
        Ok(Usage { articles, seconds, cpu_seconds, peak_mb: kib * 1024.0 / 1e6 })
    }

    /// As one line for the parent process.
    pub fn to_json(self) -> Value {
        json!({"articles": self.articles, "seconds": self.seconds, "cpu_seconds": self.cpu_seconds, "peak_mb": self.peak_mb})
    }

    /// The line read back.
    pub fn from_json(value: &Value) -> Option<Usage> {
        let number = |name: &str| value.get(name)?.as_f64();
        Some(Usage {
            articles: value.get("articles")?.as_u64()?,
            seconds: number("seconds")?,
            cpu_seconds: number("cpu_seconds")?,
            peak_mb: number("peak_mb")?,
        })
    }

    /// Processor time per article in milliseconds.
    pub fn cpu_ms(&self) -> f64 {
        self.cpu_seconds * 1e3 / self.articles.max(1) as f64
    }

    /// Articles per second.
    pub fn rate(&self) -> f64 {
        self.articles as f64 / self.seconds.max(1e-9)
    }
}
