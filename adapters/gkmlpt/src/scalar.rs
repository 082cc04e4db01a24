//! Single values as these sites write them: numbers as text, flags as 0, 1 or "1", and anything where nothing of the
//! kind should be.
//!
//! What is no single value is read over and becomes nothing: one odd key must not cost a list.

use std::fmt;

use serde::de::{Deserialize, Deserializer, IgnoredAny, MapAccess, SeqAccess, Visitor};

/// A single value, or nothing.
#[derive(Clone, Debug, Default, PartialEq)]
pub enum Scalar {
    /// Absent, null, or no single value.
    #[default]
    Nothing,
    /// `true` or `false`.
    Flag(bool),
    /// A whole number.
    Whole(i64),
    /// Any other number.
    Real(f64),
    /// Text, as it was written.
    Text(String),
}

impl Scalar {
    /// Words: trimmed, and none when nothing is left. A number is its digits.
    pub fn text(&self) -> Option<String> {
        match self {
            Scalar::Text(text) => Some(clean(text).to_owned()).filter(|text| !text.is_empty()),
            Scalar::Whole(number) => Some(number.to_string()),
            Scalar::Real(number) => Some(number.to_string()),
            Scalar::Nothing | Scalar::Flag(_) => None,
        }
    }

    /// Text as it was written, moved out; for what may be long.
    pub fn into_text(self) -> Option<String> {
        match self {
            Scalar::Text(text) => Some(text),
            other => other.text(),
        }
    }

    /// A whole number, written as one, as text, or with a fraction of zero.
    pub fn whole(&self) -> Option<i64> {
        match self {
            Scalar::Whole(number) => Some(*number),
            // Beyond this a float no longer tells neighbours apart.
            Scalar::Real(number) if number.fract() == 0.0 && number.abs() < 9e15 => Some(*number as i64),
            Scalar::Text(text) => clean(text).parse().ok(),
            _ => None,
        }
    }

    /// A whole number that is not negative.
    pub fn natural(&self) -> Option<u64> {
        self.whole().and_then(|number| u64::try_from(number).ok())
    }

    /// Whether a flag is set: 1, "1", true.
    pub fn is_set(&self) -> bool {
        match self {
            Scalar::Flag(flag) => *flag,
            Scalar::Text(text) if clean(text).eq_ignore_ascii_case("true") => true,
            other => other.whole() == Some(1),
        }
    }
}

/// Without white space around it, the ideographic and the invisible kinds included.
pub fn clean(text: &str) -> &str {
    text.trim_matches(|c: char| c.is_whitespace() || matches!(c, '\u{feff}' | '\u{200b}' | '\0'))
}

impl<'de> Deserialize<'de> for Scalar {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Scalar, D::Error> {
        deserializer.deserialize_any(AnyScalar)
    }
}

struct AnyScalar;

impl<'de> Visitor<'de> for AnyScalar {
    type Value = Scalar;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("anything")
    }

    fn visit_bool<E>(self, value: bool) -> Result<Scalar, E> {
        Ok(Scalar::Flag(value))
    }

    fn visit_i64<E>(self, value: i64) -> Result<Scalar, E> {
        Ok(Scalar::Whole(value))
    }

    fn visit_u64<E>(self, value: u64) -> Result<Scalar, E> {
        Ok(i64::try_from(value).map_or(Scalar::Real(value as f64), Scalar::Whole))
    }

    fn visit_f64<E>(self, value: f64) -> Result<Scalar, E> {
        Ok(Scalar::Real(value))
    }

    fn visit_str<E>(self, value: &str) -> Result<Scalar, E> {
        Ok(Scalar::Text(value.to_owned()))
    }

    fn visit_string<E>(self, value: String) -> Result<Scalar, E> {
        Ok(Scalar::Text(value))
    }

    fn visit_unit<E>(self) -> Result<Scalar, E> {
        Ok(Scalar::Nothing)
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut items: A) -> Result<Scalar, A::Error> {
        while items.next_element::<IgnoredAny>()?.is_some() {}
        Ok(Scalar::Nothing)
    }

    fn visit_map<A: MapAccess<'de>>(self, mut pairs: A) -> Result<Scalar, A::Error> {
        while pairs.next_entry::<IgnoredAny, IgnoredAny>()?.is_some() {}
        Ok(Scalar::Nothing)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(json: &str) -> Scalar {
        serde_json::from_str(json).expect(json)
    }

    #[test]
    fn numbers_are_read_as_sites_write_them() {
        for (json, whole) in [
            ("7", Some(7)),
            ("\"7\"", Some(7)),
            ("\" 1783411200 \"", Some(1_783_411_200)),
            ("7.0", Some(7)),
            ("7.5", None),
            ("-3", Some(-3)),
            ("1e300", None),
            ("18446744073709551615", None),
            ("null", None),
            ("[7]", None),
            ("{\"a\":7}", None),
            ("\"\"", None),
        ] {
            assert_eq!(read(json).whole(), whole, "{json}");
        }
    }

    #[test]
    fn flags_are_set_by_one_in_any_form_and_by_nothing_else() {
        for json in ["1", "\"1\"", "true", "\"true\"", "1.0"] {
            assert!(read(json).is_set(), "{json}");
        }
        for json in ["0", "\"0\"", "false", "\"\"", "null", "[]", "2"] {
            assert!(!read(json).is_set(), "{json}");
        }
    }

    #[test]
    fn blanks_around_words_are_dropped_and_blank_words_are_none() {
        assert_eq!(read("\" \\u3000清环函〔2026〕9号\\n\"").text().as_deref(), Some("清环函〔2026〕9号"));
        assert_eq!(read("\" \\u3000 \"").text(), None);
        assert_eq!(read("306724").text().as_deref(), Some("306724"));
    }
}
