//! What a feed says, whatever it is written in.

use std::rc::Rc;

/// A feed, or one page of it.
#[derive(Debug, Default)]
pub struct Feed {
    pub items: Vec<Item>,
    /// Where the next (older) page is: RFC 5005, or `next_url` of a JSON Feed.
    pub next: Option<String>,
    /// The page that it is the feed of.
    pub home: Option<String>,
    /// Why it could not be read to its end.
    pub broken: Option<String>,
}

/// An entry. Addresses are whole.
#[derive(Debug, Default)]
pub struct Item {
    pub link: Option<String>,
    /// The same as something else than a page.
    pub other_link: Option<String>,
    /// `guid`, `id`, `rdf:about`.
    pub id: Option<String>,
    /// Whether the id may be its address.
    pub id_is_link: bool,
    pub title: Option<Markup>,
    /// From vocabularies for sound and film, which may be about one file only.
    pub other_title: Option<Markup>,
    pub published: Option<String>,
    pub updated: Option<String>,
    pub authors: Vec<String>,
    pub categories: Vec<String>,
    pub summary: Option<Markup>,
    /// The same from such a vocabulary.
    pub other_summary: Option<Markup>,
    /// What is said to be the whole text.
    pub content: Option<Markup>,
    pub files: Vec<File>,
    /// The feed or paper it was taken from.
    pub source: Option<String>,
    pub publisher: Option<String>,
    /// Hashes of what its lists hold: a hundred long texts that differ in their last letter are slow to compare.
    pub seen: Vec<u32>,
}

/// Files, authors and categories of one entry.
const MOST_PARTS: usize = 100;

impl Item {
    /// Another file, unless it is known or there are many.
    pub fn add_file(&mut self, file: File) {
        if self.files.len() < MOST_PARTS && self.is_new(1, &file.url) {
            self.files.push(file);
        }
    }

    pub fn add_author(&mut self, name: &str) {
        let name = name.trim();
        if !name.is_empty() && self.authors.len() < MOST_PARTS && self.is_new(2, name) {
            self.authors.push(name.to_owned());
        }
    }

    pub fn add_category(&mut self, name: &str) {
        let name = name.trim();
        if !name.is_empty() && self.categories.len() < MOST_PARTS && self.is_new(3, name) {
            self.categories.push(name.to_owned());
        }
    }

    fn is_new(&mut self, kind: u32, text: &str) -> bool {
        let hash = hash(SEED ^ kind, text);
        let new = !self.seen.contains(&hash);
        if new {
            self.seen.push(hash);
        }
        new
    }
}

/// Where hashes begin.
pub const SEED: u32 = 0x811c_9dc5;

/// FNV-1a: small, and the same everywhere.
pub fn hash(seed: u32, text: &str) -> u32 {
    text.bytes().fold(seed, |hash, byte| (hash ^ u32::from(byte)).wrapping_mul(0x0100_0193))
}

/// Words, and whether they are HTML.
#[derive(Clone, Debug)]
pub struct Markup {
    pub text: String,
    pub kind: Kind,
    /// What relative links in it are relative to, where the feed says so.
    pub base: Option<Rc<str>>,
}

/// Whether words are HTML.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    Plain,
    Html,
    /// RSS does not say.
    Either,
}

/// A file of an entry.
#[derive(Debug)]
pub struct File {
    pub url: String,
    pub name: Option<String>,
    /// Its type, in lower case.
    pub mime: String,
}

impl Markup {
    /// Words that are not HTML.
    pub fn plain(text: String) -> Markup {
        Markup { text, kind: Kind::Plain, base: None }
    }
}
