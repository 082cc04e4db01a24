//! NF-CMS portals of Guangdong: absolute links, page 2 = `index_2.html`, file names only in `alt`. Two skins:
//! the ordinary portal and the document library of gd.gov.cn.

use std::fmt::Write as _;

use crate::answer::{Answer, Ask};
use crate::chrome::{self, Frame, Menu};
use crate::files::Attachment;
use crate::post::Head;
use crate::site::{Family, Site};
use crate::text::escape;

/// The portal skin or the document library (文件库).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum NfCms {
    Portal,
    Library,
}

const UTF8: &str = "<meta http-equiv=\"Content-Type\" content=\"text/html; charset=utf-8\">";

impl Family for NfCms {
    fn post_path(&self, site: &Site, head: &Head) -> String {
        format!("{}content/post_{}.html", site.columns[head.column].directory(), head.id)
    }

    fn answer(&self, site: &Site, ask: &Ask<'_>) -> Answer {
        if let Some(column) = site.column_of_list(ask.path) {
            return self.list(site, column, 1, ask);
        }
        match (self, ask.path) {
            (Self::Portal, "/") => return home(site),
            (Self::Portal, "/gdqy/newxxgk/") => return section(site),
            _ => {}
        }
        let Some((directory, file)) = ask.path.rsplit_once('/') else { return Answer::missing() };
        if let Some(number) = file.strip_prefix("index_").and_then(|rest| rest.strip_suffix(".html")) {
            let column = site.column_of_list(&format!("{directory}/"));
            return match (column, number.parse::<u64>()) {
                (Some(column), Ok(number)) if number >= 2 => self.list(site, column, number, ask),
                _ => Answer::missing(),
            };
        }
        if let Some(id) = file.strip_prefix("post_").and_then(|rest| rest.strip_suffix(".html")?.parse().ok())
        {
            return site.post_at(id, ask.path).map_or_else(Answer::missing, |head| self.article(site, &head));
        }
        file_at(site, ask.path, file).unwrap_or_else(Answer::missing)
    }
}

/// The home page: a box of the newest of each column, and the way to the section. No list, but full of dated links.
fn home(site: &Site) -> Answer {
    let mut out = format!(
        "<!DOCTYPE html><html><head><title>{0}</title></head><body><div class=\"nav\"><a href=\"/\">首页</a>\
         <a href=\"/gdqy/newxxgk/\">政府信息公开</a><a href=\"/search/\">搜索</a><a href=\"https://www.gd.gov.cn/\">省政府</a></div>\n",
        site.name
    );
    for index in 0..site.columns.len() {
        out.push_str("<div class=\"box\"><ul>");
        for head in site.rows(index, 0, 6) {
            let (url, title) = (site.family.post_path(site, &head), escape(&head.title));
            let _ = write!(
                out,
                "<li><a href=\"{url}\">{title}</a><span>{}</span></li>",
                head.at.format("%Y-%m-%d")
            );
        }
        out.push_str("</ul></div>\n");
    }
    out.push_str("</body></html>\n");
    Answer::html(out)
}

/// The page that leads to the columns.
fn section(site: &Site) -> Answer {
    let mut out = String::from(
        "<!DOCTYPE html><html><head><title>政府信息公开</title></head><body><ul class=\"menu\">",
    );
    for column in &site.columns {
        let _ = write!(out, "<li><a href=\"{}\">{}</a></li>", column.list, column.name);
    }
    out.push_str("</ul></body></html>\n");
    Answer::html(out)
}

/// `/attachment/<aid÷10⁶>/<aid÷10³>/<aid>/<post id>.<ext>`
fn file_path(head: &Head, file: &Attachment) -> String {
    let id = head.id * 4 + file.ordinal as u64;
    format!("/attachment/{}/{}/{id}/{}.{}", id / 1_000_000, id / 1_000, head.id, file.extension())
}

fn file_at(site: &Site, path: &str, name: &str) -> Option<Answer> {
    let head = site.post(name.split('.').next()?.parse().ok()?)?;
    let file = site.files(&head).into_iter().find(|file| file_path(&head, file) == path)?;
    Some(Answer::file(&file, true))
}

/// The document number a library shows beside the title.
pub(crate) fn document_number(head: &Head) -> String {
    format!("粤府〔{}〕{}号", head.at.format("%Y"), head.id % 1_000)
}

