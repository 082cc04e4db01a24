//! Profile `zcwjk`: the search of the document library. No key, no session, two shapes of answer.
//!
//! A grouped answer has a list for each class of documents, every one of them newest first and paged for itself. They
//! are merged here into one list that is newest first.

use std::collections::BTreeMap;

use dibao_adapter::{Ctx, Entry, Failure, Host, Level, ListStep, Page, Reply, Request};

use crate::cipher::component;
use crate::config::{Config, Zcwjk};
use crate::wire::Node;
use crate::{Session, paging, row, wire};

/// What the browser sends, in its order, empty ones included: without all of them the search answers as if it held
/// nothing. `type=gwyzcwjk`, which it sends too, is left out: with it some clients got no rows.
const PARAMETERS: [(&str, &str); 22] = [
    ("t", "zhengcelibrary"),
    ("q", ""),
    ("timetype", "timeqb"),
    ("mintime", ""),
    ("maxtime", ""),
    ("sort", "pubtime"),
    ("sortType", "1"),
    ("searchfield", "title"),
    ("pcodeJiguan", ""),
    ("childtype", ""),
    ("subchildtype", ""),
    ("tsbq", ""),
    ("pubtimeyear", ""),
    ("pubtimeqarter", ""),
    ("puborg", ""),
    ("pcodeYear", ""),
    ("pcodeNum", ""),
    ("filetype", ""),
    ("inpro", ""),
    ("bmfl", ""),
    ("dup", ""),
    ("orpro", ""),
];

/// Parameters that say how to list, not what: with these alone the whole library is asked for.
const NO_FILTERS: [&str; 5] = ["t", "timetype", "sort", "sortType", "searchfield"];

/// One turn of a list page.
pub fn turn(
    host: &impl Host,
    ctx: &mut Ctx<Config, Session>,
    page: u32,
    replies: &[Reply],
) -> Result<ListStep, Failure> {
    match replies.last() {
        Some(reply) => list(host, &ctx.config, page, reply).map(ListStep::Done),
        None => {
            let settings = &ctx.config.zcwjk;
            let url = address(settings, page, ctx.config.page_size);
            let headers = vec![
                ("accept".to_owned(), "application/json, text/plain, */*".to_owned()),
                ("referer".to_owned(), settings.referer.clone()),
            ];
            Ok(ListStep::Fetch(vec![Request { headers, ..Request::json("list", &url) }]))
        }
    }
}

/// The value of a parameter as it is sent.
fn parameter<'a>(settings: &'a Zcwjk, name: &str) -> &'a str {
    let usual = PARAMETERS.iter().find(|(known, _)| *known == name).map_or("", |(_, value)| value);
    settings.query.get(name).map_or(usual, String::as_str)
}

fn address(settings: &Zcwjk, page: u32, rows: u32) -> String {
    let known = PARAMETERS.iter().map(|(name, _)| (*name, parameter(settings, name)));
    let own = settings.query.iter().map(|(name, value)| (name.as_str(), value.as_str()));
    let own = own.filter(|(name, _)| {
        !matches!(*name, "p" | "n") && !PARAMETERS.iter().any(|(known, _)| known == name)
    });
    let mut url = settings.endpoint.clone();
    url.push(if url.contains('?') { '&' } else { '?' });
    for (name, value) in known.chain(own) {
        url.push_str(&format!("{}={}&", component(name), component(value)));
    }
    url.push_str(&format!("p={page}&n={rows}"));
    url
}

/// One class of a page: its name, its rows, and whether it has a further page.
struct Class<'a> {
    name: Option<&'static str>,
    rows: &'a [Node],
    goes_on: bool,
}

