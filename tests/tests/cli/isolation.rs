//! No adapter, however hostile, harms another crawl or reaches where it was not let.

use std::time::Duration;

use dibao::{Engine, ErrorClass};
use dibao_replica::{Fault, FaultRule};

use crate::guest::{Guest, guest, one_row, requests};
use crate::plain::Plain;
use crate::stage::{Stage, adapters};

/// A site that is read by the adapter `hostile`.
const SITE: &str = "\
site_id: bad
site_name: 敌意
base_url: https://www.ndrc.gov.cn
adapter: hostile
columns:
  - {column_id: list, list_url: 'https://www.ndrc.gov.cn/'}
";

async fn engine(stage: &Stage, data: &str, hostile: &Guest) -> Engine {
    let file = stage.write(&format!("{data}.wasm"), hostile.build());
    let mut builder = Engine::builder()
        .data_dir(stage.path(data))
        .adapters(adapters())
        .adapter_file(file, ["site"])
        .root_certificate(stage.replica.ca_pem())
        .interval(Some(Duration::ZERO));
    for host in stage.replica.hosts() {
        builder = builder.resolve(host, stage.replica.addr());
    }
    let engine = builder.build().await.unwrap();
    stage.write("bad.yaml", SITE);
    for site in ["ndrc.yaml", "gdqy.yaml", "bad.yaml"] {
        engine.import_site(stage.path(site)).await.unwrap();
    }
    engine
}

