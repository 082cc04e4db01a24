//! A post before any template: its number, time, words and files. A pure function of (seed, host, number);
//! published posts bring their own title and time. Does not know its address: families build those.

use chrono::{Datelike, NaiveDate, NaiveDateTime, TimeDelta};

use crate::files::{self, Attachment};
use crate::seed::Chance;
use crate::text;

/// Seeded posts are this far apart: about fifteen a day, so a page of a date-only list spans two days,
/// and 100,000 posts reach back to 2007, as real archives do.
const SPACING_MINUTES: i64 = 97;

/// The newest seeded post of every site, China time.
pub(crate) fn newest() -> NaiveDateTime {
    NaiveDate::from_ymd_opt(2026, 4, 10).and_then(|day| day.and_hms_opt(9, 38, 30)).unwrap_or_default()
}

/// What a list shows of a post, cheap to make.
#[derive(Debug, Clone)]
pub(crate) struct Head {
    /// The number in its address; greater is newer.
    pub(crate) id: u64,
    /// Index of the column it lives in.
    pub(crate) column: usize,
    pub(crate) title: String,
    /// China time.
    pub(crate) at: NaiveDateTime,
    pub(crate) source: String,
    /// Set for a published post that brought its own text.
    pub(crate) paragraphs: Vec<String>,
    /// Files of a published post; seeded posts derive theirs from the number.
    files: Option<Vec<Attachment>>,
}

/// A post to put at the top of a column.
#[derive(Debug, Clone, Default, serde::Serialize, serde::Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct NewPost {
    /// Its full title; a seeded one when empty.
    pub title: String,
    /// China time `YYYY-MM-DD HH:MM:SS`; a few minutes after the post before it when absent.
    pub published: Option<String>,
    /// Its text; seeded paragraphs when empty.
    pub paragraphs: Vec<String>,
    /// How many seeded attachments it carries (at most 4).
    pub attachments: usize,
}

/// Where a published post can be found.
#[derive(Debug, Clone, serde::Serialize, serde::Deserialize)]
pub struct Published {
    /// The number in its address.
    pub id: u64,
    /// Its page, `https://…`.
    pub url: String,
    /// Its title as served.
    pub title: String,
}

/// Publication time of the seeded post with this index (0 = newest): strictly falling.
pub(crate) fn time_of(seed: u64, host: &str, index: u64) -> NaiveDateTime {
    if index == 0 {
        return newest();
    }
    let mut chance = Chance::new(seed, host, "time", index);
    let early = TimeDelta::minutes(chance.below(40) as i64) + TimeDelta::seconds(chance.below(60) as i64);
    newest() - TimeDelta::minutes(SPACING_MINUTES * index as i64) - early
}

/// The seeded post with this index.
pub(crate) fn seeded(seed: u64, host: &str, index: u64, id: u64, column: usize) -> Head {
    let at = time_of(seed, host, index);
    let mut chance = Chance::new(seed, host, "head", index);
    Head {
        id,
        column,
        title: text::title(&mut chance, at.year(), id % 1_000_000),
        at,
        source: text::source(&mut chance).to_owned(),
        paragraphs: Vec::new(),
        files: None,
    }
}

/// A published post as the lists show it.
pub(crate) fn published(
    seed: u64,
    host: &str,
    id: u64,
    column: usize,
    at: NaiveDateTime,
    new: NewPost,
) -> Head {
    let mut chance = Chance::new(seed, host, "published", id);
    let drawn = text::title(&mut chance, at.year(), id % 1_000_000);
    let title = if new.title.is_empty() { drawn } else { new.title };
    let files =
        (0..new.attachments.min(4)).map(|ordinal| files::of_post(seed, host, id, ordinal, ordinal % 2 == 1));
    Head {
        id,
        column,
        title,
        at,
        source: "本网".to_owned(),
        paragraphs: new.paragraphs,
        files: Some(files.collect()),
    }
}

impl Head {
    /// Its files. One post in five has one, one in ten a second one; one in twenty carries the file that
    /// others carry too, under an address of its own.
    pub(crate) fn files(&self, seed: u64, host: &str) -> Vec<Attachment> {
        if let Some(files) = &self.files {
            return files.clone();
        }
        let mut found = Vec::new();
        if self.id % 5 == 1 {
            found.push(files::of_post(seed, host, self.id, found.len(), false));
        }
        if self.id % 10 == 1 {
            found.push(files::of_post(seed, host, self.id, found.len(), true));
        }
        if self.id % 20 == 1 || self.id % 20 == 19 {
            found.push(files::common(seed, host, found.len()));
        }
        found
    }

    /// Its paragraphs as `<p>` elements, about `bytes` long in UTF-8 unless it brought its own text.
    pub(crate) fn body(&self, seed: u64, host: &str, bytes: usize) -> String {
        let mut html = String::with_capacity(bytes + 2048);
        if !self.paragraphs.is_empty() {
            for paragraph in &self.paragraphs {
                html.push_str("<p>");
                html.push_str(&text::escape(paragraph));
                html.push_str("</p>\n");
            }
            return html;
        }
        let mut chance = Chance::new(seed, host, "body", self.id);
        html.push_str("<p style=\"text-align:center\"><strong>");
        html.push_str(&text::escape(&self.title));
        html.push_str("</strong></p>\n");
        let mut count = 0;
        while html.len() < bytes || count < 2 {
            html.push_str("<p style=\"text-indent: 2em; line-height: 1.75em;\">");
            text::paragraph(&mut chance, &mut html);
            html.push_str("</p>\n");
            count += 1;
        }
        html
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn publication_times_fall_strictly_with_the_index() {
        for index in 0..2_000 {
            assert!(time_of(3, "www.gov.cn", index) > time_of(3, "www.gov.cn", index + 1), "{index}");
        }
        assert!(time_of(3, "www.gov.cn", 100_000).year() >= 2007);
    }

    #[test]
    fn a_post_is_a_pure_function_of_seed_host_and_number() {
        let post = |seed, host| {
            let head = seeded(seed, host, 5, 1_399_996, 0);
            (head.title.clone(), head.at, head.body(seed, host, 9_000))
        };
        assert_eq!(post(1, "a"), post(1, "a"));
        assert_ne!(post(1, "a").2, post(2, "a").2);
        assert_ne!(post(1, "a").2, post(1, "b").2);
    }
}
