//! Starts Chromium and makes sure that nothing of it stays.
//!
//! It is started by a shell that gives our pipes the numbers Chromium expects, waits for its end, then removes the
//! profile and ends the rest of the process group. That shell is what works when we cannot: after `kill -9` of this
//! process the pipes close, Chromium ends by itself, and the shell does the rest. Where a destructor does run it ends
//! the whole tree at once.

use std::io;
use std::os::fd::OwnedFd;
use std::os::unix::process::CommandExt;
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use tempfile::TempDir;
use tokio::io::AsyncReadExt;
use tokio::net::unix::pipe;

use super::flags::flags;
use super::options::BrowserOptions;
use super::tree::Tree;

/// `$0` is the profile, the rest the command. Chromium reads commands from 3 and writes to 4.
const KEEPER: &str = r#""$@" 3<&0 4>&1 </dev/null >/dev/null; rm -rf -- "$0"; kill -9 0"#;
/// How long a destructor waits for processes that were killed.
const GONE_WITHIN: Duration = Duration::from_secs(3);
/// How much of what it complains about is kept.
const COMPLAINTS: usize = 4096;

/// A running Chromium. Dropping it ends all its processes and removes its profile.
pub(super) struct Process {
    child: Child,
    pub tree: Tree,
    complaints: Arc<Mutex<Vec<u8>>>,
    profile: Option<TempDir>,
}

/// Its ends of the pipes.
pub(super) struct Pipes {
    pub commands: pipe::Sender,
    pub events: pipe::Receiver,
}

impl Process {
    /// Starts it; it may still be a while until it answers.
    pub fn start(program: &Path, key: &str, options: &BrowserOptions) -> io::Result<(Process, Pipes)> {
        let scratch = options.scratch.clone().unwrap_or_else(std::env::temp_dir);
        let profile = tempfile::Builder::new().prefix("dibao-chromium-").tempdir_in(scratch)?;
        let no_sandbox = options.no_sandbox || rustix::process::geteuid().is_root();
        if no_sandbox {
            tracing::info!(
                "Chromium starts without its own sandbox, because this is root or the settings say so"
            );
        }
        let mut command = Command::new("/bin/sh");
        command
            .arg("-c")
            .arg(KEEPER)
            .arg(profile.path())
            .arg(program)
            .args(flags(profile.path(), key, no_sandbox))
            // Neither a proxy of the environment nor a display, nor the settings of whoever runs us.
            .env_clear()
            .env("PATH", std::env::var_os("PATH").unwrap_or_else(|| "/usr/bin:/bin".into()))
            .env("HOME", profile.path())
            .env("TMPDIR", profile.path())
            .env("LANG", "C.UTF-8")
            .env("TZ", "Asia/Shanghai")
            .current_dir(profile.path())
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .process_group(0);
        let mut child = command.spawn()?;
        let (stdin, stdout, stderr) = (child.stdin.take(), child.stdout.take(), child.stderr.take());
        let tree = Tree { leader: child.id(), profile: profile.path().display().to_string() };
        let complaints = Arc::new(Mutex::new(Vec::new()));
        // From here on the destructor cleans up.
        let process = Process { child, tree, complaints: complaints.clone(), profile: Some(profile) };
        let none = || io::Error::other("no pipe");
        let commands = pipe::Sender::from_owned_fd(OwnedFd::from(stdin.ok_or_else(none)?))?;
        let events = pipe::Receiver::from_owned_fd(OwnedFd::from(stdout.ok_or_else(none)?))?;
        let stderr = pipe::Receiver::from_owned_fd(OwnedFd::from(stderr.ok_or_else(none)?))?;
        tokio::spawn(listen(stderr, complaints));
        Ok((process, Pipes { commands, events }))
    }

    /// The last thing it complained about that reads like a reason.
    pub fn complaint(&self) -> Option<String> {
        let kept = self.complaints.lock().unwrap_or_else(|poisoned| poisoned.into_inner());
        let text = String::from_utf8_lossy(&kept);
        let lines: Vec<&str> = text.lines().map(str::trim).filter(|line| !line.is_empty()).collect();
        // It always complains about the missing bus.
        let told = lines.iter().rev().find(|line| !line.contains("dbus")).or(lines.last())?;
        Some(told.chars().take(300).map(|c| if c.is_control() { ' ' } else { c }).collect())
    }
}

impl Drop for Process {
    fn drop(&mut self) {
        self.tree.kill();
        let _ = self.child.wait();
        // They are dying; a profile they still write to cannot be removed.
        let until = Instant::now() + GONE_WITHIN;
        while !self.tree.members().is_empty() && Instant::now() < until {
            std::thread::sleep(Duration::from_millis(5));
            self.tree.kill();
        }
        if let Some(profile) = self.profile.take() {
            let path = profile.path().to_owned();
            // The shell may have been faster.
            if profile.close().is_err() && path.exists() {
                tracing::warn!(profile = %path.display(), "the browser's profile could not be removed");
            }
        }
    }
}

async fn listen(mut from: pipe::Receiver, kept: Arc<Mutex<Vec<u8>>>) {
    let mut buffer = [0; 1024];
    while let Ok(read @ 1..) = from.read(&mut buffer).await {
        let mut kept = kept.lock().unwrap_or_else(|poisoned| poisoned.into_inner());
        kept.extend_from_slice(&buffer[..read]);
        let excess = kept.len().saturating_sub(COMPLAINTS);
        kept.drain(..excess);
    }
}
