//! Answers made to hurt: no answer makes the adapter panic, trap or take a list for empty.

use dibao_adapter::{Context, Entry, Failure, ListStep, Reply, Request, detail_turn, list_turn};
use dibao_adapter_gkmlpt::Gkmlpt;
use proptest::prelude::*;
use serde_json::{Value, json};

use crate::both::{ADAPTER, BASE, NOW, Target, adapters, reply, saved};
use crate::native::Native;

/// S: the size a bundled component may have.
const LARGEST: u64 = 400_000;

#[test]
fn the_component_is_small() {
    let size = std::fs::metadata(adapters().join("gkmlpt.wasm")).expect("the component").len();
    assert!(size <= LARGEST, "{size} bytes");
}

fn context(config: &Value) -> Context {
    Context {
        target: "demo__column".into(),
        base: BASE.into(),
        config: config.to_string(),
        session: Vec::new(),
        now: NOW,
        seed: vec![7; 32],
    }
}

fn configs() -> [Value; 4] {
    [
        json!({"column_id": 1, "sid": 1}),
        json!({}),
        json!({"discover": true}),
        json!({"column_id": 0, "sid": "1", "detail": {"content": "p", "fields": {"x": "td::text"}}}),
    ]
}

/// One body as every kind of answer. A success with another shape than a list must be told.
fn feed(body: &[u8]) {
    let request = |tag: &str| Request::page(tag, BASE);
    let host = |replies: &[Reply]| Native::new(replies);
    for config in configs() {
        for tag in ["list", "index", "index-of-host"] {
            for (cursor, status) in [(None, 200), (Some("1:2:100"), 200), (None, 404)] {
                let replies = [reply(&request(tag), status, body.to_vec())];
                let step = list_turn::<Gkmlpt>(&host(&replies), context(&config), cursor, &replies);
                let text = dibao::extract::charset::decode(body, None).text;
                let is_json = text.trim_start_matches(['\u{feff}', ' ', '\n']).starts_with(['{', '[', '"']);
                if let Ok(turn) = step
                    && let ListStep::Done(_) = turn.step
                    && tag == "list"
                    && config["discover"].is_null()
                    && status == 200
                {
                    assert!(is_json, "a list was made of {:?}", String::from_utf8_lossy(body));
                }
            }
        }
        let mut entry = Entry::new(format!("{BASE}/p"), "标题".into());
        entry.fields.push(("post_url".into(), format!("{BASE}/q")));
        for tag in ["page", "other", "last"] {
            let replies = [reply(&request(tag), 200, body.to_vec())];
            let _ = detail_turn::<Gkmlpt>(&host(&replies), context(&config), &entry, &replies);
        }
    }
}

/// Values of any kind under the platform's own keys.
fn answers() -> impl Strategy<Value = Value> {
    let keys = vec![
        "id",
        "type",
        "title",
        "url",
        "post_url",
        "date",
        "create_time",
        "created_at",
        "attachment",
        "attachments",
        "name",
        "articles",
        "total",
        "offset",
        "classify",
        "post_count",
        "result",
        "data",
        "list",
        "children",
        "jump_url",
        "TREE",
        "SID",
        "DETAIL",
        "content",
        "gkml_data",
        "is_expired",
        "0",
        "x",
    ];
    let text = prop_oneof![
        any::<String>(),
        Just("url".to_owned()),
        Just("[{\"url\":\"/a.pdf\"}]".to_owned()),
        "[0-9]{1,20}",
        Just("https://www.example.gov.cn/dept/attachment/1".to_owned()),
        Just("\0".to_owned()),
    ];
    let leaf = prop_oneof![
        Just(Value::Null),
        any::<bool>().prop_map(Value::from),
        any::<i64>().prop_map(Value::from),
        any::<u64>().prop_map(Value::from),
        any::<f64>().prop_map(Value::from),
        text.prop_map(Value::from),
    ];
    leaf.prop_recursive(6, 80, 10, move |inner| {
        let key = prop::sample::select(keys.clone());
        prop_oneof![
            prop::collection::vec(inner.clone(), 0..6).prop_map(Value::from),
            prop::collection::vec((key, inner), 0..10).prop_map(|pairs| Value::Object(
                pairs.into_iter().map(|(key, value)| (key.to_owned(), value)).collect()
            )),
        ]
    })
}

