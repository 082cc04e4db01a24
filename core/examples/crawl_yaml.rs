//! Crawls every column of a site file and prints what came of it.
//!
//! ```text
//! cargo xtask adapters                       # once: builds the bundled adapters
//! cargo run --example crawl_yaml -- sites/ndrc.yaml my-data
//! ```
//! Servers of your own: `DIBAO_RESOLVE=host=127.0.0.1:8443,…` and `DIBAO_CACERT=ca.pem` lead there.

use dibao::Engine;

#[tokio::main]
async fn main() -> Result<(), Box<dyn std::error::Error>> {
    let mut args = std::env::args().skip(1);
    let site_file = args.next().unwrap_or_else(|| "sites/ndrc.yaml".into());
    let data_dir = args.next().unwrap_or_else(|| "dibao-data".into());
    let adapters = std::env::var("DIBAO_ADAPTERS").unwrap_or_else(|_| "target/adapters".into());

    // An engine is a data directory with everything that works on it. Nothing is fetched yet.
    let mut builder = Engine::builder().data_dir(data_dir).adapters(adapters);
    for rule in std::env::var("DIBAO_RESOLVE").unwrap_or_default().split(',').filter(|rule| !rule.is_empty())
    {
        // Your own server: no need to be slow with it.
        builder = builder.resolve_rule(rule.parse()?).interval(Some(std::time::Duration::ZERO));
    }
    if let Ok(file) = std::env::var("DIBAO_CACERT") {
        builder = builder.root_certificate(std::fs::read_to_string(file)?);
    }
    let engine = builder.build().await?;

    // A site is stored once; importing it again brings it up to date.
    let site = dibao::config::load_site(&site_file)?;
    engine.import_site_config(&site).await?;

    for (_, target) in engine.store().targets(Some(&site.site_id)).await? {
        // The newest ten rows of each list; what is known already is not fetched again.
        let report = engine.crawl(target.code).max_items(10).run().await?;
        println!("{}: {} new, {} known", report.target, report.items_new, report.items_duplicate);
        for failure in &report.failures {
            eprintln!("  {}: {}", failure.url, failure.message);
        }
    }
    Ok(())
}
