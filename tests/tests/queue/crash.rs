//! Three worker processes on one store, killed and paused at random while clocks jump: every job ends exactly once.
//!
//! The workers are this test program itself, started again with a directory in its environment.

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::fs::OpenOptions;
use std::io::{Read as _, Write as _};
use std::net::{TcpListener, TcpStream};
use std::os::unix::process::ExitStatusExt as _;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use dibao::clock::{SeededEntropy, SystemClock};
use dibao::fetch::robots::{Origin, RobotsCopy};
use dibao::queue::{
    Collect, Handlers, JobContext, JobDone, JobFailed, JobHandler, JobQuery, JobResult, JobRules, JobState,
    JobTable, NewJob, Queue, RetryPolicy, WorkOptions,
};
use dibao::store::{Durability, Files, SqliteStore, Store, StoreError};
use dibao::{Clock, ErrorClass, Steady, Timestamp};
use futures::future::BoxFuture;
use rustix::process::{Pid, Signal, kill_process};
use serde_json::json;
use tokio::sync::oneshot;
use tokio_util::sync::CancellationToken;

const JOBS: i64 = 2_000;
const LANES: i64 = 40;
const WORKERS: usize = 3;
const KILLS: u32 = 100;
const PAUSES: u32 = 8;
/// Long enough for a busy machine to prolong it, short enough for a test.
const LEASE: Duration = Duration::from_millis(2_400);
const DIR: &str = "DIBAO_TEST_QUEUE_DIR";
const RECEIVER: &str = "DIBAO_TEST_QUEUE_RECEIVER";

/// The wall clock, off by what a file says: somebody sets it while the workers run. Leases do not go by it.
struct JumpingClock(PathBuf);

impl Clock for JumpingClock {
    fn now(&self) -> Timestamp {
        let text = std::fs::read_to_string(self.0.join("offset")).unwrap_or_default();
        Timestamp(SystemClock.now().0 + text.trim().parse::<i64>().unwrap_or(0))
    }

    fn steady(&self) -> Steady {
        SystemClock.steady()
    }
}

/// One line at the end of a file, whoever else writes there.
fn append(log: &Path, line: &str) {
    let mut log = OpenOptions::new().append(true).create(true).open(log).unwrap();
    log.write_all(line.as_bytes()).unwrap();
}

/// Writes down that it runs, tells the receiver, and lets one more job follow: the effect that must not come twice.
struct Work {
    dir: PathBuf,
    receiver: String,
}

impl Work {
    fn note(&self, what: &str, job: &JobContext) {
        let job = &job.job;
        let line = format!(
            "{what} {} {} {} {} {}\n",
            job.lane,
            job.slot.unwrap_or(99),
            job.token.unwrap_or(0),
            job.id,
            std::process::id()
        );
        append(&self.dir.join("log"), &line);
    }

    fn tell(&self, id: i64) -> std::io::Result<()> {
        let mut socket = TcpStream::connect(&self.receiver)?;
        writeln!(socket, "{id} {}", std::process::id())?;
        socket.shutdown(std::net::Shutdown::Write)?;
        let mut answer = String::new();
        socket.read_to_string(&mut answer)?;
        Ok(())
    }
}

/// Where a job leaves its mark while it runs.
fn origin(id: i64) -> Origin {
    Origin::of(&format!("https://job{id}.test/").parse().unwrap()).unwrap()
}

/// A job under way. However it ends, the log says so; only whoever is killed says nothing.
struct Begun<'a> {
    work: &'a Work,
    job: &'a JobContext,
    says: &'static str,
}

impl Drop for Begun<'_> {
    fn drop(&mut self) {
        self.work.note(self.says, self.job);
    }
}

