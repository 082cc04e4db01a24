//! 发文字号: the number of an official document.
//!
//! Decides what is a number and brings all ways of writing it to `issuer|year|serial`: brackets of every kind, full-width digits, numerals in
//! Han, `第N号`, orders (`令第N号`, `第N号令`), announcements (`2024年第5号`), and joint numbers, of which the first office is the issuer. Does not decide where on a page to look.

use serde::{Deserialize, Serialize};

/// How much of a text is looked at.
const LOOK_AT: usize = 4_000;
/// An issuer's mark is short: `国办发`, `中华人民共和国国务院令`.
const LONGEST_ISSUER: usize = 24;

/// A document number.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct DocNo {
    /// The issuer's mark: `国办发`, `国务院令`.
    pub issuer: String,
    /// The year, when the number has one.
    pub year: Option<u16>,
    /// The serial number.
    pub serial: u32,
    /// What stands behind a hyphen: 1 in `12-1号`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub part: Option<u32>,
}

impl DocNo {
    /// `国办发|2024|5`: equal for all ways of writing the same number.
    pub fn key(&self) -> String {
        format!(
            "{}|{}|{}",
            self.issuer,
            self.year.map(|year| year.to_string()).unwrap_or_default(),
            self.number()
        )
    }

    fn number(&self) -> String {
        match self.part {
            Some(part) => format!("{}-{part}", self.serial),
            None => self.serial.to_string(),
        }
    }
}

impl std::fmt::Display for DocNo {
    /// As the national standard writes it: `国办发〔2024〕5号`, `国务院令第5号`.
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self.year {
            Some(year) if self.issuer.ends_with("公告") || self.issuer.ends_with("通告") => {
                write!(f, "{}{year}年第{}号", self.issuer, self.number())
            }
            Some(year) => write!(f, "{}〔{year}〕{}号", self.issuer, self.number()),
            None => write!(f, "{}第{}号", self.issuer, self.number()),
        }
    }
}

/// All numbers in a text, in order, each once.
///
/// ```
/// let found = dibao::extract::doc_numbers("国办发［２０２４］５号、财税(2024)第12号");
/// assert_eq!(found.iter().map(|no| no.key()).collect::<Vec<_>>(), ["国办发|2024|5", "财税|2024|12"]);
/// ```
pub fn doc_numbers(text: &str) -> Vec<DocNo> {
    read(text).0
}

/// The same, with how many characters they take in the text.
pub(crate) fn read(text: &str) -> (Vec<DocNo>, usize) {
    let text: Vec<char> =
        text.chars().take(LOOK_AT).map(narrow).filter(|c| !matches!(c, '\u{200b}' | '\u{feff}')).collect();
    let (mut out, mut taken) = (Vec::<DocNo>::new(), 0);
    let mut at = 0;
    let mut last_end = 0;
    while at < text.len() {
        let found = bracketed(&text, at, last_end)
            .or_else(|| announced(&text, at, last_end))
            .or_else(|| order(&text, at, last_end));
        match found {
            Some(Found { no, from, to }) => {
                if !out.contains(&no) {
                    out.push(no);
                }
                taken += text[from..to].iter().filter(|c| **c != ' ').count();
                (at, last_end) = (to, to);
            }
            None => at += 1,
        }
    }
    (out, taken)
}

/// A number and where it stands.
struct Found {
    no: DocNo,
    from: usize,
    to: usize,
}

fn narrow(c: char) -> char {
    match c {
        '\u{ff10}'..='\u{ff19}' | '\u{ff21}'..='\u{ff3a}' | '\u{ff41}'..='\u{ff5a}' => {
            char::from_u32(c as u32 - 0xfee0).unwrap_or(c)
        }
        '〔' | '［' | '[' | '（' | '(' | '【' | '﹝' | '〖' | '「' | '『' | '<' | '＜' | '〈' | '《'
        | '{' | '｛' => '〔',
        '〕' | '］' | ']' | '）' | ')' | '】' | '﹞' | '〗' | '」' | '』' | '>' | '＞' | '〉' | '》'
        | '}' | '｝' => '〕',
        '－' | '–' => '-',
        '\u{a0}' | '\u{3000}' | '\n' | '\r' | '\t' => ' ',
        _ => c,
    }
}

