//! Reads JavaScript literals: what `window._CONFIG` is on these pages, with bare keys and single quotes outside and JSON
//! inside.
//!
//! It is no JavaScript: what is neither a literal nor `JSON.parse('…')` becomes null and is read over with its
//! brackets and quotes balanced. It never fails. A literal that breaks off is worth what came before; one with more
//! values than any page has is worth its beginning.

mod string;

use serde_json::{Map, Number, Value};

/// Values of one literal. A site's tree of columns has some thousands; ten times that is a page made to hurt, and
/// the guest's memory is small.
const MOST_VALUES: usize = 200_000;
/// Brackets inside brackets. Trees are four deep.
const DEEPEST: u32 = 64;
/// Bytes between a name and its `=`: each mention of the name is looked at, so that look must be short.
const NEAR: usize = 256;

/// Everything that a page's scripts assign to `name`, as one object: `window._CONFIG = {…}`, `var _CONFIG = {…}`, and
/// later `_CONFIG.DETAIL = {…}`. None when there is no such assignment.
pub fn assigned(page: &str, name: &str) -> Option<Map<String, Value>> {
    let bytes = page.as_bytes();
    let mut all: Option<Map<String, Value>> = None;
    let mut budget = MOST_VALUES;
    let mut from = 0;
    while let Some(found) = page[from..].find(name).filter(|_| budget > 0) {
        let at = from + found;
        let end = at + name.len();
        from = end;
        if at > 0 && is_word(bytes[at - 1]) || bytes.get(end).is_some_and(|byte| is_word(*byte)) {
            continue;
        }
        let mut near = Reader { text: &bytes[..bytes.len().min(end + NEAR)], at: end, budget };
        let Some(key) = near.target() else { continue };
        let mut reader = Reader { text: bytes, at: near.at, budget };
        let value = reader.value(0);
        budget = reader.budget;
        // All bytes the reader stops at are ASCII or the end, but a cut character must not be able to panic.
        from = page.floor_char_boundary(reader.at).max(end);
        let object = all.get_or_insert_default();
        match (key, value) {
            (Some(key), value) => {
                object.insert(key, value);
            }
            (None, Value::Object(read)) => object.extend(read),
            (None, _) => {}
        }
    }
    all
}

/// One literal at the beginning of `text`.
pub fn literal(text: &str) -> Value {
    Reader { text: text.as_bytes(), at: 0, budget: MOST_VALUES }.value(0)
}

fn is_word(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'$') || byte >= 0x80
}

struct Reader<'a> {
    text: &'a [u8],
    at: usize,
    budget: usize,
}

