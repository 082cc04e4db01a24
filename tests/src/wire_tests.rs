//! Every promise that needs a socket: TLS under real names, faults as a client meets them, the log.

use std::io::Read as _;
use std::sync::Arc;
use std::time::{Duration, Instant};

use anyhow::Context as _;
use flate2::read::GzDecoder;
use reqwest::{Client, Response};
use rustls::pki_types::CertificateDer;
use rustls::pki_types::pem::PemObject as _;

use crate::{Fault, FaultRule, NewPost, Replica, ReplicaOptions};

const HOST: &str = "www.ndrc.gov.cn";
const LIST: &str = "https://www.ndrc.gov.cn/xwdt/xwfb/index.html";

async fn start() -> anyhow::Result<(Replica, Client)> {
    let replica = Replica::start(ReplicaOptions { articles: 60, ..ReplicaOptions::default() }).await?;
    let client = client(&replica)?;
    Ok((replica, client))
}

/// Trusts the replica's CA only, follows nothing, decodes nothing.
fn client(replica: &Replica) -> anyhow::Result<Client> {
    client_with(replica, replica.ca_pem())
}

fn client_with(replica: &Replica, ca_pem: &str) -> anyhow::Result<Client> {
    let mut roots = rustls::RootCertStore::empty();
    roots.add(CertificateDer::from_pem_slice(ca_pem.as_bytes())?)?;
    let tls = rustls::ClientConfig::builder_with_provider(Arc::new(rustls::crypto::ring::default_provider()))
        .with_safe_default_protocol_versions()?
        .with_root_certificates(roots)
        .with_no_client_auth();
    let mut builder = Client::builder()
        .tls_backend_preconfigured(tls)
        .no_proxy()
        .redirect(reqwest::redirect::Policy::none());
    for host in replica.hosts() {
        builder = builder.resolve(&host, replica.addr());
    }
    Ok(builder.build()?)
}

async fn get(client: &Client, url: &str) -> reqwest::Result<Response> {
    client.get(url).send().await
}

#[tokio::test]
async fn every_host_answers_under_its_real_name_over_tls() -> anyhow::Result<()> {
    let (replica, client) = start().await?;
    for host in replica.hosts() {
        let agent = "Mozilla/5.0 (X11; Linux x86_64) AppleWebKit/537.36 (KHTML, like Gecko)";
        let robots =
            client.get(format!("https://{host}/robots.txt")).header("user-agent", agent).send().await?;
        assert_eq!(robots.status(), 200);
        assert!(robots.text().await?.contains(&host));
    }
    let (other, _) = start().await?;
    let stranger = client_with(&replica, other.ca_pem())?;
    assert!(get(&stranger, LIST).await.is_err(), "another replica's CA must not do");
    Ok(())
}

#[tokio::test]
async fn text_is_compressed_for_those_who_accept_it() -> anyhow::Result<()> {
    let (_replica, client) = start().await?;
    let plain = get(&client, LIST).await?.bytes().await?;
    let packed = client.get(LIST).header("accept-encoding", "gzip, br").send().await?;
    assert_eq!(packed.headers()["content-encoding"], "gzip");
    let mut unpacked = Vec::new();
    GzDecoder::new(packed.bytes().await?.as_ref()).read_to_end(&mut unpacked)?;
    assert_eq!(plain, unpacked);
    Ok(())
}

#[tokio::test]
async fn breaking_faults_break_the_transfer_and_the_next_one_is_whole() -> anyhow::Result<()> {
    let (replica, client) = start().await?;
    let whole = get(&client, LIST).await?.bytes().await?;
    for fault in [Fault::Reset, Fault::Truncate, Fault::WrongLength { delta: 1_000 }] {
        replica.fault(FaultRule::new(fault.clone()).host(HOST).times(1));
        let broken = match get(&client, LIST).await {
            Ok(response) => response.bytes().await.map(|_| ()),
            Err(error) => Err(error),
        };
        assert!(broken.is_err(), "{fault:?}");
        assert_eq!(get(&client, LIST).await?.bytes().await?, whole);
    }
    replica.fault(FaultRule::new(Fault::WrongLength { delta: -100 }).times(1));
    assert_eq!(get(&client, LIST).await?.bytes().await?.len(), whole.len() - 100);
    Ok(())
}

