//! The rss adapter on saved feeds: every format and every oddity. Each call is made twice, natively and in the sandbox, and
//! must give the same answer; and no answer of a site, however malformed, makes it trap.

#[path = "support/native.rs"]
mod native;

use std::path::{Path, PathBuf};
use std::sync::{Arc, LazyLock};

use dibao::adapter::{Adapter, AdapterHost, Call, HostOptions, Registry, Step, TurnError, contract};
use dibao_adapter::{
    Article, Body, Context, DetailStep, Entry, Failure, ListStep, Page, Reply, Request, detail_turn,
    list_turn,
};
use dibao_adapter_rss::Rss;
use native::Native;
use proptest::prelude::*;
use serde_json::{Value, json};

const FEED: &str = "https://a.cn/rss/feed.xml";

static ADAPTER: LazyLock<Adapter> = LazyLock::new(|| {
    let mut options = HostOptions::default();
    // Memory is what is asked about here; how long eight megabytes take without optimisation is not.
    options.limits.deadline = std::time::Duration::from_secs(60);
    let host = AdapterHost::new(options).expect("a host");
    let registry = Registry::open(root().join("target/adapters")).expect("run `cargo xtask adapters` first");
    registry.load(&host, "rss").expect("run `cargo xtask adapters` first").adapter
});

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("..")
}

/// A saved feed as the answer to a request.
fn reply(fixture: &str, content_type: &str) -> Reply {
    let body = std::fs::read(root().join("adapters/rss/fixtures").join(fixture)).expect(fixture);
    bytes(body, content_type)
}

fn bytes(body: Vec<u8>, content_type: &str) -> Reply {
    Reply {
        tag: "feed".into(),
        status: 200,
        url: FEED.into(),
        headers: vec![("content-type".into(), content_type.into())],
        body,
    }
}

/// One feed and what its adapter remembers.
struct Target {
    config: Value,
    session: Vec<u8>,
}

impl Target {
    fn new(more: Value) -> Target {
        let mut config = json!({"list_url": FEED});
        for (key, value) in more.as_object().into_iter().flatten() {
            config[key] = value.clone();
        }
        ADAPTER.check_config(&config).expect("settings that fit the adapter's schema");
        Target { config, session: Vec::new() }
    }

    fn list(&mut self, cursor: Option<&str>, reply: Reply) -> Result<Page, Failure> {
        match self.list_step(cursor, vec![reply])? {
            ListStep::Done(page) => Ok(page),
            ListStep::Fetch(requests) => panic!("{requests:?} after the reply"),
        }
    }

    fn request(&mut self, cursor: Option<&str>) -> Request {
        match self.list_step(cursor, Vec::new()).expect("a request") {
            ListStep::Fetch(mut requests) => requests.remove(0),
            ListStep::Done(page) => panic!("{page:?} without a reply"),
        }
    }

    fn list_step(&mut self, cursor: Option<&str>, replies: Vec<Reply>) -> Result<ListStep, Failure> {
        let native = list_turn::<Rss>(&Native::new(&replies), self.context(), cursor, &replies);
        let (sandboxed, session) = self.sandboxed(Call::List { cursor }, &replies);
        same(&native.as_ref().map(|turn| &turn.step), &sandboxed);
        let turn = native?;
        assert_eq!(Some(&turn.session), session.as_ref(), "the sessions");
        self.session.clone_from(&turn.session);
        Ok(turn.step)
    }

    fn detail(&mut self, entry: &Entry, replies: Vec<Reply>) -> Result<DetailStep, Failure> {
        let native = detail_turn::<Rss>(&Native::new(&replies), self.context(), entry, &replies);
        let call_entry = native::entry(entry);
        let (sandboxed, _) = self.sandboxed(Call::Detail { entry: &call_entry }, &replies);
        same(&native.as_ref().map(|turn| &turn.step), &sandboxed);
        native.map(|turn| turn.step)
    }

    fn article(&mut self, entry: &Entry) -> Article {
        match self.detail(entry, Vec::new()) {
            Ok(DetailStep::Done(article)) => article,
            other => panic!("{other:?}"),
        }
    }

