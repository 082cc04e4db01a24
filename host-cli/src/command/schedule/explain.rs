//! `dibao schedule explain`.

use std::io::{self, Write};

use clap::{Args, ValueEnum};
use dibao::schedule::cron::Lang;

use crate::exit::Exit;
use crate::open::OpenArgs;
use crate::output::{is_for_people, json_line, printable};

#[derive(Args)]
pub struct ExplainArgs {
    /// Name of a schedule, or code of a target
    name: String,
    /// The language of the words
    #[arg(long, value_enum, default_value_t = Words::En)]
    lang: Words,
}

#[derive(Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum Words {
    Zh,
    En,
}

pub async fn run(open: &OpenArgs, args: ExplainArgs) -> anyhow::Result<Exit> {
    let engine = super::engine(open).await?;
    let lang = match args.lang {
        Words::Zh => Lang::Zh,
        Words::En => Lang::En,
    };
    let told = engine.explain(&args.name, lang).await?;
    let mut out = io::stdout().lock();
    if !is_for_people() {
        out.write_all(json_line(&told)?.as_bytes())?;
        return Ok(Exit::Ok);
    }
    for line in &told.text {
        writeln!(out, "{}", printable(line))?;
    }
    if !told.decisions.is_empty() {
        writeln!(out, "{}", if lang == Lang::Zh { "最近的决定：" } else { "Last decisions:" })?;
    }
    for decision in &told.decisions {
        writeln!(out, "  {}", printable(&decision.words))?;
    }
    Ok(Exit::Ok)
}
