//! `dibao host`: what is known of hosts, what was done to them, and how to leave one alone or begin anew with it.
//!
//! The rows are in the store: a running crawl heeds a change within seconds.

use clap::Subcommand;
use dibao::config::suggestion;
use dibao::fetch::breaker::Why;
use dibao::fetch::hosts::HostRow;
use dibao::fetch::ledger::Ledger;
use dibao::store::Store;
use dibao::{Clock, Timestamp, clock::SystemClock};
use serde::Serialize;
use serde_json::json;

use crate::exit::{Exit, Usage};
use crate::open::{OpenArgs, audited};
use crate::output::{is_for_people, json_line, minute, note, print_rows};

#[derive(Subcommand)]
pub enum HostCommand {
    /// List hosts: whether they may be asked, and today's requests
    Ls {
        /// Only those that are left alone at the moment
        #[arg(long)]
        cooling: bool,
    },
    /// Show all that is known of a host, and its ledger day by day
    Show {
        /// Host name
        host: String,
        /// Days of the ledger
        #[arg(long, default_value_t = 14)]
        days: u32,
    },
    /// Leave a host alone for a while
    Cool {
        /// Host name
        host: String,
        /// For how long: seconds, or 90m, 12h, 3d
        #[arg(long = "for", default_value = "1h", value_name = "TIME", value_parser = span)]
        span: i64,
    },
    /// Hold nothing against hosts any more: cooldown, incident, learned pace, cookies
    Reset {
        /// Host names
        #[arg(required = true)]
        hosts: Vec<String>,
    },
}

/// A length of time in milliseconds.
fn span(text: &str) -> Result<i64, String> {
    let digits = text.trim_end_matches(|c: char| c.is_ascii_alphabetic());
    let unit = match &text[digits.len()..] {
        "" | "s" => 1,
        "m" => 60,
        "h" => 3600,
        "d" => 86_400,
        _ => return Err("write a number with s, m, h or d, for example 90m".into()),
    };
    let number: i64 = digits.parse().map_err(|_| "write a number, for example 90m".to_owned())?;
    let span = number.checked_mul(unit * 1000).filter(|span| (1..=366 * 86_400_000).contains(span));
    span.ok_or_else(|| "from a second to a year".to_owned())
}

/// A line of `host ls`.
#[derive(Serialize)]
struct Line {
    host: String,
    cooling_until: Option<Timestamp>,
    why: Option<&'static str>,
    last_seen: Timestamp,
    last_verdict: Option<String>,
    requests_today: u32,
    bytes_today: u64,
    interval_ms: Option<u64>,
}

pub async fn run(open: &OpenArgs, command: HostCommand) -> anyhow::Result<Exit> {
    let store = open.store()?;
    let now = SystemClock.now();
    match command {
        HostCommand::Ls { cooling } => list(&store, cooling, now).await?,
        HostCommand::Show { host, days } => show(&store, &host, days, now).await?,
        HostCommand::Cool { host, span } => {
            let host = name(&host)?;
            let mut row = store.host(&host).await?.unwrap_or_default();
            row.cool(Timestamp(now.0 + span), Why::Operator, now);
            let until = row.breaker.refusal(now).map_or(now, |(until, _)| until);
            let work = store.save_hosts(vec![(host.clone(), row)], now);
            audited(&store, "host.cool", &host, json!({ "seconds": span / 1_000 }), work).await?;
            note(format_args!(
                "{host} is left alone until {} (`dibao host reset {host}` ends it)",
                minute(until)
            ));
        }
        HostCommand::Reset { hosts } => {
            let mut rows = Vec::new();
            for host in hosts {
                let host = name(&host)?;
                let mut row = known(&store, &host).await?;
                row.reset(now);
                rows.push((host, row));
            }
            let names: Vec<String> = rows.iter().map(|(host, _)| host.clone()).collect();
            for row in rows {
                let host = row.0.clone();
                audited(&store, "host.reset", &host, json!(null), store.save_hosts(vec![row], now)).await?;
            }
            note(format_args!("nothing is held against {} any more", names.join(", ")));
        }
    }
    Ok(Exit::Ok)
}

async fn list(store: &impl Store, cooling: bool, now: Timestamp) -> anyhow::Result<()> {
    let today = dibao::fetch::ledger::Day::of(now);
    let days = store.host_days(None, 100_000).await?;
    let mut lines = Vec::new();
    for (host, row) in store.hosts().await? {
        let refusal = row.breaker.refusal(now);
        if cooling && refusal.is_none() {
            continue;
        }
        let day = days.iter().find(|(name, day)| *name == host && day.day == today).map(|(_, day)| day);
        lines.push(Line {
            cooling_until: refusal.map(|(until, _)| until),
            why: refusal.map(|(_, why)| why.as_str()),
            last_seen: row.seen_at,
            last_verdict: row.recent.last().map(|seen| seen.kind.to_string()),
            requests_today: day.map_or(0, |day| day.requests),
            bytes_today: day.map_or(0, |day| day.bytes),
            interval_ms: Some(row.limits.floor().as_millis() as u64).filter(|ms| *ms > 0),
            host,
        });
    }
    if lines.is_empty() {
        note(if cooling { "no host is left alone" } else { "no host was asked yet" });
    }
    let headings =
        ["host", "left alone until", "why", "last seen", "last verdict", "today", "MB", "learned pace"];
    print_rows(&lines, &headings, |line| {
        vec![
            line.host.clone(),
            line.cooling_until.map_or(String::new(), minute),
            line.why.unwrap_or_default().to_owned(),
            minute(line.last_seen),
            line.last_verdict.clone().unwrap_or_default(),
            line.requests_today.to_string(),
            format!("{:.1}", line.bytes_today as f64 / 1e6),
            line.interval_ms.map_or(String::new(), |ms| format!("{:.1} s", ms as f64 / 1000.0)),
        ]
    })
}

