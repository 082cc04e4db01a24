//! An old county portal: ASP pages in GB18030 that call themselves gb2312, in a meta tag only, and files whose
//! addresses carry Chinese characters.

use std::fmt::Write as _;

use encoding_rs::GB18030;

use crate::answer::{Answer, Ask};
use crate::chrome::{Frame, Menu};
use crate::files::Attachment;
use crate::post::Head;
use crate::site::{Family, Site};
use crate::text::escape;

#[derive(Debug)]
pub(crate) struct Gbk;

const GB2312: &str = "<meta http-equiv=\"Content-Type\" content=\"text/html; charset=gb2312\">";

/// In every article: a GBK character, another, and one only GB18030 has (four bytes).
pub(crate) const RARE: &str = "联系人：朱镕喆，㙟江办事处";

impl Family for Gbk {
    /// Pages are told apart by their query, so the address has one.
    fn post_path(&self, _: &Site, head: &Head) -> String {
        format!("/show.asp?id={}", head.id)
    }

    fn answer(&self, site: &Site, ask: &Ask<'_>) -> Answer {
        let number = |name: &str| {
            let pairs = ask.query.unwrap_or_default().split('&').filter_map(|pair| pair.split_once('='));
            pairs.filter(|(key, _)| *key == name).find_map(|(_, value)| value.parse::<u64>().ok())
        };
        match ask.path {
            "/list.asp" => {
                let list = number("id").map(|id| format!("/list.asp?id={id}"));
                let column = list.and_then(|list| site.columns.iter().position(|column| column.list == list));
                column.map_or_else(Answer::missing, |column| {
                    listing(site, column, number("page").unwrap_or(1), ask)
                })
            }
            "/show.asp" => number("id")
                .and_then(|id| site.post(id))
                .map_or_else(Answer::missing, |head| article(site, &head)),
            path => file_at(site, path).unwrap_or_else(Answer::missing),
        }
    }
}

/// Bytes in GB18030 and a header without a charset.
fn encoded(html: &str) -> Answer {
    Answer::new(200, "text/html", GB18030.encode(html).0.into_owned())
}

/// `/UploadFile/<year>/<post id>-<Chinese name>`, written raw into the page.
fn file_path(head: &Head, file: &Attachment) -> String {
    format!("/UploadFile/{}/{}-{}", head.at.format("%Y"), head.id, file.name())
}

fn file_at(site: &Site, path: &str) -> Option<Answer> {
    let (_, name) = path.strip_prefix("/UploadFile/")?.split_once('/')?;
    let head = site.post(name.split_once('-')?.0.parse().ok()?)?;
    let decoded = unpercent(path);
    let file = site.files(&head).into_iter().find(|file| file_path(&head, file).as_bytes() == decoded)?;
    Some(Answer::file(&file, true))
}

/// Browsers send a path in UTF-8 whatever the page's charset.
fn unpercent(path: &str) -> Vec<u8> {
    let bytes = path.as_bytes();
    let (mut out, mut at) = (Vec::with_capacity(bytes.len()), 0);
    while at < bytes.len() {
        let hex = path.get(at + 1..at + 3).filter(|_| bytes[at] == b'%');
        match hex.and_then(|hex| u8::from_str_radix(hex, 16).ok()) {
            Some(byte) => {
                out.push(byte);
                at += 3;
            }
            None => {
                out.push(bytes[at]);
                at += 1;
            }
        }
    }
    out
}

fn listing(site: &Site, column: usize, page: u64, ask: &Ask<'_>) -> Answer {
    let rows = site.page(column, page.max(1), ask).unwrap_or_default();
    let col = &site.columns[column];
    let mut frame = Frame::open(site, &format!("{}-{}", col.name, site.name), GB2312, "", Menu::Full);
    frame
        .crumbs(col)
        .push("<table class=\"newslist\" width=\"98%\" border=\"0\">\n<tr><th>标题</th><th>日期</th></tr>\n");
    for row in &rows {
        let mark = if row.pinned { "<font color=\"red\">[置顶]</font>" } else { "" };
        let _ = writeln!(
            frame.out,
            "<tr><td class=\"tit\">{mark}<a href=\"{}\" target=\"_blank\">{}</a></td><td class=\"rq\">[{}]</td></tr>",
            &site.family.post_path(site, &row.head)[1..],
            escape(&row.head.title),
            row.head.at.format("%Y-%-m-%-d")
        );
    }
    let (rows, pages) = site.extent(column);
    let _ = writeln!(
        frame.out,
        "</table>\n<div class=\"fy\">共{rows}条 第{page}/{pages}页 <a href=\"{}&amp;page={}\">下一页</a></div>",
        &col.list[1..],
        (page + 1).min(pages)
    );
    encoded(&frame.close(site))
}

fn article(site: &Site, head: &Head) -> Answer {
    let mut frame = Frame::open(site, &format!("{}-{}", head.title, site.name), GB2312, "", Menu::Short);
    frame.crumbs(&site.columns[head.column]);
    let _ = write!(
        frame.out,
        "<table width=\"98%\" border=\"0\"><tr><td class=\"bt\" align=\"center\">{}</td></tr>\n\
         <tr><td class=\"xx\">发布时间：{} 　来源：{} 　浏览次数：<script src=\"hits.asp?id={}\"></script></td></tr>\n<tr><td id=\"zoom\">\n",
        escape(&head.title),
        head.at.format("%Y-%-m-%-d %-H:%M:%S"),
        head.source,
        head.id
    );
    let body = site.body(head, frame.out.len() + 1024);
    frame.push(&body);
    let _ = writeln!(frame.out, "<p>{RARE}</p>");
    for file in site.files(head) {
        let _ = writeln!(
            frame.out,
            "<p><a href=\"{}\">{}</a></p>",
            escape(&file_path(head, &file)),
            escape(&file.name())
        );
    }
    frame.push("</td></tr></table>\n");
    encoded(&frame.close(site))
}
