use std::sync::Arc;

use chrono_tz::Asia::Shanghai;

use super::*;

const NOW: Timestamp = Timestamp(1_780_000_000_000);
const PAGE: &str = "<html><head><title>关于示例的通知_通知公告_中国政府网</title></head><body>\
    <div class=TRS_Editor> </div><div id=zoom><p>第一段。</p><p>第二段<img src=a.jpg>。</p><script>var x=1</script>\
    <p><a href='./P020260410.pdf'>附件1：示例.pdf</a><a href='./P020260410.pdf#page=2'>下载</a>\
    <a class=nfw-cms-attachment href='/attachment/0/1' alt='名单.xlsx'>下载</a><a href='b.html'>相关</a></p></div>";

fn found(value: &str, origin: &str) -> Option<contract::Found> {
    Some(contract::Found { value: value.into(), origin: origin.into() })
}

fn nothing() -> contract::Article {
    contract::Article {
        title: None,
        published: None,
        source: None,
        content: None,
        fields: vec![],
        attachments: vec![],
    }
}

fn entry() -> Entry {
    Entry {
        id: 0,
        url: "https://www.gov.cn/a/t1.html".into(),
        url_hash: String::new(),
        title: "列表标题…".into(),
        published_raw: None,
        published: parse_published("2026-04-09", Shanghai, NOW),
        native_id: None,
        pinned: false,
        fields: vec![("doc_no".into(), "国发〔2026〕1号".into()), ("publisher".into(), "国务院".into())],
    }
}

fn read(article_found: &contract::Article, body: &str) -> Extracted {
    read_by(Policy::default(), article_found, body)
}

fn read_by(policy: Policy, article_found: &contract::Article, body: &str) -> Extracted {
    let reply = contract::Reply {
        tag: "page".into(),
        status: 200,
        url: "https://www.gov.cn/a/t1.html".into(),
        headers: vec![("content-type".into(), "text/html; charset=utf-8".into())],
        body: body.into(),
    };
    let setting = Setting { site_name: String::new(), endings: Vec::new(), zone: Shanghai, now: NOW, policy };
    article(article_found, &Pages::new(Arc::new(vec![reply])), &entry(), &setting)
}

#[test]
fn what_the_adapter_found_comes_first() {
    let article = contract::Article {
        title: found(" 自己的\u{a0}标题 ", "css:h1"),
        published: found("时间：2026-04-10 09:30", "css:.time"),
        source: found("来源：新华社", "css:.source"),
        content: Some(contract::Body::At(contract::Place {
            reply: "page".into(),
            css: "div.TRS_Editor, #zoom".into(),
        })),
        fields: vec![(
            "doc_no".into(),
            contract::Found { value: "国发〔2026〕2号".into(), origin: "css:td".into() },
        )],
        attachments: vec![contract::Attachment { url: "/attachment/0/1".into(), name: None }],
    };
    let out = read(&article, PAGE);
    assert_eq!((out.title.as_str(), out.source.as_deref()), ("自己的 标题", Some("新华社")));
    assert_eq!(out.published.as_ref().unwrap().at.to_string(), "2026-04-10T01:30:00.000Z");
    assert_eq!(out.text.lines().take(2).collect::<Vec<_>>(), ["第一段。", "第二段。"]);
    assert!((150..ENOUGH_HTML).contains(&out.html_chars), "{}", out.html_chars);
    assert_eq!(out.inline_image_count, 1);
    let files: Vec<_> = out.attachments.iter().map(|(url, name)| (url.as_str(), name.as_deref())).collect();
    assert_eq!(
        files,
        [
            ("https://www.gov.cn/attachment/0/1", Some("名单.xlsx")),
            ("https://www.gov.cn/a/P020260410.pdf", Some("附件1：示例.pdf")),
        ]
    );
    assert_eq!(out.fields["doc_no"], "国发〔2026〕2号");
    assert_eq!(out.fields["publisher"], "国务院");
    for (field, origin) in [
        ("title", "css:h1"),
        ("published", "css:.time"),
        ("source", "css:.source"),
        ("content", "css:#zoom"),
        ("doc_no", "css:td"),
        ("publisher", "list"),
    ] {
        assert_eq!(out.provenance[field], origin, "{field}");
    }
}

#[test]
fn what_it_did_not_find_comes_from_the_page_and_then_from_the_list() {
    let out = read(&nothing(), PAGE);
    assert_eq!(out.title, "关于示例的通知");
    assert!(out.provenance["title"].starts_with("title:"), "{}", out.provenance["title"]);
    assert_eq!(
        (out.published.unwrap().date.as_str(), out.provenance["published"].as_str()),
        ("2026-04-09", "list")
    );
    let out = read(
        &contract::Article { published: found("日前", "css:i"), title: found(" ", "css:h1"), ..nothing() },
        "{}",
    );
    assert_eq!((out.title.as_str(), out.provenance["title"].as_str()), ("列表标题…", "list"));
    assert_eq!(out.provenance["published"], "list");
}

#[test]
fn html_of_the_adapters_own_is_read_the_same_way() {
    let html = "<p>甲</p><p>乙<img src=x></p><a href=f.docx title=说明.docx>附件</a>";
    let content = Some(contract::Body::Html(contract::Found {
        value: html.into(),
        origin: "json:data.content".into(),
    }));
    let out = read(&contract::Article { content, ..nothing() }, "{}");
    assert_eq!(
        (out.text.as_str(), out.html_chars, out.inline_image_count),
        ("甲\n乙\n附件", html.chars().count(), 1)
    );
    assert_eq!(out.attachments[0].0.as_str(), "https://www.gov.cn/a/f.docx");
    assert_eq!(out.attachments[0].1.as_deref(), Some("说明.docx"));
    assert_eq!(out.provenance["content"], "json:data.content");
}