async fn show(store: &impl Store, host: &str, days: u32, now: Timestamp) -> anyhow::Result<()> {
    let host = name(host)?;
    let row = known(store, &host).await?;
    let days: Vec<Ledger> =
        store.host_days(Some(&host), days).await?.into_iter().map(|(_, day)| day).collect();
    // Values of cookies are credentials: their names are enough.
    let cookies: Vec<_> = row
        .cookies
        .iter()
        .map(|cookie| json!({ "name": cookie.name, "domain": cookie.domain, "expires": cookie.expires }))
        .collect();
    let refusal = row.breaker.refusal(now);
    if !is_for_people() {
        let mut value = serde_json::to_value(&row)?;
        value["host"] = json!(host);
        value["cookies"] = json!(cookies);
        value["cooling_until"] = json!(refusal.map(|(until, _)| until));
        value["why"] = json!(refusal.map(|(_, why)| why.as_str()));
        value["days"] = json!(days);
        print!("{}", json_line(&value)?);
        return Ok(());
    }
    let state = match refusal {
        Some((until, why)) => format!("left alone until {} ({})", minute(until), why.as_str()),
        None if row.breaker.open_until.is_some() => "one probe may go".to_owned(),
        None => "may be asked".to_owned(),
    };
    println!("{host}: {state}");
    let breaker = &row.breaker;
    println!(
        "  failures in a row: {} of the network, {} of any kind; {} openings since the last success",
        breaker.net_failures, breaker.any_failures, breaker.trips
    );
    if let Some(at) = row.incident.escalated_at {
        println!("  a browser was tried at {}", minute(at));
    }
    if row.limits.floor().as_millis() > 0 {
        println!("  learned pace: {:.1} s between requests at least", row.limits.floor().as_secs_f64());
    }
    if let Some(trouble) = &row.trouble {
        println!("  last trouble: {}", crate::output::printable(&trouble.to_string()));
    }
    for cookie in row.cookies.iter() {
        println!("  cookie: {}", crate::output::printable(&cookie.name));
    }
    let headings = ["day", "requests", "MB", "good", "verdicts", "robots denied", "not sent", "cooldowns"];
    print_rows(&days, &headings, |day| {
        let v = &day.verdicts;
        let named = [
            ("thin", v.thin),
            ("challenge", v.challenge),
            ("blocked", v.blocked),
            ("gone", v.gone),
            ("retry_after", v.retry_after),
            ("server_error", v.server_error),
            ("wrong_content", v.wrong_content),
            ("network_error", v.network_error),
        ];
        let named: Vec<String> =
            named.iter().filter(|(_, n)| *n > 0).map(|(name, n)| format!("{name} {n}")).collect();
        vec![
            day.day.to_string(),
            day.requests.to_string(),
            format!("{:.1}", day.bytes as f64 / 1e6),
            v.ok.to_string(),
            named.join(", "),
            day.robots_denied.to_string(),
            day.refused.to_string(),
            format!("{} ({} by Retry-After)", day.cooldowns, day.retry_after_honoured),
        ]
    })
}

/// A host as it is written in rows; an address is understood too.
fn name(text: &str) -> anyhow::Result<String> {
    let address = if text.contains("://") { text.to_owned() } else { format!("https://{text}/") };
    let url = url::Url::parse(&address).ok();
    let host = url.as_ref().and_then(url::Url::host_str).map(|host| host.trim_end_matches('.').to_owned());
    host.filter(|host| !host.is_empty()).ok_or_else(|| Usage(format!("{text:?} is no host name")).into())
}

async fn known(store: &impl Store, host: &str) -> anyhow::Result<HostRow> {
    if let Some(row) = store.host(host).await? {
        return Ok(row);
    }
    let hosts = store.hosts().await?;
    let near = suggestion(host, hosts.iter().map(|(name, _)| name.as_str()));
    Err(Usage(format!("nothing is known of the host `{host}`; {near}")).into())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn spans_and_names_are_read_or_explained() {
        for (text, ms) in [("90", 90_000), ("90m", 5_400_000), ("12h", 43_200_000), ("3d", 259_200_000)] {
            assert_eq!(span(text), Ok(ms));
        }
        for wrong in ["", "h", "1w", "-5m", "0", "99999999d", "9223372036854775807d"] {
            assert!(span(wrong).is_err(), "{wrong}");
        }
        assert_eq!(name("https://WWW.gov.cn./a").unwrap(), "www.gov.cn");
        assert_eq!(name("www.gov.cn").unwrap(), "www.gov.cn");
        assert!(name("a b").is_err());
    }
}