impl JobHandler for Work {
    fn run<'a>(&'a self, job: &'a JobContext) -> BoxFuture<'a, JobResult> {
        Box::pin(async move {
            let mut begun = Begun { work: self, job, says: "dropped" };
            self.note("begin", job);
            tokio::time::sleep(Duration::from_millis(job.job.id as u64 % 7)).await;
            if job.job.id % 17 == 0 && job.job.attempts == 1 {
                begun.says = "end";
                let (class, not_before) = (ErrorClass::Network, None);
                return Err(JobFailed::Error { class, message: "at first".into(), not_before });
            }
            self.tell(job.job.id).map_err(|error| JobFailed::Error {
                class: ErrorClass::Network,
                message: error.to_string(),
                not_before: None,
            })?;
            // In the midst of the job, under its lease.
            let copy = RobotsCopy::new(Timestamp(1), 200, job.job.id.to_string().as_bytes());
            if let Err(error) = job.store.save_robots(&origin(job.job.id), &copy).await {
                begun.says = if matches!(error, StoreError::Fenced { .. }) { "refused" } else { "broken" };
                return Err(dibao::Error::from(error).into());
            }
            begun.says = "end";
            let effect = NewJob::new("effect", "effects").payload(json!(job.job.id));
            Ok(JobDone { response: None, then: vec![effect] })
        })
    }

    fn rules(&self) -> JobRules {
        let retry =
            RetryPolicy { retries: 50, first: Duration::from_millis(30), longest: Duration::from_secs(1) };
        JobRules { retry, ..JobRules::default() }
    }
}

fn store(dir: &Path) -> Arc<SqliteStore> {
    let files = Files::open(dir.join("data"), Durability::Process).unwrap();
    Arc::new(SqliteStore::open(files).unwrap())
}

/// One worker process; does nothing in an ordinary run of the tests.
#[test]
fn worker_process() {
    let (Some(dir), Ok(receiver)) = (std::env::var_os(DIR), std::env::var(RECEIVER)) else { return };
    let dir = PathBuf::from(dir);
    let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(2).enable_all().build().unwrap();
    runtime.block_on(async move {
        let store = store(&dir);
        let clock = Arc::new(JumpingClock(dir.clone()));
        let entropy = Arc::new(SeededEntropy::new(u64::from(std::process::id())));
        let queue = Queue::new(store.clone(), store, clock, entropy);
        let options = WorkOptions {
            workers: 3,
            lease: LEASE,
            stall_scan: Duration::from_millis(200),
            // Every kill may strike the same job.
            max_stalled: 10_000,
            idle: Duration::from_millis(20),
            retention: dibao::queue::Retention { per_lane: 100_000, ..Default::default() },
            ..WorkOptions::default()
        };
        let handlers = Handlers::new().with("work", Work { dir, receiver });
        queue.work(handlers, options, CancellationToken::new(), false).await.unwrap();
    });
}

/// A worker that ends with the test, whatever becomes of it.
struct Worker(Child);

impl Drop for Worker {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

fn start(dir: &Path, receiver: &str) -> Worker {
    let child = Command::new(std::env::current_exe().unwrap())
        .args(["crash::worker_process", "--exact", "--test-threads=1", "--nocapture"])
        .env(DIR, dir)
        .env(RECEIVER, receiver)
        .stdout(Stdio::null())
        .stderr(Stdio::inherit())
        .spawn()
        .unwrap();
    Worker(child)
}

/// Another worker in the place of one that was killed.
fn bury_and_replace(dead: &mut Worker, dir: &Path, receiver: &str) -> Worker {
    let end = dead.0.wait().unwrap();
    assert_eq!(end.signal(), Some(9), "a worker ended by itself: {end}");
    start(dir, receiver)
}

fn signal(worker: &Worker, signal: Signal) {
    kill_process(Pid::from_raw(worker.0.id() as i32).unwrap(), signal).unwrap();
}

/// With what the next teller is struck, and who hears which one it was.
type Strike = (Signal, oneshot::Sender<u32>);

/// Counts what was told to it, by key; on demand it kills the process that told it something, in the middle of its job.
struct Receiver {
    address: String,
    heard: Arc<Mutex<HashMap<i64, u32>>>,
    strike: Arc<Mutex<Option<Strike>>>,
}

impl Receiver {
    fn start(dir: &Path) -> Self {
        let log = dir.join("log");
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let address = listener.local_addr().unwrap().to_string();
        let receiver = Self { address, heard: Arc::default(), strike: Arc::default() };
        let (keys, strike) = (receiver.heard.clone(), receiver.strike.clone());
        std::thread::spawn(move || {
            for socket in listener.incoming() {
                let Ok(mut socket) = socket else { return };
                let mut line = String::new();
                // A killed worker leaves half a line; a whole one is a delivery.
                if socket.read_to_string(&mut line).is_err() || !line.ends_with('\n') {
                    continue;
                }
                let (id, process) = line.trim().split_once(' ').unwrap();
                *keys.lock().unwrap().entry(id.parse().unwrap()).or_default() += 1;
                let process: u32 = process.parse().unwrap();
                let mut strike = strike.lock().unwrap();
                if let Some((signal, told)) = strike.take() {
                    let pid = Pid::from_raw(process as i32).unwrap();
                    append(&log, &format!("struck - - - - {process}\n"));
                    // The words of one that died before do not count: it can be struck no more.
                    match kill_process(pid, signal) {
                        Ok(()) => told.send(process).unwrap(),
                        Err(_) => *strike = Some((signal, told)),
                    }
                }
                drop(strike);
                let _ = socket.write_all(b"ok");
            }
        });
        receiver
    }