    fn context(&self) -> Context {
        Context {
            target: "a__feed".into(),
            base: "https://a.cn".into(),
            config: self.config.to_string(),
            session: self.session.clone(),
            now: 1_775_800_000_000,
            seed: vec![7; 32],
        }
    }

    /// The same call in the sandbox, as words that can be compared.
    fn sandboxed(&self, call: Call<'_>, replies: &[Reply]) -> (String, Option<Vec<u8>>) {
        let Context { target, base, config, session, now, seed } = self.context();
        let context = contract::Context { target, base, config, session, now, seed };
        let replies = Arc::new(replies.iter().map(native::reply).collect());
        ADAPTER.turn(&context, call, replies, |turn, _| match turn {
            Ok(turn) => {
                let step = match turn.step {
                    Step::Fetch(requests) => format!("Fetch({requests:?})"),
                    Step::Page(page) => format!("Done({page:?})"),
                    Step::Article(article) => format!("Done({article:?})"),
                };
                (step, Some(turn.session))
            }
            Err(TurnError::Failure { failure, .. }) => (format!("{failure:?}"), None),
            Err(trap) => panic!("{trap}"),
        })
    }
}

fn same<T: std::fmt::Debug>(native: &Result<&T, &Failure>, sandboxed: &str) {
    let native = match native {
        Ok(step) => format!("{step:?}"),
        Err(failure) => format!("{failure:?}"),
    };
    let native = native.trim_start_matches("ListStep::").trim_start_matches("DetailStep::");
    assert_eq!(native, sandboxed, "natively (left) and in the sandbox (right)");
}

fn read(fixture: &str) -> Page {
    Target::new(json!({}))
        .list(None, reply(fixture, "text/xml"))
        .unwrap_or_else(|error| panic!("{fixture}: {error:?}"))
}

/// Address, title, date, id.
type Row<'a> = (&'a str, &'a str, Option<&'a str>, Option<&'a str>);

fn rows(page: &Page) -> Vec<Row<'_>> {
    page.entries
        .iter()
        .map(|e| (e.url.as_str(), e.title.as_str(), e.published.as_deref(), e.native_id.as_deref()))
        .collect()
}

fn field<'a>(entry: &'a Entry, name: &str) -> Option<&'a str> {
    entry.fields.iter().find(|(key, _)| key == name).map(|(_, value)| value.as_str())
}

fn html(article: &Article) -> &str {
    match &article.content {
        Some(Body::Html(found)) => &found.value,
        other => panic!("{other:?}"),
    }
}

fn files(article: &Article) -> Vec<(&str, Option<&str>)> {
    article.attachments.iter().map(|file| (file.url.as_str(), file.name.as_deref())).collect()
}

#[test]
fn the_old_forms_of_rss_are_read() {
    assert_eq!(
        rows(&read("rss091.xml")),
        [
            ("https://a.cn/old/1.html", "第一条", None, None),
            ("https://a.cn/rss/2.html", "第二条", None, None)
        ]
    );
    let page = read("rss092.xml");
    assert_eq!(rows(&page), [("https://a.cn/1", "没有标题的一条短讯，标题取自正文", None, None)]);
    assert_eq!(field(&page.entries[0], "topic_words"), Some("公告"));
    let article = Target::new(json!({"detail": "feed"})).article(&page.entries[0]);
    assert_eq!(files(&article), [("https://a.cn/1.pdf", None)]);
    assert_eq!(article.source.map(|found| found.value).as_deref(), Some("新华社"));
    let page = read("rdf.xml");
    assert_eq!(
        rows(&page),
        [("https://a.cn/1", "RDF 条目", Some("2026-04-10T09:38:30+08:00"), Some("https://a.cn/1"))]
    );
    let values = ["author", "topic_words", "publisher"].map(|name| field(&page.entries[0], name));
    assert_eq!(values, [Some("张三"), Some("教育"), Some("教育部")]);
}

