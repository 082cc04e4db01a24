//! JSON as sites send it: numbers as strings and strings as numbers, `null` for anything, the whole document as a string
//! inside a string, keys that nobody told us of.
//!
//! A value of the wrong kind counts as absent; what that means is decided by who reads it. The number of values is
//! bounded, because the guest's memory is: eight megabytes of `[[],[],…` must end as a failure, not as a trap.

use std::cell::Cell;
use std::fmt;

use crate::{Failure, Host, Reply};
use serde::de::{DeserializeSeed, Deserializer, Error, MapAccess, SeqAccess, Visitor};

/// Values of one answer: a grouped page of 400 rows has some ten thousand, the largest feeds twice that.
const MOST_VALUES: usize = 200_000;

/// A value of an answer.
#[derive(Clone, Debug, PartialEq)]
pub enum Node {
    /// `null`, a truth value, or nothing at all.
    Nothing,
    /// A whole number.
    Number(i64),
    /// Words.
    Text(String),
    /// An array.
    List(Vec<Node>),
    /// An object, in its own order.
    Object(Vec<(String, Node)>),
}

impl Node {
    /// The value behind a name.
    pub fn at(&self, name: &str) -> &Node {
        let entry = match self {
            // Of two the last counts, as in JavaScript.
            Node::Object(entries) => entries.iter().rev().find(|(known, _)| known == name),
            _ => None,
        };
        entry.map_or(&Node::Nothing, |(_, value)| value)
    }

    /// Words, from a string or a number; trimmed, and none when nothing is left.
    pub fn text(&self) -> Option<String> {
        match self {
            Node::Number(number) => Some(number.to_string()),
            Node::Text(text) => {
                let text = text.trim_matches(|c: char| c.is_whitespace() || c.is_control());
                // The contract has no NUL in any value; `\u0000` in JSON is one.
                (!text.is_empty()).then(|| text.replace('\0', ""))
            }
            _ => None,
        }
    }

    /// A whole number, from a number or a string.
    pub fn number(&self) -> Option<i64> {
        match self {
            Node::Number(number) => Some(*number),
            Node::Text(text) => text.trim().parse().ok(),
            _ => None,
        }
    }

    /// The elements of an array.
    pub fn list(&self) -> Option<&[Node]> {
        match self {
            Node::List(items) => Some(items),
            _ => None,
        }
    }

    /// The entries of an object.
    pub fn entries(&self) -> Option<&[(String, Node)]> {
        match self {
            Node::Object(entries) => Some(entries),
            _ => None,
        }
    }
}

/// Reads an answer. One that is a JSON string is read again, because some gateways encode twice.
pub fn read(host: &impl Host, reply: &Reply) -> Result<Node, Failure> {
    let content_type =
        reply.headers.iter().find(|(name, _)| name == "content-type").map(|(_, value)| value.as_str());
    let text = host.decode(&reply.body, content_type);
    let not_json = |error: serde_json::Error| Failure::Shape(format!("{} is not JSON: {error}", reply.url));
    match parse(&text).map_err(not_json)? {
        Node::Text(inner) => parse(&inner).map_err(not_json),
        node => Ok(node),
    }
}

/// Reads a text.
pub fn parse(text: &str) -> Result<Node, serde_json::Error> {
    let left = Cell::new(MOST_VALUES);
    let mut json = serde_json::Deserializer::from_str(text.trim_start_matches('\u{feff}').trim());
    let node = Value(&left).deserialize(&mut json)?;
    json.end()?;
    Ok(node)
}

/// Reads one value; how many more there may be is counted down.
struct Value<'a>(&'a Cell<usize>);

impl<'de> DeserializeSeed<'de> for Value<'_> {
    type Value = Node;

    fn deserialize<D: Deserializer<'de>>(self, from: D) -> Result<Node, D::Error> {
        match self.0.get().checked_sub(1) {
            Some(left) => self.0.set(left),
            None => return Err(D::Error::custom(format!("it has more than {MOST_VALUES} values"))),
        }
        from.deserialize_any(self)
    }
}

impl<'de> Visitor<'de> for Value<'_> {
    type Value = Node;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("any JSON")
    }

    fn visit_str<E>(self, text: &str) -> Result<Node, E> {
        Ok(Node::Text(text.to_owned()))
    }

    fn visit_string<E>(self, text: String) -> Result<Node, E> {
        Ok(Node::Text(text))
    }

    fn visit_i64<E>(self, number: i64) -> Result<Node, E> {
        Ok(Node::Number(number))
    }

    fn visit_u64<E>(self, number: u64) -> Result<Node, E> {
        Ok(i64::try_from(number).map_or_else(|_| Node::Text(number.to_string()), Node::Number))
    }

    /// `1.7757504e12` is a number of milliseconds as well.
    fn visit_f64<E>(self, number: f64) -> Result<Node, E> {
        let whole = number.fract() == 0.0 && number.abs() < 9.0e15;
        Ok(if whole { Node::Number(number as i64) } else { Node::Nothing })
    }

    fn visit_bool<E>(self, _: bool) -> Result<Node, E> {
        Ok(Node::Nothing)
    }

    fn visit_unit<E>(self) -> Result<Node, E> {
        Ok(Node::Nothing)
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut seq: A) -> Result<Node, A::Error> {
        let mut items = Vec::new();
        while let Some(item) = seq.next_element_seed(Value(self.0))? {
            items.push(item);
        }
        Ok(Node::List(items))
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Node, A::Error> {
        let mut entries = Vec::new();
        while let Some(name) = map.next_key()? {
            entries.push((name, map.next_value_seed(Value(self.0))?));
        }
        Ok(Node::Object(entries))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_and_numbers_are_words_and_everything_else_is_absent() {
        for (json, expected) in [
            ("\" a b\\u0000 \"", Some("a b")),
            ("7", Some("7")),
            ("18446744073709551615", Some("18446744073709551615")),
            ("-7", Some("-7")),
            ("1.7757504e12", Some("1775750400000")),
            ("1.5", None),
            ("99999999999999999999", None),
            ("\"\\u3000\"", None),
            ("null", None),
            ("true", None),
            ("[1,{\"a\":[]}]", None),
            ("{\"a\":{\"b\":1}}", None),
        ] {
            assert_eq!(parse(json).unwrap().text().as_deref(), expected, "{json}");
        }
        assert_eq!(parse("\" 12 \"").unwrap().number(), Some(12));
    }

    #[test]
    fn objects_keep_their_order_and_what_is_not_there_is_nothing() {
        let node = parse("\u{feff} {\"b\":{\"id\":1},\"a\":[2]} ").unwrap();
        let names: Vec<_> = node.entries().unwrap().iter().map(|(name, _)| name.as_str()).collect();
        assert_eq!(names, ["b", "a"]);
        assert_eq!(node.at("b").at("id").number(), Some(1));
        assert_eq!(node.at("a").at("id").at("x"), &Node::Nothing);
        assert_eq!(parse("{\"a\":1,\"a\":2}").unwrap().at("a").number(), Some(2));
        assert!(parse("{} {}").is_err());
    }

    #[test]
    fn an_answer_of_too_many_values_is_refused_and_so_is_one_that_is_too_deep() {
        let many = |count: usize| format!("[{}0]", "0,".repeat(count - 1));
        assert!(parse(&many(MOST_VALUES - 1)).is_ok());
        assert!(parse(&many(MOST_VALUES)).unwrap_err().to_string().contains("more than"));
        assert!(parse(&"[".repeat(100_000)).is_err());
    }
}
