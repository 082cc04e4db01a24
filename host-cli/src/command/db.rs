//! `dibao db`: whether rows and files are whole.

use std::io::Write;

use clap::Subcommand;
use dibao::store::Store;

use crate::exit::Exit;
use crate::open::OpenArgs;
use crate::output::{note, printable};

#[derive(Subcommand)]
pub enum DbCommand {
    /// Check the database and that every file it names is there
    Check,
}

pub async fn run(open: &OpenArgs, command: DbCommand) -> anyhow::Result<Exit> {
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
            Ok(if problems.is_empty() { Exit::Ok } else { Exit::Storage })
        }
    }
}
