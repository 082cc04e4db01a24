//! Decompresses a body as it arrives, and stops when it grows too large.
//!
//! The cap holds after decompression: a thousandfold bomb ends at the cap, not in memory. What each way of compressing
//! needs is in `layer`.

mod layer;

use std::borrow::Cow;

use http::header::{CONTENT_ENCODING, HeaderMap};

use super::error::FetchErrorKind;
use layer::Layer;

/// Input is fed in pieces of this size: one piece of a gzip bomb is at most 8 MiB of output (deflate expands no
/// more than 1032-fold), so a stream that is written out as it goes stays small in memory.
pub(super) const PIECE: usize = 8 << 10;
/// What may come out of one piece of a stream that is written out as it goes. Brotli and zstd know no bound.
const BURST: u64 = 64 << 20;
/// A server that compresses what its pages are compressed with already does it twice. More is a game.
const MAX_LAYERS: usize = 2;

/// How a body is compressed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Coding {
    Gzip,
    Deflate,
    Brotli,
    Zstd,
}

/// Reads `content-encoding`: what was done last, and is undone first, stands first; nothing: the body is as it is. An
/// unknown one cannot be turned into a page.
pub(super) fn codings(headers: &HeaderMap) -> Result<Vec<Coding>, FetchErrorKind> {
    let mut codings = Vec::new();
    for value in headers.get_all(CONTENT_ENCODING) {
        for name in value.as_bytes().split(|&b| b == b',').map(<[u8]>::trim_ascii) {
            let next = match name.to_ascii_lowercase().as_slice() {
                // `none` and `utf-8` are what misconfigured servers write for "not at all".
                b"" | b"identity" | b"none" | b"utf-8" => continue,
                b"gzip" | b"x-gzip" => Coding::Gzip,
                b"deflate" => Coding::Deflate,
                b"br" => Coding::Brotli,
                b"zstd" => Coding::Zstd,
                other => {
                    let name: String = String::from_utf8_lossy(other).chars().take(40).collect();
                    return Err(FetchErrorKind::BadEncoding(format!(
                        "content-encoding {name:?} was not asked for and is not known"
                    )));
                }
            };
            if codings.len() == MAX_LAYERS {
                return Err(FetchErrorKind::BadEncoding("it is compressed more than twice".into()));
            }
            codings.insert(0, next);
        }
    }
    Ok(codings)
}

/// A body on its way through decompression.
pub(super) struct Decoder {
    /// The output of each is the input of the next; at least one.
    layers: Vec<Layer>,
    limit: u64,
}

impl Decoder {
    /// For a body that is collected: at most `limit` bytes of it.
    pub fn new(codings: &[Coding], limit: u64) -> Decoder {
        Decoder::with_burst(codings, limit, limit)
    }

    /// For a body that is taken after every [`PIECE`].
    pub fn streaming(codings: &[Coding], limit: u64) -> Decoder {
        Decoder::with_burst(codings, limit, limit.min(BURST))
    }

    fn with_burst(codings: &[Coding], limit: u64, burst: u64) -> Decoder {
        let layer = |coding| Layer::new(coding, limit, burst);
        let mut layers: Vec<Layer> = codings.iter().map(|coding| layer(Some(*coding))).collect();
        if layers.is_empty() {
            layers.push(layer(None));
        }
        Decoder { layers, limit }
    }

    /// Takes the next piece of input.
    pub fn feed(&mut self, input: &[u8]) -> Result<(), FetchErrorKind> {
        self.feed_from(0, Cow::Borrowed(input))
    }

    fn feed_from(&mut self, first: usize, mut piece: Cow<'_, [u8]>) -> Result<(), FetchErrorKind> {
        let (limit, last) = (self.limit, self.layers.len() - 1);
        for (index, layer) in self.layers.iter_mut().enumerate().skip(first) {
            if let Err(error) = layer.feed(&piece) {
                return Err(match layer.is_over() {
                    true => FetchErrorKind::TooLarge { limit },
                    false => FetchErrorKind::BadEncoding(error.to_string()),
                });
            }
            if index < last {
                piece = Cow::Owned(layer.take());
            }
        }
        Ok(())
    }

    /// What has been decompressed since the last call.
    pub fn take(&mut self) -> Vec<u8> {
        self.layers.last_mut().map(Layer::take).unwrap_or_default()
    }

    /// The input is at its end: is the output?
    pub fn finish(&mut self) -> Result<(), FetchErrorKind> {
        for index in 0..self.layers.len() {
            let layer = &mut self.layers[index];
            let whole = layer.finish();
            if layer.is_over() {
                return Err(FetchErrorKind::TooLarge { limit: self.limit });
            }
            if !whole {
                return Err(FetchErrorKind::Truncated("the compressed data is incomplete".into()));
            }
            if index + 1 < self.layers.len() {
                let rest = self.layers[index].take();
                self.feed_from(index + 1, Cow::Owned(rest))?;
            }
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests;
