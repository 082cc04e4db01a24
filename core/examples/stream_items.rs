//! Shows articles as they arrive, and stops after a few of them.
//!
//! ```text
//! cargo run --example stream_items -- sites/ndrc.yaml ndrc__xwfb my-data
//! ```
//! Servers of your own: see `crawl_yaml.rs`.

use dibao::{CrawlEvent, Engine, Streamed};
use futures::StreamExt;
use tokio_util::sync::CancellationToken;

#[tokio::main]
async fn main() -> Result<(), Box<dyn std::error::Error>> {
    let mut args = std::env::args().skip(1);
    let site_file = args.next().unwrap_or_else(|| "sites/ndrc.yaml".into());
    let target = args.next().unwrap_or_else(|| "ndrc__xwfb".into());
    let data_dir = args.next().unwrap_or_else(|| "dibao-data".into());
    let adapters = std::env::var("DIBAO_ADAPTERS").unwrap_or_else(|_| "target/adapters".into());
    let mut builder = Engine::builder().data_dir(data_dir).adapters(adapters);
    for rule in std::env::var("DIBAO_RESOLVE").unwrap_or_default().split(',').filter(|rule| !rule.is_empty())
    {
        builder = builder.resolve_rule(rule.parse()?).interval(Some(std::time::Duration::ZERO));
    }
    if let Ok(file) = std::env::var("DIBAO_CACERT") {
        builder = builder.root_certificate(std::fs::read_to_string(file)?);
    }
    let engine = builder.build().await?;
    engine.import_site(&site_file).await?;

    // The crawl goes on only while the stream is polled: a slow reader slows it down, nothing is lost.
    let enough = CancellationToken::new();
    let mut events = std::pin::pin!(engine.crawl(target).cancel_with(enough.clone()).stream());
    let mut seen = 0;
    while let Some(event) = events.next().await {
        match event? {
            Streamed::Event(CrawlEvent::Stored(article)) => {
                seen += 1;
                println!("{seen}. {} ({} files)", article.title, article.attachments.len());
                if seen == 3 {
                    // What is under way is finished; the next crawl goes on from here.
                    enough.cancel();
                }
            }
            Streamed::Event(_) => {}
            Streamed::Report(report) => println!("ended: {}", report.stop.as_str()),
        }
    }
    Ok(())
}
