//! Asking only for another version of a page: what goes out where, and what counts as "unchanged".

use super::*;

const DATE: &str = "Tue, 14 Nov 2023 22:13:19 GMT";

fn known(url: &str) -> Validators {
    Validators::kept(url.into(), Some("W/\"v1\"".into()), Some(DATE.into())).unwrap()
}

/// A page with a version, another that leads to it, and one whose server says "unchanged" to anybody.
async fn versioned() -> Server {
    Server::start(|asked| match asked.path.as_str() {
        "/list" => reply("304 Not Modified", "etag: W/\"v1\"\r\n", b""),
        "/moved" => redirect_to("/list"),
        "/away" => redirect_to("/plain"),
        _ => reply("200 OK", "content-type: text/html\r\netag: \"p1\"\r\n", b"<p>page"),
    })
    .await
}

fn conditions(server: &Server) -> Vec<bool> {
    let asks = |head: &String| head.to_ascii_lowercase().contains("if-none-match: w/\"v1\"\r\n");
    server.heads().iter().map(asks).collect()
}

#[tokio::test]
async fn a_page_that_is_known_is_not_sent_again() {
    let server = versioned().await;
    let gate = gate(options());
    let known = known(&server.url("/list"));
    let fetched = gate.fetch_if_changed(&ask(&server.url("/list#top")), &known).await.unwrap();
    assert!(fetched.unchanged && fetched.body.is_empty() && fetched.status == 304);
    assert_eq!(Validators::of(&fetched), None, "what is not there has no version");
    let head = &server.heads()[0].to_ascii_lowercase();
    assert!(
        head.contains("if-none-match: w/\"v1\"\r\n") && head.contains("if-modified-since: tue, 14 nov 2023")
    );
}

#[tokio::test]
async fn conditions_go_to_the_address_they_are_of_and_to_no_other_on_the_way() {
    let server = versioned().await;
    let gate = gate(options());
    let list = known(&server.url("/list"));
    assert!(gate.fetch_if_changed(&ask(&server.url("/moved")), &list).await.unwrap().unchanged);
    assert_eq!(conditions(&server), [false, true]);
    let moved = known(&server.url("/away"));
    let fetched = gate.fetch_if_changed(&ask(&server.url("/away")), &moved).await.unwrap();
    assert_eq!(conditions(&server)[2..], [true, false], "taken off again behind a redirect");
    let kept = Validators::of(&fetched).unwrap();
    assert_eq!((kept.url, kept.etag.as_deref()), (server.url("/plain"), Some("\"p1\"")));
}

#[tokio::test]
async fn unchanged_is_no_answer_to_those_who_did_not_ask() {
    let server = versioned().await;
    let gate = gate(options());
    let plain = gate.fetch(&ask(&server.url("/list"))).await.unwrap();
    assert_eq!((plain.status, plain.unchanged), (304, false));
    let other = known(&server.url("/other"));
    assert!(!gate.fetch_if_changed(&ask(&server.url("/list")), &other).await.unwrap().unchanged);
    let post = Ask { method: Method::Post, ..ask(&server.url("/list")) };
    assert!(!gate.fetch_if_changed(&post, &known(&server.url("/list"))).await.unwrap().unchanged);
    assert_eq!(conditions(&server), [false; 3]);
}
