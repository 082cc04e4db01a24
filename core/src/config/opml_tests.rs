//! Lists of feeds: what readers write is read, what was read is written, hostile lists are refused or harmless.

use super::*;
use crate::model::{Site, Target};

const LIST: &str = r#"<?xml version="1.0" encoding="UTF-8"?>
<opml version="1.0"><head><title>订阅 &amp; 收藏</title></head><body>
<outline text="时政"><outline text="中央" title="中央"><outline text="人民网" type="rss" xmlUrl="http://www.people.com.cn/rss/politics.xml" htmlUrl="http://politics.people.com.cn/"/></outline>
<outline title="国际 &quot;x&quot; &lt;y&gt;" text="w" xmlUrl="http://www.people.com.cn/rss/world.xml"/></outline>
<outline text="散" xmlUrl="https://b.cn/feed" category="/科技/人工智能,/其他"/>
<outline text="又一次" xmlUrl="https://b.cn/feed"/>
<outline text="旧式" xmlUrl="feed://c.cn/rss?id=1&amp;x=2"/>
<outline text="密码" xmlUrl="https://u:p@d.cn/rss"/>
<outline text="坏" xmlUrl="javascript:alert(1)"/>
<outline text="空文件夹"></outline>
</body></opml>"#;

fn rows(import: &FeedImport) -> Vec<(Site, Target)> {
    let mut all = Vec::new();
    for (index, site) in import.sites.iter().enumerate() {
        let (mut row, targets) = site.into_rows().unwrap();
        row.id = index as i64 + 1;
        all.extend(targets.into_iter().map(|target| (row.clone(), target)));
    }
    all
}

#[test]
fn folders_become_categories_and_feeds_of_a_host_one_site() {
    let opml = parse_opml(LIST.as_bytes(), "list.opml").unwrap();
    let found: Vec<_> = opml.feeds.iter().map(|feed| (feed.title.as_str(), feed.folders.join(">"))).collect();
    assert_eq!(
        found,
        [
            ("人民网", "时政>中央".to_owned()),
            ("国际 \"x\" <y>", "时政".to_owned()),
            ("散", "科技>人工智能".to_owned()),
            ("旧式", String::new()),
        ]
    );
    assert_eq!(opml.feeds[3].feed_url.as_str(), "http://c.cn/rss?id=1&x=2");
    assert_eq!(opml.left_out.len(), 2, "{:?}", opml.left_out);
    let import = sites_of_feeds(&opml.feeds, &[]).unwrap();
    let mut codes: Vec<_> = import.targets.iter().map(|(_, code, _)| code.as_str()).collect();
    codes.sort_unstable();
    assert_eq!(codes[0], "b_cn__feed");
    assert!(codes[1].starts_with("c_cn__feed-"), "{codes:?}");
    assert_eq!(codes[2..], ["people_com_cn__politics", "people_com_cn__world"]);
    let rows = rows(&import);
    let politics = &rows.iter().find(|(_, target)| target.code == "people_com_cn__politics").unwrap().1;
    assert_eq!(politics.content_category.as_deref(), Some("时政"));
    assert_eq!(politics.content_subcategory.as_deref(), Some("中央"));
    assert_eq!(politics.config["list_url"], "http://www.people.com.cn/rss/politics.xml");
    let site = &rows.iter().find(|(site, _)| site.code == "people_com_cn").unwrap().0;
    assert_eq!(site.hosts, ["politics.people.com.cn"]);
}

#[test]
fn what_is_exported_imports_as_the_same_feeds() {
    let opml = parse_opml(LIST.as_bytes(), "list.opml").unwrap();
    let first = rows(&sites_of_feeds(&opml.feeds, &[]).unwrap());
    let written = write_opml(&feeds_of_targets(&first));
    // Pages that lie on another host than their feed are kept.
    assert!(written.contains("htmlUrl=\"http://politics.people.com.cn/\""), "{written}");
    let again = parse_opml(written.as_bytes(), "again.opml").unwrap();
    assert!(again.left_out.is_empty(), "{:?}", again.left_out);
    let second = rows(&sites_of_feeds(&again.feeds, &[]).unwrap());
    let facts = |rows: &[(Site, Target)]| {
        let mut facts: Vec<_> = rows
            .iter()
            .map(|(_, t)| {
                (
                    t.code.clone(),
                    t.name.clone(),
                    t.entry_url.clone(),
                    t.content_category.clone(),
                    t.content_subcategory.clone(),
                )
            })
            .collect();
        facts.sort();
        facts
    };
    assert_eq!(facts(&first), facts(&second));
    assert_eq!(write_opml(&feeds_of_targets(&second)), written);
}

