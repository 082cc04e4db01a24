//! The settings' JSON Schema, as an adapter brings it: from outside, so it may not fetch, loop or backtrack.

use jsonschema::{Draft, PatternOptions, Validator};
use serde_json::Value;

/// Keywords whose schemas apply to the same value as the schema they stand in. A circle of references through
/// these alone would never reach a smaller value, and never end.
const IN_PLACE: [&str; 9] =
    ["allOf", "anyOf", "oneOf", "not", "if", "then", "else", "dependentSchemas", "dependencies"];

/// Keywords that give a place a second name, by which a circle could be hidden. No settings need them.
const RENAMING: [&str; 5] = ["$anchor", "$dynamicAnchor", "$recursiveAnchor", "$dynamicRef", "$recursiveRef"];

/// References that are followed before a schema is called circular: no settings need more.
const MAX_HOPS: usize = 16;

/// Schemas visited in place before one is called too complicated.
const MAX_VISITS: usize = 100_000;

/// Compiles a schema; the error is in words.
pub(super) fn compile(schema: &Value) -> Result<Validator, String> {
    check_refs(schema)?;
    jsonschema::options()
        .with_draft(Draft::Draft202012)
        .with_pattern_options(PatternOptions::regex())
        .build(schema)
        .map_err(|error| error.to_string())
}

/// Only references into the schema itself, and no circle that stays at one value.
fn check_refs(root: &Value) -> Result<(), String> {
    let mut visits = 0;
    let mut all = vec![root];
    while let Some(value) = all.pop() {
        in_place(root, value, 0, &mut visits)?;
        match value {
            Value::Object(map) => {
                let is_word =
                    |key: &str| map.get(key).is_some_and(|value| value.is_string() || value.is_boolean());
                if let Some(key) = RENAMING.into_iter().find(|key| is_word(key)) {
                    return Err(format!("`{key}` is not supported; use `$defs` and `$ref`"));
                }
                if !std::ptr::eq(value, root) && is_word("$id") {
                    return Err("`$id` is only supported at the top of the schema".into());
                }
                all.extend(map.values());
            }
            Value::Array(items) => all.extend(items),
            _ => {}
        }
    }
    Ok(())
}

fn in_place(root: &Value, schema: &Value, hops: usize, visits: &mut usize) -> Result<(), String> {
    let Value::Object(map) = schema else { return Ok(()) };
    *visits += 1;
    if *visits > MAX_VISITS {
        return Err("too many schemas apply to one value".into());
    }
    if let Some(Value::String(to)) = map.get("$ref") {
        if hops >= MAX_HOPS {
            return Err(format!("`$ref` {to} leads in a circle"));
        }
        let Some(pointer) = to.strip_prefix('#') else {
            return Err(format!("`$ref` {to} leads out of the schema; only `#/…` is followed"));
        };
        let Some(target) = root.pointer(pointer) else {
            return Err(format!("`$ref` {to} leads nowhere"));
        };
        in_place(root, target, hops + 1, visits)?;
    }
    for keyword in IN_PLACE {
        match map.get(keyword) {
            Some(Value::Array(items)) => {
                items.iter().try_for_each(|item| in_place(root, item, hops, visits))?;
            }
            Some(Value::Object(parts)) if keyword.starts_with("depend") => {
                parts.values().try_for_each(|item| in_place(root, item, hops, visits))?;
            }
            Some(other) => in_place(root, other, hops, visits)?,
            None => {}
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn circles_and_foreign_references_are_refused_and_trees_are_not() {
        for bad in [
            json!({"$ref": "#"}),
            json!({"$defs": {"a": {"$ref": "#/$defs/b"}, "b": {"$ref": "#/$defs/a"}}, "$ref": "#/$defs/a"}),
            json!({"allOf": [{"not": {"$ref": "#"}}]}),
            json!({"properties": {"x": {"$ref": "#/properties/x"}}}),
            json!({"$ref": "https://example.com/schema.json"}),
            json!({"properties": {"x": {"$dynamicRef": "#x"}}}),
            json!({"$anchor": "a", "$ref": "#a"}),
            json!({"$defs": {"a": {"$id": "urn:x", "$ref": "#"}}, "properties": {"p": {"$ref": "#/$defs/a"}}}),
            json!({"$defs": {"a": {"$ref": "#/%24defs/a"}}, "$ref": "#/$defs/a"}),
            json!({"type": 7}),
        ] {
            assert!(compile(&bad).is_err(), "{bad}");
        }
        let tree = json!({"type": "object", "properties": {"child": {"$ref": "#"}, "n": {"$ref": "#/$defs/n"}},
            "$defs": {"n": {"type": "integer"}}});
        let validator = compile(&tree).unwrap();
        assert!(validator.is_valid(&json!({"child": {"child": {"n": 1}}})));
        assert!(!validator.is_valid(&json!({"child": {"child": {"n": "1"}}})));
    }
}
