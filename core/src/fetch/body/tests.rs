use std::io::Write;

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

fn zstd(bytes: &[u8]) -> Vec<u8> {
    zstd::bulk::compress(bytes, 3).unwrap()
}

/// `政策文件` and a line end, two hundred times.
const BROTLI: &[u8] = b"\x1b\x27\x0a\xf8\x1d\xa9\x51\x1f\x6d\xaf\x14\xcc\x8b\xfc\x1c\x1c\x72\xe0\x18\x48\xbb\x58\x9a\x04\xc5\x81\xd1\xc0\xd5\x01\x00\xfd\x21\xb2\x02";
/// 32 MiB of nothing.
const BROTLI_BOMB: &[u8] = b"\xcb\xff\xff\x3f\xf8\x27\x00\xe2\xb1\x40\x20\xf7\xfe\x8f\xff\xff\x7f\xf0\x4f\x00\xc4\x61\x11\x80\xee\xfd\x1f\xff\xff\xff\xe0\x9f\x00\x88\xc3\x02\x00\xdd\xfb\x3f\xfe\xff\xff\xc1\x3f\x01\x10\x87\x05\x00\xba\xf7\x7f\x03";

fn decode(
    coding: impl Into<Option<Coding>>,
    input: &[u8],
    piece: usize,
    limit: u64,
) -> Result<Vec<u8>, FetchErrorKind> {
    let coding: Option<Coding> = coding.into();
    decode_all(coding.as_slice(), input, piece, limit)
}

fn decode_all(codings: &[Coding], input: &[u8], piece: usize, limit: u64) -> Result<Vec<u8>, FetchErrorKind> {
    let mut decoder = Decoder::new(codings, limit);
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
    let twice = gzip(&bomb);
    for (codings, bytes) in [
        (&[Coding::Gzip][..], bomb),
        (&[Coding::Deflate], zlib(&vec![0; 32 << 20])),
        (&[Coding::Brotli], BROTLI_BOMB.to_vec()),
        (&[Coding::Zstd], zstd(&vec![0; 32 << 20])),
        (&[Coding::Gzip, Coding::Gzip], twice),
    ] {
        let mut decoder = Decoder::new(codings, 1 << 20);
        let error = bytes.chunks(PIECE).find_map(|piece| decoder.feed(piece).err());
        let error = error.or_else(|| decoder.finish().err());
        assert!(matches!(error, Some(FetchErrorKind::TooLarge { limit: 1048576 })), "{codings:?} {error:?}");
        assert!(decoder.take().len() <= 1 << 20);
    }
    // Where the cap is far away, what one piece becomes is bounded all the same.
    let larger = zstd(&vec![0; BURST as usize + 1]);
    assert!(larger.len() < PIECE);
    let mut decoder = Decoder::streaming(&[Coding::Zstd], 1 << 40);
    assert!(matches!(decoder.feed(&larger), Err(FetchErrorKind::TooLarge { .. })));
    assert!(decoder.take().len() as u64 <= BURST);
}

