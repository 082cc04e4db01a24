//! Text to tokens, separated by spaces.

/// What a character is to the index.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Kind {
    /// Chinese, Japanese, Korean: paired with its neighbour.
    Pair,
    /// A letter or digit of a word that is kept whole.
    Word,
    /// Everything else.
    Gap,
}

/// The longest word that is one token; more is no word.
const LONGEST: usize = 64;

/// A character without its width and case.
pub(crate) fn fold(c: char) -> char {
    let c = match c {
        '\u{ff01}'..='\u{ff5e}' => char::from_u32(u32::from(c) - 0xfee0).unwrap_or(c),
        '\u{3000}' => ' ',
        c => c,
    };
    if c.is_ascii() { c.to_ascii_lowercase() } else { c.to_lowercase().next().unwrap_or(c) }
}

pub(super) fn kind(c: char) -> Kind {
    match c {
        '\u{3400}'..='\u{9fff}'
        | '\u{f900}'..='\u{faff}'
        | '\u{3041}'..='\u{30ff}'
        | '\u{ac00}'..='\u{d7a3}'
        | '\u{20000}'..='\u{3ffff}'
        | '〇'
        | '々' => Kind::Pair,
        c if c.is_alphanumeric() => Kind::Word,
        _ => Kind::Gap,
    }
}

/// The tokens of a text.
pub(crate) fn segment(text: &str) -> String {
    let mut out = String::with_capacity(text.len() * 2);
    each(text, |token| {
        if !out.is_empty() {
            out.push(' ');
        }
        out.push_str(token);
    });
    out
}

/// Calls with each token in order.
pub(super) fn each(text: &str, mut with: impl FnMut(&str)) {
    let mut token = String::new();
    let mut word = 0usize;
    // The last character of the run of pairs that is open, and whether it was told yet.
    let mut last: Option<(char, bool)> = None;
    let mut after_word = false;
    for c in text.chars().map(fold).chain(std::iter::once(' ')) {
        let kind = kind(c);
        if kind != Kind::Word && word > 0 {
            with(&token);
            token.clear();
            word = 0;
            after_word = true;
        }
        if kind != Kind::Pair
            && let Some((alone, told)) = last.take()
            && !told
        {
            with(alone.encode_utf8(&mut [0; 4]));
        }
        match kind {
            Kind::Gap => after_word = false,
            Kind::Word => {
                token.push(c);
                word += 1;
                if word >= LONGEST {
                    with(&token);
                    token.clear();
                    word = 0;
                }
            }
            Kind::Pair => {
                match last {
                    // What follows a number is told alone too, so that `5号` is found before `5号文件`.
                    None if after_word => with(c.encode_utf8(&mut [0; 4])),
                    None => {}
                    Some((before, _)) => {
                        let pair: String = [before, c].into_iter().collect();
                        with(&pair);
                    }
                }
                last = Some((c, last.is_some() || after_word));
                after_word = false;
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn text_is_cut_into_pairs_and_words() {
        for (text, tokens) in [
            ("财政部", "财政 政部"),
            ("关于印发《办法》的通知", "关于 于印 印发 办法 的通 通知"),
            ("国发〔2024〕5号", "国发 2024 5 号"),
            ("国发[２０２４]５号文件", "国发 2024 5 号 号文 文件"),
            ("手机APP下载", "手机 app 下 下载"),
            ("GDP 增长5.2%", "gdp 增长 5 2"),
            ("的", "的"),
            ("  ——  ", ""),
            ("Ünïcode ÉCOLE", "ünïcode école"),
        ] {
            assert_eq!(segment(text), tokens, "{text}");
        }
    }
}