#[test]
fn a_second_list_adds_to_the_site_and_leaves_what_is_there() {
    let opml = parse_opml(LIST.as_bytes(), "list.opml").unwrap();
    let known = rows(&sites_of_feeds(&opml.feeds, &[]).unwrap());
    let more = r#"<opml><body><outline text="改名" xmlUrl="http://www.people.com.cn/rss/politics.xml"/><outline text="教育" xmlUrl="http://www.people.com.cn/rss/edu.xml"/></body></opml>"#;
    let import = sites_of_feeds(&parse_opml(more.as_bytes(), "more").unwrap().feeds, &known).unwrap();
    assert_eq!(import.targets.iter().filter(|(_, _, known)| *known).count(), 1);
    let ids: Vec<_> = import.sites[0].columns.iter().map(|column| column.column_id.as_str()).collect();
    assert_eq!((import.sites.len(), ids), (1, vec!["politics", "world", "edu"]));
    // A host with a site of another kind keeps it.
    let mut other = known[0].clone();
    (other.0.code, other.0.adapter) = ("people_com_cn".into(), "yaml-css".into());
    let import = sites_of_feeds(&parse_opml(more.as_bytes(), "more").unwrap().feeds, &[other]).unwrap();
    assert_eq!(import.sites[0].site_id, "people_com_cn_rss");
}

#[test]
fn a_hostile_list_is_refused_or_harmless() {
    let deep = format!("<opml><body>{}", "<outline text='a'>".repeat(50_000));
    assert!(parse_opml(deep.as_bytes(), "deep").unwrap_err().to_string().contains("deep"));
    let bomb = "<!DOCTYPE x [<!ENTITY a 'aaaa'><!ENTITY b '&a;&a;&a;'>]><opml><body><outline text='&b;' xmlUrl='https://a.cn/&b;'/></body></opml>";
    assert_eq!(parse_opml(bomb.as_bytes(), "bomb").unwrap().feeds[0].title, "&b;");
    let large = vec![b' '; MAX_OPML as usize + 1];
    assert!(matches!(parse_opml(&large, "large"), Err(ConfigError::TooLarge { .. })));
    let many: String = (0..30_000).map(|n| format!("<outline xmlUrl='https://a{n}.cn/'/>")).collect();
    assert!(parse_opml(format!("<opml><body>{many}").as_bytes(), "many").is_err());
    // Ten megabytes of one name.
    let long = format!(
        "<opml><body><outline text='{}' xmlUrl='https://a.cn/'/></body></opml>",
        "x".repeat(10 << 20)
    );
    assert_eq!(parse_opml(long.as_bytes(), "long").unwrap().feeds[0].title.len(), 200);
    for text in ["", "<html>", "{}", "<opml", "<rss></rss>", "<opml><body><outline text='</body></opml>"] {
        let error = parse_opml(text.as_bytes(), "x.opml");
        assert!(error.is_err(), "{text}: {error:?}");
    }
}

proptest::proptest! {
    #[test]
    fn no_list_panics_and_every_list_read_can_be_written_and_read_again(
        parts in proptest::collection::vec(proptest::prop_oneof![
            proptest::prelude::any::<String>(),
            proptest::sample::select(vec!["<opml>", "<body>", "<outline text='a&amp;b\"' ", "<outline xmlUrl='https://a.cn/x?y=1&z=2'", "/>", ">", "</outline>", "text=\"<\"", "category='/a/b'"]).prop_map(str::to_owned),
        ], 0..20)
    ) {
        let text = format!("<opml><body>{}</body></opml>", parts.concat());
        if let Ok(opml) = parse_opml(text.as_bytes(), "x") {
            let again = parse_opml(write_opml(&opml.feeds).as_bytes(), "y").unwrap();
            let sorted = |mut feeds: Vec<OpmlFeed>| { feeds.sort_by(|a, b| a.feed_url.cmp(&b.feed_url)); feeds };
            proptest::prop_assert_eq!(sorted(opml.feeds.clone()), sorted(again.feeds));
            proptest::prop_assert!(sites_of_feeds(&opml.feeds, &[]).is_ok());
        }
    }
}
use proptest::strategy::Strategy as _;
