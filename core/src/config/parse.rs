//! Text to settings: sizes, syntax, unknown keys. What the settings mean is checked after.

use std::fs;
use std::io::Read;
use std::path::Path;

use serde_saphyr::Error as YamlError;
use sha2::{Digest, Sha256};

use super::check;
use super::error::{ConfigError, Place, suggestion};
use super::model::{Origin, SiteConfig};
use super::place;
use crate::fetch::Wire;
use crate::store::sanitize::hex;

/// Largest site file: the largest real ones have a few hundred columns and are below 100 KB.
pub const MAX_FILE: u64 = 1024 * 1024;

/// Reads and checks a site file.
pub fn load_site(path: impl AsRef<Path>) -> Result<SiteConfig, ConfigError> {
    let path = path.as_ref();
    let origin = path.display().to_string();
    let read = |source| ConfigError::Read { origin: origin.clone(), source };
    let file = fs::File::open(path).map_err(read)?;
    // One byte more than allowed is enough to know; a pipe or a device has no size to ask for.
    let mut bytes = Vec::new();
    file.take(MAX_FILE + 1).read_to_end(&mut bytes).map_err(read)?;
    if bytes.len() as u64 > MAX_FILE {
        let size = fs::metadata(path).map_or(0, |meta| meta.len()).max(bytes.len() as u64);
        return Err(too_large(&origin, size));
    }
    let text = String::from_utf8(bytes).map_err(|error| ConfigError::Syntax {
        place: Place { origin: origin.clone(), at: None, path: String::new() },
        message: format!(
            "not UTF-8 text (byte {}); save the file as UTF-8",
            error.utf8_error().valid_up_to()
        ),
    })?;
    let mut site = parse_site(&text, &origin)?;
    let absolute = fs::canonicalize(path).ok().and_then(|path| path.to_str().map(str::to_owned));
    site.origin.file = absolute.map(|path| (path, sha256(text.as_bytes())));
    if let Some(named) = &site.ca_file {
        // The text goes with the site: the store may be used where the file is not.
        let pem = read_pem(named, path.parent(), MAX_FILE)?;
        Wire::roots_of(&pem).map_err(|message| ConfigError::Invalid {
            place: Place { origin, at: place::locate(&text, "ca_file"), path: "ca_file".to_owned() },
            message,
            fix: "`openssl x509 -in FILE -text` shows what is in a file".to_owned(),
        })?;
        site.ca_file = Some(pem);
    }
    Ok(site)
}

/// A hash in hex.
pub(crate) fn sha256(bytes: &[u8]) -> String {
    hex(&Sha256::digest(bytes))
}

/// The PEM text that a `ca_file` names, or is; a relative name is relative to `beside`.
pub(crate) fn read_pem(named: &str, beside: Option<&Path>, limit: u64) -> Result<String, ConfigError> {
    if named.contains("-----BEGIN ") {
        return Ok(named.to_owned());
    }
    let path = beside.map_or_else(|| Path::new(named).to_path_buf(), |dir| dir.join(named));
    let read = |source| ConfigError::Read { origin: format!("ca_file {}", path.display()), source };
    let mut text = String::new();
    fs::File::open(&path).and_then(|file| file.take(limit).read_to_string(&mut text)).map_err(read)?;
    Ok(text)
}

/// Reads and checks the text of a site file; `origin` names it in messages.
pub fn parse_site(text: &str, origin: &str) -> Result<SiteConfig, ConfigError> {
    if text.len() as u64 > MAX_FILE {
        return Err(too_large(origin, text.len() as u64));
    }
    // The parser's own budgets hold against alias bombs and deep nesting.
    let mut site: SiteConfig =
        serde_saphyr::from_str(text).map_err(|error| yaml_error(origin, text, &error))?;
    site.origin = Origin { name: origin.to_owned(), text: text.to_owned(), file: None };
    check::site(&site)?;
    Ok(site)
}

fn too_large(origin: &str, size: u64) -> ConfigError {
    ConfigError::TooLarge { origin: origin.to_owned(), size, limit: MAX_FILE }
}

fn yaml_error(origin: &str, text: &str, error: &YamlError) -> ConfigError {
    let at = error.location().map(|at| (at.line() as u32, at.column() as u32)).filter(|at| at.0 > 0);
    let path = at.and_then(|at| place::path_at(text, at)).unwrap_or_default();
    let place = Place { origin: origin.to_owned(), at, path };
    match error.without_snippet() {
        YamlError::SerdeUnknownField { field, expected, .. } => ConfigError::UnknownKey {
            place: Place { path: String::new(), ..place },
            key: field.clone(),
            fix: suggestion(field, expected.iter().copied()),
        },
        YamlError::SerdeUnknownVariant { variant, expected, .. } => ConfigError::Invalid {
            place,
            message: format!("`{variant}` is none of the choices"),
            fix: suggestion(variant, expected.iter().copied()),
        },
        YamlError::SerdeMissingField { field, .. } => ConfigError::Invalid {
            place: Place { path: [&*place.path, field].join(".").trim_matches('.').to_owned(), ..place },
            message: format!("`{field}` is missing"),
            fix: format!("add `{field}: …`"),
        },
        other => {
            let words = other.to_string();
            // The place is already said in front.
            let message = words.split(" at line ").next().unwrap_or(&words).trim();
            ConfigError::Syntax { place, message: plain_words(message) }
        }
    }
}

/// The parser speaks to programmers; who writes a site file need not be one.
fn plain_words(message: &str) -> String {
    let words = match message {
        "unexpected end of input" | "unexpected end of event stream" => {
            "the file is empty or ends too early; `dibao site schema` describes what belongs in it"
        }
        "expected mapping start" => "expected `key: value` lines here",
        "expected sequence start" => "expected a list here: lines that begin with `- `, or [a, b]",
        "invalid bool" => "expected true or false",
        _ if message.starts_with("invalid u") => "expected a whole number, 0 or more",
        _ if message.starts_with("invalid f") => "expected a number",
        other => other,
    };
    words.to_owned()
}
