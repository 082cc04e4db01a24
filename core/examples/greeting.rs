//! A greeting now and then (S3-12), as a program around the library would do it: a job of its own kind, gates that
//! decide whether it fires, a channel that carries it. Switched off unless it is asked for, and no LLM is involved:
//! the words are a list.
//!
//! ```text
//! cargo run --example greeting -- DATA_DIR CHANNEL            # says what it would do
//! cargo run --example greeting -- DATA_DIR CHANNEL --enable   # does it, until Ctrl-C
//! ```
//!
//! `DATA_DIR/channels.toml` describes the channel; see the documentation of `dibao::deliver`.

use std::error::Error;
use std::sync::Arc;
use std::time::Duration;

use chrono::Timelike as _;
use dibao::clock::{SystemClock, SystemEntropy};
use dibao::deliver::{Message, Notice};
use dibao::queue::{
    Chance, Fire, FireGate, IdleFor, JobContext, JobDone, JobHandler, JobQuery, JobResult, JobState,
    JobTable, Moment, NewJob, PerDay, QuietHours, WorkOptions, check_all,
};
use dibao::{Clock, Engine, Entropy, Timestamp};
use futures::future::BoxFuture;
use tokio_util::sync::CancellationToken;

const KIND: &str = "greeting";
const HOUR: i64 = 3_600_000;
const ZONE: chrono_tz::Tz = chrono_tz::Asia::Shanghai;

struct Greeting {
    table: Arc<dyn JobTable>,
    channel: String,
}

impl Greeting {
    /// The rules of S3-12.
    fn gates() -> [Box<dyn FireGate>; 4] {
        let idle = IdleFor(Duration::from_secs(4 * 3_600));
        [Box::new(QuietHours { from: 21, to: 8 }), Box::new(PerDay(2)), Box::new(idle), Box::new(Chance(0.5))]
    }

    /// What the gates go by, from what is in the store.
    async fn moment(&self) -> dibao::Result<Moment> {
        let now = SystemClock.now();
        let day = |at: Timestamp| at.to_utc().with_timezone(&ZONE).date_naive();
        let done = JobQuery { states: vec![JobState::Done], limit: 200, ..JobQuery::default() };
        let jobs = self.table.jobs(done).await?;
        let greeted =
            |job: &&dibao::queue::Job| job.kind == KIND && job.response.as_deref() == Some("greeted");
        let ended = |job: &dibao::queue::Job| job.finished_at.unwrap_or(job.created_at);
        let done_today = jobs.iter().filter(greeted).filter(|job| day(ended(job)) == day(now)).count();
        // Idle: no article was announced and nothing else was done.
        let last = jobs.iter().filter(|job| job.kind != KIND).map(ended).max().unwrap_or(Timestamp(0));
        let idle = Duration::from_millis(now.0.saturating_sub(last.0).max(0) as u64);
        Ok(Moment { now, zone: ZONE, done_today: done_today as u32, idle, unit: SystemEntropy.unit() })
    }

    fn words(moment: &Moment) -> &'static str {
        match moment.now.to_utc().with_timezone(&ZONE).hour() {
            0..=10 => "早上好！今天的公报已经在看了。",
            11..=13 => "中午好，记得休息。",
            14..=17 => "下午好！有新的公报会告诉您。",
            _ => "晚上好，今天辛苦了。",
        }
    }

    /// The job of the next full hour; however often it is asked for, there is one.
    fn next(now: Timestamp) -> NewJob {
        let at = (now.0 / HOUR + 1) * HOUR;
        NewJob::new(KIND, KIND).once(format!("{KIND}:{at}")).run_after(Timestamp(at))
    }
}

impl JobHandler for Greeting {
    fn run<'a>(&'a self, job: &'a JobContext) -> BoxFuture<'a, JobResult> {
        Box::pin(async move {
            let moment = self.moment().await?;
            let gates = Greeting::gates();
            let gates: Vec<&dyn FireGate> = gates.iter().map(AsRef::as_ref).collect();
            let mut then = vec![Greeting::next(moment.now)];
            let response = match check_all(&gates, &moment) {
                Fire::Now => {
                    let key = format!("{KIND}:{}", job.job.id);
                    let message = Message::new(&key, KIND, Greeting::words(&moment), moment.now);
                    then.push(Notice::Message(Box::new(message)).job(&self.channel, &key));
                    "greeted".to_owned()
                }
                Fire::Later(until, why) => format!("not before {until}: {why}"),
                Fire::Skip(why) => format!("not this time: {why}"),
            };
            println!("{response}");
            // The greeting and the next hour are put in line with the end of this one, or not at all.
            Ok(JobDone { response: Some(response), then })
        })
    }
}

#[tokio::main]
async fn main() -> Result<(), Box<dyn Error>> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let [data, channel, more @ ..] = &arguments[..] else {
        return Err("usage: greeting DATA_DIR CHANNEL [--enable]".into());
    };
    let engine = Engine::builder().data_dir(data).build().await?;
    let greeting = Greeting { table: engine.queue().table().clone(), channel: channel.clone() };
    if !more.iter().any(|word| word == "--enable") {
        let gates = Greeting::gates();
        let gates: Vec<&dyn FireGate> = gates.iter().map(AsRef::as_ref).collect();
        println!(
            "switched off; with --enable it would say now: {:?}",
            check_all(&gates, &greeting.moment().await?)
        );
        return Ok(());
    }
    engine.queue().submit(Greeting::next(SystemClock.now())).await?;
    let stop = CancellationToken::new();
    let ended = stop.clone();
    tokio::spawn(async move {
        let _ = tokio::signal::ctrl_c().await;
        ended.cancel();
    });
    let handlers = engine.handlers().with(KIND, greeting);
    engine.queue().work(handlers, WorkOptions::default(), stop, false).await?;
    Ok(())
}
