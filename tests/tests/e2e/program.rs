//! The `dibao` program as a child process that can be waited for and killed.

use std::path::{Path, PathBuf};
use std::process::{ExitStatus, Stdio};

use rustix::process::{Pid, Signal, kill_process};
use tokio::process::{Child, Command};

use crate::bed::{Bed, adapters};

/// A crawl under way. Killed when dropped, so that a failed test leaves nothing behind.
pub struct Program(Child);

impl Program {
    /// Starts `dibao crawl WHAT…` on a data directory.
    pub fn crawl(bed: &Bed, data: &Path, what: &[&str]) -> Program {
        Program::crawl_every(bed, data, what, "0")
    }

    /// The same with so many seconds between two requests.
    pub fn crawl_every(bed: &Bed, data: &Path, what: &[&str], interval: &str) -> Program {
        let pem = bed.data("ca.pem");
        std::fs::write(&pem, bed.replica.ca_pem()).expect("the certificate");
        let mut command = Command::new(program());
        command.arg("crawl").args(what).arg("--data").arg(data).arg("--adapters").arg(adapters());
        command.arg("--cacert").arg(pem).args(["--interval", interval, "--quiet"]);
        for rule in bed.rules() {
            command.arg("--resolve").arg(format!(
                "{}:{}={}",
                rule.host,
                rule.port.unwrap_or_default(),
                rule.addr
            ));
        }
        // The browser has tests of its own.
        command.env("DIBAO_CHROMIUM", "off");
        // What it says is kept for a test that fails.
        command.kill_on_drop(true).stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::inherit());
        Program(command.spawn().expect("the dibao program"))
    }

    /// SIGKILL, however far it is; how it ended.
    pub async fn kill(mut self) -> ExitStatus {
        let _ = self.0.start_kill();
        self.end().await
    }

    /// SIGINT, as Ctrl-C sends it.
    pub fn interrupt(&self) {
        let number = self.0.id().and_then(|id| Pid::from_raw(id as i32));
        kill_process(number.expect("a process that was not waited for"), Signal::INT).expect("a signal");
    }

    /// Waits for its end.
    pub async fn end(&mut self) -> ExitStatus {
        self.0.wait().await.expect("a child")
    }
}

/// The program that was built beside this test.
fn program() -> PathBuf {
    let exe = std::env::current_exe().expect("this test's own path");
    let program = exe.ancestors().nth(2).expect("a profile directory").join("dibao");
    assert!(program.is_file(), "{} is missing; run `cargo build -p dibao-cli` first", program.display());
    program
}
