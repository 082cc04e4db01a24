//! `cargo xtask demo`: replica sites on loopback, crawled for real, twice.

use std::fs;
use std::io::{Read, Write};
use std::net::TcpStream;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use anyhow::{Context, Result, bail};
use serde_json::{Value, json};

use crate::adapters;
use crate::steps::{cargo, debug_dir, run, step};

/// Articles per replica site.
const ARTICLES: &str = "60";

/// Builds what is missing, starts the replica, crawls it, crawls it again.
pub fn run_demo(workspace: &Path) -> Result<()> {
    step("adapters", || adapters::run(workspace))?;
    step("programs (the first time this takes some minutes)", || {
        run(cargo(workspace).args(["build", "--package", "dibao-cli", "--package", "dibao-tests", "--bins"]))
    })?;
    let bin = debug_dir(workspace)?;
    let data = workspace.join("demo-data");
    fresh(&data)?;
    let replica = Replica::start(&bin, &data)?;
    println!("\nReplica sites are served on loopback under their real names: {}", replica.hosts.join(", "));
    let demo = Demo { bin, workspace, data: &data, replica: &replica };

    println!("\nFirst run: every column of every site.\n");
    demo.crawl(&[])?;
    println!(
        "\nSecond run: nothing is new; each list is read until the first known article (three in a row\nwhere pinned posts are told apart).\n"
    );
    demo.crawl(&[])?;
    replica.publish("www.ndrc.gov.cn", "tz")?;
    println!("\nOne post was just published on www.ndrc.gov.cn. Third run of that column:\n");
    demo.crawl(&["--column", "tz"])?;

    demo.dibao(&["db", "check"])?;
    println!("\nThe data is in {}. Look around:", data.display());
    println!("  cargo run -q -p dibao-cli -- --data demo-data target ls");
    println!("  cargo run -q -p dibao-cli -- --data demo-data show 1");
    println!("  cargo run -q -p dibao-cli -- --data demo-data export --format csv -o articles.csv");
    Ok(())
}

/// An empty directory of our own; one that holds something else is left alone.
fn fresh(data: &Path) -> Result<()> {
    let marker = data.join(".demo");
    if data.exists() {
        if !marker.exists() {
            bail!("{} exists and is not from an earlier demo; move it away first", data.display());
        }
        fs::remove_dir_all(data).with_context(|| format!("cannot empty {}", data.display()))?;
    }
    fs::create_dir_all(data).with_context(|| format!("cannot make {}", data.display()))?;
    fs::write(marker, "made by `cargo xtask demo`, which empties this directory\n")?;
    Ok(())
}

struct Demo<'a> {
    bin: PathBuf,
    workspace: &'a Path,
    data: &'a Path,
    replica: &'a Replica,
}