/// `国办发〔2024〕5号`, with or without `第` and spaces.
fn bracketed(text: &[char], at: usize, floor: usize) -> Option<Found> {
    if text[at] != '〔' {
        return None;
    }
    let mut next = spaces(text, at + 1);
    let (year, end) = year(text, next)?;
    next = end;
    if text.get(next) == Some(&'年') {
        next += 1;
    }
    next = spaces(text, next);
    if text.get(next) != Some(&'〕') {
        return None;
    }
    next = spaces(text, next + 1);
    if text.get(next) == Some(&'第') {
        next = spaces(text, next + 1);
    }
    let (serial, end) = number(text, next)?;
    let (part, end) = match text.get(end) {
        Some('-') => number(text, end + 1).map(|(part, end)| (Some(part), end))?,
        _ => (None, end),
    };
    next = spaces(text, end);
    if text.get(next) != Some(&'号') {
        return None;
    }
    let (issuer, from) = issuer(text, at, floor)?;
    Some(Found { no: DocNo { issuer, year: Some(year), serial, part }, from, to: next + 1 })
}

/// What an order or an announcement is called.
const KINDS: [&str; 3] = ["公告", "通告", "令"];

/// `公告2024年第5号`, `2024年第5号公告`.
fn announced(text: &[char], at: usize, floor: usize) -> Option<Found> {
    if !text[at].is_ascii_digit() || (at > 0 && text[at - 1].is_ascii_digit()) {
        return None;
    }
    let (year, mut next) = year(text, at)?;
    if text.get(next) != Some(&'年') {
        return None;
    }
    next = spaces(text, next + 1);
    if text.get(next) != Some(&'第') {
        return None;
    }
    next = spaces(text, next + 1);
    let (serial, end) = number(text, next)?;
    next = spaces(text, end);
    if text.get(next) != Some(&'号') {
        return None;
    }
    next += 1;
    let before = if at > 0 && text[at - 1] == '〔' { at - 1 } else { at };
    let (mut mark, from) = issuer(text, before, floor).unwrap_or((String::new(), before));
    for kind in KINDS {
        if starts(text, next, kind) {
            mark.push_str(kind);
            next += kind.chars().count();
        }
    }
    if !KINDS.iter().any(|kind| mark.ends_with(kind)) {
        return None;
    }
    let (issuer, from) = first_of_several(text, mark, from, floor);
    Some(Found { no: DocNo { issuer, year: Some(year), serial, part: None }, from, to: next })
}

/// `国务院令第5号`, `国务院令（第5号）`, `国务院第5号令`, `主席令第五号`.
fn order(text: &[char], at: usize, floor: usize) -> Option<Found> {
    if text[at] != '第' {
        return None;
    }
    let next = spaces(text, at + 1);
    let (serial, end) = number(text, next)?;
    let next = spaces(text, end);
    if text.get(next) != Some(&'号') {
        return None;
    }
    let mut end = next + 1;
    let mut before = spaces_back(text, at, floor);
    let in_brackets = before > floor && text[before - 1] == '〔';
    if in_brackets {
        before -= 1;
        end = spaces(text, end);
        if text.get(end) != Some(&'〕') {
            return None;
        }
        end += 1;
    }
    let (mut mark, from) = issuer(text, before, floor)?;
    let announces =
        |mark: &str| mark.chars().count() >= 5 && (mark.ends_with("公告") || mark.ends_with("通告"));
    if mark.ends_with('令') || announces(&mark) {
    } else if in_brackets {
        return None;
    } else if (starts(text, end, "公告") || starts(text, end, "通告")) && mark.chars().count() >= 3 {
        mark.extend(&text[end..end + 2]);
        end += 2;
    } else if text.get(end) == Some(&'令') {
        mark.push('令');
        end += 1;
    } else {
        return None;
    }
    let (issuer, from) = first_of_several(text, mark, from, floor);
    Some(Found { no: DocNo { issuer, year: None, serial, part: None }, from, to: end })
}

/// Words of the sentence or label before an issuer.
const WORDS_BEFORE: [&str; 17] = [
    "发文字号",
    "文号",
    "根据",
    "按照",
    "依照",
    "依据",
    "印发的",
    "以及",
    "和",
    "及",
    "与",
    "由",
    "的",
    "字号",
    "编号",
    "通知",
    "为",
];
/// What issuers' names end with.
const OFFICES: [char; 12] = ['部', '委', '局', '署', '院', '府', '会', '厅', '办', '行', '社', '室'];
/// What the names of documents end with: behind `和` another document follows.
const DOCUMENTS: [&str; 12] =
    ["规定", "文件", "通知", "办法", "意见", "条例", "精神", "要求", "决定", "方案", "标准", "法"];

