//! No answer, however malformed, makes the adapter trap: it gives rows or a failure, natively and in the sandbox.

use dibao_adapter::Reply;
use proptest::prelude::*;
use serde_json::{Map, Value, json};

use crate::both::{Target, answer, reply, row};

const FIXTURES: [&str; 12] = [
    "xxgk/warmup.json",
    "xxgk/list.json",
    "xxgk/list-twice-encoded.json",
    "xxgk/list-stale-words.json",
    "zcwjk/grouped.json",
    "zcwjk/single.json",
    "zcwjk/incomplete.json",
    "zuixin/feed.json",
    "pages/formal.html",
    "pages/old-formal.html",
    "pages/article.html",
    "pages/library.html",
];

/// Gives an answer to everything that reads one.
fn feed(body: &[u8], status: u16) {
    let with = |tag: &str| Reply { body: body.to_vec(), ..answer(tag, status, "") };
    for profile in ["xxgk", "zcwjk", "zuixin"] {
        let mut target = Target::with(json!({ "policy_profile": profile }));
        for tag in ["warmup", "list"] {
            for cursor in [None, Some("2")] {
                let _ = target.list_step(cursor, vec![with(tag)]);
            }
        }
    }
    let _ = Target::with(json!({})).detail(&row(), with("page"));
}

/// Words that the adapter looks for, and words that break readers.
fn word() -> impl Strategy<Value = String> {
    prop_oneof![
        Just("200".to_owned()),
        Just("1001".to_owned()),
        Just("http://[".to_owned()),
        Just("https://www.gov.cn/content_1.htm".to_owned()),
        Just("\u{0}".to_owned()),
        Just("2026.04.10".to_owned()),
        Just("<em>".repeat(50)),
        any::<String>(),
    ]
}

fn scalar() -> impl Strategy<Value = Value> {
    prop_oneof![
        Just(Value::Null),
        any::<bool>().prop_map(Value::from),
        any::<i64>().prop_map(Value::from),
        any::<u64>().prop_map(Value::from),
        any::<f64>().prop_map(|number| json!(number)),
        word().prop_map(Value::from),
    ]
}

/// JSON with the names of the real answers in any place.
fn any_json() -> impl Strategy<Value = Value> {
    let name = prop::sample::select(vec![
        "resultCode",
        "code",
        "cnMsg",
        "result",
        "data",
        "pager",
        "total",
        "pageCount",
        "list",
        "pub_url",
        "maintitle",
        "fwzh",
        "cwrq",
        "publish_time",
        "searchVO",
        "listVO",
        "catMap",
        "totalCount",
        "totalpage",
        "gongwen",
        "id",
        "url",
        "title",
        "pubtime",
        "ptime",
        "pubtimeStr",
        "URL",
        "TITLE",
        "DOCRELPUBTIME",
    ]);
    scalar().prop_recursive(6, 64, 8, move |inner| {
        let entries = prop::collection::vec((name.clone(), inner.clone()), 0..8);
        prop_oneof![
            prop::collection::vec(inner, 0..8).prop_map(Value::from),
            entries.prop_map(|entries| {
                entries
                    .into_iter()
                    .map(|(name, value)| (name.to_owned(), value))
                    .collect::<Map<_, _>>()
                    .into()
            }),
        ]
    })
}

/// An answer of the right shape whose values are anything.
fn shaped() -> impl Strategy<Value = Value> {
    let values = prop::collection::vec((scalar(), scalar(), scalar(), scalar()), 0..6);
    (values, scalar(), scalar(), any_json()).prop_map(|(values, total, pages, odd)| {
        let mut rows: Vec<Value> = values
            .into_iter()
            .map(|(a, b, c, d)| {
                json!({"pub_url": a, "url": a, "URL": a, "maintitle": b, "title": b, "publish_time": c, "pubtimeStr": c,
                    "pubtime": d, "ptime": c, "cwrq": d, "fwzh": b, "pcode": d, "id": c, "childtype": b, "index": a})
            })
            .collect();
        rows.push(odd.clone());
        json!({"resultCode": {"code": 200}, "code": 200,
            "result": {"data": {"pager": {"total": total, "pageCount": pages}, "list": rows}},
            "searchVO": {"totalCount": total, "totalpage": pages, "listVO": null,
                "catMap": {"gongwen": {"totalCount": pages, "listVO": rows}, "x": odd, "gongbao": {"listVO": rows}}}})
    })
}

fn cases(count: u32) -> ProptestConfig {
    ProptestConfig { cases: count, failure_persistence: None, ..ProptestConfig::default() }
}

proptest! {
    #![proptest_config(cases(64))]

    #[test]
    fn any_bytes(bytes in prop::collection::vec(any::<u8>(), 0..400), status in 100u16..600) {
        feed(&bytes, status);
    }

    #[test]
    fn any_json_document(json in any_json(), twice in any::<bool>()) {
        let text = json.to_string();
        feed(if twice { json!(text).to_string() } else { text }.as_bytes(), 200);
    }

    #[test]
    fn any_values_in_the_right_places(json in shaped()) {
        feed(json.to_string().as_bytes(), 200);
        feed(json["result"]["data"]["list"].to_string().as_bytes(), 200);
    }

    #[test]
    fn any_html(html in "(<[/!]?(table|tr|td|th|div|p|a href='[.]/x[.]pdf'|meta name='keywords' content='a'|td id='UCAP-CONTENT'|div class='pctoubukuang1'|h1 id='ti'|html)[ >]|索 引 号：|来源：|标题|[a-z<>&;=\"' -]|中){0,80}") {
        feed(html.as_bytes(), 200);
    }

    #[test]
    fn a_saved_answer_that_is_cut_or_broken(which in 0..FIXTURES.len(), at in any::<prop::sample::Index>(), byte in any::<u8>(), cut in any::<bool>()) {
        let mut body = reply("", FIXTURES[which]).body;
        let at = at.index(body.len());
        if cut { body.truncate(at) } else { body[at] = byte }
        feed(&body, 200);
    }
}

#[test]
fn answers_of_more_values_than_the_guest_has_memory_for_end_as_failures() {
    let full = |piece: &str| piece.repeat((7 << 20) / piece.len());
    let rows = |row: &str| {
        let rows = full(&format!("{row},"));
        format!("{{\"resultCode\":{{\"code\":200}},\"result\":{{\"data\":{{\"list\":[{rows}{row}]}}}}}}")
    };
    for body in [
        format!("[{}0]", full("0,")),
        format!("[{}[]]", full("[],")),
        format!("{{{}\"a\":0}}", full("\"a\":0,")),
        full("["),
        format!("\"{}\"", full("\\u0000")),
        rows("{}"),
        rows("{\"pub_url\":\"https://a.cn/\",\"url\":\"https://a.cn/\"}"),
        format!("{{\"code\":\"{}\"}}", full("9")),
    ] {
        for profile in ["xxgk", "zcwjk", "zuixin"] {
            let mut target = Target::with(json!({ "policy_profile": profile }));
            for tag in ["warmup", "list"] {
                let page = target.list_step(None, vec![answer(tag, 200, &body)]);
                assert!(page.is_err(), "{profile} {tag} {}…", &body[..40]);
            }
        }
    }
}
