//! The athena gateway of gov.cn: a warm-up that gives a code, and a list that wants it back. Both want a header that only
//! the holder of the private key can read.
//!
//! The oddities of the real one come by number: every row and every page has the same ones in every process. Even
//! pages have a string for a code, every third one is encoded twice; titles have `<em>`, dates are missing, addresses are
//! `http://` or relative.

use std::sync::LazyLock;
use std::sync::atomic::{AtomicU64, Ordering};

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use percent_encoding::percent_decode_str;
use rsa::pkcs8::{DecodePrivateKey as _, EncodePublicKey as _};
use rsa::{Pkcs1v15Encrypt, RsaPrivateKey};
use serde_json::{Map, Value, json};

use crate::answer::{Answer, Ask};
use crate::govcn;
use crate::post::Head;
use crate::site::Site;
use crate::text::escape;

const WARM_UP: &str = "/athena/forward/DA2FE8C6CAD0EEBC5F97F7E3F3633A7188DAA40373EEA0E4024A081201F4D546";
const LIST: &str = "/athena/forward/486B5ABFBAD0FF5743F5E82E007EF04DDD6388E7989E9EC9CC7B84917AC81A5F";
const APP_KEY: &[u8] = b"a46884b2013e4d189f2a8e2d49a23525";
const APP_NAME: &str = "国网搜索";
/// A record's number, as the real one gives it.
const FIRST_CODE: u64 = 0x0181_22f5_4c5c;

/// Test data: nobody else uses this key.
static KEY: LazyLock<RsaPrivateKey> = LazyLock::new(|| {
    let pem = include_str!("../data/replica-athena-key.pem");
    let body: String = pem.lines().filter(|line| !line.starts_with(['-', '#'])).collect();
    let der = STANDARD.decode(body).expect("the committed key is base64");
    RsaPrivateKey::from_pkcs8_der(&der).expect("the committed key is PKCS#8")
});

/// The public half, SPKI DER in base64.
pub(crate) fn public_key() -> String {
    let der = KEY.to_public_key().to_public_key_der().expect("a public key can be written");
    STANDARD.encode(der.as_bytes())
}

/// What a client of the gateway sends in its header, before base64.
#[cfg(test)]
pub(crate) fn seal(app_key: &[u8]) -> Vec<u8> {
    use rand_chacha::rand_core::SeedableRng as _;
    let mut chance = rand_chacha::ChaCha20Rng::from_seed([3; 32]);
    KEY.to_public_key().encrypt(&mut chance, Pkcs1v15Encrypt, app_key).expect("it is short enough")
}

/// What changes while the gateway runs.
#[derive(Debug, Default)]
pub(crate) struct Athena {
    rotations: AtomicU64,
    lists: AtomicU64,
    pub(crate) rotates_every: AtomicU64,
}

impl Athena {
    pub(crate) fn rotate(&self) {
        self.rotations.fetch_add(1, Ordering::SeqCst);
    }

    fn code(&self) -> String {
        format!("{:x}", FIRST_CODE + self.rotations.load(Ordering::SeqCst))
    }

    pub(crate) fn answer(&self, documents: &Site, ask: &Ask<'_>) -> Answer {
        if ![WARM_UP, LIST].contains(&ask.path) {
            return refuse(json!("athena_0404"), "服务不存在");
        }
        if let Err(why) = identify(ask) {
            return refuse(json!("athena_0001"), why);
        }
        match (ask.path, ask.posted) {
            (WARM_UP, None) => {
                let query: Vec<_> = ask.query.unwrap_or_default().split('&').collect();
                if !query.contains(&"thirdPartyName=hycloud") || !query.contains(&"thirdPartyTenantId=8") {
                    return refuse(json!(400), "参数错误");
                }
                let answer = json!({ "resultCode": { "code": 200 }, "result": { "data": self.code() } });
                Answer::new(200, "application/json;charset=UTF-8", answer.to_string())
            }
            (LIST, Some(body)) => match serde_json::from_slice(body) {
                Ok(question) => self.list(documents, &question, ask.empty_list),
                Err(_) => refuse(json!(400), "请求体不是 JSON"),
            },
            _ => refuse(json!(405), "请求方式错误"),
        }
    }

