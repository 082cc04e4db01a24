//! `dibao deliver`: the channels of `channels.toml`, and whether they work. Deliveries themselves are jobs: `dibao run`
//! carries them out, `dibao queue ls --kind deliver` lists them.

use clap::Subcommand;
use dibao::Clock;
use dibao::clock::SystemClock;
use dibao::deliver::Message;
use serde::Serialize;

use crate::exit::{Exit, Usage};
use crate::open::OpenArgs;
use crate::output::{complain, note, print_rows};

#[derive(Subcommand)]
pub enum DeliverCommand {
    /// List the channels of channels.toml
    Ls,
    /// Send a test message through a channel now
    Test {
        /// Its name
        channel: String,
        /// What to say
        #[arg(long, default_value = "dibao 邸报: 测试消息 / test message")]
        title: String,
    },
}

#[derive(Serialize)]
struct Line {
    channel: String,
    kind: String,
    articles: bool,
    alerts: bool,
    sites: Vec<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    problem: Option<String>,
}

pub async fn run(open: &OpenArgs, command: DeliverCommand) -> anyhow::Result<Exit> {
    // Only a data directory is needed, not a store in it: channels are tried before the first crawl.
    if !open.data.is_dir() {
        open.must_exist()?;
    }
    let engine = open.engine().await?;
    let channels = engine.channels();
    match command {
        DeliverCommand::Ls => {
            let lines: Vec<Line> = channels
                .list()
                .map(|(channel, kind, announces, problem)| Line {
                    channel: channel.to_owned(),
                    kind: kind.to_owned(),
                    articles: announces.articles,
                    alerts: announces.alerts,
                    sites: announces.sites.clone(),
                    problem: problem.map(str::to_owned),
                })
                .collect();
            if lines.is_empty() {
                note(format_args!("there are no channels; write them to {}", file(open)));
            }
            let headings = ["channel", "kind", "articles", "alerts", "sites", "problem"];
            let yes = |yes: bool| if yes { "yes" } else { "" }.to_owned();
            print_rows(&lines, &headings, |line| {
                let problem = line.problem.clone().unwrap_or_default();
                let (articles, alerts) = (yes(line.articles), yes(line.alerts));
                vec![line.channel.clone(), line.kind.clone(), articles, alerts, line.sites.join(" "), problem]
            })?;
            Ok(Exit::Ok)
        }
        DeliverCommand::Test { channel, title } => {
            if !channels.names().contains(&channel.as_str()) {
                let words = format!("there is no channel `{channel}` in {}", file(open));
                return Err(Usage(words).into());
            }
            let now = SystemClock.now();
            let mut message = Message::new(format!("test:{}", now.0), "test", title, now);
            message.text = format!("channel {channel}, {now}");
            match channels.send(&channel, &message).await {
                Ok(receipt) => {
                    note(format_args!("{channel}: {}", receipt.0));
                    Ok(Exit::Ok)
                }
                Err(error) => {
                    complain(format_args!("{channel}: {error}"));
                    Ok(Exit::of_class(error.class))
                }
            }
        }
    }
}

fn file(open: &OpenArgs) -> String {
    open.data.join("channels.toml").display().to_string()
}
