//! A value with the place it came from: what every field of an article is chosen among.

use serde::{Deserialize, Serialize};

/// Where a field came from (S2-32), in a form that can be stored and shown.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Proof {
    /// Who found it: `adapter`, `meta`, `json-ld`, `opengraph`, `page`, `generic`, `title`, `address`, `list`.
    pub engine: String,
    /// The rule, selector or name that matched.
    pub rule: String,
    /// Where it stands in the page, as a path of elements.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub at: Option<String>,
    /// Where it stands in the decoded page, in bytes.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub offset: Option<usize>,
    /// How sure the rule is, between 0 and 1.
    pub confidence: f64,
}

impl std::fmt::Display for Proof {
    /// `meta:pubdate`, or `generic:structure at body>div#zoom offset 812 confidence 0.93`.
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{}:{}", self.engine, self.rule)?;
        if let Some(at) = &self.at {
            write!(f, " at {at}")?;
        }
        if let Some(offset) = self.offset {
            write!(f, " offset {offset}")?;
        }
        write!(f, " confidence {:.2}", self.confidence)
    }
}

/// A candidate for a field.
#[derive(Clone, Debug)]
pub(crate) struct Value {
    pub text: String,
    pub engine: &'static str,
    pub rule: String,
    pub confidence: f64,
    /// The element it was read from.
    pub el: Option<u32>,
}

impl Value {
    pub fn new(text: String, engine: &'static str, rule: &str, confidence: f64) -> Value {
        Value { text, engine, rule: rule.to_owned(), confidence, el: None }
    }

    pub fn at(mut self, el: u32) -> Value {
        self.el = Some(el);
        self
    }
}
