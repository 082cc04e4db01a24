//! `dibao db`: whether rows and files are whole.

use clap::Subcommand;
use dibao::store::Store;

use crate::exit::Exit;
use crate::open::OpenArgs;

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
            for problem in &problems {
                println!("{problem}");
            }
            eprintln!("{}", if problems.is_empty() { "clean" } else { "not clean" });
            Ok(if problems.is_empty() { Exit::Ok } else { Exit::Storage })
        }
    }
}
