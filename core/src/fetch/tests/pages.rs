//! Ordinary requests: what is sent, how many at once, what is refused before anything is sent.

use super::*;

#[tokio::test]
async fn a_page_is_fetched_with_honest_headers() {
    let server = Server::start(|_| reply("200 OK", "X-Thing: a\r\n", b"<p>ok")).await;
    let mut ask = ask(&server.url("/a?b=c#d"));
    ask.headers = vec![("X-Requested-With".into(), "XMLHttpRequest".into()), ("Cookie".into(), "a=b".into())];
    let fetched = gate(options()).fetch(&ask).await.unwrap();
    assert_eq!((fetched.status, &fetched.body[..], fetched.tier), (200, &b"<p>ok"[..], "http"));
    assert_eq!(fetched.header("x-thing"), Some("a"));
    assert_eq!(fetched.url.as_str(), server.url("/a?b=c#d"));
    let head = server.heads().remove(0).to_lowercase();
    assert!(head.starts_with("get /a?b=c http/1.1\r\n"), "{head}");
    assert!(head.contains("user-agent: mozilla/5.0 (compatible; dibao/"), "{head}");
    assert!(head.contains("accept-encoding: gzip, deflate\r\n"), "{head}");
    assert!(head.contains("accept-language: zh-cn"), "{head}");
    assert!(head.contains("x-requested-with: xmlhttprequest"), "{head}");
    assert!(!head.contains("cookie"), "{head}");
}

#[tokio::test]
async fn an_error_status_is_an_answer() {
    let server = Server::start(|asked| match asked.path.as_str() {
        "/410" => reply("410 Gone", "", b"gone"),
        "/429" => reply("429 Too Many Requests", "retry-after: 30\r\n", b""),
        "/302" => reply("302 Found", "", b"nowhere to go"),
        _ => reply("503 Service Unavailable", "", b"later"),
    })
    .await;
    let gate = gate(options());
    for status in [302, 410, 429, 503] {
        gate.hosts().reset("127.0.0.1");
        assert_eq!(gate.fetch(&ask(&server.url(&format!("/{status}")))).await.unwrap().status, status);
    }
}

#[tokio::test]
async fn no_more_than_sixteen_requests_are_under_way_and_all_arrive() {
    let (now, most) = (Arc::new(AtomicUsize::new(0)), Arc::new(AtomicUsize::new(0)));
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let addr = listener.local_addr().unwrap();
    let (count, peak) = (now.clone(), most.clone());
    let server = tokio::spawn(async move {
        while let Ok((mut stream, _)) = listener.accept().await {
            let (count, peak) = (count.clone(), peak.clone());
            tokio::spawn(async move {
                let mut buffer = [0; 4096];
                while stream.read(&mut buffer).await.is_ok_and(|n| n > 0) {
                    peak.fetch_max(count.fetch_add(1, Ordering::SeqCst) + 1, Ordering::SeqCst);
                    tokio::time::sleep(Duration::from_millis(20)).await;
                    count.fetch_sub(1, Ordering::SeqCst);
                    if stream.write_all(b"HTTP/1.1 200 OK\r\ncontent-length: 2\r\n\r\nok").await.is_err() {
                        return;
                    }
                }
            });
        }
    });
    let resolve = (0..5).map(|i| Resolve { host: format!("h{i}.test"), port: None, addr }).collect();
    let gate = gate(GateOptions { resolve, ..options() });
    let tasks: Vec<_> = (0..100)
        .map(|i| {
            let (gate, ask) = (gate.clone(), ask(&format!("http://h{}.test/{i}", i % 5)));
            tokio::spawn(async move { gate.fetch(&ask).await.map(|f| f.status) })
        })
        .collect();
    for task in tasks {
        assert_eq!(task.await.unwrap().unwrap(), 200);
    }
    assert_eq!(most.load(Ordering::SeqCst), 16);
    server.abort();
}

#[tokio::test]
async fn a_dropped_fetch_gives_its_slot_back() {
    let server =
        Server::start(
            |asked| if asked.path == "/hang" { vec![Act::Hang] } else { reply("200 OK", "", b"ok") },
        )
        .await;
    let gate = gate(GateOptions { max_in_flight: 1, ..options() });
    let (hanging, slow) = (gate.clone(), ask(&server.url("/hang")));
    let task = tokio::spawn(async move { hanging.fetch(&slow).await });
    while server.heads().is_empty() {
        tokio::task::yield_now().await;
    }
    task.abort();
    assert_eq!(gate.fetch(&ask(&server.url("/next"))).await.unwrap().status, 200);
}

#[test]
fn a_setting_that_cannot_work_is_refused_at_once() {
    let build = |options| Gate::new(options, Arc::new(SystemClock), Arc::new(SeededEntropy::new(1))).err();
    let error = build(GateOptions { user_agent: "a\r\nb".into(), ..options() }).unwrap();
    assert_eq!(error.class(), ErrorClass::Config);
    let error = build(GateOptions { extra_roots: vec![vec![1, 2, 3].into()], ..options() }).unwrap();
    assert!(error.to_string().contains("root"), "{error}");
}

#[tokio::test]
async fn cookies_of_one_name_for_two_paths_both_go_back() {
    let server = Server::start(|asked| match asked.path.as_str() {
        "/begin" => {
            let set = "set-cookie: foo=bar; path=/\r\nset-cookie: foo=qux; path=/cookie\r\n";
            reply("302 Found", &format!("{set}location: /cookie/page\r\n"), b"")
        }
        _ => reply("200 OK", "", b"<p>page"),
    })
    .await;
    gate(options()).fetch(&ask(&server.url("/begin"))).await.unwrap();
    let heads = server.heads();
    assert!(heads[1].contains("cookie: foo=qux; foo=bar\r\n"), "{}", heads[1]);
}
