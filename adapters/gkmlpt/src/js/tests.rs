//! Literals as pages write them, as generators make them, and as attackers would.

use proptest::prelude::*;
use serde_json::json;

use super::*;

#[test]
fn literals_are_read_in_every_form_scripts_write_them() {
    for (text, value) in [
        ("{}", json!({})),
        (
            "{ APP_URL: 'https://a.cn/dept', SID: '763015', }",
            json!({"APP_URL": "https://a.cn/dept", "SID": "763015"}),
        ),
        (
            r#"{"a": [1, -2.5, 0x1F, 1e3, .5,], 'b': true, c: !0, d: !1}"#,
            json!({"a": [1, -2.5, 31, 1000.0, 0.5], "b": true, "c": true, "d": false}),
        ),
        (
            "{/* one */ a: /*x*/ 1, // two }\n b: null, $c_1: undefined}",
            json!({"a": 1, "b": null, "$c_1": null}),
        ),
        (r"'\u003Cp\u003E\u4f60\u{597d}\x21\'\n\u0022\/'", json!("<p>你好!'\n\"/")),
        (r"'\ud83d\ude00\ud83d'", json!("😀\u{fffd}")),
        ("'a' + \"b\" + 'c'", json!("abc")),
        ("'a' + location.href", json!(null)),
        ("'a' || ''", json!("a")),
        ("`template`", json!("template")),
        ("'line\\\ncontinued'", json!("linecontinued")),
        ("{中文: 1, 'k': {n: [[], [{}]]}}", json!({"中文": 1, "k": {"n": [[], [{}]]}})),
        ("{a: function (x) { return {b: '}'} }, c: 2}", json!({"a": null, "c": 2})),
        (
            "{a: new Date(2026, 3), b: window.x && y, c() { return 1 }, ...rest, d: 4}",
            json!({"a": null, "b": null, "d": 4}),
        ),
        (r#"{d: JSON.parse('{"x":[1,"\\u4e00"]}'), e: 5}"#, json!({"d": {"x": [1, "一"]}, "e": 5})),
        ("[1,,2]", json!([1, 2])),
        ("{a: 1, b: [2, 'unfinished", json!({"a": 1, "b": [2, "unfinished"]})),
        ("{a: 1]]] b: 2}", json!({"a": 1, "b": 2})),
        ("", json!(null)),
    ] {
        assert_eq!(literal(text), value, "{text}");
    }
}

#[test]
fn assignments_are_found_wherever_they_are_and_together_make_one_object() {
    let page = "<script>var MY_CONFIG = {SID: 'no'}; _CONFIGURE = {SID: 'no'};\n\
        if (window._CONFIG == undefined) { call(_CONFIG, {SID: 'no'}) }\n\
        window._CONFIG = { SID: '1', A: 1 };</script><script>\n\
        _CONFIG.DETAIL = {id: 2}\nvar x = 3; window['_CONFIG']['B'] = [4];</script>";
    assert_eq!(
        assigned(page, "_CONFIG").map(Value::Object),
        Some(json!({"SID": "1", "A": 1, "DETAIL": {"id": 2}, "B": [4]}))
    );
    assert_eq!(assigned("<p>_CONFIG of nothing</p>", "_CONFIG"), None);
    assert_eq!(assigned("window._CONFIG = load()", "_CONFIG").map(Value::Object), Some(json!({})));
}

#[test]
fn what_is_made_to_hurt_costs_no_more_than_its_length() {
    for text in
        ["[".repeat(300_000), "{a:".repeat(300_000), "[1,".repeat(300_000), "JSON.parse(".repeat(99_999)]
    {
        literal(&text);
    }
    let many = format!("[{}]", "1,".repeat(1_000_000));
    assert!(matches!(literal(&many), Value::Array(items) if items.len() <= MOST_VALUES));
    let page = "_CONFIG={".repeat(100_000);
    assert!(assigned(&page, "_CONFIG").is_some());
    for page in ["_CONFIG/*".repeat(500_000), "_CONFIG['".repeat(500_000), "_CONFIG=/*".repeat(500_000)] {
        assigned(&page, "_CONFIG");
    }
}

fn json() -> impl Strategy<Value = Value> {
    let leaf = prop_oneof![
        Just(Value::Null),
        any::<bool>().prop_map(Value::from),
        any::<i64>().prop_map(Value::from),
        (-1e9..1e9f64).prop_map(Value::from),
        any::<String>().prop_map(Value::from),
    ];
    leaf.prop_recursive(6, 64, 8, |inner| {
        prop_oneof![
            proptest::collection::vec(inner.clone(), 0..8).prop_map(Value::from),
            proptest::collection::hash_map(any::<String>(), inner, 0..8)
                .prop_map(|pairs| Value::Object(pairs.into_iter().collect())),
        ]
    })
}

/// The same value in a script's words: bare keys, single quotes, everything else escaped as these pages do.
fn script(value: &Value, out: &mut String) {
    match value {
        Value::String(text) => {
            out.push('\'');
            for unit in text.encode_utf16() {
                match char::from_u32(u32::from(unit)) {
                    Some(c) if c.is_ascii_alphanumeric() => out.push(c),
                    _ => out.push_str(&format!("\\u{unit:04X}")),
                }
            }
            out.push('\'');
        }
        Value::Array(items) => {
            out.push_str("[ // list\n");
            for item in items {
                script(item, out);
                out.push_str(" ,");
            }
            out.push(']');
        }
        Value::Object(object) => {
            out.push('{');
            for (key, item) in object {
                let bare = !key.is_empty() && key.bytes().all(|b| b.is_ascii_alphabetic());
                if bare {
                    out.push_str(key)
                } else {
                    script(&Value::from(key.as_str()), out)
                }
                out.push_str("/* : */:");
                script(item, out);
                out.push_str(",\n");
            }
            out.push('}');
        }
        plain => out.push_str(&plain.to_string()),
    }
}

proptest! {
    #[test]
    fn json_is_read_as_json(value in json()) {
        prop_assert_eq!(literal(&value.to_string()), value);
    }

    #[test]
    fn scripts_say_the_same_as_json(value in json()) {
        let mut text = String::from("x = 1; window._CONFIG = {V: ");
        script(&value, &mut text);
        text.push_str(", };");
        let read = assigned(&text, "_CONFIG").and_then(|mut all| all.remove("V"));
        prop_assert_eq!(read, Some(value));
    }

    #[test]
    fn no_text_makes_it_panic(text in any::<String>(), cut in any::<prop::sample::Index>()) {
        assigned(&text, "_CONFIG");
        let page = format!("_CONFIG={{{text}");
        assigned(&page, "_CONFIG");
        let cut = page.floor_char_boundary(cut.index(page.len() + 1));
        assigned(&page[..cut], "_CONFIG");
    }

    #[test]
    fn no_soup_of_tokens_makes_it_panic_or_hang(tokens in proptest::collection::vec(
        prop::sample::select(vec!["{", "}", "[", "]", "(", ")", ":", ",", ";", "'", "\"", "`", "\\", "\\u", "\\ud800", "//", "/*", "*/",
            "\n", "_CONFIG", "=", ".", "+", "!", "0x", "1e", "a", "中", "JSON.parse", "\u{3000}"]), 0..200)) {
        let page: String = tokens.concat();
        assigned(&page, "_CONFIG");
        literal(&page);
    }
}
