//! Where a request may lead: addresses, names, redirects, overrides, proxies.

use super::*;

#[tokio::test]
async fn without_the_loopback_option_nothing_on_this_machine_is_reached() {
    let server = Server::start(|_| reply("200 OK", "", b"secret")).await;
    let port = server.addr.port();
    let gate = gate(GateOptions::default());
    for host in ["127.0.0.1", "localhost", "2130706433", "0x7f.1", "[::1]", "0.0.0.0", "127.0.0.1."] {
        let error = fetch_error(&gate, &format!("http://{host}:{port}/")).await;
        assert!(matches!(error.kind(), FetchErrorKind::ForbiddenAddress { .. }), "{host}: {error}");
        assert_eq!(error.class(), ErrorClass::Blocked);
        assert!(!error.is_retryable());
    }
    assert_eq!(server.connections(), 0);
}

#[tokio::test]
async fn a_redirect_to_a_forbidden_address_is_refused_before_any_connection() {
    let inside = Server::start(|_| reply("200 OK", "", b"secret")).await;
    let targets = [
        inside.url("/"),
        format!("http://localhost:{}/", inside.addr.port()),
        format!("//[::ffff:127.0.0.1]:{}/", inside.addr.port()),
        "http://10.0.0.1/".into(),
        "http://169.254.169.254/latest/meta-data/".into(),
    ];
    for target in targets {
        let to = target.clone();
        let outside = Server::start(move |_| redirect_to(&to)).await;
        let rule = Resolve { host: "www.site.test".into(), port: None, addr: outside.addr };
        // Not allowed to reach loopback, except where the operator says so.
        let gate = gate(GateOptions { resolve: vec![rule], ..GateOptions::default() });
        let mut ask = ask("http://www.site.test/");
        ask.public = Arc::new(PublicRule::new(
            &[".test"],
            &[
                "127.0.0.1".into(),
                "localhost".into(),
                "10.0.0.1".into(),
                "169.254.169.254".into(),
                "[::ffff:7f00:1]".into(),
            ],
        ));
        let error = gate.fetch(&ask).await.unwrap_err();
        assert!(matches!(error.kind(), FetchErrorKind::ForbiddenAddress { .. }), "{target}: {error}");
        assert_eq!(error.hops().len(), 1, "{error}");
        assert_eq!(outside.connections(), 1);
    }
    assert_eq!(inside.connections(), 0);
}

