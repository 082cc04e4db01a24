//! Takes secrets out of a recorded [`Case`]: cookies, tokens, session numbers, passwords. Pure.
//!
//! A secret is replaced wherever it occurs, in bodies, headers, addresses and settings alike, by letters and digits of the same kind and
//! length: an adapter that reads a token from one reply and sends it with the next request still does. What the adapter
//! says to the changed replies is then what a replay expects; see [`replay`](super::replay::Replayed::blessed).

use super::fixture::{Case, CaseCall};

/// Names of which the value is nobody else's business, in lower case and without `-` and `_`.
const SECRET_NAMES: [&str; 13] = [
    "token",
    "csrf",
    "xsrf",
    "secret",
    "passw",
    "sessionid",
    "sessid",
    "apikey",
    "appkey",
    "accesskey",
    "authorization",
    "credential",
    "ticket",
];
/// Headers that say something of one connection, cache or moment, and nothing of the page.
const NOISE: [&str; 20] = [
    "age",
    "alt-svc",
    "cf-ray",
    "connection",
    "content-encoding",
    "content-length",
    "date",
    "eagleid",
    "keep-alive",
    "nel",
    "report-to",
    "server",
    "server-timing",
    "timing-allow-origin",
    "transfer-encoding",
    "vary",
    "via",
    "x-cache",
    "x-request-id",
    "x-powered-by",
];
/// Shorter values are words and numbers that pages have for other reasons.
const SHORTEST: usize = 8;
/// The same for cookies, of which every value counts, whatever the name.
const SHORTEST_COOKIE: usize = 12;
/// A key or token; longer runs are data.
const LONGEST: usize = 4096;

/// How often a case is looked through again at the most.
const LOOKS: usize = 32;

/// What was taken out.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Scrubbed {
    /// Different secrets that were replaced.
    pub secrets: usize,
    /// Header lines that were left out.
    pub headers: usize,
}

/// Takes the secrets out of a case. Its requests and what it expects are not touched: replay it to make them anew.
pub fn scrub(case: &mut Case) -> Scrubbed {
    let found = look_through(case);
    // What was taken out may have hidden that another secret stood behind it. Each look only takes away, so this ends.
    for _ in 0..LOOKS {
        let before = case.clone();
        look_through(case);
        if *case == before {
            break;
        }
    }
    found
}

fn look_through(case: &mut Case) -> Scrubbed {
    let mut secrets: Vec<Vec<u8>> = Vec::new();
    let mut keep = |secret: &[u8]| {
        if !secrets.iter().any(|known| known == secret) {
            secrets.push(secret.to_vec());
        }
    };
    for reply in case.exchanges.iter().flat_map(|exchange| &exchange.replies) {
        for (name, value) in &reply.headers {
            if name.eq_ignore_ascii_case("set-cookie")
                && let Some(value) = cookie_value(value).filter(|value| value.len() >= SHORTEST_COOKIE)
            {
                keep(value.as_bytes());
            }
        }
        secrets_in(&reply.body).for_each(&mut keep);
        secrets_in(reply.url.as_bytes()).for_each(&mut keep);
    }
    secrets_in(case.context.config.as_bytes()).for_each(&mut keep);
    secrets_in(&case.context.session).for_each(&mut keep);
    if let CaseCall::Detail { entry } = &case.call {
        secrets_in(entry.url.as_bytes()).for_each(&mut keep);
        for (name, value) in &entry.fields {
            if is_secret_name(name.to_ascii_lowercase().as_bytes()) && value.len() >= SHORTEST {
                keep(value.as_bytes());
            }
            secrets_in(value.as_bytes()).for_each(&mut keep);
        }
    }
    // A secret may be part of a longer one.
    secrets.sort_by_key(|secret| std::cmp::Reverse(secret.len()));

    let mut headers = 0;
    for reply in case.exchanges.iter_mut().flat_map(|exchange| &mut exchange.replies) {
        let before = reply.headers.len();
        reply.headers.retain(|(name, _)| says_something(name));
        headers += before - reply.headers.len();
        for secret in &secrets {
            mask_all(&mut reply.body, secret);
            mask_text(&mut reply.url, secret);
            reply.headers.iter_mut().for_each(|(_, value)| mask_text(value, secret));
        }
    }
    for secret in &secrets {
        mask_text(&mut case.context.config, secret);
        mask_all(&mut case.context.session, secret);
        match &mut case.call {
            CaseCall::List { cursor } => cursor.iter_mut().for_each(|cursor| mask_text(cursor, secret)),
            CaseCall::Detail { entry } => {
                mask_text(&mut entry.url, secret);
                entry.fields.iter_mut().for_each(|(_, value)| mask_text(value, secret));
            }
        }
    }
    Scrubbed { secrets: secrets.len(), headers }
}

/// Whether a header is kept.
fn says_something(name: &str) -> bool {
    let lower = name.to_ascii_lowercase();
    !lower.contains("cookie") && !is_secret_name(lower.as_bytes()) && !NOISE.contains(&lower.as_str())
}