fn list(host: &impl Host, config: &Config, page: u32, reply: &Reply) -> Result<Page, Failure> {
    wire::usable(reply, "zcwjk.endpoint")?;
    let answer = wire::read(host, reply)?;
    match answer.at("code").number() {
        Some(200) => {}
        // 抱歉，没有找到相关结果: an answer like any other, however odd where nothing was searched for.
        Some(1001) => {
            if page == 1 && is_whole(&config.zcwjk) {
                host.log(Level::Warn, "the search says 1001, nothing found, of the whole library");
            }
            return Ok(paging::end());
        }
        Some(code) => {
            let words = row::name(format!("{code} {}", answer.at("msg").text().unwrap_or_default()));
            return Err(Failure::Refused(format!("the search answers {}", words.trim())));
        }
        None if answer.at("searchVO").entries().is_some() => {}
        None => return Err(Failure::Shape(format!("{} has no code", reply.url))),
    }
    let search = answer.at("searchVO");
    let (single, grouped) = (search.at("listVO").list(), search.at("catMap").entries());
    // A bad request looks like this, and so does nothing else: a class without rows is still a class.
    if single.is_none() && grouped.is_none_or(<[_]>::is_empty) {
        return Err(Failure::Shape(
            "the search has neither a list nor classes: it takes the parameters for incomplete; compare zcwjk.query \
             with what a browser sends"
                .to_owned(),
        ));
    }
    let (classes, more) = match (single, grouped) {
        // One class: its rows are at the top, and so are its counts.
        (Some(rows), _) if !rows.is_empty() => {
            let name = class_of(parameter(&config.zcwjk, "t"));
            let more = match search.at("totalpage").number() {
                Some(last) => i64::from(page) < last,
                None => goes_on(search, rows.len(), page, config.page_size),
            };
            (vec![Class { name, rows, goes_on: more }], more)
        }
        (_, Some(grouped)) => {
            let classes: Vec<Class<'_>> = grouped
                .iter()
                .map(|(key, class)| {
                    let rows = class.at("listVO").list().unwrap_or_default();
                    let goes_on = goes_on(class, rows.len(), page, config.page_size);
                    Class { name: class_name(key), rows, goes_on }
                })
                .collect();
            let more = classes.iter().any(|class| class.goes_on);
            (classes, more)
        }
        _ => (Vec::new(), false),
    };
    let all: usize = classes.iter().map(|class| class.rows.len()).sum();
    if all == 0 {
        return paging::empty(page, is_whole(&config.zcwjk), reply);
    }
    let (entries, unusable) = merge(host, config, &classes);
    paging::complain(host, all - unusable, all, "url", reply)?;
    Ok(Page { entries, next: paging::next(host, config, page, more) })
}

/// Whether a class has a further page. A page that is shorter than asked for is the last one, or the search gives less
/// rows than it was asked for: then the counts do not add up, and only an empty page ends the list.
fn goes_on(class: &Node, rows: usize, page: u32, asked: u32) -> bool {
    let (rows, page, asked) = (rows as i64, i64::from(page), i64::from(asked));
    match class.at("totalCount").number() {
        _ if rows == 0 => false,
        None => true,
        Some(total) if rows >= asked => page.saturating_mul(asked) < total,
        Some(total) => (page - 1) * asked + rows != total && page.saturating_mul(rows) < total,
    }
}

/// Whether the question is for everything. Interpretations and gazettes alone may be none.
fn is_whole(settings: &Zcwjk) -> bool {
    if matches!(class_of(parameter(settings, "t")), Some("解读" | "公报")) {
        return false;
    }
    let filters = |name: &str, value: &str| !value.is_empty() && !NO_FILTERS.contains(&name);
    !settings.query.iter().any(|(name, value)| filters(name, value))
}

/// The class that a single-class `t` lists.
fn class_of(t: &str) -> Option<&'static str> {
    let (_, class) = t.rsplit_once('_')?;
    class_name(match class {
        "gw" => "gongwen",
        "bm" => "bumenfile",
        "gb" => "gongbao",
        "or" => "otherfile",
        _ => return None,
    })
}

fn class_name(key: &str) -> Option<&'static str> {
    match key {
        "gongwen" => Some("国务院文件"),
        "bumenfile" => Some("部门文件"),
        "otherfile" => Some("解读"),
        "gongbao" => Some("公报"),
        "zhongyangfile" => Some("中央文件"),
        _ => None,
    }
}

