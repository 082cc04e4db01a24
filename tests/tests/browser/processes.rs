//! No Chromium stays: not after a drop, not after a crash of it, not after one of ours.

use std::path::Path;
use std::process::{Command, Stdio};
use std::time::Duration;

use dibao::fetch::browser::BrowserOptions;
use dibao::fetch::{FetchErrorKind, Rendering};
use dibao_replica::{Fault, FaultRule};

use crate::bed::Bed;
use crate::stage::{GDQY, all_gone, chromium, gate, page, processes_of, put, quick, rendered};

/// Takes fifty megabytes again and again.
const GREEDY: &str =
    "<script>const all=[];setInterval(()=>all.push(new Uint8Array(5e7).fill(1)),20)</script>";

fn kill(pid: u32) {
    let pid = rustix::process::Pid::from_raw(pid.try_into().unwrap()).unwrap();
    let _ = rustix::process::kill_process(pid, rustix::process::Signal::KILL);
}

/// The process that leads the others: it has no `--type`, and is no shell.
fn leader(dir: &Path) -> u32 {
    let line = |pid: &u32| std::fs::read(format!("/proc/{pid}/cmdline")).unwrap_or_default();
    let leads = |pid: &u32| {
        let line = String::from_utf8_lossy(&line(pid)).into_owned();
        line.contains("--remote-debugging-pipe") && !line.contains("--type=") && !line.starts_with("/bin/sh")
    };
    processes_of(dir).into_iter().find(leads).expect("a browser at work")
}

#[tokio::test(flavor = "multi_thread")]
async fn a_crash_is_an_error_the_next_page_starts_anew_and_nothing_stays() {
    if !chromium().await {
        return;
    }
    let bed = Bed::new(20).await;
    let scratch = tempfile::tempdir().unwrap();
    let options = BrowserOptions { scratch: Some(scratch.path().into()), max_pages: 4, ..quick() };
    let gate = gate(&bed, options, |_| ());
    let good = put(&bed, "/good", "<p>good</p>");
    bed.replica.fault(FaultRule::new(Fault::Hold).path("/never"));
    let never = page(&format!("https://{GDQY}/never"));

    assert!(processes_of(scratch.path()).is_empty(), "nothing starts before it is needed");
    gate.fetch(&page(&good)).await.unwrap();
    let first = leader(scratch.path());
    let (crashed, ()) = tokio::join!(gate.fetch(&never), async {
        bed.replica.wait_for(1, |seen| seen.path == "/never").await;
        kill(first);
    });
    let error = crashed.unwrap_err();
    assert!(matches!(error.kind(), FetchErrorKind::Backend(_)), "{error}");
    assert!(gate.hosts().refusal(GDQY).is_none(), "it is not held against the host");
    gate.fetch(&page(&good)).await.unwrap();
    let second = leader(scratch.path());
    assert_ne!(first, second);

    // A page that is no longer wanted is closed; the browser stays.
    tokio::select! {
        _ = gate.fetch(&never) => panic!("it never answers"),
        _ = bed.replica.wait_for(2, |seen| seen.path == "/never") => (),
    }
    assert!(processes_of(scratch.path()).contains(&second));

    // The page's own process dies: that page is lost, no more.
    let renderers = || -> Vec<u32> {
        let line = |pid: &u32| std::fs::read(format!("/proc/{pid}/cmdline")).unwrap_or_default();
        let all = processes_of(scratch.path()).into_iter();
        all.filter(|pid| String::from_utf8_lossy(&line(pid)).contains("--type=renderer")).collect()
    };
    let (crashed, ()) = tokio::join!(gate.fetch(&never), async {
        bed.replica.wait_for(3, |seen| seen.path == "/never").await;
        renderers().into_iter().for_each(kill);
    });
    let error = crashed.unwrap_err();
    assert!(error.to_string().contains("the page crashed"), "{error}");

    // After so many pages another takes over, and the old one is gone.
    for _ in 0..2 {
        gate.fetch(&page(&good)).await.unwrap();
    }
    gate.fetch(&page(&good)).await.unwrap();
    assert!(!processes_of(scratch.path()).contains(&second));
    drop(gate);
    assert_eq!(processes_of(scratch.path()), Vec::<u32>::new(), "at once");
    all_gone(scratch.path()).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_page_that_eats_memory_is_ended_and_a_browser_at_rest_goes() {
    if !chromium().await {
        return;
    }
    let bed = Bed::new(20).await;
    let scratch = tempfile::tempdir().unwrap();
    let options = BrowserOptions {
        scratch: Some(scratch.path().into()),
        max_memory: 400 << 20,
        idle: Duration::from_millis(300),
        ..quick()
    };
    let gate = gate(&bed, options, |_| ());
    let greedy = Rendering { wait_for: Some("#never".into()), ..Rendering::default() };
    let url = put(&bed, "/greedy", GREEDY);
    let error = gate.fetch(&rendered(&url, greedy)).await.unwrap_err();
    assert!(error.to_string().contains("of memory and was ended"), "{error}");
    all_gone(scratch.path()).await;
    let good = put(&bed, "/good", "<p>good</p>");
    gate.fetch(&page(&good)).await.unwrap();
    // Nobody asks for anything.
    all_gone(scratch.path()).await;
    gate.fetch(&page(&good)).await.unwrap();
}

#[tokio::test(flavor = "multi_thread")]
async fn nothing_stays_when_dibao_is_killed() {
    if !chromium().await {
        return;
    }
    let bed = Bed::new(20).await;
    bed.replica.fault(FaultRule::new(Fault::Hold).path("/never"));
    let scratch = tempfile::tempdir().unwrap();
    let ca = scratch.path().join("ca.pem");
    std::fs::write(&ca, bed.replica.ca_pem()).unwrap();
    let temp = scratch.path().join("temp");
    std::fs::create_dir(&temp).unwrap();
    let program = std::env::current_exe().unwrap().ancestors().nth(2).unwrap().join("dibao");
    assert!(program.is_file(), "build it first: cargo build -p dibao-cli");
    let mut dibao = Command::new(program)
        .args(["fetch", &format!("https://{GDQY}/never"), "--tier", "browser", "--cacert"])
        .arg(&ca)
        .args(["--resolve", &format!("{GDQY}:443={}", bed.replica.addr()), "--data"])
        .arg(scratch.path().join("data"))
        .env("TMPDIR", &temp)
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .spawn()
        .expect("the program");
    let asked = bed.replica.wait_for(1, |seen| seen.path == "/never");
    tokio::time::timeout(Duration::from_secs(60), asked).await.expect("the browser asks");
    assert!(!processes_of(&temp).is_empty());
    dibao.kill().unwrap();
    dibao.wait().unwrap();
    for _ in 0..200 {
        if processes_of(&temp).is_empty() {
            break;
        }
        tokio::time::sleep(Duration::from_millis(50)).await;
    }
    assert_eq!(processes_of(&temp), Vec::<u32>::new());
    // dibao's own scratch directory stays after a kill; Chromium's profile does not.
    let left =
        std::fs::read_dir(&temp).unwrap().flatten().map(|entry| entry.file_name().into_string().unwrap());
    let left: Vec<String> = left.filter(|name| name.starts_with("dibao-chromium-")).collect();
    assert!(left.is_empty(), "{left:?}");
}
