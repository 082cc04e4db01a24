//! The switches Chromium is started with. Each closes a way around the proxy, keeps it from talking to its maker, or
//! from leaving something behind.

use std::path::Path;

/// Things it would do by itself.
const OFF: &str = "--disable-features=Translate,OptimizationHints,OptimizationGuideModelDownloading,MediaRouter,\
    DialMediaRouteProvider,CertificateTransparencyComponentUpdater,AutofillServerCommunication,NetworkTimeServiceQuerying,\
    InterestFeedContentSuggestions,HttpsUpgrades,HttpsFirstBalancedModeAutoEnable,PrivacySandboxSettings4,Prerender2,\
    PreconnectToSearch,SegmentationPlatform,SafeBrowsingOnUIThread,AsyncDns,DnsOverHttps,WebRtcHideLocalIpsWithMdns,\
    ThirdPartyStoragePartitioning,AcceptCHFrame,BackForwardCache,SpareRendererForSitePerProcess";

const ALWAYS: [&str; 32] = [
    "--headless=new",
    "--remote-debugging-pipe",
    // What is not a page's has no way out at all: pages have the proxy of their context.
    "--proxy-server=http://dibao.invalid:80",
    "--proxy-bypass-list=<-loopback>",
    // No name is resolved here; the proxy does that, under the gate's eyes.
    "--host-resolver-rules=MAP * ~NOTFOUND , EXCLUDE 127.0.0.1",
    "--dns-prefetch-disable",
    "--disable-quic",
    "--force-webrtc-ip-handling-policy=disable_non_proxied_udp",
    "--webrtc-ip-handling-policy=disable_non_proxied_udp",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-domain-reliability",
    "--disable-client-side-phishing-detection",
    "--disable-sync",
    "--disable-default-apps",
    "--disable-extensions",
    "--disable-component-extensions-with-background-pages",
    "--disable-breakpad",
    "--disable-crash-reporter",
    "--metrics-recording-only",
    "--no-pings",
    "--no-first-run",
    "--no-default-browser-check",
    "--no-service-autorun",
    "--password-store=basic",
    "--use-mock-keychain",
    "--mute-audio",
    "--disable-gpu",
    // Containers give 64 MB to /dev/shm, and a page that needs more would crash.
    "--disable-dev-shm-usage",
    "--disable-notifications",
    "--deny-permission-prompts",
    OFF,
];

/// All of them. `key`: SHA-256 of the relay's own public key in base64, the one key that is taken without a
/// certificate authority.
pub(super) fn flags(profile: &Path, key: &str, no_sandbox: bool) -> Vec<String> {
    let mut flags: Vec<String> = ALWAYS.iter().map(|flag| flag.to_string()).collect();
    flags.push("--lang=zh-CN".to_owned());
    flags.push("--window-size=1366,900".to_owned());
    // One page may not take the whole machine.
    flags.push("--js-flags=--max-old-space-size=512".to_owned());
    flags.push(format!("--ignore-certificate-errors-spki-list={key}"));
    flags.push(format!("--user-data-dir={}", profile.display()));
    if no_sandbox {
        flags.push("--no-sandbox".to_owned());
    }
    flags
}
