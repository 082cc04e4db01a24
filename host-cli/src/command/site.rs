//! `dibao site`: import, ls, set, toggle, rm, export, schema.

use std::io::Write;
use std::path::PathBuf;

use clap::Subcommand;
use dibao::config::{export_site, load_site, site_schema};
use dibao::store::Store;

use super::target::known_site;
use crate::exit::{Exit, Usage};
use crate::fields::fields;
use crate::open::{OpenArgs, actor};
use crate::output::{note, open_output, print_rows};

#[derive(Subcommand)]
pub enum SiteCommand {
    /// Check site files and store what they say
    Import {
        /// Site files
        #[arg(required = true)]
        files: Vec<PathBuf>,
    },
    /// List the stored sites
    Ls,
    /// Change settings of a site; later imports of its file leave them alone
    ///
    /// Keys of site files, with points between: adapter_params.sid=5, interval_sec=10, crawl_plan='{"from":2020}'. Nothing after
    /// the `=` takes a setting back.
    Set {
        /// Code of the site
        site: String,
        /// What to set
        #[arg(required = true, value_name = "KEY=VALUE")]
        settings: Vec<String>,
    },
    /// Switch a site with all its targets on or off; later imports leave the switch alone
    Toggle {
        /// Code of the site
        site: String,
        /// Switch on, whatever it was
        #[arg(long, conflicts_with = "off")]
        on: bool,
        /// Switch off, whatever it was
        #[arg(long)]
        off: bool,
    },
    /// Remove a site with its targets, schedules, articles and files
    Rm {
        /// Code of the site
        site: String,
        /// Yes, with all that was collected
        #[arg(long)]
        yes: bool,
    },
    /// Write a stored site as a site file
    Export {
        /// Code of the site
        site: String,
        /// Where to (- for standard output)
        #[arg(long, short, default_value = "-")]
        output: String,
    },
    /// Print the JSON Schema of site files
    Schema,
}

pub async fn run(open: &OpenArgs, command: SiteCommand) -> anyhow::Result<Exit> {
    match command {
        SiteCommand::Import { files } => {
            // All are read before one is stored.
            let sites = files.iter().map(load_site).collect::<Result<Vec<_>, _>>()?;
            let desk = open.engine().await?.desk(actor());
            for (file, site) in files.iter().zip(&sites) {
                let change = desk.import_site(site).await?;
                note(format_args!(
                    "{}: {} added, {} changed, {} switched off",
                    file.display(),
                    change.added.len(),
                    change.changed.len(),
                    change.disabled.len()
                ));
            }
        }
        SiteCommand::Ls => {
            let store = open.store()?;
            let sites = store.sites().await?;
            if sites.is_empty() {
                note("no site is stored; `dibao site import FILE` stores one");
            }
            print_rows(&sites, &["site", "name", "adapter", "base", "on"], |site| {
                let on = if site.enabled { "yes" } else { "no" };
                vec![
                    site.code.clone(),
                    site.name.clone(),
                    site.adapter.clone(),
                    site.base_url.clone(),
                    on.into(),
                ]
            })?;
        }
        SiteCommand::Set { site, settings } => {
            let patch = fields(&settings)?;
            open.desk().await?.update_site(&site, patch).await?;
            note(format_args!("{site}: set; `dibao site export {site}` shows it"));
        }
        SiteCommand::Toggle { site, on, off } => {
            let desk = open.desk().await?;
            let on = on || (!off && !desk.site(&site).await?.site.enabled);
            desk.toggle_site(&site, on).await?;
            note(format_args!("{site}: {}", if on { "on" } else { "off" }));
        }
        SiteCommand::Rm { site, yes } => {
            let desk = open.desk().await?;
            let row = desk.site(&site).await?;
            if !yes {
                let words = format!(
                    "this removes {} targets with all articles and files of {}; say --yes if it is meant",
                    row.targets.len(),
                    row.site.name
                );
                return Err(Usage(words).into());
            }
            desk.delete_site(&site).await?;
            note(format_args!("{site}: removed"));
        }
        SiteCommand::Export { site: code, output } => {
            let store = open.store()?;
            let site = known_site(&store, &code).await?;
            let targets: Vec<_> =
                store.targets(Some(&code)).await?.into_iter().map(|(_, target)| target).collect();
            let mut out = open_output(&output)?;
            out.write_all(export_site(&site, &targets).as_bytes())?;
            out.flush()?;
        }
        SiteCommand::Schema => {
            writeln!(std::io::stdout(), "{}", serde_json::to_string_pretty(&site_schema())?)?;
        }
    }
    Ok(Exit::Ok)
}
