//! Hosts that do not answer, or answer wrongly: which it was, by words and exit code, and nothing lost.

use dibao_replica::{Fault, FaultRule};

use crate::stage::{Stage, finish};

const LINE: &str = "crawl ndrc__xwfb --force --max-items 8";

#[tokio::test(flavor = "multi_thread")]
async fn a_host_that_cannot_be_reached_is_a_network_error() {
    let stage = Stage::with_five().await;
    // A port that was free a moment ago: nobody listens there.
    let free = std::net::TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap();
    let mut command = stage.bare(LINE);
    command.args(["--interval", "0", "--resolve", &format!("www.ndrc.gov.cn={free}")]);
    let run = finish(command).await.exits(4).says(&["www.ndrc.gov.cn", "cannot connect"]);
    assert_eq!(run.stderr.matches("cannot connect").count(), 1, "said once: {}", run.stderr);
    let report = run.row();
    assert_eq!((&report["target"], &report["exit_code"]), (&"ndrc__xwfb".into(), &4.into()));
    stage.replica.fault(FaultRule::new(Fault::Reset).path("index.html"));
    stage.dibao(LINE).await.exits(4).says(&["www.ndrc.gov.cn"]);
    stage.intact().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn an_unknown_certificate_authority_is_a_tls_error() {
    let stage = Stage::with_five().await;
    let mut command = stage.bare(LINE);
    command.args(["--interval", "0", "--resolve", &format!("www.ndrc.gov.cn={}", stage.replica.addr())]);
    finish(command).await.exits(5).says(&["www.ndrc.gov.cn", "TLS", "root"]);
    stage.write("empty.pem", "");
    stage.dibao(&format!("{LINE} --cacert empty.pem")).await.exits(2).says(&["certificate"]);
    stage.dibao(&format!("{LINE} --cacert nowhere.pem")).await.exits(3).says(&["nowhere.pem"]);
    stage.intact().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_list_that_is_no_list_is_the_sites_fault_and_kept_as_evidence() {
    let stage = Stage::with_five().await;
    let status = |code| Fault::Status { code, retry_after: None, body: None };
    for (fault, words) in [
        (Fault::EmptyList, "not shaped as expected"),
        (Fault::HtmlForFile, "not shaped as expected"),
        (status(404), "404"),
        (status(403), "403"),
        (status(503), "503"),
        (Fault::RedirectLoop, "circle"),
        (Fault::HugeBody { bytes: 20 << 20 }, "larger than the limit"),
        (Fault::GzipBomb { bytes: 64 << 20 }, "larger than the limit"),
    ] {
        let name = format!("{fault:?}");
        stage.replica.fault(FaultRule::new(fault).path("/xwfb/index.html"));
        let run = stage.dibao(LINE).await;
        assert_eq!(run.code, 8, "{name}: {}", run.stderr);
        run.exits(8).says(&["ndrc", words]);
        stage.replica.clear_faults();
    }
    let evidence = stage.path("data/evidence/ndrc/ndrc__xwfb");
    assert_eq!(std::fs::read_dir(evidence).expect("the page is kept").count(), 1);
    stage.intact().await;
    // When the site is well again, so is the crawl.
    assert_eq!(stage.dibao(LINE).await.exits(0).row()["items_new"], 3);
}

#[tokio::test(flavor = "multi_thread")]
async fn articles_that_fail_make_a_partial_result_unless_told_otherwise() {
    let stage = Stage::new().await;
    stage.dibao("site import ndrc.yaml").await.exits(0);
    let gone = Fault::Status { code: 404, retry_after: None, body: None };
    stage.replica.fault(FaultRule::new(gone).path("*/t2026*").skip(1).times(2));
    let run = stage.dibao("crawl ndrc__xwfb --max-items 8").await.exits(9);
    let report = run.row();
    assert_eq!((&report["items_new"], &report["items_failed"]), (&6.into(), &2.into()), "{report}");
    assert_eq!(report["failures"].as_array().map(Vec::len), Some(2));
    assert_eq!(run.stderr.matches("www.ndrc.gov.cn/xwdt").count(), 2, "each is named once: {}", run.stderr);
    for (when, code) in [("never", 0), ("partial:50", 0), ("partial:20", 9), ("no-items", 9)] {
        let gone = Fault::Status { code: 410, retry_after: None, body: None };
        stage.replica.clear_faults();
        stage.replica.fault(FaultRule::new(gone).path("*/t2026*").times(2));
        let data = when.replace(':', "-");
        let line = format!("crawl ndrc.yaml --column xwfb --max-items 8 --data {data} --fail-on {when}");
        stage.dibao(&line).await.exits(code);
    }
    stage.replica.clear_faults();
    stage.dibao("crawl ndrc__xwfb --max-items 1 --fail-on no-items").await.exits(10);
}