/// The mark before a number, up to what cannot be part of it, and where it begins.
fn issuer(text: &[char], end: usize, floor: usize) -> Option<(String, usize)> {
    let end = spaces_back(text, end, floor);
    let mut start = end;
    while start > floor && end - start < LONGEST_ISSUER {
        let c = text[start - 1];
        if !(('\u{4e00}'..='\u{9fff}').contains(&c) || c.is_ascii_alphabetic()) || matches!(c, '据' | '照')
        {
            break;
        }
        start -= 1;
    }
    let mark: String = text[start..end].iter().collect();
    let mut mark = mark.as_str();
    for word in WORDS_BEFORE.into_iter().chain(["是"]) {
        if let Some(at) = mark.rfind(word) {
            let (head, rest) = (&mark[..at], &mark[at + word.len()..]);
            // `国家发展和改革委员会` is one name, `财政部和税务总局` are two.
            let joins = matches!(word, "和" | "及" | "与");
            let apart = head.is_empty()
                || head.ends_with(OFFICES)
                || DOCUMENTS.iter().any(|document| head.ends_with(document));
            if !rest.is_empty() && (!joins || apart) {
                mark = rest;
            }
        }
    }
    let found = !mark.is_empty() && mark.chars().any(|c| c as u32 > 0x2e80);
    found.then(|| (mark.to_owned(), end - mark.chars().count()))
}

/// Of offices that issue something together the first one counts: `财政部 税务总局公告` is `财政部公告`.
fn first_of_several(text: &[char], mark: String, from: usize, floor: usize) -> (String, usize) {
    let Some(kind) = KINDS.iter().find(|kind| mark.ends_with(*kind)) else { return (mark, from) };
    let (mut first, mut from) = (None, from);
    // More never sign one document.
    for _ in 0..20 {
        let mut at = spaces_back(text, from, floor);
        if at > floor && matches!(text[at - 1], '、' | '和' | '及' | '与') {
            at -= 1;
        }
        if at == from {
            break;
        }
        let Some((name, start)) = issuer(text, at, floor) else { break };
        let count = name.chars().count();
        if !name.ends_with(OFFICES) || !(2..=20).contains(&count) {
            break;
        }
        (first, from) = (Some(name), start);
    }
    (first.map_or(mark, |first| first + kind), from)
}

fn spaces(text: &[char], mut at: usize) -> usize {
    while text.get(at) == Some(&' ') {
        at += 1;
    }
    at
}

fn spaces_back(text: &[char], mut at: usize, floor: usize) -> usize {
    while at > floor && text[at - 1] == ' ' {
        at -= 1;
    }
    at
}

fn starts(text: &[char], at: usize, word: &str) -> bool {
    word.chars().enumerate().all(|(offset, c)| text.get(at + offset) == Some(&c))
}

fn year(text: &[char], at: usize) -> Option<(u16, usize)> {
    let digits: Vec<u32> = text[at.min(text.len())..].iter().take(4).map_while(|c| digit(*c)).collect();
    if digits.len() != 4 || text.get(at + 4).is_some_and(|c| digit(*c).is_some()) {
        return None;
    }
    let year = digits.iter().fold(0, |year, digit| year * 10 + digit);
    (1949..2100).contains(&year).then_some((year as u16, at + 4))
}

fn digit(c: char) -> Option<u32> {
    c.to_digit(10)
        .or_else(|| "〇一二三四五六七八九".chars().position(|n| n == c).map(|n| n as u32))
        .or(matches!(c, '零' | '○' | '◯').then_some(0))
}

