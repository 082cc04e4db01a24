//! `dibao queue`, `dibao run`, `dibao crawl --all`, `dibao deliver`: what an operator sees and can do.

use dibao::Timestamp;
use dibao::queue::{JobTable as _, NewJob};
use dibao::store::{Durability, Files, SqliteStore};
use dibao_replica::{Fault, FaultRule};
use rustix::process::{Pid, Signal, kill_process};
use serde_json::Value;

use crate::stage::{Run, Stage};

fn store(stage: &Stage) -> SqliteStore {
    SqliteStore::open(Files::open(stage.path("data"), Durability::Process).unwrap()).unwrap()
}

async fn jobs(stage: &Stage, more: &str) -> Vec<Value> {
    stage.dibao(&format!("queue ls {more}")).await.exits(0).rows()
}

#[tokio::test(flavor = "multi_thread")]
async fn jobs_are_listed_shown_called_off_and_taken_up_again() {
    let stage = Stage::with_five().await;
    let far = Timestamp(4_000_000_000_000);
    let table = store(&stage);
    let submitted = table
        .submit(
            vec![
                NewJob::new("crawl", "www.ndrc.gov.cn")
                    .payload(serde_json::json!({"target": "ndrc__tz", "max_items": 2})),
                NewJob::new("note", "notes").run_after(far),
            ],
            Timestamp(1),
        )
        .await
        .unwrap();
    drop(table);
    let (crawl, note) = (submitted[0].id, submitted[1].id);
    let listed = jobs(&stage, "").await;
    assert_eq!(listed.iter().map(|job| job["id"].as_i64().unwrap()).collect::<Vec<_>>(), [note, crawl]);
    assert_eq!(jobs(&stage, "--state scheduled").await[0]["kind"], "note");
    assert_eq!(jobs(&stage, "--lane www.ndrc.gov.cn --kind crawl").await.len(), 1);
    assert!(jobs(&stage, "--kind crawl --state failed").await.is_empty());
    let lanes = stage.dibao("queue lanes").await.exits(0).rows();
    let lane = lanes.iter().find(|lane| lane["lane"] == "www.ndrc.gov.cn").unwrap();
    assert_eq!((&lane["queued"], &lane["running"], &lane["concurrency"]), (&1.into(), &0.into(), &1.into()));
    assert!(lane["oldest"].is_string(), "{lane}");
    let shown = stage.dibao(&format!("queue show {crawl}")).await.exits(0).row();
    assert_eq!((&shown["state"], &shown["payload"]["target"]), (&"queued".into(), &"ndrc__tz".into()));
    stage.dibao("queue show 4711").await.exits(2).says(&["no job 4711", "queue ls"]);

    stage.dibao(&format!("queue cancel {crawl}")).await.exits(0).says(&["is cancelled"]);
    stage.dibao(&format!("queue cancel {crawl}")).await.exits(0).says(&["is cancelled"]);
    assert_eq!(jobs(&stage, "--state cancelled").await[0]["outcome"], "cancelled");
    stage.dibao(&format!("queue retry {crawl}")).await.exits(0).says(&["waits for a worker"]);
    stage.dibao(&format!("queue cancel {note}")).await.exits(0);
    stage.dibao("run --until-empty").await.exits(0);
    let done = stage.dibao(&format!("queue show {crawl}")).await.exits(0).row();
    assert_eq!((&done["state"], &done["attempts"]), (&"done".into(), &1.into()), "{done}");
    assert!(done["response"].as_str().unwrap().contains("\"new\":2"), "{done}");
    stage.dibao(&format!("queue retry {crawl}")).await.exits(0).says(&["nothing to try again"]);
    stage.dibao(&format!("queue cancel {crawl}")).await.exits(0).says(&["has ended: done"]);

    stage.dibao("queue doctor").await.exits(0).says(&["the queue is well"]);
    let raw = rusqlite::Connection::open(stage.path("data/dibao.db")).unwrap();
    raw.execute("UPDATE lane SET queued = 7 WHERE name = 'notes'", []).unwrap();
    drop(raw);
    let found = stage.dibao("queue doctor").await.exits(3).says(&["--repair"]);
    assert!(found.stdout.contains("lane notes: counts 7 queued jobs, has 0"), "{}", found.stdout);
    stage.dibao("queue doctor --repair").await.exits(0);
    stage.dibao("queue doctor").await.exits(0).says(&["the queue is well"]);
}

