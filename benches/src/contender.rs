//! dibao at the same job, through its public interface and with its defaults.

use std::path::Path;
use std::time::Duration;

use anyhow::Result;
use dibao::Engine;
use dibao::config::parse_site;
use dibao::store::Durability;

use crate::world::World;

/// Requests under way to one host. With ten hosts the engine's own limit of 16 in all is what binds.
const PER_HOST: u32 = 2;

/// The site file of a benchmark host.
pub fn site_file(host: &str) -> String {
    let id = host.split('.').next().unwrap_or(host);
    format!(
        r#"
site_id: {id}
site_name: 基准测试网
base_url: https://{host}/
concurrency: {PER_HOST}
columns:
  - column_id: tz
    list_url: https://{host}/xxgk/tz/index.html
    list_selector:
      row: ul.u-list li:not(.empty)
      href: a::attr(href)
      title: a::attr(title)
      date: span::text
    pagination: {{ type: path_pattern, pattern: "index_{{page}}.html", start: 1, max_pages: 500 }}
    detail:
      title: h2.article_title::text
      publish_time: meta[name=PubDate]::attr(content)
      source: .laiyuantext span::text
      content: .article_con .TRS_Editor
"#
    )
}

/// Opens a data directory.
async fn open(world: &World, data: &Path, adapters: &Path, durability: Durability) -> Result<Engine> {
    let mut builder = Engine::builder()
        .data_dir(data)
        .adapters(adapters)
        .root_certificate(&world.ca_pem)
        .interval(Some(Duration::ZERO))
        .durability(durability);
    for host in &world.hosts {
        builder = builder.resolve(host, world.addr);
    }
    Ok(builder.build().await?)
}

/// What is done once before the first crawl: the sites are imported, for which the adapter is compiled.
pub async fn import(world: &World, data: &Path, adapters: &Path, durability: Durability) -> Result<()> {
    let engine = open(world, data, adapters, durability).await?;
    for host in &world.hosts {
        engine.import_site_config(&parse_site(&site_file(host), host)?).await?;
    }
    Ok(())
}

/// Crawls all imported sites at once; the number of articles stored.
pub async fn crawl(world: &World, data: &Path, adapters: &Path, durability: Durability) -> Result<u64> {
    let engine = open(world, data, adapters, durability).await?;
    let targets = engine.store().targets(None).await?;
    let crawls: Vec<_> =
        targets.into_iter().map(|(_, target)| tokio::spawn(engine.crawl(target.code).run())).collect();
    let mut stored = 0;
    for crawl in crawls {
        let report = crawl.await??;
        anyhow::ensure!(report.items_failed == 0, "articles failed: {report:?}");
        stored += u64::from(report.items_new);
    }
    Ok(stored)
}
