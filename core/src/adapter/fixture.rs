//! A fixture: one step of an adapter on disk, with everything that was said on the way.
//!
//! A folder per case. `case.json` has the call, the context and, turn by turn, the requests and the replies; the body of each
//! reply is a file of its own beside it, so that it can be looked at and edited; `expected.json` has what the adapter
//! should come to. Decides what these files look like and refuses what does not fit; [`replay`](super::replay) runs them.

use std::io::Read;
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::contract::{Article, Context, Entry, Expects, Failure, Method, Page, Reply, Request};

/// The file of the call, its context and the exchanges.
pub const CASE_FILE: &str = "case.json";
/// The file of what the adapter should come to.
pub const EXPECTED_FILE: &str = "expected.json";
/// No reply of the gate is larger than half of it.
const MAX_FILE: u64 = 16 << 20;

/// A fixture could not be read or written.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum FixtureError {
    /// A file or directory.
    #[error("{path}: {source}")]
    Io {
        /// Which one.
        path: PathBuf,
        /// The system's words.
        source: std::io::Error,
    },
    /// A file is not what a fixture has.
    #[error("{path}: {reason}")]
    Misfit {
        /// Which one.
        path: PathBuf,
        /// What is wrong with it.
        reason: String,
    },
}

/// One step of an adapter, recorded.
#[derive(Clone, Debug, PartialEq)]
pub struct Case {
    /// Which function of the contract.
    pub call: CaseCall,
    /// What it was given on its first turn; `now` and `seed` hold for all turns.
    pub context: Context,
    /// Requests and replies, turn by turn.
    pub exchanges: Vec<Exchange>,
    /// What the adapter should come to; none: not said yet.
    pub expected: Option<Expected>,
}

/// Which function of the contract a case calls.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase", deny_unknown_fields)]
pub enum CaseCall {
    /// `list-page`.
    List {
        /// `next` of the page before; none for the first.
        #[serde(default)]
        cursor: Option<String>,
    },
    /// `detail`.
    Detail {
        /// The row of the list.
        entry: Entry,
    },
}

/// What was asked for in a turn, and what came back.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Exchange {
    /// As the adapter wrote them.
    pub requests: Vec<Request>,
    /// In the order of the requests.
    pub replies: Vec<Reply>,
    /// The file of each reply's body.
    pub files: Vec<String>,
}

/// How a step ended.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Ending {
    /// A page of the list.
    Page(Page),
    /// A document.
    Article(Article),
    /// The adapter gave up with a reason of the contract.
    Failure(Failure),
}

impl Ending {
    /// `page`, `article` or `failure`.
    pub fn kind(&self) -> &'static str {
        match self {
            Ending::Page(_) => "page",
            Ending::Article(_) => "article",
            Ending::Failure(_) => "failure",
        }
    }
}

/// What a case should come to.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Expected {
    /// The rows, the document or the failure.
    #[serde(flatten)]
    pub ending: Ending,
    /// What the adapter leaves for the next step.
    #[serde(default, skip_serializing_if = "Blob::is_empty")]
    pub session: Blob,
}

/// Bytes in JSON: as text where they are, else in hex.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Blob(pub Vec<u8>);

impl Blob {
    fn is_empty(&self) -> bool {
        self.0.is_empty()
    }
}

#[derive(Serialize, Deserialize)]
#[serde(untagged)]
enum BlobForm {
    Text(String),
    Hex { hex: String },
}

impl Serialize for Blob {
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match std::str::from_utf8(&self.0) {
            Ok(text) => BlobForm::Text(text.to_owned()),
            Err(_) => BlobForm::Hex { hex: to_hex(&self.0) },
        }
        .serialize(serializer)
    }
}

impl<'de> Deserialize<'de> for Blob {
    fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        match BlobForm::deserialize(deserializer)? {
            BlobForm::Text(text) => Ok(Blob(text.into_bytes())),
            BlobForm::Hex { hex } => {
                of_hex(&hex).map(Blob).ok_or_else(|| serde::de::Error::custom("not hex digits"))
            }
        }
    }
}

