//! `dibao site`: import, ls, export, schema.

use std::io::Write;
use std::path::PathBuf;

use clap::Subcommand;
use dibao::config::{export_site, site_schema};
use dibao::store::Store;

use crate::exit::{Exit, Usage};
use crate::open::OpenArgs;
use crate::output::{open_output, print_rows};

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
            let engine = open.engine().await?;
            for file in files {
                let change = engine.import_site(&file).await?;
                eprintln!(
                    "{}: {} added, {} changed, {} switched off",
                    file.display(),
                    change.added.len(),
                    change.changed.len(),
                    change.disabled.len()
                );
            }
        }
        SiteCommand::Ls => {
            let store = open.store()?;
            let sites = store.sites().await?;
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
        SiteCommand::Export { site: code, output } => {
            let store = open.store()?;
            let Some(site) = store.site(&code).await? else {
                return Err(Usage(format!(
                    "site `{code}` is not stored; `dibao site ls` shows the ones that are"
                ))
                .into());
            };
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
