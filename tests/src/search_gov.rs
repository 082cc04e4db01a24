//! The search of gov.cn's document library: grouped and single-class answers over the posts of www.gov.cn. Formal
//! documents are `gongwen`, articles `bumenfile`; every 25th formal document is in the gazette too.
//!
//! The oddities of the real one come by number, as in `athena`: ids as words or numbers, the same value under three
//! names, no day or no moment, `http://`, and a second name for the address.

use std::collections::BTreeMap;

use chrono::TimeDelta;
use percent_encoding::percent_decode_str;
use serde_json::{Map, Value, json};

use crate::answer::{Answer, Ask};
use crate::athena::highlighted;
use crate::govcn;
use crate::post::Head;
use crate::site::Site;
use crate::text::escape;

/// Without all of these the search behaves as if it held nothing.
const WANTED: [&str; 24] = [
    "t",
    "q",
    "p",
    "n",
    "sort",
    "sortType",
    "searchfield",
    "timetype",
    "mintime",
    "maxtime",
    "pcodeJiguan",
    "pcodeYear",
    "pcodeNum",
    "childtype",
    "subchildtype",
    "puborg",
    "pubtimeyear",
    "pubtimeqarter",
    "tsbq",
    "filetype",
    "inpro",
    "bmfl",
    "dup",
    "orpro",
];

pub(crate) fn answer(documents: &Site, ask: &Ask<'_>) -> Answer {
    if ask.path != "/search-gov/data" || ask.posted.is_some() {
        return Answer::missing();
    }
    let query: BTreeMap<String, String> = ask
        .query
        .unwrap_or_default()
        .split('&')
        .filter_map(|part| part.split_once('='))
        .map(|(name, value)| (name.to_owned(), percent_decode_str(value).decode_utf8_lossy().into_owned()))
        .collect();
    let value = |name: &str| query.get(name).map_or("", String::as_str);
    let (page, size) = (value("p").parse().unwrap_or(0), value("n").parse().unwrap_or(0));
    let whole = WANTED.iter().all(|name| query.contains_key(*name)) && !query.contains_key("type");
    let classes: &[&str] = match value("t") {
        "zhengcelibrary" => &["gongwen", "bumenfile", "otherfile", "gongbao"],
        "zhengcelibrary_gw_bm" => &["gongwen", "bumenfile"],
        "zhengcelibrary_gw" => &["gongwen"],
        "zhengcelibrary_bm" => &["bumenfile"],
        "zhengcelibrary_gb" => &["gongbao"],
        "zhengcelibrary_or" => &["otherfile"],
        _ => &[],
    };
    if !whole || classes.is_empty() || page == 0 || !(1..=250).contains(&size) {
        return said(json!({ "q": null, "totalCount": 0, "listVO": null, "catMap": {} }));
    }
    let found: Vec<(&str, Vec<Head>)> = classes
        .iter()
        .map(|class| {
            let mut heads = if ask.empty_list { Vec::new() } else { of_class(documents, class) };
            heads.retain(|head| head.title.contains(value("q")));
            (*class, heads)
        })
        .collect();
    if !value("q").is_empty() && found.iter().all(|(_, heads)| heads.is_empty()) {
        let none = json!({ "code": 1001, "msg": "抱歉，没有找到相关结果", "data": [], "searchVO": null });
        return json_answer(&none);
    }
    let rows = |heads: &[Head]| -> Vec<Value> {
        let from = ((page - 1) * size) as usize;
        heads.iter().skip(from).take(size as usize).map(|head| row(documents, head)).collect()
    };
    let pages = |heads: &[Head]| (heads.len() as u64).div_ceil(size);
    match found.as_slice() {
        [(_, heads)] => said(json!({
            "q": value("q"), "totalCount": heads.len(), "totalpage": pages(heads), "listVO": rows(heads), "catMap": null,
        })),
        groups => {
            let groups: Map<String, Value> = groups
                .iter()
                .map(|(class, heads)| {
                    let group = json!({ "catName": class, "totalCount": heads.len(), "listVO": rows(heads) });
                    ((*class).to_owned(), group)
                })
                .collect();
            said(json!({ "q": null, "totalCount": 0, "listVO": null, "catMap": groups }))
        }
    }
}

fn of_class(documents: &Site, class: &str) -> Vec<Head> {
    let mut heads = match class {
        "gongwen" | "gongbao" => documents.rows(0, 0, u64::MAX),
        "bumenfile" => documents.rows(1, 0, u64::MAX),
        _ => Vec::new(),
    };
    heads.retain(|head| class != "gongbao" || head.id % 25 == 0);
    heads
}

fn said(search: Value) -> Answer {
    json_answer(&json!({ "code": 200, "msg": "操作成功", "paramsVO": {}, "searchVO": search }))
}

fn json_answer(answer: &Value) -> Answer {
    Answer::new(200, "application/json;charset=UTF-8", answer.to_string())
}

fn row(documents: &Site, head: &Head) -> Value {
    let facts = govcn::facts(documents, head);
    let (host, id) = (&documents.host, head.id);
    let path = documents.family.post_path(documents, head);
    let moment = (head.at - TimeDelta::hours(8)).and_utc().timestamp_millis();
    let mut row = Map::new();
    let mut set = |name: &str, value: Value| row.insert(name.to_owned(), value);
    set("id", if id % 2 == 0 { json!(id) } else { json!(id.to_string()) });
    set("title", json!(highlighted(head)));
    let scheme = if id % 10 == 4 { "http" } else { "https" };
    set(if id % 10 == 7 { "pcurl" } else { "url" }, json!(format!("{scheme}://{host}{path}")));
    set("pcode", Value::Null);
    set(["pcode", "wenhao", "fwzh"][(id % 3) as usize], json!(facts.doc_no));
    set("source", Value::Null);
    set(["puborg", "puborgStr", "source", "fwdw"][(id % 4) as usize], json!(facts.issuer));
    let day = head.at.format("%Y.%m.%d").to_string();
    set("pubtimeStr", if id % 9 == 4 { Value::Null } else { json!(day) });
    set("pubtime", json!(if id % 8 == 3 { 0 } else { moment }));
    set("ptime", json!(moment));
    set("childtype", json!(facts.topic));
    set("index", json!(facts.index_no));
    set("summary", json!(format!("关于<em>示例</em>的摘要。<br>{}", escape(&head.title))));
    Value::Object(row)
}
