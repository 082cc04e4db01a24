//! Lists that are JSON (Xinhua's `ds_<id>.json`): dotted paths instead of selectors.

use dibao_adapter::{Entry, Failure, Host, HtmlPage, Level, Reply};
use serde_json::Value;

use crate::config::ListJson;
use crate::{fit, native_id};

/// Reads the rows.
pub fn read(host: &impl Host, list: &ListJson, reply: &Reply) -> Result<Vec<Entry>, Failure> {
    let content_type =
        reply.headers.iter().find(|(name, _)| name == "content-type").map(|(_, value)| value.as_str());
    let text = host.decode(&reply.body, content_type);
    let document: Value = serde_json::from_str(text.trim_start_matches('\u{feff}').trim())
        .map_err(|error| Failure::Shape(format!("{} is not JSON: {error}", reply.url)))?;
    let rows = rows(&document, &list.rows).ok_or_else(|| {
        Failure::Shape(format!("list_json.rows `{}` is no array in {}", list.rows, reply.url))
    })?;
    if rows.is_empty() {
        return Err(Failure::Shape(format!(
            "list_json.rows `{}` is an empty array in {}",
            list.rows, reply.url
        )));
    }
    let entries: Vec<Entry> = rows.iter().filter_map(|row| entry(host, list, row)).collect();
    if entries.is_empty() {
        return Err(Failure::Shape(format!(
            "{} rows in {}, but list_json.url `{}` leads to no address in them",
            rows.len(),
            reply.url,
            list.url
        )));
    }
    if entries.len() < rows.len() {
        let skipped = rows.len() - entries.len();
        host.log(Level::Info, &format!("{skipped} of {} rows have no address", rows.len()));
    }
    Ok(entries)
}

/// The array at `path`; some sites leave out the object around it.
fn rows<'a>(document: &'a Value, path: &str) -> Option<&'a Vec<Value>> {
    match document {
        Value::Array(rows) => Some(rows),
        _ => at(document, path)?.as_array(),
    }
}

fn entry(host: &impl Host, list: &ListJson, row: &Value) -> Option<Entry> {
    let url = words(row, &list.url).filter(|url| fit::is_link(url))?;
    let fields = list
        .fields
        .iter()
        .filter_map(|(name, path)| Some((name.clone(), fit::value(plain(host, words(row, path)?)))))
        .collect();
    Some(Entry {
        title: words(row, &list.title).map(|title| fit::value(plain(host, title))).unwrap_or_default(),
        published: list.date.as_deref().and_then(|path| words(row, path)).map(fit::value),
        native_id: list.native_id.as_deref().and_then(|rule| match rule.contains("{digits}") {
            true => native_id::in_address(rule, &url).map(fit::name),
            false => words(row, rule).map(fit::name),
        }),
        pinned: false,
        fields,
        url,
    })
}

/// The first of the paths, separated by commas, that leads to words.
fn words(row: &Value, paths: &str) -> Option<String> {
    paths.split(',').find_map(|path| {
        let text = match at(row, path.trim())? {
            Value::String(text) => text.trim().to_owned(),
            Value::Number(number) => number.to_string(),
            _ => return None,
        };
        (!text.is_empty()).then_some(text)
    })
}

/// Names and numbers separated by dots: `result.list.0.url`.
fn at<'a>(value: &'a Value, path: &str) -> Option<&'a Value> {
    path.split('.').filter(|name| !name.is_empty()).try_fold(value, |value, name| match value {
        Value::Array(items) => items.get(name.parse::<usize>().ok()?),
        _ => value.get(name),
    })
}

/// Titles may hold HTML.
fn plain(host: &impl Host, text: String) -> String {
    if !text.contains(['<', '&']) {
        return text;
    }
    match host.text(&HtmlPage::Text(text.clone())) {
        Ok(plain) => plain.split_whitespace().collect::<Vec<_>>().join(" "),
        Err(_) => text,
    }
}
