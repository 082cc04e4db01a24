//! The JSON of one list page: its rows and what it says of their number, in the shapes that were seen and in the one
//! that S2-23 describes (`result.data.list`).
//!
//! An answer without a list is a failure, never a list without rows.

use std::borrow::Cow;
use std::fmt;

use dibao_adapter::{Failure, Host, Reply};
use serde::Deserialize;
use serde::de::value::MapAccessDeserializer;
use serde::de::{Deserializer, Error, IgnoredAny, MapAccess, SeqAccess, Visitor};

use crate::row::Row;
use crate::scalar::Scalar;

/// Rows of one page that are read. Real pages have a hundred.
const MOST_ROWS: usize = 2_000;
/// Elements of its array, rows or not: reading over one takes a thousand instructions.
const MOST_ELEMENTS: usize = 500_000;

/// One page of a list.
#[derive(Debug, Default)]
pub struct Listing {
    /// Its rows; what is no object is left out.
    pub rows: Vec<Row>,
    /// How many the array had.
    pub len: u64,
    /// Rows of the whole column that can be listed.
    pub total: Option<u64>,
    /// Rows before this page.
    pub offset: Option<u64>,
    /// The column's own counter, which may be larger.
    pub post_count: Option<u64>,
}

/// Reads an answer.
pub fn read(host: &impl Host, reply: &Reply) -> Result<Listing, Failure> {
    let text = text(host, reply);
    let text = unpadded(text.trim_start_matches('\u{feff}').trim());
    let mut read: Result<Nested, _> = serde_json::from_str(text);
    if text.starts_with('"')
        && let Ok(inner) = serde_json::from_str::<String>(text)
    {
        // Encoded twice.
        read = serde_json::from_str(&inner);
    }
    let read = read.map_err(|error| {
        let begin: String = text.chars().take(60).collect();
        Failure::Shape(format!("{} is not the JSON of a list ({error}); it begins {begin:?}", reply.url))
    })?;
    read.listing()
        .ok_or_else(|| Failure::Shape(format!("{} has neither `articles` nor `result.data.list`", reply.url)))
}

/// The JSON inside of `callback(…);`, which the province's search answers with.
fn unpadded(text: &str) -> &str {
    let Some((name, rest)) = text.split_once('(') else { return text };
    let is_name = |c: char| c.is_ascii_alphanumeric() || matches!(c, '_' | '$' | '.');
    let name = name.trim().trim_start_matches("/**/");
    let inside = rest.trim_end().trim_end_matches(';').trim_end().strip_suffix(')');
    match inside {
        Some(inside) if !name.is_empty() && name.chars().all(is_name) => inside.trim(),
        _ => text,
    }
}

/// An answer as text. These sites write UTF-8; what is not is left to the host.
pub fn text<'a>(host: &impl Host, reply: &'a Reply) -> Cow<'a, str> {
    match std::str::from_utf8(&reply.body) {
        Ok(text) => Cow::Borrowed(text),
        Err(_) => {
            let kind = reply.headers.iter().find(|(name, _)| name == "content-type");
            Cow::Owned(host.decode(&reply.body, kind.map(|(_, value)| value.as_str())))
        }
    }
}

/// The object around the rows, or one around that.
#[derive(Debug, Default, Deserialize)]
#[serde(default)]
struct Envelope {
    #[serde(deserialize_with = "crate::lax::object")]
    classify: Option<Classify>,
    total: Scalar,
    count: Scalar,
    offset: Scalar,
    articles: Rows,
    list: Rows,
    results: Rows,
    data: Nested,
    result: Nested,
    news: Nested,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
struct Classify {
    post_count: Scalar,
}

impl Envelope {
    fn listing(self) -> Option<Listing> {
        let inner = match [self.articles, self.list, self.results].into_iter().find_map(|rows| rows.0) {
            Some(rows) => rows.listing(),
            None => [self.data, self.result, self.news].into_iter().find_map(Nested::listing)?,
        };
        Some(Listing {
            total: inner.total.or(self.total.natural()).or(self.count.natural()),
            offset: inner.offset.or(self.offset.natural()),
            post_count: inner.post_count.or(self.classify.and_then(|column| column.post_count.natural())),
            ..inner
        })
    }
}

/// The array of rows, or what PHP makes of an array with gaps: an object with numbers for keys. None: no list.
#[derive(Debug, Default)]
struct Rows(Option<Array>);

#[derive(Debug, Default)]
struct Array {
    rows: Vec<Row>,
    len: u64,
}

impl Array {
    fn push(&mut self, row: Option<Row>) {
        self.len += 1;
        self.rows.extend(row);
    }