/// Pieces of pages in any order.
fn pages() -> impl Strategy<Value = String> {
    let pieces = vec![
        "<script>",
        "</script>",
        "window._CONFIG",
        "=",
        "{",
        "}",
        "[",
        "]",
        "DETAIL:",
        "TREE:",
        "SID:",
        "'1'",
        "\"content\":",
        ",",
        "\\u003Cp\\u003E",
        "'",
        "\"",
        "<div class=article-content>",
        "<div class=classify><table><tr><td>",
        "<label>文号",
        "<span>x",
        "<a class=nfw-cms-attachment href='/attachment/1/2'>",
        "</div>",
        "<img src=1>",
        "\u{0}",
        "正文",
        "<base href=//x>",
    ];
    prop::collection::vec(prop::sample::select(pieces), 0..60).prop_map(|pieces| pieces.concat())
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 96, ..ProptestConfig::default() })]

    #[test]
    fn no_bytes_make_it_panic(body in prop::collection::vec(any::<u8>(), 0..600)) {
        feed(&body);
    }

    #[test]
    fn no_json_makes_it_panic(answer in answers()) {
        feed(answer.to_string().as_bytes());
        feed(format!("<script>window._CONFIG = {answer}</script>").as_bytes());
        feed(json!({"articles": [answer.clone()], "total": answer}).to_string().as_bytes());
    }

    #[test]
    fn no_page_makes_it_panic(page in pages()) {
        feed(page.as_bytes());
    }

    #[test]
    fn no_damage_to_a_good_answer_makes_it_panic(at in any::<prop::sample::Index>(), byte in any::<u8>(), cut in any::<bool>()) {
        for fixture in ["list/normal.json", "index/index.html", "detail/both.html"] {
            let mut body = saved(fixture);
            let at = at.index(body.len());
            if cut { body.truncate(at) } else { body[at] = byte }
            feed(&body);
        }
    }

    #[test]
    fn no_session_or_cursor_makes_it_panic(session in any::<Vec<u8>>(), cursor in any::<String>(), number in any::<u64>()) {
        let mut context = context(&json!({}));
        for session in [session, json!({"asked": true, "columns": [[number, ""]]}).to_string().into_bytes()] {
            context.session = session;
            for cursor in [cursor.as_str(), &format!("{number}:1:{number}"), &format!("{number}:4294967295:{number}")] {
                let replies = [reply(&Request::json("list", BASE), 200, saved("list/normal.json"))];
                let _ = list_turn::<Gkmlpt>(&Native::new(&replies), context.clone(), Some(cursor), &replies);
            }
        }
    }
}

#[test]
fn the_largest_answers_do_not_end_the_sandbox() {
    const SIZE: usize = 8 << 20;
    let fill = |begin: &str, piece: &str, end: &str| {
        let mut body = String::with_capacity(SIZE);
        body.push_str(begin);
        while body.len() + piece.len() + end.len() <= SIZE {
            body.push_str(piece);
        }
        body.push_str(end);
        body.into_bytes()
    };
    let bodies = [
        fill("{\"articles\":[", "1,", "1]}"),
        fill("{\"articles\":[", "{\"id\":1},", "{}]}"),
        fill("{\"articles\":[{\"id\":1,\"attachment\":[", "{\"url\":\"/a\"},", "{}]}]}"),
        fill("{\"articles\":[{\"id\":1,\"title\":\"", "长", "\"}]}"),
        fill("{\"x\":[", "[],", "[]]}"),
        fill("<script>window._CONFIG={TREE:[", "{\"id\":1},", "]}</script>"),
        fill("<script>window._CONFIG={DETAIL:{\"content\":\"", "\\u003C", "\"}}</script>"),
        fill("<script>", "_CONFIG=[", ""),
        fill("<script>window._CONFIG={TREE:", "[", ""),
    ];
    let target = Target::with(json!({}));
    let entry = Entry::new(format!("{BASE}/p"), "标题".into());
    let known = crate::native::entry(&entry);
    for (number, body) in bodies.into_iter().enumerate() {
        eprintln!("body {number}");
        for tag in ["list", "index"] {
            // `sandboxed` panics on a trap.
            let replies = [reply(&Request::page(tag, BASE), 200, body.clone())];
            target.sandboxed(dibao::adapter::Call::List { cursor: Some("1:1:0") }, &replies);
        }
        let replies = [reply(&Request::page("page", BASE), 200, body)];
        target.sandboxed(dibao::adapter::Call::Detail { entry: &known }, &replies);
    }
    assert_eq!(ADAPTER.about().name, "gkmlpt");
}

#[test]
fn a_list_of_another_kind_is_a_failure_of_shape() {
    for body in [&b""[..], b"<html>", b"null", b"7", b"\xff\xfe", b"{}", b"{\"articles\":{\"a\":1}}", b"\"[]"]
    {
        let replies = [reply(&Request::json("list", BASE), 200, body.to_vec())];
        let step = list_turn::<Gkmlpt>(&Native::new(&replies), context(&configs()[0]), None, &replies);
        assert!(matches!(step, Err(Failure::Shape(_))), "{step:?}");
    }
}
