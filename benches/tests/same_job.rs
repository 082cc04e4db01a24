//! The comparison is only worth something while both sides do the same job.

use std::collections::BTreeMap;
use std::path::Path;

use anyhow::{Context as _, Result};
use dibao::store::Durability;
use dibao_benches::world::World;
use dibao_benches::{bare, contender};
use dibao_replica::{Replica, ReplicaOptions};

/// Title, source and the files of each article by its address.
type Stored = BTreeMap<String, (String, String, Vec<u8>, bool)>;

fn stored(dir: &Path, database: &str, sql: &str) -> Result<Stored> {
    let db = rusqlite::Connection::open(dir.join(database))?;
    let mut query = db.prepare(sql)?;
    let rows = query.query_map([], |row| {
        let texts: [String; 5] = [row.get(0)?, row.get(1)?, row.get(2)?, row.get(3)?, row.get(4)?];
        Ok(texts)
    })?;
    let mut all = Stored::new();
    for row in rows {
        let [url, title, source, raw, text] = row?;
        let page = std::fs::read(dir.join(raw))?;
        let has_text = !std::fs::read_to_string(dir.join(text))?.is_empty();
        all.insert(url, (title, source, page, has_text));
    }
    Ok(all)
}

#[tokio::test(flavor = "multi_thread")]
async fn dibao_and_the_yardstick_store_the_same_articles() -> Result<()> {
    let hosts: Vec<String> = (0..2).map(|number| format!("bench{number}.gov.cn")).collect();
    let options = ReplicaOptions {
        articles: 30,
        bench_hosts: 2,
        only_hosts: hosts.clone(),
        gzip: false,
        ..ReplicaOptions::default()
    };
    let replica = Replica::start(options).await?;
    let world = World { addr: replica.addr(), ca_pem: replica.ca_pem().to_owned(), hosts };
    let adapters =
        std::env::var_os("DIBAO_ADAPTERS").context("DIBAO_ADAPTERS is set by .cargo/config.toml")?;
    let (one, two) = (tempfile::tempdir()?, tempfile::tempdir()?);

    assert_eq!(bare::crawl(&world, one.path(), false).await?, 60);
    let adapters = Path::new(&adapters);
    contender::import(&world, two.path(), adapters, Durability::Process)
        .await
        .context("are the adapters built? `cargo xtask adapters`")?;
    assert_eq!(contender::crawl(&world, two.path(), adapters, Durability::Process).await?, 60);

    let bare = stored(one.path(), "bare.db", "SELECT url, title, source, raw_path, text_path FROM article")?;
    let dibao = stored(
        two.path(),
        "dibao.db",
        "SELECT url, title, source_raw, raw_html_path, text_path FROM article",
    )?;
    assert_eq!(bare.len(), 60);
    assert!(bare.values().all(|(title, _, _, has_text)| !title.is_empty() && *has_text));
    assert!(bare == dibao, "addresses, titles, sources and pages are the same");
    Ok(())
}