#[tokio::test(flavor = "multi_thread")]
async fn a_hostile_adapter_ends_with_an_adapter_error_while_its_neighbours_crawl_on() {
    let bytes = |text: &str| format!(r#"(data (i32.const 20000) "{text}")"#);
    let bomb =
        "(loop $l (if (i32.eq (memory.grow (i32.const 64)) (i32.const -1)) (then unreachable)) (br $l))";
    let table = [
        ("loop", guest("(loop $l (br $l))")),
        ("bomb", guest(bomb)),
        ("trap", guest("unreachable")),
        ("nul", Guest { fields: bytes(r"t1.htmla\00b"), ..guest(one_row((20000, 7), (20007, 3))) }),
        (
            "title",
            Guest {
                fields: bytes("t1.html"),
                memory: "200",
                ..guest(one_row((20000, 7), (65536, 10 << 20)))
            },
        ),
        ("links", Guest { fields: bytes("http://[x]"), ..guest(one_row((20000, 10), (20000, 4))) }),
        ("file", requests(&[("a", "file:///etc/passwd")])),
        ("circles", Guest { hosts: vec!["site"], ..requests(&[("a", "/robots.txt")]) }),
    ];
    let stage = Stage::new().await;
    for (name, hostile) in table {
        let engine = engine(&stage, name, &hostile).await;
        let good = |target: &str| engine.crawl(target).max_items(4).run();
        // Several hostile crawls at once would hold every thread, if one could.
        let (first, second, bad) = futures::future::join3(
            good("ndrc__xwfb"),
            good("gdqy__zlxx"),
            futures::future::join_all((0..3).map(|_| engine.crawl("bad__list").run())),
        )
        .await;
        assert_eq!((first.unwrap().items_new, second.unwrap().items_new), (4, 4), "{name}");
        let classes: Vec<ErrorClass> = bad.into_iter().map(|bad| bad.unwrap_err().class()).collect();
        // Rows that all lead nowhere are an answer of the wrong shape; everything else is the adapter's own fault.
        let wanted = if name == "links" { ErrorClass::Shape } else { ErrorClass::Adapter };
        // Only one at a time runs; the others may find it busy.
        assert!(classes.contains(&wanted), "{name}: {classes:?}");
        assert!(classes.iter().all(|c| *c == wanted || *c == ErrorClass::Busy), "{name}: {classes:?}");
        // One of the four is in the other column too.
        assert_eq!(good("ndrc__tz").await.unwrap().items_new, 3, "{name}: the engine goes on");
        assert_eq!(engine.store().check().await.unwrap(), Vec::<String>::new(), "{name}");
    }
    assert!(stage.asked().iter().all(|url| !url.contains("passwd")));
}

/// Pins the guest with a grant, crawls with it, and says what the command said.
async fn crawl(stage: &Stage, hostile: Guest, grant: &str, code: i32) -> String {
    stage.write("hostile.wasm", hostile.build());
    stage.write("bad.yaml", SITE);
    let _ = std::fs::remove_dir_all(stage.path("own"));
    stage.dibao(&format!("adapter pin hostile.wasm --adapters own --grant {grant}")).await.exits(0);
    stage.replica.forget_requests();
    stage.dibao("crawl bad.yaml --adapters own").await.exits(code).stderr
}

fn asking(url: &str) -> Guest {
    Guest { hosts: vec!["*"], ..requests(&[("a", url)]) }
}

#[tokio::test(flavor = "multi_thread")]
async fn outside_its_grant_an_adapter_reaches_nobody_and_the_denial_names_the_line_to_add() {
    let stage = Stage::new().await;
    let granted = "https://www.ndrc.gov.cn";
    for (url, line) in [
        ("https://www.gdqy.gov.cn/x", r#"hosts = ["https://www.ndrc.gov.cn", "https://www.gdqy.gov.cn"]"#),
        ("http://www.ndrc.gov.cn/x", r#"hosts = ["https://www.ndrc.gov.cn", "http://www.ndrc.gov.cn"]"#),
        ("//www.gov.cn/x", r#"hosts = ["https://www.ndrc.gov.cn", "https://www.gov.cn"]"#),
    ] {
        let words = crawl(&stage, asking(url), granted, 8).await;
        assert!(words.contains(line) && words.contains("[adapters.hostile] in adapters.lock"), "{words}");
        assert_eq!(stage.asked(), Vec::<String>::new(), "{url}");
        // The line does what it says.
        let lock = stage.read("own/adapters.lock");
        let old = lock.lines().find(|line| line.starts_with("hosts")).unwrap();
        stage.write("own/adapters.lock", lock.replace(old, line));
        stage.dibao("crawl bad.yaml --adapters own").await;
        assert!(!stage.asked().is_empty(), "{url}: granted now");
    }
    // Of an adapter that wants the site only, the site's file decides.
    let hostile = Guest { hosts: vec!["site"], ..requests(&[("a", "https://www.gdqy.gov.cn/x")]) };
    let words = crawl(&stage, hostile, "site", 8).await;
    assert!(words.contains(r#"add "www.gdqy.gov.cn" to `hosts` in the site's file"#), "{words}");
    assert_eq!(stage.asked(), Vec::<String>::new());
}

#[tokio::test(flavor = "multi_thread")]
async fn no_grant_opens_private_addresses_or_other_schemes() {
    let stage = Stage::new().await;
    let secret =
        Plain::serve([("/secret".to_owned(), "text/html", b"<li><a href=x>secret</a></li>".to_vec())]);
    let port = secret.addr().port();
    let inside = |host: &str| format!("http://{host}:{port}/secret");
    for host in ["127.0.0.1", "localhost", "[::ffff:127.0.0.1]", "0x7f.1", "[::1]", "0.0.0.0", "2130706433"] {
        let words = crawl(&stage, asking(&inside(host)), "*", 8).await;
        assert!(!words.contains("<li>"), "{words}");
    }
    for url in
        ["https://10.0.0.1/", "http://169.254.169.254/latest/", "https://192.168.1.1/", "https://[fd00::1]/"]
    {
        crawl(&stage, asking(url), "*", 8).await;
    }
    for url in ["file:///etc/passwd", "ftp://www.ndrc.gov.cn/", "data:text/html,x", "javascript:1"] {
        let words = crawl(&stage, asking(url), "*", 7).await;
        assert!(words.contains("hostile"), "{words}");
    }
    assert_eq!(secret.came(), Vec::<String>::new(), "nobody came");
    assert_eq!(stage.asked(), Vec::<String>::new());
}

#[tokio::test(flavor = "multi_thread")]
async fn a_redirect_leads_nowhere_an_adapter_may_not_go_by_itself() {
    let stage = Stage::new().await;
    let secret = Plain::serve([("/secret".to_owned(), "text/html", b"secret".to_vec())]);
    let port = secret.addr().port();
    for (location, grant) in [
        ("https://www.gdqy.gov.cn/x".to_owned(), "https://www.ndrc.gov.cn"),
        ("http://www.ndrc.gov.cn/x".to_owned(), "https://www.ndrc.gov.cn"),
        (format!("http://127.0.0.1:{port}/secret"), "*"),
        (format!("http://localhost:{port}/secret"), "*"),
        ("http://169.254.169.254/latest/meta-data/".to_owned(), "*"),
    ] {
        stage.replica.clear_faults();
        stage.replica.fault(FaultRule::new(Fault::RedirectTo { location: location.clone() }).path("/start"));
        let words = crawl(&stage, asking("/start"), grant, 8).await;
        assert!(words.contains("redirected 1×"), "{location}: {words}");
        // The robots.txt of the host it may ask; never that of where the redirect leads.
        let mut asked = stage.asked();
        asked.retain(|url| url != "www.ndrc.gov.cn/robots.txt");
        assert_eq!(asked, ["www.ndrc.gov.cn/start"], "{location}");
    }
    assert_eq!(secret.came(), Vec::<String>::new(), "nobody came");
}