#[test]
fn a_body_of_exactly_the_cap_passes() {
    for (coding, bytes) in [
        (Some(Coding::Gzip), gzip(&[7; 1000])),
        (Some(Coding::Deflate), zlib(&[7; 1000])),
        (Some(Coding::Zstd), zstd(&[7; 1000])),
        (None, vec![7; 1000]),
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
        (Coding::Brotli, BROTLI.to_vec()),
        (Coding::Zstd, zstd(text.as_bytes())),
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
    for coding in [Coding::Brotli, Coding::Zstd] {
        let error = decode(coding, b"<html>not compressed at all</html>", 100, 1000).unwrap_err();
        assert!(matches!(error, FetchErrorKind::BadEncoding(_)), "{coding:?} {error}");
    }
    assert!(matches!(
        decode(Coding::Deflate, b"\xff\xff\xff\xff\xff", 100, 1000),
        Err(FetchErrorKind::BadEncoding(_))
    ));
}

#[test]
fn members_are_joined_and_rubbish_behind_them_is_ignored() {
    let two = [gzip(b"one "), gzip(b"two")].concat();
    assert_eq!(decode(Coding::Gzip, &two, 1000, 100).unwrap(), b"one two");
    assert_eq!(decode(Coding::Gzip, &[gzip(b"one"), b"\r\n0".to_vec()].concat(), 1000, 100).unwrap(), b"one");
    let many = gzip(b"x").repeat(5000);
    assert!(matches!(decode(Coding::Gzip, &many, PIECE, 1 << 20), Err(FetchErrorKind::BadEncoding(_))));
}

#[test]
fn an_empty_body_is_empty_however_it_is_labelled() {
    for coding in [None, Some(Coding::Gzip), Some(Coding::Deflate), Some(Coding::Brotli), Some(Coding::Zstd)]
    {
        assert_eq!(decode(coding, b"", 10, 10).unwrap(), b"");
    }
}

#[test]
fn content_encoding_is_read_leniently_and_refused_when_unknown() {
    let read = |value: &'static str| {
        let mut map = HeaderMap::new();
        map.insert(CONTENT_ENCODING, http::HeaderValue::from_static(value));
        codings(&map).ok()
    };
    use Coding::*;
    for (value, expected) in [
        ("GZIP", Some(vec![Gzip])),
        ("x-gzip", Some(vec![Gzip])),
        (" identity , deflate", Some(vec![Deflate])),
        ("none", Some(vec![])),
        ("br", Some(vec![Brotli])),
        ("zstd", Some(vec![Zstd])),
        ("gzip, br", Some(vec![Brotli, Gzip])),
        ("gzip, gzip, gzip", None),
        ("compress", None),
    ] {
        assert_eq!(read(value), expected, "{value}");
    }
}

#[test]
fn what_is_compressed_twice_is_undone_in_the_right_order() {
    let text = "政策文件\n".repeat(200).into_bytes();
    for piece in [1, 7, 1000] {
        assert_eq!(decode(Coding::Brotli, BROTLI, piece, 1 << 20).unwrap(), text);
        assert_eq!(
            decode(Coding::Zstd, &[zstd(b"one "), zstd(b"two")].concat(), piece, 100).unwrap(),
            b"one two"
        );
        let both = [Coding::Zstd, Coding::Gzip];
        assert_eq!(decode_all(&both, &zstd(&gzip(&text)), piece, 1 << 20).unwrap(), text);
        let cut = decode_all(&both, &zstd(&gzip(&text)[..30]), piece, 1 << 20);
        assert!(matches!(cut, Err(FetchErrorKind::Truncated(_))), "{cut:?}");
    }
}

proptest! {
    #[test]
    fn what_was_compressed_comes_back_whatever_the_pieces(bytes in prop::collection::vec(any::<u8>(), 0..3000), piece in 1usize..500) {
        prop_assert_eq!(&decode(Coding::Gzip, &gzip(&bytes), piece, 1 << 20).unwrap(), &bytes);
        prop_assert_eq!(&decode(Coding::Deflate, &zlib(&bytes), piece, 1 << 20).unwrap(), &bytes);
        prop_assert_eq!(&decode(Coding::Zstd, &zstd(&bytes), piece, 1 << 20).unwrap(), &bytes);
        prop_assert_eq!(&decode(None, &bytes, piece, 1 << 20).unwrap(), &bytes);
    }

    #[test]
    fn no_bytes_make_a_decoder_panic(bytes in prop::collection::vec(any::<u8>(), 0..200), piece in 1usize..50) {
        for coding in [Coding::Gzip, Coding::Deflate, Coding::Brotli, Coding::Zstd] {
            let _ = decode(coding, &bytes, piece, 1000);
            let mut damaged = match coding {
                Coding::Zstd => zstd(&bytes),
                Coding::Brotli => BROTLI.to_vec(),
                _ => gzip(&bytes),
            };
            for (i, byte) in bytes.iter().enumerate().take(5) {
                let at = (*byte as usize * 7 + i) % damaged.len();
                damaged[at] ^= 1 << (i % 8);
            }
            let _ = decode(coding, &damaged, piece, 1000);
        }
    }
}
