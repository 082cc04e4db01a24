//! What a feed says, whatever it is written in.

/// A feed, or one page of it.
#[derive(Debug, Default)]
pub struct Feed {
    pub items: Vec<Item>,
    /// Where the next (older) page is: RFC 5005, or `next_url` of a JSON Feed.
    pub next: Option<String>,
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
}

/// Words, and whether they are HTML.
#[derive(Clone, Debug)]
pub struct Markup {
    pub text: String,
    pub kind: Kind,
    /// What relative links in it are relative to, where the feed says so.
    pub base: Option<String>,
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
