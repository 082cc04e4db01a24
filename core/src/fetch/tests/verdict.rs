//! Pages of every product, and the pages that must not be taken for them.

use proptest::prelude::*;

use super::*;

/// 2026-11-18T08:00:00Z.
const NOW: Timestamp = Timestamp(1_794_988_800_000);

type Headers<'a> = &'a [(&'a str, &'a str)];

/// One row of a table.
struct Row<'a> {
    status: u16,
    purpose: Purpose,
    expects: Expects,
    url: &'a str,
    headers: Headers<'a>,
    body: &'a str,
}

impl Default for Row<'_> {
    fn default() -> Self {
        Row {
            status: 200,
            purpose: Purpose::List,
            expects: Expects::Html,
            url: "https://www.example.gov.cn/zwgk/index.html",
            headers: &[],
            body: "",
        }
    }
}

impl Row<'_> {
    /// The verdict on its body in UTF-8 and in GBK: both must agree.
    fn verdict(&self) -> Verdict {
        let utf8 = self.classify(self.body.as_bytes(), "utf-8");
        let (gbk, _, _) = encoding_rs::GBK.encode(self.body);
        let other = self.classify(&gbk, "gbk");
        assert_eq!(utf8.kind, other.kind, "UTF-8 says {utf8}, GBK says {other}");
        utf8
    }

    fn classify(&self, body: &[u8], charset: &str) -> Verdict {
        let mut headers: Vec<(String, String)> =
            self.headers.iter().map(|(name, value)| (name.to_string(), value.to_string())).collect();
        if !headers.iter().any(|(name, _)| name == "content-type") {
            headers.push(("content-type".into(), format!("text/html; charset={charset}")));
        }
        let url = Url::parse(self.url).unwrap();
        Answer {
            method: Method::Get,
            purpose: self.purpose,
            expects: self.expects,
            url: &url,
            status: self.status,
            headers: &headers,
            body,
            thin_below: THIN_BELOW,
        }
        .classify(NOW)
    }
}

/// Something that looks like a machine wrote it, `length` bytes of it.
fn noise(length: usize) -> String {
    let mut state = 7u32;
    let mut out = String::with_capacity(length);
    while out.len() < length {
        state = state.wrapping_mul(1_103_515_245).wrapping_add(12_345);
        out.push_str(&format!("_0x{:04x}['{:x}'],", state >> 16, state));
    }
    out
}

fn jiasule_1() -> String {
    "<script>document.cookie=('_')+('_')+('j')+('s')+('l')+('_')+('c')+('l')+('e')+('a')+('r')+('a')+('n')+('c')+('e')+('_')\
     +('s')+('=')+(-~[]+'')+((1<<2)+'')+'|'+'-1'+'|'+'x%2B'+(';')+('m')+('a')+('x')+('-')+('a')+('g')+('e')+('=')+'3600';\
     location.href=location.pathname+location.search</script>"
        .to_owned()
}

fn jiasule_2() -> String {
    format!(
        "<script>var _0x1a2b=[{}];;go({{\"bts\":[\"1775784600.123|0|abc\",\"%2Bxyz%3D\"],\"chars\":\"abcdefgh\",\"ct\":\"0a1b2c\",\
         \"ha\":\"sha256\",\"is\":true,\"tn\":\"__jsl_clearance_s\",\"vt\":\"3600\",\"wt\":\"1500\"}})</script>",
        noise(27_000)
    )
}

fn ruishu() -> String {
    format!(
        "<!DOCTYPE html><html><head><meta id=\"9DhefwqGPrzGxEp9hPaoag\" content=\"4Dmq{}\" r='m'><script type=\"text/javascript\" \
         r='m'>$_ts=window['$_ts'];if(!$_ts)$_ts={{}};$_ts.nsd=12345;$_ts.cd=\"qrcrr0q...\";if($_ts.lcd)$_ts.lcd();</script>\
         <script type=\"text/javascript\" charset=\"iso-8859-1\" src=\"/PjYrJ8s/x2.cda9f.js\" r='m'></script></head><body>\
         <form method=\"post\" action=\"\"><input type=\"hidden\" value=\"\"></form></body></html>",
        "zWk3".repeat(60)
    )
}

