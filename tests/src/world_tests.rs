//! Paging and addresses of all families, without sockets.

use std::collections::BTreeSet;

use crate::answer::{Answer, Ask};
use crate::gbk::RARE;
use crate::options::ReplicaOptions;
use crate::post::NewPost;
use crate::world::World;

fn world(articles: u64, seed: u64) -> anyhow::Result<World> {
    World::new(&ReplicaOptions { articles, seed, bench_hosts: 1, ..ReplicaOptions::default() })
}

fn get(world: &World, host: &str, target: &str) -> Answer {
    let (path, query) = target.split_once('?').map_or((target, None), |(path, query)| (path, Some(query)));
    let ask = Ask { path, query, empty_list: false, headers: &http::HeaderMap::new(), posted: None };
    world.site(host).map_or_else(Answer::missing, |site| site.answer(&ask))
}

/// The address of list page `page` of a column, from the table in the crate's documentation.
fn list_page(host: &str, list: &str, page: u64) -> String {
    if page == 1 {
        return list.to_owned();
    }
    match host {
        "www.tongcheng.gov.cn" => format!("{list}&page={page}"),
        "www.gdqy.gov.cn" | "www.gd.gov.cn" => list.replace("index.", &format!("index_{page}.")),
        _ => list
            .replace("index.", &format!("index_{}.", page - 1))
            .replace("home.", &format!("home_{}.", page - 1)),
    }
}

/// The hosts of gkmlpt have lists of JSON and tests of their own.
fn is_html(host: &str) -> bool {
    host != crate::feeds::HOST && crate::gkmlpt::places().iter().all(|place| place.0 != host)
}

fn text(answer: &Answer) -> String {
    let utf8 = std::str::from_utf8(&answer.body).map(str::to_owned);
    utf8.unwrap_or_else(|_| encoding_rs::GB18030.decode(&answer.body).0.into_owned())
}

#[test]
fn every_list_page_holds_its_own_posts_and_no_others() -> anyhow::Result<()> {
    let world = world(173, 1)?;
    for host in world.hosts() {
        let Some(site) = world.site(&host).filter(|_| is_html(&host)) else { continue };
        let mut posts = BTreeSet::new();
        for (index, column) in site.columns.iter().enumerate() {
            let (total, pages) = site.extent(index);
            let pages = if host == "www.news.cn" { 1 } else { pages };
            let mut listed = BTreeSet::new();
            for page in 1..=pages {
                let html = text(&get(&world, &host, &list_page(&host, column.list, page)));
                assert!((10_000..60_000).contains(&html.len()), "{host} {page}: {} bytes", html.len());
                let from = (page - 1) * site.page_size;
                let due = site.rows(index, from, from + site.page_size);
                for head in &due {
                    assert!(
                        html.contains(&format!("（{}年第{}号）", head.at.format("%Y"), head.id % 1_000_000)),
                        "{host} {page}"
                    );
                    assert!(listed.insert(head.id), "{host} lists {} twice", head.id);
                }
                let pinned = u64::from(page == 1 && site.pinned(index).is_some());
                let rows = html.matches("<li><a").count()
                    + html.matches("置顶").count()
                    + html.matches("class=\"tit\"").count();
                let rows = rows + html.matches("<h4>").count() + html.matches("class=\"name\"").count();
                assert_eq!(rows as u64, due.len() as u64 + pinned, "{host} {page}");
            }
            if host != "www.news.cn" {
                assert_eq!(listed.len() as u64, total, "{host} {}", column.id);
                let past = get(&world, &host, &list_page(&host, column.list, pages + 1));
                assert!(past.status == 404 || !text(&past).contains("年第"), "{host} past the end");
            }
            posts.extend(site.rows(index, 0, total).iter().map(|head| head.id));
        }
        assert_eq!(posts.len(), 173, "{host}");
    }
    Ok(())
}

#[test]
fn every_listed_post_and_file_is_there_and_its_size_is_in_the_range() -> anyhow::Result<()> {
    let world = world(60, 4)?;
    let mut files = 0;
    for host in world.hosts() {
        let Some(site) = world.site(&host).filter(|_| is_html(&host)) else { continue };
        for head in (0..site.columns.len()).flat_map(|column| site.rows(column, 0, 100)) {
            let path = site.family.post_path(site, &head);
            let page = get(&world, &host, &path);
            assert_eq!(page.status, 200, "{host}{path}");
            let html = text(&page);
            assert!((7_000..27_000).contains(&html.len()), "{host}{path}: {}", html.len());
            assert!(html.contains(&head.title));
            let base = url::Url::parse(&format!("https://{host}{path}"))?;
            for link in html.split("href=\"").filter_map(|rest| rest.split('"').next()) {
                if [".pdf", ".docx"].iter().any(|end| link.ends_with(end)) {
                    let url = base.join(link)?;
                    let file = get(&world, &host, url.path());
                    assert!(file.status == 200 && file.content_type.starts_with("application/"), "{url}");
                    files += 1;
                }
            }
            assert_eq!(
                get(&world, &host, &path.replace("202604", "202603")).status == 200,
                !path.contains("202604")
            );
        }
    }
    assert!(files > 50, "{files}");
    Ok(())
}

