//! The platform's hosts without sockets: what the table in the crate's documentation says of them.

use serde_json::Value;

use super::places;
use crate::answer::{Answer, Ask};
use crate::options::ReplicaOptions;
use crate::world::World;

fn world(articles: u64) -> anyhow::Result<World> {
    World::new(&ReplicaOptions { articles, ..ReplicaOptions::default() })
}

fn get(world: &World, host: &str, target: &str) -> Answer {
    let (path, query) = target.split_once('?').map_or((target, None), |(path, query)| (path, Some(query)));
    let headers = http::HeaderMap::new();
    let ask = Ask { path, query, empty_list: false, headers: &headers, posted: None };
    world.site(host).map_or_else(Answer::missing, |site| site.answer(&ask))
}

fn json(world: &World, host: &str, target: &str) -> anyhow::Result<Value> {
    Ok(serde_json::from_slice(&get(world, host, target).body)?)
}

#[test]
fn page_zero_is_page_one_and_the_counts_are_those_of_the_list() -> anyhow::Result<()> {
    let world = world(450)?;
    let list = "/zqhjj/gkmlpt/api/all/21023?sid=758019";
    let first = json(&world, "www.zhaoqing.gov.cn", list)?;
    assert_eq!(first, json(&world, "www.zhaoqing.gov.cn", &format!("{list}&page=0"))?);
    assert_eq!(first, json(&world, "www.zhaoqing.gov.cn", &format!("{list}&page=1"))?);
    assert_eq!((first["total"].as_u64(), first["offset"].as_u64()), (Some(225), Some(0)));
    assert!(first["classify"]["post_count"].as_u64() > first["total"].as_u64());
    let third = json(&world, "www.zhaoqing.gov.cn", &format!("{list}&page=3"))?;
    assert_eq!((third["offset"].as_u64(), third["articles"].as_array().map(Vec::len)), (Some(200), Some(25)));
    assert_eq!(get(&world, "www.zhaoqing.gov.cn", &format!("{list}&page=4")).status, 404);
    assert_eq!(get(&world, "www.zhaoqing.gov.cn", "/zqhjj/gkmlpt/api/all/21023?page=1").status, 404);
    Ok(())
}

#[test]
fn the_other_hosts_do_it_in_their_own_way() -> anyhow::Result<()> {
    let world = world(450)?;
    let text = json(&world, "www.dg.gov.cn", "/dghlz/gkmlpt/api/all/4101?page=1")?;
    assert!(text["total"].is_null() && text["articles"][0]["id"].is_string());
    let files = text["articles"].as_array().into_iter().flatten().map(|row| &row["attachment"]);
    assert!(files.clone().all(Value::is_string) && files.clone().any(|files| files != "[]"));
    let past = json(&world, "www.dg.gov.cn", "/dghlz/gkmlpt/api/all/4101?page=9")?;
    assert_eq!(past["articles"].as_array().map(Vec::len), Some(0));
    let seed = json(&world, "www.yangjiang.gov.cn", "/gkmlpt/api/list/801?page=2&page_size=20")?;
    assert_eq!(seed["result"]["data"]["list"].as_array().map(Vec::len), Some(20));
    Ok(())
}

#[test]
fn every_listed_post_and_file_is_there_and_links_lead_out() -> anyhow::Result<()> {
    let world = world(120)?;
    for (host, _, _, columns) in places() {
        let mut links = 0;
        for column in &columns {
            let list = json(&world, host, &format!("{}?page=1&sid=758019&page_size=100", column.list))?;
            let rows = list["articles"].as_array().or(list["result"]["data"]["list"].as_array());
            for row in rows.into_iter().flatten() {
                let url = url::Url::parse(row["url"].as_str().unwrap_or_default().trim())?;
                if row["type"] == "url" {
                    assert!(url.host_str() != Some(host), "{url}");
                    links += 1;
                    continue;
                }
                assert_eq!(get(&world, host, url.path()).status, 200, "{url}");
                let other = url::Url::parse(row["post_url"].as_str().unwrap_or_default())?;
                assert_eq!(get(&world, host, other.path()).status, 200, "{other}");
                for file in row["attachment"].as_array().into_iter().flatten() {
                    let url = url::Url::parse(file["url"].as_str().unwrap_or_default())?;
                    let answer = get(&world, host, url.path());
                    assert!(answer.status == 200 && answer.content_type.starts_with("application/"), "{url}");
                    assert_eq!(file["size"].as_str(), Some(answer.body.len().to_string().as_str()));
                }
            }
        }
        assert!(links > 2, "{host}");
    }
    Ok(())
}
