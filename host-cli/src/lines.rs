//! Questions by lines from a program at the other end of a pipe, an answer to each, in order.
//!
//! An answer is out before this waits for the next question: whoever asks one thing at a time gets it at once, and whoever sends
//! thousands does not pay for a write each.

use std::io::{BufRead as _, BufReader, BufWriter, Read, Write};

use anyhow::Context as _;
use serde::Serialize;

const BUFFER: usize = 64 << 10;

/// Answers every line that is not blank. One of more than `longest` bytes is told as an error with its number, and the next one
/// is taken.
pub fn answer_lines<A: Serialize>(
    longest: usize,
    input: impl Read,
    output: impl Write,
    mut answer: impl FnMut(u64, Result<&[u8], String>) -> A,
) -> anyhow::Result<()> {
    let mut input = BufReader::with_capacity(BUFFER, input);
    let mut output = BufWriter::with_capacity(BUFFER, output);
    let mut line = Vec::new();
    for number in 1.. {
        if !input.buffer().contains(&b'\n') {
            output.flush()?;
        }
        line.clear();
        let limit = longest as u64 + 1;
        if (&mut input).take(limit).read_until(b'\n', &mut line).context("standard input")? == 0 {
            break;
        }
        let answered = if line.len() > longest && !line.ends_with(b"\n") {
            input.skip_until(b'\n').context("standard input")?;
            answer(number, Err(format!("longer than {longest} bytes")))
        } else if line.trim_ascii().is_empty() {
            continue;
        } else {
            answer(number, Ok(&line))
        };
        serde_json::to_writer(&mut output, &answered)?;
        output.write_all(b"\n")?;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use std::collections::VecDeque;

    use super::*;

    /// Hands out one piece at a time, and looks at what is out by then.
    struct Pieces<'a>(VecDeque<(&'static str, &'static str)>, &'a std::cell::RefCell<Vec<u8>>);

    impl Read for Pieces<'_> {
        fn read(&mut self, to: &mut [u8]) -> std::io::Result<usize> {
            let Some((piece, out)) = self.0.pop_front() else { return Ok(0) };
            assert_eq!(String::from_utf8_lossy(&self.1.borrow()), out, "before {piece:?} is asked for");
            to[..piece.len()].copy_from_slice(piece.as_bytes());
            Ok(piece.len())
        }
    }

    struct Out<'a>(&'a std::cell::RefCell<Vec<u8>>, &'a std::cell::Cell<u32>);

    impl Write for Out<'_> {
        fn write(&mut self, bytes: &[u8]) -> std::io::Result<usize> {
            self.0.borrow_mut().extend_from_slice(bytes);
            self.1.set(self.1.get() + 1);
            Ok(bytes.len())
        }

        fn flush(&mut self) -> std::io::Result<()> {
            Ok(())
        }
    }

    #[test]
    fn answers_are_out_before_the_next_question_is_waited_for_and_not_written_one_by_one() {
        let (out, writes) = (std::cell::RefCell::default(), std::cell::Cell::default());
        let pieces =
            [("1\n2\n3\n", ""), ("4", "1\n2\n3\n"), ("\n\n \n", "1\n2\n3\n"), ("123456\n5", "1\n2\n3\n4\n")];
        let answer = |number, line: Result<&[u8], String>| -> serde_json::Value {
            match line {
                Ok(line) => serde_json::from_slice(line).unwrap(),
                Err(error) => format!("line {number}: {error}").into(),
            }
        };
        answer_lines(3, Pieces(pieces.into(), &out), Out(&out, &writes), answer).unwrap();
        let all = String::from_utf8(out.into_inner()).unwrap();
        assert_eq!(all, "1\n2\n3\n4\n\"line 7: longer than 3 bytes\"\n5\n");
        assert_eq!(writes.get(), 4, "one for each time somebody waits, and the end");
    }
}
