//! A host of feeds, one column per format, whose entries link to pages of their own. Written by hand, not with a library:
//! feeds in the wild are printed by templates, with their mistakes.
//!
//! | column | feed | form | body |
//! |---|---|---|---|
//! | `rss2` | `/rss/politics.xml` | RSS 2.0 with `content:encoded`; a `ttl` of 90 minutes; `isPermaLink="false"`; dates in five wrong ways; enclosures | in the feed |
//! | `rss091` | `/rss/world.xml` | RSS 0.91 behind an empty line and a DOCTYPE; no dates, no ids; stray `&` | on the page |
//! | `rdf` | `/rss/edu.xml` | RSS 1.0, Dublin Core | on the page |
//! | `atom` | `/rss/law.atom` | Atom 1.0, `xml:base`, relative links, XHTML; 50 a page, `rel=next` | in the feed |
//! | `atom03` | `/rss/old.atom` | Atom 0.3 | on the page |
//! | `json` | `/rss/feed.json` | JSON Feed 1.1, 50 a page, `next_url` | in the feed |
//! | `gb` | `/rss/gb.xml` | RSS 2.0 in GB18030 that calls itself gb2312, under `text/xml` | in the description |

use std::fmt::Write as _;

use chrono::{Datelike as _, NaiveDateTime, TimeDelta};
use encoding_rs::GB18030;
use serde_json::json;

use crate::answer::{Answer, Ask};
use crate::chrome::{Frame, Menu};
use crate::files::Attachment;
use crate::gbk::RARE;
use crate::post::Head;
use crate::seed::Chance;
use crate::site::{Column, Family, Site};
use crate::text::{self, escape};

/// The host of `sites/people.yaml`.
pub(crate) const HOST: &str = "www.people.com.cn";

#[derive(Debug)]
pub(crate) struct Feeds;

/// Entries of a feed that has no pages.
const ALL: u64 = 5_000;
/// Entries of a page of one that has.
const PAGE: u64 = 50;

const fn column(id: &'static str, list: &'static str, name: &'static str) -> Column {
    Column { id, list, name, pinned: false }
}

pub(crate) fn columns() -> Vec<Column> {
    vec![
        column("rss2", "/rss/politics.xml", "时政"),
        column("rss091", "/rss/world.xml", "国际"),
        column("rdf", "/rss/edu.xml", "教育"),
        column("atom", "/rss/law.atom", "法治"),
        column("atom03", "/rss/old.atom", "旧闻"),
        column("json", "/rss/feed.json", "要闻"),
        column("gb", "/rss/gb.xml", "地方"),
    ]
}

/// What a feed or its page says of one post: what a crawl must have stored.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FeedTruth {
    /// Its address.
    pub url: String,
    /// Its title.
    pub title: String,
    /// China time.
    pub published: NaiveDateTime,
    /// Who wrote it, where the feed says so.
    pub author: Option<String>,
    /// Its categories, where the feed says so.
    pub categories: Option<String>,
    /// Where it came from, where the page says so.
    pub source: Option<String>,
    /// Its id in the feed, where there is one.
    pub id: Option<String>,
    /// The paragraphs of its body, names of files that are linked in it included.
    pub paragraphs: Vec<String>,
    /// Addresses and bytes of its files.
    pub files: Vec<(String, Vec<u8>)>,
}

/// The truth about a column, newest first.
pub(crate) fn truth(site: &Site, column: usize) -> Vec<FeedTruth> {
    let (rows, _) = site.extent(column);
    site.rows(column, 0, rows).iter().map(|head| truth_of(site, column, head)).collect()
}

