//! A way of your own to fetch pages, beside dibao's HTTP and its browser: here a second HTTP client, say for hosts that refuse
//! the first one. A rendering service or a proxy service is the same trait.
//!
//! ```text
//! cargo run --example own_backend -- https://www.ndrc.gov.cn/xwdt/xwfb/index.html my-data
//! SECOND_CLIENT=off cargo run --example own_backend -- https://www.ndrc.gov.cn/xwdt/xwfb/index.html my-data
//! ```
//! Servers of your own: see `crawl_yaml.rs`.

use dibao::Engine;
use dibao::fetch::escalate::Strategy;
use dibao::fetch::{BackendOrder, BackendPage, FetchBackend, FetchErrorKind, Unavailable};
use futures::future::BoxFuture;

struct SecondClient;

impl FetchBackend for SecondClient {
    fn name(&self) -> &'static str {
        "second-client"
    }

    fn available(&self) -> BoxFuture<'_, Result<(), Unavailable>> {
        let off = std::env::var("SECOND_CLIENT").is_ok_and(|value| value == "off");
        let answer = match off {
            true => Err(Unavailable("the second client is switched off by SECOND_CLIENT=off".into())),
            false => Ok(()),
        };
        Box::pin(std::future::ready(answer))
    }

    fn fetch<'a>(&'a self, order: BackendOrder<'a>) -> BoxFuture<'a, Result<BackendPage, FetchErrorKind>> {
        Box::pin(async move {
            let failed = |error: reqwest::Error| FetchErrorKind::Backend(error.to_string());
            let mut url = order.url.clone();
            for requests in 1..=5 {
                // Wherever the page leads: the gate's checks first, and only the addresses it gives.
                order.screen.check(&url, true)?;
                let host = url.host_str().unwrap_or_default().to_owned();
                let addresses =
                    order.screen.resolve(&host, url.port_or_known_default().unwrap_or(443)).await?;
                let mut client = reqwest::Client::builder()
                    .no_proxy()
                    .redirect(reqwest::redirect::Policy::none())
                    .timeout(order.timeout)
                    .resolve_to_addrs(&host, &addresses);
                for root in order.screen.extra_roots() {
                    client =
                        client.add_root_certificate(reqwest::Certificate::from_der(&root).map_err(failed)?);
                }
                let mut request = client.build().map_err(failed)?.get(url.clone());
                for (name, value) in order.headers {
                    request = request.header(name, value);
                }
                let mut answer = request.send().await.map_err(failed)?;
                let status = answer.status();
                let headers: Vec<(String, String)> = answer
                    .headers()
                    .iter()
                    .filter_map(|(name, value)| Some((name.to_string(), value.to_str().ok()?.to_owned())))
                    .collect();
                let location = headers.iter().find(|(name, _)| name == "location");
                if let Some((_, to)) = location.filter(|_| status.is_redirection()) {
                    url = url.join(to).map_err(|error| FetchErrorKind::BadRedirect(error.to_string()))?;
                    continue;
                }
                let mut body = Vec::new();
                while let Some(piece) = answer.chunk().await.map_err(failed)? {
                    body.extend_from_slice(&piece);
                    if body.len() as u64 > order.body_cap {
                        return Err(FetchErrorKind::TooLarge { limit: order.body_cap });
                    }
                }
                let bytes = body.len() as u64;
                return Ok(BackendPage {
                    status: status.as_u16(),
                    url,
                    headers,
                    body: body.into(),
                    cookies: Vec::new(),
                    requests,
                    bytes,
                });
            }
            Err(FetchErrorKind::TooManyRedirects(5))
        })
    }
}

#[tokio::main]
async fn main() -> Result<(), Box<dyn std::error::Error>> {
    // reqwest is built without a provider of cryptography here; with its default features this is not needed.
    let _ = rustls::crypto::ring::default_provider().install_default();
    let mut args = std::env::args().skip(1);
    let url = args.next().unwrap_or_else(|| "https://www.ndrc.gov.cn/xwdt/xwfb/index.html".into());
    let data_dir = args.next().unwrap_or_else(|| "dibao-data".into());
    let mut builder = Engine::builder().data_dir(data_dir).backend(SecondClient);
    for rule in std::env::var("DIBAO_RESOLVE").unwrap_or_default().split(',').filter(|rule| !rule.is_empty())
    {
        builder = builder.resolve_rule(rule.parse()?).interval(Some(std::time::Duration::ZERO));
    }
    if let Ok(file) = std::env::var("DIBAO_CACERT") {
        builder = builder.root_certificate(std::fs::read_to_string(file)?);
    }
    let engine = builder.build().await?;

    // With `browser` a backend is asked at once; with `auto`, the default of sites, where plain HTTP is turned away.
    for strategy in [Strategy::Browser, Strategy::Auto] {
        match engine.look_up(url.parse()?, Some(strategy)).await?.result {
            Ok(page) => println!("{strategy:?}: {} by {}", page.status, page.tier),
            Err(error) => println!("{strategy:?}: {error}"),
        }
    }
    Ok(())
}
