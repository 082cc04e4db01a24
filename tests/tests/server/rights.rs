//! Who may do what: every route that the description names, with everybody who might call it.

use reqwest::Method;
use serde_json::Value;

use crate::bed::Bed;

/// Every operation with its scope: `read`, `run`, `admin`, or null for everybody.
pub fn operations(document: &Value) -> Vec<(Method, String, Value)> {
    let mut all = Vec::new();
    for (path, operations) in document["paths"].as_object().unwrap() {
        for (method, operation) in operations.as_object().unwrap() {
            let method = method.to_uppercase().parse().unwrap();
            all.push((method, path.clone(), operation["x-scope"].clone()));
        }
    }
    all
}

/// The path with something in place of its parameters that is not there.
pub fn filled(path: &str) -> String {
    let part = |part: &str| match part {
        "{id}" | "{n}" => "987654".to_owned(),
        part if part.starts_with('{') => "nothing-of-that-name".to_owned(),
        part => part.to_owned(),
    };
    path.split('/').map(part).collect::<Vec<_>>().join("/")
}

#[tokio::test(flavor = "multi_thread")]
async fn every_route_asks_for_its_scope_and_for_nothing_less() {
    let bed = Bed::new().await;
    let served = bed.guarded().await;
    let document = served.get("/admin/api/openapi.json").await.is(200).json();
    let all = operations(&document);
    assert!(all.len() > 20, "{}", all.len());
    let mut tokens = Vec::new();
    for (rank, scope) in ["read", "run", "admin"].into_iter().enumerate() {
        let body = serde_json::json!({ "name": format!("for {scope}"), "scope": scope });
        let made = served.post("/admin/api/tokens", body).await.is(201).json();
        tokens.push((rank, scope, made["token"].as_str().unwrap().to_owned()));
    }
    let rank_of = |scope: &Value| ["read", "run", "admin"].iter().position(|one| scope == one);
    let wrong = tokens[2].2.replace(char::is_numeric, "a");
    for (method, path, scope) in &all {
        let route = format!("{method} {path}");
        let open = scope.is_null();
        let ask = || served.request(method.clone(), &filled(path));
        let status = async |request: reqwest::RequestBuilder| request.send().await.unwrap().status().as_u16();
        let none = status(ask()).await;
        assert_eq!(none == 401, !open, "{route}: {none} for nobody");
        // One that is wrong is refused even where none is needed; who guesses on has to wait.
        let guessed = status(ask().bearer_auth(&wrong)).await;
        assert!([401, 429].contains(&guessed), "{route}: {guessed} for a wrong token");
        for (rank, name, token) in &tokens {
            let got = ask().bearer_auth(token).send().await.unwrap().status().as_u16();
            match rank_of(scope) {
                Some(needed) if *rank < needed => assert_eq!(got, 403, "{route}: the token `{name}`"),
                _ => assert!(![401, 403].contains(&got) && got < 500, "{route}: {got} for `{name}`"),
            }
        }
        if *method != Method::GET {
            let cross =
                status(served.asked(method.clone(), &filled(path)).header("origin", "http://evil.example"))
                    .await;
            assert_eq!(cross, 403, "{route} from another site");
        }
        let right = status(served.asked(method.clone(), &filled(path))).await;
        assert!(![401, 403].contains(&right) && right < 500, "{route}: {right} for the administrator");
    }
}