/// A serial number in digits or numerals: `12`, `十二`, `一二三`, `七百六十`.
fn number(text: &[char], at: usize) -> Option<(u32, usize)> {
    let mut end = at;
    while end < text.len() && end - at < 9 && (digit(text[end]).is_some() || "十百千".contains(text[end]))
    {
        end += 1;
    }
    let part = text.get(at..end).filter(|part| !part.is_empty())?;
    if !part.iter().any(|c| "十百千".contains(*c)) {
        let value = part.iter().try_fold(0u32, |value, c| value.checked_mul(10)?.checked_add(digit(*c)?))?;
        return Some((value, end));
    }
    let (mut value, mut here) = (0u32, None);
    for c in part {
        let unit = match c {
            '十' => 10,
            '百' => 100,
            '千' => 1000,
            _ => {
                here = digit(*c);
                continue;
            }
        };
        value = value.checked_add(here.take().unwrap_or(1).checked_mul(unit)?)?;
    }
    Some((value + here.unwrap_or(0), end))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn keys(text: &str) -> Vec<String> {
        doc_numbers(text).iter().map(DocNo::key).collect()
    }

    #[test]
    fn every_way_of_writing_a_number_gives_the_same_key() {
        for text in [
            "国办发〔2024〕5号",
            "国办发[2024]5号",
            "国办发［２０２４］５号",
            "国办发（2024）5 号",
            "国办发(2024)第5号",
            "国办发【2024】5号",
            "国办发﹝2024﹞5号",
            "发文字号：国办发 〔2024〕 5号",
            "国办发〔二〇二四〕五号",
            "根据国办发〔2024〕5号文件",
            "国办发〔2024年〕5号",
            "国办发{2024}5号",
            "国办发｛2024｝5号",
            "国办发《2024》5号",
            "国办发＜2024＞5号",
            "有关规定和国办发〔2024〕5号",
        ] {
            assert_eq!(keys(text), ["国办发|2024|5"], "{text}");
        }
    }

    #[test]
    fn orders_announcements_and_joint_numbers() {
        for (text, expected) in [
            ("国务院令第763号", &["国务院令||763"][..]),
            ("中华人民共和国国务院令 第 763 号", &["中华人民共和国国务院令||763"]),
            ("中华人民共和国主席令第六十七号", &["中华人民共和国主席令||67"]),
            ("国家税务总局第12号令", &["国家税务总局令||12"]),
            ("海关总署公告第12号", &["海关总署公告||12"]),
            ("海关总署第12号公告", &["海关总署公告||12"]),
            ("本公告第3号", &[]),
            ("商务部令2024年第5号", &["商务部令|2024|5"]),
            ("商务部 2024年 第5号令", &["商务部令|2024|5"]),
            ("中华人民共和国国务院令（第763号）", &["中华人民共和国国务院令||763"]),
            ("中华人民共和国主席令\n（第一〇一号）", &["中华人民共和国主席令||101"]),
            ("主席令（第一〇一号）", &["主席令||101"]),
            ("国家发展改革委 财政部令第 15 号", &["国家发展改革委令||15"]),
            ("国家发展改革委、财政部令第15号", &["国家发展改革委令||15"]),
            ("国家发展改革委和财政部令第15号", &["国家发展改革委令||15"]),
            ("国家发展和改革委员会令2024年第12号", &["国家发展和改革委员会令|2024|12"]),
            ("国家发展和改革委员会 住房和城乡建设部令第12号", &["国家发展和改革委员会令||12"]),
            ("人力资源和社会保障部令第5号", &["人力资源和社会保障部令||5"]),
            ("根据有关规定和财政部令第5号", &["财政部令||5"]),
            ("财政部 税务总局 海关总署公告2024年第5号", &["财政部公告|2024|5"]),
            ("建办〔2024〕12-1号", &["建办|2024|12-1"]),
            ("一、总则（第五号）", &[]),
            (
                "财社〔2024〕5号　民发［２０２４］６号 人社部发﹝2024﹞7号",
                &["财社|2024|5", "民发|2024|6", "人社部发|2024|7"],
            ),
            ("国发明电〔2024〕1号", &["国发明电|2024|1"]),
            ("财政部 税务总局公告2024年第5号", &["财政部公告|2024|5"]),
            ("2024年第5号公告", &["公告|2024|5"]),
            ("国办发〔2024〕5号、财税〔2024〕6号", &["国办发|2024|5", "财税|2024|6"]),
            ("粤府办函〔2023〕281号和粤府〔2023〕1号", &["粤府办函|2023|281", "粤府|2023|1"]),
            ("国办发〔2024〕5号，国办发(2024)5号", &["国办发|2024|5"]),
            ("第三条第2号", &[]),
            ("（2024）5号", &[]),
            ("地址：人民路5号", &[]),
            ("2024年第5期", &[]),
            ("", &[]),
        ] {
            assert_eq!(keys(text), expected, "{text}");
        }
        assert_eq!(doc_numbers("国办发(2024)5号")[0].to_string(), "国办发〔2024〕5号");
        assert_eq!(doc_numbers("建办(2024)12－1号")[0].to_string(), "建办〔2024〕12-1号");
    }

    proptest::proptest! {
        #[test]
        fn no_text_panics_and_written_numbers_are_read_again(text in "[国办发令公告第号年〔〕（）0-9一十百千〇 ]{0,40}") {
            for no in doc_numbers(&text) {
                proptest::prop_assert!(!no.issuer.is_empty());
            }
        }
    }
}
