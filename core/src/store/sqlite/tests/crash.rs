//! `kill -9` at any moment: what was answered is there, and nothing is half there.
//!
//! The test starts this test program again with one filter and a variable in the environment; the child
//! stores articles with their files for ever and prints each number after it was answered.

use std::sync::Arc;

use std::io::{BufRead, BufReader, Write as _};
use std::process::{Command, Stdio};

use super::*;
use tokio::io::AsyncWriteExt as _;

const CHILD: &str = "DIBAO_STORE_CRASH_CHILD";

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn crash_child() {
    let Some(dir) = std::env::var_os(CHILD) else { return };
    let bench = Bench::open(Path::new(&dir), Durability::Process).await;
    let writers = (0..4).map(|writer| {
        let bench = &bench;
        async move {
            for number in 0u64.. {
                let url = format!("https://a/{}/{writer}/{number}", std::process::id());
                let listed = bench.list(bench.target_id, vec![entry(&url, None)]).await;
                let mut record = bench.record(&listed[0]);
                let text = format!("text/{}.txt", listed[0].id);
                bench.store.files().write(&text, url.repeat(100)).await.unwrap();
                let mut blob = bench.store.files().blob().await.unwrap();
                blob.write_all(&vec![number as u8; 20_000]).await.unwrap();
                let blob = blob.finish().await.unwrap();
                let path = format!("attachments/{}/a.pdf", listed[0].id);
                bench.store.files().link(&blob, &path).await.unwrap();
                Arc::make_mut(&mut record.article).text_path = Some(text);
                Arc::make_mut(&mut record.article).attachments[0].file_path = Some(path);
                Arc::make_mut(&mut record.article).attachments[0].size_bytes = Some(blob.size);
                bench.store.record_article(record).await.unwrap();
                let mut out = std::io::stdout().lock();
                writeln!(out, "\nstored {}", listed[0].id).unwrap();
                out.flush().unwrap();
            }
        }
    });
    futures::future::join_all(writers).await;
}

#[tokio::test]
async fn a_killed_process_loses_nothing_that_was_answered() {
    let dir = tempfile::tempdir().unwrap();
    let mut answered = Vec::new();
    let mut seed = 0x9e37_79b9_7f4a_7c15u64;
    for round in 0..12 {
        let mut child = Command::new(std::env::current_exe().unwrap())
            .args(["--exact", "store::sqlite::tests::crash::crash_child", "--nocapture"])
            .env(CHILD, dir.path())
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .spawn()
            .unwrap();
        // Killed after a random number of answers: at another instruction each time, and never before the first.
        seed ^= seed << 13;
        seed ^= seed >> 7;
        seed ^= seed << 17;
        let after = 1 + (seed >> 33) % 40;
        let mut lines = BufReader::new(child.stdout.take().unwrap()).lines();
        let mut seen = 0;
        while seen < after {
            let line = lines.next().expect("the child goes on until it is killed").unwrap();
            if let Some(id) = line.strip_prefix("stored ") {
                answered.push(id.parse::<i64>().unwrap());
                seen += 1;
            }
        }
        child.kill().unwrap();
        child.wait().unwrap();
        // What it had printed before the signal came was answered too.
        for line in lines.map_while(Result::ok) {
            if let Some(id) = line.strip_prefix("stored ").and_then(|id| id.parse().ok()) {
                answered.push(id);
            }
        }
        let store = open(dir.path());
        assert_eq!(store.check().await.unwrap(), Vec::<String>::new(), "round {round}");
        for id in &answered {
            assert!(
                store.article(*id).await.unwrap().is_some(),
                "round {round}: article {id} was answered and is lost"
            );
        }
        let living = store.files().clone();
        drop(store);
        let left = std::fs::read_dir(dir.path().join("tmp"))
            .unwrap()
            .flatten()
            .filter(|e| e.path().is_dir())
            .count();
        assert_eq!(left, 1, "only our own half-written files are left");
        drop(living);
    }
    let mut unique = answered.clone();
    unique.sort_unstable();
    unique.dedup();
    assert_eq!(unique.len(), answered.len(), "no number twice");
}
