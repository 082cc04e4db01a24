//! Pages of firewalls as they are met, shortened, and pages for readers that come near them.

use super::*;
use crate::clock::Timestamp;
use crate::fetch::verdict::{Answer, THIN_BELOW, Verdict, VerdictKind};
use crate::fetch::{Expects, Method, Purpose};

type Headers = &'static [(&'static str, &'static str)];

fn verdict(status: u16, headers: &[(&str, &str)], purpose: Purpose, body: &str) -> Verdict {
    let headers: Vec<(String, String)> = [("content-type", "text/html; charset=utf-8")]
        .iter()
        .chain(headers)
        .map(|(name, value)| (name.to_string(), value.to_string()))
        .collect();
    let url = "https://www.example.gov.cn/zwgk/202604/t20260410_1.html".parse().unwrap();
    Answer {
        method: Method::Get,
        purpose,
        expects: Expects::Html,
        url: &url,
        status,
        headers: &headers,
        body: body.as_bytes(),
        thin_below: THIN_BELOW,
    }
    .classify(Timestamp(1_794_988_800_000))
}

#[rustfmt::skip]
const PASSED_BY_BROWSERS: &[(Product, u16, Headers, &str)] = &[
    (Product::Yunsuo, 200, &[("set-cookie", "security_session_verify=a1b2; path=/")],
     "<!DOCTYPE html><html xmlns='http://www.w3.org/1999/xhtml'><head><meta http-equiv='Content-Type' content='text/html; charset=UTF-8'/>\
      <script type='text/javascript'>function stringToHex(str){var val='';for(var i=0;i<str.length;i++){val+=str.charCodeAt(i).toString(16);}return val;}\
      function YunSuoAutoJump(){var s=screen.width+','+screen.height;if(-1==window.location.href.indexOf('security_verify_')){document.cookie='srcurl='+stringToHex(window.location.href)+';path=/;';}\
      self.location='/zwdt/bzdt.htm?security_verify_data='+stringToHex(s);}</script><script>setTimeout('YunSuoAutoJump()', 50);</script></head><!--2026-08-28 14:19:11--></html>"),
    (Product::Wzws, 200, &[("set-cookie", "wzws_cid=0e8a; path=/")],
     "<!DOCTYPE HTML><html><head><meta charset='utf-8'></head><body><noscript><h1><strong>Please enable JavaScript and refresh the page.</strong></h1></noscript>\
      <script>eval(function(p,a,c,k,e,d){return p}('0 1=\"2\";0 3=\"4\";',11,11,'var|dynamicurl|/WZWSREL3p|wzwsquestion|9El(H]0B|wzwsfactor|2376|wzwsmethod|WZWS_METHOD'.split('|'),0,{}))</script></body></html>"),
    (Product::Wzws, 200, &[], "<!DOCTYPE HTML><html><body><noscript>Please enable JavaScript</noscript><script>var dynamicapi='/waf_zw_verify';</script></body></html>"),
    (Product::Tencent, 200, &[],
     "<html><head><meta charset='utf-8'></head><body><script>var a={WTKkN:2994459411,bOYDu:43269009};document['cookie']='__tst_status='+(a.WTKkN+a.bOYDu)+'#;';\
      document['cookie']='EO_Bot_Ssid='+3612672000+';';location['reload']();</script></body></html>"),
    (Product::Tencent, 567, &[], "<html><body><script>document.cookie='EO_Bot_Ssid=1;';location.reload()</script></body></html>"),
    (Product::Safeline, 200, &[("set-cookie", "safeline_bot_challenge=BAAA; path=/")],
     "<!DOCTYPE html><html><head><title></title></head><body><script>var prefix = 'a1b2';var leading_zero_bit = 12;document.cookie='safeline_bot_challenge_ans='+x;window.location.reload()</script></body></html>"),
    (Product::Safeline, 468, &[], "<!DOCTYPE html><html><head><script src='/.safeline/challenge/v2/challenge.js'></script></head><body><div id='slg-bg'></div></body></html>"),
    (Product::Baota, 200, &[],
     "<html><meta charset='utf-8'/><title>检测中</title><div>跳转中</div><script type='text/javascript' src='/huadong_296d626f_0cc175b9c0f1b6a831c399e269772661.js?id=1'></script></html>"),
    (Product::Baota, 200, &[], "<!DOCTYPE html><html><head><title>人机识别</title></head><body><p>正在进行人机识别，请稍候</p><script src='/renji_296d626f_0cc1.js'></script></body></html>"),
    (Product::Yunjiasu, 503, &[("server", "yunjiasu-nginx")], "<html><head><title>安全检查</title></head><body><script>document.cookie='yjs_use_ob=0;path=/';</script></body></html>"),
    (Product::AliyunWaf, 200, &[("set-cookie", "acw_tc=1")],
     "<!doctypehtml><html><head><meta charset='utf-8'><meta name='aliyun_waf_aa' content='05d2'><meta name='aliyun_waf_bb' content='c1'></head><body><script>/*noise*/</script></body></html>"),
    (Product::Cloudflare, 403, &[("server", "cloudflare")],
     "<!DOCTYPE html><html lang='en-US'><head><title>Just a moment...</title></head><body><noscript>Enable JavaScript and cookies to continue</noscript>\
      <script>(function(){window._cf_chl_opt={cvId:'3',cZone:'www.example.com'};var a=document.createElement('script');a.src='/cdn-cgi/challenge-platform/h/b/orchestrate/chl_page/v1?ray=8a';})();</script></body></html>"),
    (Product::Cloudflare, 503, &[("server", "cloudflare")],
     "<html><head><title>Just a moment...</title></head><body><div class='cf-browser-verification'><h1>Checking your browser before accessing example.com.</h1><form id='challenge-form'><input name='jschl_answer'></form></div></body></html>"),
    (Product::Akamai, 200, &[("set-cookie", "ak_bmsc=1; path=/")],
     "<!DOCTYPE html><html><head><meta charset='utf-8'><meta http-equiv='refresh' content=\"5; URL='/?bm-verify=AAQAAAAN_____token'\"/><title>&nbsp;</title><script>var i=1786622965;</script></head><body><iframe src='x.gif'></iframe></body></html>"),
    (Product::Imperva, 200, &[("set-cookie", "visid_incap_1=a; path=/")],
     "<html style='height:100%'><head><META NAME='ROBOTS' CONTENT='NOINDEX, NOFOLLOW'></head><body><iframe id='main-iframe' src='/_Incapsula_Resource?CWUDNSAI=23&xinfo=1&incident_id=1'>Request unsuccessful. Incapsula incident ID: 877000</iframe></body></html>"),
    (Product::Imperva, 403, &[], "<html><body>Request unsuccessful. Incapsula incident ID: 877000410010-8823</body></html>"),
    (Product::AwsWaf, 202, &[("x-amzn-waf-action", "challenge")], ""),
    (Product::AwsWaf, 405, &[("x-amzn-waf-action", "captcha")], "<html><title>Human Verification</title></html>"),
    (Product::AwsWaf, 202, &[],
     "<!DOCTYPE html><html><head><title></title><script>window.awsWafCookieDomainList=[];window.gokuProps={\"key\":\"A\"};</script><script src='https://x.token.awswaf.com/x/challenge.js'></script></head>\
      <body><div id='challenge-container'></div><script>AwsWafIntegration.saveReferrer();AwsWafIntegration.checkForceRefresh()</script></body></html>"),
    (Product::F5, 200, &[("set-cookie", "TS01a2b3c4=1; Path=/")],
     "<html><head><script>window[\"bobcmn\"]=\"1011\";</script><noscript>Please enable JavaScript to view the page content.<br/>Your support ID is: 123.</noscript></head><body></body></html>"),
    (Product::Datadome, 403, &[("x-datadome", "protected")],
     "<html lang='en'><head><title>example.com</title></head><body><p id='cmsg'>Please enable JS and disable any ad blocker</p><script>var dd={'rt':'c'}</script><script src='https://ct.captcha-delivery.com/c.js'></script></body></html>"),
    (Product::Perimeterx, 403, &[], "<html><head><title>Access to this page has been denied</title></head><body><div id=\"px-captcha\"></div></body></html>"),
    (Product::Sucuri, 200, &[], "<html><title>You are being redirected...</title><noscript>Javascript is required.</noscript><script>var s={},u='sucuri_cloudproxy_uuid_a='+x;document.cookie=u;location.reload();</script></html>"),
    (Product::DdosGuard, 403, &[("server", "ddos-guard")], "<!DOCTYPE html><html><head><title>DDoS-Guard</title></head><body><script src='https://check.ddos-guard.net/check.js'></script></body></html>"),
    (Product::Vercel, 429, &[("x-vercel-mitigated", "challenge")], "<html><head><title>Vercel Security Checkpoint</title></head></html>"),
    (Product::SecurityCheck, 200, &[], "<html><head><title>人机验证</title></head><body><div id='nc'></div></body></html>"),
    (Product::SecurityCheck, 403, &[], "<html><head><title>访问验证</title></head><body>请按住滑块，拖动到最右边</body></html>"),
];

