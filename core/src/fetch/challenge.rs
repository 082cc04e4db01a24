//! Which firewall wrote a page: the signatures of the products these sites stand behind. Pure, detection only.
//!
//! The products are in `product`, the tables of what gives each of them away in `signs`. For example:
//!
//! | product | usual status | what gives it away |
//! |---|---|---|
//! | 加速乐 (知道创宇) | 521 | a script that spells a cookie, then `go({… "tn":"__jsl_clearance_s" …})`; cookie `__jsluid_*` |
//! | 瑞数 | 412, 202, 200 | `$_ts`, `r='m'`; a cookie with a random name that ends in `S` |
//! | ctct (电信 CT2-WAAP) | 412; refused for good: 405 | `Environment Checking`, `ctct_bundle_…`; `NWAF页面` |
//! | Qingyuan's waiting page | 412, 405 | `请稍候`, `正在验证` |
//! | 阿里云 WAF | 405, 200 | `var arg1='<40 hex>'`, `acw_sc__v2`; cookie `acw_tc` |
//! | 腾讯云 EdgeOne | 200, 567 | a script that sets `EO_Bot_Ssid` and `__tst_status` |
//! | 雷池 | 200, 468 | `safeline_bot_challenge`, `/.safeline/` |
//! | 网站卫士, 网宿 (WZWS) | 200; refused for good: 403 | `wzwsquestion`, `/waf_zw_verify`; `reason:GeoBL` |
//! | 云锁 | 200 | `YunSuoAutoJump`, `security_verify_data` |
//! | openresty CT6T | 302 to itself | cookies `CT6T`, `CT6TS` |
//!
//! A cookie alone proves nothing: these products set theirs on every answer, the good ones too. Nor does a word alone:
//! an article may be about these products. So a word counts only where it does not show as text, and only on a
//! page that shows little; what to make of the rest is for [`verdict`](super::verdict).

mod product;
mod signs;

pub use product::Product;

use super::glance::Glance;
use signs::{HEADERS, SCRIPTS, SENTENCES, Sign, TITLES, WORDY};

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

impl Sign {
    fn found(&self) -> Found {
        Found { product: self.product, hand: self.hand, sign: self.text }
    }
}

/// The signature on a page. `refused`: it came with an error status, so that weaker signs are enough.
pub(super) fn on_page(page: &Glance<'_>, refused: bool) -> Option<Found> {
    if let Some(found) = wordy(page) {
        return Some(found);
    }
    // An answer that is neither an error nor bare is for readers, whatever words are in it.
    if !refused && !page.shows_little() {
        return None;
    }
    sentence(page, refused)
        .or_else(|| script(page, refused))
        .or_else(|| title(page))
        .or_else(|| words(page, refused))
}

/// Whether a title is one of those for which the source must be read, however much the page shows.
pub(super) fn wants_source(title: &str) -> bool {
    WORDY.iter().any(|(wordy, _)| is_nearly(title, wordy))
}

fn wordy(page: &Glance<'_>) -> Option<Found> {
    let (_, sign) = WORDY.iter().find(|(title, sign)| {
        is_nearly(&page.title, title) && page.source.contains(sign.text) && !shows(page, sign.text)
    })?;
    Some(sign.found())
}

fn sentence(page: &Glance<'_>, refused: bool) -> Option<Found> {
    let bare = refused || page.shown.chars().count() < 2 * BARE;
    SENTENCES
        .iter()
        .find(|Sign { text, .. }| {
            // On a bare page that came as a success, a title of ten words that mentions it is an article's.
            let titled = page.title.contains(text) && (refused || is_nearly(&page.title, text));
            titled || (bare && says(page, text)) || (refused && page.source.contains(text))
        })
        .map(Sign::found)
}

/// As little as a sentence or two.
const BARE: usize = 50;

