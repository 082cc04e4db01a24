//! Which firewall wrote a page: the signatures of the products these sites stand behind. Pure, detection only.
//!
//! | product | usual status | what gives it away |
//! |---|---|---|
//! | 加速乐 (知道创宇) | 521 | a script that spells a cookie, then `go({… "tn":"__jsl_clearance_s" …})`; cookie `__jsluid_*` |
//! | 瑞数 | 412, 202, 200 | `$_ts`, `r='m'`; a cookie with a random name that ends in `S` |
//! | ctct (电信 CT2-WAAP) | 412; refused for good: 405 | `Environment Checking`, `ctct_bundle_…`; `NWAF页面` |
//! | Qingyuan's waiting page | 412, 405 | `请稍候`, `正在验证` |
//! | 阿里云 WAF | 405, 200 | `var arg1='<40 hex>'`, `acw_sc__v2`; cookie `acw_tc` |
//! | openresty CT6T | 302 to itself | cookies `CT6T`, `CT6TS` |
//! | 奇安信 WZWS, 360 and others | 403 | `reason:GeoBL`, titles `安全验证`, `访问异常页面` |
//!
//! A cookie alone proves nothing: these products set theirs on every answer, the good ones too. Nor does a word alone:
//! an article may be about these products. So a word counts only where it does not show as text, and only on a
//! page that shows little; what to make of the rest is for [`verdict`](super::verdict).

use serde::{Deserialize, Serialize};

use super::glance::Glance;

/// Who wrote a page that is in the way.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Product {
    /// 加速乐, stage 1 or 2.
    Jiasule,
    /// 瑞数, RiverSecurity.
    Ruishu,
    /// 电信 CT2-WAAP.
    Ctct,
    /// The page that says 请稍候; its maker is not known.
    Qingyuan,
    /// 阿里云 WAF.
    AliyunWaf,
    /// openresty with `CT6T` cookies: a redirect to itself that wants its cookie back.
    Ct6t,
    /// 奇安信 WZWS.
    Wzws,
    /// 360's firewall.
    Qihoo,
    /// A page titled 安全验证.
    SecurityCheck,
    /// Cloudflare.
    Cloudflare,
    /// A page that shows nothing, sets a cookie by script and loads itself again.
    CookieScript,
    /// Another redirect to itself that wants a cookie back.
    CookieRedirect,
    /// Known only by its status.
    Unknown,
}

impl Product {
    /// The name under which it is stored and shown.
    pub fn as_str(self) -> &'static str {
        match self {
            Product::Jiasule => "jiasule",
            Product::Ruishu => "ruishu",
            Product::Ctct => "ctct",
            Product::Qingyuan => "qingyuan",
            Product::AliyunWaf => "aliyun_waf",
            Product::Ct6t => "ct6t",
            Product::Wzws => "wzws",
            Product::Qihoo => "qihoo",
            Product::SecurityCheck => "security_check",
            Product::Cloudflare => "cloudflare",
            Product::CookieScript => "cookie_script",
            Product::CookieRedirect => "cookie_redirect",
            Product::Unknown => "unknown",
        }
    }
}

/// What a signature means.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Hand {
    /// A browser may pass.
    Challenge,
    /// Nobody from here passes.
    Block,
}

/// A signature that was found.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Found {
    pub product: Product,
    pub hand: Hand,
    /// The signature itself.
    pub sign: &'static str,
}

/// In the source, not in the text that shows. The order matters: chains of products occur, and a page carries the
/// script of the one that wrote it first.
const SCRIPTS: [(&str, Product); 19] = [
    ("ctct_bundle", Product::Ctct),
    ("/ctct/nwaf", Product::Ctct),
    ("__jsl_clearance", Product::Jiasule),
    ("__jsluid", Product::Jiasule),
    ("document.cookie=('_')+('_')+('j')", Product::Jiasule),
    ("$_ts=window['$_ts']", Product::Ruishu),
    ("$_ts=window[\"$_ts\"]", Product::Ruishu),
    ("$_ts.cd=", Product::Ruishu),
    ("$_ts.nsd=", Product::Ruishu),
    ("$_ts", Product::Ruishu),
    (" r='m'", Product::Ruishu),
    (" r=\"m\"", Product::Ruishu),
    ("acw_sc__v2", Product::AliyunWaf),
    ("acw_sc__v3", Product::AliyunWaf),
    ("aliyunwaf_", Product::AliyunWaf),
    ("<textarea id=\"renderData\"", Product::AliyunWaf),
    ("_cf_chl_opt", Product::Cloudflare),
    ("/cdn-cgi/challenge-platform/", Product::Cloudflare),
    ("var arg1='", Product::AliyunWaf),
];

/// In what shows or in the title: sentences no site would greet its readers with.
const REFUSALS: [(&str, Product); 5] = [
    ("NWAF页面", Product::Ctct),
    ("当前IP请求异常", Product::Ctct),
    ("reason:GeoBL", Product::Wzws),
    ("访问异常页面", Product::Qihoo),
    ("您的访问被阻断", Product::AliyunWaf),
];

/// The signature on a page. `refused`: it came with an error status, so that weaker signs are enough.
pub(super) fn on_page(page: &Glance<'_>, refused: bool) -> Option<Found> {
    // An answer that is neither an error nor bare is for readers, whatever words are in it.
    if !refused && !page.shows_little() {
        return None;
    }
    refusal(page, refused).or_else(|| script(page, refused)).or_else(|| words(page, refused))
}