#[test]
fn challenges_are_known_by_their_product() {
    for (product, status, headers, body) in PASSED_BY_BROWSERS {
        for purpose in [Purpose::List, Purpose::Detail, Purpose::Attachment] {
            let got = verdict(*status, headers, purpose, body);
            assert_eq!(got.kind, VerdictKind::Challenge(*product), "{status} {body:.200}: {got}");
        }
    }
}

/// An apology of three hundred characters is still no page for readers.
#[test]
fn challenges_that_apologise_at_length_are_known_too() {
    let sorry = "As you were browsing, something about your browser made us think you were a bot. ".repeat(8);
    for (product, title, source) in [
        (
            Product::Anubis,
            "Making sure you&#39;re not a bot!",
            "<script id=\"anubis_challenge\" type=\"application/json\">{}</script>",
        ),
        (
            Product::Imperva,
            "Pardon Our Interruption...",
            "<script>var reeseSkipExpirationCheck = true;</script>",
        ),
        (Product::Cloudflare, "Just a moment...", "<script>window._cf_chl_opt={}</script>"),
    ] {
        let page =
            format!("<html><head><title>{title}</title>{source}</head><body><p>{sorry}</p></body></html>");
        for status in [200, 403] {
            let got = verdict(status, &[], Purpose::Detail, &page);
            assert_eq!(got.kind, VerdictKind::Challenge(product), "{status} {title}: {got}");
        }
        let article = format!("<html><head><title>{title}</title></head><body><p>{sorry}</p></body></html>");
        assert_eq!(verdict(200, &[], Purpose::Detail, &article).kind, VerdictKind::Ok, "{title}");
    }
}

