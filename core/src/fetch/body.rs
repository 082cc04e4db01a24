//! Decompresses a body as it arrives, and stops when it grows too large.
//!
//! The cap holds after decompression: a thousandfold gzip bomb ends at the cap, not in memory.

use std::io::{self, Write};

use flate2::write::GzDecoder;
use flate2::{Decompress, FlushDecompress, Status};
use http::header::{CONTENT_ENCODING, HeaderMap};

use super::error::FetchErrorKind;

/// Input is fed in pieces of this size: one piece of a bomb is at most 8 MiB of output (deflate expands no
/// more than 1032-fold), so a stream that is written out as it goes stays small in memory.
pub(super) const PIECE: usize = 8 << 10;
/// Members of one gzip stream. Honest ones have one; each costs a decoder.
const MAX_MEMBERS: u32 = 256;

/// How a body is compressed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Coding {
    Identity,
    Gzip,
    Deflate,
}

/// Reads `content-encoding`; an unknown one cannot be turned into a page.
pub(super) fn coding(headers: &HeaderMap) -> Result<Coding, FetchErrorKind> {
    let mut coding = Coding::Identity;
    for value in headers.get_all(CONTENT_ENCODING) {
        for name in value.as_bytes().split(|&b| b == b',').map(<[u8]>::trim_ascii) {
            let next = match name.to_ascii_lowercase().as_slice() {
                // `none` and `utf-8` are what misconfigured servers write for "not at all".
                b"" | b"identity" | b"none" | b"utf-8" => continue,
                b"gzip" | b"x-gzip" => Coding::Gzip,
                b"deflate" => Coding::Deflate,
                other => {
                    let name: String = String::from_utf8_lossy(other).chars().take(40).collect();
                    return Err(FetchErrorKind::BadEncoding(format!(
                        "content-encoding {name:?} was not asked for and is not known"
                    )));
                }
            };
            if coding != Coding::Identity {
                return Err(FetchErrorKind::BadEncoding("it is compressed more than once".into()));
            }
            coding = next;
        }
    }
    Ok(coding)
}

/// Collects output up to a limit.
#[derive(Debug, Default)]
struct Capped {
    bytes: Vec<u8>,
    total: u64,
    limit: u64,
    over: bool,
}