#[test]
fn rss_2_gives_text_files_and_ids_and_asks_for_the_page_of_an_excerpt() {
    let page = read("rss20.xml");
    assert_eq!(
        rows(&page),
        [
            ("https://a.cn/1", "全文", Some("2026-04-10T09:38:30+08:00"), Some("a.cn-000001")),
            ("https://a.cn/2", "摘录", None, Some("https://a.cn/2")),
            ("https://a.cn/3", "只有编号", None, Some("https://a.cn/3")),
            ("https://a.cn/4", "转发", None, None),
            (page.entries[4].url.as_str(), "没有地址", None, Some("a__feed:5")),
        ]
    );
    let (full, excerpt, group) = (&page.entries[0], &page.entries[1], &page.entries[3]);
    assert_eq!((field(full, "author"), field(full, "topic_words")), (Some("李四"), Some("甲, 乙")));
    let mut auto = Target::new(json!({}));
    let article = auto.article(full);
    assert!(html(&article).starts_with("<p>这是全文。"));
    assert_eq!(article.title.as_ref().map(|found| found.origin.as_str()), Some("feed:title"));
    assert_eq!(files(&article), [("https://a.cn/files/附件.pdf", None)]);
    for (config, entry, fetches) in [
        (json!({}), excerpt, true),
        (json!({"detail": "feed"}), excerpt, false),
        (json!({"detail": "page"}), full, true),
        (json!({"detail": {"content": ".con"}}), full, true),
    ] {
        // The row is made under the same settings as the document.
        let mut target = Target::new(config.clone());
        let page = target.list(None, reply("rss20.xml", "text/xml")).expect("a page");
        let entry = page.entries.iter().find(|row| row.url == entry.url).expect("the row");
        let step = target.detail(entry, Vec::new()).expect("a step");
        assert_eq!(matches!(step, DetailStep::Fetch(_)), fetches, "{config}");
    }
    let all = Target::new(json!({"detail": "feed", "enclosures": "all"}));
    let named = |mut target: Target| {
        let page = target.list(None, reply("rss20.xml", "text/xml")).expect("a page");
        let article = target.article(page.entries.iter().find(|row| row.url == group.url).expect("the row"));
        article.attachments.iter().map(|file| file.url.clone()).collect::<Vec<_>>()
    };
    assert_eq!(named(all), ["https://a.cn/4.docx", "https://a.cn/4.mp4"]);
    assert_eq!(named(Target::new(json!({"detail": "feed"}))), ["https://a.cn/4.docx"]);
    assert!(named(Target::new(json!({"detail": "feed", "enclosures": "none"}))).is_empty());
}

/// How an address begins that is made for an entry without one.
fn made(entry: &Entry) -> &str {
    entry.url.split_once("feed-entry=").map_or(&entry.url, |(start, _)| start)
}

#[test]
fn entries_without_an_address_are_documents_of_the_feed_and_nothing_is_asked_for_them() {
    for (fixture, home, count) in [
        ("notices092.xml", "http://www.example.cn/blog/?", 2),
        ("guid-only.xml", "https://a.cn/home?c=1&", 2),
        ("no-url.json", "https://a.cn/?", 2),
        ("episodes.xml", "https://cdn.example.cn/1.mp3", 2),
    ] {
        let page = read(fixture);
        assert_eq!((page.entries.len(), made(&page.entries[0])), (count, home), "{fixture}");
        assert_ne!(page.entries[0].url, page.entries[1].url, "{fixture}");
        // The same the next time, and from any place of a longer feed.
        assert_eq!(read(fixture).entries, page.entries, "{fixture}");
        for settings in [json!({}), json!({"detail": "page"}), json!({"detail": {"content": ".con"}})] {
            let mut target = Target::new(settings);
            for entry in target.list(None, reply(fixture, "text/xml")).expect(fixture).entries {
                assert_eq!(field(&entry, "has_page"), Some("false"), "{fixture}");
                target.article(&entry);
            }
        }
    }
    let notices = read("notices092.xml");
    assert_eq!(notices.entries[0].title, "第一条短讯，来源。");
    assert_eq!(notices.entries[1].url, "http://www.example.cn/mp3s/weatherReportSuite.mp3");
    assert!(html(&Target::new(json!({})).article(&notices.entries[0])).starts_with("第一条短讯，<a href"));
    let ids: Vec<_> = read("guid-only.xml").entries.into_iter().filter_map(|entry| entry.native_id).collect();
    assert_eq!(ids, ["urn:uuid:0001", "urn:uuid:0002"]);
    let episode = &read("episodes.xml").entries[0];
    assert_eq!(episode.native_id.as_deref(), Some("ep-0001-2026"));
    assert_eq!(field(episode, "topic_words"), Some("法治, 生活"));
    assert!(read("rss092.xml").entries.iter().all(|entry| field(entry, "has_page").is_none()));
}

