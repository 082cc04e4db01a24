//! Brings an adapter file of your own: looks at what it is and wants, grants it the site's hosts, crawls with it.
//!
//! ```text
//! cargo run --example own_adapter -- my-adapter.wasm site.yaml my-data
//! ```
//! How to write one: `adapters/sdk`. Servers of your own: see `crawl_yaml.rs`.

use dibao::Engine;
use dibao::adapter::{AdapterHost, HostOptions};

#[tokio::main]
async fn main() -> Result<(), Box<dyn std::error::Error>> {
    let mut args = std::env::args().skip(1);
    let adapter_file = args.next().unwrap_or_else(|| "target/adapters/yaml-css.wasm".into());
    let site_file = args.next().unwrap_or_else(|| "sites/ndrc.yaml".into());
    let data_dir = args.next().unwrap_or_else(|| "dibao-data".into());

    // What a component is can be told before it runs: a refusal says why and what to do.
    let host = AdapterHost::new(HostOptions::default())?;
    let adapter = host.load(&std::fs::read(&adapter_file)?, &adapter_file)?;
    let about = adapter.about();
    println!("{} {} would like to reach {}", about.name, about.version, about.hosts.join(", "));

    // Naming the file is your word for its bytes; `site` grants the hosts that the site file names, no others.
    let mut builder = Engine::builder().data_dir(data_dir).adapter_file(&adapter_file, ["site"]);
    for rule in std::env::var("DIBAO_RESOLVE").unwrap_or_default().split(',').filter(|rule| !rule.is_empty())
    {
        builder = builder.resolve_rule(rule.parse()?).interval(Some(std::time::Duration::ZERO));
    }
    if let Ok(file) = std::env::var("DIBAO_CACERT") {
        builder = builder.root_certificate(std::fs::read_to_string(file)?);
    }
    let engine = builder.build().await?;

    // The site file says `adapter: NAME`; its settings are checked against the adapter's schema here.
    let site = dibao::config::load_site(&site_file)?;
    engine.import_site_config(&site).await?;
    for (_, target) in engine.store().targets(Some(&site.site_id)).await?.into_iter().take(1) {
        let report = engine.crawl(target.code).max_items(5).run().await?;
        println!("{}: {} new", report.target, report.items_new);
    }
    Ok(())
}