#[tokio::test]
async fn a_reset_is_a_reset_and_not_a_goodbye() -> anyhow::Result<()> {
    let (replica, _) = start().await?;
    replica.fault(FaultRule::new(Fault::Reset));
    let mut socket = tokio::net::TcpStream::connect(replica.http_addr()).await?;
    tokio::io::AsyncWriteExt::write_all(
        &mut socket,
        format!("GET / HTTP/1.1\r\nHost: {HOST}\r\n\r\n").as_bytes(),
    )
    .await?;
    let ended = tokio::io::AsyncReadExt::read(&mut socket, &mut [0; 16]).await;
    assert_eq!(ended.err().map(|error| error.kind()), Some(std::io::ErrorKind::ConnectionReset));
    Ok(())
}

#[tokio::test]
async fn statuses_and_redirects_are_those_of_the_rule() -> anyhow::Result<()> {
    let (replica, client) = start().await?;
    for code in [403, 404, 410, 503] {
        replica.fault(FaultRule::new(Fault::Status { code, retry_after: None, body: None }).times(1));
        assert_eq!(get(&client, LIST).await?.status(), code);
    }
    replica.fault(
        FaultRule::new(Fault::Status { code: 429, retry_after: Some("7".to_owned()), body: None }).times(1),
    );
    assert_eq!(get(&client, LIST).await?.headers()["retry-after"], "7");
    replica.fault(FaultRule::new(Fault::RedirectLoop).times(1));
    assert_eq!(get(&client, LIST).await?.headers()["location"], LIST);
    let location = "http://169.254.169.254/latest/".to_owned();
    replica.fault(FaultRule::new(Fault::RedirectTo { location: location.clone() }).times(1));
    assert_eq!(get(&client, LIST).await?.headers()["location"], location);
    assert_eq!(get(&client, LIST).await?.status(), 200);
    Ok(())
}

#[tokio::test]
async fn bodies_can_be_endless_explosive_or_slow() -> anyhow::Result<()> {
    let (replica, client) = start().await?;
    replica.fault(FaultRule::new(Fault::HugeBody { bytes: 100 << 20 }).times(1));
    let mut huge = get(&client, LIST).await?;
    let mut size = 0;
    while let Some(piece) = huge.chunk().await? {
        size += piece.len();
    }
    assert_eq!((huge.content_length(), size), (None, 100 << 20));

    replica.fault(FaultRule::new(Fault::GzipBomb { bytes: 101 << 20 }).times(1));
    let bomb = get(&client, LIST).await?.bytes().await?;
    assert!(bomb.len() < 1 << 20, "{}", bomb.len());
    let unpacked = std::io::copy(&mut GzDecoder::new(bomb.as_ref()), &mut std::io::sink())?;
    assert!(unpacked > 100 << 20);

    replica.fault(FaultRule::new(Fault::SlowDrip { interval_ms: 1 }).path("/robots.txt").times(1));
    let mut slow = get(&client, "https://www.ndrc.gov.cn/robots.txt").await?;
    let mut pieces = 0;
    while slow.chunk().await?.is_some() {
        pieces += 1;
    }
    assert!(pieces > 10, "{pieces}");

    replica.fault(FaultRule::new(Fault::Delay { ms: 30 }).times(1));
    let asked = Instant::now();
    assert_eq!(get(&client, LIST).await?.status(), 200);
    assert!(asked.elapsed() >= Duration::from_millis(30));
    Ok(())
}

