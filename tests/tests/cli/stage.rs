//! A replica, a directory and the real `dibao` process between them.

use std::path::{Path, PathBuf};
use std::process::Stdio;
use std::sync::LazyLock;
use std::time::Duration;

use dibao_replica::{Replica, ReplicaOptions};
use serde_json::Value;
use tempfile::TempDir;
use tokio::process::Command;

/// No command of these tests takes a tenth of this; one that hangs must not hang the whole check.
const TOO_LONG: Duration = Duration::from_secs(120);

/// A site file of the TRS replica: two columns, attachments, a pinned post.
pub const NDRC: &str = "\
site_id: ndrc
site_name: 国家发展和改革委员会
base_url: https://www.ndrc.gov.cn
columns:
  - column_id: xwfb
    name: 新闻发布
    category: 新闻
    list_url: https://www.ndrc.gov.cn/xwdt/xwfb/index.html
    list_selector:
      row: ul.u-list > li:not(.empty)
      title: a::attr(title), a::text
      date: span::text
      pinned: em.zd
    pagination: {type: path_pattern, pattern: 'index_{page}.html', start: 1, max_pages: 30}
    detail:
      title: h2.article_title::text
      publish_time: meta[name='PubDate']::attr(content), .laiyuan .time::text
      source: .laiyuantext span::text
      content: .article_con .TRS_Editor
      attachment_css: .attachment_r a[href]
  - column_id: tz
    name: 通知
    list_url: https://www.ndrc.gov.cn/xxgk/zcfb/tz/index.html
    alias_of: xwfb
";

/// A site file of the NF-CMS replica, where columns need not be listed.
pub const GDQY: &str = "\
site_id: gdqy
site_name: 清远市人民政府
base_url: https://www.gdqy.gov.cn
default_column:
  list_url: https://www.gdqy.gov.cn/gdqy/newxxgk/{column}/index.html
  list_selector: {row: div.news_list ul li, title: a._recurl::text, date: span::text}
  detail: {title: h1.title::text, content: div.article-content}
columns:
  - column_id: zlxx
    list_url: https://www.gdqy.gov.cn/gdqy/newxxgk/zdly/spypaqbz/zlxx/index.html
";

/// How the directory of a linked program is called, before the number of the process that made it.
const LINKED: &str = "dibao-bin-";

/// Removes what test processes left that are no more: statics are never dropped, and an old program takes a lot of disk.
fn sweep(beside: &Path) {
    for entry in std::fs::read_dir(beside).into_iter().flatten().flatten() {
        let name = entry.file_name();
        let Some(owner) = name.to_str().and_then(|name| name.strip_prefix(LINKED)?.split('-').next()) else {
            continue;
        };
        if !Path::new("/proc").join(owner).exists() {
            let _ = std::fs::remove_dir_all(entry.path());
        }
    }
}

/// The program beside this test, linked to a place of its own so that a build meanwhile does not change it.
static DIBAO: LazyLock<(PathBuf, TempDir)> = LazyLock::new(|| {
    let built = match std::env::var_os("DIBAO_BIN") {
        Some(path) => PathBuf::from(path),
        None => beside("dibao", "cargo build --package dibao-cli"),
    };
    let beside = built.parent().unwrap();
    sweep(beside);
    let prefix = format!("{LINKED}{}-", std::process::id());
    let dir = tempfile::Builder::new().prefix(&prefix).tempdir_in(beside).unwrap();
    let own = dir.path().join("dibao");
    std::fs::hard_link(&built, &own).or_else(|_| std::fs::copy(&built, &own).map(drop)).unwrap();
    (own, dir)
});

/// A program of the same profile as this test.
pub fn beside(name: &str, build: &str) -> PathBuf {
    let test = std::env::current_exe().unwrap();
    let path = test.parent().and_then(Path::parent).unwrap().join(name);
    assert!(path.exists(), "{} is not built; run `{build}` first", path.display());
    path
}

/// The path of the program.
pub fn dibao() -> &'static Path {
    &DIBAO.0
}

/// The bundled adapters.
pub fn adapters() -> PathBuf {
    let dir = std::env::var_os("DIBAO_ADAPTERS")
        .map_or_else(|| Path::new(env!("CARGO_MANIFEST_DIR")).join("../target/adapters"), PathBuf::from);
    assert!(dir.join("yaml-css.wasm").exists(), "run `cargo xtask adapters` first ({})", dir.display());
    dir
}

/// A replica with a directory for one user's files and data.
pub struct Stage {
    pub replica: Replica,
    dir: TempDir,
}

impl Stage {
    pub async fn new() -> Stage {
        let options = ReplicaOptions { articles: 60, article_kib: 6..=8, ..ReplicaOptions::default() };
        let replica = Replica::start(options).await.unwrap();
        let stage = Stage { replica, dir: tempfile::tempdir().unwrap() };
        stage.write("ca.pem", stage.replica.ca_pem());
        stage.write("ndrc.yaml", NDRC);
        stage.write("gdqy.yaml", GDQY);
        stage
    }