#[test]
fn documents_that_are_nearly_feeds_are_read() {
    assert_eq!(
        rows(&read("entry.xml")),
        [("https://a.cn/e", "单独的一条", Some("2026-04-10T09:38:30+08:00"), Some("urn:e"))]
    );
    assert_eq!(
        rows(&read("cdf.xml")),
        [("https://a.cn/1.html", "频道的一条", Some("2026-04-10T09:38"), None)]
    );
    let page = read("open-cdata.xml");
    assert_eq!(rows(&page), [("https://a.cn/1", "甲", None, None)]);
    assert_eq!(field(&page.entries[0], "summary"), Some("没有写完的一段"));
    let page = read("film.xml");
    assert_eq!(field(&page.entries[0], "summary"), Some("影片的说明"));
    assert_eq!(field(&page.entries[0], "topic_words"), Some("新闻"));
}

#[test]
fn hosts_of_all_scripts_and_numbers_are_kept_and_names_before_them_are_not() {
    let page = read("windows.xml");
    let urls: Vec<&str> = page.entries.iter().map(|entry| entry.url.as_str()).collect();
    assert_eq!(urls, ["https://пример.рф/1", "http://[::1]:8080/2", "https://a.cn/3"]);
    assert_eq!(page.entries[0].title, "it’s “so”");
    // What only the host's parser can refuse costs its row, and a page of nothing else is a failure.
    let one =
        |host: &str| format!("<rss><channel><item><link>https://{host}/1</link></item></channel></rss>");
    let refused = dibao_list(&one("xn--a.cn"));
    assert!(refused.contains("none of the 1 rows has a usable address"), "{refused}");
}

/// What the sandboxed adapter says of a feed; natively nobody checks its addresses.
fn dibao_list(feed: &str) -> String {
    let target = Target::new(json!({}));
    target.sandboxed(Call::List { cursor: None }, &[bytes(feed.as_bytes().to_vec(), "text/xml")]).0
}

#[test]
fn what_the_feed_has_stands_in_for_a_page_that_is_gone_or_forbidden() {
    let mut target = Target::new(json!({}));
    let page = target.list(None, reply("rss20.xml", "text/xml")).expect("a page");
    let excerpt = &page.entries[1];
    assert!(matches!(target.detail(excerpt, Vec::new()), Ok(DetailStep::Fetch(_))));
    let answer = |status, headers: Vec<(String, String)>| Reply {
        tag: "page".into(),
        url: excerpt.url.clone(),
        status,
        headers,
        body: Vec::new(),
    };
    let denied = vec![("dibao-denied".to_owned(), "no grant".to_owned())];
    for reply in [answer(404, vec![]), answer(410, vec![]), answer(403, denied.clone())] {
        match target.detail(excerpt, vec![reply]) {
            Ok(DetailStep::Done(article)) => assert!(!html(&article).is_empty()),
            other => panic!("{other:?}"),
        }
    }
    assert!(matches!(target.detail(excerpt, vec![answer(403, vec![])]), Err(Failure::Refused(_))));
    // Who asks for pages gets pages.
    let mut pages = Target::new(json!({"detail": "page"}));
    let page = pages.list(None, reply("rss20.xml", "text/xml")).expect("a page");
    assert!(matches!(pages.detail(&page.entries[1], vec![answer(404, vec![])]), Err(Failure::Gone)));
    assert!(matches!(pages.detail(&page.entries[1], vec![answer(403, denied)]), Err(Failure::Refused(_))));
}

