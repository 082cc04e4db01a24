//! What is refused before it runs, and why.

use dibao::adapter::{AdapterError, TrapKind};

use super::make::{Guest, good, guest};
use super::{goes_on, host};

#[test]
fn not_a_component_says_what_it_is() {
    let host = host();
    for (bytes, word) in [
        (&b""[..], "empty"),
        (b"\x7fELF\x02", "ELF"),
        (b"(component)", "text"),
        (b"<html>", "HTML"),
        (b"hello", "unknown"),
    ] {
        let error = host.load(bytes, "x.wasm").unwrap_err();
        assert!(matches!(error, AdapterError::NotWasm { .. }), "{error}");
        assert!(error.to_string().contains(word), "{error}");
    }
    goes_on(&host);
}

#[test]
fn a_core_module_is_told_how_to_become_a_component() {
    let host = host();
    let error = host.load(&guest("").module(), "x.wasm").unwrap_err();
    assert!(matches!(error, AdapterError::CoreModule { .. }), "{error}");
    assert!(error.to_string().contains("wasm-tools component new"), "{error}");
    goes_on(&host);
}

#[test]
fn a_file_cut_off_anywhere_is_refused_without_a_panic() {
    let host = host();
    let bytes = good();
    let mut truncated = 0;
    for length in 0..bytes.len() {
        match host.inspect(&bytes[..length]) {
            Err(AdapterError::Truncated { at, .. }) => {
                assert_eq!(at, length);
                truncated += 1;
            }
            // At a section's end the rest is a component of its own, without our export.
            Err(AdapterError::NotWasm { .. } | AdapterError::NotAnAdapter { .. }) => {}
            // Metadata that comes after the last export is not missed.
            Ok(_) => {}
            Err(other) => panic!("{length} of {}: {other}", bytes.len()),
        }
    }
    assert!(truncated * 10 > bytes.len() * 9, "{truncated} of {}", bytes.len());
    goes_on(&host);
}

#[test]
fn flipped_bytes_never_panic() {
    let host = host();
    let bytes = good();
    for at in (8..bytes.len()).step_by(7) {
        let mut other = bytes.clone();
        other[at] ^= 0x55;
        let _ = host.inspect(&other);
    }
    goes_on(&host);
}

#[test]
fn a_foreign_import_is_named() {
    let host = host();
    let mut wanting = guest("(call $get)");
    wanting.imports = r#"(import "dibao:adapter/net@0.1.0" "get" (func $get))"#.into();
    wanting.wit = wanting.wit.replace("import charset;", "import charset; import net;")
        + "interface net { get: func(); }";
    let error = host.load(&wanting.build(), "x.wasm").unwrap_err();
    assert!(
        matches!(&error, AdapterError::ForbiddenImport { import, .. } if import == "dibao:adapter/net@0.1.0"),
        "{error}"
    );
    goes_on(&host);
}

#[test]
fn another_version_of_the_contract_says_which_side_to_upgrade() {
    let host = host();
    for (version, fix) in [("0.2.0", "upgrade dibao"), ("0.0.9", "upgrade the adapter")] {
        let error = host.load(&guest("").build_as(version), "x.wasm").unwrap_err();
        assert!(matches!(error, AdapterError::WrongVersion { .. }), "{error}");
        let words = error.to_string();
        for word in [fix, "@0.1.0", &format!("@{version}")] {
            assert!(words.contains(word), "no {word:?} in {words}");
        }
    }
    goes_on(&host);
}

#[test]
fn a_component_of_another_kind_is_not_an_adapter() {
    let host = host();
    let error = host.load(&wat::parse_str("(component)").unwrap(), "x.wasm").unwrap_err();
    assert!(matches!(error, AdapterError::NotAnAdapter { .. }), "{error}");
    goes_on(&host);
}

#[test]
fn the_right_names_with_wrong_types_do_not_link() {
    let host = host();
    let text = r#"(component (component $c) (instance $i (instantiate $c))
        (export "dibao:adapter/site@0.1.0" (instance $i)))"#;
    let error = host.load(&wat::parse_str(text).unwrap(), "x.wasm").unwrap_err();
    assert!(matches!(error, AdapterError::Link { .. }), "{error}");
    goes_on(&host);
}

#[test]
fn a_trap_in_the_start_function_refuses_the_adapter() {
    let host = host();
    for (fields, kind) in [
        ("(func $start unreachable) (start $start)", TrapKind::Start),
        ("(func $start (loop $l (br $l))) (start $start)", TrapKind::Deadline),
    ] {
        let error = host.load(&Guest { fields: fields.into(), ..guest("") }.build(), "x.wasm").unwrap_err();
        assert!(matches!(error, AdapterError::Describe { kind: got, .. } if got == kind), "{error}");
        goes_on(&host);
    }
}

#[test]
fn a_component_that_begins_with_too_much_memory_is_refused() {
    let host = host();
    let error = host.load(&Guest { memory: "2000", ..guest("") }.build(), "x.wasm").unwrap_err();
    assert!(error.to_string().contains("memory"), "{error}");
    // With a grant it runs.
    host.load_with_memory(&Guest { memory: "2000", ..guest("") }.build(), "x.wasm", Some(256)).unwrap();
    goes_on(&host);
}

#[test]
fn a_bad_name_is_refused() {
    let host = host();
    let error = host.load(&Guest { name: "No Name", ..guest("") }.build(), "x.wasm").unwrap_err();
    assert!(matches!(error, AdapterError::About { field: "name", .. }), "{error}");
}

#[test]
fn settings_are_checked_against_the_schema() {
    let adapter = host().load(&good(), "good.wasm").unwrap();
    adapter.check_config(&serde_json::json!({})).unwrap();
    let error = adapter.check_config(&serde_json::json!(7)).unwrap_err();
    assert!(matches!(error, AdapterError::Settings { .. }), "{error}");
}
