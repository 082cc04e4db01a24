//! Where the entries of a feed are. Most have a page; an episode of a podcast has a file, and some notices have nothing
//! but their words: those get an address that is made from what tells them apart, at the page that the feed is of. It names
//! the entry and is never asked for.

use std::fmt::Write;

use crate::address;
use crate::feed::{File, Item};

/// The parameter that makes an address one entry's own.
const MARK: &str = "feed-entry";

/// Where an entry is.
#[derive(Debug, PartialEq)]
pub enum Place {
    /// At a page.
    Page(String),
    /// At an address where there is nothing to read.
    Nowhere(String),
}

/// The place of each entry, in their order; none for an entry without a single word. `home` is the page that the feed is of, or the
/// feed itself.
pub fn all(items: &[Item], home: &str) -> Vec<Option<Place>> {
    let ids = twice(items.iter().filter_map(|item| item.id.as_deref()));
    let files = twice(items.iter().filter(|item| page(item).is_none()).filter_map(document));
    let place = |item: &Item| {
        if let Some(page) = page(item) {
            return Some(Place::Page(address::without_user(page)));
        }
        // What several have tells none of them.
        if let Some(file) = document(item).filter(|file| files.binary_search(file).is_err()) {
            return Some(Place::Nowhere(address::without_user(file)));
        }
        let id = item.id.as_deref().filter(|id| ids.binary_search(id).is_err());
        let name = match id {
            Some(id) => vec![id],
            None => words(item),
        };
        if name.is_empty() {
            return None;
        }
        Some(Place::Nowhere(made(home, &name)))
    };
    items.iter().map(place).collect()
}

/// What is said in an entry, where nothing names it. Its date is only asked where there are no words: some programs write
/// today's.
fn words(item: &Item) -> Vec<&str> {
    let texts = [&item.title, &item.other_title, &item.content, &item.summary, &item.other_summary];
    let words: Vec<&str> = texts.into_iter().flatten().map(|markup| markup.text.as_str()).collect();
    if !words.is_empty() {
        return words;
    }
    let values = [&item.id, &item.published, &item.updated, &item.publisher, &item.source];
    let lists = item.authors.iter().chain(&item.categories);
    values.into_iter().flatten().chain(lists).map(String::as_str).collect()
}

fn page(item: &Item) -> Option<&str> {
    let web = |link: &'_ Option<String>| link.as_deref().is_some_and(address::is_web);
    let id = if item.id_is_link { &item.id } else { &None };
    [&item.link, id, &item.other_link].into_iter().find(|link| web(link))?.as_deref()
}

/// The file that is the entry: not its picture.
fn document(item: &Item) -> Option<&str> {
    let picture = |file: &File| {
        let path = file.url.split(['?', '#']).next().unwrap_or_default().to_ascii_lowercase();
        file.mime.starts_with("image")
            || [".jpg", ".jpeg", ".png", ".gif", ".webp", ".svg"].iter().any(|end| path.ends_with(end))
    };
    let file = item.files.iter().find(|file| address::is_web(&file.url) && !picture(file))?;
    Some(&file.url)
}

/// Those that occur more than once, in order.
pub fn twice<'a>(all: impl Iterator<Item = &'a str>) -> Vec<&'a str> {
    let mut all: Vec<&str> = all.collect();
    all.sort_unstable();
    let mut shared: Vec<&str> =
        all.windows(2).filter(|pair| pair[0] == pair[1]).map(|pair| pair[0]).collect();
    shared.dedup();
    shared
}

/// The address of what is only a name.
fn made(home: &str, name: &[&str]) -> String {
    let home = home.split('#').next().unwrap_or(home);
    let mark = if home.contains('?') { '&' } else { '?' };
    let mut url = format!("{home}{mark}{MARK}=");
    // 64 bits of FNV-1a: small, the same everywhere, and enough for what one feed ever has.
    let bytes = name.iter().flat_map(|part| part.bytes().chain([0]));
    let hash = bytes.fold(0xcbf2_9ce4_8422_2325_u64, |hash, byte| {
        (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3)
    });
    let _ = write!(url, "{hash:016x}");
    url
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::feed::Markup;

    fn item(id: Option<&str>, text: &str, files: &[(&str, &str)]) -> Item {
        let file = |(url, mime): &(&str, &str)| File { url: (*url).into(), name: None, mime: (*mime).into() };
        Item {
            id: id.map(str::to_owned),
            summary: (!text.is_empty()).then(|| Markup::plain(text.to_owned())),
            files: files.iter().map(file).collect(),
            ..Item::default()
        }
    }

    fn places(items: &[Item]) -> Vec<Option<String>> {
        let url = |place| match place {
            Place::Page(url) | Place::Nowhere(url) => url,
        };
        all(items, "https://a.cn/?c=1#top").into_iter().map(|place| place.map(url)).collect()
    }

    #[test]
    fn an_entry_without_a_page_is_at_its_file_or_at_an_address_of_its_own() {
        let both = [("https://a.cn/1.jpg", ""), ("https://a.cn/1.mp3", "audio/mpeg")];
        let found = places(&[
            item(Some("urn:1"), "甲", &[]),
            item(None, "甲", &[]),
            item(None, "乙", &[]),
            item(Some("urn:2"), "丙", &both),
            item(None, "", &[]),
        ]);
        let [Some(by_id), Some(one), Some(two), Some(file), None] = &found[..] else { panic!("{found:?}") };
        assert_eq!(file, "https://a.cn/1.mp3");
        assert!(by_id.starts_with("https://a.cn/?c=1&feed-entry=") && by_id != one && one != two);
        // The same again, and whatever else the feed says of it.
        assert_eq!(places(&[item(Some("urn:1"), "改", &[])]), [Some(by_id.clone())]);
    }

    #[test]
    fn what_several_entries_have_is_no_address_of_one() {
        let jingle = [("https://a.cn/jingle.mp3", "")];
        let found = places(&[item(Some("0"), "甲", &jingle), item(Some("0"), "乙", &jingle)]);
        assert!(found[0].as_ref().is_some_and(|url| url.contains(MARK)) && found[0] != found[1], "{found:?}");
    }
}