#[tokio::test(flavor = "multi_thread")]
async fn the_first_signal_drains_a_worker_and_the_second_aborts_it_and_both_go_on_later() {
    let stage = Stage::with_five().await;
    for (abort, items) in [(false, 12), (true, 20)] {
        let table = store(&stage);
        let payload = serde_json::json!({"target": "ndrc__xwfb", "max_items": items, "force": true});
        let job = NewJob::new("crawl", "www.ndrc.gov.cn").payload(payload);
        let id = table.submit(vec![job], Timestamp(1)).await.unwrap()[0].id;
        drop(table);
        stage.replica.forget_requests();
        let hold = stage.replica.fault(FaultRule::new(Fault::Hold).path("*/t2026*").skip(1).times(1));
        let child = stage.command("run --no-schedules").spawn().unwrap();
        stage.replica.wait_for(2, |seen| seen.path.contains("/t2026")).await;
        let shown = stage.dibao(&format!("queue show {id}")).await.exits(0).row();
        assert_eq!(shown["state"], "running");
        let pid = Pid::from_raw(child.id().unwrap() as i32).unwrap();
        let waiting = tokio::spawn(child.wait_with_output());
        kill_process(pid, Signal::TERM).unwrap();
        match abort {
            false => assert!(stage.replica.remove_fault(hold)),
            // The held page never comes. Two signals at one moment would be one.
            true => {
                while !waiting.is_finished() {
                    let _ = kill_process(pid, Signal::TERM);
                    tokio::time::sleep(std::time::Duration::from_millis(50)).await;
                }
                stage.replica.clear_faults();
            }
        }
        Run::of(waiting.await.unwrap().unwrap()).exits(130).says(&["finishing what is under way"]);
        let shown = stage.dibao(&format!("queue show {id}")).await.exits(0).row();
        match abort {
            false => {
                assert_eq!((&shown["state"], &shown["attempts"]), (&"queued".into(), &0.into()), "{shown}")
            }
            // What was under way is dropped, and goes back all the same.
            true => assert_eq!((&shown["state"], &shown["stalls"]), (&"queued".into(), &0.into()), "{shown}"),
        }
        stage.dibao("run --until-empty").await.exits(0);
        let done = stage.dibao(&format!("queue show {id}")).await.exits(0).row();
        assert_eq!((&done["state"], &done["stalls"]), (&"done".into(), &0.into()), "{done}");
        assert!(done["response"].as_str().unwrap().contains("\"failed\":0"), "{done}");
    }
    assert_eq!(stage.dibao("export --site ndrc").await.rows().len(), 20, "each article once");
    stage.intact().await;
}

/// A crawl job of so many articles, and the program at work on it until its first page that never comes.
async fn at_work(stage: &Stage, items: u32, more: &str, pages: usize) -> (i64, tokio::process::Child) {
    let table = store(stage);
    let payload = serde_json::json!({"target": "ndrc__xwfb", "max_items": items, "force": true});
    let job = NewJob::new("crawl", "www.ndrc.gov.cn").payload(payload).unique("crawl:ndrc__xwfb");
    let id = table.submit(vec![job], Timestamp(1)).await.unwrap()[0].id;
    drop(table);
    stage.replica.forget_requests();
    stage.replica.fault(FaultRule::new(Fault::Hold).path("*/t2026*").skip(pages as u64 - 1).times(1));
    let child = stage.command(&format!("run --no-schedules {more}")).spawn().unwrap();
    stage.replica.wait_for(pages, |seen| seen.path.contains("/t2026")).await;
    (id, child)
}

fn pid(child: &tokio::process::Child) -> Pid {
    Pid::from_raw(child.id().unwrap() as i32).unwrap()
}

