//! Input of a route: checked against the schema that is documented, then read. So what the document allows is what is
//! accepted, and an error names the place.

use std::marker::PhantomData;

use jsonschema::Validator;
use schemars::generate::SchemaSettings;
use schemars::{JsonSchema, Schema};
use serde::Deserialize;
use serde::de::DeserializeOwned;
use serde_json::{Map, Value};

use crate::problem::{Code, Problem};

/// No input.
#[derive(Clone, Copy, Debug, Default, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Nothing {}

/// The schema of a type as input, without references to elsewhere.
pub fn schema_of<T: JsonSchema>() -> Schema {
    let settings = SchemaSettings::draft2020_12().for_deserialize().with(|settings| {
        settings.inline_subschemas = true;
        settings.meta_schema = None;
    });
    settings.into_generator().into_root_schema_for::<T>()
}

/// A type of input with its schema.
pub struct Checked<T> {
    validator: Option<Validator>,
    schema: Value,
    of: PhantomData<fn() -> T>,
}

impl<T: DeserializeOwned + JsonSchema> Checked<T> {
    pub fn new() -> Checked<T> {
        let schema = Value::from(schema_of::<T>());
        let validator = jsonschema::options()
            .with_draft(jsonschema::Draft::Draft202012)
            .should_validate_formats(true)
            .build(&schema)
            .ok();
        Checked { validator, schema, of: PhantomData }
    }

    /// Whether the schema can be used at all; a test asks.
    #[cfg(test)]
    pub fn is_whole(&self) -> bool {
        self.validator.is_some()
    }

    /// Reads a value.
    pub fn value(&self, value: Value) -> Result<T, Problem> {
        if let Some(error) =
            self.validator.as_ref().and_then(|validator| validator.iter_errors(&value).next())
        {
            return Err(Problem::invalid(dotted(&error.instance_path().to_string()), error.to_string()));
        }
        serde_json::from_value(value).map_err(|error| Problem::new(Code::Invalid, error.to_string()))
    }

    /// Reads parameters: text that is what the schema says it is.
    pub fn pairs<'a>(
        &self,
        pairs: impl IntoIterator<Item = (std::borrow::Cow<'a, str>, std::borrow::Cow<'a, str>)>,
    ) -> Result<T, Problem> {
        let mut map = Map::new();
        for (name, text) in pairs {
            let kinds = self.kinds(&name);
            let value = if kinds.contains(&"integer") && text.parse::<i64>().is_ok() {
                text.parse::<i64>().unwrap_or_default().into()
            } else if kinds.contains(&"number") && text.parse::<f64>().is_ok_and(f64::is_finite) {
                text.parse::<f64>().unwrap_or_default().into()
            } else if kinds.contains(&"boolean") && matches!(&*text, "true" | "false") {
                (text == "true").into()
            } else {
                Value::from(text.as_ref())
            };
            if map.insert(name.clone().into_owned(), value).is_some() {
                return Err(Problem::invalid(name, "is given twice"));
            }
        }
        self.value(Value::Object(map))
    }

    fn kinds(&self, name: &str) -> Vec<&str> {
        match self.schema.get("properties").and_then(|all| all.get(name)).and_then(|one| one.get("type")) {
            Some(Value::String(kind)) => vec![kind],
            Some(Value::Array(kinds)) => kinds.iter().filter_map(Value::as_str).collect(),
            _ => Vec::new(),
        }
    }
}

/// `/columns/2/name` → `columns[2].name`.
fn dotted(pointer: &str) -> String {
    let mut path = String::new();
    for part in pointer.split('/').skip(1) {
        let part = part.replace("~1", "/").replace("~0", "~");
        if part.bytes().all(|byte| byte.is_ascii_digit()) && !part.is_empty() && !path.is_empty() {
            path.push_str(&format!("[{part}]"));
        } else {
            if !path.is_empty() {
                path.push('.');
            }
            path.push_str(&part);
        }
    }
    path
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[derive(Debug, PartialEq, Deserialize, JsonSchema)]
    #[serde(deny_unknown_fields)]
    struct Sample {
        #[schemars(range(min = 1, max = 200))]
        limit: Option<u32>,
        q: Option<String>,
        on: Option<bool>,
    }

    #[test]
    fn parameters_are_what_the_schema_says_they_are() {
        let checked = Checked::<Sample>::new();
        let read = |text: &str| {
            let url = url::Url::parse(&format!("http://a/?{text}")).unwrap();
            let pairs: Vec<_> = url.query_pairs().collect();
            checked.pairs(pairs)
        };
        assert_eq!(
            read("limit=5&q=5&on=true").unwrap(),
            Sample { limit: Some(5), q: Some("5".into()), on: Some(true) }
        );
        for (wrong, field) in
            [("limit=0", "limit"), ("limit=x", "limit"), ("on=1", "on"), ("q=a&q=b", "q"), ("lim=5", "")]
        {
            let problem = read(wrong).unwrap_err().write("r");
            let written = format!("{:?}", problem.status());
            assert_eq!(written, "422", "{wrong} {field}");
        }
    }

    #[test]
    fn a_place_is_written_as_in_site_files() {
        assert_eq!(dotted("/columns/2/a~1b"), "columns[2].a/b");
        assert_eq!(dotted(""), "");
        let checked = Checked::<Sample>::new();
        assert!(checked.value(json!({"limit": -1})).is_err());
        assert!(checked.is_whole());
    }
}
