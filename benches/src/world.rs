//! The sites that are crawled: a replica in a process of its own, so that its work is nobody's processor time but
//! its own, and what both contenders know about it.

use std::io::{BufRead as _, BufReader};
use std::net::SocketAddr;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};

use anyhow::{Context as _, Result, bail};
use serde_json::Value;

/// How much a crawl has to do.
#[derive(Clone, Copy, Debug)]
pub struct Size {
    /// Hosts with one list each.
    pub hosts: u32,
    /// Articles per host.
    pub articles: u64,
}

impl Size {
    /// All articles.
    pub fn total(&self) -> u64 {
        u64::from(self.hosts) * self.articles
    }
}

/// Where the sites are.
#[derive(Clone, Debug)]
pub struct World {
    /// Where `https://` of every host lives.
    pub addr: SocketAddr,
    /// The root to trust.
    pub ca_pem: String,
    /// The benchmark hosts.
    pub hosts: Vec<String>,
}

impl World {
    /// What a replica process wrote into its state file.
    pub fn read(state: &Path) -> Result<World> {
        let text = std::fs::read_to_string(state).with_context(|| state.display().to_string())?;
        let state: Value = serde_json::from_str(&text).context("the replica's state")?;
        let addr = state["https_addr"].as_str().context("https_addr")?.parse()?;
        let pem = state["ca_pem"].as_str().context("ca_pem")?;
        let hosts = state["hosts"].as_array().into_iter().flatten();
        let hosts = hosts.filter_map(|host| host.as_str().map(str::to_owned)).collect();
        Ok(World { addr, ca_pem: std::fs::read_to_string(pem).context("ca_pem")?, hosts })
    }
}

/// A replica process; ends when dropped.
#[derive(Debug)]
pub struct Server {
    child: Child,
    /// Where it wrote its addresses.
    pub state: PathBuf,
}

impl Server {
    /// Starts the `replica` program that lies beside this one.
    pub fn start(dir: &Path, size: Size) -> Result<Server> {
        let program = std::env::current_exe()?.with_file_name("replica");
        if !program.is_file() {
            bail!("{} is missing: run `cargo xtask bench`, which builds it", program.display());
        }
        let state = dir.join("replica.json");
        let mut command = Command::new(&program);
        command
            .args(["--until-stdin-closes", "--article-kb", "20-60"])
            // The yardstick's client does not ask for compression; neither is given it.
            .arg("--no-gzip")
            .args(["--bench-hosts", &size.hosts.to_string(), "--articles", &size.articles.to_string()])
            .arg("--state")
            .arg(&state);
        for number in 0..size.hosts {
            command.args(["--host", &format!("bench{number}.gov.cn")]);
        }
        let mut child = command.stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().context("replica")?;
        // Its first line says that everything listens.
        let mut line = String::new();
        let out = child.stdout.take().context("the replica's output")?;
        BufReader::new(out).read_line(&mut line)?;
        if line.is_empty() {
            let _ = child.kill();
            bail!("the replica ended: {}", child.wait()?);
        }
        Ok(Server { child, state })
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}