/// Pauses a process at a moment at which it does not hold the database: nobody could write before it wakes up.
fn stop_between_writes(stage: &Stage, process: Pid) {
    let raw = rusqlite::Connection::open(stage.path("data/dibao.db")).unwrap();
    raw.busy_timeout(std::time::Duration::ZERO).unwrap();
    let stopped = || {
        let stat = std::fs::read_to_string(format!("/proc/{}/stat", process.as_raw_nonzero())).unwrap();
        stat.contains(") T ")
    };
    loop {
        kill_process(process, Signal::STOP).unwrap();
        while !stopped() {
            std::thread::yield_now();
        }
        if raw.execute_batch("BEGIN IMMEDIATE; ROLLBACK").is_ok() {
            return;
        }
        kill_process(process, Signal::CONT).unwrap();
        std::thread::yield_now();
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_paused_worker_loses_its_crawl_to_another_that_finishes_it() {
    let stage = Stage::with_five().await;
    let times = "--lease 2 --stall-scan 0.3";
    let (id, paused) = at_work(&stage, 12, times, 3).await;
    stop_between_writes(&stage, pid(&paused));
    stage.replica.clear_faults();
    let other = stage.dibao(&format!("run --until-empty {times}")).await.exits(0);
    assert!(!other.stderr.contains("is being crawled already"), "{}", other.stderr);
    let done = stage.dibao(&format!("queue show {id}")).await.exits(0).row();
    assert_eq!((&done["state"], &done["attempts"]), (&"done".into(), &1.into()), "{done}");
    // It wakes up, and changes nothing any more.
    let waker = pid(&paused);
    let waiting = tokio::spawn(paused.wait_with_output());
    kill_process(waker, Signal::CONT).unwrap();
    kill_process(waker, Signal::TERM).unwrap();
    Run::of(waiting.await.unwrap().unwrap()).exits(130);
    assert_eq!(stage.dibao(&format!("queue show {id}")).await.exits(0).row(), done);
    assert_eq!(stage.dibao("export --site ndrc").await.rows().len(), 12, "each article once");
    stage.intact().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_worker_that_was_killed_is_replaced_at_once_and_a_crawl_that_gets_on_survives_any_number_of_kills()
{
    let stage = Stage::with_five().await;
    for kills in 1..=3 {
        // Each gets on a little, and dies.
        let (id, mut killed) = at_work(&stage, 20, "", 4).await;
        loop {
            let shown = stage.dibao(&format!("queue show {id}")).await.exits(0).row();
            if shown["stalls"] == 0 {
                break;
            }
        }
        kill_process(pid(&killed), Signal::KILL).unwrap();
        killed.wait().await.unwrap();
        stage.replica.clear_faults();
        let shown = stage.dibao(&format!("queue show {id}")).await.exits(0).row();
        assert_eq!(shown["state"], "running", "after {kills} kills nobody has noticed yet");
    }
    // Nobody waits for the lease of the dead, which is a minute long.
    let begin = std::time::Instant::now();
    let reports = stage.dibao("crawl --all --max-items 20").await.exits(0).rows();
    assert!(begin.elapsed() < std::time::Duration::from_secs(45), "{:?}", begin.elapsed());
    assert!(reports.iter().any(|report| report["target"] == "ndrc__xwfb"), "{reports:?}");
    assert_eq!(stage.dibao("export --target ndrc__xwfb").await.rows().len(), 20);
    stage.intact().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn two_crawls_by_hand_take_turns_on_a_host() {
    let stage = Stage::new().await;
    stage.dibao("site import ndrc.yaml").await.exits(0);
    stage.replica.forget_requests();
    let crawl = |target: &str| {
        let mut command = stage.bare(&format!("crawl {target} --max-items 2"));
        let mut reach = stage.reach();
        *reach.last_mut().unwrap() = "1".into();
        command.args(reach).spawn().unwrap()
    };
    let first = crawl("ndrc__xwfb");
    stage.replica.wait_for(1, |_| true).await;
    let second = crawl("ndrc__tz");
    let (first, second) = tokio::join!(first.wait_with_output(), second.wait_with_output());
    Run::of(first.unwrap()).exits(0);
    Run::of(second.unwrap()).exits(0).says(&["ndrc__tz: waiting for www.ndrc.gov.cn: process"]);
    let mut starts: Vec<_> = stage.replica.requests().iter().map(|seen| seen.at).collect();
    starts.sort();
    assert!(starts.len() >= 7, "{starts:?}");
    for three in starts.windows(3) {
        // The way to the server takes now more and now less; two crawls at once would be twice as quick.
        assert!(three[2] - three[0] > std::time::Duration::from_millis(1_400), "{starts:?}");
    }
    assert!(stage.dibao("queue doctor").await.exits(0).stdout.is_empty());
}

#[tokio::test(flavor = "multi_thread")]
async fn a_crawl_of_all_tells_of_every_target_also_of_those_that_ended_without_it() {
    let stage = Stage::new().await;
    stage.dibao("site import ndrc.yaml").await.exits(0);
    let (id, mut killed) = at_work(&stage, 5, "", 1).await;
    kill_process(pid(&killed), Signal::KILL).unwrap();
    killed.wait().await.unwrap();
    stage.replica.clear_faults();
    // It has lost a worker before: this was once too often.
    let raw = rusqlite::Connection::open(stage.path("data/dibao.db")).unwrap();
    raw.execute("UPDATE job SET stalls = 1 WHERE id = ?", [id]).unwrap();
    drop(raw);
    let run =
        stage.dibao("crawl --all --max-items 5").await.exits(1).says(&["ndrc__xwfb", "its worker died"]);
    let rows = run.rows();
    let row =
        |target: &str| rows.iter().find(|row| row["target"] == target).unwrap_or_else(|| panic!("{rows:?}"));
    assert_eq!(row("ndrc__xwfb")["exit_code"], 1);
    assert_eq!(row("ndrc__tz")["items_new"], 5);
}

#[tokio::test(flavor = "multi_thread")]
async fn all_targets_are_crawled_through_the_queue_and_announced() {
    let stage = Stage::new().await;
    stage.dibao("site import ndrc.yaml gdqy.yaml").await.exits(0);
    stage.write(
        "data/channels.toml",
        "[channels.out]\nkind = \"file\"\npath = \"news.jsonl\"\ntell = [\"articles\"]\n",
    );
    // A job that nobody here can do holds nobody up.
    store(&stage).submit(vec![NewJob::new("foreign", "elsewhere")], Timestamp(1)).await.unwrap();
    let reports = stage.dibao("crawl --all --jobs 4 --max-items 3").await.exits(0).rows();
    let crawls = jobs(&stage, "--kind crawl").await;
    assert!(crawls.len() >= 3 && crawls.len() == reports.len(), "{} {}", crawls.len(), reports.len());
    for job in &crawls {
        assert_eq!(job["state"], "done", "{job}");
    }
    let lanes: std::collections::BTreeSet<&str> =
        crawls.iter().map(|job| job["lane"].as_str().unwrap()).collect();
    assert_eq!(lanes.len(), 2, "one lane for each host: {lanes:?}");
    let stored = stage.dibao("export").await.exits(0).rows().len();
    let ready = stage.dibao("export").await.rows().iter().filter(|row| row["status"] == "ready").count();
    assert_eq!(jobs(&stage, "--kind deliver --state queued").await.len(), ready, "of {stored}");
    stage.dibao("run --until-empty").await.exits(0);
    let news = crate::stage::rows(&stage.read("data/news.jsonl"));
    assert_eq!(news.len(), ready);
    assert!(
        news.iter()
            .all(|line| line["event"] == "article" && line["key"].as_str().unwrap().starts_with("article:"))
    );
    assert_eq!(jobs(&stage, "--kind foreign").await[0]["state"], "queued");
}

#[tokio::test(flavor = "multi_thread")]
async fn channels_are_listed_and_tried_and_their_errors_explained() {
    let stage = Stage::with_five().await;
    stage.dibao("deliver ls").await.exits(0).says(&["channels.toml"]);
    stage.write(
        "data/channels.toml",
        "[channels.log]\nkind = \"file\"\npath = \"log.jsonl\"\n\
         [channels.hook]\nkind = \"webhook\"\nurl = { env = \"DIBAO_TEST_NO_SUCH_HOOK\" }\ntell = [\"alerts\"]\n",
    );
    let listed = stage.dibao("deliver ls").await.exits(0).rows();
    assert_eq!((&listed[0]["channel"], &listed[0]["alerts"]), (&"hook".into(), &true.into()));
    assert!(listed[0]["problem"].as_str().unwrap().contains("DIBAO_TEST_NO_SUCH_HOOK"));
    stage.dibao("deliver test log --title 你好").await.exits(0).says(&["log.jsonl"]);
    assert_eq!(crate::stage::rows(&stage.read("data/log.jsonl"))[0]["title"], "你好");
    stage.dibao("deliver test hook").await.exits(2).says(&["DIBAO_TEST_NO_SUCH_HOOK"]);
    stage.dibao("deliver test nobody").await.exits(2).says(&["no channel `nobody`"]);
    stage.write("data/channels.toml", "[channels.log]\nkind = \"fax\"\n");
    stage.dibao("deliver ls").await.exits(2).says(&["channels.toml", "log", "fax", "webhook"]);
}
