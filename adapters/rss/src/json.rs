//! JSON Feed 1.0 and 1.1.

use dibao_adapter::json::{Node, parse};

use crate::address::Room;
use crate::feed::{Feed, File, Item, Kind, Markup};

/// Entries of one feed that are read; the contract allows no more rows on a page.
const MOST_ITEMS: usize = 10_000;
/// Files, authors and tags of one entry.
const MOST_PARTS: usize = 100;

/// Reads a JSON Feed; relative addresses are relative to `url`. The error says what is missing.
pub fn read(text: &str, url: &str, room: &Room) -> Result<Feed, String> {
    let document = parse(text).map_err(|error| format!("not JSON: {error}"))?;
    let version = document.at("version").text().unwrap_or_default();
    let items = document.at("items").list();
    let Some(items) = items.filter(|_| version.contains("jsonfeed.org/version/")) else {
        return Err("JSON, but not a JSON Feed: `version` and `items` are what makes it one".to_owned());
    };
    let whole = |name| document.at(name).text().and_then(|link: String| room.join(url, &link));
    Ok(Feed {
        items: items.iter().take(MOST_ITEMS).map(|item| read_item(item, url, room)).collect(),
        next: whole("next_url"),
        home: whole("home_page_url"),
        broken: None,
    })
}

fn read_item(item: &Node, url: &str, room: &Room) -> Item {
    let words = |name| item.at(name).text();
    let link = words("url").or_else(|| words("external_url"));
    let html = words("content_html").map(|text| Markup { text, kind: Kind::Html, base: None });
    Item {
        link: link.and_then(|link| room.join(url, &link)),
        id: words("id"),
        id_is_link: true,
        title: words("title").map(Markup::plain),
        published: words("date_published"),
        updated: words("date_modified"),
        authors: authors(item),
        categories: list(item.at("tags")).iter().filter_map(Node::text).collect(),
        summary: words("summary").map(Markup::plain),
        content: html.or_else(|| words("content_text").map(Markup::plain)),
        files: list(item.at("attachments")).iter().filter_map(|file| read_file(file, url, room)).collect(),
        ..Item::default()
    }
}

/// `authors` of 1.1, `author` of 1.0.
fn authors(item: &Node) -> Vec<String> {
    let many: Vec<String> =
        list(item.at("authors")).iter().filter_map(|author| author.at("name").text()).collect();
    match many.is_empty() {
        true => item.at("author").at("name").text().into_iter().collect(),
        false => many,
    }
}

fn read_file(file: &Node, url: &str, room: &Room) -> Option<File> {
    Some(File {
        url: room.join(url, &file.at("url").text()?)?,
        name: file.at("title").text(),
        mime: file.at("mime_type").text().unwrap_or_default().to_ascii_lowercase(),
    })
}

fn list(node: &Node) -> &[Node] {
    let all = node.list().unwrap_or_default();
    &all[..all.len().min(MOST_PARTS)]
}
