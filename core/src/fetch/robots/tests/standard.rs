//! RFC 9309, section by section: each sentence that says what a crawler does has a row. The sections on the answers
//! to a fetch (2.3.1, 2.4) have theirs beside [`policy`](crate::fetch::robots::decide), the limit (2.5) in `hostile`.

use std::time::Duration;

use url::Url;

use crate::fetch::robots::*;

/// Section and promise, file, and `+` or `-` path for the agent `dibao`.
#[rustfmt::skip]
const ROWS: &[(&str, &str, &[&str])] = &[
    // 2.1 Protocol definition
    ("2.1 rule: a path and whether it may be fetched", "User-agent: dibao\nDisallow: /a\nAllow: /a/b\n", &["-/a", "+/a/b", "+/c"]),
    ("2.1 group: several user-agents, then rules", "User-agent: fox\nUser-agent: dibao\nDisallow: /a\nDisallow: /b\n", &["-/a", "-/b", "+/c"]),
    ("2.1 group: ended by the next user-agent line", "User-agent: dibao\nDisallow: /a\nUser-agent: fox\nDisallow: /b\n", &["-/a", "+/b"]),
    ("2.1 group: ended by the end of the file", "User-agent: dibao\nDisallow: /a", &["-/a"]),
    ("2.1 group: the last one may have no rules, so that all is allowed", "User-agent: *\nDisallow: /\nUser-agent: dibao\n", &["+/a"]),
    // 2.2 Formal syntax
    ("2.2 white space around key, colon and value", " \tUser-agent \t: \tdibao \t\n \tDisallow\t:\t/a \t\n", &["-/a"]),
    ("2.2 comments on their own and behind a rule", "# one\nUser-agent: dibao # two\n#\nDisallow: /a # three\nDisallow: /b#four\n", &["-/a", "-/b"]),
    ("2.2 empty lines anywhere", "\n\nUser-agent: dibao\n\n\nDisallow: /a\n\n\nDisallow: /b\n", &["-/a", "-/b"]),
    ("2.2 lines end with CR, LF or both", "User-agent: dibao\rDisallow: /a\r\nDisallow: /b\nDisallow: /c", &["-/a", "-/b", "-/c"]),
    ("2.2 an empty pattern matches nothing", "User-agent: dibao\nDisallow:\n", &["+/", "+/a"]),
    ("2.2 UTF-8 in a pattern", "User-agent: dibao\nDisallow: /公报\n", &["-/公报/1", "-/%E5%85%AC%E6%8A%A5", "+/公告"]),
    ("2.2 keys in any case", "uSeR-aGeNt: dibao\nDISALLOW: /a\naLLow: /a/b\n", &["-/a", "+/a/b"]),
    // 2.2.1 The user-agent line
    ("2.2.1 token: case does not matter", "User-agent: DiBao\nDisallow: /a\n", &["-/a"]),
    ("2.2.1 token: equal, not the beginning of another", "User-agent: dib\nUser-agent: dibao-news\nDisallow: /a\n", &["+/a"]),
    ("2.2.1 token: ends at the first other character", "User-agent: dibao/2.1 (x)\nDisallow: /a\n", &["-/a"]),
    ("2.2.1 more than one group of the same name: their rules are one group", "User-agent: dibao\nDisallow: /a\nUser-agent: fox\nDisallow: /\nUser-agent: dibao\nDisallow: /b\n", &["-/a", "-/b", "+/c"]),
    ("2.2.1 no group of that name: the one for everybody", "User-agent: fox\nDisallow: /a\nUser-agent: *\nDisallow: /b\n", &["+/a", "-/b"]),
    ("2.2.1 several groups for everybody are one", "User-agent: *\nDisallow: /a\nUser-agent: fox\nUser-agent: *\nDisallow: /b\n", &["-/a", "-/b"]),
    ("2.2.1 a group of that name: the one for everybody does not count", "User-agent: *\nDisallow: /\nUser-agent: dibao\nDisallow: /a\n", &["-/a", "+/b"]),
    ("2.2.1 a group that names both counts for both", "User-agent: *\nUser-agent: dibao\nDisallow: /a\n", &["-/a", "+/b"]),
    ("2.2.1 no group for it or for everybody: no rules", "User-agent: fox\nDisallow: /\n", &["+/a"]),
    ("2.2.1 no groups at all: no rules", "Disallow: /\n", &["+/a"]),
    ("2.2.1 rules before the first group belong to nobody", "Disallow: /a\nUser-agent: dibao\nDisallow: /b\n", &["+/a", "-/b"]),
    // 2.2.2 The allow and disallow lines
    ("2.2.2 from the first octet of the path on", "User-agent: *\nDisallow: /a\n", &["-/a", "-/ab", "+/b/a"]),
    ("2.2.2 case matters in paths", "User-agent: *\nDisallow: /a\n", &["+/A"]),
    ("2.2.2 the query is part of it", "User-agent: *\nDisallow: /a?x=\n", &["-/a?x=1", "+/a?y=1", "+/a"]),
    ("2.2.2 the fragment is not", "User-agent: *\nDisallow: /a$\n", &["-/a#b"]),
    ("2.2.2 the longest match counts, wherever it stands", "User-agent: *\nAllow: /a/b\nDisallow: /a\nDisallow: /a/b/c\n", &["-/a", "+/a/b", "-/a/b/c"]),
    ("2.2.2 equally long: allow", "User-agent: *\nDisallow: /a\nAllow: /a\n", &["+/a"]),
    ("2.2.2 equally long with a star: allow", "User-agent: *\nDisallow: /a*\nAllow: /ab\n", &["+/ab", "-/ac"]),
    ("2.2.2 no match: allowed", "User-agent: *\nDisallow: /a\n", &["+/b"]),
    ("2.2.2 no rules in the group: allowed", "User-agent: *\nSitemap: x\n", &["+/b"]),
    ("2.2.2 /robots.txt is allowed", "User-agent: *\nDisallow: /\n", &["+/robots.txt", "-/robots.txt.bak", "-/a/robots.txt"]),
    ("2.2.2 reserved characters stay as they are", "User-agent: *\nDisallow: /a?b=http://c.d\n", &["-/a?b=http://c.d"]),
    ("2.2.2 escaped and unescaped UTF-8 are the same", "User-agent: *\nDisallow: /报\nDisallow: /%E9%82%B8\n", &["-/%e6%8a%a5", "-/报", "-/邸"]),
    ("2.2.2 an escaped unreserved character is that character", "User-agent: *\nDisallow: /%61%2Db\n", &["-/a-b", "-/%61-b"]),
    ("2.2.2 an escaped reserved character is not", "User-agent: *\nDisallow: /a%2Fb\n", &["-/a%2fb", "+/a/b"]),
    // 2.2.3 Special characters
    ("2.2.3 # begins a comment", "User-agent: *\nDisallow: /a#b\n", &["-/a"]),
    ("2.2.3 $ is the end", "User-agent: *\nDisallow: /a$\n", &["-/a", "+/ab", "+/a?b"]),
    ("2.2.3 * is any number of characters, also none", "User-agent: *\nDisallow: /a*b/c\n", &["-/ab/c", "-/a/x/b/cd", "+/a/c"]),
    ("2.2.3 * more than once", "User-agent: *\nDisallow: /*/a*b$\n", &["-/x/a-b", "-/x/y/ab", "+/ab", "+/x/a-bc"]),
    ("2.2.3 the characters themselves are escaped", "User-agent: *\nDisallow: /a-%2A.html\nDisallow: /b-%24\n", &["-/a-*.html", "+/a-x.html", "-/b-$", "-/b-$x", "+/b-"]),
    // 2.2.4 Other records
    ("2.2.4 sitemaps do not end a group", "User-agent: dibao\nSitemap: https://x/\nUser-agent: fox\nDisallow: /a\n", &["-/a"]),
    ("2.2.4 nor does what nobody knows", "User-agent: dibao\nHost: x\nUser-agent: fox\nDisallow: /a\nClean-param: y\nDisallow: /b\n", &["-/a", "-/b"]),
    ("2.2.4 nor does a delay", "User-agent: dibao\nCrawl-delay: 3\nUser-agent: fox\nDisallow: /a\n", &["-/a"]),
    // 2.3 Access method: UTF-8, also with its mark
    ("2.3 a byte order mark", "\u{feff}User-agent: dibao\nDisallow: /a\n", &["-/a"]),
    // 2.5 and 3: whatever can be read is read
    ("2.5 lines that make no sense are skipped", "<html>\nUser-agent: dibao\n<p>hello\nDisallow: /a\n???\n: /b\nDisallow: /c\n</html>", &["-/a", "+/b", "-/c"]),
    // 5.1 and 5.2: the examples
    ("5.1 simple example, foobot's group is another", "User-Agent: *\nDisallow: *.gif$\nDisallow: /example/\nAllow: /publications/\n\nUser-Agent: foobot\nDisallow:/\nAllow:/example/page.html\nAllow:/example/allowed.gif\n",
     &["-/a.gif", "-/example/page.html", "+/publications/x", "+/"]),
    ("5.2 longest match", "User-Agent: dibao\nAllow: /example/page/\nDisallow: /example/page/disallowed.gif\n",
     &["-/example/page/disallowed.gif", "+/example/page/"]),
];

