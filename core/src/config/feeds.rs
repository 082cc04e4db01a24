//! Feeds as sites: one site per host, one column per feed. Hosts are what politeness and grants are about, so feeds of one
//! host share its pace. Decides names and where a feed goes; folders of a list become category and subcategory.

use std::collections::{BTreeMap, HashMap, HashSet};

use sha2::{Digest, Sha256};
use url::Url;

use super::error::ConfigError;
use super::export::export_site;
use super::model::{Column, SiteConfig};
use super::opml::OpmlFeed;
use super::parse::parse_site;
use crate::model::{FEEDS, Site, Target};

/// The setting that keeps the page a feed is of.
const HOME: &str = "html_url";
/// Longest part of a name that is taken from an address; a suffix follows where two are alike.
const LONGEST_STEM: usize = 48;

/// What a list of feeds comes to.
#[derive(Clone, Debug, Default)]
pub struct FeedImport {
    /// Sites to store: new ones, and known ones with further columns.
    pub sites: Vec<SiteConfig>,
    /// The code of each feed's target, and whether it was known before.
    pub targets: Vec<(OpmlFeed, String, bool)>,
}

/// Puts feeds into sites; `known` is what is stored. A feed that is stored already stays as it is, wherever it is.
pub fn sites_of_feeds(feeds: &[OpmlFeed], known: &[(Site, Target)]) -> Result<FeedImport, ConfigError> {
    let mut import = FeedImport::default();
    let mut by_host: BTreeMap<String, Vec<&OpmlFeed>> = BTreeMap::new();
    let stored_feeds: HashMap<Url, &Target> = known
        .iter()
        .filter(|(site, _)| site.adapter == FEEDS)
        .filter_map(|(_, target)| Some((Url::parse(&target.entry_url).ok()?, target)))
        .collect();
    for feed in feeds {
        match stored_feeds.get(&feed.feed_url) {
            Some(target) => import.targets.push((feed.clone(), target.code.clone(), true)),
            None => by_host.entry(authority(&feed.feed_url)).or_default().push(feed),
        }
    }
    let mut taken: HashSet<String> = known.iter().map(|(site, _)| site.code.clone()).collect();
    for (host, feeds) in by_host {
        let stored = known.iter().find(|(site, _)| {
            site.adapter == FEEDS && Url::parse(&site.base_url).is_ok_and(|base| authority(&base) == host)
        });
        let mut config = match stored {
            Some((site, _)) => {
                let of_site = known.iter().filter(|(other, _)| other.id == site.id);
                let targets: Vec<Target> = of_site.map(|(_, target)| target.clone()).collect();
                parse_site(&export_site(site, &targets), &site.code)?
            }
            None => new_site(&host, feeds[0], &mut taken)?,
        };
        for feed in feeds {
            let id = column_id(&config, &feed.feed_url);
            import.targets.push((feed.clone(), format!("{}__{id}", config.site_id), false));
            let page_host = feed.html_url.as_ref().and_then(Url::host_str);
            if let Some(page_host) = page_host
                && Some(page_host) != feed.feed_url.host_str()
                && !config.hosts.iter().any(|known| known == page_host)
            {
                // Entries lie where the site is, which need not be where its feed is.
                config.hosts.push(page_host.to_owned());
            }
            config.columns.push(column(id, feed));
        }
        super::check::site(&config)?;
        import.sites.push(config);
    }
    Ok(import)
}

/// Stored feeds as a list again.
pub fn feeds_of_targets(known: &[(Site, Target)]) -> Vec<OpmlFeed> {
    let feed = |(site, target): &(Site, Target)| {
        let folders = target.content_category.iter().cloned();
        let more = target.content_subcategory.iter().flat_map(|path| path.split('/').map(str::to_owned));
        Some(OpmlFeed {
            title: target.name.clone(),
            feed_url: Url::parse(&target.entry_url).ok()?,
            html_url: home(target).or_else(|| Url::parse(&site.base_url).ok()),
            folders: folders.chain(more).filter(|folder| !folder.trim().is_empty()).collect(),
        })
    };
    known.iter().filter(|(site, _)| site.adapter == FEEDS).filter_map(feed).collect()
}

/// The page that a feed is of, as its list said.
fn home(target: &Target) -> Option<Url> {
    Url::parse(target.config.get(HOME)?.as_str()?).ok()
}

fn column(id: String, feed: &OpmlFeed) -> Column {
    let mut folders = feed.folders.iter().cloned();
    Column {
        column_id: id,
        name: Some(feed.title.clone()),
        category: folders.next(),
        subcategory: Some(folders.collect::<Vec<_>>().join("/")).filter(|path| !path.is_empty()),
        list_url: Some(feed.feed_url.to_string()),
        params: feed.html_url.iter().map(|url| (HOME.to_owned(), url.as_str().into())).collect(),
        enabled: true,
        ..Column::default()
    }
}

fn new_site(host: &str, feed: &OpmlFeed, taken: &mut HashSet<String>) -> Result<SiteConfig, ConfigError> {
    let stem = slug(host.strip_prefix("www.").unwrap_or(host));
    let mut id = stem.clone();
    let mut number = 1;
    while !taken.insert(id.clone()) {
        // The host has a site that is read otherwise.
        id = if number == 1 { format!("{stem}_rss") } else { format!("{stem}_rss{number}") };
        number += 1;
    }
    let base = format!("{}://{host}", feed.feed_url.scheme());
    // Names and addresses are plain here: JSON is YAML, and quotes what needs it.
    let json = serde_json::json!({"site_id": id, "site_name": host, "base_url": base, "adapter": FEEDS});
    parse_site(&json.to_string(), host)
}

/// `people-cn/rss/politics.xml` is `politics`; where that is taken, a piece of the address's hash follows.
fn column_id(site: &SiteConfig, url: &Url) -> String {
    let segments = url.path().split('/').filter(|part| !part.is_empty());
    let dull = ["rss", "feed", "atom", "index", "xml", "feeds", "json"];
    let named = segments
        .map(|part| slug(part.split('.').next().unwrap_or(part)))
        .rfind(|part| !part.is_empty() && !dull.contains(&part.as_str()));
    let stem = named.unwrap_or_else(|| "feed".to_owned());
    if site.column(&stem).is_none() && url.query().is_none() {
        return stem;
    }
    let digest = Sha256::digest(url.as_str().as_bytes());
    let hash: String = digest.iter().take(4).map(|byte| format!("{byte:02x}")).collect();
    format!("{stem}-{hash}")
}

fn authority(url: &Url) -> String {
    let host = url.host_str().unwrap_or_default();
    url.port().map_or_else(|| host.to_owned(), |port| format!("{host}:{port}"))
}

/// Lower case letters and digits, everything else one `_`.
fn slug(text: &str) -> String {
    let mut out = String::new();
    for c in text.to_ascii_lowercase().chars() {
        if c.is_ascii_alphanumeric() {
            out.push(c);
        } else if !out.is_empty() && !out.ends_with('_') {
            out.push('_');
        }
    }
    out.truncate(LONGEST_STEM);
    let out = out.trim_end_matches('_');
    if out.is_empty() { String::new() } else { out.to_owned() }
}