    /// A stage with five stored articles, to be found again whatever happens next.
    pub async fn with_five() -> Stage {
        let stage = Stage::new().await;
        stage.dibao("crawl ndrc.yaml --column xwfb --max-items 5").await.exits(0);
        stage
    }

    pub fn path(&self, name: &str) -> PathBuf {
        self.dir.path().join(name)
    }

    pub fn write(&self, name: &str, content: impl AsRef<[u8]>) -> PathBuf {
        std::fs::write(self.path(name), content).unwrap();
        self.path(name)
    }

    pub fn read(&self, name: &str) -> String {
        std::fs::read_to_string(self.path(name)).unwrap_or_else(|error| panic!("{name}: {error}"))
    }

    /// The options that lead to the replica, as one would type them.
    pub fn reach(&self) -> Vec<String> {
        let mut options = vec!["--cacert".into(), self.path("ca.pem").display().to_string()];
        for host in self.replica.hosts() {
            for (port, addr) in [(443, self.replica.addr()), (80, self.replica.http_addr())] {
                options.extend(["--resolve".into(), format!("{host}:{port}={addr}")]);
            }
        }
        options.extend(["--interval".into(), "0".into()]);
        options
    }

    /// A command in the stage's directory, its data in `data`; nothing of the tester's own settings gets in.
    pub fn bare(&self, line: &str) -> Command {
        let mut command = Command::new(dibao());
        command.args(line.split_whitespace()).current_dir(self.dir.path()).kill_on_drop(true);
        for name in ["RUST_LOG", "NO_COLOR", "CLICOLOR_FORCE"] {
            command.env_remove(name);
        }
        // The browser has tests of its own; here every request is one that the test expects.
        command.env("DIBAO_DATA", "data").env("DIBAO_ADAPTERS", adapters()).env("DIBAO_CHROMIUM", "off");
        command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped());
        command
    }

    /// The same, with the way to the replica.
    pub fn command(&self, line: &str) -> Command {
        let mut command = self.bare(line);
        command.args(self.reach());
        command
    }

    /// Runs `dibao` to its end.
    pub async fn dibao(&self, line: &str) -> Run {
        finish(self.command(line)).await
    }

    /// The five articles of [`Stage::with_five`] are there, whole, and nothing is amiss around them.
    #[track_caller]
    pub fn intact(&self) -> impl Future<Output = ()> {
        let at = std::panic::Location::caller();
        async move {
            let stored = self.dibao("export --target ndrc__xwfb").await;
            assert_eq!(stored.code, 0, "{at}: {}", stored.stderr);
            let rows = stored.rows();
            assert!(rows.len() >= 5, "{at}: {} articles are left", rows.len());
            for row in rows {
                assert!(row["content_text"].as_str().is_some_and(|text| text.len() > 300), "{at}: {row}");
            }
            let check = self.dibao("db check").await;
            assert_eq!((check.code, check.stdout.as_str()), (0, ""), "{at}: {}", check.stderr);
        }
    }

    /// The addresses of list or detail pages that were asked for since `forget_requests`.
    pub fn asked(&self) -> Vec<String> {
        self.replica.requests().into_iter().map(|seen| format!("{}{}", seen.host, seen.path)).collect()
    }
}

/// Runs a command to its end.
pub async fn finish(mut command: Command) -> Run {
    let output = tokio::time::timeout(TOO_LONG, command.output()).await;
    let output = output.unwrap_or_else(|_| panic!("{command:?} hangs")).unwrap();
    Run::of(output)
}

/// What came of a command.
#[derive(Debug)]
pub struct Run {
    pub code: i32,
    pub stdout: String,
    pub stderr: String,
}

impl Run {
    pub fn of(output: std::process::Output) -> Run {
        Run {
            code: output.status.code().unwrap_or(-1),
            stdout: String::from_utf8(output.stdout).expect("standard output is UTF-8"),
            stderr: String::from_utf8(output.stderr).expect("standard error is UTF-8"),
        }
    }

    #[track_caller]
    pub fn exits(self, code: i32) -> Run {
        assert_eq!(self.code, code, "stdout: {}\nstderr: {}", self.stdout, self.stderr);
        assert!(!self.stderr.contains("panicked"), "{}", self.stderr);
        self
    }

    /// Every one of these words is on standard error.
    #[track_caller]
    pub fn says(self, words: &[&str]) -> Run {
        for word in words {
            assert!(self.stderr.contains(word), "no {word:?} in: {}", self.stderr);
        }
        self
    }

    /// Standard output as JSON lines.
    #[track_caller]
    pub fn rows(&self) -> Vec<Value> {
        rows(&self.stdout)
    }

    /// Standard output as the one JSON line it is.
    #[track_caller]
    pub fn row(&self) -> Value {
        let mut rows = self.rows();
        assert_eq!(rows.len(), 1, "{}\n{}", self.stdout, self.stderr);
        rows.remove(0)
    }
}

/// JSON lines.
#[track_caller]
pub fn rows(text: &str) -> Vec<Value> {
    text.lines().map(|line| serde_json::from_str(line).unwrap_or_else(|e| panic!("{e}: {line}"))).collect()
}