const CTCT: &str = "<!DOCTYPE html><html><head><meta charset=\"utf-8\"><title>Environment Checking</title>\
    <script src=\"/5b1c2d_77aa01.js\"></script><script src=\"/ctct_bundle_0a1b2c3d.js\"></script></head><body></body></html>";

const CTCT_BLOCK: &str = "<html><head><title>NWAF页面</title></head><body><h2>当前IP请求异常</h2><p>请求编号：0a1b2c3d，请联系管理员。</p></body></html>";

const QINGYUAN: &str = "<html><head><title>请稍候…</title></head><body><div class=\"tip\">正在验证您的浏览器，请稍候…</div><script src=\"/c.js\"></script></body></html>";

fn aliyun() -> String {
    format!(
        "<html><script>\nvar arg1='0A1B2C3D4E5F60718293A4B5C6D7E8F901234567';\nvar _0x4818=['\\x63'];{}\n\
         function reload(x) {{setCookie(\"acw_sc__v2\", x);document.location.reload();}}</script></html>",
        noise(3000)
    )
}

const WZWS: &str = "<html><head><title>403</title></head><body><center>您所在的地区无法访问本网站<br>reason:GeoBL</center></body></html>";
const QIHOO: &str = "<!DOCTYPE html><html><head><title>访问异常页面</title></head><body><p>抱歉！您的访问可能对网站造成威胁，已被云防护拦截。</p></body></html>";
const SECURITY: &str = "<html><head><title>安全验证</title></head><body><div id='captcha'>请拖动滑块完成验证</div></body></html>";
const COOKIE_SCRIPT: &str = "<html><body><script>document.cookie = 'pass=' + btoa(navigator.userAgent.length) + ';path=/'; location.reload();</script></body></html>";

/// A list or article page that shows enough.
fn page(title: &str, text: &str) -> String {
    format!(
        "<!DOCTYPE html><html><head><title>{title}</title><script>var a = 1;</script></head><body><h1>{title}</h1><div>{}</div></body></html>",
        text.repeat(1 + 400 / text.chars().count().max(1))
    )
}