fn to_hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}

fn of_hex(text: &str) -> Option<Vec<u8>> {
    let digit = |byte: u8| char::from(byte).to_digit(16);
    let pair = |pair: &[u8]| Some((digit(*pair.first()?)? * 16 + digit(*pair.get(1)?)?) as u8);
    text.as_bytes().chunks(2).map(pair).collect()
}

/// `case.json`.
#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct CaseForm {
    call: CaseCall,
    context: ContextForm,
    #[serde(default)]
    turns: Vec<TurnForm>,
}

#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct ContextForm {
    target: String,
    base: String,
    config: Value,
    #[serde(default, skip_serializing_if = "Blob::is_empty")]
    session: Blob,
    now: u64,
    seed: String,
}

#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct TurnForm {
    requests: Vec<RequestForm>,
    replies: Vec<ReplyForm>,
}

/// A request as it is written and compared.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct RequestForm {
    tag: String,
    method: MethodForm,
    url: String,
    #[serde(default)]
    headers: Vec<(String, String)>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    body: Option<Blob>,
    expects: ExpectsForm,
}

#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
#[serde(rename_all = "UPPERCASE")]
enum MethodForm {
    Get,
    Head,
    Post,
}

#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
enum ExpectsForm {
    Html,
    Json,
    Xml,
    Any,
}

#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct ReplyForm {
    tag: String,
    status: u16,
    url: String,
    #[serde(default)]
    headers: Vec<(String, String)>,
    /// The body's file in the same folder.
    file: String,
}

impl From<&Request> for RequestForm {
    fn from(request: &Request) -> Self {
        RequestForm {
            tag: request.tag.clone(),
            method: match request.method {
                Method::Get => MethodForm::Get,
                Method::Head => MethodForm::Head,
                Method::Post => MethodForm::Post,
            },
            url: request.url.clone(),
            headers: request.headers.clone(),
            body: request.body.clone().map(Blob),
            expects: match request.expects {
                Expects::Html => ExpectsForm::Html,
                Expects::Json => ExpectsForm::Json,
                Expects::Xml => ExpectsForm::Xml,
                Expects::Any => ExpectsForm::Any,
            },
        }
    }
}

impl From<RequestForm> for Request {
    fn from(form: RequestForm) -> Self {
        Request {
            tag: form.tag,
            method: match form.method {
                MethodForm::Get => Method::Get,
                MethodForm::Head => Method::Head,
                MethodForm::Post => Method::Post,
            },
            url: form.url,
            headers: form.headers,
            body: form.body.map(|blob| blob.0),
            expects: match form.expects {
                ExpectsForm::Html => Expects::Html,
                ExpectsForm::Json => Expects::Json,
                ExpectsForm::Xml => Expects::Xml,
                ExpectsForm::Any => Expects::Any,
            },
        }
    }
}

impl Case {
    /// Reads the case in a folder.
    pub fn read(dir: &Path) -> Result<Case, FixtureError> {
        let path = dir.join(CASE_FILE);
        let form: CaseForm = parse(&path)?;
        let misfit = |reason: String| FixtureError::Misfit { path: path.clone(), reason };
        let seed = of_hex(&form.context.seed).filter(|seed| seed.len() == 32);
        let seed = seed.ok_or_else(|| misfit("context.seed must be 64 hex digits (32 bytes)".into()))?;
        let mut exchanges = Vec::with_capacity(form.turns.len());
        for turn in form.turns {
            let mut exchange = Exchange {
                requests: turn.requests.into_iter().map(Request::from).collect(),
                ..Exchange::default()
            };
            for ReplyForm { tag, status, url, headers, file } in turn.replies {
                if !is_bare(&file) {
                    return Err(misfit(format!("the body {file:?} must be a file of this folder")));
                }
                let body = read_capped(&dir.join(&file))?;
                exchange.replies.push(Reply { tag, status, url, headers, body });
                exchange.files.push(file);
            }
            exchanges.push(exchange);
        }
        let expected = dir.join(EXPECTED_FILE);
        let expected = if expected.exists() { Some(parse(&expected)?) } else { None };
        let ContextForm { target, base, config, session, now, .. } = form.context;
        let context = Context { target, base, config: config.to_string(), session: session.0, now, seed };
        Ok(Case { call: form.call, context, exchanges, expected })
    }

