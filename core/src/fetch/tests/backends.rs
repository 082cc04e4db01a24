//! S4-5: a user's own way to fetch pages, beside HTTP: here a second client over a socket of its own.

use std::sync::atomic::AtomicBool;

use super::escalate::Strategy;
use super::verdict::VerdictKind;
use super::*;

/// Says who it is, which the server of these tests wants to know; asks the screen before every hop.
#[derive(Default)]
struct Second {
    away: AtomicBool,
    asked: AtomicUsize,
}

impl FetchBackend for Second {
    fn name(&self) -> &'static str {
        "second-client"
    }

    fn available(&self) -> BoxFuture<'_, Result<(), Unavailable>> {
        let away = self.away.load(Ordering::SeqCst);
        let answer = if away { Err(Unavailable("the second client rests".into())) } else { Ok(()) };
        Box::pin(std::future::ready(answer))
    }

    fn fetch<'a>(&'a self, order: BackendOrder<'a>) -> BoxFuture<'a, Result<BackendPage, FetchErrorKind>> {
        self.asked.fetch_add(1, Ordering::SeqCst);
        Box::pin(async move {
            let mut url = order.url.clone();
            for requests in 1.. {
                order.screen.check(&url, true)?;
                let host = url.host_str().unwrap();
                let addresses = order.screen.resolve(host, url.port_or_known_default().unwrap()).await?;
                let text = |e: std::io::Error| FetchErrorKind::Connect(e.to_string());
                let mut stream = tokio::net::TcpStream::connect(&*addresses).await.map_err(text)?;
                let head = format!("GET {} HTTP/1.1\r\nhost: {host}\r\nx-client: second\r\n\r\n", url.path());
                stream.write_all(head.as_bytes()).await.map_err(text)?;
                let mut answer = String::new();
                stream.read_to_string(&mut answer).await.map_err(text)?;
                let (head, body) = answer.split_once("\r\n\r\n").unwrap();
                if let Some(to) = head.lines().find_map(|line| line.strip_prefix("location: ")) {
                    url = url.join(to).unwrap();
                    continue;
                }
                return Ok(BackendPage {
                    status: head[9..12].parse().unwrap(),
                    url,
                    headers: vec![("content-type".into(), "text/html".into())],
                    body: Bytes::copy_from_slice(body.as_bytes()),
                    cookies: Vec::new(),
                    requests,
                    bytes: body.len() as u64,
                });
            }
            unreachable!()
        })
    }
}

struct NotInstalled;

impl FetchBackend for NotInstalled {
    fn name(&self) -> &'static str {
        "not-installed"
    }

    fn available(&self) -> BoxFuture<'_, Result<(), Unavailable>> {
        Box::pin(std::future::ready(Err(Unavailable("the first is not installed".into()))))
    }

    fn fetch<'a>(&'a self, _: BackendOrder<'a>) -> BoxFuture<'a, Result<BackendPage, FetchErrorKind>> {
        panic!("nobody asks one that is away")
    }
}

fn with(second: &Arc<Second>) -> Gate {
    gate(GateOptions { backends: vec![Arc::new(NotInstalled), second.clone()], ..options() })
}

fn page() -> Vec<u8> {
    format!("<html><title>通知</title><p>{}</p></html>", "现将有关事项通知如下。".repeat(60)).into_bytes()
}

/// Plain HTTP is challenged, the second client is not.
async fn challenging() -> Server {
    Server::start(|asked| match asked.head.contains("x-client: second") {
        true => reply("200 OK", "", &page()),
        false => reply(
            "412 Precondition Failed",
            "content-type: text/html\r\n",
            b"<html><script>1</script></html>",
        ),
    })
    .await
}

fn reasons(steps: &[Step]) -> Vec<String> {
    steps.iter().filter(|step| step.check == "escalate").map(|step| step.detail.to_string()).collect()
}

