//! Reads the body of an answer: whole, to a file, or its beginning; decompressed, on the time that is left.

use bytes::Bytes;
use http::header::CONTENT_LENGTH;
use reqwest::Response;
use sha2::{Digest, Sha256};
use tokio::io::{AsyncWrite, AsyncWriteExt};

use super::ask::Method;
use super::body::{self, Decoder};
use super::error::FetchErrorKind;
use super::gate::Shared;
use super::trip::Trip;

/// A length announced in a header is believed up to here when memory is set aside.
const BELIEVED_LENGTH: u64 = 1 << 20;

impl Shared {
    pub(super) async fn page(
        &self,
        mut response: Response,
        trip: &mut Trip,
    ) -> Result<Bytes, FetchErrorKind> {
        let codings = body::codings(response.headers())?;
        let cap = self.body_cap;
        let announced = announced(&response, trip.method, cap)?;
        let reading = async move {
            if codings.is_empty() {
                return self.plain(&mut response, announced, cap).await;
            }
            let (mut decoder, mut wire) = (Decoder::new(&codings, cap), 0u64);
            while let Some(chunk) = self.chunk(&mut response).await? {
                wire += chunk.len() as u64;
                if wire > cap {
                    return Err(FetchErrorKind::TooLarge { limit: cap });
                }
                decoder.feed(&chunk)?;
            }
            decoder.finish()?;
            Ok(Bytes::from(decoder.take()))
        };
        trip.timed(reading).await
    }

    /// An uncompressed page; one that came in one piece is not copied.
    async fn plain(
        &self,
        response: &mut Response,
        announced: u64,
        cap: u64,
    ) -> Result<Bytes, FetchErrorKind> {
        let Some(first) = self.chunk(response).await? else { return Ok(Bytes::new()) };
        let mut total = first.len() as u64;
        let mut whole: Option<Vec<u8>> = None;
        loop {
            if total > cap {
                return Err(FetchErrorKind::TooLarge { limit: cap });
            }
            let Some(chunk) = self.chunk(response).await? else { break };
            total += chunk.len() as u64;
            let whole = whole.get_or_insert_with(|| {
                let mut bytes =
                    Vec::with_capacity(announced.clamp(total, BELIEVED_LENGTH.max(total)) as usize);
                bytes.extend_from_slice(&first);
                bytes
            });
            whole.extend_from_slice(&chunk);
        }
        Ok(whole.map_or(first, Bytes::from))
    }

    /// Copies a file; its size, its hash, and its beginning for the one who judges it.
    pub(super) async fn file<W: AsyncWrite + Unpin>(
        &self,
        mut response: Response,
        trip: &mut Trip,
        mut to: W,
        cap: u64,
    ) -> Result<(u64, String, Vec<u8>), FetchErrorKind> {
        let codings = body::codings(response.headers())?;
        announced(&response, trip.method, cap)?;
        let copying = async move {
            let (mut hash, mut size, mut wire) = (Sha256::new(), 0u64, 0u64);
            let mut head = Vec::new();
            let mut decoder = (!codings.is_empty()).then(|| Decoder::streaming(&codings, cap));
            while let Some(chunk) = self.chunk(&mut response).await? {
                wire += chunk.len() as u64;
                if wire > cap {
                    return Err(FetchErrorKind::TooLarge { limit: cap });
                }
                let Some(decoder) = &mut decoder else {
                    hash.update(&chunk);
                    size = wire;
                    glimpse(&mut head, &chunk);
                    to.write_all(&chunk).await.map_err(FetchErrorKind::Write)?;
                    continue;
                };
                for piece in chunk.chunks(body::PIECE) {
                    decoder.feed(piece)?;
                    let plain = decoder.take();
                    hash.update(&plain);
                    glimpse(&mut head, &plain);
                    size += plain.len() as u64;
                    to.write_all(&plain).await.map_err(FetchErrorKind::Write)?;
                }
            }
            if let Some(mut decoder) = decoder {
                decoder.finish()?;
                let plain = decoder.take();
                hash.update(&plain);
                glimpse(&mut head, &plain);
                size += plain.len() as u64;
                to.write_all(&plain).await.map_err(FetchErrorKind::Write)?;
            }
            to.flush().await.map_err(FetchErrorKind::Write)?;
            let sha256 = hash.finalize().iter().map(|byte| format!("{byte:02x}")).collect();
            Ok((size, sha256, head))
        };
        trip.timed(copying).await
    }

    async fn chunk(&self, response: &mut Response) -> Result<Option<Bytes>, FetchErrorKind> {
        response.chunk().await.map_err(|error| self.http.explain(&error, true))
    }

    /// The beginning of a body: what is over the cap is not read.
    pub(super) async fn beginning(
        &self,
        mut response: Response,
        trip: &mut Trip,
        cap: usize,
    ) -> Result<Vec<u8>, FetchErrorKind> {
        let codings = body::codings(response.headers())?;
        let reading = async move {
            // Room for one piece beyond the cap, so that the piece that crosses it is not lost.
            let mut decoder = Decoder::new(&codings, (cap as u64).saturating_add(BELIEVED_LENGTH));
            let (mut bytes, mut wire) = (Vec::new(), 0);
            while let Some(chunk) = self.chunk(&mut response).await? {
                for piece in chunk.chunks(512) {
                    wire += piece.len();
                    let fed = decoder.feed(piece);
                    bytes.append(&mut decoder.take());
                    if bytes.len() >= cap || wire >= cap {
                        bytes.truncate(cap);
                        return Ok(bytes);
                    }
                    fed?;
                }
            }
            decoder.finish()?;
            bytes.append(&mut decoder.take());
            bytes.truncate(cap);
            Ok(bytes)
        };
        trip.timed(reading).await
    }
}

/// Keeps as much of the beginning of a file as a classification looks at.
fn glimpse(head: &mut Vec<u8>, more: &[u8]) {
    const ENOUGH: usize = 64 << 10;
    let room = ENOUGH.saturating_sub(head.len());
    head.extend_from_slice(&more[..more.len().min(room)]);
}

/// The announced length, refused at once when it is over the cap.
fn announced(response: &Response, method: Method, cap: u64) -> Result<u64, FetchErrorKind> {
    let length =
        response.headers().get(CONTENT_LENGTH).and_then(|v| v.to_str().ok()?.parse().ok()).unwrap_or(0);
    if length > cap && method != Method::Head {
        return Err(FetchErrorKind::TooLarge { limit: cap });
    }
    Ok(length)
}