fn refusal(page: &Glance<'_>, refused: bool) -> Option<Found> {
    REFUSALS
        .iter()
        .find(|(sign, _)| {
            // On a bare page that came as a success, a title of ten words that mentions it is an article's.
            let titled = page.title.contains(sign) && (refused || is_nearly(&page.title, sign));
            let shown = page.shown.contains(sign) && (refused || page.shown.chars().count() < 2 * BARE);
            titled || shown || (refused && page.source.contains(sign))
        })
        .map(|(sign, product)| Found { product: *product, hand: Hand::Block, sign })
}

/// As little as a sentence or two.
const BARE: usize = 50;

fn script(page: &Glance<'_>, refused: bool) -> Option<Found> {
    let found = |product, sign| Some(Found { product, hand: Hand::Challenge, sign });
    for (sign, product) in SCRIPTS {
        // What shows, in the text or over it, is somebody writing about it.
        if !page.source.contains(sign) || page.shown.contains(sign) || page.title.contains(sign) {
            continue;
        }
        // Attributes and names this short occur in scripts of all kinds.
        let weak = sign.len() <= 6;
        if weak && !refused && page.visible >= BARE {
            continue;
        }
        if sign == "var arg1='" && !followed_by_hex(&page.source, sign, 40) {
            continue;
        }
        return found(product, sign);
    }
    if is_nearly(&page.title, "Environment Checking") {
        return found(Product::Ctct, "Environment Checking");
    }
    let reloads = || {
        ["location.href", "location.reload", "location.replace", "location=", "location ="]
            .into_iter()
            .any(|way| page.source.contains(way))
    };
    if page.visible < BARE
        && page.source.contains("document.cookie")
        && sets_cookie(&page.source)
        && reloads()
    {
        return found(Product::CookieScript, "document.cookie");
    }
    None
}

fn words(page: &Glance<'_>, refused: bool) -> Option<Found> {
    let found = |product, sign| Some(Found { product, hand: Hand::Challenge, sign });
    let says = |word: &str| page.title.contains(word) || page.shown.contains(word);
    if is_nearly(&page.title, "安全验证") || (refused && page.shows_little() && says("安全验证")) {
        return found(Product::SecurityCheck, "安全验证");
    }
    // Pages that load their content by script greet with 请稍候 too: on a success it takes the title or both.
    let waits = says("请稍候") || says("请稍后");
    let verifies = says("正在验证");
    if is_nearly(&page.title, "请稍候") || (waits && verifies) {
        return found(Product::Qingyuan, "请稍候");
    }
    if refused && page.shows_little() && (waits || verifies) {
        return found(Product::Qingyuan, if waits { "请稍候" } else { "正在验证" });
    }
    None
}

/// The word, give or take dots and a few characters around it.
fn is_nearly(title: &str, word: &str) -> bool {
    title.contains(word) && title.chars().filter(|c| !c.is_whitespace()).count() <= word.chars().count() + 4
}

fn followed_by_hex(source: &str, sign: &str, digits: usize) -> bool {
    source.match_indices(sign).take(8).any(|(at, _)| {
        let rest = &source.as_bytes()[at + sign.len()..];
        rest.len() > digits && rest[..digits].iter().all(u8::is_ascii_hexdigit) && rest[digits] == b'\''
    })
}

/// Writes to `document.cookie`, not only reads it.
fn sets_cookie(source: &str) -> bool {
    source.match_indices("document.cookie").take(16).any(|(at, word)| {
        let rest = source[at + word.len()..].trim_start();
        rest.starts_with('=') && !rest.starts_with("==")
    })
}

/// The product whose cookie an answer sets. Evidence beside a status or a page, never by itself.
pub(super) fn on_cookies<'a>(names: impl Iterator<Item = &'a str>) -> Option<(Product, &'a str)> {
    let mut guess = None;
    for name in names {
        let product = match name {
            "__jsluid_s" | "__jsluid_h" | "__jsl_clearance" | "__jsl_clearance_s" => Product::Jiasule,
            "CT6T" | "CT6TS" => Product::Ct6t,
            "acw_tc" | "acw_sc__v2" | "acw_sc__v3" => Product::AliyunWaf,
            "__cf_bm" | "cf_clearance" => Product::Cloudflare,
            _ if is_ctct_cookie(name) => Product::Ctct,
            _ if is_ruishu_cookie(name) => Product::Ruishu,
            _ => continue,
        };
        // Load balancers of Aliyun set theirs on everything; any other is better evidence.
        if product != Product::AliyunWaf {
            return Some((product, name));
        }
        guess = Some((product, name));
    }
    guess
}

/// `CT_` and small letters and digits: `CT_1rqu7ab01`.
fn is_ctct_cookie(name: &str) -> bool {
    name.strip_prefix("CT_").is_some_and(|rest| {
        rest.len() >= 4
            && rest.bytes().all(|b| b.is_ascii_lowercase() || b.is_ascii_digit())
            && rest.bytes().any(|b| b.is_ascii_digit())
    })
}

/// Random letters and digits, then the letter for "server": `FSSBBIl1UgzbN7N80S`.
fn is_ruishu_cookie(name: &str) -> bool {
    name.len() >= 10
        && name.ends_with('S')
        && name.bytes().all(|b| b.is_ascii_alphanumeric())
        && name.bytes().any(|b| b.is_ascii_lowercase())
        && name.bytes().any(|b| b.is_ascii_digit())
        && name.bytes().filter(u8::is_ascii_uppercase).count() >= 2
}

#[cfg(test)]
mod tests {
    use super::*;

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
}