#[rustfmt::skip]
const REFUSED_FOR_GOOD: &[(u16, &str)] = &[
    (200, "<html><head><title>网站防火墙</title></head><body><img src='http://404.safedog.cn/images/safedogsite/head.png'><p>您的请求带有不合法参数，已被网站管理员设置拦截！</p><p>可能原因：您提交的内容包含危险的攻击请求</p></body></html>"),
    (200, "<html><head><title>网站防火墙</title></head><body><p class='t1'>您的请求带有不合法参数，已被网站管理员设置拦截！</p></body></html>"),
    (200, "<html><head><title>D盾_拦截提示</title></head><body><h3>【拦截提示】</h3><p>您提交的内容不合法</p></body></html>"),
    (403, "<html><head><title>_D盾_拦截提示</title></head><body>D盾_拦截提示</body></html>"),
    (200, "<html><head><title>拦截提示</title></head><body><div>您的请求疑似攻击行为！</div></body></html>"),
    (403, "<html><head><title>403</title></head><body>当前访问疑似黑客攻击，已被创宇盾拦截<a href='https://help.365cyd.com/cyd-error-help.html?code=403'>?</a></body></html>"),
    (405, "<html><head><title>405</title></head><body>很抱歉，由于您访问的URL有可能对网站造成安全威胁，您的访问被阻断。</body></html>"),
    (200, "<html><head><title>405</title></head><body>很抱歉，由于您访问的URL有可能对网站造成安全威胁，您的访问被阻断。</body></html>"),
    (200, "<html><head><title>Request Rejected</title></head><body>The requested URL was rejected. Please consult with your administrator.<br><br>Your support ID is: 1234567890<br><br><a href='javascript:history.back();'>[Go Back]</a></body></html>"),
    (200, "<html><body><script>window.location.href='https://waf.tencent-cloud.com/501page.html'</script></body></html>"),
    (403, "<HTML><HEAD><TITLE>Access Denied</TITLE></HEAD><BODY><H1>Access Denied</H1>You don't have permission to access this.<P>Reference&#32;&#35;18&#46;2d;https://errors.edgesuite.net/18.2d</BODY></HTML>"),
    (403, "<html><head><title>Attention Required! | Cloudflare</title></head><body><div id='cf-error-details'><h1>Sorry, you have been blocked</h1></div></body></html>"),
    (418, "<html><body>您的请求可能对网站造成威胁，请求已被拦截 hws_security@</body></html>"),
    (493, "<html><body><form action='/wzws-waf-cgi/'></form></body></html>"),
    (403, "<html><body>Client IP: 1.2.3.4 eventID: 7-403-waf02whc reason:UrlACL</body></html>"),
    (999, "<html><body>no</body></html>"),
];

