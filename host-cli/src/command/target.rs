//! `dibao target`: ls, toggle.

use clap::Subcommand;
use dibao::store::Store;

use crate::exit::{Exit, Usage};
use crate::open::OpenArgs;
use crate::output::print_rows;

#[derive(Subcommand)]
pub enum TargetCommand {
    /// List targets
    Ls {
        /// Only of this site
        site: Option<String>,
    },
    /// Switch targets on or off; later imports leave the switch alone
    Toggle {
        /// Codes, `<site>__<column>`
        #[arg(required = true)]
        targets: Vec<String>,
        /// Switch on, whatever it was
        #[arg(long, conflicts_with = "off")]
        on: bool,
        /// Switch off, whatever it was
        #[arg(long)]
        off: bool,
    },
}

pub async fn run(open: &OpenArgs, command: TargetCommand) -> anyhow::Result<Exit> {
    let store = open.store()?;
    match command {
        TargetCommand::Ls { site } => {
            let rows = store.targets(site.as_deref()).await?;
            let targets: Vec<_> = rows.into_iter().map(|(_, target)| target).collect();
            let headings = ["target", "name", "list", "on", "last crawled", "newest article"];
            print_rows(&targets, &headings, |target| {
                let time = |at: Option<dibao::Timestamp>| {
                    at.map_or(String::new(), |at| at.to_rfc3339(chrono_tz::Asia::Shanghai))
                };
                vec![
                    target.code.clone(),
                    target.name.clone(),
                    target.entry_url.clone(),
                    if target.enabled { "yes" } else { "no" }.to_string(),
                    time(target.last_crawled_at),
                    time(target.last_article_time),
                ]
            })?;
        }
        TargetCommand::Toggle { targets, on, off } => {
            for code in targets {
                let Some((_, target)) = store.target(&code).await? else {
                    let message =
                        format!("target `{code}` is not stored; `dibao target ls` shows the ones that are");
                    return Err(Usage(message).into());
                };
                let state = on || (!off && !target.enabled);
                store.set_target_enabled(&code, state).await?;
                eprintln!("{code}: {}", if state { "on" } else { "off" });
            }
        }
    }
    Ok(Exit::Ok)
}