#[tokio::test]
async fn files_can_turn_into_html_and_lists_into_nothing() -> anyhow::Result<()> {
    let (replica, client) = start().await?;
    let page =
        get(&client, "https://www.ndrc.gov.cn/xwdt/xwfb/202604/t20260410_1400001.html").await?.text().await?;
    let file =
        page.split("href=\"./").nth(1).and_then(|rest| rest.split('"').next()).context("no file")?.to_owned();
    let file = format!("https://www.ndrc.gov.cn/xwdt/xwfb/202604/{file}");
    assert!(get(&client, &file).await?.bytes().await?.starts_with(b"%PDF"));
    replica.fault(FaultRule::new(Fault::HtmlForFile).path("*.pdf"));
    let html = get(&client, &file).await?;
    assert_eq!(html.status(), 200);
    assert!(html.headers()["content-type"].to_str()?.starts_with("text/html"));
    replica.fault(FaultRule::new(Fault::EmptyList));
    let list = get(&client, LIST).await?;
    assert_eq!(list.status(), 200);
    let list = list.text().await?;
    assert!(list.contains("u-list") && !list.contains("<li><a"));
    Ok(())
}

#[tokio::test]
async fn a_chinese_file_name_comes_in_the_header_too() -> anyhow::Result<()> {
    let (replica, client) = start().await?;
    let new = NewPost { attachments: 1, ..NewPost::default() };
    let post = replica.publish("www.gdqy.gov.cn", "tzgg", new)?;
    let page = get(&client, &post.url).await?.text().await?;
    let link = page
        .split("nfw-cms-attachment")
        .nth(1)
        .and_then(|rest| rest.split("href=\"").nth(1)?.split('"').next());
    let file = get(&client, link.context("no file")?).await?;
    assert!(
        file.headers()["content-disposition"].to_str()?.starts_with("attachment; filename*=UTF-8''%E9%99%84")
    );
    Ok(())
}

#[tokio::test]
async fn a_held_request_is_seen_and_answered_when_let_go() -> anyhow::Result<()> {
    let (replica, client) = start().await?;
    let rule = replica.fault(FaultRule::new(Fault::Hold).host(HOST));
    let asking = tokio::spawn(async move { get(&client, LIST).await });
    let seen = replica.wait_for(1, |seen| seen.host == HOST && seen.path.ends_with("index.html")).await;
    assert_eq!((seen[0].scheme, seen[0].method.as_str()), ("https", "GET"));
    assert!(!asking.is_finished());
    assert!(replica.remove_fault(rule));
    assert_eq!(asking.await??.status(), 200);
    assert_eq!((replica.peak(HOST), replica.request_count()), (1, 1));
    Ok(())
}

#[tokio::test]
async fn the_admin_port_publishes_and_breaks() -> anyhow::Result<()> {
    let (replica, client) = start().await?;
    let replica = Arc::new(replica);
    let admin = format!("http://{}", replica.open_admin().await?);
    let post = r#"{"host":"www.ndrc.gov.cn","column":"xwfb","post":{"title":"新帖"}}"#;
    let published: serde_json::Value = serde_json::from_slice(
        &client.post(format!("{admin}/publish")).body(post).send().await?.bytes().await?,
    )?;
    assert_eq!(get(&client, published["url"].as_str().unwrap_or_default()).await?.status(), 200);
    let rule = r#"{"path":"index","kind":"status","code":503}"#;
    assert_eq!(client.post(format!("{admin}/faults")).body(rule).send().await?.status(), 200);
    assert_eq!(get(&client, LIST).await?.status(), 503);
    assert_eq!(client.delete(format!("{admin}/faults")).send().await?.status(), 200);
    assert!(get(&client, LIST).await?.text().await?.contains("新帖"));
    assert_eq!(client.post(format!("{admin}/faults")).body("{}").send().await?.status(), 400);
    let log = get(&client, &format!("{admin}/requests")).await?.text().await?;
    assert!(log.contains("/xwdt/xwfb/index.html"));
    Ok(())
}
