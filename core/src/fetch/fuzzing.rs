//! Doors for the fuzz targets to what is private here. No part of the library's promises: anything may change.

use http::header::{HeaderMap, HeaderValue, LOCATION};
use url::Url;

use super::ask::Method;
use super::cookies::{self, Cookie};
use super::redirect;

/// Where a redirect leads, and whether what could be a credential stays behind.
pub fn redirect(status: u16, location: &[u8], from: &Url) -> Option<(Url, bool)> {
    let mut headers = HeaderMap::new();
    headers.insert(LOCATION, HeaderValue::from_bytes(location).ok()?);
    let next = redirect::next(status, &headers, from, Method::Get).ok()??;
    Some((next.url, next.crosses))
}

/// The `cookie` header that these make.
pub fn cookie_header(cookies: &[Cookie]) -> Option<Vec<u8>> {
    cookies::header(cookies).map(|value| value.as_bytes().to_vec())
}
