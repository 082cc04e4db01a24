//! The admin page: files of `page/`, embedded by the build script's list, or read from the disk while somebody works on them.

use std::path::{Component, Path};

use axum::body::Body;
use axum::response::{IntoResponse, Response};
use http::{HeaderMap, HeaderValue, StatusCode, header};
use sha2::{Digest, Sha256};

use crate::problem::{Code, Problem};

/// What a page may do: only what comes from here, and nothing inline.
pub const POLICY: &str = "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; connect-src 'self'; \
     font-src 'self'; form-action 'self'; base-uri 'none'; frame-ancestors 'none'";

/// Every file with its path.
pub struct File {
    pub path: &'static str,
    pub bytes: &'static [u8],
}

include!(concat!(env!("OUT_DIR"), "/page.rs"));

/// The file of that path below `/admin/`.
pub fn serve(path: &str, headers: &HeaderMap) -> Response {
    let path = if path.is_empty() { "index.html" } else { path };
    match find(path) {
        Some(bytes) => answer(path, bytes, headers),
        None => Problem::new(Code::NotFound, "the page has no such file").into_response(),
    }
}

enum Bytes {
    Built(&'static [u8]),
    Read(Vec<u8>),
}

fn find(path: &str) -> Option<Bytes> {
    // Only where the program is worked on: what is released serves what was built.
    if cfg!(debug_assertions)
        && let Some(dir) = std::env::var_os("DIBAO_PAGE")
    {
        let plain = Path::new(path).components().all(|part| matches!(part, Component::Normal(_)));
        return plain.then(|| std::fs::read(Path::new(&dir).join(path)).ok())?.map(Bytes::Read);
    }
    FILES.iter().find(|file| file.path == path).map(|file| Bytes::Built(file.bytes))
}

fn answer(path: &str, bytes: Bytes, headers: &HeaderMap) -> Response {
    let body = match &bytes {
        Bytes::Built(bytes) => bytes,
        Bytes::Read(bytes) => bytes.as_slice(),
    };
    let hash: [u8; 32] = Sha256::digest(body).into();
    let tag: String = hash[..12].iter().map(|byte| format!("{byte:02x}")).collect();
    let tag = format!("\"{tag}\"");
    let known = headers.get(header::IF_NONE_MATCH).and_then(|value| value.to_str().ok()).unwrap_or("");
    let mut answer = match known.split(',').any(|known| known.trim() == tag) {
        true => {
            let mut answer = Response::new(Body::empty());
            *answer.status_mut() = StatusCode::NOT_MODIFIED;
            answer
        }
        false => match bytes {
            Bytes::Built(bytes) => Response::new(Body::from(bytes)),
            Bytes::Read(bytes) => Response::new(Body::from(bytes)),
        },
    };
    let headers = answer.headers_mut();
    headers.insert(header::CONTENT_TYPE, HeaderValue::from_static(kind(path)));
    // Asked for anew each time, sent only when it is another.
    headers.insert(header::CACHE_CONTROL, HeaderValue::from_static("no-cache"));
    if let Ok(tag) = HeaderValue::from_str(&tag) {
        headers.insert(header::ETAG, tag);
    }
    headers.insert(header::CONTENT_SECURITY_POLICY, HeaderValue::from_static(POLICY));
    answer
}

fn kind(path: &str) -> &'static str {
    match path.rsplit('.').next().unwrap_or("") {
        "html" => "text/html; charset=utf-8",
        "js" | "mjs" => "text/javascript; charset=utf-8",
        "css" => "text/css; charset=utf-8",
        "json" | "webmanifest" => "application/json",
        "svg" => "image/svg+xml",
        "png" => "image/png",
        "ico" => "image/x-icon",
        "woff2" => "font/woff2",
        "txt" => "text/plain; charset=utf-8",
        _ => "application/octet-stream",
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_page_is_built_in_small_and_of_known_kinds() {
        assert!(FILES.iter().any(|file| file.path == "index.html"));
        let size: usize = FILES.iter().map(|file| file.bytes.len()).sum();
        assert!(FILES.len() > 30 && size < 200_000, "{size} bytes in {} files", FILES.len());
        for file in FILES {
            assert_ne!(kind(file.path), "application/octet-stream", "{}", file.path);
        }
    }

    #[test]
    fn no_text_of_the_page_spans_lines() {
        // The build takes indentation away, which must not be part of anything.
        for file in FILES {
            let text = std::str::from_utf8(file.bytes).unwrap();
            let odd = text.lines().find(|line| line.matches('`').count() % 2 == 1);
            assert_eq!(odd, None, "{}", file.path);
            assert!(!text.lines().any(|line| line.starts_with('\t')), "{}", file.path);
            // Nor of a comment, of which each has its own line, is there more than the beginning.
            assert!(!text.contains("/*") && !text.contains("*/"), "{}", file.path);
        }
    }

    #[test]
    fn nothing_inline_and_nothing_from_elsewhere() {
        for file in FILES.iter().filter(|file| file.path.ends_with(".html")) {
            let text = std::str::from_utf8(file.bytes).unwrap();
            for forbidden in ["<style", " style=", " onclick=", " onload=", "http://", "https://", "<script>"]
            {
                assert!(!text.contains(forbidden), "{}: {forbidden}", file.path);
            }
        }
    }

    #[test]
    fn a_path_is_a_file_of_the_page_or_nothing() {
        for path in ["../Cargo.toml", "/etc/passwd", "nowhere.js", "index.html/"] {
            assert_eq!(serve(path, &HeaderMap::new()).status(), 404, "{path}");
        }
        let page = serve("", &HeaderMap::new());
        assert_eq!(page.status(), 200);
        let mut headers = HeaderMap::new();
        headers.insert(header::IF_NONE_MATCH, page.headers()[header::ETAG].clone());
        assert_eq!(serve("index.html", &headers).status(), 304);
    }
}
