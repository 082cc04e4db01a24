//! What `dibao crawl` is asked for: site files, stored sites, stored targets.
//!
//! Files and the columns named with them are checked before anything is opened, so that a mistake in one leaves
//! everything as it was.

use std::collections::{BTreeMap, HashSet};
use std::path::Path;

use dibao::Engine;
use dibao::config::{ConfigError, SiteConfig, load_site, suggestion};
use dibao::model::{Site, Target};
use url::Url;

use crate::exit::Usage;
use crate::open::actor;

/// One argument, read.
pub enum Given {
    File(Box<SiteConfig>),
    Name(String),
}

/// Reads the files among the arguments.
pub fn read(what: &[String], columns: &[String]) -> anyhow::Result<Vec<Given>> {
    let mut given = Vec::new();
    for what in what {
        if !is_file(what) {
            given.push(Given::Name(what.clone()));
            continue;
        }
        let site = load_site(what)?;
        for column in columns {
            site.column_target(column)?;
        }
        given.push(Given::File(Box::new(site)));
    }
    Ok(given)
}

fn is_file(what: &str) -> bool {
    what.ends_with(".yaml") || what.ends_with(".yml") || Path::new(what).is_file()
}

/// Stores what the files say and names the targets that are meant, each with its site.
pub async fn store(
    engine: &Engine,
    given: &[Given],
    columns: &[String],
) -> anyhow::Result<Vec<(Site, Target)>> {
    let mut found = Vec::new();
    for given in given {
        match given {
            Given::Name(name) => found.extend(stored(engine, name, columns).await?),
            Given::File(config) => {
                engine.desk(actor()).import_site(config).await?;
                for column in columns {
                    // Also columns that only `default_column` describes.
                    engine.store().put_target(&config.site_id, config.column_target(column)?).await?;
                }
                found.extend(stored(engine, &config.site_id, columns).await?);
            }
        }
    }
    Ok(once(found))
}

/// The same without storing anything: rows of files as they would be stored.
pub async fn preview(
    engine: &Engine,
    given: &[Given],
    columns: &[String],
) -> anyhow::Result<Vec<(Site, Target)>> {
    let mut found = Vec::new();
    for given in given {
        match given {
            Given::Name(name) => found.extend(stored(engine, name, columns).await?),
            Given::File(config) => {
                let (site, mut targets) = config.into_rows()?;
                if columns.is_empty() {
                    targets.retain(|target| target.enabled);
                } else {
                    let named: Result<_, ConfigError> =
                        columns.iter().map(|column| config.column_target(column)).collect();
                    targets = named?;
                }
                for mut target in targets {
                    let mut site = site.clone();
                    // By the numbers of the stored ones it can be told what is known.
                    if let Some((known_site, known)) = engine.store().target(&target.code).await? {
                        site.id = known_site.id;
                        target.id = known.id;
                        target.site_id = known.site_id;
                    }
                    found.push((site, target));
                }
            }
        }
    }
    Ok(once(found))
}

/// Every stored target that is switched on.
pub async fn all(engine: &Engine) -> anyhow::Result<Vec<(Site, Target)>> {
    let mut found = engine.store().targets(None).await?;
    found.retain(|(site, target)| site.enabled && target.enabled);
    Ok(found)
}

/// A stored target by its code, or those of a stored site: the named columns, else what is switched on.
async fn stored(engine: &Engine, name: &str, columns: &[String]) -> anyhow::Result<Vec<(Site, Target)>> {
    if let Some(target) = engine.store().target(name).await? {
        if columns.is_empty() {
            return Ok(vec![target]);
        }
        let message = format!("`{name}` names its column already; leave --column out, or name the site");
        return Err(Usage(message).into());
    }
    if engine.store().site(name).await?.is_none() {
        let known = engine.store().targets(None).await?;
        let names = known.iter().flat_map(|(site, target)| [site.code.as_str(), target.code.as_str()]);
        let near = suggestion(name, names);
        let message = format!("`{name}` is neither a file, nor a stored site, nor a stored target; {near}");
        return Err(Usage(message).into());
    }
    let mut targets = engine.store().targets(Some(name)).await?;
    if columns.is_empty() {
        targets.retain(|(_, target)| target.enabled);
        return Ok(targets);
    }
    let mut found = Vec::new();
    for column in columns {
        let code = format!("{name}__{column}");
        let Some(target) = targets.iter().find(|(_, target)| target.code == code) else {
            let prefix = format!("{name}__");
            let ids = targets.iter().filter_map(|(_, target)| target.code.strip_prefix(&prefix));
            let near = suggestion(column, ids);
            return Err(Usage(format!("site `{name}` has no column `{column}`; {near}")).into());
        };
        found.push(target.clone());
    }
    Ok(found)
}

fn once(mut found: Vec<(Site, Target)>) -> Vec<(Site, Target)> {
    let mut seen = HashSet::new();
    found.retain(|(_, target)| seen.insert(target.code.clone()));
    found
}

/// S2-46: targets of one host one after the other, hosts beside each other.
pub fn by_host(targets: &[(Site, Target)]) -> BTreeMap<String, Vec<String>> {
    let mut lanes: BTreeMap<String, Vec<String>> = BTreeMap::new();
    for (site, target) in targets {
        let host = Url::parse(&site.base_url).ok().and_then(|url| url.host_str().map(str::to_lowercase));
        lanes.entry(host.unwrap_or_else(|| site.code.clone())).or_default().push(target.code.clone());
    }
    lanes
}
