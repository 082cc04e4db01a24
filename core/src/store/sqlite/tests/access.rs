//! Tokens are kept by their hash and end when they are taken back or over; keys give the first answer again.

use super::*;
use crate::desk::{Actor, Begun, Scope};
use crate::store::AuditEntry;

fn entry(action: &'static str) -> AuditEntry {
    let actor = Actor::new("amy", "test");
    AuditEntry {
        at: NOW,
        actor,
        action,
        subject: "x".into(),
        outcome: "ok".into(),
        detail: serde_json::Value::Null,
    }
}

#[tokio::test]
async fn a_token_holds_until_it_is_over_or_taken_back() {
    let dir = tempfile::tempdir().unwrap();
    let store = open(dir.path());
    let later = |ms: i64| Timestamp(NOW.0 + ms);
    let add = |name: &str, expires| {
        store.add_token(name.into(), hash(name), Scope::Run, NOW, expires, entry("token.create"))
    };
    add("ci", Some(later(1000))).await.unwrap();
    add("ops", None).await.unwrap();
    assert!(add("ops", None).await.is_err(), "a name is taken once");
    let token = store.token(&hash("ci"), later(999)).await.unwrap().unwrap();
    assert_eq!((token.name.as_str(), token.scope), ("ci", Scope::Run));
    assert_eq!(store.token(&hash("ci"), later(1000)).await.unwrap(), None);
    assert_eq!(store.token(&hash("else"), NOW).await.unwrap(), None);
    store.revoke_token("ops", later(5), entry("token.revoke")).await.unwrap();
    assert_eq!(store.token(&hash("ops"), later(6)).await.unwrap(), None);
    let again = store.add_token("ops".into(), hash("ops2"), Scope::Run, NOW, None, entry("token.create"));
    again.await.expect("its name is free again");
    assert!(Scope::Read < Scope::Run && Scope::Run < Scope::Admin);
}

#[tokio::test]
async fn the_same_key_is_answered_once_more_for_a_day() {
    let dir = tempfile::tempdir().unwrap();
    let store = open(dir.path());
    let at = |ms: i64| Timestamp(NOW.0 + ms);
    let begin = |asked: &str, at| {
        let (store, asked) = (store.clone(), asked.to_owned());
        async move { store.begin_idempotent("amy", "k1", &asked, at).await }
    };
    assert_eq!(begin("q", NOW).await.unwrap(), Begun::Go);
    assert!(begin("q", at(1)).await.is_err(), "the first is under way");
    store.end_idempotent("amy", "k1", Some((202, "{}".into()))).await.unwrap();
    assert_eq!(begin("q", at(2)).await.unwrap(), Begun::Answered { status: 202, answer: "{}".into() });
    assert!(begin("other", at(3)).await.is_err());
    assert_eq!(
        store.begin_idempotent("bob", "k1", "q", at(3)).await.unwrap(),
        Begun::Go,
        "keys are each actor's own"
    );
    assert_eq!(begin("other", at(86_400_001)).await.unwrap(), Begun::Go, "after a day it is forgotten");
}
