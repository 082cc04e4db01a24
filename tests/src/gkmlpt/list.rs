//! The list API: a hundred rows of JSON a page, and what hosts make of the page past the end.

use serde_json::{Value, json};

use super::{Gkmlpt, epoch, facts, file_id, is_link};
use crate::answer::{Answer, Ask};
use crate::post::Head;
use crate::site::Site;

/// Posts that a column counts and does not list.
const UNLISTED: u64 = 17;
const JSON: &str = "application/json";

pub(super) fn answer(mode: &Gkmlpt, site: &Site, column: &str, ask: &Ask<'_>) -> Answer {
    let param = |name: &str| {
        let pairs = ask.query.unwrap_or_default().split('&').filter_map(|pair| pair.split_once('='));
        pairs.into_iter().find(|(key, _)| *key == name).map(|(_, value)| value)
    };
    if mode.wants_sid && param("sid") != Some(mode.sid) {
        return Answer::missing();
    }
    // 0 and 1 are the same page.
    let page = param("page").map_or(Some(1), |page| page.parse::<u64>().ok()).map(|page| page.max(1));
    let (Some(page), Ok(id)) = (page, column.parse::<u64>()) else { return Answer::missing() };
    let size = match param("page_size").filter(|_| mode.seed_shape) {
        Some(size) => size.parse().unwrap_or(20).clamp(1, 100),
        None => site.page_size,
    };
    let Some((name, all)) = posts(site, id) else { return Answer::missing() };
    let (total, from) = (all.len() as u64, (page - 1) * size);
    if from >= total && mode.end_is_404 {
        return Answer::missing();
    }
    let rows: Vec<Value> = match ask.empty_list {
        true => Vec::new(),
        false => {
            let shown = all.iter().skip(from as usize).take(size as usize);
            shown.map(|head| row(mode, site, head)).collect()
        }
    };
    let list = if mode.seed_shape {
        json!({ "code": 200, "message": "success", "result": { "data": { "list": rows } } })
    } else {
        let mut list = json!({
            "classify": { "id": id, "name": name, "parent": 1, "post_count": total + UNLISTED,
                          "theme_count": total + UNLISTED, "jump_url": "" },
            "articles": rows,
        });
        if mode.counts {
            list["total"] = json!(total);
            list["offset"] = json!(from);
        }
        list
    };
    let list = if mode.as_text { texts(list) } else { list };
    Answer::new(200, JSON, list.to_string())
}

/// The posts of a column with its name; 0 is all columns, the empty one has none.
fn posts(site: &Site, id: u64) -> Option<(&str, Vec<Head>)> {
    let of = |column: usize| site.rows(column, 0, u64::MAX);
    if id == 0 {
        let mut all: Vec<Head> = (0..site.columns.len()).flat_map(of).collect();
        all.sort_by_key(|head| (std::cmp::Reverse(head.at), head.id));
        all.dedup_by_key(|head| head.id);
        return Some(("全部", all));
    }
    if id == super::page::EMPTY {
        return Some(("年度报告", Vec::new()));
    }
    let column = site.columns.iter().position(|column| column.id.parse() == Ok(id))?;
    Some((site.columns[column].name, of(column)))
}

fn row(mode: &Gkmlpt, site: &Site, head: &Head) -> Value {
    let facts = facts(site, head);
    let at = epoch(head.at);
    let host = &site.host;
    let own = format!("https://{host}{}", site.family.post_path(site, head));
    let content = format!("https://{host}{}", mode.content_path(head));
    let (url, post_url) = match is_link(head) {
        true => (facts.link.clone(), String::new()),
        false => (own, content),
    };
    // Where the trusted time is missing the next one has it; those after it are later, so that a wrong choice shows.
    let trusted = if mode.counts { 0 } else { head.id % 3 };
    let stamp = |rank: u64| match trusted.cmp(&rank) {
        std::cmp::Ordering::Greater => 0,
        _ => at + 3_600 * (rank - trusted) as i64,
    };
    let created = head.at + chrono::TimeDelta::hours(3);
    json!({
        "id": head.id, "type": if is_link(head) { "url" } else { "normal" }, "title": head.title,
        "url": url, "post_url": post_url,
        "document_number": facts.doc_no, "identifier": facts.index_no, "publisher": facts.publisher,
        "keywords": facts.keywords, "abstract": facts.summary,
        "date": epoch(facts.written), "create_time": stamp(0), "display_publish_time": stamp(1), "first_publish_time": stamp(2),
        "created_at": created.format("%Y-%m-%d %H:%M:%S").to_string(),
        "classify_main": site.columns[head.column].id.parse::<u64>().unwrap_or_default(),
        "classify_main_name": site.columns[head.column].name,
        "classify_genre_name": facts.genre, "classify_theme_name": facts.theme,
        "is_expired": u8::from(facts.is_expired), "is_abolished": u8::from(facts.is_abolished), "relation": "[]",
        "attachment": attachments(mode, site, head),
        "position": "", "tags": [], "extra": {"wechat": null, "views": head.id % 97},
    })
}

/// The files of a post as the platform lists them.
pub(super) fn attachments(mode: &Gkmlpt, site: &Site, head: &Head) -> Value {
    let files = if is_link(head) { Vec::new() } else { site.files(head) };
    let file = |file: &crate::files::Attachment| {
        json!({
            "id": file_id(head, file), "name": file.name(), "type": file.extension(), "mime": file.mime(),
            "size": file.bytes().len().to_string(), "url": format!("https://{}{}", site.host, mode.file_path(head, file)),
        })
    };
    files.iter().map(file).collect()
}

/// The same in text: every number, the attachments as one piece of JSON; a link in seven `http:`, one with blanks.
fn texts(mut list: Value) -> Value {
    for row in list["articles"].as_array_mut().into_iter().flatten() {
        let odd = if row["type"] == "url" { 0 } else { row["id"].as_u64().unwrap_or_default() % 7 };
        for (key, value) in row.as_object_mut().into_iter().flatten() {
            match value {
                Value::Number(number) => *value = json!(number.to_string()),
                Value::Array(_) if key == "attachment" => *value = json!(value.to_string()),
                Value::String(text) if key == "url" && odd == 3 => *text = text.replace("https:", "http:"),
                Value::String(text) if key == "url" && odd == 5 => *text = format!(" {text}\n"),
                _ => {}
            }
        }
    }
    let count = list["classify"]["post_count"].to_string();
    list["classify"]["post_count"] = json!(count);
    list
}
