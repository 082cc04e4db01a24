//! Disks that are full or may not be written to: exit code 3, the place, the fix, and what was stored stays.

use std::path::Path;

use tokio::process::Command;

use crate::stage::{Run, Stage, dibao, finish};

/// Runs a script that may mount file systems nobody else sees; none where this machine does not allow it.
async fn with_mounts(stage: &Stage, script: &str) -> Option<Run> {
    let user: &[&str] = if rustix::process::geteuid().is_root() {
        &["--mount"]
    } else {
        &["--user", "--map-root-user", "--mount"]
    };
    let probe = "mkdir -p probe && mount -t tmpfs -o size=1m none probe";
    let unshare = |script: &str| {
        let mut command = Command::new("unshare");
        command.args(user).args(["sh", "-euc", script]).current_dir(stage.path("."));
        command
            .env("DIBAO", dibao())
            .env("DIBAO_ADAPTERS", crate::stage::adapters())
            .env("DIBAO_DATA", "disk/data");
        command.env("REACH", stage.reach().join(" "));
        command
    };
    match unshare(probe).output().await {
        Ok(output) if output.status.success() => Some(finish(unshare(script)).await),
        other => {
            assert!(std::env::var_os("CI").is_none(), "a file system must be mountable on CI: {other:?}");
            eprintln!(
                "SKIPPED: no file system can be mounted here ({other:?}); the limit on file sizes is tested instead"
            );
            None
        }
    }
}

/// `step NAME CODE command…`: runs it, keeps what it says, and insists on its exit code.
const STEP: &str = r#"
step() { name=$1 want=$2; shift 2; got=0; "$DIBAO" "$@" $REACH >"$name.out" 2>"$name.err" || got=$?
  [ $got = $want ] || { echo "$name: exit $got instead of $want" >&2; cat "$name.err" >&2; exit 1; }; }
mkdir -p disk; mount -t tmpfs -o size=12m none disk
step first 0 crawl ndrc.yaml --column xwfb --max-items 5
"#;

fn lines(stage: &Stage, name: &str) -> usize {
    stage.read(name).lines().count()
}

#[tokio::test(flavor = "multi_thread")]
async fn a_full_disk_ends_the_run_with_its_name_and_loses_nothing() {
    let stage = Stage::new().await;
    let script = format!(
        r#"{STEP}
        # All but a little is taken: the crawl begins and runs out of room on its way.
        dd if=/dev/zero of=disk/ballast bs=1k 2>/dev/null || true
        truncate -s -96K disk/ballast
        step full 3 crawl ndrc__xwfb --force -o out.jsonl
        step still-full 3 crawl ndrc__xwfb --force
        rm disk/ballast
        step export 0 export
        step check 0 db check
        step again 0 crawl ndrc__xwfb --force
        step all 0 export
        step check-again 0 db check
        "#
    );
    let Some(run) = with_mounts(&stage, &script).await else { return };
    run.exits(0);
    let words = stage.read("full.err");
    assert!(words.contains("disk") && words.contains("full") && words.contains("free some space"), "{words}");
    assert!(lines(&stage, "export.out") >= 5);
    assert!(
        lines(&stage, "export.out") >= 5 + lines(&stage, "out.jsonl"),
        "what was written was stored before"
    );
    assert_eq!(lines(&stage, "all.out"), 30, "with room again the crawl goes on to its end");
    assert_eq!(stage.read("check.out") + &stage.read("check-again.out"), "");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_read_only_disk_is_named_and_loses_nothing() {
    let stage = Stage::new().await;
    let script = format!(
        r#"{STEP}
        mount -o remount,ro disk
        step read-only 3 crawl ndrc__xwfb --force
        step read-only-import 3 site import gdqy.yaml
        step read-only-output 3 crawl gdqy.yaml --data elsewhere --max-items 1 -o disk/out.jsonl
        mount -o remount,rw disk
        step export 0 export
        step check 0 db check
        "#
    );
    let Some(run) = with_mounts(&stage, &script).await else { return };
    run.exits(0);
    for name in ["read-only.err", "read-only-import.err"] {
        let words = stage.read(name);
        assert!(words.contains("disk/data") && words.contains("read-only"), "{words}");
    }
    assert!(stage.read("read-only-output.err").contains("disk/out.jsonl"));
    assert_eq!((lines(&stage, "export.out"), stage.read("check.out").as_str()), (5, ""));
}

/// Needs no rights at all, so that something of this is tested on every machine.
#[tokio::test(flavor = "multi_thread")]
async fn a_file_that_may_not_grow_is_a_storage_error_and_loses_nothing() {
    let stage = Stage::with_five().await;
    let database = std::fs::metadata(dibao::store::database_path(&stage.path("data"))).unwrap().len();
    // In blocks of 512 bytes: the database as it is, and a little more.
    let script = format!("trap '' XFSZ; ulimit -f {}; exec \"$@\"", database / 512 + 64);
    let mut command = Command::new("sh");
    let line = "crawl ndrc__xwfb --force";
    command.args(["-c", &script, "sh"]).arg(dibao()).args(line.split(' ')).args(stage.reach());
    command
        .current_dir(stage.path("."))
        .env("DIBAO_DATA", "data")
        .env("DIBAO_ADAPTERS", crate::stage::adapters());
    finish(command).await.exits(3).says(&["data"]);
    stage.intact().await;
    stage.dibao(line).await.exits(0);
    assert_eq!(stage.dibao("export").await.rows().len(), 30);
    stage.intact().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_data_directory_that_cannot_be_one_is_named() {
    let stage = Stage::new().await;
    stage.write("file", "not a directory");
    let run = stage.dibao("crawl ndrc.yaml --column xwfb --data file/data").await.exits(3);
    run.says(&["file/data", "check that the directory"]);
    stage.dibao("crawl ndrc.yaml -o no/such/dir/out.jsonl").await.exits(3).says(&["no/such/dir/out.jsonl"]);
    // A database that is none is left alone.
    let database = dibao::store::database_path(Path::new("other"));
    std::fs::create_dir_all(stage.path("other")).unwrap();
    stage.write(&database.display().to_string(), "this is a letter, not a database".repeat(100));
    let run = stage.dibao("export --data other").await.exits(3);
    run.says(&["other", "not a dibao store"]);
    assert!(stage.read(&database.display().to_string()).starts_with("this is a letter"));
}
