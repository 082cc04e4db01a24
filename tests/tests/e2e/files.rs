//! Attachments: whole, named as the site names them, and stored once per content.

use std::collections::BTreeMap;
use std::os::unix::fs::MetadataExt as _;

use dibao::model::DownloadStatus;
use dibao_replica::{Fault, FaultRule, NewPost};

use crate::bed::{Bed, NDRC, articles, crawl, site};
use crate::snapshot::sha256;

const XWFB: &str = "ndrc__xwfb";

#[tokio::test(flavor = "multi_thread")]
async fn every_file_is_the_bytes_that_the_site_sent() {
    let bed = Bed::new(80).await;
    let engine = bed.engine_with("data", &site("ndrc")).await;
    crawl(&engine, XWFB).await;
    let web = reqwest_of(&bed);
    let files: Vec<_> =
        articles(&engine, XWFB).await.into_iter().flat_map(|article| article.attachments).collect();
    assert!(files.len() >= 10);
    for file in &files {
        assert_eq!(file.status, DownloadStatus::Done, "{:?}", file.error);
        let path = file.file_path.as_ref().unwrap();
        let stored = std::fs::read(bed.data("data").join(path)).unwrap();
        let sent = web.get(&file.url).send().await.unwrap().bytes().await.unwrap();
        assert_eq!(stored, sent, "{path}");
        assert_eq!(file.sha256.as_deref(), Some(sha256(&stored).as_str()));
        assert_eq!(file.size_bytes, Some(stored.len() as u64));
        assert!(file.filename.contains("附件"), "{}", file.filename);
        let mime = match file.filename.rsplit_once('.').unwrap().1 {
            "pdf" => "application/pdf",
            "docx" => "application/vnd.openxmlformats-officedocument.wordprocessingml.document",
            other => panic!("{other}"),
        };
        assert_eq!(file.mime.as_deref(), Some(mime));
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn equal_bytes_under_two_addresses_are_one_file_on_disk() {
    let bed = Bed::new(80).await;
    let engine = bed.engine_with("data", &site("ndrc")).await;
    crawl(&engine, XWFB).await;
    let data = bed.data("data");
    let mut inodes: BTreeMap<String, Vec<(String, u64)>> = BTreeMap::new();
    for file in articles(&engine, XWFB).await.into_iter().flat_map(|article| article.attachments) {
        let inode = std::fs::metadata(data.join(file.file_path.unwrap())).unwrap().ino();
        inodes.entry(file.sha256.unwrap()).or_default().push((file.url, inode));
    }
    let shared: Vec<_> = inodes.values().filter(|files| files.len() > 1).collect();
    assert!(!shared.is_empty(), "the replica hangs one form on many posts");
    for files in shared {
        assert!(files.iter().all(|(_, inode)| *inode == files[0].1), "{files:?}");
        assert_ne!(files[0].0, files[1].0, "under addresses of their own");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn the_files_of_an_article_come_two_at_a_time() {
    let bed = Bed::new(20).await;
    let engine = bed.engine_with("data", &site("ndrc")).await;
    bed.replica.publish(NDRC, "xwfb", NewPost { attachments: 4, ..NewPost::default() }).unwrap();
    let hold = bed.replica.fault(FaultRule::new(Fault::Hold).path("/P0"));
    let run = tokio::spawn(engine.crawl(XWFB).max_items(1).run());
    // Two have arrived and none was answered: that is two at once.
    bed.replica.wait_for(2, |seen| seen.path.contains("/P0")).await;
    bed.replica.remove_fault(hold);
    let report = run.await.unwrap().unwrap();
    assert_eq!(report.attachments, 4);
    assert!(bed.replica.peak(NDRC) <= 2);
}

/// A plain client that reaches the replica.
fn reqwest_of(bed: &Bed) -> reqwest::Client {
    // Whoever comes first installs it; the provider is the same.
    let _ = rustls::crypto::ring::default_provider().install_default();
    let root = reqwest::Certificate::from_pem(bed.replica.ca_pem().as_bytes()).unwrap();
    let mut client = reqwest::Client::builder().tls_certs_only([root]);
    for host in bed.replica.hosts() {
        client = client.resolve(&host, bed.replica.addr());
    }
    client.build().unwrap()
}
