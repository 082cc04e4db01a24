//! Lists that are JSON (Xinhua's `ds_<id>.json`): dotted paths instead of selectors.

use dibao_adapter::json::{self, Node};
use dibao_adapter::{Entry, Failure, Host, HtmlPage, Level, Reply};

use crate::config::ListJson;
use crate::{fit, native_id};

/// Reads the rows.
pub fn read(host: &impl Host, list: &ListJson, reply: &Reply) -> Result<Vec<Entry>, Failure> {
    let document = json::read(host, reply)?;
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
fn rows<'a>(document: &'a Node, path: &str) -> Option<&'a [Node]> {
    document.list().or_else(|| at(document, path).list())
}

fn entry(host: &impl Host, list: &ListJson, row: &Node) -> Option<Entry> {
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
fn words(row: &Node, paths: &str) -> Option<String> {
    paths.split(',').find_map(|path| at(row, path.trim()).text())
}

/// Names and numbers separated by dots: `result.list.0.url`.
fn at<'a>(node: &'a Node, path: &str) -> &'a Node {
    path.split('.').filter(|name| !name.is_empty()).fold(node, |node, name| match node.list() {
        Some(items) => name.parse().ok().and_then(|at: usize| items.get(at)).unwrap_or(&Node::Nothing),
        None => node.at(name),
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