fn truth_of(site: &Site, column: usize, head: &Head) -> FeedTruth {
    let id = site.columns[column].id;
    let facts = Facts::of(site, head);
    let marked = |name: &[&str]| !name.contains(&id);
    let body = body(site, head);
    // Where the feed has no enclosures, the files are linked below the text.
    let linked = if matches!(id, "rss2" | "atom" | "json") { Vec::new() } else { site.files(head) };
    let paragraphs = body.split("</p>").map(|p| p.rsplit('>').find(|part| !part.trim().is_empty()));
    FeedTruth {
        url: format!("https://{}{}", site.host, Feeds.post_path(site, head)),
        title: head.title.clone(),
        published: head.at,
        author: marked(&["rss091", "gb"]).then(|| facts.person.to_owned()),
        categories: marked(&["rss091", "gb", "atom03"])
            .then(|| format!("{}, {}", facts.themes.0, facts.themes.1)),
        source: matches!(id, "rss091" | "rdf" | "atom03").then(|| head.source.clone()),
        id: match id {
            "rss091" | "gb" => None,
            "rdf" => Some(address(site, head)),
            _ => Some(entry_id(site, head)),
        },
        paragraphs: paragraphs
            .flatten()
            .map(|text| unescape(text.split("</").next().unwrap_or_default().trim()))
            .filter(|text| !text.is_empty())
            .chain(linked.iter().map(Attachment::name))
            .collect(),
        files: site
            .files(head)
            .iter()
            .map(|file| (format!("https://{}{}", site.host, file_path(head, file)), file.bytes().to_vec()))
            .collect(),
    }
}

struct Facts {
    person: &'static str,
    themes: (&'static str, &'static str),
}

impl Facts {
    fn of(site: &Site, head: &Head) -> Facts {
        let mut chance = Chance::new(site.seed, &site.host, "meta", head.id);
        let first = text::theme(&mut chance);
        let mut second = text::theme(&mut chance);
        while second == first {
            second = text::theme(&mut chance);
        }
        Facts { person: text::person(&mut chance), themes: (first, second) }
    }
}

impl Family for Feeds {
    fn post_path(&self, _: &Site, head: &Head) -> String {
        let at = head.at;
        format!("/n1/{}/{:02}{:02}/c{}-{}.html", at.year(), at.month(), at.day(), 1000 + head.column, head.id)
    }

    fn answer(&self, site: &Site, ask: &Ask<'_>) -> Answer {
        if let Some(column) = site.columns.iter().position(|column| column.list == ask.path) {
            return feed(site, column, ask);
        }
        if let Some(rest) = ask.path.strip_prefix("/mediafile/") {
            let id = rest.split('-').next().and_then(|id| id.parse().ok());
            let head = id.and_then(|id| site.post(id));
            let file = head.and_then(|head| {
                site.files(&head).into_iter().find(|file| file_path(&head, file) == ask.path)
            });
            return file.map_or_else(Answer::missing, |file| Answer::file(&file, false));
        }
        let id = ask.path.rsplit_once('-').and_then(|(_, rest)| rest.strip_suffix(".html")?.parse().ok());
        let head = id.and_then(|id| site.post_at(id, ask.path));
        head.map_or_else(Answer::missing, |head| article(site, &head))
    }
}

fn address(site: &Site, head: &Head) -> String {
    format!("https://{}{}", site.host, Feeds.post_path(site, head))
}

fn entry_id(site: &Site, head: &Head) -> String {
    format!("tag:{},2026:{}", site.host, head.id)
}

fn file_path(head: &Head, file: &Attachment) -> String {
    format!("/mediafile/{}-{}.{}", head.id, file.ordinal, file.extension())
}

/// The paragraphs; the same in the feed and on the page.
fn body(site: &Site, head: &Head) -> String {
    site.body(head, 1500)
}

fn unescape(text: &str) -> String {
    text.replace("&lt;", "<").replace("&gt;", ">").replace("&quot;", "\"").replace("&amp;", "&")
}

