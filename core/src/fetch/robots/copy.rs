//! What is kept of a robots.txt, for whom, and where.

use std::fmt;

use futures::future::BoxFuture;
use serde::{Deserialize, Serialize};
use url::Url;

use super::parse;
use crate::clock::Timestamp;

/// Scheme, host and port: what one robots.txt speaks for (RFC 9309 §2.3).
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Origin(String);

impl Origin {
    /// The origin of a web address; none for anything else.
    pub fn of(url: &Url) -> Option<Origin> {
        let is_web = matches!(url.scheme(), "http" | "https") && url.has_host();
        is_web.then(|| Origin(url.origin().ascii_serialization()))
    }

    /// `https://www.gov.cn`, without the usual port.
    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// Where its robots.txt is.
    pub fn robots_url(&self) -> String {
        format!("{}/robots.txt", self.0)
    }
}

impl fmt::Display for Origin {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

/// A definite answer about the robots.txt of an origin: the file, or that there is none.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct RobotsCopy {
    /// When it was answered, or last confirmed.
    pub fetched_at: Timestamp,
    /// The status it was answered with: 2xx with a body, else without.
    pub status: u16,
    /// The part of the file that counts; at most [`MAX_BODY`](super::MAX_BODY) bytes.
    #[serde(with = "body_form")]
    pub body: Vec<u8>,
    /// For asking whether it has changed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub etag: Option<String>,
    /// The same, of older servers.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub last_modified: Option<String>,
}

impl RobotsCopy {
    /// A copy of what was answered, cut to what counts.
    pub fn new(fetched_at: Timestamp, status: u16, body: &[u8]) -> RobotsCopy {
        let body = parse::kept(body).to_vec();
        RobotsCopy { fetched_at, status, body, etag: None, last_modified: None }
    }
}

/// Where copies outlive the process. Trouble with it is its own to log: a shelf that fails is an empty one, since
/// a file that was not kept is only asked for again.
pub trait RobotsShelf: Send + Sync + 'static {
    /// The copy last saved for an origin.
    fn load<'a>(&'a self, origin: &'a Origin) -> BoxFuture<'a, Option<RobotsCopy>>;
    /// Keeps a copy in place of the one before.
    fn save<'a>(&'a self, origin: &'a Origin, copy: &'a RobotsCopy) -> BoxFuture<'a, ()>;
}

/// A shelf that keeps nothing: each process asks anew.
#[derive(Clone, Copy, Debug, Default)]
pub struct NoShelf;

impl RobotsShelf for NoShelf {
    fn load<'a>(&'a self, _: &'a Origin) -> BoxFuture<'a, Option<RobotsCopy>> {
        Box::pin(std::future::ready(None))
    }

    fn save<'a>(&'a self, _: &'a Origin, _: &'a RobotsCopy) -> BoxFuture<'a, ()> {
        Box::pin(std::future::ready(()))
    }
}

/// Text where it is UTF-8, so that people can read it; the bytes where it is not.
mod body_form {
    use serde::{Deserialize, Deserializer, Serialize, Serializer};

    #[derive(Deserialize)]
    #[serde(untagged)]
    enum Form {
        Text(String),
        Bytes(Vec<u8>),
    }

    pub fn serialize<S: Serializer>(body: &[u8], serializer: S) -> Result<S::Ok, S::Error> {
        match std::str::from_utf8(body) {
            Ok(text) => text.serialize(serializer),
            Err(_) => body.serialize(serializer),
        }
    }

    pub fn deserialize<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Vec<u8>, D::Error> {
        Ok(match Form::deserialize(deserializer)? {
            Form::Text(text) => text.into_bytes(),
            Form::Bytes(bytes) => bytes,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_copy_survives_the_shelf_whatever_its_encoding() {
        for body in [&b"User-agent: *\n"[..], b"Disallow: /\xcd\xa8\xd6\xaa\n", b""] {
            let mut copy = RobotsCopy::new(Timestamp(1), 200, body);
            copy.etag = Some("\"x\"".into());
            let json = serde_json::to_string(&copy).unwrap();
            assert_eq!(serde_json::from_str::<RobotsCopy>(&json).unwrap(), copy);
        }
        assert_eq!(
            RobotsCopy::new(Timestamp(1), 200, &vec![b'\n'; 1 << 20]).body.len(),
            super::super::MAX_BODY
        );
    }

    #[test]
    fn an_origin_is_scheme_host_and_port() {
        for (url, origin) in [
            ("https://WWW.gov.cn:443/a?b", Some("https://www.gov.cn")),
            ("http://www.gov.cn:8080/", Some("http://www.gov.cn:8080")),
            ("https://user@[2001:db8::1]/", Some("https://[2001:db8::1]")),
            ("https://政府.cn/", Some("https://xn--mxtq1m.cn")),
            ("ftp://www.gov.cn/", None),
            ("data:text/plain,x", None),
        ] {
            let found = Origin::of(&Url::parse(url).unwrap());
            assert_eq!(found.as_ref().map(Origin::as_str), origin, "{url}");
        }
    }
}
