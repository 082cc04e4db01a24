//! The makers of the pages that stand in the way, by name. What gives each of them away is in `signs`.

use serde::{Deserialize, Serialize};

/// Who wrote a page that is in the way.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Product {
    /// 加速乐 and 创宇盾 (知道创宇).
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
    /// WZWS: 网站卫士 of 360 and 奇安信, today also 网宿.
    Wzws,
    /// 360's firewall.
    Qihoo,
    /// 云锁.
    Yunsuo,
    /// 安全狗.
    Safedog,
    /// D盾.
    Ddun,
    /// 宝塔's firewall.
    Baota,
    /// 雷池 (长亭).
    Safeline,
    /// 百度云加速.
    Yunjiasu,
    /// 腾讯云 WAF and EdgeOne.
    Tencent,
    /// 华为云 WAF.
    Huawei,
    /// 玄武盾 (安恒).
    Xuanwudun,
    /// 云盾 of YUNDUN.
    Yundun,
    /// Cloudflare.
    Cloudflare,
    /// Akamai.
    Akamai,
    /// Imperva, Incapsula, Distil.
    Imperva,
    /// The firewall of AWS.
    AwsWaf,
    /// F5 BIG-IP.
    F5,
    /// DataDome.
    Datadome,
    /// PerimeterX, HUMAN.
    Perimeterx,
    /// Sucuri.
    Sucuri,
    /// DDoS-Guard.
    DdosGuard,
    /// Vercel.
    Vercel,
    /// Anubis.
    Anubis,
    /// FortiWeb, FortiGuard.
    Fortinet,
    /// A page titled 安全验证 or the like.
    SecurityCheck,
    /// A refusal whose maker does not name itself.
    Firewall,
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
            Product::Yunsuo => "yunsuo",
            Product::Safedog => "safedog",
            Product::Ddun => "ddun",
            Product::Baota => "baota",
            Product::Safeline => "safeline",
            Product::Yunjiasu => "yunjiasu",
            Product::Tencent => "tencent",
            Product::Huawei => "huawei",
            Product::Xuanwudun => "xuanwudun",
            Product::Yundun => "yundun",
            Product::Cloudflare => "cloudflare",
            Product::Akamai => "akamai",
            Product::Imperva => "imperva",
            Product::AwsWaf => "aws_waf",
            Product::F5 => "f5",
            Product::Datadome => "datadome",
            Product::Perimeterx => "perimeterx",
            Product::Sucuri => "sucuri",
            Product::DdosGuard => "ddos_guard",
            Product::Vercel => "vercel",
            Product::Anubis => "anubis",
            Product::Fortinet => "fortinet",
            Product::SecurityCheck => "security_check",
            Product::Firewall => "firewall",
            Product::CookieScript => "cookie_script",
            Product::CookieRedirect => "cookie_redirect",
            Product::Unknown => "unknown",
        }
    }
}
