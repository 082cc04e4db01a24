//! What a component is and what it wants, read from its bytes before anything is compiled.
//!
//! Refuses what is not an adapter of this contract, with the reason. Does not look at the
//! types behind the names: linking does.

use serde::Serialize;
use sha2::{Digest, Sha256};
use wasmparser::{Encoding, Parser, Payload, Validator, WasmFeatures};

use super::AdapterError;

/// The version of the contract that this host speaks.
pub const CONTRACT_VERSION: &str = "0.1.0";

const PACKAGE: &str = "dibao:adapter/";
const EXPORT: &str = "site";
/// What the world imports; `types` carries no functions, only the records of the others.
const IMPORTS: [&str; 4] = ["types", "log", "html", "charset"];
/// The WASI packages that are linked (to nothing). `wasi:http` is not: no guest has a use for it.
const WASI: [&str; 6] = ["cli", "clocks", "filesystem", "io", "random", "sockets"];

/// What the bytes of an adapter say before they run.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[non_exhaustive]
pub struct Inspection {
    /// Of the file.
    pub sha256: String,
    /// In bytes.
    pub size: usize,
    /// Version of the contract it was made for.
    pub contract: String,
    /// Every import, by its full name.
    pub imports: Vec<String>,
    /// Those of them that are WASI.
    pub wasi: Vec<String>,
    /// Brings an interpreter or a runtime with it: it imports WASI.
    pub interpreted: bool,
}

/// SHA-256 in hex.
pub(super) fn sha256_hex(bytes: &[u8]) -> String {
    use std::fmt::Write;
    Sha256::digest(bytes).iter().fold(String::with_capacity(64), |mut hex, byte| {
        let _ = write!(hex, "{byte:02x}");
        hex
    })
}

/// Reads `bytes`; `origin` names them in errors.
pub(super) fn inspect(bytes: &[u8], origin: &str, max_bytes: usize) -> Result<Inspection, AdapterError> {
    if bytes.len() > max_bytes {
        return Err(AdapterError::TooLarge { origin: origin.into(), size: bytes.len(), limit: max_bytes });
    }
    let names = names(bytes, origin)?;
    let mut wasi = Vec::new();
    for import in &names.imports {
        check_import(import, origin)?;
        if import.starts_with("wasi:") {
            wasi.push(import.clone());
        }
    }
    let contract = check_exports(&names.exports, origin)?;
    Ok(Inspection {
        sha256: sha256_hex(bytes),
        size: bytes.len(),
        contract,
        imports: names.imports,
        interpreted: !wasi.is_empty(),
        wasi,
    })
}

struct Names {
    imports: Vec<String>,
    exports: Vec<String>,
}

/// The names at the top level of a valid component.
fn names(bytes: &[u8], origin: &str) -> Result<Names, AdapterError> {
    let origin = || origin.to_owned();
    if !bytes.starts_with(b"\0asm") {
        return Err(AdapterError::NotWasm { origin: origin(), found: looks_like(bytes).into() });
    }
    if bytes.len() < 8 {
        return Err(AdapterError::Truncated { origin: origin(), at: bytes.len() });
    }
    let malformed = |error: wasmparser::BinaryReaderError| {
        // The parser knows the length of each section before it reads it.
        if error.message().contains("unexpected end") || error.offset() >= bytes.len() {
            AdapterError::Truncated { origin: origin(), at: bytes.len() }
        } else {
            AdapterError::Malformed {
                origin: origin(),
                reason: error.message().to_owned(),
                at: error.offset(),
            }
        }
    };
    let mut names = Names { imports: Vec::new(), exports: Vec::new() };
    let mut depth = 0usize;
    for payload in Parser::new(0).parse_all(bytes) {
        match payload.map_err(malformed)? {
            Payload::Version { encoding: Encoding::Module, .. } if depth == 0 => {
                return Err(AdapterError::CoreModule { origin: origin() });
            }
            Payload::ModuleSection { .. } | Payload::ComponentSection { .. } => depth += 1,
            Payload::End(_) => depth = depth.saturating_sub(1),
            Payload::ComponentImportSection(section) if depth == 0 => {
                for import in section {
                    names.imports.push(import.map_err(malformed)?.name.name.to_owned());
                }
            }
            Payload::ComponentExportSection(section) if depth == 0 => {
                for export in section {
                    names.exports.push(export.map_err(malformed)?.name.name.to_owned());
                }
            }
            _ => {}
        }
    }
    Validator::new_with_features(WasmFeatures::all()).validate_all(bytes).map_err(malformed)?;
    Ok(names)
}

