//! What Prometheus is told: names with base units, labels from short lists only. Counters are of this process; gauges are
//! looked up when somebody asks.

use std::fmt::Write as _;
use std::sync::Mutex;
use std::sync::atomic::AtomicU64;
use std::time::Duration;

use dibao::schedule::ScheduleQuery;
use dibao::tally::{BOUNDS, Counts};
use dibao::{CrawlEvent, Engine, ErrorClass, Timestamp};
use prometheus_client::encoding::text::encode;
use prometheus_client::encoding::{EncodeLabelSet, EncodeLabelValue, LabelValueEncoder};
use prometheus_client::metrics::counter::Counter;
use prometheus_client::metrics::family::Family;
use prometheus_client::metrics::gauge::Gauge;
use prometheus_client::metrics::histogram::{Histogram, exponential_buckets};
use prometheus_client::registry::Registry;

use crate::problem::Problem;

#[derive(Clone, Debug, PartialEq, Eq, Hash)]
struct Word(&'static str);

impl EncodeLabelValue for Word {
    fn encode(&self, encoder: &mut LabelValueEncoder<'_>) -> Result<(), std::fmt::Error> {
        self.0.encode(encoder)
    }
}

#[derive(Clone, Debug, PartialEq, Eq, Hash, EncodeLabelSet)]
struct Asked {
    method: Word,
    /// The pattern of the route, never the address.
    route: Word,
    status: u16,
}

#[derive(Clone, Debug, PartialEq, Eq, Hash, EncodeLabelSet)]
struct Outcome {
    outcome: Word,
}

#[derive(Clone, Debug, PartialEq, Eq, Hash, EncodeLabelSet)]
struct State {
    state: Word,
}

#[derive(Clone, Debug, PartialEq, Eq, Hash, EncodeLabelSet)]
struct Ended {
    kind: Word,
    state: Word,
}

/// The counters of this process.
pub struct Metrics {
    registry: Mutex<Registry>,
    requests: Family<Asked, Counter>,
    durations: Histogram,
    items: Family<Outcome, Counter>,
    jobs: Family<Ended, Counter>,
    drift: Counter,
}

impl Metrics {
    pub fn new() -> Metrics {
        let mut registry = Registry::with_prefix("dibao");
        let requests = Family::<Asked, Counter>::default();
        // 1 ms to 32 s.
        let durations = Histogram::new(exponential_buckets(0.001, 2.0, 16));
        let items = Family::<Outcome, Counter>::default();
        let jobs = Family::<Ended, Counter>::default();
        let drift = Counter::default();
        registry.register("http_requests", "Requests to this server", requests.clone());
        registry.register("http_request_duration_seconds", "How long they took", durations.clone());
        registry.register("items", "Entries of lists by what became of them", items.clone());
        registry.register("jobs_ended", "Jobs of this process that ended", jobs.clone());
        registry.register(
            "drift",
            "Lists and documents that are no longer shaped as expected",
            drift.clone(),
        );
        Metrics { registry: Mutex::new(registry), requests, durations, items, jobs, drift }
    }

    /// A request was answered.
    pub fn answered(&self, method: &http::Method, route: &'static str, status: u16, took: Duration) {
        let method = match method.as_str() {
            "GET" => "GET",
            "POST" => "POST",
            "PUT" => "PUT",
            "DELETE" => "DELETE",
            _ => "other",
        };
        self.requests.get_or_create(&Asked { method: Word(method), route: Word(route), status }).inc();
        self.durations.observe(took.as_secs_f64());
    }

    /// Something happened in a crawl.
    pub fn crawled(&self, event: &CrawlEvent) {
        let outcome = match event {
            CrawlEvent::Stored(article) => match article.status {
                dibao::model::ArticleStatus::Ready => "ready",
                _ => "not_ready",
            },
            CrawlEvent::Duplicate { .. } => "duplicate",
            CrawlEvent::Failed(line) => {
                if line.class == ErrorClass::Shape {
                    self.drift.inc();
                }
                "failed"
            }
            _ => return,
        };
        self.items.get_or_create(&Outcome { outcome: Word(outcome) }).inc();
    }

    /// A job ended.
    pub fn ended(&self, kind: &str, state: &'static str) {
        let kind = ["crawl", "deliver"].into_iter().find(|known| *known == kind).unwrap_or("other");
        self.jobs.get_or_create(&Ended { kind: Word(kind), state: Word(state) }).inc();
    }

    /// All of it, in OpenMetrics' text.
    pub async fn write(&self, engine: &Engine) -> Result<String, Problem> {
        let now = crate::auth::now_ms();
        let lanes = engine.queue().table().lanes().await?;
        let hosts = engine.store().hosts().await?;
        let cooling = hosts.iter().filter(|(_, row)| row.breaker.refusal(Timestamp(now)).is_some()).count();
        let mut live = Registry::with_prefix("dibao");
        let jobs = Family::<State, Gauge>::default();
        live.register("queue_jobs", "Jobs that wait or run", jobs.clone());
        let oldest = Gauge::<f64, AtomicU64>::default();
        live.register("queue_oldest_age_seconds", "Age of the oldest job that could start", oldest.clone());
        let cooldowns: Gauge = Gauge::default();
        live.register("host_cooldowns", "Hosts that are left alone", cooldowns.clone());
        let known: Gauge = Gauge::default();
        live.register("hosts", "Hosts that something is known of", known.clone());
        let sums = lanes.iter().fold((0i64, 0i64, 0i64), |(queued, waiting, running), lane| {
            (
                queued + i64::from(lane.queued),
                waiting + i64::from(lane.waiting),
                running + i64::from(lane.running),
            )
        });
        for (state, count) in [("queued", sums.0), ("waiting", sums.1), ("running", sums.2)] {
            jobs.get_or_create(&State { state: Word(state) }).set(count);
        }
        let since = lanes.iter().filter_map(|lane| lane.oldest).min();
        oldest.set(since.map_or(0.0, |since| (now - since.0).max(0) as f64 / 1_000.0));
        let overdue = ScheduleQuery {
            enabled_only: true,
            due_before: Some(Timestamp(now)),
            limit: 1,
            ..ScheduleQuery::default()
        };
        let first = engine.schedules().list(overdue).await?.first().and_then(|one| one.next_due_at);
        let lag = Gauge::<f64, AtomicU64>::default();
        live.register(
            "schedule_lag_seconds",
            "How long the longest overdue schedule has waited to be fired",
            lag.clone(),
        );
        lag.set(first.map_or(0.0, |due| (now - due.0).max(0) as f64 / 1_000.0));
        cooldowns.set(cooling as i64);
        known.set(hosts.len() as i64);
        let mut text = String::new();
        let failed = |_| Problem::new(crate::problem::Code::Internal, "the figures cannot be written");
        {
            let own = self.registry.lock().unwrap_or_else(|poisoned| poisoned.into_inner());
            prometheus_client::encoding::text::encode_registry(&mut text, &own).map_err(failed)?;
        }
        counted(&mut text, &engine.gate().tally().counts(), engine.queue().stalled()).map_err(failed)?;
        encode(&mut text, &live).map_err(failed)?;
        Ok(text)
    }
}

/// What the engine counted itself. Every label is from a short list of its own, and needs no escape.
fn counted(text: &mut String, counts: &Counts, stalled: u64) -> std::fmt::Result {
    let mut family = |name: &str, kind: &str, about: &str, lines: &[String]| {
        write!(text, "# HELP dibao_{name} {about}.\n# TYPE dibao_{name} {kind}\n")?;
        lines.iter().try_for_each(|line| writeln!(text, "dibao_{name}{line}"))
    };
    let fetches = counts.fetches.iter();
    let lines: Vec<String> = fetches
        .map(|((tier, outcome), count)| format!("_total{{tier=\"{tier}\",outcome=\"{outcome}\"}} {count}"))
        .collect();
    family(
        "fetch_requests",
        "counter",
        "Requests to sites by what fetched them and what came of them",
        &lines,
    )?;
    let mut lines = Vec::new();
    for (tier, durations) in &counts.durations {
        let mut below = 0;
        let ends = BOUNDS.iter().map(|bound| format!("{bound:?}")).chain(["+Inf".to_owned()]);
        for (end, count) in ends.zip(durations.classes) {
            below += count;
            lines.push(format!("_bucket{{tier=\"{tier}\",le=\"{end}\"}} {below}"));
        }
        lines.push(format!("_sum{{tier=\"{tier}\"}} {:?}", durations.sum));
        lines.push(format!("_count{{tier=\"{tier}\"}} {below}"));
    }
    family("fetch_duration_seconds", "histogram", "How long sites took to answer", &lines)?;
    let denied: u64 =
        counts.fetches.iter().filter(|((_, outcome), _)| *outcome == "robots").map(|(_, count)| count).sum();
    family("robots_denied", "counter", "Requests that robots.txt forbade", &[format!("_total {denied}")])?;
    family("leases_stalled", "counter", "Jobs whose workers were lost", &[format!("_total {stalled}")])?;
    let adapters = || counts.adapters.iter();
    let turns: Vec<String> =
        adapters().map(|(name, of)| format!("_total{{adapter=\"{name}\"}} {}", of.turns)).collect();
    family("adapter_turns", "counter", "Calls into adapters", &turns)?;
    let fuel: Vec<String> =
        adapters().map(|(name, of)| format!("_total{{adapter=\"{name}\"}} {}", of.fuel)).collect();
    family("adapter_fuel", "counter", "Instructions of adapters, where they are counted", &fuel)
}
