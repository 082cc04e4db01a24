//! Profile `xxgk`: the warm-up, the code, and the list.

use dibao_adapter::{Entry, Failure, Method, Request};
use serde_json::{Value, json};

use crate::both::{Target, answer, reply};

fn target() -> Target {
    Target::with(json!({}))
}

/// A target whose code is known.
fn warm() -> Target {
    let mut target = target();
    target.asks(None, vec![reply("warmup", "xxgk/warmup.json")]);
    target
}

fn header<'a>(request: &'a Request, name: &str) -> &'a str {
    request.headers.iter().find(|(known, _)| known.eq_ignore_ascii_case(name)).map_or("", |(_, value)| value)
}

fn words(failure: Failure) -> (&'static str, String) {
    match failure {
        Failure::Config(words) => ("config", words),
        Failure::Shape(words) => ("shape", words),
        Failure::Refused(words) => ("refused", words),
        Failure::Stale(words) => ("stale", words),
        Failure::Gone => ("gone", String::new()),
    }
}

/// Address, title, date, number, fields.
type Line<'a> = (&'a str, &'a str, Option<&'a str>, Option<&'a str>, Vec<(&'a str, &'a str)>);

fn line(entry: &Entry) -> Line<'_> {
    let fields = entry.fields.iter().map(|(name, value)| (name.as_str(), value.as_str())).collect();
    (&entry.url, &entry.title, entry.published.as_deref(), entry.native_id.as_deref(), fields)
}

#[test]
fn the_warm_up_carries_the_two_headers_and_nothing_else_is_needed() {
    let request = target().asks(None, Vec::new());
    assert_eq!(
        request.url,
        "https://sousuoht.www.gov.cn/athena/forward/DA2FE8C6CAD0EEBC5F97F7E3F3633A7188DAA40373EEA0E4024A081201F4D546\
         ?thirdPartyName=hycloud&thirdPartyTenantId=8"
    );
    assert_eq!((request.method, request.body), (Method::Get, None));
    let request = target().asks(None, Vec::new());
    assert_eq!(header(&request, "athenaAppName"), "%E5%9B%BD%E7%BD%91%E6%90%9C%E7%B4%A2");
    assert!(!header(&request, "athenaAppKey").contains(['+', '/', '=']));
    assert_eq!(header(&request, "referer"), "https://www.gov.cn/zhengce/xxgk/");
}

#[test]
fn the_list_is_asked_for_as_the_browser_does() {
    let mut target = target();
    let request = target.asks(None, vec![reply("warmup", "xxgk/warmup.json")]);
    assert_eq!(
        request.url,
        "https://sousuoht.www.gov.cn/athena/forward/486B5ABFBAD0FF5743F5E82E007EF04DDD6388E7989E9EC9CC7B84917AC81A5F"
    );
    assert_eq!(request.method, Method::Post);
    assert_eq!(header(&request, "content-type"), "application/json;charset=utf-8");
    assert_eq!(header(&request, "origin"), "https://www.gov.cn");
    let body = String::from_utf8(request.body.unwrap()).unwrap();
    let expected = r#"{"code":"18122f54c5c","thirdPartyCode":"thirdparty_code_107","thirdPartyTableId":30,"resultFields":["pub_url","maintitle","fwzh","cwrq","publish_time"],"trackTotalHits":"true","searchFields":[{"fieldName":"maintitle","searchWord":""}],"isPreciseSearch":0,"sorts":[{"sortField":"publish_time","sortOrder":"DESC"}],"childrenInfoIds":[],"pageSize":20,"pageNo":1}"#;
    assert_eq!(body, expected);
}

#[test]
fn the_code_is_kept_and_the_next_page_needs_no_warm_up() {
    let mut target = warm();
    let second = target.asks(Some("2"), Vec::new());
    let body: Value = serde_json::from_slice(&second.body.unwrap()).unwrap();
    assert_eq!((&body["code"], &body["pageNo"]), (&json!("18122f54c5c"), &json!(2)));
}