#[test]
fn atom_keeps_bases_kinds_of_text_and_pages() {
    let page = read("atom03.xml");
    let expected = ("https://a.cn/1", "粗 标题", Some("2004-04-10T09:38:30+08:00"), Some("tag:a.cn,2004:1"));
    assert_eq!(rows(&page), [expected]);
    let page = read("atom10.xml");
    assert_eq!(
        rows(&page),
        [
            (
                "https://a.cn/news/2026/1.html",
                "a < b &amp; c",
                Some("2026-04-10T01:38:30Z"),
                Some("urn:uuid:1225c695-cfb8-4ebb-aaaa-80da344efa6a")
            ),
            ("https://a.cn/by-id", "斜 体", Some("2026-04-10T09:38:30.5+08:00"), Some("https://a.cn/by-id")),
            ("https://a.cn/news/3.pdf", "在别处", None, Some("x:3")),
        ]
    );
    assert_eq!(page.next.as_deref(), Some("at https://a.cn/news/feed?page=2"));
    let first = &page.entries[0];
    assert_eq!((field(first, "author"), field(first, "topic_words")), (Some("甲, 乙"), Some("标签")));
    let article = Target::new(json!({})).article(first);
    assert!(
        html(&article).contains("<a href=\"https://a.cn/news/2026/f.pdf\">附件</a>"),
        "{}",
        html(&article)
    );
    assert_eq!(files(&article), [("https://a.cn/news/f/1.pdf", Some("通知.pdf"))]);
    assert_eq!(article.source.map(|found| found.value).as_deref(), Some("原来的源"));
    // Of two alternates the one to read.
    assert_eq!(read("archive.xml").entries[0].url, "https://a.cn/1");
    assert_eq!(read("archive.xml").next.as_deref(), Some("at https://a.cn/archive/2025.xml"));
}

#[test]
fn pages_are_followed_and_circles_are_not() {
    let mut target = Target::new(json!({}));
    assert_eq!(target.request(None).url, FEED);
    let next =
        target.list(None, reply("atom10.xml", "text/xml")).expect("page 1").next.expect("a second page");
    assert_eq!(target.request(Some(&next)).url, "https://a.cn/news/feed?page=2");
    // The second page links to itself.
    let again = target.list(Some(&next), reply("archive.xml", "text/xml")).expect("page 2");
    assert_eq!(again.next.as_deref(), Some("at https://a.cn/archive/2025.xml"));
    let end =
        target.list(again.next.as_deref(), reply("archive.xml", "text/xml")).expect("the same rows again");
    assert!(end.entries.is_empty() && end.next.is_none());
    let gone = Reply { status: 404, ..reply("page.html", "text/html") };
    assert!(target.list(Some(&next), gone.clone()).expect("past the end").entries.is_empty());
    assert!(matches!(target.list(None, gone), Err(Failure::Shape(_))));
    assert!(matches!(target.list(Some("nonsense"), reply("empty.xml", "")), Err(Failure::Stale(_))));

    let paging = json!({"pagination": {"type": "page_param", "param": "paged", "max_pages": 3}});
    let mut target = Target::new(paging);
    let second = target.list(None, reply("rss091.xml", "text/xml")).expect("page 1").next;
    assert_eq!(target.request(second.as_deref()).url, "https://a.cn/rss/feed.xml?paged=2");
}