    /// Kills or pauses whoever is the next to tell something, before it hears an answer, and says who it was.
    fn strike_the_next_teller(&self, signal: Signal) -> oneshot::Receiver<u32> {
        let (sender, struck) = oneshot::channel();
        *self.strike.lock().unwrap() = Some((signal, sender));
        struck
    }
}

struct Dice(u64);

impl Dice {
    fn below(&mut self, sides: u64) -> u64 {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 33) % sides
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn killed_paused_and_confused_by_clocks_every_job_ends_exactly_once() {
    let dir = tempfile::tempdir().unwrap();
    let store = store(dir.path());
    let now = SystemClock.now();
    let receiver = Receiver::start(dir.path());
    let mut workers: Vec<Worker> = (0..WORKERS).map(|_| start(dir.path(), &receiver.address)).collect();
    let mut dice = Dice(7);
    let (mut kills, mut pauses) = (0, 0);
    let (mut submitted, mut struck_at_work) = (0, 0);
    let set_clock = |offset: i64| std::fs::write(dir.path().join("offset"), offset.to_string()).unwrap();
    let deadline = Instant::now() + Duration::from_secs(400);
    loop {
        assert!(Instant::now() < deadline, "stuck after {kills} kills: {:?}", store.lanes().await.unwrap());
        let strike = kills < KILLS && kills % 2 == 0 && submitted < JOBS;
        // Past its lease, then it wakes up in the middle of whatever it did.
        let pause = strike && pauses < PAUSES && kills >= 10 * pauses;
        // Every other kill strikes at any moment, start and idleness included; the others surely within a job.
        let arm = |signal: Signal| {
            // With a clock that is behind, nothing is due and nobody would tell anything.
            set_clock(0);
            receiver.strike_the_next_teller(signal)
        };
        let mut struck = (strike && !pause).then(|| arm(Signal::KILL));
        // Work comes while workers die.
        if submitted < JOBS {
            let more = (JOBS - submitted).min(JOBS / i64::from(KILLS));
            let jobs = (submitted..submitted + more).map(|n| {
                let lane = n % LANES;
                let job = NewJob::new("work", format!("lane{lane}")).once(format!("job {n}"));
                NewJob { lane_concurrency: Some(if lane % 5 == 0 { 3 } else { 1 }), ..job }
            });
            store.submit(jobs.collect(), now).await.unwrap();
            submitted += more;
        }
        if pause {
            // From here on until it wakes up: it may hold the database.
            struck = Some(arm(Signal::STOP));
        }
        let offset = [0, 3_600_000, -3_600_000, 86_400_000, -86_400_000][dice.below(5) as usize];
        if let Some(struck) = struck {
            let struck = tokio::time::timeout(Duration::from_secs(60), struck).await;
            let struck = struck.expect("somebody is at work").unwrap();
            let victim = workers.iter().position(|worker| worker.0.id() == struck).unwrap();
            if pause {
                tokio::time::sleep(LEASE + Duration::from_millis(500)).await;
                signal(&workers[victim], Signal::CONT);
                pauses += 1;
                continue;
            }
            set_clock(offset);
            workers[victim] = bury_and_replace(&mut workers[victim], dir.path(), &receiver.address);
            kills += 1;
            struck_at_work += 1;
            continue;
        }
        let victim = dice.below(WORKERS as u64) as usize;
        tokio::time::sleep(Duration::from_millis(20 + dice.below(120))).await;
        if kills < KILLS {
            append(&dir.path().join("log"), &format!("struck - - - - {}\n", workers[victim].0.id()));
            set_clock(offset);
            signal(&workers[victim], Signal::KILL);
            workers[victim] = bury_and_replace(&mut workers[victim], dir.path(), &receiver.address);
            kills += 1;
            continue;
        }
        set_clock(0);
        let query = JobQuery { kind: Some("work".into()), limit: 10_000, ..JobQuery::default() };
        let open = store.jobs(query).await.unwrap().iter().filter(|job| !job.state.is_end()).count();
        if open == 0 && submitted == JOBS {
            break;
        }
    }
    drop(workers);

    let query = |kind: &str| JobQuery { kind: Some(kind.into()), limit: 10_000, ..JobQuery::default() };
    let jobs = store.jobs(query("work")).await.unwrap();
    assert_eq!(jobs.len() as i64, JOBS);
    for job in &jobs {
        assert_eq!(job.state, JobState::Done, "{job:?}");
    }
    let mut effects: BTreeMap<i64, u32> = BTreeMap::new();
    for effect in store.jobs(query("effect")).await.unwrap() {
        *effects.entry(effect.payload.as_i64().unwrap()).or_default() += 1;
    }
    assert_eq!(effects.len() as i64, JOBS, "every job has its effect");
    assert!(effects.values().all(|count| *count == 1), "and none has it twice");
    for job in &jobs {
        let mark = store.robots(&origin(job.id)).await.unwrap().expect("what it did in the midst is there");
        assert_eq!(mark.body, job.id.to_string().as_bytes());
    }
    let heard = receiver.heard.lock().unwrap().len();
    assert_eq!(heard as i64, JOBS, "every delivery arrived at least once, under its key");
    let stalls: u32 = jobs.iter().map(|job| job.stalls).sum();
    assert!(stalls >= struck_at_work, "{struck_at_work} died at work, but only {stalls} stalls were counted");
    let refused = never_two_in_a_slot(dir.path());
    assert!(pauses > 0 && refused > 0, "{pauses} were paused at work, {refused} turned away");
    let steady = Steady { boot: "none".into(), ms: 0 };
    let all = Collect { steady, dead: Vec::new(), max_stalled: 1, alerts: None };
    store.collect(all, now).await.unwrap();
    assert_eq!(store.doctor(SystemClock.steady(), false).await.unwrap(), Vec::<String>::new());
}

/// Whoever begins in a slot finds it empty: the one before him there has ended, or was killed or paused in the midst of it. How
/// many woke up and were turned away.
fn never_two_in_a_slot(dir: &Path) -> u32 {
    let log = std::fs::read_to_string(dir.join("log")).unwrap();
    // Token, process, whether it was struck.
    let mut open: HashMap<(&str, &str), (i64, &str, bool)> = HashMap::new();
    let mut newest: HashMap<(&str, &str), i64> = HashMap::new();
    let (mut begun, mut refused, mut slots, mut all_struck) = (0, 0, BTreeSet::new(), BTreeSet::new());
    for line in log.lines() {
        let words: Vec<&str> = line.split(' ').collect();
        let [what, lane, slot, token, _, process] = words[..] else { panic!("a torn line: {line}") };
        if what == "struck" {
            all_struck.insert(process);
            open.values_mut().filter(|there| there.1 == process).for_each(|there| there.2 = true);
            continue;
        }
        let token: i64 = token.parse().unwrap();
        if what == "begin" {
            begun += 1;
            slots.insert(slot);
            let newest = newest.entry((lane, slot)).or_insert(token);
            if token < *newest {
                // It was paused before it began, and is not aware of it yet: nothing it does counts.
                assert!(all_struck.contains(process), "begun too late: {line}");
                continue;
            }
            *newest = token;
            if let Some((before, _, struck)) =
                open.insert((lane, slot), (token, process, all_struck.contains(process)))
            {
                assert!(struck && before <= token, "two at work in one slot: {line}, and token {before}");
            }
            continue;
        }
        assert_ne!(what, "broken", "{line}");
        refused += u32::from(what != "end");
        if open.get(&(lane, slot)).is_some_and(|there| there.0 == token && there.1 == process) {
            open.remove(&(lane, slot));
        }
    }
    assert!(begun as i64 >= JOBS && slots.len() >= 2, "{begun} in {slots:?}");
    refused
}