fn check_import(import: &str, origin: &str) -> Result<(), AdapterError> {
    let forbidden = || AdapterError::ForbiddenImport { origin: origin.into(), import: import.into() };
    let (name, version) = import.split_once('@').unwrap_or((import, ""));
    if let Some(interface) = name.strip_prefix(PACKAGE) {
        if !IMPORTS.contains(&interface) {
            return Err(forbidden());
        }
        if version != CONTRACT_VERSION {
            return Err(AdapterError::WrongVersion { origin: origin.into(), found: import.into() });
        }
        return Ok(());
    }
    let package =
        name.strip_prefix("wasi:").and_then(|rest| rest.split_once('/')).map(|(package, _)| package);
    match package {
        Some(package) if WASI.contains(&package) && version.starts_with("0.2.") => Ok(()),
        _ => Err(forbidden()),
    }
}

/// The contract's version, from the name of the export.
fn check_exports(exports: &[String], origin: &str) -> Result<String, AdapterError> {
    let ours = exports.iter().filter_map(|export| {
        let (name, version) = export.strip_prefix(PACKAGE)?.split_once('@')?;
        (name == EXPORT).then_some((export, version))
    });
    let mut other = None;
    for (export, version) in ours {
        if version == CONTRACT_VERSION {
            return Ok(version.to_owned());
        }
        other = Some(export);
    }
    match other {
        Some(export) => Err(AdapterError::WrongVersion { origin: origin.into(), found: export.clone() }),
        None => Err(AdapterError::NotAnAdapter {
            origin: origin.into(),
            found: if exports.is_empty() { "nothing".into() } else { exports.join(", ") },
        }),
    }
}

fn looks_like(bytes: &[u8]) -> &'static str {
    match bytes {
        [] => "an empty file",
        [0x7f, b'E', b'L', b'F', ..] => "a native ELF program or library",
        [b'!', b'<', ..] => "a static library",
        [0x1f, 0x8b, ..] => "gzip: unpack it first",
        [0x28, 0xb5, 0x2f, 0xfd, ..] => "zstd: unpack it first",
        [b'(', ..] => "WebAssembly text: assemble it with `wasm-tools parse`",
        [b'<', ..] => "HTML or XML",
        [0, ..] => "cut off or unknown",
        _ => "unknown bytes",
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn imports_are_sorted_into_ours_wasi_and_forbidden() {
        for (import, verdict) in [
            ("dibao:adapter/html@0.1.0", "ok"),
            ("dibao:adapter/types@0.1.0", "ok"),
            ("dibao:adapter/html@0.2.0", "version"),
            ("dibao:adapter/html", "version"),
            ("dibao:adapter/net@0.1.0", "forbidden"),
            ("wasi:io/streams@0.2.6", "ok"),
            ("wasi:io/streams@0.3.0", "forbidden"),
            ("wasi:http/types@0.2.0", "forbidden"),
            ("wasi:io", "forbidden"),
            ("env", "forbidden"),
        ] {
            let got = match check_import(import, "x.wasm") {
                Ok(()) => "ok",
                Err(AdapterError::WrongVersion { .. }) => "version",
                Err(AdapterError::ForbiddenImport { .. }) => "forbidden",
                Err(other) => panic!("{import}: {other}"),
            };
            assert_eq!(got, verdict, "{import}");
        }
    }
}
