//! Files that mean harm: nothing panics, nothing takes more than a little time.

use proptest::prelude::*;
use url::Url;

use crate::fetch::robots::*;

fn check_both(robots: &Robots, agent: &str, address: &str) {
    let written = robots.check_written(agent, address);
    assert!(written.allow || written.rule.is_some(), "a denial names its rule");
    if let Ok(url) = Url::parse(address) {
        let verdict = robots.check(agent, &url);
        assert!(verdict.allow || verdict.rule.is_some());
    }
}

/// Half garbage, half what a robots.txt is made of.
fn piece() -> impl Strategy<Value = Vec<u8>> {
    prop_oneof![
        proptest::collection::vec(any::<u8>(), 0..30),
        proptest::sample::select(vec![
            "User-agent: ",
            "*",
            "Disallow: ",
            "Allow: ",
            "Crawl-delay: ",
            "Sitemap: ",
            "\n",
            "\r",
            "\r\n",
            "/",
            "$",
            "%",
            "%e9",
            "%2",
            "#",
            ":",
            " ",
            "\0",
            "index.html",
            "/index.htm",
            "\u{feff}",
            "1e999",
            "a",
            "通",
        ])
        .prop_map(|piece| piece.as_bytes().to_vec()),
    ]
}

proptest! {
    #[test]
    fn any_bytes_can_be_read_and_asked(
        pieces in proptest::collection::vec(piece(), 0..60),
        agent in ".{0,20}",
        address in "(https://example\\.cn)?[/a-z?*$%#;é通]{0,30}",
    ) {
        let robots = Robots::parse(&pieces.concat());
        prop_assert_eq!(robots.sitemaps().len() <= 60, true);
        check_both(&robots, &agent, &address);
        check_both(&robots, "a", &address);
    }

    #[test]
    fn what_no_rule_matches_is_allowed(path in "/b[a-z]{0,10}") {
        let robots = Robots::parse(b"User-agent: *\nDisallow: /a\nDisallow:\nDisallow: a\nDisallow: $\n");
        let verdict = robots.check("x", &Url::parse("https://example.cn").unwrap().join(&path).unwrap());
        prop_assert_eq!((verdict.allow, verdict.rule), (true, None));
    }
}

/// An exponential or quadratic matcher would be busy with these for minutes; no clock is needed to see it.
#[test]
fn patterns_full_of_stars_are_matched_in_linear_time() {
    let path = format!("https://example.cn/{}", "a".repeat(60_000));
    for pattern in ["*a".repeat(8000), "*".repeat(16_000), "a*".repeat(8000) + "b$", "*aaaaaaab".repeat(1800)]
    {
        let robots = Robots::parse(format!("User-agent: *\nDisallow: /{pattern}\n").as_bytes());
        check_both(&robots, "x", &path);
    }
    // As many rules as a file can hold, none of which matches at once.
    let many = "User-agent: *\n".to_owned() + &"Disallow: /*aaaaaaaaaaaaaaaaaaaab\n".repeat(15_000);
    let robots = Robots::parse(many.as_bytes());
    check_both(&robots, "x", &path[..2000]);
}

#[test]
fn huge_files_are_read_up_to_the_limit_and_weigh_little_more_than_they_are() {
    let cases = [
        "Disallow: /\n".repeat(1 << 20),
        "User-agent: a\n".repeat(1 << 20),
        "User-agent: *\nAllow:/\n".repeat(1 << 20),
        "Sitemap: x\n".repeat(1 << 20),
        "Crawl-delay: 1\nUser-agent: b\n".repeat(1 << 18),
        "\n".repeat(1 << 22),
        "\r\n".repeat(1 << 22),
        ":".repeat(1 << 22),
        "#".repeat(1 << 22),
        "a".repeat(1 << 24),
        "\u{feff}".repeat(1 << 20),
        "\0".repeat(1 << 22),
    ];
    for body in cases {
        let robots = Robots::parse(body.as_bytes());
        assert!(robots.is_truncated());
        assert!(robots.weight() < 16 * MAX_BODY, "{} {}", &body[..10], robots.weight());
        check_both(&robots, "a", "https://example.cn/x");
    }
}

/// The rule right at the limit counts, one behind it does not, and half of one is none.
#[test]
fn what_is_beyond_the_limit_does_not_count() {
    let head = "User-agent: *\n";
    let tail = "Disallow: /secret\n";
    let padded = |room: usize| {
        let comment = "#".repeat(MAX_BODY - head.len() - room - 1);
        format!("{head}{comment}\n{tail}{}", "#".repeat(100))
    };
    let allows = |body: String| {
        Robots::parse(body.as_bytes()).check("x", &Url::parse("https://example.cn/s").unwrap()).allow
            && Robots::parse(body.as_bytes())
                .check("x", &Url::parse("https://example.cn/secret").unwrap())
                .allow
    };
    assert!(!allows(padded(tail.len())));
    assert!(!allows(padded(tail.len() - 1)), "its line end is the limit");
    assert!(allows(padded(tail.len() - 2)));
    assert!(allows(padded(12)), "`Disallow: /` is not what it says");
    assert!(allows(padded(0)));
}