#[test]
fn json_feeds_of_both_versions_are_read() {
    let page = read("feed10.json");
    assert_eq!(rows(&page), [("https://a.cn/7", "一", Some("2026-04-10T09:38:30+08:00"), Some("a__feed:7"))]);
    let article = Target::new(json!({})).article(&page.entries[0]);
    assert!(html(&article).ends_with("<p>第二行 &lt;b&gt;</p>\n"), "{}", html(&article));
    let page = read("feed11.json");
    assert_eq!(
        rows(&page),
        [
            ("https://a.cn/1", "一 <b> & c", Some("2026-04-10T09:38:30+08:00"), Some("x:1")),
            ("https://b.cn/2", "", None, Some("x:2")),
            (page.entries[2].url.as_str(), "", None, Some("a__feed:nothing")),
        ]
    );
    assert_eq!(page.next.as_deref(), Some("at https://a.cn/rss/feed.json?p=2"));
    let article = Target::new(json!({"detail": "feed"})).article(&page.entries[0]);
    assert_eq!(files(&article), [("https://a.cn/rss/1.pdf", Some("附件"))]);
}

#[test]
fn vocabularies_of_sound_and_film_fill_in_and_do_not_come_first() {
    let mut target = Target::new(json!({"detail": "feed"}));
    let page = target.list(None, reply("podcast.xml", "text/xml")).expect("a page");
    let [first, second] = &page.entries[..] else { panic!("{:?}", page.entries) };
    assert_eq!((first.title.as_str(), second.title.as_str()), ("节目的题目", "只有文件的题目"));
    assert_eq!((field(first, "author"), field(first, "summary")), (Some("某台"), Some("节目的摘要")));
    assert_eq!((field(second, "author"), field(second, "summary")), (Some("李四"), Some("引文")));
    // What is said to be HTML is, whatever its elements are called.
    assert_eq!(html(&target.article(first)), "见 <details>全文</details>");
}

#[test]
fn words_in_base64_are_words() {
    let page = read("base64.xml");
    assert_eq!(
        rows(&page),
        [
            ("https://a.cn/1", "关于示例的通知", Some("2026-04-10T09:30:00+08:00"), Some("tag:a.cn,2026:1")),
            ("https://a.cn/2", "摘要", None, Some("tag:a.cn,2026:2")),
        ]
    );
    assert!(html(&Target::new(json!({})).article(&page.entries[0])).starts_with("<p>正文。正文。"));
}

#[test]
fn feeds_in_gb_and_utf_16_are_decoded_by_what_they_declare() {
    let title = |fixture, content_type| {
        let page = Target::new(json!({})).list(None, reply(fixture, content_type)).expect(fixture);
        page.entries[0].title.clone()
    };
    for content_type in ["text/xml", "application/rss+xml", "text/xml; charset=gb2312"] {
        assert_eq!(title("gb2312.xml", content_type), "关于朱镕基塘清淤的公告", "{content_type}");
    }
    assert_eq!(title("gbk-in-header.xml", "text/xml; charset=gb18030"), "㙟江办事处通知");
    assert_eq!(title("utf16.xml", "text/xml"), "甲");
}

#[test]
fn what_feed_readers_forgive_is_forgiven() {
    for fixture in ["bom-and-blank.xml", "warning-first.xml", "cut.xml"] {
        assert_eq!(rows(&read(fixture)), [("https://a.cn/1.html", "甲", None, None)], "{fixture}");
    }
    assert_eq!(
        rows(&read("entities.xml")),
        [("https://a.cn/?a=1&b=2&c=3", "甲 乙 — AT&T & 丙 &unknown; 中文 <", None, None)]
    );
    let page = read("stray.xml");
    assert_eq!(
        rows(&page),
        [
            ("https://a.cn/1", "当 a < b 且 <通知> 时", None, None),
            (page.entries[1].url.as_str(), "下一条", None, None),
            ("https://a.cn/3", "丙", None, None)
        ]
    );
    assert!(
        page.entries[1].url.starts_with("https://a.cn/rss/feed.xml?feed-entry="),
        "{}",
        page.entries[1].url
    );
    assert_eq!(field(&page.entries[0], "summary"), Some("没有转义的 HTML 换行"));
    let page = read("undeclared.xml");
    assert_eq!(rows(&page), [("https://a.cn/1", "题", Some("2026-04-10"), None)]);
    assert!(field(&page.entries[0], "_content0").is_some());
    let ids: Vec<_> = read("same-guid.xml").entries.into_iter().map(|entry| entry.native_id).collect();
    assert_eq!(ids, [None, None, Some("own-guid-3".into()), Some("a__feed:4".into())]);
}

