//! The `dibao` command. It only parses arguments and prints; everything else is the library's.

mod command;
mod exit;
mod open;
mod output;
mod progress;
mod signals;

use clap::{Parser, Subcommand};

use crate::exit::Exit;

const EXAMPLES: &str = "Examples:
  dibao crawl site.yaml --column zxbd --max-items 20 -o out.jsonl
  dibao site import sites/*.yaml && dibao crawl --all
  dibao show 42 · dibao export --format csv --bom -o articles.csv
  dibao fetch https://www.gov.cn/ --explain · dibao host ls · dibao robots check https://www.gov.cn/a
  dibao adapter check my-adapter.wasm";

/// Watches official web sites and keeps what they publish.
///
/// Results go to standard output (a table on a terminal, JSON lines when piped), progress and logs
/// to standard error. The first Ctrl-C lets what is under way finish, the second one stops at once;
/// after both the next run goes on where this one stopped.
#[derive(Parser)]
#[command(name = "dibao", version, max_term_width = 110)]
#[command(after_help = EXAMPLES, after_long_help = format!("{EXAMPLES}\n\n{}", exit::HELP))]
struct Cli {
    #[command(flatten)]
    open: open::OpenArgs,
    #[command(flatten)]
    logging: output::LogArgs,
    #[command(subcommand)]
    command: Command,
}

#[derive(Subcommand)]
enum Command {
    /// Crawl a site file, or stored targets
    Crawl(command::crawl::CrawlArgs),
    /// Sites: import, list, export, and the schema of their files
    #[command(subcommand)]
    Site(command::site::SiteCommand),
    /// Targets: list, switch on and off
    #[command(subcommand)]
    Target(command::target::TargetCommand),
    /// Show one article by id, address or hash
    Show(command::show::ShowArgs),
    /// Write stored articles as JSON lines or CSV
    Export(command::export::ExportArgs),
    /// Adapters: list, check, pin
    #[command(subcommand)]
    Adapter(command::adapter::AdapterCommand),
    /// The database: check that rows and files are whole
    #[command(subcommand)]
    Db(command::db::DbCommand),
    /// Fetch one address through the gate; --explain tells each of its decisions
    Fetch(command::fetch::FetchArgs),
    /// Hosts: what is known of them, what was done to them, leave alone, reset
    #[command(subcommand)]
    Host(command::host::HostCommand),
    /// robots.txt: may an address be fetched, and which rule says so
    #[command(subcommand)]
    Robots(command::robots::RobotsCommand),
}

#[tokio::main]
async fn main() -> std::process::ExitCode {
    // Usage errors exit with 2 by clap itself, as everywhere.
    let cli = Cli::parse();
    output::start_logging(&cli.logging);
    let opened = &cli.open;
    let result = match cli.command {
        Command::Crawl(args) => command::crawl::run(opened, &cli.logging, args).await,
        Command::Site(command) => command::site::run(opened, command).await,
        Command::Target(command) => command::target::run(opened, command).await,
        Command::Show(args) => command::show::run(opened, args).await,
        Command::Export(args) => command::export::run(opened, args).await,
        Command::Adapter(command) => command::adapter::run(opened, command).await,
        Command::Db(command) => command::db::run(opened, command).await,
        Command::Fetch(args) => command::fetch::run(opened, args).await,
        Command::Host(command) => command::host::run(opened, command).await,
        Command::Robots(command) => command::robots::run(opened, command).await,
    };
    let exit = result.unwrap_or_else(|error| {
        if exit::is_broken_pipe(&error) {
            return Exit::Ok;
        }
        output::complain(exit::words(&error));
        Exit::of(&error)
    });
    exit.into()
}