impl Reader<'_> {
    fn peek(&self) -> Option<u8> {
        self.text.get(self.at).copied()
    }

    fn take(&mut self, byte: u8) -> bool {
        let there = self.peek() == Some(byte);
        self.at += usize::from(there);
        there
    }

    fn rest(&self) -> &[u8] {
        self.text.get(self.at..).unwrap_or_default()
    }

    /// What stands behind a name that is assigned to: `=`, or a key and `=`. None when it is not assigned to.
    fn target(&mut self) -> Option<Option<String>> {
        // `window['_CONFIG']`
        if matches!(self.peek(), Some(b'\'' | b'"')) && self.text.get(self.at + 1) == Some(&b']') {
            self.at += 2;
        }
        self.space();
        let key = if self.take(b'.') {
            self.space();
            Some(self.word()?)
        } else if self.take(b'[') {
            self.space();
            let quote = self.peek().filter(|byte| matches!(byte, b'\'' | b'"'))?;
            let key = self.string(quote);
            self.space();
            self.take(b']').then_some(())?;
            Some(key)
        } else {
            None
        };
        self.space();
        (self.take(b'=') && !matches!(self.peek(), Some(b'=' | b'>'))).then_some(key)
    }

    fn value(&mut self, depth: u32) -> Value {
        self.space();
        if self.budget == 0 || depth > DEEPEST {
            self.skip();
            return Value::Null;
        }
        self.budget -= 1;
        let mut value = self.primary(depth);
        loop {
            self.space();
            match self.peek() {
                None | Some(b',' | b'}' | b']' | b')' | b';') => return value,
                // 'a' + 'b'
                Some(b'+') if value.is_string() => {
                    self.at += 1;
                    self.space();
                    match (&mut value, self.peek()) {
                        (Value::String(text), Some(quote @ (b'\'' | b'"' | b'`'))) => {
                            text.push_str(&self.string(quote));
                        }
                        _ => {
                            self.skip();
                            return Value::Null;
                        }
                    }
                }
                // A statement may end with its line, where what is on the next one cannot go on with it.
                Some(byte) if is_word(byte) || byte == b'<' => return value,
                // `'…' || ''` and the like: what stands first counts.
                Some(_) => {
                    self.skip();
                    return value;
                }
            }
        }
    }

    fn primary(&mut self, depth: u32) -> Value {
        match self.peek() {
            Some(b'{') => self.object(depth),
            Some(b'[') => self.array(depth),
            Some(quote @ (b'\'' | b'"' | b'`')) => Value::String(self.string(quote)),
            Some(b'0'..=b'9' | b'-' | b'+' | b'.') => self.number(),
            Some(b'!') => {
                self.at += 1;
                match self.number() {
                    Value::Number(number) => Value::Bool(number.as_i64() == Some(0)),
                    _ => Value::Null,
                }
            }
            _ => self.named(depth),
        }
    }

    /// `true`, `null`, `JSON.parse('…')`; anything else is read over.
    fn named(&mut self, depth: u32) -> Value {
        let start = self.at;
        match self.word().as_deref() {
            Some("true") => return Value::Bool(true),
            Some("false") => return Value::Bool(false),
            Some("null" | "undefined" | "NaN" | "Infinity") => return Value::Null,
            Some("JSON") => {
                self.space();
                if self.rest().starts_with(b".parse") {
                    self.at += ".parse".len();
                    self.space();
                    if self.take(b'(') {
                        let read = self.value(depth + 1);
                        self.take(b')');
                        return self.parsed(read, depth);
                    }
                }
            }
            _ => {}
        }
        self.at = start;
        self.skip();
        Value::Null
    }

    fn parsed(&mut self, text: Value, depth: u32) -> Value {
        let Value::String(text) = text else { return Value::Null };
        // The same reader, so that the same limits hold: JSON is a literal too.
        let mut inner = Reader { text: text.as_bytes(), at: 0, budget: self.budget };
        let value = inner.value(depth + 1);
        self.budget = inner.budget;
        value
    }

    fn object(&mut self, depth: u32) -> Value {
        self.at += 1;
        let mut object = Map::new();
        loop {
            if self.budget == 0 {
                self.give_up();
            }
            self.space();
            let before = self.at;
            let key = match self.peek() {
                None => break,
                Some(b'}') => {
                    self.at += 1;
                    break;
                }
                Some(b',') => {
                    self.at += 1;
                    continue;
                }
                Some(quote @ (b'\'' | b'"' | b'`')) => Some(self.string(quote)),
                Some(_) => self.word(),
            };
            self.space();
            match key {
                Some(key) if self.take(b':') => {
                    let value = self.value(depth + 1);
                    object.insert(key, value);
                }
                // A method, a spread, a computed key: read over.
                _ => self.skip(),
            }
            self.onward(before);
        }
        Value::Object(object)
    }

    fn array(&mut self, depth: u32) -> Value {
        self.at += 1;
        let mut items = Vec::new();
        loop {
            if self.budget == 0 {
                self.give_up();
            }
            self.space();
            let before = self.at;
            match self.peek() {
                None => break,
                Some(b']') => {
                    self.at += 1;
                    break;
                }
                Some(b',') => {
                    self.at += 1;
                    continue;
                }
                Some(_) => items.push(self.value(depth + 1)),
            }
            self.onward(before);
        }
        Value::Array(items)
    }

    /// The rest is not even read over: that takes longer than a turn has.
    fn give_up(&mut self) {
        self.at = self.text.len();
    }

    /// A bracket that closes nothing must not hold the reader up.
    fn onward(&mut self, before: usize) {
        if self.at == before {
            self.at += 1;
        }
    }

    fn word(&mut self) -> Option<String> {
        let length = self.rest().iter().take_while(|byte| is_word(**byte)).count();
        let word = String::from_utf8_lossy(&self.rest()[..length]).into_owned();
        self.at += length;
        (length > 0).then_some(word)
    }

    fn number(&mut self) -> Value {
        let start = self.at;
        while let Some(byte) = self.peek() {
            let sign = matches!(byte, b'+' | b'-');
            let after_e = self.at == start || matches!(self.text[self.at - 1], b'e' | b'E');
            if !(byte.is_ascii_alphanumeric() || byte == b'.' || byte == b'_' || (sign && after_e)) {
                break;
            }
            self.at += 1;
        }
        let digits: String =
            self.text[start..self.at].iter().filter(|b| **b != b'_').map(|b| char::from(*b)).collect();
        let digits = digits.trim_start_matches('+');
        let hex = digits.strip_prefix("0x").or_else(|| digits.strip_prefix("0X"));
        let number = match hex {
            Some(hex) => i64::from_str_radix(hex, 16).ok().map(Number::from),
            None => digits.parse::<i64>().ok().map(Number::from).or_else(|| {
                // `inf` and `nan` are words to Rust and none to JavaScript.
                let real = digits.bytes().any(|byte| byte.is_ascii_digit());
                digits.parse::<f64>().ok().filter(|_| real).and_then(Number::from_f64)
            }),
        };
        number.map_or(Value::Null, Value::Number)
    }

    /// White space and comments.
    fn space(&mut self) {
        loop {
            let blank = self.rest().iter().take_while(|b| b.is_ascii_whitespace() || **b == 0x0b).count();
            self.at += blank;
            if self.rest().starts_with(b"//") {
                self.at += self.rest().iter().take_while(|byte| !matches!(byte, b'\n' | b'\r')).count();
            } else if self.rest().starts_with(b"/*") {
                let close = self.rest().windows(2).skip(2).position(|two| two == b"*/");
                self.at = close.map_or(self.text.len(), |inside| self.at + 2 + inside + 2);
            } else if let Some(width) =
                ["\u{a0}", "\u{3000}", "\u{feff}"].iter().find(|s| self.rest().starts_with(s.as_bytes()))
            {
                self.at += width.len();
            } else {
                return;
            }
        }
    }

    /// To the end of an expression: a comma, a semicolon or a closing bracket that belongs to what is around it.
    fn skip(&mut self) {
        let mut depth = 0usize;
        loop {
            self.space();
            match self.peek() {
                None => return,
                Some(quote @ (b'\'' | b'"' | b'`')) => {
                    self.string(quote);
                    continue;
                }
                Some(b'(' | b'[' | b'{') => depth += 1,
                Some(b')' | b']' | b'}') if depth == 0 => return,
                Some(b')' | b']' | b'}') => depth -= 1,
                Some(b',' | b';') if depth == 0 => return,
                Some(_) => {}
            }
            self.at += 1;
        }
    }
}

#[cfg(test)]
mod tests;