#[test]
fn a_bomb_of_entities_is_a_few_odd_words() {
    assert_eq!(read("bomb.xml").entries[0].title, "&lol2;&x;");
}

#[test]
fn what_is_no_feed_is_a_failure_that_says_what_it_is() {
    for (fixture, words) in [
        ("page.html", "HTML, which names the feed https://a.cn/real/rss.xml"),
        ("page-without-doctype.html", "HTML"),
        ("sitemap.xml", "<urlset> is neither RSS nor Atom"),
        ("data.json", "not a JSON Feed"),
    ] {
        for content_type in ["text/html", "text/xml"] {
            match Target::new(json!({})).list(None, reply(fixture, content_type)) {
                Err(Failure::Shape(said)) => assert!(said.contains(words), "{fixture}: {said}"),
                other => panic!("{fixture}: {other:?}"),
            }
        }
    }
    for body in ["", " \n", "Service Unavailable", "<", "<rss", "<?xml version='1.0'?>", "{", "[]", "null"] {
        let read = Target::new(json!({})).list(None, bytes(body.into(), "text/xml"));
        assert!(matches!(read, Err(Failure::Shape(_))), "{body:?}: {read:?}");
    }
    let refused = Target::new(json!({})).list(None, Reply { status: 503, ..reply("rss20.xml", "text/xml") });
    assert!(matches!(refused, Err(Failure::Refused(_))));
    for fixture in ["empty.xml", "empty.json"] {
        assert!(read(fixture).entries.is_empty(), "a feed without entries is a feed");
    }
}

#[test]
fn a_page_is_read_by_selectors_and_the_feed_fills_in() {
    let selectors = json!({"detail": {"publish_time": ".time::text", "source": "i.ly::text", "content": ".con", "attachment_css": ".con a", "fields": {"doc_no": "h1"}}});
    let mut target = Target::new(selectors);
    let page = target.list(None, reply("rss20.xml", "text/xml")).expect("a page");
    let reply_page =
        Reply { tag: "page".into(), url: "https://a.cn/1".into(), ..reply("page.html", "text/html") };
    let step = target.detail(&page.entries[0], vec![reply_page.clone()]).expect("a document");
    let DetailStep::Done(article) = step else { panic!("{step:?}") };
    assert_eq!(article.title.as_ref().map(|found| found.value.as_str()), Some("全文"));
    assert_eq!(article.published.as_ref().map(|found| found.value.as_str()), Some("2026-04-10 09:38"));
    assert_eq!(article.source.as_ref().map(|found| found.value.as_str()), Some("新华社"));
    assert!(matches!(&article.content, Some(Body::At(place)) if place.css == ".con"));
    assert_eq!(files(&article), [("https://a.cn/files/附件.pdf", None), ("a.pdf", Some("附件"))]);
    assert_eq!(article.fields[0].1.value, "标题");
    for status in [404, 410] {
        let gone = target.detail(&page.entries[0], vec![Reply { status, ..reply_page.clone() }]);
        assert!(matches!(gone, Err(Failure::Gone)));
    }
}

