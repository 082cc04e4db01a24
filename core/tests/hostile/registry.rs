//! Only approved bytes are loaded.

use dibao::adapter::{AdapterError, PinState, Registry};

use super::make::{Guest, good, guest};
use super::{host, turn};

#[test]
fn bytes_are_loaded_only_as_they_were_pinned() {
    let host = host();
    let dir = tempfile::tempdir().unwrap();
    let file = dir.path().join("good.wasm");
    std::fs::write(&file, good()).unwrap();
    let registry = Registry::open(dir.path()).unwrap();

    let error = registry.load(&host, "good").unwrap_err();
    assert!(matches!(error, AdapterError::Unpinned { .. }), "{error}");
    assert!(error.to_string().contains("dibao adapter pin"), "{error}");
    let error = registry.load(&host, "better").unwrap_err();
    assert!(matches!(error, AdapterError::Unknown { .. }), "{error}");

    registry.pin("good.wasm", Some(vec!["site".into(), "https://*.gov.cn".into()])).unwrap();
    let loaded = registry.load(&host, "good").unwrap();
    assert_eq!(loaded.granted, ["site", "https://*.gov.cn"]);
    turn(&loaded.adapter).unwrap();

    let other = Guest { name: "good", ..guest("nop") }.build();
    std::fs::write(&file, other).unwrap();
    let error = registry.load(&host, "good").unwrap_err();
    let AdapterError::Changed { pinned, actual, .. } = &error else { panic!("{error}") };
    let words = error.to_string();
    assert!(
        words.contains(pinned) && words.contains(actual) && words.contains("dibao adapter pin"),
        "{words}"
    );
    assert!(matches!(registry.entries().unwrap()[0].state, PinState::Changed { .. }));

    // Pinned again, with the grant as it was.
    let entry = registry.pin(&file, None).unwrap();
    assert_eq!(entry.granted, ["site", "https://*.gov.cn"]);
    registry.load(&host, "good").unwrap();
}

#[test]
fn what_is_no_adapter_cannot_be_pinned() {
    let dir = tempfile::tempdir().unwrap();
    std::fs::write(dir.path().join("text.wasm"), "hello").unwrap();
    let registry = Registry::open(dir.path()).unwrap();
    assert!(matches!(registry.pin("text.wasm", None), Err(AdapterError::NotWasm { .. })));
    assert!(!dir.path().join("adapters.lock").exists());
}

#[test]
fn a_lock_that_leads_out_of_its_directory_is_refused() {
    let dir = tempfile::tempdir().unwrap();
    let pin = format!("[adapters.x]\nfile = \"../x.wasm\"\nsha256 = \"{}\"\n", "0".repeat(64));
    std::fs::write(dir.path().join("adapters.lock"), pin).unwrap();
    assert!(matches!(Registry::open(dir.path()), Err(AdapterError::Lock { .. })));
}

#[test]
fn a_file_that_calls_itself_otherwise_is_refused() {
    let dir = tempfile::tempdir().unwrap();
    std::fs::write(dir.path().join("better.wasm"), good()).unwrap();
    let registry = Registry::open(dir.path()).unwrap();
    registry.pin("better.wasm", None).unwrap();
    assert!(matches!(registry.load(&host(), "better"), Err(AdapterError::Misnamed { .. })));
}
