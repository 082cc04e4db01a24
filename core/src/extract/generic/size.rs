//! How long a text is, so that Chinese and English can be measured by one rule.

/// How much a text is.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(crate) struct Size {
    /// Letters, a Han character counting for two and a half: a Chinese text says the same in fewer.
    pub len: f32,
    /// Han characters and other words: what two texts are compared by.
    pub tokens: u32,
    /// Commas and their kin.
    pub commas: u32,
    /// Ends of sentences.
    pub ends: u32,
    /// Any other mark of punctuation.
    pub marks: u32,
}

/// What one Han character counts for among letters.
const HAN: f32 = 2.5;

pub(crate) fn size_of(text: &str) -> Size {
    let mut size = Size::default();
    let (mut in_word, mut letters, mut han) = (false, 0u32, 0u32);
    let mut spaced = true;
    for c in text.chars() {
        let is_word = match c {
            'a'..='z' | 'A'..='Z' | '0'..='9' => true,
            ' ' | '\t' | '\n' | '\r' | '\u{a0}' | '\u{3000}' | '\u{200b}' | '\u{feff}' => {
                // One space between words counts, as characters do elsewhere.
                if !spaced {
                    letters += 1;
                }
                spaced = true;
                in_word = false;
                continue;
            }
            '\u{4e00}'..='\u{9fff}'
            | '\u{3400}'..='\u{4dbf}'
            | '\u{3040}'..='\u{30ff}'
            | '\u{f900}'..='\u{faff}' => {
                han += 1;
                in_word = false;
                spaced = false;
                continue;
            }
            '，' | '、' | '；' | ',' | ';' | '،' => {
                size.commas += 1;
                false
            }
            '。' | '！' | '？' | '!' | '?' | '.' | '…' => {
                size.ends += 1;
                false
            }
            '：' | ':' | '“' | '”' | '"' | '《' | '》' | '（' | '）' | '(' | ')' | '‘' | '’' | '「'
            | '」' | '—' => {
                size.marks += 1;
                false
            }
            _ => c.is_alphanumeric(),
        };
        spaced = false;
        letters += 1;
        if is_word && !in_word {
            size.tokens += 1;
        }
        in_word = is_word;
    }
    size.tokens += han;
    size.len = letters as f32 + han as f32 * HAN;
    size
}
