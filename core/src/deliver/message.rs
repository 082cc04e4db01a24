//! What is to be said, before it has the form of a channel.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use crate::clock::Timestamp;
use crate::model::Article;

/// Characters of an article's text that go into its announcement.
const SUMMARY: usize = 200;

/// Something to be told. Channels render it with their templates; programs get its fields as they are.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Message {
    /// The same for every attempt to say this: whoever hears it twice can tell.
    pub key: String,
    /// `article`, `alert`, `recovered`, `test`, or a word of your own.
    pub event: String,
    /// When it came up.
    pub at: Timestamp,
    /// One line.
    pub title: String,
    /// The rest.
    pub text: String,
    /// Where there is more.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub url: Option<String>,
    /// Further values, by the names that templates use.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub fields: BTreeMap<String, String>,
}

impl Message {
    /// A message without further fields.
    pub fn new(
        key: impl Into<String>,
        event: impl Into<String>,
        title: impl Into<String>,
        at: Timestamp,
    ) -> Self {
        Message {
            key: key.into(),
            event: event.into(),
            at,
            title: title.into(),
            text: String::new(),
            url: None,
            fields: BTreeMap::new(),
        }
    }

    /// The announcement of an article.
    pub fn of_article(article: &Article, key: impl Into<String>) -> Message {
        let mut message = Message::new(key, "article", &article.title, article.fetched_at);
        message.text = summary(&article.content_text);
        message.url = Some(article.url.clone());
        let published = article.published.as_ref().map(|published| published.date.clone());
        let fields = [
            ("id", Some(article.id.to_string())),
            ("site", Some(article.site.clone())),
            ("target", Some(article.target.clone())),
            ("published", published),
            ("publisher", article.publisher.clone()),
            ("doc_no", article.doc_no.clone()),
            ("channel", article.channel_name.clone()),
            ("attachments", (!article.attachments.is_empty()).then(|| article.attachments.len().to_string())),
        ];
        message.fields =
            fields.into_iter().filter_map(|(name, value)| Some((name.to_owned(), value?))).collect();
        message
    }

    /// The value a template calls by this name; empty when there is none.
    pub fn value(&self, name: &str) -> &str {
        match name {
            "key" => &self.key,
            "event" => &self.event,
            "title" => &self.title,
            "text" => &self.text,
            "url" => self.url.as_deref().unwrap_or_default(),
            name => self.fields.get(name).map_or("", String::as_str),
        }
    }
}

/// The beginning of a text in one line.
fn summary(text: &str) -> String {
    let mut words = String::new();
    let mut length = 0;
    for word in text.split_whitespace() {
        if !words.is_empty() {
            words.push(' ');
            length += 1;
        }
        for character in word.chars() {
            if length == SUMMARY {
                words.push('…');
                return words;
            }
            words.push(character);
            length += 1;
        }
    }
    words
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_summary_is_one_line_and_says_that_it_was_cut() {
        assert_eq!(summary("  各地区：\n\n  现将  通知"), "各地区： 现将 通知");
        let long = summary(&"长".repeat(500));
        assert_eq!((long.chars().count(), long.ends_with('…')), (SUMMARY + 1, true));
    }
}
