//! Pages of the platform: the shell with the site's script object, and a document with its table, its body and its own
//! script object. Also the same document in the content system behind it.

use std::fmt::Write as _;

use serde_json::{Value, json};

use super::list::attachments;
use super::{Document, Gkmlpt, facts, file_id};
use crate::answer::Answer;
use crate::chrome::{Frame, Menu};
use crate::post::Head;
use crate::site::Site;
use crate::text::escape;

/// A column without posts.
pub(super) const EMPTY: u64 = 99_001;

const UTF8: &str = "<meta charset=\"utf-8\">";

/// JSON inside a script of these pages: tags and quotes are escaped.
fn in_script(value: &Value) -> String {
    let text = value.to_string().replace("\\\"", "\\u0022");
    text.replace('<', "\\u003C").replace('>', "\\u003E").replace('&', "\\u0026")
}

/// The shell: everything a reader sees is made by the script.
pub(super) fn index(mode: &Gkmlpt, site: &Site) -> Answer {
    let leaves: Vec<Value> = (0..site.columns.len())
        .map(|index| {
            let column = &site.columns[index];
            let (rows, _) = site.extent(index);
            json!({ "id": column.id.parse::<u64>().unwrap_or_default(), "name": column.name, "parent": 90_001,
                    "post_count": rows + 17, "jump_url": "", "children": [] })
        })
        .collect();
    let tree = json!([
        { "id": 90_001, "name": "重点领域信息公开", "parent": 0, "post_count": 0, "jump_url": "", "children": leaves },
        { "id": 90_002, "name": "依申请公开", "parent": 0, "post_count": 0, "children": [],
          "jump_url": format!("https://{}{}/ysqgk/", site.host, mode.dept) },
        { "id": EMPTY, "name": "年度报告", "parent": 0, "post_count": 0, "jump_url": "", "children": [] },
    ]);
    Answer::html(format!(
        "<!DOCTYPE html>\n<html lang=\"zh-CN\">\n<head>\n{UTF8}\n<title>{}政府信息公开目录</title>\n\
         <link href=\"{dept}/gkmlpt/gkml/pc/css/chunk-common.3f1c.css\" rel=\"stylesheet\">\n</head>\n<body>\n<noscript><strong>请启用 JavaScript。\
         </strong></noscript>\n<div id=\"app\"></div>\n<script>\n  // 站点配置\n  window._CONFIG = {{\n    APP_URL: 'https://{host}{dept}',\n    \
         SID: '{sid}', /* 站点编号 */\n    TREE: {tree}, SERVICE_AREA_ID: {area},\n    IS_MOBILE: !1,\n    onReady: function () {{ return {{ SID: \
         '}}' }} }},\n  }};\n</script>\n<script src=\"{dept}/gkmlpt/gkml/pc/js/chunk-common.8d2e.js\"></script>\n</body>\n</html>\n",
        site.name,
        dept = mode.dept,
        host = site.host,
        sid = mode.sid,
        tree = in_script(&tree),
        area = &mode.sid[..mode.sid.len().min(3)],
    ))
}

/// The body of a post with the links to its files, as the editor left it. Links are protocol-relative.
pub(super) fn body(mode: &Gkmlpt, site: &Site, head: &Head) -> String {
    let mut body = site.body(head, 2_500);
    for file in site.files(head) {
        let _ = writeln!(
            body,
            "<p><a class=\"nfw-cms-attachment\" attachment-id=\"{}\" href=\"//{}{}\" alt=\"{}\">点击下载</a></p>",
            file_id(head, &file),
            site.host,
            mode.file_path(head, &file),
            escape(&file.name())
        );
    }
    body
}

/// A document on the platform.
pub(super) fn platform(mode: &Gkmlpt, site: &Site, head: &Head) -> Answer {
    let facts = facts(site, head);
    let column = &site.columns[head.column];
    let meta = format!(
        "<meta name=\"ArticleTitle\" content=\"{}\">\n<meta name=\"PubDate\" content=\"{}\">\n<meta name=\"ContentSource\" content=\"{}\">\n",
        escape(&head.title),
        head.at.format("%Y-%m-%d %H:%M"),
        head.source
    );
    let title = format!("{}政府信息公开目录", site.name);
    let mut frame = Frame::open(site, &title, UTF8, &meta, Menu::Short);
    frame.push("<div class=\"classify\"><table><tbody>\n");
    let cell =
        |label: &str, value: &str| format!("<td><label>{label}：</label><span>{}</span></td>", escape(value));
    let day = |at: chrono::NaiveDateTime| at.format("%Y-%m-%d").to_string();
    let category = format!("{}、{}", facts.theme, facts.genre);
    for (left, right) in [
        (cell("索 引 号", &facts.index_no), cell("分　　类", &category)),
        (cell("发布机构", &facts.publisher), cell("成文日期", &day(facts.written))),
        (cell("名　　称", &head.title), cell("文　　号", &facts.doc_no)),
        (cell("发布日期", &day(head.at)), cell("主 题 词", &facts.keywords)),
    ] {
        let _ = writeln!(frame.out, "<tr>{left}{right}</tr>");
    }
    let _ = write!(
        frame.out,
        "</tbody></table></div>\n<div class=\"content\" style=\"margin-top: 30px\">\n<h1 class=\"title\">{}</h1>\n\
         <div class=\"date-row\">发布日期：{}</div>\n",
        escape(&head.title),
        head.at.format("%Y-%m-%d %H:%M:%S")
    );
    let hollow = mode.is_hollow(head);
    let body = if hollow { String::new() } else { body(mode, site, head) };
    if mode.document == Document::Script {
        // The page is drawn by the script; the frame of its body is not even there.
        frame.out.truncate(frame.out.rfind("<div class=\"content\"").unwrap_or(frame.out.len()));
        frame.push("<div id=\"app\">\n");
    } else {
        let _ = writeln!(frame.out, "<div class=\"article-content\">{body}</div>");
    }
    frame.push("</div>\n");
    if mode.document != Document::Page {
        let detail = json!({
            "id": head.id, "title": head.title, "abstract": facts.summary, "content": body,
            "attachment": attachments(mode, site, head), "identifier": facts.index_no,
            "classify_main_name": column.name, "gkml_data": { "publisher": facts.publisher, "document_number": facts.doc_no },
        });
        let _ = writeln!(
            frame.out,
            "<script>window._CONFIG = {{ APP_URL: 'https://{}{}', SID: '{}',\n DETAIL: {}, SERVICE_AREA_ID: 763 }};</script>",
            site.host,
            mode.dept,
            mode.sid,
            in_script(&detail)
        );
    }
    Answer::html(frame.close(site))
}

/// The same document in the content system.
pub(super) fn content(mode: &Gkmlpt, site: &Site, head: &Head) -> Answer {
    let mut frame = Frame::open(site, &format!("{}-{}", head.title, site.name), UTF8, "", Menu::Short);
    let _ = writeln!(
        frame.out,
        "<script>var NFCMS_SITE_ID = \"{}\"; var NFCMS_POST_ID = \"{}\";</script>\n<h1 class=\"title\">{}</h1>\n<div class=\"zw\">{}</div>",
        mode.sid,
        head.id,
        escape(&head.title),
        body(mode, site, head)
    );
    Answer::html(frame.close(site))
}