fn script(page: &Glance<'_>, refused: bool) -> Option<Found> {
    for sign in SCRIPTS {
        // What shows, in the text or over it, is somebody writing about it.
        if !page.source.contains(sign.text) || shows(page, sign.text) || page.title.contains(sign.text) {
            continue;
        }
        // Attributes and names this short occur in scripts of all kinds.
        let short = sign.text.len() <= 6 && page.visible >= BARE;
        if (sign.weak || short) && !refused {
            continue;
        }
        if sign.text == "var arg1='" && !followed_by_hex(&page.source, sign.text, 40) {
            continue;
        }
        return Some(sign.found());
    }
    let reloads = || {
        ["location.href", "location.reload", "location.replace", "location=", "location ="]
            .into_iter()
            .any(|way| page.source.contains(way))
    };
    if page.visible < BARE
        && !is_shell(page)
        && page.source.contains("document.cookie")
        && sets_cookie(&page.source)
        && reloads()
    {
        return Some(Found {
            product: Product::CookieScript,
            hand: Hand::Challenge,
            sign: "document.cookie",
        });
    }
    None
}

fn title(page: &Glance<'_>) -> Option<Found> {
    TITLES.iter().find(|sign| is_nearly(&page.title, sign.text)).map(Sign::found)
}

fn words(page: &Glance<'_>, refused: bool) -> Option<Found> {
    let found = |product, sign| Some(Found { product, hand: Hand::Challenge, sign });
    let says = |word: &str| page.title.contains(word) || says(page, word);
    if refused && page.shows_little() && says("安全验证") {
        return found(Product::SecurityCheck, "安全验证");
    }
    // Pages that load their content by script greet with 请稍候 too: on a success it takes the title or both.
    let waits = says("请稍候") || says("请稍后");
    let verifies = says("正在验证");
    // Whoever lists such words has more to say.
    let bare = refused || page.shown.chars().count() < 2 * BARE;
    let titled = is_nearly(&page.title, "请稍候") && (refused || verifies || !has_app(page));
    if bare && (titled || (waits && verifies)) {
        return found(Product::Qingyuan, "请稍候");
    }
    if refused && page.shows_little() && (waits || verifies) {
        return found(Product::Qingyuan, if waits { "请稍候" } else { "正在验证" });
    }
    None
}

/// What the headers of an answer say of it.
pub(super) fn on_headers(headers: &[(String, String)]) -> Option<Found> {
    let (name, _, product, hand) = HEADERS.iter().find(|(name, value, ..)| {
        headers.iter().any(|(n, v)| n == name && v.trim().eq_ignore_ascii_case(value))
    })?;
    Some(Found { product: *product, hand: *hand, sign: name })
}

/// Whether text that shows holds this; it is kept without its white space.
fn shows(page: &Glance<'_>, text: &str) -> bool {
    let squeezed: String = text.split_ascii_whitespace().collect();
    page.shown.contains(&squeezed)
}

/// The same, unless it stands in quotation marks: whoever quotes it is not the firewall.
fn says(page: &Glance<'_>, text: &str) -> bool {
    let squeezed: String = text.split_ascii_whitespace().collect();
    page.shown
        .match_indices(&squeezed)
        .take(8)
        .any(|(at, _)| !page.shown[..at].ends_with(['“', '‘', '「', '『', '《', '〈', '"', '\'', '’', '”']))
}

/// The word, give or take dots and a few characters around it; what says more is a title about it.
fn is_nearly(title: &str, word: &str) -> bool {
    let Some((before, after)) = title.split_once(word) else { return false };
    let rest: String = before.chars().chain(after.chars()).filter(|c| !c.is_whitespace()).collect();
    let said: String = rest.chars().filter(|c| c.is_alphanumeric()).collect();
    rest.chars().count() <= 4 && matches!(&*said, "" | "中" | "页" | "页面")
}

/// A page that loads its style and its script from elsewhere and is filled by them: there is more to it than a cookie.
fn is_shell(page: &Glance<'_>) -> bool {
    let tag_with = |tag: &str, word: &str| {
        page.source.match_indices(tag).take(64).any(|(at, _)| {
            let rest = &page.source[at + tag.len()..];
            rest[..rest.find('>').unwrap_or(rest.len())].contains(word)
        })
    };
    has_app(page) || tag_with("<link", "stylesheet") || tag_with("<script", " src=")
}

/// The element that frameworks fill.
fn has_app(page: &Glance<'_>) -> bool {
    ["app", "root", "__nuxt", "__next"].iter().any(|name| {
        ["\"", "'"].iter().any(|quote| page.source.contains(&format!("id={quote}{name}{quote}")))
            || [">", " "].iter().any(|end| page.source.contains(&format!("id={name}{end}")))
    })
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
mod tests;