impl Write for Capped {
    fn write(&mut self, piece: &[u8]) -> io::Result<usize> {
        self.total += piece.len() as u64;
        if self.total > self.limit {
            self.over = true;
            return Err(io::Error::other("over the limit"));
        }
        self.bytes.extend_from_slice(piece);
        Ok(piece.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

/// A body on its way through decompression.
pub(super) struct Decoder {
    state: State,
    limit: u64,
    /// Input so far: an empty body is empty, however it is said to be compressed.
    fed: bool,
}

enum State {
    Identity(Capped),
    Gzip { member: Box<GzDecoder<Capped>>, members: u32, ended: bool },
    Deflate { inflate: Option<Decompress>, head: Vec<u8>, out: Capped, ended: bool },
}

impl Decoder {
    pub fn new(coding: Coding, limit: u64) -> Decoder {
        let out = Capped { limit, ..Capped::default() };
        let state = match coding {
            Coding::Identity => State::Identity(out),
            Coding::Gzip => State::Gzip { member: Box::new(GzDecoder::new(out)), members: 1, ended: false },
            Coding::Deflate => State::Deflate { inflate: None, head: Vec::new(), out, ended: false },
        };
        Decoder { state, limit, fed: false }
    }

    /// Takes the next piece of input.
    pub fn feed(&mut self, input: &[u8]) -> Result<(), FetchErrorKind> {
        self.fed |= !input.is_empty();
        let done = match &mut self.state {
            State::Identity(out) => out.write_all(input),
            State::Gzip { member, members, ended } => gunzip(member, members, ended, input),
            State::Deflate { inflate, head, out, ended } => inflate_some(inflate, head, out, ended, input),
        };
        done.map_err(|error| self.failed(&error))
    }

    /// What has been decompressed since the last call.
    pub fn take(&mut self) -> Vec<u8> {
        std::mem::take(&mut self.out().bytes)
    }

    /// The input is at its end: is the output?
    pub fn finish(&mut self) -> Result<(), FetchErrorKind> {
        if !self.fed {
            return Ok(());
        }
        let whole = match &mut self.state {
            State::Identity(_) => true,
            State::Gzip { ended: true, .. } => true,
            State::Gzip { member, .. } => member.try_finish().is_ok(),
            State::Deflate { ended, .. } => *ended,
        };
        if self.out().over {
            return Err(FetchErrorKind::TooLarge { limit: self.limit });
        }
        if whole {
            Ok(())
        } else {
            Err(FetchErrorKind::Truncated("the compressed data is incomplete".into()))
        }
    }

    fn out(&mut self) -> &mut Capped {
        match &mut self.state {
            State::Identity(out) | State::Deflate { out, .. } => out,
            State::Gzip { member, .. } => member.get_mut(),
        }
    }

    fn failed(&mut self, error: &io::Error) -> FetchErrorKind {
        if self.out().over {
            FetchErrorKind::TooLarge { limit: self.limit }
        } else {
            FetchErrorKind::BadEncoding(error.to_string())
        }
    }
}

fn gunzip(
    member: &mut Box<GzDecoder<Capped>>,
    members: &mut u32,
    ended: &mut bool,
    mut input: &[u8],
) -> io::Result<()> {
    while !input.is_empty() && !*ended {
        let taken = member.write(input)?;
        input = &input[taken..];
        if taken > 0 {
            continue;
        }
        // The member is complete. Another may follow; anything else behind it is rubbish that browsers ignore.
        member.try_finish()?;
        *ended = true;
        if input.starts_with(&[0x1f, 0x8b]) {
            *members += 1;
            if *members > MAX_MEMBERS {
                return Err(io::Error::other("too many gzip members"));
            }
            let out = std::mem::take(member.get_mut());
            **member = GzDecoder::new(out);
            *ended = false;
        }
    }
    Ok(())
}

/// `deflate` means zlib by the standard and raw deflate by some servers; the first two bytes tell.
fn inflate_some(
    inflate: &mut Option<Decompress>,
    head: &mut Vec<u8>,
    out: &mut Capped,
    ended: &mut bool,
    input: &[u8],
) -> io::Result<()> {
    let joined;
    let mut input = input;
    if inflate.is_none() {
        head.extend_from_slice(input);
        if head.len() < 2 {
            return Ok(());
        }
        let zlib = head[0] & 0x0f == 8 && u16::from_be_bytes([head[0], head[1]]).is_multiple_of(31);
        *inflate = Some(Decompress::new(zlib));
        joined = std::mem::take(head);
        input = &joined;
    }
    let Some(inflate) = inflate else { return Ok(()) };
    let mut buffer = [0u8; 16 << 10];
    while !*ended {
        let (before_in, before_out) = (inflate.total_in(), inflate.total_out());
        let status = inflate
            .decompress(input, &mut buffer, FlushDecompress::None)
            .map_err(|e| io::Error::other(e.to_string()))?;
        input = &input[(inflate.total_in() - before_in) as usize..];
        let produced = (inflate.total_out() - before_out) as usize;
        out.write_all(&buffer[..produced])?;
        match status {
            Status::StreamEnd => *ended = true,
            // Output that fills the buffer may have more behind it; less than that needs more input.
            _ if produced < buffer.len() && input.is_empty() => break,
            Status::BufError if produced == 0 => break,
            _ => {}
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use flate2::Compression;
    use flate2::write::{DeflateEncoder, GzEncoder, ZlibEncoder};
    use proptest::prelude::*;

    use super::*;

    fn gzip(bytes: &[u8]) -> Vec<u8> {
        let mut encoder = GzEncoder::new(Vec::new(), Compression::best());
        encoder.write_all(bytes).unwrap();
        encoder.finish().unwrap()
    }

    fn zlib(bytes: &[u8]) -> Vec<u8> {
        let mut encoder = ZlibEncoder::new(Vec::new(), Compression::default());
        encoder.write_all(bytes).unwrap();
        encoder.finish().unwrap()
    }

    fn raw(bytes: &[u8]) -> Vec<u8> {
        let mut encoder = DeflateEncoder::new(Vec::new(), Compression::default());
        encoder.write_all(bytes).unwrap();
        encoder.finish().unwrap()
    }

    fn decode(coding: Coding, input: &[u8], piece: usize, limit: u64) -> Result<Vec<u8>, FetchErrorKind> {
        let mut decoder = Decoder::new(coding, limit);
        let mut out = Vec::new();
        for piece in input.chunks(piece.max(1)) {
            decoder.feed(piece)?;
            out.extend(decoder.take());
        }
        decoder.finish()?;
        out.extend(decoder.take());
        Ok(out)
    }

    #[test]
    fn a_bomb_ends_at_the_cap() {
        let bomb = gzip(&vec![0; 32 << 20]);
        assert!(bomb.len() < 64 << 10);
        for (coding, bytes) in [(Coding::Gzip, bomb), (Coding::Deflate, zlib(&vec![0; 32 << 20]))] {
            let mut decoder = Decoder::new(coding, 1 << 20);
            let error = bytes.chunks(PIECE).find_map(|piece| decoder.feed(piece).err());
            assert!(matches!(error, Some(FetchErrorKind::TooLarge { limit: 1048576 })), "{error:?}");
            assert!(decoder.take().len() <= 1 << 20);
        }
    }

    #[test]
    fn a_body_of_exactly_the_cap_passes() {
        for (coding, bytes) in [
            (Coding::Gzip, gzip(&[7; 1000])),
            (Coding::Deflate, zlib(&[7; 1000])),
            (Coding::Identity, vec![7; 1000]),
        ] {
            assert_eq!(decode(coding, &bytes, 100, 1000).unwrap().len(), 1000);
            assert!(matches!(decode(coding, &bytes, 100, 999), Err(FetchErrorKind::TooLarge { limit: 999 })));
        }
    }

    #[test]
    fn a_cut_stream_is_truncated_and_a_damaged_one_is_an_error() {
        let text = "政策".repeat(1000);
        for (coding, bytes) in [
            (Coding::Gzip, gzip(text.as_bytes())),
            (Coding::Deflate, zlib(text.as_bytes())),
            (Coding::Deflate, raw(text.as_bytes())),
        ] {
            for cut in [1, 5, bytes.len() / 2, bytes.len() - 1] {
                assert!(
                    matches!(decode(coding, &bytes[..cut], 7, 1 << 20), Err(FetchErrorKind::Truncated(_)))
                        || (coding == Coding::Deflate && cut == bytes.len() - 1),
                    "{coding:?} {cut}"
                );
            }
        }
        assert!(matches!(
            decode(Coding::Gzip, b"<html>not gzip at all</html>", 100, 1000),
            Err(FetchErrorKind::BadEncoding(_))
        ));
        assert!(matches!(
            decode(Coding::Deflate, b"\xff\xff\xff\xff\xff", 100, 1000),
            Err(FetchErrorKind::BadEncoding(_))
        ));
    }

    #[test]
    fn members_are_joined_and_rubbish_behind_them_is_ignored() {
        let two = [gzip(b"one "), gzip(b"two")].concat();
        assert_eq!(decode(Coding::Gzip, &two, 1000, 100).unwrap(), b"one two");
        assert_eq!(
            decode(Coding::Gzip, &[gzip(b"one"), b"\r\n0".to_vec()].concat(), 1000, 100).unwrap(),
            b"one"
        );
        let many = gzip(b"x").repeat(5000);
        assert!(matches!(decode(Coding::Gzip, &many, PIECE, 1 << 20), Err(FetchErrorKind::BadEncoding(_))));
    }

    #[test]
    fn an_empty_body_is_empty_however_it_is_labelled() {
        for coding in [Coding::Identity, Coding::Gzip, Coding::Deflate] {
            assert_eq!(decode(coding, b"", 10, 10).unwrap(), b"");
        }
    }

    #[test]
    fn content_encoding_is_read_leniently_and_refused_when_unknown() {
        let read = |value: &'static str| {
            let mut map = HeaderMap::new();
            map.insert(CONTENT_ENCODING, http::HeaderValue::from_static(value));
            coding(&map).ok()
        };
        assert_eq!(read("GZIP"), Some(Coding::Gzip));
        assert_eq!(read("x-gzip"), Some(Coding::Gzip));
        assert_eq!(read(" identity , deflate"), Some(Coding::Deflate));
        assert_eq!(read("none"), Some(Coding::Identity));
        assert_eq!(read("br"), None);
        assert_eq!(read("gzip, gzip"), None);
    }

    proptest! {
        #[test]
        fn what_was_compressed_comes_back_whatever_the_pieces(bytes in prop::collection::vec(any::<u8>(), 0..3000), piece in 1usize..500) {
            prop_assert_eq!(&decode(Coding::Gzip, &gzip(&bytes), piece, 1 << 20).unwrap(), &bytes);
            prop_assert_eq!(&decode(Coding::Deflate, &zlib(&bytes), piece, 1 << 20).unwrap(), &bytes);
            prop_assert_eq!(&decode(Coding::Identity, &bytes, piece, 1 << 20).unwrap(), &bytes);
        }

        #[test]
        fn no_bytes_make_a_decoder_panic(bytes in prop::collection::vec(any::<u8>(), 0..200), piece in 1usize..50) {
            for coding in [Coding::Gzip, Coding::Deflate] {
                let _ = decode(coding, &bytes, piece, 1000);
                let mut damaged = gzip(&bytes);
                for (i, byte) in bytes.iter().enumerate().take(5) {
                    let at = (*byte as usize * 7 + i) % damaged.len();
                    damaged[at] ^= 1 << (i % 8);
                }
                let _ = decode(coding, &damaged, piece, 1000);
            }
        }
    }
}
