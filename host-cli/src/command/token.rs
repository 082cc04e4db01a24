//! `dibao token`: who may use the API, and for what.

use std::io::Write;
use std::time::Duration;

use clap::Subcommand;
use dibao::Desk;
use dibao::desk::Scope;

use crate::exit::Exit;
use crate::open::OpenArgs;
use crate::output::{is_for_people, json_line, minute, note, print_rows};

#[derive(Subcommand)]
pub enum TokenCommand {
    /// Make a token; it is shown this once
    Add {
        /// Its name
        name: String,
        /// What it may do: read, run (also start and stop work) or admin (everything)
        #[arg(long, default_value = "read")]
        scope: String,
        /// It ends after so many days [default: never]
        #[arg(long, value_name = "DAYS", value_parser = clap::value_parser!(u64).range(1..=36_500))]
        days: Option<u64>,
    },
    /// List tokens, those that were taken back too
    Ls,
    /// Take a token back
    Rm {
        /// Its name or number
        token: String,
    },
}

pub async fn run(open: &OpenArgs, command: TokenCommand) -> anyhow::Result<Exit> {
    let desk: Desk = open.desk().await?;
    match command {
        TokenCommand::Add { name, scope, days } => {
            let scope: Scope = scope.parse().map_err(dibao::Error::from)?;
            let lives = days.map(|days| Duration::from_secs(days * 86_400));
            let made = desk.create_token(&name, scope, lives).await?;
            let line = if is_for_people() { format!("{}\n", made.token) } else { json_line(&made)? };
            std::io::stdout().write_all(line.as_bytes())?;
            note("keep it now: it is not shown again");
        }
        TokenCommand::Ls => {
            let time = |at: Option<dibao::Timestamp>| at.map_or(String::new(), minute);
            let headings = ["id", "name", "scope", "made", "ends", "last used", "taken back"];
            print_rows(&desk.tokens().await?, &headings, |token| {
                vec![
                    token.id.to_string(),
                    token.name.clone(),
                    token.scope.as_str().to_owned(),
                    minute(token.created_at),
                    time(token.expires_at),
                    time(token.used_at),
                    time(token.revoked_at),
                ]
            })?;
        }
        TokenCommand::Rm { token } => {
            desk.revoke_token(&token).await?;
            note(format_args!("{token}: taken back"));
        }
    }
    Ok(Exit::Ok)
}