fn cookie_value(header: &str) -> Option<&str> {
    let (_, value) = header.split(';').next()?.split_once('=')?;
    Some(value.trim().trim_matches('"'))
}

fn is_secret_name(name: &[u8]) -> bool {
    let plain: String = name
        .iter()
        .filter(|byte| !matches!(byte, b'-' | b'_'))
        .map(|byte| byte.to_ascii_lowercase() as char)
        .collect();
    SECRET_NAMES.iter().any(|secret| plain.contains(secret))
}

/// The values behind secret names: `"csrf_token":"…"`, `token=…`, `name="_token" value="…"`, `name='csrf' content='…'`.
fn secrets_in(text: &[u8]) -> impl Iterator<Item = &[u8]> {
    let is_name = |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'_');
    let mut at = 0;
    std::iter::from_fn(move || {
        while at < text.len() {
            if !is_name(text[at]) {
                at += 1;
                continue;
            }
            let end = at + text[at..].iter().position(|byte| !is_name(*byte)).unwrap_or(text.len() - at);
            let name = &text[at..end];
            at = end;
            // No name is that long; a run of base64 is not searched for words.
            if name.len() <= 64
                && is_secret_name(name)
                && let Some(value) = value_after(&text[end..])
            {
                at = end;
                return Some(value);
            }
        }
        None
    })
}

/// The value that belongs to a name that ends here.
fn value_after(text: &[u8]) -> Option<&[u8]> {
    let mut rest = unquote(text);
    let trimmed = rest.trim_ascii_start();
    // An element has its value in another attribute, at most a few attributes on.
    let near = &trimmed[..trimmed.len().min(200)];
    let tag_end =
        near.iter().position(|byte| matches!(byte, b'>' | b'<' | b'{' | b';')).unwrap_or(near.len());
    let attribute = [&b"value="[..], b"content="].into_iter().find_map(|key| {
        let found = near[..tag_end].windows(key.len()).position(|window| window == key)?;
        Some(found + key.len())
    });
    rest = match (trimmed.first(), attribute) {
        (Some(b':' | b'='), _) => &trimmed[1..],
        (_, Some(from)) => &trimmed[from..],
        _ => return None,
    };
    let rest = unquote(rest.trim_ascii_start());
    let is_token = |byte: &u8| {
        byte.is_ascii_alphanumeric()
            || matches!(byte, b'-' | b'_' | b'.' | b'+' | b'/' | b'=' | b'%' | b'|' | b'~')
    };
    let value = &rest[..rest.iter().position(|byte| !is_token(byte)).unwrap_or(rest.len())];
    let tells = value.iter().any(u8::is_ascii_digit) || value.len() >= 20;
    ((SHORTEST..=LONGEST).contains(&value.len()) && tells).then_some(value)
}

/// Without one opening or closing quote, escaped or not.
fn unquote(text: &[u8]) -> &[u8] {
    let text = text.strip_prefix(b"\\").unwrap_or(text);
    text.strip_prefix(b"\"").or_else(|| text.strip_prefix(b"'")).unwrap_or(text)
}

fn mask_all(text: &mut [u8], secret: &[u8]) {
    let mut from = 0;
    while let Some(found) = text[from..].windows(secret.len()).position(|window| window == secret) {
        let at = from + found;
        text[at..at + secret.len()].iter_mut().for_each(|byte| *byte = mask(*byte));
        from = at + secret.len();
    }
}

fn mask_text(text: &mut String, secret: &[u8]) {
    if let Ok(secret) = std::str::from_utf8(secret)
        && text.contains(secret)
    {
        let masked: String = secret.bytes().map(|byte| mask(byte) as char).collect();
        *text = text.replace(secret, &masked);
    }
}

