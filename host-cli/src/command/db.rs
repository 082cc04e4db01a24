//! `dibao db`: whether rows and files are whole; copies of them; their schema and index.

use std::io::Write;
use std::path::PathBuf;

use clap::Subcommand;
use dibao::clock::SystemClock;
use dibao::store::{Store, restore};
use dibao::{Clock, Timestamp};

use crate::exit::{Exit, Usage};
use crate::open::OpenArgs;
use crate::output::{json_line, note, printable};

#[derive(Subcommand)]
pub enum DbCommand {
    /// Check the database and that every file it names is there
    Check,
    /// Copy rows and files into a directory that is new or empty; crawls and the daemon may go on
    Backup {
        /// The directory
        to: PathBuf,
    },
    /// Bring a copy back into a data directory (`--data`) that is new or empty, and check it
    Restore {
        /// A directory that `db backup` made
        from: PathBuf,
    },
    /// Bring the schema up to date, as every other command does by itself
    Migrate,
    /// Build the full-text index anew
    Reindex,
}

pub async fn run(open: &OpenArgs, command: DbCommand) -> anyhow::Result<Exit> {
    let now: Timestamp = SystemClock.now();
    match command {
        DbCommand::Check => {
            let store = open.store()?;
            let problems = store.check().await?;
            let mut out = std::io::stdout().lock();
            for problem in &problems {
                writeln!(out, "{}", printable(problem))?;
            }
            note(match problems.len() {
                0 => "clean".to_string(),
                1 => "1 problem".to_string(),
                many => format!("{many} problems"),
            });
            return Ok(if problems.is_empty() { Exit::Ok } else { Exit::Storage });
        }
        DbCommand::Backup { to } => {
            let made = open.store()?.backup(to, now).await?;
            std::io::stdout().write_all(json_line(&made)?.as_bytes())?;
        }
        DbCommand::Restore { from } => {
            if !from.is_dir() {
                return Err(
                    Usage(format!("{} is no directory that `dibao db backup` made", from.display())).into()
                );
            }
            let made = restore(from, open.data.clone()).await?;
            std::io::stdout().write_all(json_line(&made)?.as_bytes())?;
        }
        DbCommand::Migrate => {
            open.store()?;
            note("the schema is up to date");
        }
        DbCommand::Reindex => {
            open.store()?.reindex(|left| note(format_args!("{left} articles to go"))).await?;
        }
    }
    Ok(Exit::Ok)
}