#[tokio::test]
async fn a_redirect_hop_passes_grant_and_public_path_like_any_request() {
    let server = Server::start(|asked| redirect_to(asked.path.trim_start_matches("/to?"))).await;
    let rule = Resolve { host: "a.test".into(), port: None, addr: server.addr };
    let gate = gate(GateOptions { resolve: vec![rule], ..options() });
    let own = |list: &[&str]| list.iter().map(|s| s.to_string()).collect::<Vec<_>>();
    let mut ask = ask("http://a.test/to?http://b.test/");
    ask.grant = Arc::new(Grant::new("test", &own(&["*"]), &own(&["a.test"]), &[]));
    let error = gate.fetch(&ask).await.unwrap_err();
    assert!(matches!(error.kind(), FetchErrorKind::NotGranted(_)), "{error}");
    assert!(error.to_string().contains(r#"hosts = ["a.test", "http://b.test"]"#), "{error}");
    ask.url = Url::parse("http://a.test/to?/admin/").unwrap();
    let error = gate.fetch(&ask).await.unwrap_err();
    assert!(matches!(error.kind(), FetchErrorKind::NotPublic(NotPublic::Path(_))), "{error}");
    assert_eq!(server.connections(), 2);
}

#[tokio::test]
async fn redirects_are_followed_by_the_gate_and_circles_end() {
    let server = Server::start(|asked| match asked.path.as_str() {
        "/a" => redirect_to("/b"),
        "/b" => redirect_to("c?x=1"),
        "/c?x=1" => reply("200 OK", "", b"there"),
        "/ring1" => redirect_to("/ring2"),
        "/ring2" => redirect_to("/ring1"),
        "/self" => redirect_to("/self"),
        path => {
            let n: u32 = path.trim_start_matches("/n").parse().unwrap();
            if n == 0 { reply("200 OK", "", b"end") } else { redirect_to(&format!("/n{}", n - 1)) }
        }
    })
    .await;
    let gate = gate(options());
    let fetched = gate.fetch(&ask(&server.url("/a"))).await.unwrap();
    assert_eq!(fetched.url.as_str(), server.url("/c?x=1"));
    let hops: Vec<_> = fetched.hops.iter().map(|hop| (hop.url.path(), hop.status)).collect();
    assert_eq!(hops, [("/a", 302), ("/b", 302)]);
    for ring in ["/ring1", "/self"] {
        let error = fetch_error(&gate, &server.url(ring)).await;
        assert!(matches!(error.kind(), FetchErrorKind::RedirectLoop), "{error}");
        assert_eq!(error.class(), ErrorClass::Server);
    }
    assert_eq!(gate.fetch(&ask(&server.url("/n10"))).await.unwrap().hops.len(), 10);
    let error = fetch_error(&gate, &server.url("/n11")).await;
    assert!(matches!(error.kind(), FetchErrorKind::TooManyRedirects(10)), "{error}");
}

#[tokio::test]
async fn a_redirected_post_becomes_a_get_and_leaves_its_credentials_behind() {
    let other = Server::start(|_| reply("200 OK", "", b"ok")).await;
    let to = other.url("/there");
    let server = Server::start(move |asked| match asked.path.as_str() {
        "/same" => redirect_to("/end"),
        "/other" => redirect_to(&to),
        _ => reply("200 OK", "", b"ok"),
    })
    .await;
    let gate = gate(options());
    for path in ["/same", "/other"] {
        let mut ask = ask(&server.url(path));
        ask.method = Method::Post;
        ask.body = Some(Bytes::from_static(b"q=1"));
        ask.headers = vec![
            ("Authorization".into(), "Bearer secret".into()),
            ("Content-Type".into(), "text/plain".into()),
        ];
        assert_eq!(gate.fetch(&ask).await.unwrap().status, 200);
    }
    let heads: Vec<String> = server.heads().iter().map(|h| h.to_lowercase()).collect();
    assert!(heads[0].starts_with("post /same") && heads[0].contains("content-length: 3"));
    assert!(heads[1].starts_with("get /end") && !heads[1].contains("content-"), "{}", heads[1]);
    assert!(heads[1].contains("authorization: bearer secret"));
    let there = other.heads()[0].to_lowercase();
    assert!(there.starts_with("get /there") && !there.contains("secret"), "{there}");
}

#[tokio::test]
async fn a_name_that_leads_to_a_forbidden_address_is_refused_also_when_it_changes_its_mind() {
    let server = Server::start(|_| reply("200 OK", "", b"secret")).await;
    let url = format!("http://rebind.test:{}/", server.addr.port());
    // Private beside loopback: none is left.
    let script = Script::new(&[&["10.0.0.1", "127.0.0.1", "::1"]]);
    let gate_a = gate(GateOptions { lookup: Some(script.clone()), ..GateOptions::default() });
    let error = fetch_error(&gate_a, &url).await;
    assert!(
        matches!(error.kind(), FetchErrorKind::ForbiddenAddress { why: Forbidden::Private, .. }),
        "{error}"
    );
    assert_eq!(script.1.load(Ordering::SeqCst), 1, "the address that is checked is the one that is used");
    // Rebinding: the second lookup answers otherwise and is checked like the first. The first answer is public
    // in the guard's eyes and nobody's in fact, so it does not matter what becomes of it.
    let script = Script::new(&[&["192.0.1.1"], &["127.0.0.1"]]);
    let timeouts = Timeouts { connect: Duration::from_millis(200), ..Timeouts::default() };
    let gate_b = gate(GateOptions { lookup: Some(script), timeouts, ..GateOptions::default() });
    let _ = gate_b.fetch(&ask(&url)).await;
    let error = fetch_error(&gate_b, &url).await;
    assert!(
        matches!(error.kind(), FetchErrorKind::ForbiddenAddress { why: Forbidden::Loopback, .. }),
        "{error}"
    );
    assert_eq!(server.connections(), 0);
}

#[tokio::test]
async fn a_resolve_override_leads_a_name_to_an_address_of_the_operators_choice() {
    let (a, b) = (
        Server::start(|_| reply("200 OK", "", b"a")).await,
        Server::start(|_| reply("200 OK", "", b"b")).await,
    );
    let resolve = vec![
        Resolve { host: "WWW.gov.cn".into(), port: None, addr: a.addr },
        Resolve { host: "www.gov.cn".into(), port: Some(8080), addr: b.addr },
    ];
    let gate =
        gate(GateOptions { resolve, lookup: Some(Script::new(&[&["127.0.0.1"]])), ..GateOptions::default() });
    for (url, body, host) in [
        ("http://www.gov.cn/x", "a", "host: www.gov.cn\r\n"),
        ("http://www.gov.cn:8080/x", "b", "host: www.gov.cn:8080\r\n"),
        ("http://www.gov.cn:8081/x", "a", "host: www.gov.cn:8081\r\n"),
    ] {
        let fetched = gate.fetch(&ask(url)).await.unwrap();
        assert_eq!((&fetched.body[..], fetched.url.as_str()), (body.as_bytes(), url));
        let server = if body == "a" { &a } else { &b };
        assert!(server.heads().last().unwrap().to_lowercase().contains(host), "{url}");
    }
    let error = fetch_error(&gate, "http://other.gov.cn/").await;
    assert!(matches!(error.kind(), FetchErrorKind::ForbiddenAddress { .. }), "{error}");
}

#[test]
fn a_resolve_rule_is_read_from_text() {
    let rule: Resolve = "www.gov.cn=127.0.0.1:8443".parse().unwrap();
    assert_eq!((rule.host.as_str(), rule.port, rule.addr.port()), ("www.gov.cn", None, 8443));
    let rule: Resolve = "www.gov.cn:443=[::1]:8443".parse().unwrap();
    assert_eq!((rule.port, rule.addr.is_ipv6()), (Some(443), true));
    for bad in ["", "www.gov.cn", "www.gov.cn=127.0.0.1", "=127.0.0.1:1", "a:b=127.0.0.1:1"] {
        let error = bad.parse::<Resolve>().unwrap_err();
        assert_eq!(error.class(), ErrorClass::Config);
        assert!(error.to_string().contains("HOST=ADDRESS:PORT"));
    }
}

#[test]
fn a_proxy_in_the_environment_is_not_used() {
    // The environment belongs to the whole process, so another one fetches a page with it.
    let proxy = "http://127.0.0.1:1";
    let mut child = std::process::Command::new(std::env::current_exe().unwrap());
    for name in ["http_proxy", "HTTP_PROXY", "https_proxy", "HTTPS_PROXY", "all_proxy", "ALL_PROXY"] {
        child.env(name, proxy);
    }
    let done = child
        .args(["--exact", "fetch::tests::pages::a_page_is_fetched_with_honest_headers"])
        .env_remove("no_proxy")
        .env_remove("NO_PROXY")
        .output()
        .unwrap();
    let said = String::from_utf8_lossy(&done.stdout);
    assert!(done.status.success() && said.contains("1 passed"), "{said}");
}
