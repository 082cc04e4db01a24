//! What keeps strangers, other sites and hostile requests out.

use reqwest::Method;
use serde_json::json;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpSocket, TcpStream};

use crate::bed::{Bed, PASSWORD, SITE, Served, TOO_LONG};

#[tokio::test(flavor = "multi_thread")]
async fn an_address_that_others_reach_needs_a_password() {
    let bed = Bed::new().await;
    let refused = bed.command(&["serve", "--listen", "0.0.0.0:0"]).output().await.unwrap();
    assert_eq!(refused.status.code(), Some(2));
    let words = String::from_utf8_lossy(&refused.stderr);
    assert!(words.contains("ADMIN_PASSWORD"), "{words}");
    bed.serve_with(&["--listen", "0.0.0.0:0"], &[("ADMIN_PASSWORD", PASSWORD)]).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_name_of_another_site_is_not_answered_to_and_its_page_changes_nothing() {
    let bed = Bed::new().await;
    let served = bed.serve_with(&["--host", "dibao.example.org"], &[]).await;
    let named = |host: &str| served.request(Method::GET, "/admin/api/me").header("host", host);
    served.send(named("dibao.example.org")).await.is(200);
    served.send(named("evil.example.org")).await.is(421).problem("wrong_host");
    served.send(named("127.0.0.1.evil.example.org:8787")).await.is(421).problem("wrong_host");
    let from =
        |name: &str, value: &str| served.request(Method::DELETE, "/admin/api/session").header(name, value);
    served.send(from("origin", "http://evil.example.org")).await.is(403).problem("cross_origin");
    served.send(from("origin", "null")).await.is(403).problem("cross_origin");
    served.send(from("sec-fetch-site", "cross-site")).await.is(403).problem("cross_origin");
    served.send(from("origin", &served.base)).await.is(204);
    // Behind a proxy everybody seems to be here.
    let by_proxy = served.request(Method::GET, "/admin/api/me").header("x-forwarded-for", "1.2.3.4");
    served.send(by_proxy).await.is(403).problem("forbidden");
    for (name, value) in
        [("via", "1.1 proxy"), ("x-forwarded-host", "dibao.example.org"), ("x-forwarded-proto", "https")]
    {
        let by_proxy = served.request(Method::GET, "/admin/api/me").header(name, value);
        served.send(by_proxy).await.is(403).problem("forbidden");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_session_is_a_cookie_that_no_script_sees_and_ends_when_told() {
    let bed = Bed::new().await;
    let served = bed.guarded().await;
    let stranger = served.send(served.request(Method::GET, "/admin/api/me")).await.is(200).json();
    assert_eq!((stranger["signed_in"].clone(), stranger["required"].clone()), (json!(false), json!(true)));
    let sign_in = |password: &str| {
        let body = json!({ "user": "admin", "password": password }).to_string();
        let request =
            served.request(Method::POST, "/admin/api/session").header("content-type", "application/json");
        served.send(request.header("origin", &served.base).body(body))
    };
    sign_in("wrong").await.is(401).problem("unauthenticated");
    let answer = sign_in(PASSWORD).await.is(200);
    let cookie = answer.header("set-cookie").to_owned();
    for part in ["HttpOnly", "SameSite=Strict", "Path=/"] {
        assert!(cookie.contains(part), "{cookie}");
    }
    let cookie = cookie.split(';').next().unwrap().to_owned();
    let with = |method: Method, path: &str| served.request(method, path).header("cookie", &cookie);
    let me = served.send(with(Method::GET, "/admin/api/me")).await.is(200).json();
    assert_eq!(
        (me["user"].clone(), me["scope"].clone(), me["via"].clone()),
        (json!("admin"), json!("admin"), json!("session"))
    );
    served.send(with(Method::GET, "/admin/api/jobs/queue")).await.is(200);
    // A cookie alone is no word of the page.
    served.send(with(Method::DELETE, "/admin/api/session")).await.is(403).problem("cross_origin");
    served.send(with(Method::DELETE, "/admin/api/session").header("origin", &served.base)).await.is(204);
    served.send(with(Method::GET, "/admin/api/jobs/queue")).await.is(401).problem("unauthenticated");
}

#[tokio::test(flavor = "multi_thread")]
async fn whoever_guesses_has_to_wait_and_whoever_knows_has_not() {
    let bed = Bed::new().await;
    let served = bed.guarded().await;
    served.get("/admin/api/jobs/queue").await.is(200);
    let mut waits = 0;
    for n in 0..12 {
        let guess =
            served.request(Method::GET, "/admin/api/jobs/queue").basic_auth("admin", Some(format!("{n}")));
        let answer = served.send(guess).await;
        if answer.status == 429 {
            assert!(answer.header("retry-after").parse::<u32>().unwrap() > 0);
            answer.problem("throttled");
            waits += 1;
        } else {
            answer.is(401).problem("unauthenticated");
        }
    }
    assert!(waits > 0);
    served.get("/admin/api/jobs/queue").await.is(200);
}

#[tokio::test(flavor = "multi_thread")]
async fn every_answer_forbids_what_a_browser_should_not_do() {
    let bed = Bed::new().await;
    let served = bed.serve().await;
    for path in
        ["/admin/", "/admin/api/me", "/admin/api/nothing", "/healthz", "/nothing", "/admin/nothing.js"]
    {
        let answer = served.get(path).await;
        assert_eq!(answer.header("x-content-type-options"), "nosniff", "{path}");
        assert_eq!(answer.header("x-frame-options"), "DENY", "{path}");
        let policy = answer.header("content-security-policy");
        assert!(
            policy.starts_with("default-src 'none'") && policy.contains("frame-ancestors 'none'"),
            "{path}: {policy}"
        );
        assert!(!policy.contains("unsafe"), "{path}: {policy}");
        assert!(!answer.header("x-request-id").is_empty(), "{path}");
        assert!(answer.headers.get("access-control-allow-origin").is_none(), "{path}");
    }
    served.get("/admin/api/nothing").await.is(404).problem("not_found");
    let page = served.get("/admin/").await.is(200);
    assert!(page.header("content-type").starts_with("text/html"));
    let again = served.request(Method::GET, "/admin/").header("if-none-match", page.header("etag"));
    served.send(again).await.is(304);
}

#[tokio::test(flavor = "multi_thread")]
async fn hostile_requests_get_a_problem_document_and_nothing_else() {
    let bed = Bed::new().await;
    let served = bed.serve().await;
    let script = "/admin/api/hosts?q=%3Cscript%3E&nonsense=%3Cscript%3Ealert(1)%3C%2Fscript%3E";
    let answer = served.get(script).await.is(422);
    assert_eq!(answer.header("content-type"), "application/problem+json");
    let problem = answer.problem("invalid");
    assert!(problem["detail"].as_str().unwrap().contains("nonsense"), "{problem}");
    let large = served.request(Method::POST, "/admin/api/session").header("content-type", "application/json");
    served.send(large.body(vec![b' '; 5 << 20])).await.is(413).problem("too_large");
    let form = served.request(Method::POST, "/admin/api/session").header("content-type", "text/plain");
    served.send(form.body("{}")).await.is(415).problem("unsupported_media_type");
    let broken =
        served.request(Method::POST, "/admin/api/session").header("content-type", "application/json");
    served.send(broken.body("{\"user\": ")).await.is(400).problem("not_json");
    for path in [
        "/admin/api/jobs/0",
        "/admin/api/jobs/x",
        "/admin/api/jobs/99999999999999999999",
        "/admin/api/jobs/%FF",
    ] {
        served.get(path).await.is(422).problem("invalid");
    }
    // An address of this machine is nothing to look at, and that is for the asker to mend.
    let here = json!({ "url": "https://127.0.0.1/zwgk/" });
    let refused = served.post("/admin/api/targets/discover-html", here).await.is(422).problem("invalid");
    assert_eq!(refused["field"], "url", "{refused}");
    served.get("/admin/api/jobs/123456").await.is(404).problem("not_found");
    served.get("/admin/api/jobs/list?limit=201").await.is(422).problem("invalid");
    served.delete("/admin/api/jobs/queue").await.is(405).problem("method_not_allowed");
    served.get("/admin/../../etc/passwd").await.is(404);
}

/// Asks on a connection of its own whether the server is well.
async fn well(served: &Served) {
    let ask = async {
        let mut line = TcpStream::connect(served.address()).await.unwrap();
        let request = b"GET /healthz HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n";
        line.write_all(request).await.unwrap();
        let mut answer = String::new();
        line.read_to_string(&mut answer).await.unwrap();
        assert!(answer.starts_with("HTTP/1.1 200 "), "{answer}");
    };
    tokio::time::timeout(TOO_LONG, ask).await.expect("others are answered");
}

#[tokio::test(flavor = "multi_thread")]
async fn nobody_keeps_others_out_with_connections_that_say_nothing() {
    let bed = Bed::new().await;
    let served = bed.serve().await;
    let mut silent = Vec::new();
    for _ in 0..512 {
        silent.push(TcpStream::connect(served.address()).await.unwrap());
    }
    well(&served).await;
    // Not because they were waited for: most are still there.
    let open = silent.iter().filter(|line| {
        matches!(line.try_read(&mut [0; 1]), Err(error) if error.kind() == std::io::ErrorKind::WouldBlock)
    });
    assert!(open.count() >= 400);
}

#[tokio::test(flavor = "multi_thread")]
async fn nobody_keeps_others_out_with_answers_that_he_does_not_take() {
    let bed = Bed::new().await;
    let served = bed.serve().await;
    let asked = "GET /admin/api/openapi.json HTTP/1.1\r\nHost: localhost\r\n\r\n".repeat(12);
    let mut greedy = Vec::new();
    for _ in 0..512 {
        let socket = TcpSocket::new_v4().unwrap();
        socket.set_recv_buffer_size(2_048).unwrap();
        let mut line = socket.connect(served.address()).await.unwrap();
        line.write_all(asked.as_bytes()).await.unwrap();
        greedy.push(line);
    }
    for _ in 0..3 {
        well(&served).await;
    }
    assert_eq!(greedy.len(), 512, "held until here");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_session_ends_with_the_token_that_began_it() {
    let bed = Bed::new().await;
    let served = bed.guarded().await;
    let begun = async |name: &str| {
        let new = served.post("/admin/api/tokens", json!({ "name": name, "scope": "admin" })).await;
        let new = new.is(201).json();
        let request =
            served.request(Method::POST, "/admin/api/session").header("content-type", "application/json");
        let request = request.body(json!({ "token": new["token"] }).to_string());
        let answer = served.send(request).await.is(200);
        let cookie = answer.header("set-cookie").split(';').next().unwrap().to_owned();
        (new["id"].as_i64().unwrap(), cookie)
    };
    let with = |path: &str, cookie: &str| served.request(Method::GET, path).header("cookie", cookie);
    let (id, cookie) = begun("visitor").await;
    served.send(with("/admin/api/tokens", &cookie)).await.is(200);
    let mut events = with("/admin/api/events", &cookie).send().await.unwrap();
    assert!(events.chunk().await.unwrap().is_some());
    served.delete(&format!("/admin/api/tokens/{id}")).await.is(200);
    served.send(with("/admin/api/tokens", &cookie)).await.is(401).problem("unauthenticated");
    let ends = async { while events.chunk().await.unwrap().is_some() {} };
    tokio::time::timeout(TOO_LONG, ends).await.expect("who watched is let go");
    // Taken back by command, in another process.
    let (_, cookie) = begun("guest").await;
    served.send(with("/admin/api/tokens", &cookie)).await.is(200);
    assert!(bed.command(&["token", "rm", "guest"]).status().await.unwrap().success());
    served.send(with("/admin/api/tokens", &cookie)).await.is(401);
}

#[tokio::test(flavor = "multi_thread")]
async fn coming_and_going_is_in_the_audit() {
    let bed = Bed::new().await;
    let served = bed.guarded().await;
    let request =
        served.request(Method::POST, "/admin/api/session").header("content-type", "application/json");
    let request = request.body(json!({ "user": "admin", "password": PASSWORD }).to_string());
    let answer = served.send(request).await.is(200);
    let cookie = answer.header("set-cookie").split(';').next().unwrap().to_owned();
    let leave = served.request(Method::DELETE, "/admin/api/session").header("cookie", cookie);
    served.send(leave.header("origin", &served.base)).await.is(204);
    let rows = served.get("/admin/api/audit?action=session.").await.is(200).json();
    let rows: Vec<_> = rows["items"].as_array().unwrap().iter().collect();
    let told = |row: &serde_json::Value| (row["action"].clone(), row["actor"].clone());
    assert_eq!(told(rows[0]), (json!("session.end"), json!("admin")));
    assert_eq!(told(rows[1]), (json!("session.begin"), json!("admin")));
}

#[tokio::test(flavor = "multi_thread")]
async fn a_site_file_names_no_file_of_this_machine_at_either_door() {
    let bed = Bed::new().await;
    let served = bed.serve().await;
    let send = async |method: Method, path: &str, text: String| {
        let request = served.asked(method, path).header("content-type", "application/yaml");
        served.send(request.body(text)).await
    };
    let reading = format!("{SITE}\nca_file: /etc/passwd\n");
    let refused = send(Method::POST, "/admin/api/sites", reading.clone()).await.is(422).problem("invalid");
    assert_eq!(refused["field"], "ca_file");
    send(Method::POST, "/admin/api/sites", SITE.to_owned()).await.is(201);
    let refused = send(Method::PUT, "/admin/api/sites/ndrc", reading).await.is(422).problem("invalid");
    assert_eq!(refused["field"], "ca_file");
    send(Method::PUT, "/admin/api/sites/ndrc", SITE.to_owned()).await.is(200);
    let other = SITE.replacen("ndrc", "other", 1);
    let refused = send(Method::PUT, "/admin/api/sites/ndrc", other).await.is(422).problem("invalid");
    assert_eq!(refused["field"], "site_id");
}