#[test]
fn refusals_are_blocked_whatever_their_status() {
    for (status, body) in REFUSED_FOR_GOOD {
        for purpose in [Purpose::List, Purpose::Detail] {
            let got = verdict(*status, &[], purpose, body);
            assert_eq!(got.kind, VerdictKind::Blocked, "{status} {body:.200}: {got}");
        }
    }
}

/// What a product leaves in pages that it lets through, and what people write about products.
#[test]
fn pages_that_were_let_through_are_ok() {
    #[rustfmt::skip]
    let pages = [
        "<html><head><title>通知公告</title></head><body><ul><li><a href='/a'>关于做好防汛工作的通知</a></li></ul><script src='/cdn-cgi/challenge-platform/scripts/jsd/main.js'></script></body></html>",
        "<html><head><title>通知公告</title><script src='/cdn-cgi/challenge-platform/h/b/scripts/jsd/8a/main.js'></script></head><body><ul><li>一</li></ul></body></html>",
        "<html><head><script src='/TSPD/0859ab?type=12'></script><title>首页</title></head><body><ul><li>通知</li></ul></body></html>",
        "<html><head><script src='/_Incapsula_Resource?SWJIYLWA=719d34'></script><title>首页</title></head><body><ul><li>通知</li></ul></body></html>",
        "<html><head><title>华东地区动态</title></head><body><a href='/huadong_news/1.html'>一</a></body></html>",
        "<html><head><title>关于“D盾_拦截提示”的说明</title></head><body><p>近期有群众反映访问时出现“D盾_拦截提示”，现说明如下：</p></body></html>",
        "<html><head><title>访问说明</title></head><body><p>页面显示“您的请求已被拦截”时，请更换网络后再试。</p></body></html>",
        "<html><head><title>说明</title></head><body><p>阿里云的页面里有：</p><pre>var arg1='0A1B2C3D4E5F60718293A4B5C6D7E8F901234567';</pre></body></html>",
        "<html><head><title>云锁脚本分析</title></head><body><p>函数叫 YunSuoAutoJump，参数叫 security_verify_data=，云锁之外还有 safeline_bot_challenge。</p></body></html>",
        "<html><head><title>Incapsula 说明</title></head><body><p>页面上的 \"Incapsula incident ID\" 是什么？</p></body></html>",
        "<html><head><title>网站防火墙采购公告</title></head><body><p>现采购网站防火墙一台。</p></body></html>",
        "<html><head><title>登录</title></head><body><form>用户名<input></form><script src='https://turing.captcha.qcloud.com/TCaptcha.js'></script></body></html>",
        "<html><head><title>登录</title></head><body><form>用户名<input></form><script src='https://challenges.cloudflare.com/turnstile/v0/api.js'></script></body></html>",
    ];
    for page in pages {
        let got = verdict(200, &[], Purpose::List, page);
        assert_eq!(got.kind, VerdictKind::Ok, "{page}: {got}");
    }
    // A page that says 403 with such a script in it is refused by the site, not challenged.
    let got = verdict(403, &[("server", "cloudflare")], Purpose::List, pages[0]);
    assert_eq!(got.kind, VerdictKind::Blocked, "{got}");
}

