//! The search hosts of the policy library, without sockets: what they refuse, and what they say then.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use http::{HeaderMap, HeaderValue};
use serde_json::{Value, json};

use crate::answer::{Ask, percent};
use crate::athena::{public_key, seal};
use crate::options::ReplicaOptions;
use crate::world::World;

const WARM_UP: &str = "/athena/forward/DA2FE8C6CAD0EEBC5F97F7E3F3633A7188DAA40373EEA0E4024A081201F4D546";
const LIST: &str = "/athena/forward/486B5ABFBAD0FF5743F5E82E007EF04DDD6388E7989E9EC9CC7B84917AC81A5F";
const QUERY: &str = "thirdPartyName=hycloud&thirdPartyTenantId=8";

fn headers(app_key: &[u8], name: &str) -> HeaderMap {
    let key = percent(&STANDARD.encode(seal(app_key)));
    let mut headers = HeaderMap::new();
    headers.insert("athenaappkey", HeaderValue::from_str(&key).expect("ASCII"));
    headers.insert("athenaappname", HeaderValue::from_str(&percent(name)).expect("ASCII"));
    headers
}

fn right() -> HeaderMap {
    headers(b"a46884b2013e4d189f2a8e2d49a23525", "国网搜索")
}

/// What the gateway says: its code, and the data.
fn ask(
    world: &World,
    headers: &HeaderMap,
    path: &str,
    query: &str,
    posted: Option<&Value>,
) -> (Value, Value) {
    let body = posted.map(Value::to_string);
    let ask = Ask {
        path,
        query: Some(query),
        empty_list: false,
        headers,
        posted: body.as_deref().map(str::as_bytes),
    };
    let answer = world.answer("sousuoht.www.gov.cn", &ask).expect("an answer");
    assert_eq!(answer.status, 200, "it says no with a status of 200");
    let json: Value = serde_json::from_slice(&answer.body).expect("JSON");
    (json["resultCode"]["code"].clone(), json["result"]["data"].clone())
}

fn question(code: &Value) -> Value {
    json!({"code": code, "thirdPartyCode": "thirdparty_code_107", "thirdPartyTableId": 30, "resultFields": ["pub_url"],
        "trackTotalHits": "true", "searchFields": [{"fieldName": "maintitle", "searchWord": ""}], "isPreciseSearch": 0,
        "sorts": [{"sortField": "publish_time", "sortOrder": "DESC"}], "childrenInfoIds": [], "pageSize": 20, "pageNo": 1})
}

#[test]
fn the_gateway_opens_the_header_and_wants_the_right_key_inside() -> anyhow::Result<()> {
    let world = World::new(&ReplicaOptions::default())?;
    let code = |headers: &HeaderMap| ask(&world, headers, WARM_UP, QUERY, None).0;
    assert_eq!(code(&right()), json!(200));
    for wrong in [
        HeaderMap::new(),
        headers(b"another key", "国网搜索"),
        headers(b"a46884b2013e4d189f2a8e2d49a23525", "规章库"),
        [("athenaappkey", "AAAA"), ("athenaappname", "%E5%9B%BD%E7%BD%91%E6%90%9C%E7%B4%A2")]
            .into_iter()
            .map(|(name, value)| (name.parse().expect("a name"), HeaderValue::from_static(value)))
            .collect(),
    ] {
        assert_eq!(code(&wrong), json!("athena_0001"), "{wrong:?}");
    }
    assert_eq!(ask(&world, &right(), "/athena/forward/X", QUERY, None).0, json!("athena_0404"));
    assert_eq!(ask(&world, &right(), WARM_UP, "", None).0, json!(400));
    assert!(public_key().starts_with("MIGfMA0GCSqGSIb3DQEBAQUAA4GNADCBiQKBgQ"), "SPKI of 1024 bits");
    Ok(())
}

#[test]
fn a_list_wants_the_code_of_the_moment_and_the_whole_question() -> anyhow::Result<()> {
    let world = World::new(&ReplicaOptions::default())?;
    let list = |question: &Value| ask(&world, &right(), LIST, "", Some(question));
    let code = ask(&world, &right(), WARM_UP, QUERY, None).1;
    let (said, data) = list(&question(&code));
    assert_eq!(
        (said, data["list"].as_array().map(Vec::len), &data["pager"]["total"]),
        (json!(200), Some(20), &json!(100))
    );
    assert!(data["list"][0].get("maintitle").is_none(), "only what was asked for comes back");
    for (name, value) in [
        ("code", json!("x")),
        ("thirdPartyTableId", json!("30")),
        ("trackTotalHits", json!(true)),
        ("pageSize", json!(101)),
    ] {
        let mut wrong = question(&code);
        wrong[name] = value;
        assert_ne!(list(&wrong).0, json!(200), "{name}");
    }
    world.library.athena.rotate();
    assert_eq!(list(&question(&code)).0, json!("athena_code_invalid"));
    let fresh = ask(&world, &right(), WARM_UP, QUERY, None).1;
    assert_eq!(list(&question(&fresh)).0, json!(200));
    Ok(())
}