/// Its number in the index of a library.
pub(crate) fn index_number(head: &Head) -> String {
    format!("006939748/{}-{:05}", head.at.format("%Y"), head.id % 100_000)
}

impl NfCms {
    fn list(self, site: &Site, column: usize, page: u64, ask: &Ask<'_>) -> Answer {
        let Some(rows) = site.page(column, page, ask) else { return Answer::missing() };
        let col = &site.columns[column];
        let meta = format!("<meta name=\"ColumnName\" content=\"{0}\">\n", col.name);
        let mut frame = Frame::open(site, &format!("{}_{}", col.name, site.name), UTF8, &meta, Menu::Full);
        frame.crumbs(col).push(match self {
            Self::Portal => "<div class=\"news_list\">\n<ul>\n",
            Self::Library => "<div class=\"viewList\">\n<ul>\n",
        });
        for row in &rows {
            let head = &row.head;
            let url = format!("https://{}{}", site.host, site.family.post_path(site, head));
            let (title, day) = (escape(&head.title), head.at.format("%Y-%m-%d"));
            let _ = match self {
                Self::Portal => {
                    let mark = if row.pinned { "<i class=\"zd\">置顶</i>" } else { "" };
                    writeln!(
                        frame.out,
                        "<li>{mark}<a class=\"_recurl\" href=\"{url}\">{title}</a><span>{day}</span></li>"
                    )
                }
                Self::Library => writeln!(
                    frame.out,
                    "<li><span class=\"name\"><a href=\"{url}\" target=\"_blank\">{title}</a></span><span class=\"wh\">{}</span>\
                     <span class=\"date\">{day}</span></li>",
                    document_number(head)
                ),
            };
        }
        frame.push("</ul>\n<div class=\"page\">");
        let (_, pages) = site.extent(column);
        let base = format!("https://{}{}", site.host, col.directory());
        let _ = write!(frame.out, "<a class=\"first\" href=\"{base}index.html\">首页</a>");
        if page < pages {
            let _ = write!(frame.out, "<a class=\"next\" href=\"{base}index_{}.html\">下一页</a>", page + 1);
        }
        frame.push("</div>\n</div>\n");
        Answer::html(frame.close(site))
    }

    fn article(self, site: &Site, head: &Head) -> Answer {
        let meta = chrome::article_meta(site, head, "%Y-%m-%d %H:%M");
        let mut frame = Frame::open(site, &format!("{}_{}", head.title, site.name), UTF8, &meta, Menu::Short);
        let _ = writeln!(
            frame.out,
            "<script>var NFCMS_SITE_ID = \"763001\"; var NFCMS_POST_ID = \"{}\";</script>",
            head.id
        );
        frame.crumbs(&site.columns[head.column]);
        let (title, stamp) = (escape(&head.title), head.at.format("%Y-%m-%d %H:%M"));
        let _ = match self {
            Self::Portal => writeln!(
                frame.out,
                "<div class=\"content\" style=\"margin-top: 30px\">\n<h1 class=\"title\">{title}</h1>\n\
                 <div class=\"date-row\"><span>时间：{stamp}</span> <span>来源：{}</span></div>\n<div class=\"article-content\">",
                head.source
            ),
            Self::Library => writeln!(
                frame.out,
                "<div class=\"viewList left\">\n<div class=\"introduce\"><div><div><label>索引号：</label><span>{}</span></div>\
                 <div><label>发布机构：</label><span>{}</span></div><div><label>文号：</label><span>{}</span></div>\
                 <div><label>发布日期：</label><span>{}</span></div></div></div>\n<h3 class=\"zw-title\">{title}</h3>\n<div class=\"zw\">",
                index_number(head),
                site.name,
                document_number(head),
                head.at.format("%Y年%m月%d日")
            ),
        };
        let body = site.body(head, frame.out.len() + 1024);
        frame.push(&body);
        for file in site.files(head) {
            let name = escape(&file.name());
            let _ = writeln!(
                frame.out,
                "<p><a class=\"nfw-cms-attachment\" attachment-id=\"{}\" href=\"https://{}{}\" alt=\"{name}\">点击下载</a></p>",
                head.id * 4 + file.ordinal as u64,
                site.host,
                file_path(head, &file)
            );
        }
        frame.push("</div>\n</div>\n");
        Answer::html(frame.close(site))
    }
}
