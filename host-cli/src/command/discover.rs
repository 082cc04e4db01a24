//! `dibao discover`: which columns a site has, and a site file of them.

use std::io::Write;

use anyhow::Context;
use clap::Args;
use dibao::config::{export_site, parse_site};
use dibao::{ErrorClass, SurveyOptions};
use url::Url;

use crate::exit::{Exit, Usage};
use crate::open::OpenArgs;
use crate::output::{complain, note, open_output, print_rows};

#[derive(Args)]
pub struct DiscoverArgs {
    /// Any address of the site: its root, a department, the catalogue itself
    url: String,

    /// The adapter that knows the site's platform; `yaml-css`: look at the pages at once. Without it the platform is tried first, then
    /// the pages
    #[arg(long, value_name = "NAME")]
    adapter: Option<String>,

    /// Pages of the site that are looked at, at most, where no adapter knows it
    #[arg(long, value_name = "N", default_value_t = SurveyOptions::default().pages)]
    pages: u32,

    /// Steps from that address, at most
    #[arg(long, value_name = "N", default_value_t = SurveyOptions::default().depth)]
    depth: u32,

    /// Write a site file of the columns that list documents, ready for `dibao crawl` (`-` = standard output)
    #[arg(long, short = 'o', value_name = "FILE")]
    output: Option<String>,
}

pub async fn run(open: &OpenArgs, args: DiscoverArgs) -> anyhow::Result<Exit> {
    let url = Url::parse(&args.url)
        .ok()
        .filter(|url| matches!(url.scheme(), "http" | "https") && url.has_host())
        .ok_or_else(|| Usage(format!("{:?} is no web address; write https://…", args.url)))?;
    let (_scratch, engine) = open.engine_to_ask().await?;
    let options = SurveyOptions { pages: args.pages, depth: args.depth, within: None };
    let found = match engine.find_columns(args.adapter.as_deref(), &url, options).await {
        // The adapter says what it looked for and where; there is no list to speak of.
        Err(dibao::Error::List { class, message, .. }) => {
            complain(format_args!("{url}: {message}"));
            return Ok(Exit::of_class(class));
        }
        found => found?,
    };
    if args.output.as_deref() != Some("-") {
        print_rows(&found.columns, &["column", "name", "documents", "", "path"], |column| {
            let kind = match (&column.jump_url, column.is_list) {
                (Some(url), _) => format!("→ {url}"),
                (None, true) => "list".to_owned(),
                (None, false) => "group".to_owned(),
            };
            let count = column.post_count.map_or(String::new(), |count| count.to_string());
            vec![column.id.clone(), column.name.clone(), count, kind, column.path.clone()]
        })?;
    }
    if let Some(walked) = found.walked {
        let left = match walked.left {
            0 => String::new(),
            left => format!("; {left} addresses were left: --pages and --depth go further"),
        };
        note(format_args!(
            "{url}: looked at {} pages, {} more could not be read, found {} lists{left}",
            walked.pages,
            walked.failed,
            found.columns.len()
        ));
    }
    if found.site.columns.is_empty() {
        complain(format_args!("{url}: no list of documents was found; begin at a page that leads to one"));
        return Ok(Exit::of_class(ErrorClass::Shape));
    }
    let Some(output) = args.output else { return Ok(Exit::Ok) };
    let (site, targets) = found.site.into_rows()?;
    let text = export_site(&site, &targets);
    // What a page says of itself gets into the file: it must read as the file it is meant to be.
    parse_site(&text, &output)?;
    open_output(&output)?.write_all(text.as_bytes()).with_context(|| output.clone())?;
    let off = targets.iter().filter(|target| !target.enabled).count();
    let without =
        if off > 0 { format!(", {off} of them without documents and switched off") } else { String::new() };
    note(format_args!("{output}: {} columns{without}; next: dibao crawl {output}", targets.len()));
    Ok(Exit::Ok)
}
