//! www.gov.cn: lists as `home.htm`, `home_1.htm`; formal documents in template A (nested tables), articles in
//! template B. The column decides the template, as it does on the real site.

use std::fmt::Write as _;

use chrono::NaiveDateTime;
use serde_json::json;

use crate::answer::{Answer, Ask};
use crate::chrome::{Frame, Menu};
use crate::files::Attachment;
use crate::post::Head;
use crate::seed::Chance;
use crate::site::{Family, Site};
use crate::text::{self, escape};

#[derive(Debug)]
pub(crate) struct GovCn;

const UTF8: &str = "<meta http-equiv=\"Content-Type\" content=\"text/html; charset=utf-8\" />";

/// The first column holds formal documents.
fn formal(head: &Head) -> bool {
    head.column == 0
}

/// What is known of a post beside its title, time and text: the table of template A shows it, and the back ends of
/// the policy library list it.
pub(crate) struct Facts {
    author: &'static str,
    keywords: [&'static str; 2],
    pub(crate) issuer: &'static str,
    pub(crate) topic: String,
    pub(crate) index_no: String,
    pub(crate) doc_no: String,
    pub(crate) written: NaiveDateTime,
}

pub(crate) fn facts(site: &Site, head: &Head) -> Facts {
    let mut chance = Chance::new(site.seed, &site.host, "meta", head.id);
    let year = head.at.format("%Y");
    Facts {
        author: text::person(&mut chance),
        keywords: [text::theme(&mut chance), text::theme(&mut chance)],
        issuer: text::body(&mut chance),
        topic: format!("综合政务\\{}", text::theme(&mut chance)),
        index_no: format!("000014349/{year}-{:05}", head.id % 100_000),
        doc_no: format!("国办发〔{year}〕{}号", head.id % 1_000),
        written: head.at - chrono::TimeDelta::days(3),
    }
}

fn directory(head: &Head) -> String {
    format!("/zhengce/{}{}/", if formal(head) { "content/" } else { "" }, head.at.format("%Y%m"))
}

impl Family for GovCn {
    fn post_path(&self, _: &Site, head: &Head) -> String {
        format!("{}content_{}.htm", directory(head), head.id)
    }

