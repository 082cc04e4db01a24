//! The largest answers, made to hurt: as large as a reply may be and as bad as its format allows. Each bundled component must
//! answer within the memory and the time of a turn, with rows, a document or a failure.
//!
//! Time is counted in fuel, the guest's instructions, which are the same on every machine and in every build.

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use dibao::adapter::contract::{Context, Entry, Reply};
use dibao::adapter::{Adapter, AdapterHost, Call, HostOptions, Registry, Turn, TurnError};
use serde_json::{Value, json};

/// A reply has at most this.
const LARGEST: usize = 8 << 20;
/// What a turn's second is enough for; usual pages take a thousandth of it.
const FUEL: u64 = 1_600_000_000;
/// Bytes of a bundled component.
const COMPONENT: u64 = 400_000;

fn adapters() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../target/adapters")
}

fn load(name: &str, memory: usize) -> Adapter {
    let mut options = HostOptions { measure: true, ..HostOptions::default() };
    // The clock is not what is asked about: it would also count the host's own work, here without optimisation.
    options.limits.deadline = Duration::from_secs(120);
    options.limits.memory = memory;
    let host = AdapterHost::new(options).expect("a host");
    let registry = Registry::open(adapters()).expect("run `cargo xtask adapters` first");
    registry.load(&host, name).expect(name).adapter
}

fn context(target: &str, config: &Value) -> Context {
    Context {
        target: target.into(),
        base: "https://a.cn".into(),
        config: config.to_string(),
        session: Vec::new(),
        now: 1_775_800_000_000,
        seed: vec![7; 32],
    }
}

/// As often as it fits between `start` and `end`.
fn fill(start: &str, part: &str, end: &str) -> Vec<u8> {
    let times = (LARGEST - start.len() - end.len()) / part.len();
    format!("{start}{}{end}", part.repeat(times)).into_bytes()
}

/// An answer, and who reads it: adapter, settings, tag, and whether it is a document.
struct Case {
    what: &'static str,
    adapter: &'static str,
    config: Value,
    tag: &'static str,
    document: bool,
    body: Vec<u8>,
}

fn cases() -> Vec<Case> {
    let feed = |what, body| Case {
        what,
        adapter: "rss",
        config: json!({"list_url": "https://a.cn/feed.xml", "enclosures": "all"}),
        tag: "feed",
        document: false,
        body,
    };
    let prefixes: String = (0..190)
        .map(|depth| {
            let names: String = (0..99).map(|n| format!(" xmlns:p{depth}x{n}='u'")).collect();
            format!("<e{names}>")
        })
        .collect();
    let base = |length: usize| format!("https://a.cn/{}/", "b".repeat(length));
    let enclosures: String = (0..100).map(|n| format!("<enclosure url='{n}'/>")).collect();
    let mut all = vec![
        feed("prefixes", fill(&format!("<rss>{prefixes}"), "<q:a/>", "")),
        feed("declarations", fill("<rss>", "<a xmlns:b='c'/>", "</rss>")),
        feed("a long base", fill(&format!("<rss xml:base='{}'>", base(3_000_000)), "<a/>", "</rss>")),
        feed("bases", fill(&format!("<rss xml:base='{}'>", base(4000)), "<a xml:base='x'/>", "</rss>")),
        feed(
            "enclosures",
            fill(
                &format!("<rss xml:base='{}'><channel>", base(4000)),
                &format!("<item><link>x</link>{enclosures}</item>"),
                "</channel></rss>",
            ),
        ),
        feed(
            "links in a text",
            fill(
                &format!("<rss xml:base='{}'><channel><item><content:encoded><![CDATA[", base(8000)),
                "<a href='x'>",
                "]]></content:encoded></item></channel></rss>",
            ),
        ),
        feed("stray ends", fill(&format!("<rss>{}", "<ab>".repeat(198)), "</ac>", "")),
        feed("open CDATA", fill("<rss><channel>", "<![CDATA[", "")),
        feed("attributes", fill("<rss><channel>", "<a b=''/>", "</channel></rss>")),
        feed(
            "entries without an address",
            fill("<rss><channel>", "<item><title>t</title></item>", "</channel></rss>"),
        ),
        feed("categories", fill("<rss><channel><item>", "<category>a</category>", "</item></channel></rss>")),
        feed("references", fill("<rss><channel><item><title>", "&a;", "</title></item></channel></rss>")),
        feed(
            "escaped tags",
            fill("<rss><channel><item><description>", "&lt;vi>", "</description></item></channel></rss>"),
        ),
        feed("numbers", fill("{\"version\":\"https://jsonfeed.org/version/1\",\"items\":[", "0,", "0]}")),
        feed("objects", fill("{\"version\":\"https://jsonfeed.org/version/1\",\"items\":[", "{},", "0]}")),
    ];
    let list_json = json!({
        "list_url": "https://a.cn/ds.json",
        "list_json": {"rows": "rows", "url": "u", "title": "t"},
    });
    for (what, body) in [
        ("numbers", fill("[", "0,", "0]")),
        ("objects", fill("{\"rows\":[", "{\"u\":0},", "0]}")),
        ("keys", fill("{\"rows\":{", "\"a\":0,", "\"b\":0}}")),
    ] {
        let config = list_json.clone();
        all.push(Case { what, adapter: "yaml-css", config, tag: "list", document: false, body });
    }
    let keys = |start: &str| {
        let mut script = format!("<script>{start}");
        let mut number = 0;
        while script.len() < LARGEST - 40 {
            script.push_str(&format!("\"{number}\":0,"));
            number += 1;
        }
        script.push_str("}};</script>");
        script.into_bytes()
    };
    for (what, body) in [
        ("keys", keys("_CONFIG={DETAIL:{")),
        ("numbers", fill("<script>_CONFIG={DETAIL:[", "0,", "0]}</script>")),
        ("assignments", fill("<script>_CONFIG={};", "_CONFIG.a=0;", "</script>")),
    ] {
        let config = json!({"column_id": 1, "sid": 1});
        all.push(Case { what, adapter: "gkmlpt", config, tag: "page", document: true, body });
    }
    for (what, body) in [
        ("numbers", fill("{\"articles\":[", "0,", "0]}")),
        ("objects", fill("{\"articles\":[", "{\"id\":1},", "0]}")),
    ] {
        let config = json!({"column_id": 1, "sid": 1});
        all.push(Case { what, adapter: "gkmlpt", config, tag: "list", document: false, body });
    }
    for profile in ["xxgk", "zcwjk"] {
        for (what, body) in [("numbers", fill("[", "0,", "0]")), ("objects", fill("[", "{\"a\":0},", "0]"))] {
            let config = json!({"policy_profile": profile});
            all.push(Case { what, adapter: "gov-cn-policy", config, tag: "list", document: false, body });
        }
    }
    all
}