    /// Writes the case into a folder, which is made when missing. Files of another case in it are overwritten.
    pub fn write(&self, dir: &Path) -> Result<(), FixtureError> {
        let io = |path: &Path| {
            let path = path.to_path_buf();
            move |source| FixtureError::Io { path, source }
        };
        std::fs::create_dir_all(dir).map_err(io(dir))?;
        let mut turns = Vec::with_capacity(self.exchanges.len());
        for exchange in &self.exchanges {
            let mut replies = Vec::with_capacity(exchange.replies.len());
            for (reply, file) in exchange.replies.iter().zip(&exchange.files) {
                let path = dir.join(file);
                if !is_bare(file) {
                    return Err(FixtureError::Misfit { path, reason: "not the name of a file".into() });
                }
                std::fs::write(&path, &reply.body).map_err(io(&path))?;
                let Reply { tag, status, url, headers, .. } = reply.clone();
                replies.push(ReplyForm { tag, status, url, headers, file: file.clone() });
            }
            turns.push(TurnForm {
                requests: exchange.requests.iter().map(RequestForm::from).collect(),
                replies,
            });
        }
        let Context { target, base, config, session, now, seed } = self.context.clone();
        let config = serde_json::from_str(&config).unwrap_or(Value::String(config));
        let seed = to_hex(&seed);
        let context = ContextForm { target, base, config, session: Blob(session), now, seed };
        write_json(&dir.join(CASE_FILE), &CaseForm { call: self.call.clone(), context, turns })?;
        match &self.expected {
            Some(expected) => write_json(&dir.join(EXPECTED_FILE), expected),
            None => Ok(()),
        }
    }
}

/// The folders of a directory that hold a case, by name; the directory itself when it is one.
pub fn cases_in(dir: &Path) -> Result<Vec<PathBuf>, FixtureError> {
    if dir.join(CASE_FILE).is_file() {
        return Ok(vec![dir.to_path_buf()]);
    }
    let io = |source| FixtureError::Io { path: dir.to_path_buf(), source };
    let mut cases = Vec::new();
    for found in std::fs::read_dir(dir).map_err(io)? {
        let path = found.map_err(io)?.path();
        if path.join(CASE_FILE).is_file() {
            cases.push(path);
        }
    }
    cases.sort();
    Ok(cases)
}

/// A name for the file of a reply's body, by its turn (from 1), tag and content type.
pub fn body_file(turn: usize, reply: &Reply) -> String {
    let tag: String = reply
        .tag
        .chars()
        .take(40)
        .map(|c| if c.is_ascii_alphanumeric() || c == '-' || c == '_' { c } else { '-' })
        .collect();
    let kind = reply.headers.iter().find(|(name, _)| name == "content-type");
    let kind = kind.map_or("", |(_, value)| value.as_str()).to_ascii_lowercase();
    let ending = match () {
        () if kind.contains("json") => "json",
        () if kind.contains("html") => "html",
        () if kind.contains("xml") => "xml",
        () if kind.starts_with("text/") => "txt",
        () => "bin",
    };
    format!("{turn}-{tag}.{ending}")
}

fn parse<T: for<'de> Deserialize<'de>>(path: &Path) -> Result<T, FixtureError> {
    let bytes = read_capped(path)?;
    serde_json::from_slice(&bytes)
        .map_err(|error| FixtureError::Misfit { path: path.to_path_buf(), reason: error.to_string() })
}

fn read_capped(path: &Path) -> Result<Vec<u8>, FixtureError> {
    let io = |source| FixtureError::Io { path: path.to_path_buf(), source };
    let mut bytes = Vec::new();
    std::fs::File::open(path).map_err(io)?.take(MAX_FILE + 1).read_to_end(&mut bytes).map_err(io)?;
    if bytes.len() as u64 > MAX_FILE {
        let reason = format!("larger than {} MiB", MAX_FILE >> 20);
        return Err(FixtureError::Misfit { path: path.to_path_buf(), reason });
    }
    Ok(bytes)
}

