//! TRS WCM portals (the NDRC's dialect, and the benchmark hosts): relative links, page 2 = `index_1.html`,
//! titles cut in the text and whole in the attribute, files beside the page.

use std::fmt::Write as _;

use crate::answer::{Answer, Ask};
use crate::chrome::{self, Frame, Menu};
use crate::files::Attachment;
use crate::post::Head;
use crate::site::{Family, Row, Site};
use crate::text::{escape, shorten};

#[derive(Debug)]
pub(crate) struct Trs;

const UTF8: &str = "<meta charset=\"utf-8\">";

impl Family for Trs {
    fn post_path(&self, site: &Site, head: &Head) -> String {
        let directory = site.columns[head.column].directory();
        format!("{directory}{}/t{}_{}.html", head.at.format("%Y%m"), head.at.format("%Y%m%d"), head.id)
    }

    fn answer(&self, site: &Site, ask: &Ask<'_>) -> Answer {
        if let Some(column) = site.column_of_list(ask.path) {
            return list(site, column, 1, ask);
        }
        let Some((directory, file)) = ask.path.rsplit_once('/') else { return Answer::missing() };
        if let Some(number) = file.strip_prefix("index_").and_then(|rest| rest.strip_suffix(".html")) {
            let column = site.column_of_list(&format!("{directory}/"));
            return match (column, number.parse::<u64>()) {
                (Some(column), Ok(number)) if number >= 1 => list(site, column, number + 1, ask),
                _ => Answer::missing(),
            };
        }
        if let Some(id) = file.strip_suffix(".html").and_then(|name| name.rsplit_once('_')?.1.parse().ok()) {
            return site.post_at(id, ask.path).map_or_else(Answer::missing, |head| article(site, &head));
        }
        file_at(site, directory, file).unwrap_or_else(Answer::missing)
    }
}

/// `P0<yyyymmdd><id><ordinal>.<ext>` beside the page, the way TRS numbers uploads.
fn file_name(head: &Head, file: &Attachment) -> String {
    format!("P0{}{:09}{}.{}", head.at.format("%Y%m%d"), head.id, file.ordinal, file.extension())
}

fn file_at(site: &Site, directory: &str, name: &str) -> Option<Answer> {
    let digits = name.strip_prefix("P0")?.split('.').next()?;
    let head = site.post(digits.get(8..17)?.parse().ok()?)?;
    let beside = site.family.post_path(site, &head).starts_with(&format!("{directory}/"));
    let file =
        site.files(&head).into_iter().find(|file| file_name(&head, file) == name).filter(|_| beside)?;
    Some(Answer::file(&file, false))
}

/// Links as TRS editors leave them: mostly `./`, `../` into other columns, now and then absolute or without a scheme.
fn link(site: &Site, column: usize, head: &Head) -> String {
    let path = site.family.post_path(site, head);
    match head.id % 29 {
        7 => format!("https://{}{path}", site.host),
        11 => format!("//{}{path}", site.host),
        _ if head.column == column => format!("./{}", &path[site.columns[column].directory().len()..]),
        _ => {
            let up = site.columns[column].directory().matches('/').count() - 1;
            format!("{}{}", "../".repeat(up), &path[1..])
        }
    }
}

fn list(site: &Site, column: usize, page: u64, ask: &Ask<'_>) -> Answer {
    let Some(rows) = site.page(column, page, ask) else { return Answer::stub() };
    let col = &site.columns[column];
    let meta = format!(
        "<meta name=\"ColumnName\" content=\"{0}\">\n<meta name=\"ColumnType\" content=\"{0}\">\n",
        col.name
    );
    let mut frame = Frame::open(site, &format!("{}-{}", col.name, site.name), UTF8, &meta, Menu::Full);
    frame.crumbs(col).push("<div class=\"list clearfix\">\n<ul class=\"u-list\">\n");
    for (number, row) in rows.iter().enumerate() {
        push_row(&mut frame.out, site, column, row);
        if number % 5 == 4 {
            frame.push("<li class=\"empty\"></li>\n"); // the NDRC's spacer after five rows
        }
    }
    let (_, pages) = site.extent(column);
    let _ = writeln!(
        frame.out,
        "</ul>\n<div class=\"page\"><script type=\"text/javascript\">\n\
         function createPageHTML(_nPageCount, _nCurrIndex, _sPageName, _sPageExt){{ /* … */ }}\n\
         createPageHTML({pages}, {}, \"index\", \"html\");\n</script></div>\n</div>",
        page - 1
    );
    Answer::html(frame.close(site))
}

fn push_row(out: &mut String, site: &Site, column: usize, row: &Row) {
    let head = &row.head;
    let (class, mark) =
        if row.pinned { (" class=\"top\"", "<em class=\"zd\">[置顶]</em>") } else { ("", "") };
    let _ = writeln!(
        out,
        "<li{class}>{mark}<a href=\"{}\" target=\"_blank\" title=\"{}\">{}</a><span>{}</span></li>",
        link(site, column, head),
        escape(&head.title),
        escape(&shorten(&head.title, 28)),
        head.at.format("%Y/%m/%d")
    );
}

fn article(site: &Site, head: &Head) -> Answer {
    let col = &site.columns[head.column];
    let meta = chrome::article_meta(site, head, "%Y-%m-%d %H:%M:%S");
    let mut frame = Frame::open(site, &format!("{}-{}", head.title, site.name), UTF8, &meta, Menu::Short);
    frame.crumbs(col);
    let _ = write!(
        frame.out,
        "<div class=\"article_l\">\n<h2 class=\"article_title\">{}</h2>\n<div class=\"laiyuan\"><div class=\"time\">发布时间：{}</div>\
         <div class=\"ly laiyuantext\"><span>来源：{}</span></div><div class=\"share\">[ <a href=\"javascript:window.print()\">打印</a> ]</div></div>\n\
         <div class=\"article_con article_con_notitle\">\n<div class=\"TRS_Editor\">\n",
        escape(&head.title),
        head.at.format("%Y/%m/%d"),
        head.source
    );
    let body = site.body(head, frame.out.len() + 1024);
    frame.push(&body).push("</div>\n</div>\n");
    let files = site.files(head);
    if !files.is_empty() {
        frame.push("<div class=\"attachment clearfix\"><div class=\"attachment_l\">附件：</div><div class=\"attachment_r\">\n");
        for file in &files {
            let _ = writeln!(
                frame.out,
                "<p><a href=\"./{}\" title=\"{}\">{}</a></p>",
                file_name(head, file),
                escape(&file.name()),
                escape(&file.title)
            );
        }
        frame.push("</div></div>\n");
    }
    frame.push("</div>\n");
    Answer::html(frame.close(site))
}
