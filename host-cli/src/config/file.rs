//! `dibao.toml`: what stands in it, where, and whether it may.

use std::ops::Range;
use std::path::{Path, PathBuf};

use toml::de::{DeTable, DeValue};

use super::settings::{Kind, SETTINGS, Setting};

/// Nobody writes more than this by hand.
const LARGEST: u64 = 256 << 10;

/// A value of the file, as it would stand on the command line.
pub struct Said {
    pub setting: &'static Setting,
    pub values: Vec<String>,
    /// Counted from 1.
    pub line: usize,
}

/// Reads the file. A key that is not known is an error: it was meant to do something.
pub fn read(path: &Path) -> Result<Vec<Said>, String> {
    let shown = path.display();
    let length = std::fs::metadata(path).map_err(|error| format!("{shown}: {error}"))?.len();
    if length > LARGEST {
        return Err(format!("{shown}: larger than {} KiB: is this the right file?", LARGEST >> 10));
    }
    let text = std::fs::read_to_string(path).map_err(|error| format!("{shown}: {error}"))?;
    let home = path.parent().unwrap_or(Path::new("")).to_path_buf();
    parse(&text, &home).map_err(|(line, words)| format!("{shown}:{line}: {words}"))
}

fn parse(text: &str, home: &Path) -> Result<Vec<Said>, (usize, String)> {
    let line = |span: Range<usize>| text[..span.start.min(text.len())].matches('\n').count() + 1;
    let table = DeTable::parse(text)
        .map_err(|error| (line(error.span().unwrap_or(0..0)), error.message().trim().to_string()))?;
    let mut said = Vec::new();
    for (section, value) in table.get_ref() {
        let name: &str = section.get_ref();
        let here = line(section.span());
        if !SETTINGS.iter().any(|setting| setting.section == name) {
            let near = nearest(name, SETTINGS.iter().map(|setting| setting.section));
            return Err((here, format!("there is no section [{name}]{near}")));
        }
        let DeValue::Table(keys) = value.get_ref() else {
            return Err((here, format!("{name} is a section: write [{name}] and its keys below")));
        };
        for (key, value) in keys {
            let key_name: &str = key.get_ref();
            let here = line(key.span());
            let of_section = SETTINGS.iter().filter(|setting| setting.section == name);
            let Some(setting) = of_section.clone().find(|setting| setting.key == key_name) else {
                if name == "server" && key_name == "admin_password" {
                    let words = "a password does not belong here: use admin_password_file, or the variable ADMIN_PASSWORD";
                    return Err((here, words.to_string()));
                }
                let near = nearest(key_name, of_section.map(|setting| setting.key));
                return Err((here, format!("there is no setting {name}.{key_name}{near}")));
            };
            let values = values(value.get_ref(), setting.kind, home)
                .ok_or_else(|| (here, format!("{name}.{key_name} must be {}", wanted(setting.kind))))?;
            said.push(Said { setting, values, line: here });
        }
    }
    Ok(said)
}

/// The value as the command line would have it; none: it is of another kind.
fn values(value: &DeValue<'_>, kind: Kind, home: &Path) -> Option<Vec<String>> {
    let path = |text: &str| match text {
        // Not a file: no browser.
        "off" | "" => text.to_string(),
        _ => home.join(PathBuf::from(text)).to_string_lossy().into_owned(),
    };
    match (value, kind) {
        (DeValue::String(text), Kind::Text) => Some(vec![text.to_string()]),
        (DeValue::String(text), Kind::Path) => Some(vec![path(text)]),
        (DeValue::Integer(number), Kind::Number) => Some(vec![number.as_str().replace('_', "")]),
        (DeValue::Float(number), Kind::Number) => Some(vec![number.as_str().replace('_', "")]),
        (DeValue::Boolean(on), Kind::Flag) => Some(vec![on.to_string()]),
        (DeValue::Array(items), Kind::Texts | Kind::Paths) => items
            .iter()
            .map(|item| match item.get_ref() {
                DeValue::String(text) if kind == Kind::Paths => Some(path(text)),
                DeValue::String(text) => Some(text.to_string()),
                _ => None,
            })
            .collect(),
        _ => None,
    }
}

fn wanted(kind: Kind) -> &'static str {
    match kind {
        Kind::Text | Kind::Path => "text in quotes",
        Kind::Number => "a number",
        Kind::Flag => "true or false",
        Kind::Texts | Kind::Paths => "a list of texts: [\"…\", \"…\"]",
    }
}

/// `; did you mean listen?`, or what there is.
fn nearest<'a>(name: &str, known: impl Iterator<Item = &'a str>) -> String {
    let mut known: Vec<&str> = known.collect();
    known.dedup();
    let close = known.iter().map(|word| (strsim::damerau_levenshtein(name, word), *word)).min();
    match close {
        Some((distance, word)) if distance <= 2 => format!("; did you mean {word}?"),
        _ => format!("; there are: {}", known.join(", ")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn fails(text: &str) -> String {
        let (line, words) = parse(text, Path::new("/etc/dibao")).err().unwrap();
        format!("{line}: {words}")
    }

    #[test]
    fn what_is_wrong_is_named_with_its_line() {
        assert_eq!(
            fails("[server]\nlsten = \"x\""),
            "2: there is no setting server.lsten; did you mean listen?"
        );
        assert_eq!(fails("\n[sever]\n"), "2: there is no section [sever]; did you mean server?");
        assert_eq!(fails("[work]\njobs = \"3\""), "2: work.jobs must be a number");
        assert_eq!(fails("[fetch]\nallow_loopback = 1"), "2: fetch.allow_loopback must be true or false");
        assert_eq!(fails("[server]\nhost = \"a\""), "2: server.host must be a list of texts: [\"…\", \"…\"]");
        assert_eq!(fails("work = 3"), "1: work is a section: write [work] and its keys below");
        assert!(fails("[server]\nadmin_password = \"x\"").contains("admin_password_file"));
        assert!(fails("[server]\n\nlisten = ").starts_with("3: "));
    }

    #[test]
    fn paths_begin_at_the_file_and_numbers_lose_their_underscores() {
        let said = parse(
            "[store]\ndata = \"data\"\n[fetch]\ncacert = [\"/a.pem\", \"b.pem\"]\nchromium = \"off\"\n[work]\nkeep_jobs = 1_000\ndrain = 0.5",
            Path::new("/etc/dibao"),
        );
        let said: Vec<(String, Vec<String>, usize)> = said
            .ok()
            .unwrap()
            .into_iter()
            .map(|said| (said.setting.path(), said.values, said.line))
            .collect();
        let of = |path: &str| said.iter().find(|(at, ..)| at == path).unwrap().1.join(",");
        assert_eq!(of("store.data"), "/etc/dibao/data");
        assert_eq!(of("fetch.cacert"), "/a.pem,/etc/dibao/b.pem");
        assert_eq!(of("fetch.chromium"), "off");
        assert_eq!(of("work.keep_jobs"), "1000");
        assert_eq!(of("work.drain"), "0.5");
        assert_eq!(said.iter().find(|(at, ..)| at == "work.drain").unwrap().2, 8);
    }
}