fn feed(site: &Site, column: usize, ask: &Ask<'_>) -> Answer {
    let pairs = ask.query.unwrap_or_default().split('&').filter_map(|pair| pair.split_once('='));
    let page = pairs.filter(|(name, _)| *name == "page").find_map(|(_, number)| number.parse::<u64>().ok());
    let page = page.unwrap_or(1).max(1);
    let paged = matches!(site.columns[column].id, "atom" | "json");
    let (from, to) = if paged { ((page - 1) * PAGE, page * PAGE) } else { (0, ALL) };
    let rows = if ask.empty_list { Vec::new() } else { site.rows(column, from, to) };
    let more = paged && site.extent(column).0 > to;
    let next = more.then(|| format!("{}?page={}", site.columns[column].list, page + 1));
    match site.columns[column].id {
        "rss2" => Answer::new(200, "application/rss+xml; charset=utf-8", rss2(site, column, &rows)),
        "rss091" => Answer::new(200, "text/xml", rss091(site, column, &rows)),
        "rdf" => Answer::new(200, "application/rdf+xml", rdf(site, column, &rows)),
        "atom" => Answer::new(200, "application/atom+xml", atom(site, column, &rows, next.as_deref())),
        "atom03" => Answer::new(200, "application/xml", atom03(site, column, &rows)),
        "json" => Answer::new(200, "application/feed+json", json_feed(site, column, &rows, next.as_deref())),
        _ => Answer::new(200, "text/xml", GB18030.encode(&gb(site, column, &rows)).0.into_owned()),
    }
}

/// One moment in the ways that feeds write it.
fn rfc822(head: &Head) -> String {
    let at = head.at;
    let utc = at - TimeDelta::hours(8);
    match head.id % 5 {
        0 => utc.format("%a, %d %b %Y %H:%M:%S GMT").to_string(),
        // The weekday of the day after.
        1 => format!("{}, {}", (at + TimeDelta::days(1)).format("%a"), at.format("%d %b %Y %H:%M:%S +0800")),
        2 => at.format("%a %b %d %H:%M:%S CST %Y").to_string(),
        3 => at.format("%Y-%m-%d %H:%M:%S").to_string(),
        _ => at.format("%A, %-d %B %Y %H:%M:%S +08:00").to_string(),
    }
}

fn rss2(site: &Site, column: usize, rows: &[Head]) -> String {
    let mut out = format!(
        "\u{feff}<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<rss version=\"2.0\" xmlns:content=\"http://purl.org/rss/1.0/modules/content/\" \
         xmlns:dc=\"http://purl.org/dc/elements/1.1/\">\n<channel><title>{0}</title><link>https://{1}/</link><description>{0}&nbsp;{1}</description>\n\
         <ttl>90</ttl>\n",
        site.columns[column].name, site.host
    );
    for head in rows {
        let facts = Facts::of(site, head);
        let _ = write!(
            out,
            "<item>\n<title><![CDATA[{}]]></title>\n<link>\n{}\n</link>\n<guid isPermaLink=\"false\">{}</guid>\n<pubDate>{}</pubDate>\n\
             <dc:creator>{}</dc:creator>\n<category>{}</category><category>{}</category>\n<description>摘要…</description>\n\
             <content:encoded><![CDATA[{}]]></content:encoded>\n",
            head.title,
            address(site, head),
            entry_id(site, head),
            rfc822(head),
            facts.person,
            facts.themes.0,
            facts.themes.1,
            body(site, head),
        );
        for file in site.files(head) {
            let _ = writeln!(
                out,
                "<enclosure url=\"{}\" type=\"{}\" length=\"{}\"/>",
                file_path(head, &file),
                file.mime(),
                file.bytes().len()
            );
        }
        out.push_str("</item>\n");
    }
    out.push_str("</channel></rss>\n");
    out
}