fn write_json(path: &Path, value: &impl Serialize) -> Result<(), FixtureError> {
    let misfit =
        |error: serde_json::Error| FixtureError::Misfit { path: path.into(), reason: error.to_string() };
    let mut text = serde_json::to_string_pretty(value).map_err(misfit)?;
    text.push('\n');
    std::fs::write(path, text).map_err(|source| FixtureError::Io { path: path.into(), source })
}

fn is_bare(file: &str) -> bool {
    !file.starts_with('.')
        && Path::new(file).file_name().is_some_and(|name| name == file)
        && file != CASE_FILE
        && file != EXPECTED_FILE
}

#[cfg(test)]
mod tests {
    use super::*;

    fn case() -> Case {
        let request = Request {
            tag: "list".into(),
            method: Method::Post,
            url: "api?page=1".into(),
            headers: vec![("x-requested-with".into(), "XMLHttpRequest".into())],
            body: Some(vec![0xd6, 0xd0, 0xff]),
            expects: Expects::Json,
        };
        let reply = Reply {
            tag: "list".into(),
            status: 200,
            url: "https://a.gov.cn/api?page=1".into(),
            headers: vec![("content-type".into(), "application/json;charset=gbk".into())],
            body: vec![0xd6, 0xd0, 0, 1],
        };
        let files = vec![body_file(1, &reply)];
        Case {
            call: CaseCall::List { cursor: Some("2".into()) },
            context: Context {
                target: "a__b".into(),
                base: "https://a.gov.cn".into(),
                config: r#"{"list_url":"x"}"#.into(),
                session: b"{}".to_vec(),
                now: 1,
                seed: vec![7; 32],
            },
            exchanges: vec![Exchange { requests: vec![request], replies: vec![reply], files }],
            expected: Some(Expected {
                ending: Ending::Failure(Failure::Shape("没有行".into())),
                session: Blob(vec![0xff]),
            }),
        }
    }

    #[test]
    fn what_is_written_is_read_again() {
        let dir = tempfile::tempdir().unwrap();
        case().write(dir.path()).unwrap();
        assert_eq!(Case::read(dir.path()).unwrap(), case());
        assert_eq!(cases_in(dir.path()).unwrap(), [dir.path()]);
        assert!(dir.path().join("1-list.json").exists());
        let mut gone = case();
        gone.expected = Some(Expected { ending: Ending::Failure(Failure::Gone), session: Blob::default() });
        gone.write(dir.path()).unwrap();
        assert_eq!(Case::read(dir.path()).unwrap(), gone);
    }

    #[test]
    fn a_case_reads_no_file_outside_its_folder() {
        let dir = tempfile::tempdir().unwrap();
        case().write(dir.path()).unwrap();
        let path = dir.path().join(CASE_FILE);
        let text = std::fs::read_to_string(&path).unwrap();
        for file in ["../x", "/etc/passwd", "a/b", "..", ".hidden", ""] {
            std::fs::write(&path, text.replace("1-list.json", file)).unwrap();
            let error = Case::read(dir.path()).unwrap_err().to_string();
            assert!(error.contains("file of this folder"), "{file}: {error}");
        }
    }

    #[test]
    fn a_broken_case_is_named() {
        let dir = tempfile::tempdir().unwrap();
        case().write(dir.path()).unwrap();
        let path = dir.path().join(CASE_FILE);
        let text = std::fs::read_to_string(&path).unwrap();
        for (from, to) in
            [("\"seed\": \"07", "\"seed\": \""), ("\"POST\"", "\"PUT\""), ("\"now\"", "\"then\"")]
        {
            std::fs::write(&path, text.replacen(from, to, 1)).unwrap();
            let error = Case::read(dir.path()).unwrap_err().to_string();
            assert!(error.contains(CASE_FILE), "{error}");
        }
    }
}