/// Little shows on them, and yet nobody asks for anything.
#[test]
fn short_pages_and_shells_are_no_challenges() {
    #[rustfmt::skip]
    let pages = [
        "<html><head><title>常见拦截页面用语</title></head><body><p>访问各地网站时常见的提示有：请稍候、正在验证、安全验证、检测中、人机识别、跳转中、访问异常页面、您的请求已被拦截。遇到这些提示时，请先检查浏览器是否允许脚本，再更换网络后重试，仍不能访问的，请与网站的技术支持单位联系，联系方式见网站首页底部。</p></body></html>",
        "<html><head><title>政府信息公开</title><script>var _CONFIG={};document.cookie='lang=zh';function go(u){location.href=u}</script></head><body><div id=app></div><script src=/app.js></script></body></html>",
        "<html><head><title>请稍候...</title></head><body><div id=\"app\"></div><script src=\"/app.js\"></script></body></html>",
        "<html><head><title>通知</title></head><body><script>if(document.cookie.indexOf('__jsluid')<0){}</script><p>本局定于4月10日停电检修。</p></body></html>",
    ];
    for page in pages {
        let got = verdict(200, &[], Purpose::List, page);
        assert_eq!(got.kind, VerdictKind::Ok, "{page}: {got}");
    }
    // The cookie and the reload without the shell are a challenge.
    let bare = "<html><script>document.cookie='pass=1';location.reload()</script></html>";
    let got = verdict(200, &[], Purpose::List, bare);
    assert_eq!(got.kind, VerdictKind::Challenge(Product::CookieScript), "{got}");
}

#[test]
fn a_challenge_behind_a_long_comment_is_seen() {
    for lead in
        [format!("<!--{}-->", "x".repeat(70 << 10)), format!("<style>{}</style>", "a{}".repeat(25 << 10))]
    {
        let page =
            format!("<html><head>{lead}<script>$_ts=window['$_ts'];</script></head><body></body></html>");
        let got = verdict(200, &[], Purpose::List, &page);
        assert_eq!(got.kind, VerdictKind::Challenge(Product::Ruishu), "{got}");
    }
}

#[test]
fn cookies_name_their_product() {
    for (names, expected) in [
        (&["JSESSIONID", "__jsluid_s"][..], Some(Product::Jiasule)),
        (&["acw_tc", "CT6TS"], Some(Product::Ct6t)),
        (&["acw_tc"], Some(Product::AliyunWaf)),
        (&["CT_1rqu7ab01"], Some(Product::Ctct)),
        (&["CT_login"], None),
        (&["FSSBBIl1UgzbN7N80S"], Some(Product::Ruishu)),
        (&["SESSIONS", "JSESSIONIDS", "ASPSESSIONIDCQBTS", "sessions0123S"], None),
        (&[], None),
    ] {
        assert_eq!(on_cookies(names.iter().copied()).map(|found| found.0), expected, "{names:?}");
    }
}
