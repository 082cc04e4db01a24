//! The `dibao` command. It only parses arguments and prints; everything else is the library's.

mod browser;
mod command;
mod config;
mod exit;
mod fields;
mod lines;
mod open;
mod output;
mod progress;
mod signals;
mod work;

use std::path::PathBuf;

use clap::parser::ValueSource;
use clap::{CommandFactory, FromArgMatches, Parser, Subcommand};

use crate::config::Layers;
use crate::exit::Exit;

const EXAMPLES: &str = "Examples:
  dibao crawl site.yaml --column zxbd --max-items 20 -o out.jsonl
  dibao site import sites/*.yaml && dibao crawl --all
  dibao discover https://www.zhaoqing.gov.cn/zqhjj -o zqhjj.yaml && dibao crawl zqhjj.yaml
  dibao show 42 · dibao export --format csv --bom -o articles.csv
  dibao fetch https://www.gov.cn/ --explain · dibao host ls · dibao robots check https://www.gov.cn/a
  dibao parse page.html --explain · dibao extract --jsonl < pages.jsonl
  dibao adapter new city-news --lang python · dibao adapter check my-adapter.wasm";

/// Watches official web sites and keeps what they publish.
///
/// Results go to standard output (a table on a terminal, JSON lines when piped), progress and logs
/// to standard error. The first Ctrl-C lets what is under way finish, the second one stops at once;
/// after both the next run goes on where this one stopped.
#[derive(Parser)]
#[command(name = "dibao", version, max_term_width = 110)]
#[command(after_help = EXAMPLES, after_long_help = format!("{EXAMPLES}\n\n{}", exit::HELP))]
struct Cli {
    /// Settings for options that are not given [default: dibao.toml in the current directory, if there is one]
    #[arg(long, global = true, env = "DIBAO_CONFIG", value_name = "FILE")]
    #[allow(dead_code, reason = "read before the parser is complete")]
    config: Option<PathBuf>,
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
    /// Fire what comes due and work on it, until Ctrl-C
    Run(command::run::RunArgs),
    /// Everything in one process: timer, workers, REST API and admin page, until Ctrl-C
    Serve(command::serve::ServeArgs),
    /// The queue: list, show, call off, try again, examine
    #[command(subcommand)]
    Queue(command::queue::QueueCommand),
    /// Channels that are told of new articles and of failures: list, test
    #[command(subcommand)]
    Deliver(command::deliver::DeliverCommand),
    /// Sites: import, list, export, and the schema of their files
    #[command(subcommand)]
    Site(command::site::SiteCommand),
    /// Feeds as OPML, the list that feed readers exchange: import, export
    #[command(subcommand)]
    Opml(command::opml::OpmlCommand),
    /// Targets: list, show what holds for them, set their pace, switch on and off
    #[command(subcommand)]
    Target(command::target::TargetCommand),
    /// Departments, to which targets and their articles belong: list, add, set, remove
    #[command(subcommand)]
    Org(command::org::OrgCommand),
    /// Cron expressions: when they are due next, what they say, what is wrong with them
    #[command(subcommand)]
    Cron(command::cron::CronCommand),
    /// Show one article by id, address or hash
    Show(command::show::ShowArgs),
    /// Write stored articles as JSON lines or CSV
    Export(command::export::ExportArgs),
    /// Adapters: list, check, pin; for authors: new, build, test, run, record
    #[command(subcommand)]
    Adapter(command::adapter::AdapterCommand),
    /// Search stored articles: words in title and body, under filters
    Search(command::search::SearchArgs),
    /// Tokens for the API: add, list, take back
    #[command(subcommand)]
    Token(command::token::TokenCommand),
    /// The database: check, back up, restore, bring up to date, index anew
    #[command(subcommand)]
    Db(command::db::DbCommand),
    /// List the columns of a site and write a site file of them
    Discover(command::discover::DiscoverArgs),
    /// Fetch one address through the gate; --explain tells each of its decisions
    Fetch(command::fetch::FetchArgs),
    /// Read a page (address, file or `-`): title, date, source, body, files; --explain tells where each came from
    Parse(command::parse::ParseArgs),
    /// Read many pages: JSON lines in, JSON lines out
    Extract(command::extract::ExtractArgs),
    /// Hosts: what is known of them, what was done to them, leave alone, reset
    #[command(subcommand)]
    Host(command::host::HostCommand),
    /// robots.txt: may an address be fetched, and which rule says so
    #[command(subcommand)]
    Robots(command::robots::RobotsCommand),
    /// Settings: what holds and who said so, and a file to begin with
    #[command(subcommand)]
    Config(command::config::ConfigCommand),
    /// Schedules: what comes due and why; make, change, pause, run; replay policies
    #[command(subcommand)]
    Schedule(command::schedule::ScheduleCommand),
}

#[tokio::main]
async fn main() -> std::process::ExitCode {
    // Usage errors exit with 2 by clap itself, as everywhere.
    let args: Vec<_> = std::env::args_os().collect();
    let plain = Cli::command();
    let layers = match Layers::read(&plain, &args) {
        Ok(layers) => layers,
        Err(error) => {
            // Help is given whatever stands in a file.
            if let Err(help) = plain.try_get_matches_from(&args)
                && !help.use_stderr()
            {
                help.exit();
            }
            output::complain(error);
            return Exit::Usage.into();
        }
    };
    let matches = layers.onto(plain.clone()).get_matches_from(&args);
    let mut cli = Cli::from_arg_matches(&matches).unwrap_or_else(|error| error.exit());
    cli.open.data_is_named = layers.said.iter().any(|layer| layer.setting.option == "data")
        || matches.value_source("data").is_some_and(|source| source != ValueSource::DefaultValue);
    output::start_logging(&cli.logging);
    let opened = &cli.open;
    let result = match cli.command {
        Command::Crawl(args) => command::crawl::run(opened, &cli.logging, args).await,
        Command::Run(args) => command::run::run(opened, args).await,
        Command::Serve(args) => command::serve::run(opened, args).await,
        Command::Queue(command) => command::queue::run(opened, command).await,
        Command::Deliver(command) => command::deliver::run(opened, command).await,
        Command::Site(command) => command::site::run(opened, command).await,
        Command::Opml(command) => command::opml::run(opened, command).await,
        Command::Target(command) => command::target::run(opened, command).await,
        Command::Org(command) => command::org::run(opened, command).await,
        Command::Config(command) => command::config::run(&plain, &matches, &layers, command),
        Command::Cron(command) => command::cron::run(command),
        Command::Show(args) => command::show::run(opened, args).await,
        Command::Export(args) => command::export::run(opened, args).await,
        Command::Adapter(command) => command::adapter::run(opened, command).await,
        Command::Search(args) => command::search::run(opened, args).await,
        Command::Token(command) => command::token::run(opened, command).await,
        Command::Db(command) => command::db::run(opened, command).await,
        Command::Discover(args) => command::discover::run(opened, args).await,
        Command::Fetch(args) => command::fetch::run(opened, args).await,
        Command::Parse(args) => command::parse::run(opened, args).await,
        Command::Extract(args) => command::extract::run(opened, args).await,
        Command::Host(command) => command::host::run(opened, command).await,
        Command::Robots(command) => command::robots::run(opened, command).await,
        Command::Schedule(command) => command::schedule::run(opened, command).await,
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
