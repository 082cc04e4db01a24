//! www.news.cn: a list page of twenty rows that names a data source, and the source itself, a JSON file in the
//! same directory with the whole column.

use std::fmt::Write as _;

use serde_json::json;

use crate::answer::{Answer, Ask};
use crate::chrome::{Frame, Menu};
use crate::post::Head;
use crate::seed::Chance;
use crate::site::{Family, Site};
use crate::text::{self, escape};

#[derive(Debug)]
pub(crate) struct Xinhua;

const UTF8: &str = "<meta charset=\"utf-8\">";

/// The ids the real columns carry, by index of the column.
const SOURCES: [&str; 2] = ["f20e1073e7a74e839072c20b31557fcc", "fd79514d92f34849bc8baef7ce3d5aae"];

/// The newest this many of a column are in its JSON (about 2 MB); a real source holds a thousand or so.
const SOURCE_ROWS: u64 = 5_000;

impl Family for Xinhua {
    fn post_path(&self, site: &Site, head: &Head) -> String {
        let section = if head.column == 0 { "politics/leaders" } else { "tech" };
        let mut chance = Chance::new(site.seed, &site.host, "address", head.id);
        let (high, low) = (chance.next(), chance.next() as u32);
        format!("/{section}/{}/{high:016x}{low:08x}{:08x}/c.html", head.at.format("%Y%m%d"), head.id)
    }

    fn answer(&self, site: &Site, ask: &Ask<'_>) -> Answer {
        if let Some(column) = site.column_of_list(ask.path) {
            return list(site, column, ask);
        }
        let source =
            |column: &usize| format!("{}ds_{}.json", site.columns[*column].directory(), SOURCES[*column]);
        if let Some(column) = (0..SOURCES.len()).find(|column| source(column) == ask.path) {
            return datasource(site, column, ask);
        }
        let digits = ask.path.strip_suffix("/c.html").and_then(|path| path.get(path.len().checked_sub(8)?..));
        let id = digits.and_then(|digits| u64::from_str_radix(digits, 16).ok());
        let head = id.and_then(|id| site.post_at(id, ask.path));
        head.map_or_else(Answer::missing, |head| article(site, &head))
    }
}

/// How an address is written: sources mix paths from the root, paths from the page and whole addresses.
fn link(site: &Site, column: usize, head: &Head) -> String {
    let path = site.family.post_path(site, head);
    match head.id % 7 {
        3 => format!("https://{}{path}", site.host),
        5 => {
            let up = site.columns[column].directory().matches('/').count() - 1;
            format!("{}{}", "../".repeat(up), &path[1..])
        }
        _ => path,
    }
}

fn list(site: &Site, column: usize, ask: &Ask<'_>) -> Answer {
    let col = &site.columns[column];
    let mut frame = Frame::open(site, &format!("{}-新华网", col.name), UTF8, "", Menu::Full);
    let _ = writeln!(
        frame.out,
        "<div class=\"xpage-container\">\n<ul class=\"xpage-content-list\" data=\"datasource:{}\" datatype=\"content\">",
        SOURCES[column]
    );
    for row in site.page(column, 1, ask).unwrap_or_default() {
        let head = row.head;
        let _ = writeln!(
            frame.out,
            "<li class=\"item\"><div class=\"tit\"><a href=\"{}\" target=\"_blank\">{}</a></div><div class=\"time\">{}</div></li>",
            link(site, column, &head),
            escape(&head.title),
            head.at.format("%Y-%m-%d")
        );
    }
    frame.push("</ul>\n<div class=\"xpage-more-btn\">加载更多</div>\n</div>\n");
    Answer::html(frame.close(site))
}

fn datasource(site: &Site, column: usize, ask: &Ask<'_>) -> Answer {
    let rows = if ask.empty_list { Vec::new() } else { site.rows(column, 0, SOURCE_ROWS) };
    let items: Vec<_> = rows
        .iter()
        .map(|head| {
            let mut chance = Chance::new(site.seed, &site.host, "meta", head.id);
            let url = link(site, column, head);
            let show = format!("<a href='{url}'>{}</a>", escape(&head.title));
            json!({
                "contentId": format!("{}{:08x}", head.at.format("%Y%m%d"), head.id), "title": head.title, "showTitle": show,
                "publishUrl": url, "publishTime": head.at.format("%Y-%m-%d %H:%M:%S").to_string(),
                "keywords": format!("{},{}", text::theme(&mut chance), text::theme(&mut chance)),
                "author": text::person(&mut chance), "sourceText": "新华社", "summary": "", "shareImages": [],
            })
        })
        .collect();
    Answer::new(200, "application/json", json!({ "datasource": items }).to_string())
}

fn article(site: &Site, head: &Head) -> Answer {
    let mut chance = Chance::new(site.seed, &site.host, "meta", head.id);
    let meta = format!("<meta name=\"publishdate\" content=\"{}\">\n", head.at.format("%Y-%m-%d"));
    let mut frame = Frame::open(site, &format!("{}-新华网", head.title), UTF8, &meta, Menu::Short);
    let title = escape(&head.title);
    let _ = write!(
        frame.out,
        "<div class=\"header domPC\"><div class=\"header-top clearfix\"><div class=\"header-time left\"><span class=\"year\"><em>{}</em></span>\
         <span class=\"day\"><em>{}</em>/<em>{}</em></span><span class=\"time\">{}</span></div>\n<div class=\"source\">来源：新华网</div></div>\n\
         <div class=\"head-line clearfix\"><h1><span class=\"title\">{title}</span></h1></div></div>\n\
         <div class=\"mheader domMobile\"><h1>{title}</h1><div class=\"info\">{} 来源：新华网</div></div>\n\
         <div class=\"main clearfix\"><div class=\"main-left left\"><div id=\"detail\"><span id=\"detailContent\">\n",
        head.at.format("%Y"),
        head.at.format("%m"),
        head.at.format("%d"),
        head.at.format("%H:%M:%S"),
        head.at.format("%Y-%m-%d %H:%M:%S"),
    );
    let body = site.body(head, frame.out.len() + 1024);
    frame.push(&body);
    let _ = write!(
        frame.out,
        "<p style=\"text-align: center;\"><img src=\"{:08x}_1n.jpg\" alt=\"\"></p>\n</span>\n\
         <div id=\"articleEdit\"><span class=\"tiyi1\">【纠错】</span><span class=\"editor\">【责任编辑:{}】</span></div></div></div></div>\n",
        head.id,
        text::person(&mut chance)
    );
    Answer::html(frame.close(site))
}
