//! dibao at the same job, through its public interface and with its defaults.

use std::path::Path;
use std::time::Duration;

use anyhow::{Context as _, Result};
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

/// Crawls all hosts at once into an empty data directory; the number of articles stored.
pub async fn crawl(world: &World, data: &Path, adapters: &Path, durability: Durability) -> Result<u64> {
    let mut builder = Engine::builder()
        .data_dir(data)
        .adapters(adapters)
        .root_certificate(&world.ca_pem)
        .interval(Some(Duration::ZERO))
        .durability(durability);
    for host in &world.hosts {
        builder = builder.resolve(host, world.addr);
    }
    let engine = builder.build().await?;
    let mut crawls = Vec::new();
    for host in &world.hosts {
        let site = parse_site(&site_file(host), host)?;
        let change = engine.import_site_config(&site).await?;
        let target = change.added.into_iter().next().context("a target")?;
        crawls.push(tokio::spawn(engine.crawl(target).run()));
    }
    let mut stored = 0;
    for crawl in crawls {
        let report = crawl.await??;
        anyhow::ensure!(report.items_failed == 0, "articles failed: {report:?}");
        stored += u64::from(report.items_new);
    }
    Ok(stored)
}
