//! `dibao target`: ls, toggle.

use clap::Subcommand;
use dibao::config::suggestion;
use dibao::model::{Site, Target};
use dibao::store::Store;

use crate::exit::{Exit, Usage};
use crate::open::OpenArgs;
use crate::output::{minute, note, print_rows};

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
            if let Some(code) = &site {
                known_site(&store, code).await?;
            }
            let rows = store.targets(site.as_deref()).await?;
            if rows.is_empty() {
                note("no target is stored; `dibao site import FILE` stores those of a site file");
            }
            let targets: Vec<_> = rows.into_iter().map(|(_, target)| target).collect();
            let headings = ["target", "name", "list", "on", "last crawled", "newest article"];
            print_rows(&targets, &headings, |target| {
                let time = |at: Option<dibao::Timestamp>| at.map_or(String::new(), minute);
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
            let mut switches = Vec::new();
            for code in targets {
                let target = known_target(&store, &code).await?;
                switches.push((code, on || (!off && !target.enabled)));
            }
            for (code, state) in switches {
                store.set_target_enabled(&code, state).await?;
                note(format_args!("{code}: {}", if state { "on" } else { "off" }));
            }
        }
    }
    Ok(Exit::Ok)
}

/// The stored site of this code, or an error with the nearest one.
pub async fn known_site(store: &impl Store, code: &str) -> anyhow::Result<Site> {
    if let Some(site) = store.site(code).await? {
        return Ok(site);
    }
    let known = store.sites().await?;
    let near = suggestion(code, known.iter().map(|site| site.code.as_str()));
    Err(Usage(format!("site `{code}` is not stored; {near}")).into())
}

/// The stored target of this code, or an error with the nearest one.
pub async fn known_target(store: &impl Store, code: &str) -> anyhow::Result<Target> {
    if let Some((_, target)) = store.target(code).await? {
        return Ok(target);
    }
    let known = store.targets(None).await?;
    let near = suggestion(code, known.iter().map(|(_, target)| target.code.as_str()));
    Err(Usage(format!("target `{code}` is not stored; {near}")).into())
}
