//! The description of the API, made from the routes themselves: OpenAPI 3.1, whose schemas are those of `schemars`.

use serde_json::{Map, Value, json};

use crate::call::{Operation, Routes};
use crate::problem::{Code, Written};

/// The document as it is served and committed.
pub fn openapi() -> String {
    describe(&mut crate::routes::list())
}

/// Describes all routes.
pub fn describe(routes: &mut Routes) -> String {
    let problem = routes.schemas.subschema_for::<Written>();
    let mut paths = Map::new();
    let operations = std::mem::take(&mut routes.operations);
    for operation in &operations {
        let path = paths.entry(operation.route.path).or_insert_with(|| json!({}));
        path[operation.route.method.as_str().to_lowercase()] = one(operation, &problem.clone().into());
    }
    paths.sort_keys();
    routes.operations = operations;
    let schemas = routes.schemas.take_definitions(true);
    let document = json!({
        "openapi": "3.1.0",
        "info": {
            "title": "dibao",
            "version": env!("CARGO_PKG_VERSION"),
            "summary": "Watches official web sites and keeps what they publish.",
            "license": { "name": "MIT OR Apache-2.0", "identifier": "MIT OR Apache-2.0" },
        },
        "jsonSchemaDialect": "https://json-schema.org/draft/2020-12/schema",
        "security": [{ "basic": [] }, { "bearer": [] }, { "session": [] }],
        "paths": paths,
        "components": {
            "schemas": schemas,
            "securitySchemes": {
                "basic": { "type": "http", "scheme": "basic" },
                "bearer": { "type": "http", "scheme": "bearer", "description": "An API token with the scope read, run or admin." },
                "session": { "type": "apiKey", "in": "cookie", "name": crate::session::COOKIE },
            },
        },
    });
    let mut text = serde_json::to_string_pretty(&document).unwrap_or_default();
    text.push('\n');
    text
}

fn one(operation: &Operation, problem: &Value) -> Value {
    let route = &operation.route;
    let mut parameters = parameters(&operation.path, "path");
    parameters.extend(parameters_of_query(operation));
    if route.keyed {
        parameters.push(json!({
            "name": crate::idempotency::HEADER, "in": "header", "required": false,
            "schema": { "type": "string", "pattern": "^[!-~]{1,200}$" },
            "description": "Sent again with the same key within a day, the request is not done twice: it is answered as the first time.",
        }));
    }
    let mut responses = Map::new();
    let mut good = json!({ "description": "Well." });
    if !operation.content.is_null() {
        good["content"] = operation.content.clone();
    }
    responses.insert(operation.status.to_string(), good);
    if operation.tagged {
        responses.insert("304".into(), json!({ "description": "As in `If-None-Match`." }));
    }
    for (status, codes) in problems(operation) {
        let words: Vec<&str> = codes.iter().map(|code| code.as_str()).collect();
        responses.insert(
            status.to_string(),
            json!({ "description": words.join(", "), "content": { "application/problem+json": { "schema": problem } } }),
        );
    }
    let mut described = json!({
        "operationId": operation_id(operation),
        "tags": [route.tag],
        "summary": route.about,
        "responses": responses,
    });
    if !parameters.is_empty() {
        described["parameters"] = parameters.into();
    }
    if !operation.body.is_null() {
        described["requestBody"] = operation.body.clone();
    }
    match route.scope {
        None => described["security"] = json!([]),
        Some(scope) => described["x-scope"] = json!(scope),
    }
    described
}

fn operation_id(operation: &Operation) -> String {
    let words: Vec<String> = operation
        .route
        .path
        // The aliases under `/api` keep that word, so that they are told from what they stand for.
        .trim_start_matches("/admin/api")
        .split('/')
        .filter(|part| !part.is_empty())
        .map(|part| part.trim_matches(['{', '}']).replace(['-', '.'], "_"))
        .collect();
    format!("{}_{}", operation.route.method.as_str().to_lowercase(), words.join("_"))
}

fn parameters_of_query(operation: &Operation) -> Vec<Value> {
    parameters(&operation.query, "query")
}

/// The properties of an object as parameters.
fn parameters(schema: &Value, place: &str) -> Vec<Value> {
    let required: Vec<&str> =
        schema["required"].as_array().into_iter().flatten().filter_map(Value::as_str).collect();
    let Some(properties) = schema["properties"].as_object() else { return Vec::new() };
    let one = |(name, schema): (&String, &Value)| {
        let mut schema = schema.clone();
        let about = schema.as_object_mut().and_then(|schema| schema.remove("description"));
        plain(&mut schema);
        let mut parameter = json!({
            "name": name, "in": place, "required": place == "path" || required.contains(&name.as_str()), "schema": schema,
        });
        if let Some(about) = about {
            parameter["description"] = about;
        }
        parameter
    };
    properties.iter().map(one).collect()
}

