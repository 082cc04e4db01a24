//! Firewalls on the wire: what each answer of a chain is taken for, and what follows from it.

use super::*;
use crate::clock::{Clock, FixedClock, Timestamp};
use crate::fetch::challenge::Product;
use crate::fetch::verdict::VerdictKind;

const JIASULE_1: &str = "<script>document.cookie=('_')+('_')+('j')+('s')+('l')+('_')+('c');location.href=location.pathname+location.search</script>";
const JIASULE_2: &str = "<script>var _0x1=['a'];go({\"bts\":[\"1|0|x\"],\"ct\":\"0a\",\"ha\":\"md5\",\"tn\":\"__jsl_clearance_s\",\"vt\":\"3600\",\"wt\":\"1500\"})</script>";
const CTCT: &str = "<html><head><title>Environment Checking</title><script src=\"/0a_1b.js\"></script><script src=\"/ctct_bundle_0a1b2c3d.js\"></script></head></html>";
const RUISHU: &str = "<html><head><meta content=\"x\" r='m'><script r='m'>$_ts=window['$_ts'];if(!$_ts)$_ts={};$_ts.nsd=1;</script></head><body></body></html>";

fn article() -> String {
    format!("<html><title>通知</title><body>{}</body></html>", "现将有关事项通知如下。".repeat(60))
}

#[tokio::test]
async fn every_answer_of_a_chain_of_firewalls_is_classified_by_itself() {
    let turn = Arc::new(AtomicUsize::new(0));
    let count = turn.clone();
    let server = Server::start(move |_| {
        let html = "content-type: text/html; charset=utf-8\r\n";
        match count.fetch_add(1, Ordering::SeqCst) {
            0 => reply("521 ", &format!("{html}set-cookie: __jsluid_s=1; path=/\r\n"), JIASULE_1.as_bytes()),
            1 => reply("521 ", html, JIASULE_2.as_bytes()),
            2 => reply("412 ", html, CTCT.as_bytes()),
            3 => reply("412 ", html, RUISHU.as_bytes()),
            _ => reply("200 OK", html, article().as_bytes()),
        }
    })
    .await;
    let gate = gate(options());
    let mut seen = Vec::new();
    for _ in 0..5 {
        let done = gate.fetch(&ask(&server.url("/a"))).await;
        seen.push(done.map_or_else(|error| error.verdict().unwrap(), |fetched| fetched.verdict));
    }
    use Product::*;
    use VerdictKind::{Challenge, Ok};
    let kinds: Vec<_> = seen.iter().map(|verdict| (verdict.status.unwrap(), verdict.kind)).collect();
    let expected = [
        (521, Challenge(Jiasule)),
        (521, Challenge(Jiasule)),
        (412, Challenge(Ctct)),
        (412, Challenge(Ruishu)),
        (200, Ok),
    ];
    assert_eq!(kinds, expected, "{seen:?}");
    let day = &gate.hosts().get("127.0.0.1").unwrap().days[0];
    assert_eq!((day.requests, day.verdicts.challenge, day.verdicts.ok, day.cooldowns), (5, 4, 1, 0));
}

#[tokio::test]
async fn a_redirect_to_itself_that_wants_its_cookie_is_passed_with_a_plain_jar() {
    for cookie in ["CT6T=abc123; path=/; HttpOnly", "CT6TS=abc123; path=/"] {
        let name = cookie.split(';').next().unwrap().to_owned();
        let wanted = name.clone();
        let server = Server::start(move |asked| {
            let has = asked.head.to_lowercase().contains(&format!("cookie: {}", wanted.to_lowercase()));
            match has {
                true => reply("200 OK", "content-type: text/html\r\n", article().as_bytes()),
                false => {
                    reply("302 Found", &format!("location: {}\r\nset-cookie: {cookie}\r\n", asked.path), b"")
                }
            }
        })
        .await;
        let gate = gate(options());
        let fetched = gate.fetch(&ask(&server.url("/pub/index.html"))).await.unwrap();
        assert_eq!((fetched.status, fetched.verdict.kind), (200, VerdictKind::Ok));
        assert_eq!(fetched.hops.len(), 1);
        assert_eq!(fetched.hops[0].verdict.kind, VerdictKind::Challenge(Product::Ct6t));
        assert_eq!(server.heads().len(), 2);
        // It is kept: the next page takes one request.
        gate.fetch(&ask(&server.url("/pub/other.html"))).await.unwrap();
        assert_eq!(server.heads().len(), 3, "{name}");
        // One that wants another cookie each time is not followed for ever.
        let again = AtomicUsize::new(0);
        let endless = Server::start(move |asked| {
            let number = again.fetch_add(1, Ordering::SeqCst);
            let headers = format!("location: {}\r\nset-cookie: CT6T={number}; path=/\r\n", asked.path);
            reply("302 Found", &headers, b"")
        })
        .await;
        let error = fetch_error(&gate, &endless.url("/")).await;
        assert!(matches!(error.kind(), FetchErrorKind::TooManyRedirects(_)), "{error}");
        assert!(endless.heads().len() <= 12);
    }
}

#[tokio::test]
async fn a_page_where_data_was_asked_for_is_never_an_empty_answer() {
    let server = Server::start(|_| {
        let html = "content-type: application/json; charset=utf-8\r\n";
        reply("200 OK", html, b"<html><head><title>index</title></head><body></body></html>")
    })
    .await;
    let gate = gate(options());
    for expects in [Expects::Json, Expects::Xml] {
        let error = gate.fetch(&Ask { expects, ..ask(&server.url("/data")) }).await.unwrap_err();
        assert!(matches!(error.kind(), FetchErrorKind::WrongContent { .. }), "{expects:?}: {error}");
        assert_eq!(error.verdict().unwrap().kind, VerdictKind::WrongContent);
    }
    let mut pdf = ask(&server.url("/files/P020261118.pdf"));
    (pdf.purpose, pdf.expects) = (Purpose::Attachment, Expects::Any);
    let got = gate.download(&pdf, tokio::io::sink(), 1 << 20).await.unwrap();
    assert_eq!(got.verdict.kind, VerdictKind::WrongContent);
}

#[tokio::test]
async fn a_probe_that_is_sent_in_circles_leaves_the_breaker_open() {
    let server = Server::start(|asked| match asked.path.as_str() {
        "/a" => redirect_to("/b"),
        "/well" => redirect_to("/there"),
        "/there" => reply("200 OK", "", b"<p>ok"),
        _ => redirect_to("/a"),
    })
    .await;
    let clock = Arc::new(FixedClock::new(Timestamp(1_794_988_800_000)));
    let gate = Gate::new(options(), clock.clone(), Arc::new(SeededEntropy::new(1))).unwrap();
    for minutes in [5, 10, 20, 40, 60, 60] {
        for _ in 0..8 {
            let _ = gate.fetch(&ask(&server.url("/a"))).await;
        }
        let (until, _) = gate.hosts().refusal("127.0.0.1").expect("five circles, or one probe");
        assert_eq!((until.0 - clock.now().0) / 60_000, minutes);
        clock.set(until);
    }
    let requests = server.heads().len();
    assert_eq!(requests, 2 * 5 + 2 * 5, "five circles, then one probe of two hops each time");
    // A probe that is led to a good page closes it.
    let fetched = gate.fetch(&ask(&server.url("/well"))).await.unwrap();
    assert_eq!((fetched.status, fetched.hops.len()), (200, 1));
    assert!(gate.hosts().get("127.0.0.1").unwrap().breaker.is_at_rest());
}