fn url(path: &str) -> Url {
    Url::parse("https://example.cn").unwrap().join(path).unwrap()
}

#[test]
fn every_rule_of_the_standard_is_kept() {
    for (promise, file, paths) in ROWS {
        let robots = Robots::parse(file.as_bytes());
        for path in *paths {
            let (sign, path) = path.split_at(1);
            let verdict = robots.check("dibao", &url(path));
            assert_eq!(verdict.allow, sign == "+", "{promise}: {path} {verdict:?}");
        }
    }
}

#[test]
fn common_misspellings_are_understood() {
    for agent in ["User-agent", "Useragent", "User agent", "user-agents"] {
        for key in ["Disallow", "dissallow", "DISSALOW", "disalow", "diasllow", "disallaw", "Disallowed"] {
            let file = format!("{agent}: dibao\n{key}: /a\n");
            assert!(!Robots::parse(file.as_bytes()).check("dibao", &url("/a")).allow, "{file}");
        }
    }
    let file = "User-agent: * everybody else\nDisallow /a\nDo not /b\n";
    let robots = Robots::parse(file.as_bytes());
    assert!(!robots.check("dibao", &url("/a")).allow);
    assert!(robots.check("dibao", &url("/b")).allow);
}

#[test]
fn the_verdict_names_the_rule_its_line_and_its_group() {
    let robots = Robots::parse(
        "User-agent: *\nDisallow: /\n\nUser-agent: DiBao\nDisallow: /搜索  # slow\nCrawl-delay: 2.5\n"
            .as_bytes(),
    );
    let verdict = robots.check("dibao/0.1", &url("/搜索?q"));
    let rule = Rule { line: 5, text: "Disallow: /搜索".into() };
    let expected = RobotsVerdict {
        allow: false,
        rule: Some(rule),
        group: Some("DiBao".into()),
        crawl_delay: Some(Duration::from_millis(2500)),
    };
    assert_eq!(verdict, expected);
    let verdict = robots.check("fox", &url("/a"));
    assert_eq!((verdict.allow, verdict.group.as_deref(), verdict.crawl_delay), (false, Some("*"), None));
    assert_eq!(Robots::parse(b"").check("fox", &url("/a")).group, None);
}