/// Of the same kind: hex stays hex, base64 stays base64.
fn mask(byte: u8) -> u8 {
    match byte {
        b'0'..=b'9' => b'0',
        b'a'..=b'z' => b'a',
        b'A'..=b'Z' => b'A',
        other => other,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::adapter::contract::{Context, Reply};
    use crate::adapter::fixture::Exchange;
    use proptest::prelude::*;

    fn case(headers: Vec<(String, String)>, body: &[u8]) -> Case {
        let reply =
            Reply { tag: "a".into(), status: 200, url: "https://a.cn/".into(), headers, body: body.to_vec() };
        let exchange = Exchange { requests: vec![], replies: vec![reply], files: vec!["a".into()] };
        let (target, base) = ("a__b".into(), "https://a.cn".into());
        let context =
            Context { target, base, config: "{}".into(), session: vec![], now: 0, seed: vec![0; 32] };
        Case { call: CaseCall::List { cursor: None }, context, exchanges: vec![exchange], expected: None }
    }

    fn body(text: &str) -> String {
        let mut case = case(vec![], text.as_bytes());
        scrub(&mut case);
        String::from_utf8(case.exchanges[0].replies[0].body.clone()).unwrap()
    }

    #[test]
    fn a_secret_is_masked_wherever_pages_put_it() {
        for (before, after) in [
            (r#"{"csrf_token":"a1B2c3D4e5","n":1}"#, r#"{"csrf_token":"a0A0a0A0a0","n":1}"#),
            (r#"{\"accessToken\":\"a1B2c3D4e5\"}"#, r#"{\"accessToken\":\"a0A0a0A0a0\"}"#),
            (
                r#"<input name="_token" type="hidden" value="q9w8e7r6">"#,
                r#"<input name="_token" type="hidden" value="a0a0a0a0">"#,
            ),
            (
                "<meta name='csrf-token' content='q9w8e7r6t5'>",
                "<meta name='csrf-token' content='a0a0a0a0a0'>",
            ),
            ("var X_API_KEY = 'deadbeef01';", "var X_API_KEY = 'aaaaaaaa00';"),
            ("/a.js?access_token=12345678&v=2", "/a.js?access_token=00000000&v=2"),
            ("JSESSIONID=AB12CD34EF56", "JSESSIONID=AA00AA00AA00"),
        ] {
            assert_eq!(body(before), after);
        }
    }

    #[test]
    fn what_is_no_secret_stays() {
        for text in [
            "<p>关于token的说明：令牌（token）是2026年的重点。</p>",
            r#"{"SID":"763015","id":3255421,"publisher":"清远市生态环境局"}"#,
            "function getToken(a12345678) { return token; }",
            "<div class='session-list'><a href='/art/2026/4/10/art_1_2.html'>",
            "token: true, secretary: 'Zhang'",
        ] {
            assert_eq!(body(text), text);
        }
    }

    #[test]
    fn a_cookie_is_dropped_and_masked_in_pages() {
        let headers = [
            ("set-cookie", "sid=0123456789abcdef; Path=/; HttpOnly"),
            ("content-type", "text/html"),
            ("x-auth-token", "1"),
            ("date", "now"),
            ("etag", "\"0123456789abcdef\""),
        ];
        let headers = headers.map(|(name, value)| (name.to_owned(), value.to_owned())).to_vec();
        let mut case = case(headers, b"<a href='/x?s=0123456789abcdef'>");
        let taken = scrub(&mut case);
        assert_eq!(taken, Scrubbed { secrets: 1, headers: 3 });
        let reply = &case.exchanges[0].replies[0];
        assert_eq!(reply.body, b"<a href='/x?s=0000000000aaaaaa'>");
        let kept: Vec<_> =
            reply.headers.iter().map(|(name, value)| (name.as_str(), value.as_str())).collect();
        assert_eq!(kept, [("content-type", "text/html"), ("etag", "\"0000000000aaaaaa\"")]);
    }

    #[test]
    fn a_token_is_the_same_in_every_reply_and_setting() {
        let mut case = case(vec![], b"{\"token\":\"abc12345\"}");
        let again = Reply { body: b"echo abc12345".to_vec(), ..case.exchanges[0].replies[0].clone() };
        case.exchanges[0].replies.push(again);
        case.context.config = r#"{"password":"hunter2222","note":"abc12345"}"#.into();
        scrub(&mut case);
        assert_eq!(case.exchanges[0].replies[1].body, b"echo aaa00000");
        assert_eq!(case.context.config, r#"{"password":"aaaaaa0000","note":"aaa00000"}"#);
    }

    #[test]
    fn what_a_list_handed_to_a_document_is_masked_too() {
        use crate::adapter::contract::Entry;
        let fields =
            [("_token", "abc12345"), ("doc_no", "国发〔2026〕3号"), ("_next", "/x?ticket=t1234567&a=1")];
        let entry = Entry {
            url: "https://a.cn/d?k=abc12345&session_id=99990000aa".into(),
            title: "题".into(),
            published: None,
            native_id: None,
            pinned: false,
            fields: fields.map(|(name, value)| (name.to_owned(), value.to_owned())).to_vec(),
        };
        let mut case = Case { call: CaseCall::Detail { entry }, ..case(vec![], b"<i>abc12345</i>") };
        scrub(&mut case);
        let CaseCall::Detail { entry } = &case.call else { panic!("a document") };
        assert_eq!(entry.url, "https://a.cn/d?k=aaa00000&session_id=00000000aa");
        let values: Vec<&str> = entry.fields.iter().map(|(_, value)| value.as_str()).collect();
        assert_eq!(values, ["aaa00000", "国发〔2026〕3号", "/x?ticket=a0000000&a=1"]);
        assert_eq!(case.exchanges[0].replies[0].body, b"<i>aaa00000</i>");
    }

    proptest! {
        #[test]
        fn no_page_makes_it_panic_or_change_its_length(text in prop_oneof![
            any::<Vec<u8>>(),
            "(token|csrf|secret|=|:|\"|'|value=| |<|>|[a-z0-9]{0,9}){0,30}".prop_map(String::into_bytes),
        ]) {
            let mut case = case(vec![("set-cookie".into(), String::from_utf8_lossy(&text).into())], &text);
            scrub(&mut case);
            prop_assert_eq!(case.exchanges[0].replies[0].body.len(), text.len());
            // Nothing is left to take out.
            let once = case.clone();
            scrub(&mut case);
            prop_assert_eq!(once.exchanges, case.exchanges);
        }
    }
}
