//! Words of a text for the full-text index, and words of a question. Pure.
//!
//! SQLite's tokenizers know no Chinese words, so text is cut here before it gets there: every two neighbours of a run
//! of Chinese characters are one token (`财政部` → `财政 政部`), Latin words and numbers are one each. A question is cut
//! the same way and asked as a phrase, so any two or more characters that stand together are found, and nothing else is.
//! Brackets, width and letter case are no difference: `国发〔2024〕5号` is `国发[2024]５号`.

mod question;
mod segment;
mod snippet;

pub(crate) use question::{Question, phrase};
pub(crate) use segment::{fold, segment};
pub(crate) use snippet::marked;