/// One list of several that are newest first: each document once, newest first. Also how many rows are unusable.
fn merge(host: &impl Host, config: &Config, classes: &[Class<'_>]) -> (Vec<Entry>, usize) {
    let mut merged: Vec<(u64, usize, Entry)> = Vec::new();
    let mut known: BTreeMap<String, usize> = BTreeMap::new();
    let mut unusable = 0;
    // How far down in time this page reaches in the class that goes on and reaches least far.
    let mut floor: Option<(u64, usize)> = None;
    for (number, class) in classes.iter().enumerate() {
        let mut oldest = u64::MAX;
        for row in class.rows {
            let Some(entry) = entry(host, &config.landing, class.name, row) else {
                unusable += 1;
                continue;
            };
            let order = entry.published.as_deref().map_or(0, row::order);
            oldest = oldest.min(if order == 0 { u64::MAX } else { order });
            match known.get(row::identity(&entry.url)) {
                Some(at) => complete(&mut merged[*at].2, entry),
                None => {
                    known.insert(row::identity(&entry.url).to_owned(), merged.len());
                    merged.push((order, number, entry));
                }
            }
        }
        if class.goes_on && oldest != u64::MAX && floor.is_none_or(|(highest, _)| oldest > highest) {
            floor = Some((oldest, number));
        }
    }
    if classes.len() > 1 {
        // What is not newer than the floor stands above documents of the floor's class that are on a later page: where it
        // stands says nothing about where history begins.
        if let Some((lowest, of)) = floor {
            for (order, class, entry) in &mut merged {
                entry.pinned = *class != of && *order <= lowest;
            }
        }
        merged.sort_by_key(|(order, ..)| std::cmp::Reverse(*order));
    }
    (merged.into_iter().map(|(_, _, entry)| entry).collect(), unusable)
}

/// What a second row of the same document knows and the first does not.
fn complete(entry: &mut Entry, again: Entry) {
    if entry.title.is_empty() {
        entry.title = again.title;
    }
    entry.published = entry.published.take().or(again.published);
    for (name, value) in again.fields {
        if !entry.fields.iter().any(|(known, _)| *known == name) {
            entry.fields.push((name, value));
        }
    }
}

fn entry(host: &impl Host, landing: &str, class: Option<&str>, row: &Node) -> Option<Entry> {
    let link = |name: &str| row::absolute(landing, &row.at(name).text()?);
    let url = link("url").or_else(|| link("pcurl"))?;
    let first = |names: &[&str]| {
        let words =
            |name: &&str| Some(row::plain(host, &row.at(name).text()?)).filter(|words| !words.is_empty());
        names.iter().find_map(words)
    };
    let fields = [
        ("doc_no", first(&["pcode", "wenhao", "fwzh"])),
        ("publisher", first(&["puborg", "puborgStr", "source", "fwdw"])),
        ("index_no", first(&["index"])),
        ("open_category", first(&["childtype"])),
        ("summary", first(&["summary"])),
        ("channel_name", class.map(str::to_owned)),
    ];
    Some(Entry {
        title: first(&["title"]).unwrap_or_default(),
        published: published(row).map(row::value),
        native_id: row::native_id(&url).or_else(|| row.at("id").text().map(row::name)),
        pinned: false,
        fields: fields.into_iter().filter_map(|(name, value)| Some((name.to_owned(), value?))).collect(),
        url,
    })
}

/// The day that is shown; the moment, where there is one and it says more about the same day, or where no day is shown.
fn published(row: &Node) -> Option<String> {
    let moment = ["pubtime", "ptime"].iter().find_map(|name| row::moment(row.at(name).number()?));
    match (row.at("pubtimeStr").text(), moment) {
        (Some(shown), Some(moment)) if moment.len() > 10 && row::day(&shown) == row::day(&moment) => {
            Some(moment)
        }
        (Some(shown), _) => Some(shown),
        (None, moment) => moment,
    }
}
