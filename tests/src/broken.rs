//! Plays faults on the wire: endless, dripping and explosive bodies through hyper, and lies about lengths
//! written straight to the socket, where hyper would not let them through.

use std::io::Write as _;
use std::sync::OnceLock;
use std::time::Duration;

use bytes::Bytes;
use flate2::Compression;
use flate2::write::GzEncoder;
use futures::{Stream, stream};
use tokio::io::{AsyncWrite, AsyncWriteExt as _};

use crate::answer::Answer;

/// Size of a piece of an endless body: large enough to be cheap, small enough to stop soon.
const PIECE: usize = 64 * 1024;

/// What happens to the bare connection instead of an answer.
#[derive(Debug, Clone)]
pub(crate) enum Ending {
    /// RST.
    Reset,
    /// These bytes, then FIN without a TLS goodbye.
    Cut(Vec<u8>),
}

impl std::fmt::Display for Ending {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("the replica breaks this connection on purpose")
    }
}

impl std::error::Error for Ending {}

/// Half of the answer's body under its full length.
pub(crate) fn truncated(answer: &Answer) -> Ending {
    let mut bytes = head(answer, answer.body.len() as u64);
    bytes.extend_from_slice(&answer.body[..answer.body.len() / 2]);
    Ending::Cut(bytes)
}

/// All of the answer's body under a wrong length.
pub(crate) fn mislabelled(answer: &Answer, delta: i64) -> Ending {
    let mut bytes = head(answer, (answer.body.len() as u64).saturating_add_signed(delta));
    bytes.extend_from_slice(&answer.body);
    Ending::Cut(bytes)
}

fn head(answer: &Answer, length: u64) -> Vec<u8> {
    let (status, kind) = (answer.status, answer.content_type);
    format!("HTTP/1.1 {status} OK\r\ncontent-type: {kind}\r\ncontent-length: {length}\r\n\r\n").into_bytes()
}

/// Writes what is due; the caller drops the connection afterwards.
pub(crate) async fn play<W: AsyncWrite + Unpin>(ending: Ending, to: &mut W) -> std::io::Result<()> {
    match ending {
        Ending::Reset => Ok(()),
        Ending::Cut(bytes) => {
            to.write_all(&bytes).await?;
            to.flush().await
        }
    }
}

/// `bytes` bytes, beginning like `start`, then blanks.
pub(crate) fn endless(start: &'static str, bytes: u64) -> impl Stream<Item = Bytes> {
    let blanks = Bytes::from(vec![b' '; PIECE]);
    let first = Bytes::from_static(start.as_bytes());
    let left = bytes.saturating_sub(first.len() as u64);
    let rest = stream::unfold(left, move |left| {
        let piece = blanks.slice(..(left as usize).min(PIECE));
        async move { (left > 0).then(|| (piece.clone(), left - piece.len() as u64)) }
    });
    futures::StreamExt::chain(stream::iter([first]), rest)
}

/// The body a byte at a time.
pub(crate) fn drip(body: Bytes, interval: Duration) -> impl Stream<Item = Bytes> {
    stream::unfold(0, move |at| {
        let byte = (at < body.len()).then(|| body.slice(at..at + 1));
        async move {
            let byte = byte?;
            if at > 0 {
                tokio::time::sleep(interval).await;
            }
            Some((byte, at + 1))
        }
    })
}

/// A gzip body that unpacks to `bytes` blanks after a bit of HTML. The usual size is packed once.
pub(crate) fn bomb(bytes: u64) -> Bytes {
    static USUAL: OnceLock<(u64, Bytes)> = OnceLock::new();
    let (size, packed) = USUAL.get_or_init(|| (bytes, pack(bytes)));
    if *size == bytes { packed.clone() } else { pack(bytes) }
}

fn pack(bytes: u64) -> Bytes {
    let mut encoder = GzEncoder::new(Vec::new(), Compression::fast());
    let blanks = vec![b' '; PIECE];
    // Writing to a vector cannot fail; should it ever, a shorter bomb is still a valid test input.
    let _ = encoder.write_all(b"<html><body>");
    let mut left = bytes;
    while left > 0 {
        let piece = (left as usize).min(PIECE);
        let _ = encoder.write_all(&blanks[..piece]);
        left -= piece as u64;
    }
    encoder.finish().unwrap_or_default().into()
}