#[test]
fn a_feed_as_large_as_an_answer_may_be_fits_into_the_sandbox() {
    let text = "长".repeat(20_000);
    let mut body = String::from("<rss version='2.0'><channel>");
    for number in 0..130 {
        let item = format!(
            "<item><title>{number}</title><link>https://a.cn/{number}</link><description><![CDATA[<p>{text}</p>]]></description></item>"
        );
        body.push_str(&item);
    }
    body.push_str("</channel></rss>");
    assert!(body.len() > 7 << 20 && body.len() < 8 << 20, "{}", body.len());
    let page =
        Target::new(json!({})).list(None, bytes(body.clone().into_bytes(), "text/xml")).expect("a page");
    assert_eq!(page.entries.len(), 130);
    let article = Target::new(json!({})).article(&page.entries[129]);
    assert_eq!(html(&article).chars().filter(|c| *c == '长').count(), 20_000);
    // The same in GB18030, which grows by half when it is decoded.
    let gb = body.replace("<rss", "<?xml version='1.0' encoding='gbk'?><rss").replacen(
        "</channel>",
        &format!("{}</channel>", " ".repeat(2 << 20)),
        1,
    );
    let gb = encoding_rs::GB18030.encode(&gb).0.into_owned();
    assert_eq!(Target::new(json!({})).list(None, bytes(gb, "text/xml")).expect("a page").entries.len(), 130);
    // And ten thousand small ones, of which the contract takes no more.
    let item = "<item><title>t</title><link>https://a.cn/1</link></item>".repeat(12_000);
    let many = format!("<rss version='2.0'><channel>{item}</channel></rss>");
    assert_eq!(
        Target::new(json!({})).list(None, bytes(many.into_bytes(), "")).expect("a page").entries.len(),
        10_000
    );
}

fn pieces() -> impl Strategy<Value = String> {
    let part = prop_oneof![
        any::<String>(),
        "[<>/&;\"'=a-z:! -]{0,20}",
        proptest::sample::select(vec![
            "<rss>",
            "<rss version='2.0'><channel>",
            "<feed xmlns='http://www.w3.org/2005/Atom'>",
            "<rdf:RDF>",
            "<item>",
            "</item>",
            "<entry>",
            "</entry>",
            "<title>",
            "</title>",
            "<link>",
            "</link>",
            "<link href='x'/>",
            "https://a.cn/1",
            "<guid>",
            "</guid>",
            "<pubDate>",
            "</pubDate>",
            "Fri, 10 Apr 2026 25:99:99 +9999",
            "<![CDATA[",
            "]]>",
            "<!--",
            "-->",
            "<!DOCTYPE x [",
            "<!ENTITY a '&a;&a;'>",
            "]>",
            "&a;",
            "&#xD800;",
            "&#0;",
            "&",
            "<content type='xhtml'>",
            "</content>",
            "<media:group><media:content url='",
            "xml:base='//[",
            "xmlns:='",
            "<enclosure url=",
            "/>",
            "<category term='",
            "\u{0}",
            "\u{feff}",
            "{\"version\":\"https://jsonfeed.org/version/1\",\"items\":[",
            "{\"id\":",
            "\"url\":\"x\"}",
            "]}",
            "<?xml encoding='gbk'?>",
            "</rss>",
            "月",
            "四月 10 :::",
        ])
        .prop_map(str::to_owned),
    ];
    proptest::collection::vec(part, 0..40).prop_map(|parts| parts.concat())
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 400, failure_persistence: None, ..ProptestConfig::default() })]

    /// In the sandbox, where a panic is a trap and fails the test.
    #[test]
    fn no_reply_makes_the_adapter_trap(
        body in prop_oneof![
            pieces().prop_map(String::into_bytes),
            pieces().prop_map(|text| format!("<rss><channel><item>{text}").into_bytes()),
            proptest::collection::vec(any::<u8>(), 0..2000),
        ],
        kind in proptest::sample::select(vec!["text/xml", "text/html; charset=gb2312", "", "application/json; charset=utf-16"]),
        way in proptest::sample::select(vec!["auto", "feed", "page"]),
        status in proptest::sample::select(vec![200u16, 200, 200, 301, 404, 500]),
        cursor in proptest::option::of("(at |page |)[a-z0-9:/]{0,20}"),
    ) {
        let mut target = Target::new(json!({"detail": way, "enclosures": "all"}));
        let reply = Reply { status, ..bytes(body, kind) };
        if let Ok(page) = target.list(cursor.as_deref(), reply.clone()) {
            for entry in page.entries.iter().take(3) {
                let _ = target.detail(entry, Vec::new());
                let _ = target.detail(entry, vec![Reply { tag: "page".into(), ..reply.clone() }]);
            }
        }
    }
}
