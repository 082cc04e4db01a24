//! Input: a line with the agent, a line with an address, then a robots.txt.

use std::time::Duration;

use dibao::fetch::robots::{MAX_BODY, Robots, RobotsVerdict};
use url::Url;

pub fn run(data: &[u8]) {
    let ([agent, address], file) = super::lines(data);
    let (agent, address) = (super::text(agent), super::text(address));
    let robots = Robots::parse(file);

    // Reading costs no more memory than a small multiple of the file, and no file more than that of the limit.
    assert!(robots.weight() <= 4096 + 64 * file.len().min(MAX_BODY), "{} of {}", robots.weight(), file.len());
    assert_eq!(robots.is_truncated(), file.len() > MAX_BODY);

    let verdict = robots.check_written(&agent, &address);
    sane(&verdict, file);
    assert_eq!(verdict, robots.check_written(&agent, &address), "a verdict is a function of its question");

    let base = Url::parse("https://www.example.gov.cn/").expect("a literal");
    let Ok(url) = base.join(&address) else { return };
    let verdict = robots.check(&agent, &url);
    sane(&verdict, file);
    assert_eq!(verdict, Robots::parse(file).check(&agent, &url), "and of the file");
    assert!(robots.check(&agent, &base.join("/robots.txt").expect("a literal")).allow, "the file itself");
    assert_eq!(robots.check(&agent.to_ascii_uppercase(), &url).allow, verdict.allow, "names have no case");

    let mut elsewhere = url.clone();
    elsewhere.set_fragment(Some("somewhere/else"));
    assert_eq!(robots.check(&agent, &elsewhere), verdict, "a fragment is never sent");

    // A comment at the end changes nothing, if there is room for it and the file has lines of bytes.
    let utf16 = file.starts_with(b"\xff\xfe") || file.starts_with(b"\xfe\xff");
    if !utf16 && file.len() + 8 < MAX_BODY {
        let longer = [file, b"\n# end\n"].concat();
        assert_eq!(Robots::parse(&longer).check(&agent, &url), verdict, "comments say nothing");
    }
}

fn sane(verdict: &RobotsVerdict, file: &[u8]) {
    assert!(verdict.allow || verdict.rule.is_some(), "who is denied is told the rule");
    if let Some(rule) = &verdict.rule {
        assert!(verdict.group.is_some(), "a rule is of a group");
        assert!((1..=file.len() + 1).contains(&(rule.line as usize)), "{rule:?}");
        assert!(!rule.text.contains(['\n', '\r']), "{rule:?}");
    }
    assert!(verdict.crawl_delay.is_none_or(|delay| delay <= Duration::from_secs(600)), "{verdict:?}");
}
