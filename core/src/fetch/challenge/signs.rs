//! The signatures: what each product leaves in its own pages and in no others. Tables only.

use super::Hand::{self, Block, Challenge};
use super::Product::{self, *};

/// Something in a page, and whose.
pub(super) struct Sign {
    pub text: &'static str,
    pub product: Product,
    pub hand: Hand,
    /// Pages for readers may hold it as well: it counts only on a page that came with an error status.
    pub weak: bool,
}

const fn passes(text: &'static str, product: Product) -> Sign {
    Sign { text, product, hand: Challenge, weak: false }
}

const fn refuses(text: &'static str, product: Product) -> Sign {
    Sign { text, product, hand: Block, weak: false }
}

const fn weak(sign: Sign) -> Sign {
    Sign { weak: true, ..sign }
}

/// In the source, not in the text that shows: names of scripts, variables, cookies and paths. Names that a product also
/// puts into the pages it lets through are not among them (Cloudflare's `scripts/jsd`, Imperva's `SWJIYLWA`, F5's
/// `/TSPD/`). The order matters: chains of products occur, and a page carries the script of the one that wrote it first.
pub(super) const SCRIPTS: &[Sign] = &[
    passes("ctct_bundle", Ctct),
    passes("/ctct/nwaf", Ctct),
    passes("__jsl_clearance", Jiasule),
    // Scripts of ordinary pages look at that cookie too.
    weak(passes("__jsluid", Jiasule)),
    passes("document.cookie=('_')+('_')+('j')", Jiasule),
    passes("$_ts=window['$_ts']", Ruishu),
    passes("$_ts=window[\"$_ts\"]", Ruishu),
    passes("$_ts.cd=", Ruishu),
    passes("$_ts.nsd=", Ruishu),
    passes("$_ts", Ruishu),
    passes(" r='m'", Ruishu),
    passes(" r=\"m\"", Ruishu),
    passes("acw_sc__v2", AliyunWaf),
    passes("acw_sc__v3", AliyunWaf),
    passes("aliyunwaf_", AliyunWaf),
    passes("aliyun_waf_", AliyunWaf),
    passes("<textarea id=\"renderData\"", AliyunWaf),
    passes("wzwsquestion", Wzws),
    passes("wzwschallenge", Wzws),
    passes("WZWS_CONFIRM_PREFIX_LABEL", Wzws),
    passes("/waf_zw_verify", Wzws),
    passes("/WZWSREL", Wzws),
    passes("YunSuoAutoJump", Yunsuo),
    passes("YunsuoAutoJump", Yunsuo),
    passes("security_verify_data=", Yunsuo),
    passes("security_verify_img", Yunsuo),
    passes("safeline_bot_challenge", Safeline),
    passes("/.safeline/", Safeline),
    passes("challenge.rivers.chaitin.cn", Safeline),
    passes("EO_Bot_Ssid", Tencent),
    passes("__tst_status", Tencent),
    passes("_yanzheng_ip.php?", Baota),
    passes("_yanzheng_huadong.php?", Baota),
    passes("/renji_296d626f_", Baota),
    passes("/huadong_296d626f_", Baota),
    passes("/get_btwaf_captcha", Baota),
    passes("yjs_use_ob", Yunjiasu),
    passes("yjs_js_security_passport", Yunjiasu),
    passes("/.well-known/yunjiasu-cgi/", Yunjiasu),
    passes("_cf_chl_opt", Cloudflare),
    passes("/orchestrate/chl_page/", Cloudflare),
    passes("cf-browser-verification", Cloudflare),
    passes("jschl-answer", Cloudflare),
    passes("jschl_answer", Cloudflare),
    passes("bm-verify=", Akamai),
    passes("/_sec/verify?provider=", Akamai),
    passes("/_sec/cp_challenge/", Akamai),
    passes("sec-if-cpt-container", Akamai),
    passes("_Incapsula_Resource?CWUDNSAI", Imperva),
    passes("_Incapsula_Resource?SWUDNSAI", Imperva),
    passes("reeseSkipExpirationCheck", Imperva),
    passes("distilCaptchaForm", Imperva),
    passes("AwsWafIntegration.checkForceRefresh", AwsWaf),
    passes("window.gokuProps", AwsWaf),
    passes("Please enable JavaScript to view the page content.<br/>Your support ID is", F5),
    passes("window[\"bobcmn\"]", F5),
    passes("captcha-delivery.com/", Datadome),
    passes("id=\"px-captcha\"", Perimeterx),
    passes("sucuri_cloudproxy_", Sucuri),
    passes("check.ddos-guard.net/", DdosGuard),
    passes("/.well-known/ddos-guard/check", DdosGuard),
    passes("id=\"anubis_challenge\"", Anubis),
    passes("/.within.website/x/cmd/anubis/", Anubis),
    passes("/.well-known/vercel/security/", Vercel),
    passes("var arg1='", AliyunWaf),
    weak(passes("turing.captcha.qcloud.com", Tencent)),
    weak(passes("challenges.cloudflare.com/turnstile", Cloudflare)),
    refuses("safedogsite/", Safedog),
    refuses("404.safedog.cn/", Safedog),
    refuses("wzws-waf-cgi", Wzws),
    refuses("wangshan.360.cn", Qihoo),
    refuses("class=\"yunsuologo\"", Yunsuo),
    refuses("365cyd.com/cyd-error-help", Jiasule),
    refuses("static.jiasule.com/static/js/http_error", Jiasule),
    refuses("waf.tencent-cloud.com/", Tencent),
    refuses("yundun.com/yd_http_error/", Yundun),
    refuses("yundun.com/yd-http-error/", Yundun),
    refuses("admin.dbappwaf.cn/", Xuanwudun),
    refuses("error.websaas.cn/", Xuanwudun),
    weak(refuses("hws_security@", Huawei)),
    weak(refuses("errors.aliyun.com", AliyunWaf)),
    weak(refuses("alicdn.com/sd-base/static/", AliyunWaf)),
    weak(refuses("bt.cn/new/btwaf", Baota)),
    weak(refuses("<!-- event_id:", Safeline)),
    weak(refuses("errors.edgesuite.net", Akamai)),
    weak(refuses("sucuri-firewall-block", Sucuri)),
    weak(refuses("fgd_icon", Fortinet)),
];

