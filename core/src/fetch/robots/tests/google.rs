//! The cases that Google publishes with its matcher (`robots_test.cc`), one entry each, named as there and told in
//! our words: files, agents and addresses are ours, what they show is theirs.

use url::Url;

use crate::fetch::robots::*;

/// Name, file, and who may fetch what.
type Case = (&'static str, &'static str, &'static [(&'static str, &'static str, bool)]);

const YES: bool = true;
const NO: bool = false;

/// Addresses without a scheme are paths of this host.
const HOST: &str = "http://example.cn";

#[rustfmt::skip]
const CASES: &[Case] = &[
    ("SystemTest", "", &[("Owl", "=", YES), ("", "=", YES)]),
    ("SystemTest", "user-agent: Owl\ndisallow: /\n", &[("", "=", YES), ("Owl", "=", NO)]),

    ("LineSyntax_Line", "user-agent: Owl\ndisallow: /\n", &[("Owl", "/a/b", NO)]),
    ("LineSyntax_Line", "agent: Owl\nforbid: /\n", &[("Owl", "/a/b", YES)]),
    ("LineSyntax_Line", "user-agent Owl\ndisallow /\n", &[("Owl", "/a/b", NO)]),

    ("LineSyntax_Groups",
     "allow: /nobody/\n\nuser-agent: Owl\ndisallow: /\nallow: /owl/\nuser-agent: Fox\ndisallow: /\nallow: /fox/\n\n\n\
      allow: /hen/\nuser-agent: Elk\n\nuser-agent: Owl\nallow: /both/\ndisallow: /\n",
     &[("Owl", "/owl/1", YES), ("Owl", "/both/1", YES), ("Owl", "/fox/1", NO),
       ("Fox", "/fox/1", YES), ("Fox", "/hen/1", YES), ("Fox", "/both/1", NO), ("Elk", "/both/1", YES),
       ("Owl", "/nobody/", NO), ("Fox", "/nobody/", NO), ("Elk", "/nobody/", NO)]),

    ("LineSyntax_Groups_OtherRules", "User-agent: Owl\nSitemap: https://example.cn/map\nUser-agent: *\nDisallow: /\n",
     &[("Fox", "/", NO), ("Owl", "/", NO)]),
    ("LineSyntax_Groups_OtherRules", "User-agent: Owl\nNever-heard-of: this\nUser-agent: *\nDisallow: /\n",
     &[("Owl", "/", NO), ("Fox", "/", NO)]),

    ("REPLineNamesCaseInsensitive", "USER-AGENT: Owl\nALLOW: /in/\nDISALLOW: /\n", &[("Owl", "/in/1", YES), ("Owl", "/out", NO)]),
    ("REPLineNamesCaseInsensitive", "user-agent: Owl\nallow: /in/\ndisallow: /\n", &[("Owl", "/in/1", YES), ("Owl", "/out", NO)]),
    ("REPLineNamesCaseInsensitive", "uSER-aGENT: Owl\naLLOW: /in/\ndISALLOW: /\n", &[("Owl", "/in/1", YES), ("Owl", "/out", NO)]),

    ("UserAgentValueCaseInsensitive", "User-Agent: OWL EYE\nAllow: /in/\nDisallow: /\n",
     &[("Owl", "/in/1", YES), ("Owl", "/out", NO), ("owl", "/in/1", YES), ("owl", "/out", NO)]),
    ("UserAgentValueCaseInsensitive", "User-Agent: owl eye\nAllow: /in/\nDisallow: /\n",
     &[("Owl", "/in/1", YES), ("Owl", "/out", NO), ("owl", "/in/1", YES), ("owl", "/out", NO)]),
    ("UserAgentValueCaseInsensitive", "User-Agent: oWl eYE\nAllow: /in/\nDisallow: /\n",
     &[("Owl", "/in/1", YES), ("Owl", "/out", NO), ("owl", "/in/1", YES), ("owl", "/out", NO)]),

    ("AcceptUserAgentUpToFirstSpace", "User-Agent: *\nDisallow: /\nUser-Agent: Owl Eye\nAllow: /in/\nDisallow: /\n",
     &[("Owl", "/in/1", YES), ("Owl Eye", "/in/1", NO)]),

    ("GlobalGroups_Secondary", "", &[("Owl", "/a", YES)]),
    ("GlobalGroups_Secondary", "user-agent: *\nallow: /\nuser-agent: Owl\ndisallow: /\n",
     &[("Owl", "/a", NO), ("Fox", "/a", YES)]),
    ("GlobalGroups_Secondary", "user-agent: Owl\nallow: /\nuser-agent: Fox\ndisallow: /\nuser-agent: Elk\ndisallow: /\n",
     &[("Hen", "/a", YES)]),

    ("AllowDisallow_Value_CaseSensitive", "user-agent: Owl\ndisallow: /a/\n", &[("Owl", "/a/b", NO)]),
    ("AllowDisallow_Value_CaseSensitive", "user-agent: Owl\ndisallow: /A/\n", &[("Owl", "/a/b", YES)]),

    ("LongestMatch", "user-agent: Owl\ndisallow: /d/file.html\nallow: /d/\n", &[("Owl", "/d/file.html", NO)]),
    ("LongestMatch", "user-agent: Owl\nallow: /d/file.html\ndisallow: /d/\n",
     &[("Owl", "/d/file.html", YES), ("Owl", "/d/", NO)]),
    ("LongestMatch", "user-agent: Owl\ndisallow: \nallow: \n", &[("Owl", "/d/file.html", YES)]),
    ("LongestMatch", "user-agent: Owl\ndisallow: /\nallow: /\n", &[("Owl", "/d/file.html", YES)]),
    ("LongestMatch", "user-agent: Owl\ndisallow: /d\nallow: /d/\n", &[("Owl", "/d", NO), ("Owl", "/d/", YES)]),
    ("LongestMatch", "user-agent: Owl\ndisallow: /d/file.html\nallow: /d/file.html\n", &[("Owl", "/d/file.html", YES)]),
    ("LongestMatch", "user-agent: Owl\nallow: /file\ndisallow: /*.html\n",
     &[("Owl", "/file.html", NO), ("Owl", "/file", YES)]),
    ("LongestMatch", "user-agent: Owl\nallow: /d/file.\ndisallow: /*.html\n",
     &[("Owl", "/d/file.html", YES), ("Owl", "/d/e.html", NO)]),
    ("LongestMatch", "User-agent: *\nDisallow: /d/\nUser-agent: Owl\nDisallow: /e/\n",
     &[("Owl", "/d/file", YES), ("Owl", "/e/file", NO)]),

    ("Encoding", "User-agent: Owl\nDisallow: /\nAllow: /p/q?a=b&u=http://example.cn?c&d\n",
     &[("Owl", "/p/q?a=b&u=http://example.cn?c&d", YES)]),
    ("Encoding", "User-agent: Owl\nDisallow: /\nAllow: /p/报\n",
     &[("Owl", "/p/%E6%8A%A5", YES), ("Owl", "/p/报", NO)]),
    ("Encoding", "User-agent: Owl\nDisallow: /\nAllow: /p/%E6%8A%A5\n",
     &[("Owl", "/p/%E6%8A%A5", YES), ("Owl", "/p/报", NO)]),
    ("Encoding", "User-agent: Owl\nDisallow: /\nAllow: /p/%6F%77%6C\n",
     &[("Owl", "/p/owl", NO), ("Owl", "/p/%6F%77%6C", YES)]),

    ("SpecialCharacters", "User-agent: Owl\nDisallow: /p/q/end\nAllow: /p/*/fin\n",
     &[("Owl", "/p/q/end", NO), ("Owl", "/p/end", YES), ("Owl", "/p//end", YES), ("Owl", "/p/r/end", YES)]),
    ("SpecialCharacters", "User-agent: Owl\nDisallow: /p/q$\nAllow: /p/q/fin\n",
     &[("Owl", "/p/q", NO), ("Owl", "/p/q/fin", YES), ("Owl", "/p/q/", YES), ("Owl", "/p/q/r", YES)]),
    ("SpecialCharacters", "User-agent: Owl\n# Disallow: /\nDisallow: /p/end#fin\nAllow: /\n",
     &[("Owl", "/p/q", YES), ("Owl", "/p/end", NO)]),

    ("IndexHTMLisDirectory", "User-Agent: *\nAllow: /open/index.html\nDisallow: /\n",
     &[("owl", "/open/", YES), ("owl", "/open/index.htm", NO), ("owl", "/open/index.html", YES), ("owl", "/shut", NO)]),

    ("DocumentationChecks /x", "user-agent: Owl\ndisallow: /\nallow: /tree\n",
     &[("Owl", "/moss", NO), ("Owl", "/tree", YES), ("Owl", "/tree.html", YES), ("Owl", "/tree/oak.html", YES),
       ("Owl", "/treetops", YES), ("Owl", "/treetops/high.html", YES), ("Owl", "/tree.html?id=any", YES),
       ("Owl", "/Tree.asp", NO), ("Owl", "/appletree", NO), ("Owl", "/?id=tree", NO)]),
    ("DocumentationChecks /x*", "user-agent: Owl\ndisallow: /\nallow: /tree*\n",
     &[("Owl", "/moss", NO), ("Owl", "/tree", YES), ("Owl", "/tree.html", YES), ("Owl", "/tree/oak.html", YES),
       ("Owl", "/treetops", YES), ("Owl", "/treetops/high.html", YES), ("Owl", "/tree.html?id=any", YES),
       ("Owl", "/Tree.moss", NO), ("Owl", "/appletree", NO), ("Owl", "/?id=tree", NO)]),
    ("DocumentationChecks /x/", "user-agent: Owl\ndisallow: /\nallow: /tree/\n",
     &[("Owl", "/moss", NO), ("Owl", "/tree/", YES), ("Owl", "/tree/oak", YES), ("Owl", "/tree/?oak", YES),
       ("Owl", "/tree/oak.html", YES), ("Owl", "/tree/?id=any", YES),
       ("Owl", "/tree", NO), ("Owl", "/tree.html", NO), ("Owl", "/Tree/Oak.html", NO)]),
    ("DocumentationChecks /*.x", "user-agent: Owl\ndisallow: /\nallow: /*.jsp\n",
     &[("Owl", "/moss", NO), ("Owl", "/page.jsp", YES), ("Owl", "/dir/page.jsp", YES), ("Owl", "/dir/page.jsp?a", YES),
       ("Owl", "//dir/any.jsp.page.html", YES), ("Owl", "/page.jsp/", YES), ("Owl", "/index?f=page.jsp/", YES),
       ("Owl", "/jsp/", NO), ("Owl", "/index?jsp", NO), ("Owl", "/page.JSP", NO)]),
    ("DocumentationChecks /*.x$", "user-agent: Owl\ndisallow: /\nallow: /*.jsp$\n",
     &[("Owl", "/moss", NO), ("Owl", "/page.jsp", YES), ("Owl", "/dir/page.jsp", YES), ("Owl", "/page.jsp?a", NO),
       ("Owl", "/page.jsp/", NO), ("Owl", "/page.jsp5", NO), ("Owl", "/jsp/", NO), ("Owl", "/page?jsp", NO),
       ("Owl", "/aajspaa", NO), ("Owl", "//page.JSP", NO)]),
    ("DocumentationChecks /x*.y", "user-agent: Owl\ndisallow: /\nallow: /tree*.jsp\n",
     &[("Owl", "/moss", NO), ("Owl", "/tree.jsp", YES), ("Owl", "/treetops/appletree.jsp?a", YES), ("Owl", "/Tree.JSP", NO)]),
    ("DocumentationChecks precedence", "user-agent: Owl\nallow: /t\ndisallow: /\n", &[("Owl", "/tree", YES)]),
    ("DocumentationChecks precedence", "user-agent: Owl\nallow: /dir\ndisallow: /dir\n", &[("Owl", "/dir/tree", YES)]),
    ("DocumentationChecks precedence", "user-agent: Owl\nallow: /tree\ndisallow: /*.htm\n", &[("Owl", "/tree.htm", NO)]),
    ("DocumentationChecks precedence", "user-agent: Owl\nallow: /$\ndisallow: /\n", &[("Owl", "/", YES), ("Owl", "/tree.html", NO)]),
];

/// Where RFC 9309 §2.2.2 differs from Google's matcher: an address is escaped before it is compared, and an escaped
/// letter is that letter.
const STANDARD_DIFFERS: &[&str] = &["/p/报", "/p/owl"];

#[test]
fn every_published_case_is_decided_as_published() {
    let told: usize = CASES.iter().map(|(_, _, rows)| rows.len()).sum();
    assert_eq!(told + 5, 145, "all that the published tests ask of the matcher; five are in LineTooLong");
    for (name, file, rows) in CASES {
        let robots = Robots::parse(file.as_bytes());
        for (agent, path, allow) in *rows {
            // `=` stands for the empty address.
            let address = if *path == "=" { String::new() } else { format!("{HOST}{path}") };
            let verdict = robots.check_written(agent, &address);
            assert_eq!(verdict.allow, *allow, "{name}: {agent} {address} {verdict:?}\n{file}");
            let Ok(url) = Url::parse(&address) else { continue };
            let differs = STANDARD_DIFFERS.contains(path);
            assert_eq!(
                robots.check(agent, &url).allow,
                *allow != differs,
                "{name} by the standard: {agent} {url}"
            );
        }
    }
}

/// GoogleOnly_LineTooLong.
#[test]
fn a_line_is_cut_at_eight_times_the_longest_url() {
    let max = 2083 * 8;
    let long = |key: &str, letter: &str| "/d/".to_owned() + &letter.repeat(max - 3 - key.len() - 2);
    let allows = |file: &str, path: &str| {
        let url = Url::parse(HOST).unwrap().join(path).unwrap();
        let robots = Robots::parse(file.as_bytes());
        assert_eq!(robots.check("Owl", &url).allow, robots.check_written("Owl", url.as_str()).allow);
        robots.check("Owl", &url).allow
    };
    let path = long("disallow: ", "a");
    let file = format!("user-agent: Owl\ndisallow: {path}/end\n");
    assert!(allows(&file, "/fin"));
    assert!(!allows(&file, &format!("{path}/fin")), "what is left of the rule matches");

    let (a, b) = (long("allow: ", "a"), long("allow: ", "b"));
    let file = format!("user-agent: Owl\ndisallow: /\nallow: {a}/end\nallow: {b}/end\n");
    assert!(!allows(&file, "/"));
    assert!(allows(&file, &format!("{a}/end")));
    assert!(allows(&file, &format!("{b}/fin")));
}

/// ID_LinesNumbersAreCountedCorrectly.
#[test]
fn lines_are_numbered_alike_for_every_kind_of_line_end() {
    for file in [
        "User-Agent: owl\nAllow: /p\nUser-Agent: fox\n\n\nDisallow: /\n",
        "User-Agent: owl\r\nAllow: /p\r\nUser-Agent: fox\r\n\r\n\r\nDisallow: /\r\n",
        "User-Agent: owl\rAllow: /p\rUser-Agent: fox\r\r\rDisallow: /\r",
        "User-Agent: owl\nAllow: /p\nUser-Agent: fox\n\n\nDisallow: /",
        "User-Agent: owl\nAllow: /p\r\nUser-Agent: fox\n\r\n\nDisallow: /",
    ] {
        let robots = Robots::parse(file.as_bytes());
        let rule = |agent| robots.check_written(agent, "/p").rule.map(|rule| (rule.line, rule.text));
        assert_eq!(rule("owl"), Some((2, "Allow: /p".into())), "{file:?}");
        assert_eq!(rule("fox"), Some((6, "Disallow: /".into())), "{file:?}");
    }
}

/// ID_UTF8ByteOrderMarkIsSkipped.
#[test]
fn a_byte_order_mark_is_skipped_at_the_beginning_only() {
    let read = |head: &[u8], between: &[u8]| {
        let file = [head, b"User-Agent: owl\n", between, b"Disallow: /p\n"].concat();
        !Robots::parse(&file).check_written("owl", "/p").allow
    };
    for whole_or_torn in [&b"\xef\xbb\xbf"[..], b"\xef\xbb", b"\xef", b""] {
        assert!(read(whole_or_torn, b""), "{whole_or_torn:x?}");
    }
    assert!(!read(b"\xef\x11\xbf", b""), "another sequence makes the first line garbage");
    assert!(!read(b"", b"\xef\xbb\xbf"), "and so does one further down");
}

/// ID_NonStandardLineExample_Sitemap.
#[test]
fn a_sitemap_may_stand_anywhere() {
    let rest = "User-Agent: owl\nAllow: /p\nUser-Agent: fox\n\n\n";
    for file in [
        format!("{rest}Sitemap: http://example.cn/map.xml\n"),
        format!("Sitemap: http://example.cn/map.xml\n{rest}"),
    ] {
        assert_eq!(Robots::parse(file.as_bytes()).sitemaps(), ["http://example.cn/map.xml"]);
    }
}

/// ID_VerifyValidUserAgentsToObey: what is no product token is the name of nobody, so that only the rules for everybody
/// apply. Whole `User-Agent` lines are understood beside that, which the reference leaves to its caller.
#[test]
fn only_a_product_token_is_a_name_that_groups_can_call() {
    let robots = Robots::parse(b"User-agent: Owl\nUser-agent: Owl-Eye\nUser-agent: Owl_Eye\nDisallow: /\n");
    for valid in ["Owl", "Owl-Eye", "Owl_Eye"] {
        assert!(!robots.check_written(valid, "/p").allow, "{valid}");
    }
    for invalid in ["", "鸮", "Owl*", " Owl ", "Owl Eye"] {
        assert!(robots.check_written(invalid, "/p").allow, "{invalid:?}");
    }
}

/// LinesNumbersAreCountedCorrectly of the reporting parser: eight lines of fifteen say something, the usual misspellings
/// among them, and each keeps its number.
#[test]
fn misspelt_lines_count_and_senseless_ones_only_keep_their_number() {
    let file = "User-Agent: owl\nAllow: /p\nUser-Agent fox # no\nquite some words here\n#only a note\n\n\
                unicorns: /gone\nnoarchive: /q\nDisallow: /\nError #and a note\nuseragent: elk\ndisallaw: /q\n\
                site-map: https://e/s.xml #note\nsitemap: https://e/t.xml\nNoarchive: /r\n";
    let robots = Robots::parse(file.as_bytes());
    let line = |agent, path| robots.check_written(agent, path).rule.map(|rule| rule.line);
    assert_eq!((line("owl", "/p"), line("owl", "/q")), (Some(2), None));
    assert_eq!((line("fox", "/p"), line("elk", "/q"), line("elk", "/p")), (Some(9), Some(12), None));
    assert_eq!(robots.sitemaps(), ["https://e/s.xml", "https://e/t.xml"]);
}

/// LinesTooLongReportedCorrectly: a line that is cut still counts, and so does the one behind it.
#[test]
fn a_line_that_is_too_long_does_not_take_the_next_one_with_it() {
    let long = "/d/".to_owned() + &"a".repeat(2084 * 8);
    let robots = Robots::parse(format!("user-agent: owl\ndisallow: {long}\nallow: /\n").as_bytes());
    let rule = |path: &str| robots.check_written("owl", path).rule.map(|rule| rule.line);
    assert_eq!((rule("/x"), rule(&long)), (Some(3), Some(2)));
}

/// TestGetPathParamsQuery and TestMaybeEscapePattern, as far as a verdict shows them: the path that a rule is held
/// against is the one published for each address.
#[test]
fn addresses_of_every_form_are_cut_to_the_published_path() {
    #[rustfmt::skip]
    let table = [
        ("", "/"), ("http://www.example.cn", "/"), ("http://www.example.cn/", "/"), ("http://www.example.cn/p", "/p"),
        ("http://www.example.cn/p/", "/p/"), ("http://www.example.cn/p/q?r=http://s.t/", "/p/q?r=http://s.t/"),
        ("http://www.example.cn/p/q?r=s&t=u#note", "/p/q?r=s&t=u"), ("example.cn", "/"), ("example.cn/", "/"),
        ("example.cn/p", "/p"), ("example.cn/p/", "/p/"), ("example.cn/p/q?r=s&t=u#note", "/p/q?r=s&t=u"),
        ("p", "/"), ("p/", "/"), ("/p", "/p"), ("p/q", "/q"), ("example.cn?p", "/?p"), ("example.cn/p;q#r", "/p;q"),
        ("//p/q/r", "/q/r"),
    ];
    for (address, path) in table {
        // Only the very path is allowed, and only with its end.
        let robots = Robots::parse(format!("user-agent: owl\ndisallow: /\nallow: {path}$\n").as_bytes());
        assert!(robots.check_written("owl", address).allow, "{address} is {path}");
    }
    for (rule, address) in [("/p/q/r", "/p/q/r"), ("/á", "/%C3%A1"), ("/%aa", "/%AA")] {
        let robots = Robots::parse(format!("user-agent: owl\ndisallow: {rule}\n").as_bytes());
        assert!(!robots.check_written("owl", address).allow, "{rule} {address}");
    }
}