fn rss091(site: &Site, column: usize, rows: &[Head]) -> String {
    let mut out = format!(
        "\n\n<?xml version=\"1.0\"?>\n<!DOCTYPE rss PUBLIC \"-//Netscape Communications//DTD RSS 0.91//EN\" \
         \"http://my.netscape.com/publish/formats/rss-0.91.dtd\" [<!ENTITY a \"b\">]>\n<rss version=\"0.91\"><channel><title>{} & 更多</title>\
         <link>https://{}/</link><language>zh-cn</language>\n",
        site.columns[column].name, site.host
    );
    for head in rows {
        // The template escapes `<` and forgets the rest.
        let title = head.title.replace('<', "&lt;");
        let _ = writeln!(
            out,
            "<item><title>{title}</title><link>{}</link><description>短 & 小</description></item>",
            address(site, head)
        );
    }
    out.push_str("</channel></rss>");
    out
}

fn rdf(site: &Site, column: usize, rows: &[Head]) -> String {
    let mut out = format!(
        "<?xml version='1.0' encoding='utf-8'?>\n<rdf:RDF xmlns:rdf='http://www.w3.org/1999/02/22-rdf-syntax-ns#' xmlns='http://purl.org/rss/1.0/' \
         xmlns:dc='http://purl.org/dc/elements/1.1/'>\n<channel rdf:about='https://{0}/rss/edu.xml'><title>{1}</title><link>https://{0}/</link>\
         <items><rdf:Seq>",
        site.host, site.columns[column].name
    );
    for head in rows {
        let _ = write!(out, "<rdf:li rdf:resource='{}'/>", address(site, head));
    }
    out.push_str("</rdf:Seq></items></channel>\n");
    for head in rows {
        let facts = Facts::of(site, head);
        let _ = writeln!(
            out,
            "<item rdf:about='{0}'><title>{1}</title><link>{0}</link><dc:date>{2}+08:00</dc:date><dc:creator>{3}</dc:creator>\
             <dc:subject>{4}</dc:subject><dc:subject>{5}</dc:subject></item>",
            address(site, head),
            escape(&head.title),
            head.at.format("%Y-%m-%dT%H:%M:%S"),
            facts.person,
            facts.themes.0,
            facts.themes.1
        );
    }
    out.push_str("</rdf:RDF>");
    out
}

fn atom(site: &Site, column: usize, rows: &[Head], next: Option<&str>) -> String {
    let mut out = format!(
        "<?xml version=\"1.0\" encoding=\"utf-8\"?>\n<feed xmlns=\"http://www.w3.org/2005/Atom\" xml:base=\"https://{}/n1/\"><title>{}</title>\n",
        site.host, site.columns[column].name
    );
    if let Some(next) = next {
        let _ = writeln!(out, "<link rel=\"next\" href=\"{next}\"/>");
    }
    for head in rows {
        let facts = Facts::of(site, head);
        let utc = head.at - TimeDelta::hours(8);
        let path = Feeds.post_path(site, head);
        let _ = write!(
            out,
            "<entry><id>{}</id><title type=\"html\">{}</title><link rel=\"alternate\" href=\"{}\"/><published>{}Z</published>\
             <updated>2026-04-12T00:00:00Z</updated><author><name>{}</name><uri>https://{1}/</uri></author>\
             <category term=\"{}\"/><category term=\"x\" label=\"{}\"/>",
            entry_id(site, head),
            escape(&escape(&head.title)),
            &path["/n1/".len()..],
            utc.format("%Y-%m-%dT%H:%M:%S"),
            facts.person,
            facts.themes.0,
            facts.themes.1,
        );
        for file in site.files(head) {
            let _ = write!(
                out,
                "<link rel=\"enclosure\" type=\"{}\" title=\"{}\" href=\"..{}\"/>",
                file.mime(),
                escape(&file.name()),
                file_path(head, &file)
            );
        }
        let _ = writeln!(
            out,
            "<content type=\"xhtml\"><div xmlns=\"http://www.w3.org/1999/xhtml\">{}</div></content></entry>",
            body(site, head)
        );
    }
    out.push_str("</feed>");
    out
}