/// In what shows or in the title: sentences no site would greet its readers with. They count on a page that shows a
/// sentence or two, and at an error status on any.
pub(super) const SENTENCES: &[Sign] = &[
    refuses("NWAF页面", Ctct),
    refuses("当前IP请求异常", Ctct),
    refuses("reason:GeoBL", Wzws),
    refuses("reason:UrlACL", Wzws),
    refuses("访问异常页面", Qihoo),
    refuses("您的访问被阻断", AliyunWaf),
    refuses("D盾_拦截提示", Ddun),
    refuses("您的请求带有不合法参数", Baota),
    refuses("已被创宇盾拦截", Jiasule),
    refuses("腾讯云Web应用防火墙", Tencent),
    refuses("您的请求已被拦截", Firewall),
    refuses("您的访问已被拦截", Firewall),
    refuses("您的请求被拦截", Firewall),
    refuses("您的访问被拦截", Firewall),
    refuses("您的请求疑似攻击行为", Firewall),
    refuses("您的请求可能存在威胁", Firewall),
    refuses("您的访问可能对网站造成", Firewall),
    refuses("您的请求可能对网站造成", Firewall),
    refuses("您提交的请求可能对网站造成", Firewall),
    refuses("您的IP地址已被", Firewall),
    refuses("您的IP已被", Firewall),
    refuses("Sucuri WebSite Firewall - Access Denied", Sucuri),
    refuses("Web Page Blocked!", Fortinet),
    refuses("Blocked by YUNDUN Cloud WAF", Yundun),
    refuses("The requested URL was rejected. Please consult with your administrator", F5),
    refuses("Your request has been blocked as it may cause potential threats", AliyunWaf),
    passes("正在进行人机识别", Baota),
    passes("Incapsula incident ID", Imperva),
];

/// Titles that are nothing but this, give or take a few characters, on a page that shows little.
pub(super) const TITLES: &[Sign] = &[
    passes("Environment Checking", Ctct),
    refuses("网站防火墙", Firewall),
    refuses("拦截提示", Firewall),
    refuses("Request Rejected", F5),
    passes("Vercel Security Checkpoint", Vercel),
    passes("DDoS-Guard", DdosGuard),
    passes("安全验证", SecurityCheck),
    passes("人机验证", SecurityCheck),
    passes("访问验证", SecurityCheck),
    passes("滑动验证页面", SecurityCheck),
    passes("Just a moment...", Cloudflare),
    passes("Security Verification", SecurityCheck),
    passes("Human Verification", SecurityCheck),
    passes("Bot Verification", SecurityCheck),
    passes("Checking your browser", SecurityCheck),
    passes("Verifying your browser", SecurityCheck),
];

/// Titles of challenges that apologise at length, each with what is in the source of such a page: both must be there,
/// and then it does not matter how much shows.
pub(super) const WORDY: &[(&str, Sign)] = &[
    ("Making sure you're not a bot!", passes("anubis_challenge", Anubis)),
    ("Pardon Our Interruption", passes("distil", Imperva)),
    ("Pardon Our Interruption", passes("reese", Imperva)),
    ("Pardon Our Interruption", passes("/_Incapsula_Resource", Imperva)),
    ("Just a moment...", passes("_cf_chl_opt", Cloudflare)),
    ("Attention Required! | Cloudflare", refuses("cf-error-details", Cloudflare)),
    ("Access to this page has been denied", passes("px-captcha", Perimeterx)),
    ("网站防火墙", refuses("safedog", Safedog)),
    ("网站防火墙", passes("security_verify_", Yunsuo)),
];

/// Answers of these headers say it themselves: name, value, whose, and what it means.
pub(super) const HEADERS: &[(&str, &str, Product, Hand)] = &[
    ("cf-mitigated", "challenge", Cloudflare, Challenge),
    ("x-amzn-waf-action", "challenge", AwsWaf, Challenge),
    ("x-amzn-waf-action", "captcha", AwsWaf, Challenge),
    ("x-vercel-mitigated", "challenge", Vercel, Challenge),
    ("x-vercel-mitigated", "deny", Vercel, Block),
];