    fn list(&self, documents: &Site, question: &Value, empty: bool) -> Answer {
        let number = |name: &str| question[name].as_u64();
        let (Some(page), Some(size)) = (number("pageNo"), number("pageSize")) else {
            return refuse(json!("400"), "分页参数错误");
        };
        let whole = question["thirdPartyCode"] == "thirdparty_code_107"
            && question["thirdPartyTableId"] == 30
            && question["trackTotalHits"] == "true"
            && question["isPreciseSearch"].is_u64()
            && question["sorts"][0] == json!({ "sortField": "publish_time", "sortOrder": "DESC" })
            && question["childrenInfoIds"].is_array()
            && (1..=100).contains(&size)
            && page >= 1;
        if !whole {
            return refuse(json!("400"), "参数错误");
        }
        if question["code"] != self.code() {
            // Numbers and words both occur.
            return refuse(
                if page % 2 == 0 { json!(500) } else { json!("athena_code_invalid") },
                "code 已失效",
            );
        }
        let word = question["searchFields"][0]["searchWord"].as_str().unwrap_or_default();
        let found: Vec<Head> = documents
            .rows(0, 0, u64::MAX)
            .into_iter()
            .filter(|head| !empty && head.title.contains(word))
            .collect();
        let total = found.len() as u64;
        let rows: Vec<Value> = found
            .iter()
            .skip(((page - 1) * size) as usize)
            .take(size as usize)
            .map(|head| row(documents, head, &question["resultFields"]))
            .collect();
        let every = self.rotates_every.load(Ordering::SeqCst);
        if every > 0 && (self.lists.fetch_add(1, Ordering::SeqCst) + 1).is_multiple_of(every) {
            self.rotate();
        }
        let pager =
            json!({ "total": total, "pageCount": total.div_ceil(size), "pageNo": page, "pageSize": size });
        let code = if page % 2 == 0 { json!("200") } else { json!(200) };
        let answer = json!({
            "resultCode": { "code": code, "cnMsg": "成功" },
            "result": { "data": { "pager": pager, "list": rows } },
        })
        .to_string();
        let answer = if page % 3 == 2 { Value::String(answer).to_string() } else { answer };
        Answer::new(200, "application/json;charset=UTF-8", answer)
    }
}

/// Whether the two headers are right: the app key must come out of the cipher.
fn identify(ask: &Ask<'_>) -> Result<(), &'static str> {
    let header = |name: &str| ask.headers.get(name).and_then(|value| value.to_str().ok()).unwrap_or_default();
    let decoded = |text: &str| percent_decode_str(text).decode_utf8().map(|text| text.into_owned());
    if decoded(header("athenaappname")).ok().as_deref() != Some(APP_NAME) {
        return Err("应用名称无效");
    }
    let sealed = decoded(header("athenaappkey")).ok().and_then(|text| STANDARD.decode(text).ok());
    let opened = sealed.and_then(|sealed| KEY.decrypt(Pkcs1v15Encrypt, &sealed).ok());
    if opened.as_deref() == Some(APP_KEY) { Ok(()) } else { Err("应用密钥无效") }
}

fn refuse(code: Value, why: &str) -> Answer {
    let answer = json!({ "resultCode": { "code": code, "cnMsg": why }, "result": null });
    Answer::new(200, "application/json;charset=UTF-8", answer.to_string())
}

/// Only the fields that were asked for.
fn row(documents: &Site, head: &Head, fields: &Value) -> Value {
    let facts = govcn::facts(documents, head);
    let path = documents.family.post_path(documents, head);
    let (host, id) = (&documents.host, head.id);
    let mut row = Map::new();
    for field in fields.as_array().into_iter().flatten().filter_map(Value::as_str) {
        let value = match field {
            "maintitle" => json!(highlighted(head)),
            "pub_url" => json!(match id % 10 {
                4 => format!("http://{host}{path}"),
                2 => format!("../{}", path.trim_start_matches("/zhengce/")),
                6 => path.clone(),
                _ => format!("https://{host}{path}"),
            }),
            "fwzh" if id % 17 == 2 => continue,
            "fwzh" => json!(facts.doc_no),
            "cwrq" if id % 11 == 3 => Value::Null,
            "cwrq" => json!(facts.written.format("%Y-%m-%d 00:00:00").to_string()),
            "publish_time" => json!(match id % 13 {
                5 => String::new(),
                6 => head.at.format("%Y-%m-%d").to_string(),
                _ => head.at.format("%Y-%m-%d %H:%M:%S").to_string(),
            }),
            _ => continue,
        };
        row.insert(field.to_owned(), value);
    }
    Value::Object(row)
}

/// Every seventh title has a highlight, as if something had been searched for.
pub(crate) fn highlighted(head: &Head) -> String {
    let at = head.title.char_indices().nth(2).map_or(0, |(at, _)| at);
    match head.id % 7 {
        3 => format!("<em>{}</em>{}", escape(&head.title[..at]), escape(&head.title[at..])),
        _ => head.title.clone(),
    }
}
