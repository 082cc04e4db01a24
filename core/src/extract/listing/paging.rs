//! Where the second page of a list is: the link that says so, or the script that draws it.

use scraper::ElementRef;
use url::Url;

use crate::config::{Pagination, PaginationKind};

/// Pages of a list when nothing tells how many there are.
const USUAL: u32 = 30;
/// More are never proposed.
const MOST: u32 = 500;

pub(super) fn find(root: ElementRef<'_>, base: &Url, links: &[(Url, String)]) -> Option<Pagination> {
    let says_next = |words: &str| {
        let words: String = words.chars().filter(|c| !c.is_whitespace()).collect();
        ["下一页", "下页", "后一页", "下一頁", "next", "Next", "NEXT", ">", "›", "»", "Next>", "下一页>"]
            .contains(&words.as_str())
    };
    let second = |words: &str| words.trim().trim_matches(['[', ']']) == "2";
    let next = links
        .iter()
        .find(|(_, words)| says_next(words))
        .or_else(|| links.iter().find(|(_, words)| second(words)));
    let known = pages_of(links);
    next.and_then(|(url, _)| by_link(base, url))
        .map(|found| Pagination { max_pages: Some(known.unwrap_or(USUAL)), ..found })
        .or_else(|| by_script(root))
}

/// How the address of the second page differs from that of the first.
fn by_link(first: &Url, second: &Url) -> Option<Pagination> {
    if first.host_str() != second.host_str() || first.as_str() == second.as_str() {
        return None;
    }
    if first.path() == second.path() {
        let known: Vec<_> = first.query_pairs().collect();
        let (param, value) = second.query_pairs().find(|pair| !known.contains(pair))?;
        let start: u32 = value.parse().ok().filter(|start| *start <= 2)?;
        return Some(Pagination {
            kind: PaginationKind::PageParam,
            param: Some(param.into_owned()),
            start: (start != 2).then_some(start),
            ..Pagination::default()
        });
    }
    let (folder, name) = second.path().rsplit_once('/')?;
    let (first_folder, _) = first.path().rsplit_once('/')?;
    // The last number of the name counts the pages; it is 2 or, where the first is 0, 1.
    let end = name.rfind(|c: char| c.is_ascii_digit())? + 1;
    let begin = name[..end].rfind(|c: char| !c.is_ascii_digit()).map_or(0, |at| at + 1);
    let start: u32 = name[begin..end].parse().ok().filter(|start| (1..=2).contains(start))?;
    let mut pattern = format!("{}{{page}}{}", &name[..begin], &name[end..]);
    if let Some(query) = second.query() {
        pattern = format!("{pattern}?{query}");
    }
    if folder != first_folder {
        pattern = format!("{folder}/{pattern}");
    }
    Some(Pagination {
        kind: PaginationKind::PathPattern,
        pattern: Some(pattern),
        start: (start != 2).then_some(start),
        ..Pagination::default()
    })
}

/// `createPageHTML(12, 0, "index", "html")`: TRS draws its pages by a script.
fn by_script(root: ElementRef<'_>) -> Option<Pagination> {
    let scripts =
        root.descendants().filter_map(ElementRef::wrap).filter(|element| element.value().name() == "script");
    for script in scripts {
        let text: String = script.text().collect();
        for (at, name) in text.match_indices("createPageHTML(") {
            let Some(inside) = text[at + name.len()..].split(')').next() else { continue };
            let parts: Vec<&str> =
                inside.split(',').map(|part| part.trim().trim_matches(['"', '\''])).collect();
            let [pages, current, name, ending, ..] = parts.as_slice() else { continue };
            let (Ok(pages), Ok(0)) = (pages.parse::<u32>(), current.parse::<u32>()) else { continue };
            let plain = |text: &str| {
                !text.is_empty()
                    && text.len() <= 60
                    && text.chars().all(|c| c.is_ascii_alphanumeric() || c == '_' || c == '-')
            };
            if pages > 1 && plain(name) && plain(ending) {
                return Some(Pagination {
                    kind: PaginationKind::PathPattern,
                    pattern: Some(format!("{name}_{{page}}.{ending}")),
                    start: Some(1),
                    max_pages: Some(pages.min(MOST)),
                    ..Pagination::default()
                });
            }
        }
    }
    None
}

/// The largest number that a link to a page shows.
fn pages_of(links: &[(Url, String)]) -> Option<u32> {
    let numbers = links.iter().filter_map(|(_, words)| words.trim().parse::<u32>().ok());
    numbers.filter(|number| (2..=MOST).contains(number)).max()
}
