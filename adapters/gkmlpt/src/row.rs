//! One row of a list, and what it says of its document. The script of a document's page has the same keys.
//!
//! The platform sends thirty keys and more; those named here are read, all others are read over.

use dibao_adapter::{Entry, Host, HtmlPage};
use serde::Deserialize;

use crate::files::Files;
use crate::place::{Root, post_address};
use crate::scalar::Scalar;
use crate::{civil, fit};

/// Files of a row that are handed on with its entry, which has room for 64 values. A page shows its files itself.
const FILES_HANDED_ON: usize = 32;
/// The name of an entry's value that holds a file: the adapter's own, not stored.
const FILE: &str = "_file";

/// A row as the site sends it, by the site's own keys.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(default)]
pub struct Row {
    pub id: Scalar,
    #[serde(rename = "type")]
    pub kind: Scalar,
    pub title: Scalar,
    pub url: Scalar,
    pub post_url: Scalar,
    pub document_number: Scalar,
    pub identifier: Scalar,
    pub publisher: Scalar,
    pub keywords: Scalar,
    #[serde(rename = "abstract")]
    pub summary: Scalar,
    pub date: Scalar,
    pub create_time: Scalar,
    pub display_publish_time: Scalar,
    pub first_publish_time: Scalar,
    pub publish_time: Scalar,
    pub pub_time: Scalar,
    pub created_at: Scalar,
    pub classify_main_name: Scalar,
    pub classify_genre_name: Scalar,
    pub classify_theme_name: Scalar,
    pub is_expired: Scalar,
    pub is_abolished: Scalar,
    pub content: Scalar,
    pub attachment: Files,
    pub attachments: Files,
}

/// What holds for all rows of a list.
pub struct Around<'a> {
    /// Where the site is.
    pub root: &'a Root,
    /// The clock.
    pub now: u64,
    /// The column's path in the tree, when the tree was read.
    pub channel_path: Option<&'a str>,
    /// Rows never end a run: more columns come after this one.
    pub pinned: bool,
}

impl Row {
    /// Whether the row leads out of the platform: 公众号, 新华社, … It has no page of its own.
    pub fn is_link(&self) -> bool {
        self.kind.text().is_some_and(|kind| kind.eq_ignore_ascii_case("url"))
    }

    /// What is known of the document besides its title and time, by the names of the store, with the site's key.
    pub fn fields(&self) -> Vec<(&'static str, String, &'static str)> {
        let mut fields = Vec::new();
        let mut add = |name, value: Option<String>, key| {
            fields.extend(value.map(|value| (name, fit::value(value), key)));
        };
        add("doc_no", self.document_number.text(), "document_number");
        add("index_no", self.identifier.text(), "identifier");
        add("publisher", self.publisher.text(), "publisher");
        add("topic_words", self.keywords.text(), "keywords");
        add("channel_name", self.classify_main_name.text(), "classify_main_name");
        let (theme, genre) = (self.classify_theme_name.text(), self.classify_genre_name.text());
        add("open_category", category(theme.as_deref(), genre.as_deref()), "classify_theme_name");
        add("theme", theme, "classify_theme_name");
        add("genre", genre, "classify_genre_name");
        add("abstract", self.summary.text(), "abstract");
        // 废止 says more than 失效.
        let validity =
            [(&self.is_abolished, "废止", "is_abolished"), (&self.is_expired, "失效", "is_expired")];
        if let Some((_, word, key)) = validity.into_iter().find(|(flag, ..)| flag.is_set()) {
            add("validity", Some(word.to_owned()), key);
        }
        fields
    }

    /// The row as an entry; none when it has neither address nor number.
    pub fn entry(self, host: &impl Host, around: &Around<'_>) -> Option<Entry> {
        let id = self.id.text();
        let address = |scalar: &Scalar| scalar.text().and_then(|url| fit::link(&url));
        let (own, other) = (address(&self.url), address(&self.post_url));
        let built = || self.id.natural().map(|id| post_address(around.root, id));
        let is_link = self.is_link();
        // The platform's own page has the most; one on a foreign host could not be asked for at all.
        let (own, other) = match (&own, &other) {
            (Some(here), Some(there)) if !is_link && !around.root.has(here) && around.root.has(there) => {
                (other, own)
            }
            _ => (own, other),
        };
        let url = own.or_else(|| other.clone()).or_else(|| built().filter(|_| !is_link))?;
        let mut fields: Vec<(String, String)> =
            self.fields().into_iter().map(|(name, value, _)| (name.to_owned(), value)).collect();
        let mut add = |name: &str, value: String| fields.push((name.to_owned(), value));
        if let Some(path) = around.channel_path.filter(|path| !path.is_empty()) {
            add("channel_path", path.to_owned());
        }
        if let Some(written) = civil::written(&self, around.now) {
            add("written_date", written);
        }
        if is_link {
            add("entry_type", "url".to_owned());
        }
        if let Some(other) = other.filter(|other| *other != url) {
            add("post_url", other);
        }
        let mut files = self.attachment.clone();
        files.extend(self.attachments.clone());
        for file in files.iter().take(FILES_HANDED_ON) {
            add(FILE, format!("{} {}", file.url, file.name.as_deref().unwrap_or_default()));
        }
        Some(Entry {
            title: self.title.text().map(|title| fit::value(plain(host, title))).unwrap_or_default(),
            published: civil::published(&self, around.now).map(|(time, _)| fit::value(time)),
            native_id: id.map(fit::name),
            pinned: around.pinned,
            fields,
            url,
        })
    }
}

/// The files that [`Row::entry`] handed on.
pub fn handed_files(entry: &Entry) -> Files {
    let mut files = Files::default();
    for (_, value) in entry.fields.iter().filter(|(name, _)| name == FILE) {
        let (url, name) = value.split_once(' ').unwrap_or((value, ""));
        files.add(url, Some(name.to_owned()));
    }
    files
}

/// A value that [`Row::entry`] put into an entry.
pub fn handed<'a>(entry: &'a Entry, name: &str) -> Option<&'a str> {
    entry.fields.iter().find(|(known, _)| known == name).map(|(_, value)| value.as_str())
}

/// 分类 as the public table shows it: theme, then genre.
fn category(theme: Option<&str>, genre: Option<&str>) -> Option<String> {
    let parts: Vec<&str> = theme.into_iter().chain(genre).collect();
    (!parts.is_empty()).then(|| parts.join("、"))
}

/// Titles may hold markup: `<em>` from searches, entities from editors.
pub fn plain(host: &impl Host, text: String) -> String {
    if !text.contains(['<', '&']) {
        return text;
    }
    match host.text(&HtmlPage::Text(text.clone())) {
        Ok(plain) if !plain.trim().is_empty() => plain.split_whitespace().collect::<Vec<_>>().join(" "),
        _ => text,
    }
}