impl Demo<'_> {
    /// All sites, or with `--column` only the one that was published on.
    fn crawl(&self, extra: &[&str]) -> Result<()> {
        let mut arguments = vec!["--rows".to_owned(), "table".to_owned(), "--interval".into(), "0".into()];
        for host in &self.replica.hosts {
            for (port, addr) in [(443, &self.replica.https), (80, &self.replica.http)] {
                arguments.extend(["--resolve".to_owned(), format!("{host}:{port}={addr}")]);
            }
        }
        arguments.extend(["--cacert".to_owned(), self.replica.ca_pem.clone(), "crawl".to_owned()]);
        let only = (!extra.is_empty()).then_some("ndrc.yaml");
        let mut sites: Vec<PathBuf> = fs::read_dir(self.workspace.join("sites"))?
            .map(|entry| Ok(entry?.path()))
            .collect::<Result<_>>()?;
        sites.retain(|path| path.extension().is_some_and(|ending| ending == "yaml"));
        sites.retain(|path| only.is_none_or(|name| path.ends_with(name)));
        sites.sort();
        for site in sites.iter_mut().filter(|path| path.ends_with("govcn-policy.yaml")) {
            *site = self.with_replica_key(site)?;
        }
        arguments.extend(sites.iter().map(|path| path.display().to_string()));
        arguments.extend(extra.iter().map(|text| text.to_string()));
        let arguments: Vec<&str> = arguments.iter().map(String::as_str).collect();
        self.dibao(&arguments)
    }

    /// The policy library with the public key of the replica's gateway: all that tells it from the real one.
    fn with_replica_key(&self, site: &Path) -> Result<PathBuf> {
        let text = fs::read_to_string(site).with_context(|| format!("cannot read {}", site.display()))?;
        let (before, after) = text
            .split_once("\nadapter_params:\n")
            .with_context(|| format!("{} has no adapter_params to put a key into", site.display()))?;
        let key = format!("  xxgk: {{ public_key: {} }}", self.replica.athena_public_key);
        let copy = self.data.join("govcn-policy.yaml");
        fs::write(&copy, format!("{before}\nadapter_params:\n{key}\n{after}"))
            .with_context(|| format!("cannot write {}", copy.display()))?;
        Ok(copy)
    }

    fn dibao(&self, arguments: &[&str]) -> Result<()> {
        run(Command::new(self.bin.join("dibao"))
            .current_dir(self.workspace)
            .env("DIBAO_ADAPTERS", self.workspace.join("target/adapters"))
            .arg("--data")
            .arg(self.data)
            .args(arguments))
    }
}

/// The replica as a process of its own; it ends with us, because it watches its standard input.
struct Replica {
    child: Child,
    hosts: Vec<String>,
    https: String,
    http: String,
    admin: String,
    ca_pem: String,
    athena_public_key: String,
}

impl Replica {
    fn start(bin: &Path, data: &Path) -> Result<Replica> {
        let state = data.join("replica.json");
        let mut child = Command::new(bin.join("replica"))
            .args(["--articles", ARTICLES, "--seed", "1", "--until-stdin-closes", "--state"])
            .arg(&state)
            .stdin(Stdio::piped())
            .stdout(Stdio::null())
            .spawn()
            .context("the replica did not start")?;
        let began = Instant::now();
        let text = loop {
            if let Ok(text) = fs::read_to_string(&state) {
                break text;
            }
            if let Some(status) = child.try_wait()? {
                bail!("the replica ended with {status} before it was listening");
            }
            if began.elapsed() > Duration::from_secs(60) {
                bail!("the replica was not listening after a minute");
            }
            std::thread::sleep(Duration::from_millis(20));
        };
        let facts: Value = serde_json::from_str(&text).context("the replica's state")?;
        let text =
            |name: &str| facts[name].as_str().map(str::to_owned).with_context(|| format!("state: {name}"));
        let hosts = facts["hosts"].as_array().into_iter().flatten();
        Ok(Replica {
            child,
            hosts: hosts.filter_map(|host| host.as_str().map(str::to_owned)).collect(),
            https: text("https_addr")?,
            http: text("http_addr")?,
            admin: text("admin_addr")?,
            ca_pem: text("ca_pem")?,
            athena_public_key: text("athena_public_key")?,
        })
    }

    /// Puts a post on top of a column through the replica's admin port.
    fn publish(&self, host: &str, column: &str) -> Result<()> {
        let post = json!({"title": "关于演示增量采集的通知"});
        let body = json!({"host": host, "column": column, "post": post}).to_string();
        let mut stream = TcpStream::connect(&self.admin).context("the replica's admin port")?;
        write!(
            stream,
            "POST /publish HTTP/1.1\r\nhost: admin\r\ncontent-type: application/json\r\ncontent-length: {}\r\nconnection: close\r\n\r\n{body}",
            body.len()
        )?;
        let mut answer = String::new();
        stream.read_to_string(&mut answer)?;
        if !answer.starts_with("HTTP/1.1 2") {
            bail!("the replica did not publish: {answer}");
        }
        Ok(())
    }
}

impl Drop for Replica {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}