#[test]
fn a_warm_up_that_is_encoded_twice_is_read() {
    let mut target = target();
    target.asks(None, vec![reply("warmup", "xxgk/warmup-twice-encoded.json")]);
    assert_eq!(target.session, br#"{"code":"18122f54c5c"}"#);
}

#[test]
fn rows_lose_their_tags_and_keep_what_is_known() {
    let page = warm().list(None, reply("list", "xxgk/list.json")).expect("a page");
    let lines: Vec<_> = page.entries.iter().map(line).collect();
    let at = "https://www.gov.cn/zhengce/xxgk/../content/202604/content_7000003.htm";
    assert_eq!(
        lines,
        [
            (
                "https://www.gov.cn/zhengce/content/202604/content_7000001.htm",
                "国务院办公厅关于示例事项的通知",
                Some("2026-04-10 17:00:00"),
                Some("7000001"),
                vec![("doc_no", "国办发〔2026〕9号"), ("written_date", "2026-04-01")]
            ),
            (
                "http://www.gov.cn/zhengce/content/2008-03/28/content_2047.htm",
                "国务院关于旧事项的批复",
                Some("2026-04-09"),
                Some("2047"),
                vec![]
            ),
            (at, "国务院关于相对地址的意见 & 说明（试行）", None, Some("7000003"), vec![]),
        ]
    );
    assert_eq!(page.next.as_deref(), Some("2"));
}

#[test]
fn a_list_that_is_encoded_twice_is_read_and_ends_at_its_last_page() {
    let page = warm().list(Some("2"), reply("list", "xxgk/list-twice-encoded.json")).expect("a page");
    assert_eq!((page.entries.len(), page.next), (1, None));
}

#[test]
fn without_a_pager_the_list_goes_on_until_it_is_empty_or_long_enough() {
    let page = |cursor| warm().list(cursor, reply("list", "xxgk/list-no-pager.json")).expect("a page");
    assert_eq!(page(None).next.as_deref(), Some("2"));
    assert_eq!(page(Some("5")).next, None, "hard_max_pages is 5");
    let end = warm().list(Some("2"), reply("list", "xxgk/list-empty.json")).expect("the end");
    assert!(end.entries.is_empty() && end.next.is_none());
}

#[test]
fn an_empty_library_is_a_failure_and_an_empty_search_is_not() {
    let empty = || reply("list", "xxgk/list-empty.json");
    assert_eq!(words(warm().list(None, empty()).unwrap_err()).0, "shape");
    let mut search = Target::with(json!({"xxgk": {"search_word": "没有"}}));
    assert!(search.list(None, empty()).expect("no rows").entries.is_empty());
}

#[test]
fn a_list_that_is_null_is_the_end_where_a_pager_says_so() {
    let body = |pager: &str| {
        format!(r#"{{"resultCode":{{"code":200}},"result":{{"data":{{"pager":{pager},"list":null}}}}}}"#)
    };
    let list = |cursor, pager| warm().list(cursor, answer("list", 200, &body(pager)));
    assert!(list(Some("3"), r#"{"total":41,"pageCount":3}"#).expect("the end").entries.is_empty());
    for pager in ["null", r#"{"total":41}"#, r#"{"total":0}"#] {
        assert_eq!(words(list(None, pager).unwrap_err()).0, "shape", "{pager}");
    }
}

#[test]
fn whatever_is_not_200_is_stale_whether_it_is_a_number_or_a_word() {
    for (fixture, said) in
        [("list-stale-number", "500 code 已失效"), ("list-stale-words", "athena_0001 密钥已过期")]
    {
        let (kind, why) =
            words(warm().list(None, reply("list", &format!("xxgk/{fixture}.json"))).unwrap_err());
        assert_eq!(kind, "stale");
        assert!(why.contains(said), "{why}");
    }
}

#[test]
fn a_warm_up_that_is_refused_names_the_settings_to_look_at() {
    let refused = target().list_step(None, vec![reply("warmup", "xxgk/warmup-bad-key.json")]).unwrap_err();
    let (kind, why) = words(refused);
    assert_eq!(kind, "refused");
    assert!(why.contains("athena_0001") && why.contains("xxgk.public_key"), "{why}");
}

#[test]
fn answers_of_another_shape_are_never_an_empty_list() {
    for fixture in ["list-without-rows", "no-code"] {
        let failure = warm().list(None, reply("list", &format!("xxgk/{fixture}.json"))).unwrap_err();
        assert_eq!(words(failure).0, "shape", "{fixture}");
    }
    for body in ["", "[]", "3", "\"\"", "<html>", "{\"resultCode\":{\"code\":200}}"] {
        assert_eq!(words(warm().list(None, answer("list", 200, body)).unwrap_err()).0, "shape", "{body}");
        let failure = target().list_step(None, vec![answer("warmup", 200, body)]).unwrap_err();
        assert_eq!(words(failure).0, "shape", "{body}");
    }
    for (status, kind) in [(404, "shape"), (403, "refused"), (503, "refused")] {
        assert_eq!(words(warm().list(None, answer("list", status, "{}")).unwrap_err()).0, kind, "{status}");
    }
}

#[test]
fn every_constant_of_the_site_can_be_set() {
    let mut target = Target::with(json!({"page_size": 50, "xxgk": {
        "gateway": "https://other.gov.cn/", "warmup_token": "A1", "third_party_name": "云", "tenant_id": "9",
        "list_token": "B2", "third_party_code": "c", "table_id": 31, "result_fields": ["pub_url"], "search_field": "",
        "search_word": "词", "precise": true, "sort_field": "x", "categories": [1108, "1100"], "app_name": "名",
        "origin": "https://o.gov.cn", "referer": "https://r.gov.cn/"}}));
    let request = target.asks(None, Vec::new());
    let address = "https://other.gov.cn/athena/forward/A1?thirdPartyName=%E4%BA%91&thirdPartyTenantId=9";
    assert_eq!((request.url.as_str(), header(&request, "athenaAppName")), (address, "%E5%90%8D"));
    assert_eq!(header(&request, "referer"), "https://r.gov.cn/");
    let request = target.asks(None, vec![reply("warmup", "xxgk/warmup.json")]);
    assert_eq!(request.url, "https://other.gov.cn/athena/forward/B2");
    let body: Value = serde_json::from_slice(&request.body.unwrap()).unwrap();
    assert_eq!(
        body,
        json!({"code": "18122f54c5c", "thirdPartyCode": "c", "thirdPartyTableId": 31, "resultFields": ["pub_url"],
            "trackTotalHits": "true", "searchFields": [{"fieldName": "", "searchWord": "词"}], "isPreciseSearch": 1,
            "sorts": [{"sortField": "x", "sortOrder": "DESC"}], "childrenInfoIds": [[1108, "1100"]], "pageSize": 50,
            "pageNo": 1})
    );
}

#[test]
fn a_place_or_a_session_that_means_nothing_is_stale() {
    for cursor in ["", "x", "0", "1", "-2", "99999999999"] {
        assert_eq!(words(warm().list_step(Some(cursor), Vec::new()).unwrap_err()).0, "stale", "{cursor}");
    }
    let mut target = target();
    target.session = b"not json".to_vec();
    assert_eq!(words(target.list_step(None, Vec::new()).unwrap_err()).0, "stale");
}
