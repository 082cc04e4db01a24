//! What somebody types, as a question to the index. Nothing of it can be an operator there: only tokens are passed on.

use super::segment::{Kind, each, fold, kind};

/// Longest question, in characters.
const LONGEST: usize = 200;
/// Words that are asked for.
const WORDS: usize = 16;

/// A question.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Question {
    /// All of these must be there, each as one phrase of tokens.
    phrases: Vec<String>,
    /// None of these.
    without: Vec<String>,
    /// The words as they are looked for in a text, for marks: folded.
    pub(crate) words: Vec<String>,
    /// Words that are too short to be asked for.
    pub(crate) ignored: Vec<String>,
}

impl Question {
    /// Words are separated by spaces; `"…"` keeps words together; `-word` must not be there.
    pub(crate) fn read(text: &str) -> Question {
        let text: String = text.chars().take(LONGEST).collect();
        let mut question = Question::default();
        for (quoted, part) in text.split(['"', '“', '”']).enumerate().map(|(at, part)| (at % 2 == 1, part))
        {
            match quoted {
                true => question.add(part),
                false => part.split_whitespace().for_each(|word| question.add(word)),
            }
        }
        question
    }

    fn add(&mut self, word: &str) {
        let (not, word) = match word.strip_prefix('-') {
            Some(rest) if kind(fold(rest.chars().next().unwrap_or(' '))) != Kind::Gap => (true, rest),
            _ => (false, word),
        };
        let phrase = phrase(word);
        match phrase {
            _ if self.phrases.len() + self.without.len() >= WORDS => self.ignored.push(word.to_owned()),
            None if word.chars().any(|c| kind(fold(c)) != Kind::Gap) => self.ignored.push(word.to_owned()),
            None => {}
            Some(phrase) if not => self.without.push(phrase),
            Some(phrase) => {
                let folded: String = word.chars().map(fold).collect();
                self.words.push(folded.trim_matches(|c| kind(c) == Kind::Gap).to_owned());
                self.phrases.push(phrase);
            }
        }
    }

    /// Whether it asks for nothing.
    pub(crate) fn is_empty(&self) -> bool {
        self.phrases.is_empty()
    }

    /// The question in the index's own language, over these columns.
    pub(crate) fn expression(&self, columns: &str) -> String {
        let all: Vec<String> =
            self.phrases.iter().map(|phrase| format!("{{{columns}}} : \"{phrase}\"")).collect();
        let mut text = all.join(" AND ");
        for phrase in &self.without {
            text = format!("({text}) NOT {{{columns}}} : \"{phrase}\"");
        }
        text
    }
}

/// The tokens of a word, for a phrase; none: it is too short to be one.
pub(crate) fn phrase(word: &str) -> Option<String> {
    let mut tokens = Vec::new();
    each(word, |token| tokens.push(token.to_owned()));
    let alone = |token: &str| {
        let mut chars = token.chars();
        matches!((chars.next(), chars.next()), (Some(c), None) if kind(c) == Kind::Pair)
    };
    // A single character at the front may be the end of a longer run in the text, and is no token there.
    if tokens.len() > 1 && alone(&tokens[0]) {
        tokens.remove(0);
    }
    match tokens.as_slice() {
        [] => None,
        [one] if alone(one) => None,
        _ => Some(tokens.join(" ")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn questions_are_phrases_of_tokens() {
        for (text, expression) in [
            ("通知", "{t b} : \"通知\""),
            ("财政部 2024", "{t b} : \"财政 政部\" AND {t b} : \"2024\""),
            ("国发(2024)5号", "{t b} : \"国发 2024 5 号\""),
            ("通知 -废止", "({t b} : \"通知\") NOT {t b} : \"废止\""),
            ("\"hello world\"", "{t b} : \"hello world\""),
            ("a OR b", "{t b} : \"a\" AND {t b} : \"or\" AND {t b} : \"b\""),
            ("\" ) NEAR( * ^", "{t b} : \"near\""),
        ] {
            assert_eq!(Question::read(text).expression("t b"), expression, "{text}");
        }
        let short = Question::read("的 通知");
        assert_eq!((short.ignored, short.words), (vec!["的".to_owned()], vec!["通知".to_owned()]));
    }

    proptest! {
        #[test]
        fn whatever_is_typed_only_tokens_are_asked(text in "\\PC{0,40}") {
            let question = Question::read(&text);
            for phrase in question.phrases.iter().chain(&question.without) {
                prop_assert!(phrase.chars().all(|c| c == ' ' || kind(c) != Kind::Gap), "{phrase}");
            }
        }
    }
}