fn turn(
    adapter: &Adapter,
    context: &Context,
    document: bool,
    replies: Vec<Reply>,
) -> Result<Turn, TurnError> {
    let entry = Entry {
        url: "https://a.cn/1".into(),
        title: "t".into(),
        published: None,
        native_id: None,
        pinned: false,
        fields: Vec::new(),
    };
    let call = if document { Call::Detail { entry: &entry } } else { Call::List { cursor: None } };
    adapter.turn(context, call, Arc::new(replies), |turn, _| turn)
}

fn reply(tag: &str, body: Vec<u8>) -> Reply {
    Reply { tag: tag.into(), status: 200, url: "https://a.cn/page".into(), headers: Vec::new(), body }
}

#[test]
fn the_largest_answers_end_in_time_and_within_memory() {
    let mut slow = Vec::new();
    for name in ["rss", "yaml-css", "gkmlpt", "gov-cn-policy"] {
        let adapter = load(name, 64 << 20);
        for case in cases().into_iter().filter(|case| case.adapter == name) {
            let Case { what, config, tag, document, body, .. } = case;
            adapter.check_config(&config).unwrap_or_else(|error| panic!("{name}, {what}: {error}"));
            assert!(body.len() <= LARGEST && body.len() > LARGEST - 100_000, "{name}, {what}");
            let answer = turn(&adapter, &context("a__b", &config), document, vec![reply(tag, body)]);
            let (came, cost) = match answer {
                Ok(turn) => ("rows or a document".to_owned(), turn.cost),
                Err(TurnError::Failure { failure, cost, .. }) => {
                    (format!("{failure:?}"), cost.map(|cost| *cost))
                }
                Err(trap) => panic!("{name}, {what}: {trap}"),
            };
            let fuel = cost.expect("a cost").fuel;
            eprintln!("{name}, {what}: {fuel} fuel, {}", came.chars().take(80).collect::<String>());
            if fuel > FUEL {
                slow.push(format!("{name}, {what}: {fuel} instructions"));
            }
        }
    }
    assert!(slow.is_empty(), "{slow:#?}");
}

#[test]
fn a_target_whose_pages_trap_three_times_in_a_row_is_left_alone_and_others_go_on() {
    // Room for small pages only.
    let adapter = load("rss", 4 << 20);
    let config = json!({"list_url": "https://a.cn/feed.xml"});
    let (bad, good) = (context("a__bad", &config), context("a__good", &config));
    let small = b"<rss><channel><item><link>https://a.cn/1</link></item></channel></rss>".to_vec();
    for _ in 0..3 {
        assert!(!adapter.is_quarantined("a__bad"));
        // To ask for the page is a good turn each time.
        assert!(turn(&adapter, &bad, false, Vec::new()).is_ok());
        let trapped = turn(&adapter, &bad, false, vec![reply("feed", vec![b' '; 6 << 20])]);
        assert!(matches!(trapped, Err(TurnError::Trap { .. })), "{trapped:?}");
    }
    let refused = turn(&adapter, &bad, false, Vec::new());
    assert!(matches!(refused, Err(TurnError::Quarantined { traps: 3, .. })), "{refused:?}");
    assert!(turn(&adapter, &good, false, vec![reply("feed", small)]).is_ok());
    assert!(!adapter.is_quarantined("a__good"));
}

#[test]
fn every_bundled_component_is_small() {
    for name in ["rss", "yaml-css", "gkmlpt", "gov-cn-policy"] {
        let size = std::fs::metadata(adapters().join(format!("{name}.wasm"))).expect(name).len();
        assert!(size <= COMPONENT, "{name}: {size} bytes");
    }
}