#[test]
fn pages_depend_on_the_seed_alone() -> anyhow::Result<()> {
    let page = |seed| anyhow::Ok(get(&world(100_000, seed)?, "www.gov.cn", "/zhengce/zuixin/home_1234.htm"));
    assert_eq!(page(1)?, page(1)?);
    assert_ne!(page(1)?, page(2)?);
    Ok(())
}

#[test]
fn a_post_is_the_same_whatever_the_size_of_the_site() -> anyhow::Result<()> {
    let (small, large) = (world(1, 1)?, world(100_000, 1)?);
    for host in small.hosts() {
        let Some((site, head)) = small.site(&host).and_then(|site| Some((site, site.post(site.newest_id)?)))
        else {
            continue;
        };
        let path = site.family.post_path(site, &head);
        assert_eq!(get(&small, &host, &path), get(&large, &host, &path), "{host}{path}");
    }
    Ok(())
}

#[test]
fn a_published_post_comes_first_and_shifts_the_paging() -> anyhow::Result<()> {
    let world = world(60, 1)?;
    let site = world.site("www.gdqy.gov.cn").ok_or_else(|| anyhow::anyhow!("no site"))?;
    let before = site.rows(0, 0, 20);
    let new = NewPost { title: "新发布的<公告>".to_owned(), attachments: 2, ..NewPost::default() };
    let published = world.publish("www.gdqy.gov.cn", "tzgg", new)?;
    let after = site.rows(0, 0, 21);
    assert_eq!(after[0].title, "新发布的<公告>");
    assert_eq!(
        after[1..].iter().map(|head| head.id).collect::<Vec<_>>(),
        before.iter().map(|head| head.id).collect::<Vec<_>>()
    );
    let page = get(&world, "www.gdqy.gov.cn", &published.url["https://www.gdqy.gov.cn".len()..]);
    let html = text(&page);
    assert!(html.contains("新发布的&lt;公告&gt;") && html.matches("nfw-cms-attachment").count() == 2);
    assert!(world.publish("www.gdqy.gov.cn", "nosuch", NewPost::default()).is_err());
    Ok(())
}

#[test]
fn the_second_column_lists_one_post_of_the_first_and_pins_an_old_one() -> anyhow::Result<()> {
    let world = world(200, 1)?;
    let site = world.site("www.ndrc.gov.cn").ok_or_else(|| anyhow::anyhow!("no site"))?;
    let foreign = site.rows(1, 0, 200).into_iter().filter(|head| head.column == 0).count();
    assert_eq!(foreign, 1);
    let html = text(&get(&world, "www.ndrc.gov.cn", "/xxgk/zcfb/tz/index.html"));
    assert!(html.contains("../../../xwdt/xwfb/202604/t2026"));
    let pinned = site.pinned(1).ok_or_else(|| anyhow::anyhow!("nothing pinned"))?;
    let first = html.find("<li class=\"top\">").unwrap_or(usize::MAX);
    assert!(first < html.find("<li><a").unwrap_or(0) && html[first..].contains(&pinned.title));
    Ok(())
}

#[test]
fn the_gbk_site_speaks_gb18030_and_says_gb2312_in_the_page_only() -> anyhow::Result<()> {
    let page = get(&world(20, 1)?, "www.tongcheng.gov.cn", "/show.asp?id=340001");
    assert_eq!(page.content_type, "text/html");
    assert!(std::str::from_utf8(&page.body).is_err());
    let (decoded, _, bad) = encoding_rs::GB18030.decode(&page.body);
    assert!(!bad && decoded.contains(RARE) && decoded.contains("charset=gb2312"));
    Ok(())
}

#[test]
fn the_whole_xinhua_column_is_in_its_data_source() -> anyhow::Result<()> {
    let world = world(61, 1)?;
    let answer =
        get(&world, "www.news.cn", "/politics/leaders/xijinping/ds_f20e1073e7a74e839072c20b31557fcc.json");
    let value: serde_json::Value = serde_json::from_slice(&answer.body)?;
    let rows = value["datasource"].as_array().cloned().unwrap_or_default();
    assert_eq!(rows.len(), 31);
    let base = url::Url::parse("https://www.news.cn/politics/leaders/xijinping/zxbd.html")?;
    for row in rows {
        let url = base.join(row["publishUrl"].as_str().unwrap_or_default())?;
        assert_eq!(get(&world, "www.news.cn", url.path()).status, 200, "{url}");
    }
    Ok(())
}