fn atom03(site: &Site, column: usize, rows: &[Head]) -> String {
    let mut out = format!(
        "<?xml version=\"1.0\" encoding=\"utf-8\"?>\n<feed version=\"0.3\" xmlns=\"http://purl.org/atom/ns#\"><title mode=\"escaped\">{}</title>\n",
        site.columns[column].name
    );
    for head in rows {
        let facts = Facts::of(site, head);
        let _ = writeln!(
            out,
            "<entry><id>{}</id><title mode=\"escaped\" type=\"text/html\">{}</title><link rel=\"alternate\" type=\"text/html\" href=\"{}\"/>\
             <issued>{}+08:00</issued><modified>2026-04-12T00:00:00Z</modified><author><name>{}</name></author>\
             <summary>短摘要</summary></entry>",
            entry_id(site, head),
            escape(&escape(&head.title)),
            Feeds.post_path(site, head),
            head.at.format("%Y-%m-%dT%H:%M:%S"),
            facts.person,
        );
    }
    out.push_str("</feed>");
    out
}

fn json_feed(site: &Site, column: usize, rows: &[Head], next: Option<&str>) -> String {
    let items: Vec<_> = rows
        .iter()
        .map(|head| {
            let facts = Facts::of(site, head);
            let files: Vec<_> = site
                .files(head)
                .iter()
                .map(|file| json!({"url": file_path(head, file), "mime_type": file.mime(), "title": file.name()}))
                .collect();
            json!({
                "id": entry_id(site, head), "url": Feeds.post_path(site, head), "title": head.title,
                "content_html": body(site, head), "date_published": head.at.format("%Y-%m-%dT%H:%M:%S+08:00").to_string(),
                "authors": [{"name": facts.person}], "tags": [facts.themes.0, facts.themes.1], "attachments": files,
            })
        })
        .collect();
    let mut feed = json!({
        "version": "https://jsonfeed.org/version/1.1", "title": site.columns[column].name, "items": items,
    });
    if let Some(next) = next {
        feed["next_url"] = json!(format!("https://{}{next}", site.host));
    }
    feed.to_string()
}

fn gb(site: &Site, column: usize, rows: &[Head]) -> String {
    let mut out = format!(
        "<?xml version=\"1.0\" encoding=\"gb2312\"?>\n<rss version=\"2.0\"><channel><title>{}</title><description>{RARE}</description>\n",
        site.columns[column].name
    );
    for head in rows {
        let mut text = body(site, head);
        for file in site.files(head) {
            let _ =
                write!(text, "<p><a href=\"{}\">{}</a></p>", file_path(head, &file), escape(&file.name()));
        }
        let _ = writeln!(
            out,
            "<item><title>{}</title><link>{}</link><pubDate>{}</pubDate><description>{}</description></item>",
            escape(&head.title),
            address(site, head),
            head.at.format("%Y年%-m月%-d日 %H:%M:%S"),
            escape(&text)
        );
    }
    out.push_str("</channel></rss>");
    out
}

fn article(site: &Site, head: &Head) -> Answer {
    let mut frame = Frame::open(
        site,
        &format!("{}--{}", head.title, site.name),
        "<meta charset=\"utf-8\">",
        "",
        Menu::Short,
    );
    let _ = write!(
        frame.out,
        "<h1 class=\"bt\">{}</h1><div class=\"channel\"><span class=\"time\">{}</span> 来源：<span class=\"ly\">{}</span></div>\n\
         <div class=\"rm_txt_con\">\n{}",
        escape(&head.title),
        head.at.format("%Y年%m月%d日%H:%M:%S"),
        head.source,
        body(site, head)
    );
    for file in site.files(head) {
        let _ = writeln!(
            frame.out,
            "<p><a class=\"fj\" href=\"{}\">{}</a></p>",
            file_path(head, &file),
            escape(&file.name())
        );
    }
    frame.push("</div>\n");
    Answer::html(frame.close(site))
}