/// A parameter is there or not; it is never null.
fn plain(schema: &mut Value) {
    if let Some(kinds) = schema.get_mut("type").filter(|kinds| kinds.is_array()) {
        let kept: Vec<Value> =
            kinds.as_array().into_iter().flatten().filter(|kind| **kind != "null").cloned().collect();
        *kinds = match kept.as_slice() {
            [one] => one.clone(),
            _ => kept.into(),
        };
    }
    if let Some(schema) = schema.as_object_mut() {
        if let Some(Value::Array(kinds)) = schema.get_mut("enum") {
            kinds.retain(|kind| !kind.is_null());
        }
        if let Some(Value::Array(any)) = schema.get_mut("anyOf") {
            any.retain(|one| one["type"] != "null");
        }
        schema.remove("default");
    }
}

/// The problems of a route: those that follow from its scope and inputs, and its own.
fn problems(operation: &Operation) -> Vec<(u16, Vec<Code>)> {
    let route = &operation.route;
    let mut codes = route.may.clone();
    codes.extend([
        Code::WrongHost,
        Code::Unauthenticated,
        Code::Throttled,
        Code::Internal,
        Code::Storage,
        Code::Timeout,
    ]);
    if route.scope.is_some() || route.method != http::Method::GET {
        codes.push(Code::Forbidden);
    }
    if route.method != http::Method::GET {
        codes.push(Code::CrossOrigin);
    }
    codes.extend([Code::Invalid, Code::NotJson, Code::TooLarge]);
    if operation.path["properties"].is_object() {
        codes.push(Code::NotFound);
    }
    if !operation.body.is_null() {
        codes.push(Code::UnsupportedMediaType);
    }
    codes.sort_by_key(|code| (code.status(), code.as_str()));
    codes.dedup();
    let mut by_status: Vec<(u16, Vec<Code>)> = Vec::new();
    for code in codes {
        match by_status.last_mut().filter(|(status, _)| *status == code.status()) {
            Some((_, codes)) => codes.push(code),
            None => by_status.push((code.status(), vec![code])),
        }
    }
    by_status
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::path::Path;

    #[test]
    fn the_committed_document_is_what_the_code_says() {
        let file = Path::new(env!("CARGO_MANIFEST_DIR")).join("openapi.json");
        let made = openapi();
        if std::env::var_os("DIBAO_BLESS").is_some() {
            std::fs::write(&file, &made).unwrap();
        }
        let committed = std::fs::read_to_string(&file).unwrap_or_default();
        assert!(
            made == committed,
            "server/openapi.json is not what the routes say; DIBAO_BLESS=1 cargo test -p dibao-server openapi writes it anew"
        );
    }

    #[test]
    fn every_operation_has_a_name_of_its_own_and_says_what_it_may_answer() {
        let document: Value = serde_json::from_str(&openapi()).unwrap();
        let mut names = std::collections::HashSet::new();
        for (path, operations) in document["paths"].as_object().unwrap() {
            for (method, operation) in operations.as_object().unwrap() {
                let name = operation["operationId"].as_str().unwrap();
                assert!(names.insert(name.to_owned()), "{name} twice");
                assert!(!operation["summary"].as_str().unwrap().is_empty(), "{method} {path}");
                let in_path = path.matches('{').count();
                let parameters = operation["parameters"].as_array().cloned().unwrap_or_default();
                let named = parameters.iter().filter(|one| one["in"] == "path").count();
                assert_eq!(in_path, named, "{method} {path}");
                for one in parameters.iter().filter(|one| one["in"] == "path") {
                    assert!(
                        path.contains(&format!("{{{}}}", one["name"].as_str().unwrap())),
                        "{method} {path}"
                    );
                }
            }
        }
        let text = openapi();
        for (at, _) in text.match_indices("\"$ref\": \"") {
            let target = text[at + 9..].split('"').next().unwrap();
            let pointer = target.strip_prefix('#').unwrap();
            assert!(document.pointer(pointer).is_some(), "{target} leads nowhere");
        }
    }

    #[test]
    fn every_input_can_be_checked() {
        for operation in &crate::routes::list().operations {
            for schema in [&operation.path, &operation.query] {
                assert!(jsonschema::validator_for(schema).is_ok(), "{}", operation.route.path);
            }
            if let Some(schema) = operation.body.pointer("/content/application~1json/schema") {
                assert!(jsonschema::validator_for(schema).is_ok(), "{}", operation.route.path);
            }
        }
    }
}
