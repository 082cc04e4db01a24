//! `KEY=VALUE` as it is typed, made the fields of a change.

use serde_json::{Map, Value};

use crate::exit::Usage;

/// Deeper than any setting there is.
const DEEPEST: usize = 8;

/// Fields of a change: `a.b=1` sets `b` in `a`. A value that is JSON (a number, `true`, a list) is taken as such, anything else
/// as text; nothing after the `=` takes a setting back.
pub fn fields(words: &[String]) -> Result<Map<String, Value>, Usage> {
    let mut fields = Map::new();
    for word in words {
        let (path, value) = word
            .split_once('=')
            .filter(|(path, _)| !path.is_empty())
            .ok_or_else(|| Usage(format!("`{word}`: write KEY=VALUE")))?;
        let value = match value {
            "" => Value::Null,
            text => serde_json::from_str(text).unwrap_or_else(|_| Value::String(text.to_owned())),
        };
        let keys: Vec<&str> = path.split('.').collect();
        if keys.len() > DEEPEST || keys.iter().any(|key| key.is_empty()) {
            return Err(Usage(format!("`{path}`: write a key, or keys with points between them")));
        }
        put(&mut fields, &keys, value).map_err(|()| Usage(format!("`{path}` is said twice, in two ways")))?;
    }
    Ok(fields)
}

fn put(fields: &mut Map<String, Value>, keys: &[&str], value: Value) -> Result<(), ()> {
    match keys {
        [] => Ok(()),
        [key] => match fields.insert((*key).to_owned(), value) {
            Some(_) => Err(()),
            None => Ok(()),
        },
        [key, rest @ ..] => {
            let inner = fields.entry((*key).to_owned()).or_insert_with(|| Value::Object(Map::new()));
            put(inner.as_object_mut().ok_or(())?, rest, value)
        }
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn of(words: &[&str]) -> Result<Value, String> {
        let words: Vec<String> = words.iter().map(ToString::to_string).collect();
        fields(&words).map(Value::Object).map_err(|error| error.to_string())
    }

    #[test]
    fn keys_with_points_make_objects() {
        assert_eq!(
            of(&[
                "site_name=财政局",
                "adapter_params.sid=5",
                "adapter_params.path=/a?b=c",
                "tags=[\"a\"]",
                "contact="
            ]),
            Ok(
                json!({"site_name": "财政局", "adapter_params": {"sid": 5, "path": "/a?b=c"}, "tags": ["a"], "contact": null})
            )
        );
    }

    #[test]
    fn what_cannot_be_read_is_named() {
        for (words, said) in [
            (&["sid"][..], "write KEY=VALUE"),
            (&["=5"], "write KEY=VALUE"),
            (&["a..b=5"], "keys with points"),
            (&["a=1", "a=2"], "said twice"),
            (&["a=1", "a.b=2"], "said twice"),
        ] {
            let error = of(words).unwrap_err();
            assert!(error.contains(said), "{error}");
        }
    }
}
