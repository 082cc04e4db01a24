//! `dibao site`: import, ls, export, schema.

use std::io::Write;
use std::path::PathBuf;

use clap::Subcommand;
use dibao::config::{export_site, load_site, site_schema};
use dibao::store::Store;

use super::target::known_site;
use crate::exit::Exit;
use crate::open::OpenArgs;
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
            let engine = open.engine().await?;
            for (file, site) in files.iter().zip(&sites) {
                let change = engine.import_site_config(site).await?;
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
