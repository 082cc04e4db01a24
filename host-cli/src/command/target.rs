//! `dibao target`: ls, show, set, toggle.

use std::io::{self, Write};

use clap::Subcommand;
use dibao::config::suggestion;
use dibao::model::{Site, Target};
use dibao::store::Store;
use serde_json::{Value, json};

use crate::exit::{Exit, Usage};
use crate::open::{OpenArgs, audited};
use crate::output::{is_for_people, json_line, minute, note, print_rows};

#[derive(Subcommand)]
pub enum TargetCommand {
    /// List targets
    Ls {
        /// Only of this site
        site: Option<String>,
    },
    /// Show what holds for a target, and who said so
    Show {
        /// Code, `<site>__<column>`
        target: String,
    },
    /// Set how hard a target's host is asked; later imports leave it alone
    ///
    /// Keys as in site files: profile, interval_sec, interval_jitter_sec, concurrency, rps, burst, throttle_by,
    /// attachment_interval_cap_sec. Nothing after the `=` takes a setting back.
    Set {
        /// Code, `<site>__<column>`
        target: String,
        /// What to set, such as interval_sec=10
        #[arg(required = true, value_name = "KEY=VALUE")]
        settings: Vec<String>,
    },
    /// Switch targets on or off; later imports leave the switch alone
    Toggle {
        /// Codes, `<site>__<column>`
        #[arg(required = true)]
        targets: Vec<String>,
        /// Switch on, whatever it was
        #[arg(long, conflicts_with = "off")]
        on: bool,
        /// Switch off, whatever it was
        #[arg(long)]
        off: bool,
    },
}

pub async fn run(open: &OpenArgs, command: TargetCommand) -> anyhow::Result<Exit> {
    if let TargetCommand::Show { target } = &command {
        return show(open, target).await;
    }
    let store = open.store()?;
    match command {
        TargetCommand::Ls { site } => {
            if let Some(code) = &site {
                known_site(&store, code).await?;
            }
            let rows = store.targets(site.as_deref()).await?;
            if rows.is_empty() {
                note("no target is stored; `dibao site import FILE` stores those of a site file");
            }
            let targets: Vec<_> = rows.into_iter().map(|(_, target)| target).collect();
            let headings = ["target", "name", "list", "on", "last crawled", "newest article"];
            print_rows(&targets, &headings, |target| {
                let time = |at: Option<dibao::Timestamp>| at.map_or(String::new(), minute);
                vec![
                    target.code.clone(),
                    target.name.clone(),
                    target.entry_url.clone(),
                    if target.enabled { "yes" } else { "no" }.to_string(),
                    time(target.last_crawled_at),
                    time(target.last_article_time),
                ]
            })?;
        }
        TargetCommand::Show { .. } => {}
        TargetCommand::Set { target: code, settings } => {
            let work = async {
                let target = known_target(&store, &code).await?;
                let pace = target.pace.set(settings.iter().map(String::as_str))?;
                anyhow::Ok(store.set_target_pace(&code, pace).await?)
            };
            audited(&store, "target.update", &code, json!({ "settings": settings }), work).await?;
            note(format_args!("{code}: set; `dibao target show {code}` shows what holds"));
        }
        TargetCommand::Toggle { targets, on, off } => {
            let mut switches = Vec::new();
            for code in targets {
                let target = known_target(&store, &code).await?;
                switches.push((code, on || (!off && !target.enabled)));
            }
            for (code, state) in switches {
                let work = store.set_target_enabled(&code, state);
                audited(&store, "target.toggle", &code, json!({ "on": state }), work).await?;
                note(format_args!("{code}: {}", if state { "on" } else { "off" }));
            }
        }
    }
    Ok(Exit::Ok)
}

/// What holds for a target: the adapter is asked too, so this opens everything.
async fn show(open: &OpenArgs, code: &str) -> anyhow::Result<Exit> {
    open.must_exist()?;
    known_target(&open.store()?, code).await?;
    let settings = open.engine().await?.target_settings(code).await?;
    if !is_for_people() {
        io::stdout().write_all(json_line(&settings)?.as_bytes())?;
        return Ok(Exit::Ok);
    }
    // One row per setting, from the same words that programs get.
    let Value::Object(fields) = serde_json::to_value(&settings)? else { return Ok(Exit::Ok) };
    let rows: Vec<_> = fields.iter().flat_map(|(name, value)| rows(name, value)).collect();
    print_rows(&rows, &["setting", "value", "from"], |row| row.to_vec())?;
    Ok(Exit::Ok)
}

/// A setting with its origin, a plain value, or what is known of a robots.txt.
fn rows(name: &str, value: &Value) -> Vec<[String; 3]> {
    let text = |value: &Value| match value {
        Value::Null => "none".to_owned(),
        Value::String(text) => text.clone(),
        other => other.to_string(),
    };
    match (value.get("value"), value.get("origin")) {
        (Some(value), Some(origin)) => vec![[name.to_owned(), text(value), text(origin)]],
        (None, Some(origin)) => {
            let part = |key: &str| text(value.get(key).unwrap_or(&Value::Null));
            vec![[
                "robots crawl-delay".to_owned(),
                part("crawl_delay_sec"),
                format!("{}/robots.txt", text(origin)),
            ]]
        }
        _ => vec![[name.to_owned(), text(value), String::new()]],
    }
}

/// The stored site of this code, or an error with the nearest one.
pub async fn known_site(store: &impl Store, code: &str) -> anyhow::Result<Site> {
    if let Some(site) = store.site(code).await? {
        return Ok(site);
    }
    let known = store.sites().await?;
    let near = suggestion(code, known.iter().map(|site| site.code.as_str()));
    Err(Usage(format!("site `{code}` is not stored; {near}")).into())
}

/// The stored target of this code, or an error with the nearest one.
pub async fn known_target(store: &impl Store, code: &str) -> anyhow::Result<Target> {
    if let Some((_, target)) = store.target(code).await? {
        return Ok(target);
    }
    let known = store.targets(None).await?;
    let near = suggestion(code, known.iter().map(|(_, target)| target.code.as_str()));
    Err(Usage(format!("target `{code}` is not stored; {near}")).into())
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn a_row_says_what_holds_and_who_said_so() {
        for (value, row) in [
            (json!({"value": 5.0, "origin": "site"}), ["x", "5.0", "site"]),
            (json!({"value": null, "origin": "default"}), ["x", "none", "default"]),
            (json!(true), ["x", "true", ""]),
            (
                json!({"origin": "https://a.cn", "fetched_at": "…", "crawl_delay_sec": 10.0}),
                ["robots crawl-delay", "10.0", "https://a.cn/robots.txt"],
            ),
        ] {
            assert_eq!(rows("x", &value), [row.map(str::to_owned)]);
        }
    }
}
