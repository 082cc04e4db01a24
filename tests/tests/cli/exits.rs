//! One exit code per kind of trouble: usage, busy, interrupted.

use dibao_replica::{Fault, FaultRule};
use rustix::process::{Pid, Signal, kill_process};

use crate::stage::{Run, Stage, finish};

#[tokio::test(flavor = "multi_thread")]
async fn usage_errors_are_explained_and_exit_with_2() {
    let stage = Stage::with_five().await;
    for (line, words) in [
        ("", "Usage"),
        ("crawl", "required"),
        ("crawl ndrc --no-such-flag", "--no-such-flag"),
        ("crawl ndrc --max-items 0", "max-items"),
        ("crawl ndrc --max-items some", "max-items"),
        ("crawl ndrc --jobs 0", "jobs"),
        ("crawl ndrc --interval=-1", "interval"),
        ("crawl ndrc --interval soon", "number of seconds"),
        ("crawl ndrc --resolve www.gov.cn", "HOST=ADDRESS:PORT"),
        ("crawl ndrc --fail-on sometimes", "no-items"),
        ("crawl --all ndrc", "--all"),
        ("crawl ndrc__xwfb --column xwfb", "--column"),
        ("crawl ndrc --dry-run -o x.jsonl", "--output"),
        ("export --format xml", "jsonl"),
        ("show", "required"),
        ("adapter pin x.wasm --grant ftp://x", "ftp://x"),
        ("fetch", "fetch"),
    ] {
        let run = finish(stage.bare(line)).await.exits(2).says(&[words]);
        assert_eq!(run.stdout, "", "{line}: errors go to standard error");
    }
    stage.intact().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_target_under_way_is_busy_and_ctrl_c_drains_it() {
    let stage = Stage::with_five().await;
    stage.replica.forget_requests();
    // The third article hangs: the run is certainly under way.
    let hold = stage.replica.fault(FaultRule::new(Fault::Hold).path("*/t2026*").skip(2).times(1));
    let line = "crawl ndrc__xwfb --force --max-items 12 -o out.jsonl";
    let child = stage.command(line).spawn().unwrap();
    stage.replica.wait_for(3, |seen| seen.path.contains("/t2026")).await;

    stage.dibao("crawl ndrc__xwfb").await.exits(75).says(&["ndrc__xwfb is being crawled already"]);
    // Others are not in its way, and what is stored can be read meanwhile.
    stage.dibao("crawl gdqy.yaml --max-items 1").await.exits(0);
    assert!(stage.dibao("export --site ndrc").await.exits(0).rows().len() >= 7);

    let pid = Pid::from_raw(child.id().unwrap() as i32).unwrap();
    kill_process(pid, Signal::INT).unwrap();
    let waiting = tokio::spawn(child.wait_with_output());
    stage.replica.remove_fault(hold);
    let run = Run::of(waiting.await.unwrap().unwrap()).exits(130).says(&["finishing what is under way"]);
    assert_eq!(run.row()["stop"], "cancelled", "{}", run.stdout);
    // Every article that was stored is in the file too.
    let written = crate::stage::rows(&stage.read("out.jsonl")).len();
    assert_eq!(stage.dibao("export --site ndrc").await.rows().len(), 5 + written);

    let report = stage.dibao("crawl ndrc__xwfb --force --max-items 12").await.exits(0).row();
    assert_eq!((&report["resumed"], &report["items_failed"]), (&true.into(), &0.into()), "{report}");
    assert_eq!(stage.dibao("export --site ndrc").await.rows().len(), 12);
    stage.intact().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn the_second_ctrl_c_stops_at_once() {
    let stage = Stage::with_five().await;
    stage.replica.forget_requests();
    stage.replica.fault(FaultRule::new(Fault::Hold).path("*/t2026*"));
    let child = stage.command("crawl ndrc__xwfb --force --max-items 8").spawn().unwrap();
    stage.replica.wait_for(1, |seen| seen.path.contains("/t2026")).await;
    let pid = Pid::from_raw(child.id().unwrap() as i32).unwrap();
    let waiting = tokio::spawn(child.wait_with_output());
    // The held page never comes: only the second signal ends it. Two at one moment would be one.
    while !waiting.is_finished() {
        let _ = kill_process(pid, Signal::INT);
        tokio::time::sleep(std::time::Duration::from_millis(50)).await;
    }
    Run::of(waiting.await.unwrap().unwrap()).exits(130).says(&["finishing", "the next run goes on"]);
    stage.replica.clear_faults();
    stage.dibao("crawl ndrc__xwfb --force --max-items 8").await.exits(0);
    stage.intact().await;
}