#[test]
fn a_place_that_cannot_be_read_says_why() {
    for (reply, css, words) in
        [("other", "p", "no reply is tagged `other`"), ("page", "p[", "bad selector `p[`")]
    {
        let content = Some(contract::Body::At(contract::Place { reply: reply.into(), css: css.into() }));
        let out = read(&contract::Article { content, ..nothing() }, PAGE);
        assert!(out.provenance["content"].contains(words));
        assert!(out.text.is_empty());
    }
}

const NEWS: &str = "<html><head><title>春耕备耕有序推进-某某网</title></head><body><div class=nav><a href=/>首页</a></div>\
    <h1>春耕备耕有序推进</h1><p class=info>2026-04-10 09:38 来源：某某日报</p><div class=x><p>各地抢抓农时，加快农资下摆到村，种子、\
    化肥、农药等货源充足，价格平稳，能够满足春耕生产需要。</p><p>专家提醒，近期部分地区气温波动较大，要做好田间管理。</p>\
    <p><a href=f.pdf>农情简报.pdf</a></p></div></body></html>";

#[test]
fn a_body_that_no_selector_finds_is_found_all_the_same_and_says_so() {
    let place = contract::Place { reply: "page".into(), css: "#no-such-body".into() };
    let content = Some(contract::Body::At(place));
    let out = read(&contract::Article { content, title: found("春耕", "css:h1"), ..nothing() }, NEWS);
    assert!(out.text.starts_with("各地抢抓农时") && out.text.contains("田间管理。"), "{}", out.text);
    assert!(out.used_fallback && out.fallback_engine.as_deref().is_some_and(|e| e.starts_with("generic:")));
    assert!(out.provenance["content"].starts_with("generic:"), "{}", out.provenance["content"]);
    assert_eq!(out.attachments[0].0.as_str(), "https://www.gov.cn/a/f.pdf");
    // What the adapter said stays; what it did not say comes from the page.
    assert_eq!((out.title.as_str(), out.provenance["title"].as_str()), ("春耕", "css:h1"));
    assert_eq!(out.source.as_deref(), Some("某某日报"));
}

#[test]
fn a_short_body_that_a_selector_found_is_kept_when_the_title_was_found_too() {
    let content = || Some(contract::Body::At(contract::Place { reply: "page".into(), css: "p.info".into() }));
    let with_title =
        read(&contract::Article { content: content(), title: found("春耕", "css:h1"), ..nothing() }, NEWS);
    assert_eq!(
        (with_title.text.as_str(), with_title.used_fallback),
        ("2026-04-10 09:38 来源：某某日报", false)
    );
    // S2-32: less than 100 characters of HTML and no title: the selectors are for another page.
    let without = read(&contract::Article { content: content(), ..nothing() }, NEWS);
    assert!(without.used_fallback && without.text.starts_with("各地抢抓农时"), "{}", without.text);
}

#[test]
fn the_thresholds_are_a_policy() {
    assert_eq!(Policy::default(), Policy { enough_html: 100, enough_text: 50 });
    let content = || Some(contract::Body::At(contract::Place { reply: "page".into(), css: "p.info".into() }));
    let found = || contract::Article { content: content(), ..nothing() };
    let fell_back = |policy: Policy| read_by(policy, &found(), NEWS).used_fallback;
    assert!(fell_back(Policy::default()));
    assert!(!fell_back(Policy { enough_html: 10, ..Policy::default() }), "so much HTML is enough");
    assert!(!fell_back(Policy { enough_text: 5_000, ..Policy::default() }), "the page has not so much text");
}

#[test]
fn the_page_gives_the_time_of_the_day_that_the_list_knows() {
    // The list says the ninth, a line on the page the tenth: a line is a guess, the list is not.
    let out = read(&nothing(), NEWS);
    assert_eq!(
        (out.published.unwrap().date.as_str(), out.provenance["published"].as_str()),
        ("2026-04-09", "list")
    );
    let same = read(&nothing(), &NEWS.replace("2026-04-10", "2026-04-09"));
    assert_eq!(same.published.unwrap().precision, Precision::Minute);
    // What the page says of itself comes before the list.
    let meta = NEWS.replace("<head>", "<head><meta name=PubDate content='2026-04-08 10:00'>");
    assert_eq!(read(&nothing(), &meta).published.unwrap().date, "2026-04-08");
}

#[test]
fn what_makes_it_a_document_is_read_where_nobody_said_it() {
    let table = "<table><tr><td>索 引 号：</td><td>000014349/2026-1</td><td>主题分类：</td><td>民政</td></tr>\
        <tr><td>成文日期：</td><td>2026年4月1日</td><td>文号：</td><td>某府(2026)7号</td></tr></table>";
    let out = read(&nothing(), &NEWS.replace("<div class=x>", &format!("{table}<div class=x>")));
    assert_eq!(out.fields["index_no"], "000014349/2026-1");
    assert_eq!(out.fields["topic"], "民政");
    assert_eq!(out.fields["written_date"], "2026-04-01");
    // The list knew the number already; its key is the list's.
    assert_eq!(
        (out.fields["doc_no"].as_str(), out.fields["doc_no_key"].as_str()),
        ("国发〔2026〕1号", "国发|2026|1")
    );
}
