//! Strings of literals: what stands between quotes, escapes resolved. Text that breaks off is worth what came before.

use super::Reader;

impl Reader<'_> {
    /// The string that begins here, without its quotes and with its escapes resolved.
    pub(super) fn string(&mut self, quote: u8) -> String {
        self.at += 1;
        let mut out: Vec<u8> = Vec::new();
        loop {
            // Runs without anything special are copied whole: a document's body is one string.
            let run = self.rest().iter().take_while(|byte| **byte != quote && **byte != b'\\').count();
            out.extend_from_slice(&self.text[self.at..self.at + run]);
            self.at += run;
            match self.peek() {
                Some(b'\\') => {
                    self.at += 1;
                    self.escape(&mut out);
                }
                Some(_) => {
                    self.at += 1;
                    break;
                }
                None => break,
            }
        }
        match String::from_utf8(out) {
            Ok(text) => text,
            Err(broken) => String::from_utf8_lossy(broken.as_bytes()).into_owned(),
        }
    }

    fn escape(&mut self, out: &mut Vec<u8>) {
        let Some(byte) = self.peek() else { return };
        self.at += 1;
        let code = match byte {
            b'n' => 0x0a,
            b't' => 0x09,
            b'r' => 0x0d,
            b'b' => 0x08,
            b'f' => 0x0c,
            b'v' => 0x0b,
            b'0' if !self.peek().is_some_and(|next| next.is_ascii_digit()) => 0,
            // A backslash at the end of a line goes on with the next one.
            b'\r' => {
                self.take(b'\n');
                return;
            }
            b'\n' => return,
            b'x' => match self.hex(2) {
                Some(code) => code,
                None => return out.push(b'x'),
            },
            b'u' => match self.unicode() {
                Some(code) => code,
                None => return out.push(b'u'),
            },
            other => return out.push(other),
        };
        let character = char::from_u32(code).unwrap_or(char::REPLACEMENT_CHARACTER);
        out.extend_from_slice(character.encode_utf8(&mut [0; 4]).as_bytes());
    }

    /// Behind `\u`: four digits, a pair of such, or digits in braces.
    fn unicode(&mut self) -> Option<u32> {
        if self.peek() == Some(b'{') {
            let length = self.rest().iter().skip(1).take(8).take_while(|b| b.is_ascii_hexdigit()).count();
            if length == 0 || self.text.get(self.at + 1 + length) != Some(&b'}') {
                return None;
            }
            self.at += 1;
            let code = self.hex(length);
            self.at += 1;
            return code;
        }
        let high = self.hex(4)?;
        if (0xd800..0xdc00).contains(&high) && self.rest().starts_with(b"\\u") {
            let before = self.at;
            self.at += 2;
            match self.hex(4) {
                Some(low) if (0xdc00..0xe000).contains(&low) => {
                    return Some(0x10000 + ((high - 0xd800) << 10) + (low - 0xdc00));
                }
                _ => self.at = before,
            }
        }
        Some(high)
    }

    fn hex(&mut self, length: usize) -> Option<u32> {
        let digits = self.text.get(self.at..self.at + length)?;
        if !digits.iter().all(u8::is_ascii_hexdigit) {
            return None;
        }
        self.at += length;
        u32::from_str_radix(std::str::from_utf8(digits).ok()?, 16).ok()
    }
}