#[tokio::test]
async fn auto_asks_the_first_backend_that_is_there_and_goes_on_by_http_when_none_is() {
    let server = challenging().await;
    let second = Arc::new(Second::default());
    let gate = with(&second);
    let fetched = gate.fetch(&ask(&server.url("/a"))).await.unwrap();
    assert_eq!((fetched.tier, fetched.status, fetched.verdict.kind), ("second-client", 200, VerdictKind::Ok));
    assert_eq!(fetched.hops.len(), 1, "what HTTP met is written down");

    second.away.store(true, Ordering::SeqCst);
    let (steps, result) = gate.explain(&ask(&server.url("/a"))).await;
    let error = result.unwrap_err();
    assert!(matches!(error.kind(), FetchErrorKind::TurnedAway { .. }), "{error}");
    assert_eq!(reasons(&steps), ["no browser: the first is not installed; the second client rests"]);
    let only = Ask { strategy: Strategy::Browser, ..ask(&server.url("/a")) };
    let error = gate.fetch(&only).await.unwrap_err();
    assert!(matches!(error.kind(), FetchErrorKind::NoBackend(_)), "{error}");
    let never = Ask { strategy: Strategy::Http, ..ask(&server.url("/a")) };
    second.away.store(false, Ordering::SeqCst);
    assert_eq!(gate.fetch(&never).await.unwrap_err().tier(), "http");
    assert_eq!(second.asked.load(Ordering::SeqCst), 1);
    let fetched = gate.fetch(&only).await.unwrap();
    assert_eq!((fetched.tier, fetched.hops.len()), ("second-client", 0), "at once");
}

/// C8: 403, 412, 429, 5xx and challenges, once per host and incident; a good answer ends the incident.
#[tokio::test]
async fn each_refusal_leads_to_a_backend_once_per_host_and_incident() {
    for status in ["403 No", "412 No", "429 No", "500 No", "503 No", "521 No"] {
        let server = Server::start(move |asked| match asked.path.as_str() {
            "/good" => reply("200 OK", "", &page()),
            _ => reply(status, "content-type: text/html\r\n", b"<html>no</html>"),
        })
        .await;
        let second = Arc::new(Second::default());
        let gate = with(&second);
        for (path, asked) in [("/a", 1), ("/b", 1), ("/good", 1), ("/c", 2), ("/a", 2)] {
            let _ = gate.fetch(&ask(&server.url(path))).await;
            assert_eq!(second.asked.load(Ordering::SeqCst), asked, "{status} {path}");
        }
    }
    // A wire that breaks, a page that is gone, a host that names a time: no.
    let server = Server::start(|asked| match asked.path.as_str() {
        "/reset" => vec![Act::Reset],
        "/gone" => reply("404 Not Found", "", b""),
        "/truncated" => vec![Act::Send(b"HTTP/1.1 200 OK\r\ncontent-length: 900\r\n\r\n<p>".to_vec())],
        _ => reply("429 No", "retry-after: Thu, 01 Jan 2099 00:00:00 GMT\r\n", b""),
    })
    .await;
    let second = Arc::new(Second::default());
    let gate = with(&second);
    for path in ["/reset", "/gone", "/truncated", "/later"] {
        let _ = gate.fetch(&ask(&server.url(path))).await;
    }
    assert_eq!(second.asked.load(Ordering::SeqCst), 0);
    assert!(gate.hosts().refusal("127.0.0.1").is_some(), "the time it named is kept");
}

#[tokio::test]
async fn where_a_backend_is_led_passes_the_checks_of_every_request() {
    let inside = Server::start(|_| reply("200 OK", "", &page())).await;
    let port = inside.addr.port();
    for to in [
        format!("http://10.0.0.1:{port}/"),
        format!("http://inside.test:{port}/"),
        "http://else.example/".into(),
    ] {
        let target = to.clone();
        let site = Server::start(move |_| redirect_to(&target)).await;
        let second = Arc::new(Second::default());
        let gate = gate(GateOptions {
            backends: vec![second.clone()],
            resolve: vec![Resolve { host: "www.site.test".into(), port: None, addr: site.addr }],
            lookup: Some(Script::new(&[&["127.0.0.1"]])),
            ..GateOptions::default()
        });
        let ask = Ask { strategy: Strategy::Browser, ..ask("http://www.site.test/") };
        let error = gate.fetch(&ask).await.unwrap_err();
        assert!(
            matches!(error.kind(), FetchErrorKind::ForbiddenAddress { .. } | FetchErrorKind::NotPublic(_)),
            "{to}: {error}"
        );
        assert_eq!(inside.connections(), 0, "{to}");
    }
}