#[test]
fn a_whole_user_agent_is_known_by_its_product() {
    let robots = Robots::parse(b"User-agent: dibao\nDisallow: /\nUser-agent: MJ12bot\nDisallow: /\n");
    for (agent, allow) in [
        ("dibao", false),
        ("DIBAO/9", false),
        ("dibao/0.1 (+https://example.org/bot)", false),
        ("Mozilla/5.0 (compatible; dibao/0.1; polite crawler)", false),
        ("Mozilla/5.0 (compatible; dibao; x)", false),
        ("MJ12bot/1.4", false),
        ("Mozilla/5.0 (X11) dibao/1", true),
        ("dibaobao", true),
        ("not dibao", true),
        ("dibao reader", true),
        ("", true),
        ("/", true),
        ("*", true),
    ] {
        assert_eq!(robots.check(agent, &url("/a")).allow, allow, "{agent:?}");
    }
}

/// Who is asked for which delay in seconds.
type Delays = &'static [(&'static str, Option<u64>)];

#[test]
fn a_delay_is_for_the_names_above_it_and_is_raised_not_lowered() {
    #[rustfmt::skip]
    let table: &[(&str, Delays)] = &[
        ("User-agent: a\nUser-agent: b\nCrawl-delay: 3\nDisallow: /x\n", &[("a", Some(3)), ("b", Some(3)), ("c", None)]),
        ("User-agent: a\nDisallow: /x\nCrawl-delay: 3\n", &[("a", Some(3))]),
        // The delay does not end the group, but it does not reach down either.
        ("User-agent: a\nCrawl-delay: 3\n\nUser-agent: *\nDisallow: /x\n", &[("a", Some(3)), ("c", None)]),
        ("User-agent: a\nCrawl-delay: 1\nUser-agent: b\nCrawl-delay: 2\nDisallow: /x\n", &[("a", Some(1)), ("b", Some(2))]),
        ("User-agent: a\nCrawl-delay: 5\nUser-agent: a\nCrawl-delay: 2\n", &[("a", Some(5))]),
        ("User-agent: *\nCrawl-delay: 5\nDisallow:\nUser-agent: a\nDisallow:\n", &[("a", None), ("c", Some(5))]),
        ("Crawl-delay: 5\nUser-agent: *\nDisallow: /x\n", &[("c", None)]),
        ("User-agent: *\nCrawl-delay: often\nDisallow: /x\n", &[("c", None)]),
        ("User-agent: *\nCrawl-delay 7\n", &[("c", Some(7))]),
    ];
    for (file, agents) in table {
        let robots = Robots::parse(file.as_bytes());
        for (agent, seconds) in *agents {
            let delay = robots.check(agent, &url("/")).crawl_delay;
            assert_eq!(delay, seconds.map(Duration::from_secs), "{agent}\n{file}");
        }
    }
}

#[test]
fn files_in_other_encodings_are_read() {
    let gbk = encoding_rs::GBK.encode("User-agent: * # 所有\nDisallow: /公报\nDisallow: /a # 注释\n").0;
    let robots = Robots::parse(&gbk);
    // A site in GBK writes its addresses in GBK.
    let verdict = robots.check("dibao", &url("/%B9%AB%B1%A8/1"));
    assert_eq!(verdict.rule.unwrap().text, "Disallow: /公报", "people can read it");
    assert!(!robots.check("dibao", &url("/a")).allow);
    assert!(robots.check("dibao", &url("/%B9%AB%B8%E6")).allow);

    for (mark, little) in [(b"\xff\xfe", true), (b"\xfe\xff", false)] {
        let text = "User-agent: *\r\nDisallow: /公报\r\n".encode_utf16();
        let units = text.flat_map(|unit| if little { unit.to_le_bytes() } else { unit.to_be_bytes() });
        let file: Vec<u8> = mark.iter().copied().chain(units).collect();
        assert!(!Robots::parse(&file).check("dibao", &url("/公报")).allow, "{mark:x?}");
    }
}
