//! Input: a line `status purpose expects`, header lines up to an empty one, then the body.

use dibao::Timestamp;
use dibao::fetch::retry_after::{LONGEST, SHORTEST};
use dibao::fetch::verdict::{Answer, THIN_BELOW, Verdict, VerdictKind};
use dibao::fetch::{Expects, Method, Purpose};
use url::Url;

const NOW: Timestamp = Timestamp(1_780_000_000_000);

/// More than any firewall's page shows.
const ARTICLE: &str = "现将有关事项通知如下：一、提高认识，加强领导。二、明确责任，抓好落实。";

pub fn run(data: &[u8]) {
    let ([first], mut rest) = super::lines(data);
    let first = super::text(first);
    let mut words = first.split_ascii_whitespace();
    let status = words.next().and_then(|word| word.parse().ok()).unwrap_or(200).clamp(100, 999);
    let purpose = match words.next() {
        Some("list") => Purpose::List,
        Some("attachment") => Purpose::Attachment,
        Some("robots") => Purpose::Robots,
        _ => Purpose::Detail,
    };
    let expects = match words.next() {
        Some("json") => Expects::Json,
        Some("xml") => Expects::Xml,
        Some("any") => Expects::Any,
        _ => Expects::Html,
    };
    let mut headers = Vec::new();
    loop {
        let ([line], after) = super::lines(rest);
        rest = after;
        if line.is_empty() {
            break;
        }
        if let Some((name, value)) = super::text(line).split_once(':') {
            headers.push((name.trim().to_ascii_lowercase(), value.trim().to_owned()));
        }
    }
    let url = Url::parse("https://www.example.gov.cn/zwgk/a.html").expect("a literal");
    let answer = Answer {
        method: Method::Get,
        purpose,
        expects,
        url: &url,
        status,
        headers: &headers,
        body: rest,
        thin_below: THIN_BELOW,
    };
    let verdict = answer.classify(NOW);
    assert_eq!(verdict, answer.classify(NOW), "the same answer is worth the same");
    sane(&verdict, &answer);

    // Words about firewalls in an article are an article, whatever words they are.
    if status == 200 && expects == Expects::Html && purpose == Purpose::Detail {
        let text = format!("<!DOCTYPE html><html><body><div><p>{}</p></div>", ARTICLE.repeat(80));
        let page = [text.as_bytes(), rest].concat();
        let headers = [("content-type".to_owned(), "text/html; charset=utf-8".to_owned())];
        let article = Answer { body: &page, headers: &headers, ..answer };
        assert_eq!(article.classify(NOW).kind, VerdictKind::Ok, "{:?}", article.classify(NOW));
    }
}

fn sane(verdict: &Verdict, answer: &Answer<'_>) {
    assert_eq!(verdict.status, Some(answer.status));
    assert!(!verdict.evidence.is_empty() && verdict.evidence.chars().count() <= 400, "{}", verdict.evidence);
    let status = answer.status;
    match verdict.kind {
        VerdictKind::Ok => assert!(status < 400, "{status}"),
        VerdictKind::Thin => {
            assert!(status < 300 && answer.purpose == Purpose::Detail && answer.expects == Expects::Html);
            assert!(answer.body.len() < 4 * THIN_BELOW, "{}", answer.body.len());
        }
        VerdictKind::Gone => assert!(matches!(status, 404 | 410), "{status}"),
        VerdictKind::RetryAfter(until) => {
            let wait = until.0 - NOW.0;
            assert!(
                status >= 400 && wait >= SHORTEST.as_millis() as i64 && wait <= LONGEST.as_millis() as i64
            );
        }
        VerdictKind::ServerError => assert!(status >= 300, "{status}"),
        VerdictKind::WrongContent => assert!(status < 300, "{status}"),
        VerdictKind::NetworkError(_) => panic!("there was an answer"),
        VerdictKind::Challenge(_) | VerdictKind::Blocked => assert!(!matches!(status, 404 | 410), "{status}"),
    }
    if matches!(status, 404 | 410) {
        assert_eq!(verdict.kind, VerdictKind::Gone);
    }
}
