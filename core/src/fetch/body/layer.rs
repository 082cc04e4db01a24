//! One way of compressing, undone piece by piece under a limit.

use std::io::{self, Write};

use brotli_decompressor::{BrotliDecompressStream, BrotliResult, BrotliState, StandardAlloc};
use flate2::write::GzDecoder;
use flate2::{Decompress, FlushDecompress, Status};
use zstd::stream::raw::{DParameter, Decoder as ZstdDecoder, Operation};

use super::Coding;

/// Members of one gzip stream, frames of one of zstd. Honest ones have one; each costs a decoder.
const MAX_MEMBERS: u32 = 256;
/// What comes out at once.
const ROOM: usize = 16 << 10;
/// The logarithm of the largest window that zstd may ask memory for: 8 MiB, as RFC 9659 says.
const ZSTD_WINDOW: u32 = 23;

/// Collects output up to a limit.
#[derive(Debug, Default)]
struct Capped {
    bytes: Vec<u8>,
    total: u64,
    limit: u64,
    /// What may lie here and wait to be taken.
    burst: u64,
    over: bool,
}

impl Write for Capped {
    fn write(&mut self, piece: &[u8]) -> io::Result<usize> {
        self.total += piece.len() as u64;
        if self.total > self.limit || (self.bytes.len() + piece.len()) as u64 > self.burst {
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

pub(super) struct Layer {
    state: State,
    /// Input so far: an empty body is empty, however it is said to be compressed.
    fed: bool,
}

type Brotli = BrotliState<StandardAlloc, StandardAlloc, StandardAlloc>;

enum State {
    Identity(Capped),
    Gzip { member: Box<GzDecoder<Capped>>, members: u32, ended: bool },
    Deflate { inflate: Option<Decompress>, head: Vec<u8>, out: Capped, ended: bool },
    Brotli { state: Box<Brotli>, out: Capped, ended: bool },
    Zstd { decoder: Option<ZstdDecoder<'static>>, frames: u32, out: Capped, ended: bool },
}

impl Layer {
    pub fn new(coding: Option<Coding>, limit: u64, burst: u64) -> Layer {
        let out = Capped { limit, burst, ..Capped::default() };
        let state = match coding {
            None => State::Identity(out),
            Some(Coding::Gzip) => {
                State::Gzip { member: Box::new(GzDecoder::new(out)), members: 1, ended: false }
            }
            Some(Coding::Deflate) => State::Deflate { inflate: None, head: Vec::new(), out, ended: false },
            Some(Coding::Brotli) => {
                let alloc = StandardAlloc::default;
                State::Brotli { state: Box::new(Brotli::new(alloc(), alloc(), alloc())), out, ended: false }
            }
            Some(Coding::Zstd) => State::Zstd { decoder: None, frames: 0, out, ended: false },
        };
        Layer { state, fed: false }
    }

    /// Takes the next piece of input.
    pub fn feed(&mut self, input: &[u8]) -> io::Result<()> {
        self.fed |= !input.is_empty();
        match &mut self.state {
            State::Identity(out) => out.write_all(input),
            State::Gzip { member, members, ended } => gunzip(member, members, ended, input),
            State::Deflate { inflate, head, out, ended } => inflate_some(inflate, head, out, ended, input),
            State::Brotli { state, out, ended } => unbrotli(state, out, ended, input),
            State::Zstd { decoder, frames, out, ended } => unzstd(decoder, frames, out, ended, input),
        }
    }

    /// What came out since the last call.
    pub fn take(&mut self) -> Vec<u8> {
        std::mem::take(&mut self.out().bytes)
    }

    /// Whether it ended because there was too much of it.
    pub fn is_over(&mut self) -> bool {
        self.out().over
    }

    /// No more input comes: is it whole?
    pub fn finish(&mut self) -> bool {
        if !self.fed {
            return true;
        }
        match &mut self.state {
            State::Identity(_) | State::Gzip { ended: true, .. } => true,
            State::Gzip { member, .. } => member.try_finish().is_ok(),
            State::Deflate { ended, .. } | State::Brotli { ended, .. } | State::Zstd { ended, .. } => *ended,
        }
    }

    fn out(&mut self) -> &mut Capped {
        match &mut self.state {
            State::Identity(out)
            | State::Deflate { out, .. }
            | State::Brotli { out, .. }
            | State::Zstd { out, .. } => out,
            State::Gzip { member, .. } => member.get_mut(),
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
    let mut buffer = [0u8; ROOM];
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

fn unbrotli(state: &mut Brotli, out: &mut Capped, ended: &mut bool, input: &[u8]) -> io::Result<()> {
    let (mut left, mut at) = (input.len(), 0);
    let mut buffer = [0u8; ROOM];
    // What stands behind the end is ignored, as with gzip.
    while !*ended {
        let (mut room, mut produced, mut total) = (buffer.len(), 0, 0);
        let result = BrotliDecompressStream(
            &mut left,
            &mut at,
            input,
            &mut room,
            &mut produced,
            &mut buffer,
            &mut total,
            state,
        );
        out.write_all(&buffer[..produced])?;
        match result {
            BrotliResult::ResultSuccess => *ended = true,
            BrotliResult::NeedsMoreInput => break,
            BrotliResult::NeedsMoreOutput => {}
            BrotliResult::ResultFailure => return Err(io::Error::other("the brotli data is damaged")),
        }
    }
    Ok(())
}

fn unzstd(
    decoder: &mut Option<ZstdDecoder<'static>>,
    frames: &mut u32,
    out: &mut Capped,
    ended: &mut bool,
    mut input: &[u8],
) -> io::Result<()> {
    let mut buffer = [0u8; ROOM];
    while !input.is_empty() {
        let decoder = match decoder {
            Some(decoder) if !*ended => decoder,
            _ => {
                *frames += 1;
                if *frames > MAX_MEMBERS {
                    return Err(io::Error::other("too many zstd frames"));
                }
                *ended = false;
                let mut fresh = ZstdDecoder::new()?;
                fresh.set_parameter(DParameter::WindowLogMax(ZSTD_WINDOW))?;
                decoder.insert(fresh)
            }
        };
        loop {
            let step = decoder.run_on_buffers(input, &mut buffer)?;
            input = &input[step.bytes_read..];
            out.write_all(&buffer[..step.bytes_written])?;
            *ended = step.remaining == 0;
            // Output that fills the buffer may have more behind it.
            if *ended || (input.is_empty() && step.bytes_written < buffer.len()) {
                break;
            }
        }
    }
    Ok(())
}