#[test]
fn every_product_is_known_by_its_page_at_each_of_its_statuses() {
    use Product::*;
    use VerdictKind::{Blocked, Challenge};
    let (jsl1, jsl2, rs, ali) = (jiasule_1(), jiasule_2(), ruishu(), aliyun());
    let jsluid: Headers<'_> = &[("set-cookie", "__jsluid_s=0a1b2c; max-age=31536000; path=/; HttpOnly")];
    let fss: Headers<'_> = &[("set-cookie", "FSSBBIl1UgzbN7N80S=60Xy; Path=/; HttpOnly")];
    let acw: Headers<'_> = &[("set-cookie", "acw_tc=76b20f; path=/")];
    let rows: &[(u16, Headers<'_>, &str, VerdictKind)] = &[
        (521, jsluid, &jsl1, Challenge(Jiasule)),
        (521, &[], &jsl1, Challenge(Jiasule)),
        (521, jsluid, "", Challenge(Jiasule)),
        (521, jsluid, &jsl2, Challenge(Jiasule)),
        (200, jsluid, &jsl2, Challenge(Jiasule)),
        (412, fss, &rs, Challenge(Ruishu)),
        (202, fss, &rs, Challenge(Ruishu)),
        (200, &[], &rs, Challenge(Ruishu)),
        (412, fss, "<html><head></head><body></body></html>", Challenge(Ruishu)),
        (412, &[("set-cookie", "CT_1rqu7ab01=1")], CTCT, Challenge(Ctct)),
        (200, &[], CTCT, Challenge(Ctct)),
        (405, &[], CTCT_BLOCK, Blocked),
        (200, &[], CTCT_BLOCK, Blocked),
        (412, &[], QINGYUAN, Challenge(Qingyuan)),
        (405, &[], QINGYUAN, Challenge(Qingyuan)),
        (200, &[], QINGYUAN, Challenge(Qingyuan)),
        (405, acw, &ali, Challenge(AliyunWaf)),
        (200, acw, &ali, Challenge(AliyunWaf)),
        (
            200,
            acw,
            "<html><head><title>滑动验证页面</title></head><body><textarea id=\"renderData\" style=\"display:none\">{}</textarea></body></html>",
            Challenge(AliyunWaf),
        ),
        (403, &[], WZWS, Blocked),
        (403, &[], QIHOO, Blocked),
        (200, &[], QIHOO, Blocked),
        (403, &[], SECURITY, Challenge(SecurityCheck)),
        (200, &[], SECURITY, Challenge(SecurityCheck)),
        (200, &[], COOKIE_SCRIPT, Challenge(CookieScript)),
        (503, &[("cf-mitigated", "challenge")], "<html>Just a moment...</html>", Challenge(Cloudflare)),
        (412, &[], "<html><body>Precondition</body></html>", Challenge(Unknown)),
        (521, &[], "<html><body></body></html>", Challenge(Unknown)),
        (202, &[], "<html><body></body></html>", Challenge(Unknown)),
    ];
    for (status, headers, body, expected) in rows {
        // Whoever asked for JSON or a file is told the same.
        for (purpose, expects) in [
            (Purpose::List, Expects::Html),
            (Purpose::Detail, Expects::Html),
            (Purpose::List, Expects::Json),
            (Purpose::Attachment, Expects::Any),
        ] {
            let got = Row { status: *status, headers, body, purpose, expects, ..Row::default() }.verdict();
            assert_eq!(got.kind, *expected, "{status} {purpose:?} {expects:?}: {got}");
            assert_eq!(got.status, Some(*status));
        }
    }
}

#[test]
fn a_page_for_readers_is_ok_whatever_words_are_in_it() {
    let words = "瑞数的脚本里有 $_ts.cd=，加速乐的是 __jsl_clearance_s，阿里云是 acw_sc__v2，电信是 ctct_bundle 和 Environment Checking；\
                 页面会说“请稍候，正在验证”“安全验证”“访问异常页面”“NWAF页面，当前IP请求异常”，或 reason:GeoBL。";
    for title in ["访问异常页面的排查", "安全验证", "请稍候", "Environment Checking"] {
        let got = Row { body: &page(title, words), purpose: Purpose::Detail, ..Row::default() }.verdict();
        assert_eq!(got.kind, VerdictKind::Ok, "{title}: {got}");
    }
    // Short notices: little shows, and what shows is text.
    for body in [
        format!("<html><head><title>关于开展网站安全验证工作的通知</title></head><body><p>{}</p></body></html>", "各单位：现就安全验证的有关事项通知如下。"),
        "<html><head><title>技术文章</title></head><body><p>加速乐的 cookie 叫 __jsl_clearance_s，阿里云的叫 acw_sc__v2。</p></body></html>".to_owned(),
        "<html><head><title>__jsl_clearance_s 与 acw_sc__v2 参数说明</title></head><body><p>详见附件。</p></body></html>".to_owned(),
        "<html><head><title>瑞数动态防护</title></head><body><p>页面头部有一段脚本：</p><pre>$_ts=window['$_ts'];if(!$_ts)$_ts={};$_ts.cd=1</pre></body></html>".to_owned(),
        "<html><head><title>政务公开</title></head><body><p>本页用于说明 Environment Checking 与 ctct_bundle 的含义。</p></body></html>".to_owned(),
        "<html><head><title>首页</title></head><body><div id=app>页面加载中，请稍候…</div><script src=/app.js></script></body></html>".to_owned(),
        "<html><head><title>首页</title><script>var t = document.cookie.split(';'); location.hash;</script></head><body><div id=app></div></body></html>".to_owned(),
    ] {
        let got = Row { body: &body, ..Row::default() }.verdict();
        assert_eq!(got.kind, VerdictKind::Ok, "{body}: {got}");
    }
    // 加速乐 and Aliyun set their cookies on good pages as well.
    for cookie in ["__jsluid_s=1; path=/", "acw_tc=1", "FSSBBIl1UgzbN7N80S=1", "CT6T=1"] {
        let body =
            "<html><head><title>目录</title></head><body><ul><li><a href=/a>通知</a></li></ul></body></html>";
        let got = Row { body, headers: &[("set-cookie", cookie)], ..Row::default() }.verdict();
        assert_eq!(got.kind, VerdictKind::Ok, "{cookie}: {got}");
    }
}

#[test]
fn the_saved_pages_of_real_sites_are_ok() {
    let fixtures = concat!(env!("CARGO_MANIFEST_DIR"), "/../adapters/yaml-css/fixtures");
    let mut seen = 0;
    for family in std::fs::read_dir(fixtures).unwrap() {
        for file in std::fs::read_dir(family.unwrap().path()).unwrap() {
            let path = file.unwrap().path();
            let expects = match path.extension().and_then(|ending| ending.to_str()) {
                Some("html") => Expects::Html,
                Some("json") => Expects::Json,
                _ => continue,
            };
            let body = std::fs::read(&path).unwrap();
            let got = Row { expects, ..Row::default() }.classify(&body, "utf-8");
            assert_eq!(got.kind, VerdictKind::Ok, "{}: {got}", path.display());
            seen += 1;
        }
    }
    assert!(seen >= 10, "{seen} pages");
}

#[test]
fn a_signature_beyond_the_window_is_not_looked_for() {
    // Four windows are looked at where nothing shows, one where something does.
    for (shown, lead) in [("", 300_000), ("<p>通知</p>", 70_000)] {
        let body = format!("<html>{shown}<!--{}--><script>$_ts.cd=1</script></html>", "x".repeat(lead));
        assert_eq!(Row { body: &body, ..Row::default() }.verdict().kind, VerdictKind::Ok);
    }
}

#[test]
fn a_redirect_to_itself_with_a_cookie_wants_the_cookie_back() {
    let here = "https://www.moj.gov.cn/pub/index.html";
    for (location, cookie, expected) in [
        (Some(here), Some("CT6T=a; path=/"), VerdictKind::Challenge(Product::Ct6t)),
        (Some("/pub/index.html"), Some("CT6TS=a; path=/"), VerdictKind::Challenge(Product::Ct6t)),
        (Some("index.html#top"), Some("x=1"), VerdictKind::Challenge(Product::CookieRedirect)),
        (Some(here), None, VerdictKind::Ok),
        (Some("/pub/other.html"), Some("CT6T=a"), VerdictKind::Ok),
        (Some("http://www.moj.gov.cn/pub/index.html"), Some("x=1"), VerdictKind::Ok),
        (None, Some("CT6T=a"), VerdictKind::ServerError),
        (Some(""), None, VerdictKind::ServerError),
    ] {
        let headers: Vec<_> = [("location", location), ("set-cookie", cookie)]
            .into_iter()
            .filter_map(|(name, value)| Some((name, value?)))
            .collect();
        let got = Row { status: 302, url: here, headers: &headers, ..Row::default() }.verdict();
        assert_eq!(got.kind, expected, "{location:?} {cookie:?}: {got}");
    }
    assert_eq!(Row { status: 304, ..Row::default() }.verdict().kind, VerdictKind::Ok);
}

#[test]
fn a_status_speaks_for_itself_when_the_page_says_nothing() {
    let sorry = "<html><head><title>error</title></head><body>sorry</body></html>";
    let after: Headers<'_> = &[("retry-after", "120")];
    let until = VerdictKind::RetryAfter(Timestamp(NOW.0 + 120_000));
    for (status, headers, expected) in [
        (404, &[][..], VerdictKind::Gone),
        (410, &[], VerdictKind::Gone),
        (404, after, VerdictKind::Gone),
        (300, &[("location", "/a")], VerdictKind::ServerError),
        (305, &[], VerdictKind::ServerError),
        (400, &[], VerdictKind::Blocked),
        (401, &[], VerdictKind::Blocked),
        (403, &[], VerdictKind::Blocked),
        (405, &[], VerdictKind::Blocked),
        (429, &[], VerdictKind::Blocked),
        (451, &[], VerdictKind::Blocked),
        (408, &[], VerdictKind::ServerError),
        (500, &[], VerdictKind::ServerError),
        (502, &[], VerdictKind::ServerError),
        (503, &[], VerdictKind::ServerError),
        (599, &[], VerdictKind::ServerError),
        (521, &[("server", "cloudflare")], VerdictKind::ServerError),
        (429, after, until),
        (503, after, until),
        (403, after, until),
        (429, &[("retry-after", "Wed, 18 Nov 2026 08:02:00 GMT")], until),
        (429, &[("retry-after", "later")], VerdictKind::RetryAfter(Timestamp(NOW.0 + 60_000))),
        (503, &[("retry-after", "soon")], VerdictKind::RetryAfter(Timestamp(NOW.0 + 60_000))),
        (500, &[("retry-after", "soon")], VerdictKind::ServerError),
        (429, &[("retry-after", "")], VerdictKind::Blocked),
        (401, after, VerdictKind::Blocked),
    ] {
        let got = Row { status, headers, body: sorry, ..Row::default() }.verdict();
        assert_eq!(got.kind, expected, "{status} {headers:?}: {got}");
    }
    let signed = Row { status: 404, body: CTCT, ..Row::default() }.verdict();
    assert_eq!(signed.kind, VerdictKind::Gone, "404 stays final whatever its page says");
    let wants = Row { status: 401, ..Row::default() }.verdict();
    assert!(wants.evidence.contains("credentials"), "{wants}");
    let bare = Row { status: 412, body: "{}", ..Row::default() }.verdict();
    assert_eq!(bare.kind, VerdictKind::Blocked, "412 to a condition is no challenge without a page");
}

#[test]
fn an_answer_of_another_kind_is_wrong_and_never_empty() {
    use Expects::{Any, Html, Json, Xml};
    use Purpose::{Attachment, Detail, List};
    let html = page("首页", "这里是一个普通的页面，不是接口的回答。");
    let html = html.as_str();
    let (index, pdf, down) =
        ("https://a.gov.cn/x/", "https://a.gov.cn/f/P020260410.pdf", "https://a.gov.cn/download?id=3");
    for (purpose, expects, url, content_type, body, wrong) in [
        (List, Json, index, "text/html", html, true),
        (List, Json, index, "application/json", html, true),
        (List, Json, index, "application/json", "", true),
        (List, Json, index, "text/html", "系统繁忙，请稍后再试", true),
        (List, Json, index, "text/html;charset=utf-8", "{\"data\":[]}", false),
        (List, Json, index, "text/plain", "\r\n[]", false),
        (List, Json, index, "application/javascript", "jsonpCallback({\"data\":[]})", false),
        (List, Json, index, "application/json", "'odd but theirs'", false),
        (List, Json, index, "text/xml", "<rss></rss>", true),
        (List, Xml, index, "text/xml", "<?xml version='1.0'?><rss></rss>", false),
        (List, Xml, index, "text/html", "<rss></rss>", false),
        (List, Xml, index, "text/html", html, true),
        (List, Xml, index, "text/html", "{}", true),
        (List, Html, index, "text/html", html, false),
        (List, Html, index, "text/html", "<ul></ul>", false),
        (List, Html, index, "text/html", "", true),
        (List, Html, index, "text/html", "{\"data\":[]}", false),
        (Detail, Html, pdf, "application/pdf", "%PDF-1.4 …", true),
        (Detail, Any, pdf, "application/pdf", "%PDF-1.4 …", false),
        (Detail, Any, pdf, "text/html", html, true),
        (Detail, Any, index, "text/html", html, false),
        (Attachment, Any, pdf, "text/html", html, true),
        (Attachment, Any, pdf, "application/pdf", "%PDF-1.4 …", false),
        (Attachment, Any, pdf, "text/html", "%PDF-1.4 …", false),
        (Attachment, Any, down, "text/html", html, true),
        (Attachment, Any, "https://a.gov.cn/f/annex.html", "text/html", html, false),
        (Attachment, Any, down, "text/plain", "第一条", false),
        (Attachment, Any, pdf, "application/pdf", "", true),
    ] {
        let headers = [("content-type", content_type)];
        let row = Row { purpose, expects, url, headers: &headers, body, ..Row::default() };
        let got = row.classify(body.as_bytes(), "utf-8");
        let expected = if wrong { VerdictKind::WrongContent } else { VerdictKind::Ok };
        assert_eq!(got.kind, expected, "{purpose:?} {expects:?} {url} {content_type} {body:.30}: {got}");
    }
}

#[test]
fn only_an_html_detail_can_be_thin() {
    let short = format!("<html><body><p>{}</p></body></html>", "法".repeat(100));
    let long = format!("<html><body><p>{}</p></body></html>", "法".repeat(500));
    for (purpose, expects, body, thin) in [
        (Purpose::Detail, Expects::Html, short.as_str(), true),
        (Purpose::Detail, Expects::Html, "", true),
        (Purpose::Detail, Expects::Html, long.as_str(), false),
        (Purpose::List, Expects::Html, short.as_str(), false),
        (Purpose::Detail, Expects::Json, "{}", false),
        (Purpose::Detail, Expects::Any, short.as_str(), false),
        (Purpose::Attachment, Expects::Html, short.as_str(), false),
    ] {
        let got = Row { purpose, expects, body, ..Row::default() }.verdict();
        let expected = if thin { VerdictKind::Thin } else { VerdictKind::Ok };
        assert_eq!(got.kind, expected, "{purpose:?} {expects:?}: {got}");
    }
}

#[test]
fn errors_of_the_network_have_their_kind_and_our_own_refusals_no_verdict() {
    use FetchErrorKind as E;
    use NetworkFault::*;
    for (error, expected) in [
        (E::Dns("x".into()), Some(VerdictKind::NetworkError(Dns))),
        (E::Connect("x".into()), Some(VerdictKind::NetworkError(Connect))),
        (E::Reset("x".into()), Some(VerdictKind::NetworkError(Reset))),
        (E::Tls("x".into()), Some(VerdictKind::NetworkError(Tls))),
        (E::Truncated("x".into()), Some(VerdictKind::NetworkError(Truncated))),
        (E::Protocol("x".into()), Some(VerdictKind::NetworkError(Protocol))),
        (E::TooLarge { limit: 1 }, Some(VerdictKind::WrongContent)),
        (E::RedirectLoop, Some(VerdictKind::ServerError)),
        (E::Setup("x".into()), None),
    ] {
        let got = Verdict::of_kind(&error).map(|verdict| verdict.kind);
        assert_eq!(got, expected);
    }
}

#[test]
fn a_verdict_survives_storage_and_its_evidence_is_short_and_clean() {
    let long = format!("CT_\u{7}{}=1", "a".repeat(5000));
    let got =
        Row { status: 302, headers: &[("location", "#"), ("set-cookie", &long)], ..Row::default() }.verdict();
    assert!(matches!(got.kind, VerdictKind::Challenge(Product::CookieRedirect)), "{got}");
    assert!(got.evidence.len() < 300 && !got.evidence.chars().any(char::is_control), "{got}");
    for verdict in [got, Row { status: 429, headers: &[("retry-after", "60")], ..Row::default() }.verdict()] {
        let json = serde_json::to_string(&verdict).unwrap();
        assert_eq!(serde_json::from_str::<Verdict>(&json).unwrap(), verdict);
    }
}

proptest! {
    #[test]
    fn no_answer_makes_it_panic(
        status in any::<u16>(),
        body in proptest::collection::vec(any::<u8>(), 0..600),
        headers in proptest::collection::vec(("(set-cookie|location|retry-after|content-type|date|server)", ".{0,60}"), 0..6),
        mixed in proptest::sample::subsequence(vec!["<title>", "安全验证", "$_ts", "<script", "var arg1='", "</title>", "document.cookie", "=", "<", "&#x"], 0..10),
    ) {
        let headers: Vec<(&str, &str)> = headers.iter().map(|(name, value)| (name.as_str(), value.as_str())).collect();
        let mixed = mixed.concat();
        for (purpose, expects) in [(Purpose::Detail, Expects::Html), (Purpose::List, Expects::Json), (Purpose::Attachment, Expects::Any)] {
            let row = Row { status, headers: &headers, purpose, expects, ..Row::default() };
            let _ = row.classify(&body, "gbk");
            let got = row.classify(mixed.as_bytes(), "utf-8");
            prop_assert!(got.evidence.len() < 1000);
        }
    }
}