    fn listing(self) -> Listing {
        Listing { rows: self.rows, len: self.len, ..Listing::default() }
    }
}

/// An object is a row; nothing else is.
struct Maybe(Option<Row>);

impl<'de> Deserialize<'de> for Maybe {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Maybe, D::Error> {
        crate::lax::object(deserializer).map(Maybe)
    }
}

impl<'de> Deserialize<'de> for Rows {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Rows, D::Error> {
        match deserializer.deserialize_any(Any { as_rows: true })? {
            Nested::Rows(rows) => Ok(rows),
            _ => Ok(Rows(None)),
        }
    }
}

/// What is under `data` or `result`, or the whole answer.
#[derive(Debug, Default)]
enum Nested {
    #[default]
    Nothing,
    Rows(Rows),
    Envelope(Box<Envelope>),
}

impl Nested {
    fn listing(self) -> Option<Listing> {
        match self {
            Nested::Nothing => None,
            Nested::Rows(rows) => rows.0.map(Array::listing),
            Nested::Envelope(envelope) => envelope.listing(),
        }
    }
}

impl<'de> Deserialize<'de> for Nested {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Nested, D::Error> {
        deserializer.deserialize_any(Any { as_rows: false })
    }
}

struct Any {
    /// An object is rows by number, not an envelope.
    as_rows: bool,
}

impl<'de> Visitor<'de> for Any {
    type Value = Nested;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("anything")
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut items: A) -> Result<Nested, A::Error> {
        let mut array = Array::default();
        let mut left = MOST_ELEMENTS;
        while array.rows.len() < MOST_ROWS
            && let Some(Maybe(row)) = items.next_element()?
        {
            array.push(row);
            left =
                left.checked_sub(1).ok_or_else(|| A::Error::custom("it has more elements than any list"))?;
        }
        while items.next_element::<IgnoredAny>()?.is_some() {
            left =
                left.checked_sub(1).ok_or_else(|| A::Error::custom("it has more elements than any list"))?;
        }
        Ok(Nested::Rows(Rows(Some(array))))
    }

    fn visit_map<A: MapAccess<'de>>(self, mut pairs: A) -> Result<Nested, A::Error> {
        if !self.as_rows {
            let envelope = Envelope::deserialize(MapAccessDeserializer::new(pairs))?;
            return Ok(Nested::Envelope(Box::new(envelope)));
        }
        let mut array = Some(Array::default());
        while let Some(key) = pairs.next_key::<Cow<'_, str>>()? {
            let numbered = key.bytes().all(|byte| byte.is_ascii_digit());
            match array.as_mut().filter(|array| numbered && array.rows.len() < MOST_ROWS) {
                Some(array) => array.push(pairs.next_value::<Maybe>()?.0),
                None => {
                    pairs.next_value::<IgnoredAny>()?;
                    // Other keys: an object that is no list.
                    array = array.filter(|_| numbered);
                }
            }
        }
        Ok(Nested::Rows(Rows(array)))
    }

    fn visit_unit<E>(self) -> Result<Nested, E> {
        // `"articles": null` is a list without rows; `"data": null` is no list.
        Ok(if self.as_rows { Nested::Rows(Rows(Some(Array::default()))) } else { Nested::Nothing })
    }

    fn visit_bool<E>(self, _: bool) -> Result<Nested, E> {
        Ok(Nested::Nothing)
    }

    fn visit_i64<E>(self, _: i64) -> Result<Nested, E> {
        Ok(Nested::Nothing)
    }

    fn visit_u64<E>(self, _: u64) -> Result<Nested, E> {
        Ok(Nested::Nothing)
    }

    fn visit_f64<E>(self, _: f64) -> Result<Nested, E> {
        Ok(Nested::Nothing)
    }

    fn visit_str<E>(self, _: &str) -> Result<Nested, E> {
        Ok(Nested::Nothing)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Rows, length of the array, total, offset, counter.
    type Read = (usize, u64, Option<u64>, Option<u64>, Option<u64>);

    fn read(json: &str) -> Option<Read> {
        let listing = serde_json::from_str::<Nested>(json).expect(json).listing()?;
        Some((listing.rows.len(), listing.len, listing.total, listing.offset, listing.post_count))
    }

    #[test]
    fn every_shape_of_a_list_is_read_and_nothing_else_is_one() {
        for (json, due) in [
            (
                r#"{"classify":{"post_count":"203"},"total":188,"offset":100,"articles":[{"id":1},{"id":2}]}"#,
                Some((2, 2, Some(188), Some(100), Some(203))),
            ),
            (r#"{"articles":[],"total":"0"}"#, Some((0, 0, Some(0), None, None))),
            (r#"{"articles":null}"#, Some((0, 0, None, None, None))),
            (r#"{"articles":{"0":{"id":1},"7":{"id":2}},"classify":[]}"#, Some((2, 2, None, None, None))),
            (
                r#"{"code":0,"result":{"data":{"list":[{"id":1}],"total":45}}}"#,
                Some((1, 1, Some(45), None, None)),
            ),
            (r#"{"result":{"data":{"list":[{"id":1}]},"total":7}}"#, Some((1, 1, Some(7), None, None))),
            (r#"{"data":[{"id":1}],"count":3}"#, Some((1, 1, Some(3), None, None))),
            (r#"{"data":{"news":{"list":[{"id":1}],"total":"9"}}}"#, Some((1, 1, Some(9), None, None))),
            (r#"[{"id":1},null,7,"x",[{}]]"#, Some((1, 5, None, None, None))),
            (r#"{"code":500,"msg":"error","data":null}"#, None),
            (r#"{"articles":{"error":"x","0":{"id":1}}}"#, None),
            (r#"{"articles":"none"}"#, None),
            ("7", None),
            ("\"x\"", None),
        ] {
            assert_eq!(read(json), due, "{json}");
        }
    }

    #[test]
    fn padding_is_a_name_and_brackets_around_everything() {
        for (text, inside) in [
            ("cb({\"count\":1});", "{\"count\":1}"),
            ("/**/jQuery1_2.cb( [1] ) ;", "[1]"),
            ("{\"title\":\"f(x)\"}", "{\"title\":\"f(x)\"}"),
            ("cb({}", "cb({}"),
            ("(1)", "(1)"),
        ] {
            assert_eq!(unpadded(text), inside);
        }
    }

    #[test]
    fn a_list_without_end_is_read_in_part() {
        let json = format!("[{}{{}}]", "{\"id\":1},".repeat(5_000));
        assert_eq!(read(&json).map(|listing| listing.0), Some(MOST_ROWS));
    }
}