    fn answer(&self, site: &Site, ask: &Ask<'_>) -> Answer {
        if let Some(column) = site.column_of_list(ask.path) {
            return list(site, column, 1, ask);
        }
        let Some((above, file)) = ask.path.rsplit_once('/') else { return Answer::missing() };
        if let Some(number) = file.strip_prefix("home_").and_then(|rest| rest.strip_suffix(".htm")) {
            let column = site.column_of_list(&format!("{above}/"));
            return match (column, number.parse::<u64>()) {
                (Some(column), Ok(number)) if number >= 1 => list(site, column, number + 1, ask),
                _ => Answer::missing(),
            };
        }
        if let Some(id) =
            file.strip_prefix("content_").and_then(|rest| rest.strip_suffix(".htm")?.parse().ok())
        {
            return site.post_at(id, ask.path).map_or_else(Answer::missing, |head| article(site, &head));
        }
        if ask.path == "/zhengce/zuixin/ZUIXINZHENGCE.json" {
            return feed(site, ask);
        }
        file_at(site, ask.path).unwrap_or_else(Answer::missing)
    }
}

/// `<month>/<post id>/files/<32 hex>.<ext>`, relative to the page.
pub(crate) fn file_link(head: &Head, file: &Attachment) -> String {
    format!("{}/files/{}.{}", head.id, file.digest(), file.extension())
}

fn file_at(site: &Site, path: &str) -> Option<Answer> {
    let (above, _) = path.split_once("/files/")?;
    let head = site.post(above.rsplit_once('/')?.1.parse().ok()?)?;
    let file = site
        .files(&head)
        .into_iter()
        .find(|file| format!("{}{}", directory(&head), file_link(&head, file)) == path)?;
    Some(Answer::file(&file, false))
}

fn list(site: &Site, column: usize, page: u64, ask: &Ask<'_>) -> Answer {
    let Some(rows) = site.page(column, page, ask) else { return Answer::missing() };
    let col = &site.columns[column];
    let mut frame = Frame::open(site, &format!("{}_中国政府网", col.name), UTF8, "", Menu::Full);
    frame.crumbs(col).push("<div class=\"news_box\">\n<div class=\"list list_1 list_2\">\n<ul>\n");
    for (number, row) in rows.iter().enumerate() {
        let path = site.family.post_path(site, &row.head);
        let link = match row.head.id % 10 {
            4 => format!("http://{}{path}", site.host), // old entries kept their scheme
            8 => format!("//{}{path}", site.host),
            2 => format!("../{}", path.trim_start_matches("/zhengce/")),
            _ => path,
        };
        let _ = writeln!(
            frame.out,
            "<li>\n<h4><a href=\"{link}\" target=\"_blank\">{}</a><span class=\"date\"> {} </span></h4>\n</li>",
            escape(&row.head.title),
            row.head.at.format("%Y-%m-%d")
        );
        if number % 5 == 4 {
            frame.push("<li class=\"line\"></li>\n");
        }
    }
    let (rows, pages) = site.extent(column);
    let _ = writeln!(
        frame.out,
        "</ul>\n</div>\n<div class=\"newspage cl\" id=\"newspage\" data-total=\"{rows}\"><span class=\"cur\">{page}</span>/{pages}</div>\n</div>"
    );
    Answer::html(frame.close(site))
}

/// The newest thousand formal documents in one file.
fn feed(site: &Site, ask: &Ask<'_>) -> Answer {
    let rows = if ask.empty_list { Vec::new() } else { site.rows(0, 0, 1_000) };
    let items: Vec<_> = rows
        .iter()
        .map(|head| {
            let url = format!("https://{}{}", site.host, site.family.post_path(site, head));
            json!({ "TITLE": head.title, "SUB_TITLE": "", "URL": url, "DOCRELPUBTIME": head.at.format("%Y-%m-%d").to_string() })
        })
        .collect();
    Answer::new(200, "application/json", json!(items).to_string())
}

fn article(site: &Site, head: &Head) -> Answer {
    Answer::html(page(site, head).0)
}

/// The page of a post, and the paragraphs on it.
pub(crate) fn page(site: &Site, head: &Head) -> (String, String) {
    let facts = facts(site, head);
    let meta = format!(
        "<meta name=\"manuscriptId\" content=\"{}\" />\n<meta name=\"firstpublishedtime\" content=\"{stamp}\" />\n\
         <meta name=\"lastmodifiedtime\" content=\"{stamp}\" />\n<meta name=\"author\" content=\"{}\" />\n<meta name=\"keywords\" content=\"{};{}\" />\n\
         <meta name=\"lanmu\" content=\"{}\" />\n",
        head.id,
        facts.author,
        facts.keywords[0],
        facts.keywords[1],
        site.columns[head.column].name,
        stamp = head.at.format("%Y-%m-%d-%H:%M:%S"),
    );
    let title = format!("{}_{}_中国政府网", head.title, site.columns[head.column].name);
    let mut frame = Frame::open(site, &title, UTF8, &meta, Menu::Short);
    frame.crumbs(&site.columns[head.column]);
    let body = if formal(head) {
        template_a(site, head, &facts, &mut frame)
    } else {
        template_b(site, head, &mut frame)
    };
    (frame.close(site), body)
}

fn template_a(site: &Site, head: &Head, facts: &Facts, frame: &mut Frame) -> String {
    let _ = write!(
        frame.out,
        "<div class=\"wrap mxxgkwrap mxxgkwrap_gwywj\">\n<table border=\"0\" align=\"center\" width=\"1000\"><tbody><tr><td>\n\
         <div class=\"pctoubukuang1\"><table width=\"100%\"><tbody><tr><td><table class=\"bd1\" width=\"100%\"><tbody>\n\
         <tr><td><b>索 引 号：</b></td><td>{}</td><td><b>主题分类：</b></td><td class=\"zcwj_ztfl\">{}</td></tr>\n\
         <tr><td><b>发文机关：</b></td><td>{}</td><td><b>成文日期：</b></td><td>{}</td></tr>\n\
         <tr><td><b>标　　题：</b></td><td class=\"zcwj_title\" colspan=\"3\">{}</td></tr>\n\
         <tr><td><b>发文字号：</b></td><td>{}</td><td><b>发布日期：</b></td><td>{}</td></tr>\n\
         </tbody></table></td></tr></tbody></table></div>\n\
         <table width=\"100%\"><tbody><tr><td class=\"b12c\" id=\"UCAP-CONTENT\">\n<div class=\"trs_editor_view TRS_UEDITOR trs_paper_default trs_web\">\n",
        facts.index_no,
        facts.topic,
        facts.issuer,
        facts.written.format("%Y年%m月%d日"),
        escape(&head.title),
        facts.doc_no,
        head.at.format("%Y年%m月%d日"),
    );
    let body = site.body(head, frame.out.len() + 1024);
    frame.push(&body);
    push_files(site, head, frame);
    frame.push("</div>\n</td></tr></tbody></table>\n</td></tr></tbody></table>\n</div>\n");
    body
}

fn template_b(site: &Site, head: &Head, frame: &mut Frame) -> String {
    let _ = write!(
        frame.out,
        "<div class=\"content\"><div class=\"article oneColumn pub_border\">\n<h1 id=\"ti\">{}</h1>\n\
         <div class=\"pages-date\">{} <span class=\"font\">来源：{}</span> <span class=\"share-title\">【字体：大 中 小】</span></div>\n\
         <div class=\"pages_content\" id=\"UCAP-CONTENT\">\n",
        escape(&head.title),
        head.at.format("%Y-%m-%d %H:%M"),
        head.source
    );
    let body = site.body(head, frame.out.len() + 1024);
    frame.push(&body);
    push_files(site, head, frame);
    frame.push("</div>\n<div class=\"editor\"><span>责任编辑：朱英</span></div>\n</div></div>\n<ul class=\"jiedu_list\"></ul>\n");
    body
}

fn push_files(site: &Site, head: &Head, frame: &mut Frame) {
    for file in site.files(head) {
        let _ = writeln!(
            frame.out,
            "<p><a href=\"./{}\">{}</a></p>",
            file_link(head, &file),
            escape(&file.name())
        );
    }
}
