//! How a robots.txt is fetched before a page (RFC 9309 §2.3.1): redirects, statuses, sizes and versions, on the wire.

use super::robots::{MAX_BODY, OnUnreachable};
use super::*;

fn respecting(url: &str, on_unreachable: OnUnreachable) -> Ask {
    Ask { robots: RobotsMode::Respect { on_unreachable }, ..ask(url) }
}

/// A host whose robots.txt is `answer`; what it forbids is everything below `/shut`.
async fn host(answer: impl Fn(&str) -> Vec<Act> + Send + Sync + 'static) -> Server {
    Server::start(move |asked| match asked.path.as_str() {
        path if path.contains("robots") => answer(path),
        _ => reply("200 OK", "content-type: text/html\r\n", b"<p>page"),
    })
    .await
}

const RULES: &[u8] = b"User-agent: *\nDisallow: /shut\n";

/// Whether a page that the rules forbid, and one that they do not, may be fetched.
async fn allowed(server: &Server, on_unreachable: OnUnreachable) -> (bool, bool) {
    let gate = gate(options());
    let may = async |path: &str| match gate.fetch(&respecting(&server.url(path), on_unreachable)).await {
        Ok(fetched) => fetched.status == 200,
        Err(error) => {
            let refused = matches!(
                error.kind(),
                FetchErrorKind::Robots { .. } | FetchErrorKind::RobotsUnreachable { .. }
            );
            assert!(refused, "{error}");
            false
        }
    };
    (may("/shut/1").await, may("/open").await)
}

#[tokio::test]
async fn five_redirects_are_followed_and_a_sixth_means_that_there_is_no_file() {
    for (hops, expected) in [(0, (false, true)), (1, (false, true)), (5, (false, true)), (6, (true, true))] {
        let server = host(move |path| {
            let at: usize = path.rsplit_once('-').map_or(0, |(_, number)| number.parse().unwrap());
            match at < hops {
                true => redirect_to(&format!("/robots-{}", at + 1)),
                false => reply("200 OK", "content-type: text/plain\r\n", RULES),
            }
        })
        .await;
        assert_eq!(allowed(&server, OnUnreachable::Deny).await, expected, "{hops} redirects");
        let asked = server.heads().iter().filter(|head| head.contains("robots")).count();
        assert_eq!(asked, hops.min(5) + 1, "asked once, and not beyond the fifth redirect");
    }
}

#[tokio::test]
async fn a_circle_of_redirects_is_no_file_either() {
    let server = host(|_| redirect_to("/robots.txt")).await;
    assert_eq!(allowed(&server, OnUnreachable::Deny).await, (true, true));
}

#[tokio::test]
async fn each_status_means_what_the_standard_says() {
    use OnUnreachable::{Allow, Deny};
    for (status, setting, expected) in [
        ("200 OK", Deny, (false, true)),
        ("206 Partial Content", Deny, (false, true)),
        ("400 Bad Request", Deny, (true, true)),
        ("401 Unauthorized", Deny, (true, true)),
        ("403 Forbidden", Deny, (true, true)),
        ("404 Not Found", Deny, (true, true)),
        ("410 Gone", Deny, (true, true)),
        ("429 Too Many Requests", Deny, (false, false)),
        ("429 Too Many Requests", Allow, (true, true)),
        ("500 Internal Server Error", Deny, (false, false)),
        ("500 Internal Server Error", Allow, (true, true)),
        ("503 Service Unavailable", Deny, (false, false)),
    ] {
        let server = host(move |_| reply(status, "content-type: text/plain\r\n", RULES)).await;
        assert_eq!(allowed(&server, setting).await, expected, "{status} {setting:?}");
    }
    let silent = host(|_| vec![Act::Reset]).await;
    assert_eq!(allowed(&silent, Deny).await, (false, false));
}

#[tokio::test]
async fn a_file_without_end_is_read_up_to_the_limit() {
    let server = host(|_| {
        let head = b"HTTP/1.1 200 OK\r\ncontent-type: text/plain\r\nconnection: close\r\n\r\n";
        vec![Act::Send([&head[..], RULES].concat()), Act::Flood]
    })
    .await;
    assert_eq!(allowed(&server, OnUnreachable::Deny).await, (false, true));
}

#[tokio::test]
async fn a_file_that_ends_beyond_the_limit_in_the_midst_of_a_rule_does_not_shut_the_whole_host() {
    for (before_the_limit, expected) in [
        ("Disallow: /", true),
        ("Disallow: /shu", true),
        ("Disallow: /shut", false),
        ("Disallow: /shut\n", false),
    ] {
        let server = host(move |_| {
            let room = MAX_BODY - "User-agent: *\n".len() - before_the_limit.len() - 1;
            let text = format!("User-agent: *\n{}\n{before_the_limit}", "#".repeat(room));
            assert_eq!(text.len(), MAX_BODY);
            let rest = "Disallow: /shut\n# and so on\n".strip_prefix(before_the_limit).unwrap_or_default();
            reply("200 OK", "content-type: text/plain\r\n", format!("{text}{rest}").as_bytes())
        })
        .await;
        assert_eq!(allowed(&server, OnUnreachable::Deny).await, (expected, true), "{before_the_limit:?}");
    }
}

#[tokio::test]
async fn a_file_that_has_moved_to_another_host_counts_for_the_one_that_was_asked() {
    for (to, expected, seen) in [
        ("http://www.moved.example/robots.txt", (false, true), 1),
        // Nothing but its robots.txt may be asked of a host that nobody granted.
        ("http://www.moved.example/elsewhere/robots.txt", (false, false), 0),
        ("http://www.moved.example:22/robots.txt", (false, false), 0),
        ("http://u:p@www.moved.example/robots.txt", (false, false), 0),
    ] {
        let server = Server::start(move |asked| match asked.path.as_str() {
            _ if asked.head.to_lowercase().contains("host: www.moved.example") => {
                reply("200 OK", "content-type: text/plain\r\n", RULES)
            }
            "/robots.txt" => redirect_to(to),
            _ => reply("200 OK", "content-type: text/html\r\n", b"<p>page"),
        })
        .await;
        let resolve = |host: &str| Resolve { host: host.into(), port: None, addr: server.addr };
        let resolve = vec![resolve("bare.test"), resolve("www.moved.example")];
        let gate = gate(GateOptions { resolve, ..options() });
        let granted = ["bare.test".to_owned()];
        let mut ask = respecting("http://bare.test/shut/1", OnUnreachable::Deny);
        ask.grant = Arc::new(Grant::new("test", &granted, &granted, &[]));
        let shut = gate.fetch(&ask).await.is_ok();
        ask.url = Url::parse("http://bare.test/open").unwrap();
        assert_eq!((shut, gate.fetch(&ask).await.is_ok()), expected, "{to}");
        let moved = |head: &&String| head.to_lowercase().contains("host: www.moved.example");
        assert_eq!(server.heads().iter().filter(moved).count(), seen, "{to}");
        // A page there is still nobody's.
        ask.url = Url::parse("http://www.moved.example/robots.txt").unwrap();
        let error = gate.fetch(&ask).await.unwrap_err();
        assert!(matches!(error.kind(), FetchErrorKind::NotGranted(_)), "{error}");
    }
}
