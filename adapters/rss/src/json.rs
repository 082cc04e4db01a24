//! JSON Feed 1.0 and 1.1.

use serde_json::Value;

use crate::address;
use crate::feed::{Feed, File, Item, Kind, Markup};

/// Entries of one feed that are read; the contract allows no more rows on a page.
const MOST_ITEMS: usize = 10_000;
/// Files, authors and tags of one entry.
const MOST_PARTS: usize = 100;

/// Reads a JSON Feed; relative addresses are relative to `url`. The error says what is missing.
pub fn read(text: &str, url: &str) -> Result<Feed, String> {
    let document: Value = serde_json::from_str(text).map_err(|error| format!("not JSON: {error}"))?;
    let version = document.get("version").and_then(Value::as_str).unwrap_or_default();
    let items = document.get("items").and_then(Value::as_array);
    let Some(items) = items.filter(|_| version.contains("jsonfeed.org/version/")) else {
        return Err("JSON, but not a JSON Feed: `version` and `items` are what makes it one".to_owned());
    };
    Ok(Feed {
        items: items.iter().take(MOST_ITEMS).map(|item| read_item(item, url)).collect(),
        next: words(&document, "next_url").map(|next| address::join(url, &next)),
        broken: None,
    })
}

fn read_item(item: &Value, url: &str) -> Item {
    let link = words(item, "url").or_else(|| words(item, "external_url"));
    let html = words(item, "content_html").map(|text| Markup { text, kind: Kind::Html, base: None });
    Item {
        link: link.map(|link| address::join(url, &link)),
        id: words(item, "id"),
        id_is_link: true,
        title: words(item, "title").map(Markup::plain),
        published: words(item, "date_published"),
        updated: words(item, "date_modified"),
        authors: authors(item),
        categories: strings(item.get("tags")),
        summary: words(item, "summary").map(Markup::plain),
        content: html.or_else(|| words(item, "content_text").map(Markup::plain)),
        files: list(item.get("attachments")).iter().filter_map(|file| read_file(file, url)).collect(),
        ..Item::default()
    }
}

/// `authors` of 1.1, `author` of 1.0.
fn authors(item: &Value) -> Vec<String> {
    let many =
        list(item.get("authors")).iter().filter_map(|author| words(author, "name")).collect::<Vec<_>>();
    match many.is_empty() {
        true => item.get("author").and_then(|author| words(author, "name")).into_iter().collect(),
        false => many,
    }
}

fn read_file(file: &Value, url: &str) -> Option<File> {
    Some(File {
        url: address::join(url, &words(file, "url")?),
        name: words(file, "title"),
        mime: words(file, "mime_type").unwrap_or_default().to_ascii_lowercase(),
    })
}

/// Words under a name; numbers count, as ids are often written so.
fn words(value: &Value, name: &str) -> Option<String> {
    let text = match value.get(name)? {
        Value::String(text) => text.trim().to_owned(),
        Value::Number(number) => number.to_string(),
        _ => return None,
    };
    (!text.is_empty()).then_some(text)
}

fn strings(value: Option<&Value>) -> Vec<String> {
    list(value).iter().filter_map(|text| text.as_str().map(|text| text.trim().to_owned())).collect()
}

fn list(value: Option<&Value>) -> &[Value] {
    let all = value.and_then(Value::as_array).map_or(&[][..], Vec::as_slice);
    &all[..all.len().min(MOST_PARTS)]
}
