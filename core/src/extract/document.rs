//! What makes a page an official document: its number, index, issuer, subject, the day it was written, whether it still holds.
//!
//! Decides where these stand: tables of metadata above the text (`索 引 号：…`), the head of the text, and words about validity. A label
//! may be stretched by spaces. The day of writing is never the day of publication. Numbers are normalised in `docno`.

use serde::{Deserialize, Serialize};

use super::docno::{self, DocNo, doc_numbers};
use super::generic::outline::{Outline, push_folded};
use super::headline::fold;
use super::meta::Head;
use super::page::PageArticle;
use super::value::Value;
use super::when::{Calendar, signature};
use crate::model::Published;

/// The document behind a page.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Document {
    /// 发文字号 as the page writes it.
    pub doc_no: Option<String>,
    /// The same, normalised; several for joint documents.
    pub doc_numbers: Vec<DocNo>,
    /// 索引号.
    pub index_no: Option<String>,
    /// 发文机关.
    pub issuer: Option<String>,
    /// 主题分类.
    pub topic: Option<String>,
    /// 主题词.
    pub topic_words: Option<String>,
    /// 公开类别, 公开方式.
    pub open_category: Option<String>,
    /// 成文日期.
    pub written: Option<Published>,
    /// `valid`, `invalid` or `revised`, where the page says it.
    pub validity: Option<String>,
}

/// The document, with where each part was found.
#[derive(Default)]
pub(crate) struct Found {
    pub document: Document,
    pub proofs: Vec<(&'static str, Value)>,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Label {
    DocNo,
    Index,
    Issuer,
    Topic,
    TopicWords,
    Open,
    Written,
    Validity,
    /// A label of no interest here: it ends the value before it.
    Other,
}

const LABELS: [(&str, Label); 46] = [
    ("发文字号", Label::DocNo),
    ("发文文号", Label::DocNo),
    ("文件编号", Label::DocNo),
    ("文件字号", Label::DocNo),
    ("公文文号", Label::DocNo),
    ("文号", Label::DocNo),
    ("文　号", Label::DocNo),
    ("索引号", Label::Index),
    ("信息索引号", Label::Index),
    ("索引码", Label::Index),
    ("发文机关", Label::Issuer),
    ("发布机构", Label::Issuer),
    ("发文机构", Label::Issuer),
    ("发布单位", Label::Issuer),
    ("制发机关", Label::Issuer),
    ("公开主体", Label::Issuer),
    ("公开责任部门", Label::Issuer),
    ("主题分类", Label::Topic),
    ("分类", Label::Topic),
    ("信息分类", Label::Topic),
    ("主题词", Label::TopicWords),
    ("公开类别", Label::Open),
    ("公开方式", Label::Open),
    ("公开形式", Label::Open),
    ("成文日期", Label::Written),
    ("成文时间", Label::Written),
    ("发文时间", Label::Written),
    ("制发日期", Label::Written),
    ("生成日期", Label::Written),
    ("发文日期", Label::Written),
    ("印发日期", Label::Written),
    ("有效性", Label::Validity),
    ("文件有效性", Label::Validity),
    ("效力状态", Label::Validity),
    ("时效状态", Label::Validity),
    ("文件时效", Label::Validity),
    ("时效性", Label::Validity),
    ("时效", Label::Validity),
    ("文件状态", Label::Validity),
    ("是否有效", Label::Validity),
    ("标题", Label::Other),
    ("名称", Label::Other),
    ("发布日期", Label::Other),
    ("发布时间", Label::Other),
    ("公开日期", Label::Other),
    ("来源", Label::Other),
];

/// Leaves before the text in which tables of metadata stand.
const BEFORE: u32 = 160;
/// Leaves at the head of the text.
const HEAD: u32 = 40;
/// Values longer than this are something else.
const LONGEST: usize = 200;

/// Reads a page.
pub(crate) fn read(
    head: &Head<'_>,
    outline: &Outline<'_>,
    span: Option<(u32, u32)>,
    article: &PageArticle,
    calendar: Calendar,
) -> Found {
    let mut found = Found::default();
    let all = outline.leaves.len() as u32;
    let (from, to) = span.unwrap_or((0, 0));
    let pieces: Vec<(String, u32)> = (from.saturating_sub(BEFORE)..(from + HEAD).min(to.max(from)).min(all))
        .map(|at| {
            let leaf = &outline.leaves[at as usize];
            let mut text = String::new();
            if leaf.text.len() < 600 {
                push_folded(&mut text, leaf.text);
            }
            (text.trim().to_owned(), leaf.el)
        })
        .filter(|(text, _)| !text.is_empty())
        .collect();
    let mut at = 0;
    while at < pieces.len() {
        let (text, el) = (&pieces[at].0, pieces[at].1);
        at += 1;
        let Some((label, name, mut value)) = label_of(text) else { continue };
        // The value is the rest, or the pieces behind up to the next label: a cell may be cut by tags.
        let mut end = at;
        while value.is_empty() && end < pieces.len() && end < at + 2 {
            let next = &pieces[end].0;
            if next == "：" || next == ":" {
                end += 1;
                continue;
            }
            if label_of(next).is_some() {
                break;
            }
            value = next.trim_start_matches(['：', ':']).trim().to_owned();
            end += 1;
        }
        if !value.is_empty() && value.chars().count() <= LONGEST {
            set(&mut found, label, name, &value, el, calendar);
        }
    }
    for (name, value) in head.metas() {
        let label = match name {
            "indexno" | "index_no" | "suoyinhao" | "infoindex" => Label::Index,
            "docno" | "doc_no" | "fileno" | "wenhao" | "documentnumber" => Label::DocNo,
            _ => continue,
        };
        set(&mut found, label, "meta", value, 0, calendar);
    }
    head_of_text(&mut found, article);
    signed(&mut found, signature(outline, span), calendar);
    validity(&mut found, article);
    found
}

/// A label at the beginning of a text, and what follows it.
fn label_of(text: &str) -> Option<(Label, &'static str, String)> {
    let text = text.trim_start_matches(|c: char| c.is_whitespace() || "【[〔·•●".contains(c));
    for (name, label) in LABELS {
        let mut rest = text.chars();
        let mut matched = true;
        for expected in name.chars() {
            let mut next = rest.next();
            while next.is_some_and(char::is_whitespace) {
                next = rest.next();
            }
            if next != Some(expected) {
                matched = false;
                break;
            }
        }
        if !matched {
            continue;
        }
        let rest = rest.as_str().trim_start();
        // `【索引号】000014349/2026-1`
        let bracketed = rest.strip_prefix(['】', ']', '〕']);
        let rest = bracketed.unwrap_or(rest).trim_start();
        // Without a colon only a cell that holds nothing else is a label.
        if let Some(value) = rest.strip_prefix(['：', ':']) {
            return Some((label, name, value.trim().to_owned()));
        }
        if rest.is_empty() || bracketed.is_some() {
            return Some((label, name, rest.trim_end().to_owned()));
        }
    }
    None
}

fn set(found: &mut Found, label: Label, name: &str, value: &str, el: u32, calendar: Calendar) {
    let text = fold(value);
    if matches!(text.as_str(), "" | "-" | "--" | "无" | "/" | "null") {
        return;
    }
    // Behind a label without a value stands what comes next on the page, often the title.
    if is_a_title(&text) {
        return;
    }
    let document = &mut found.document;
    let slot = match label {
        Label::DocNo => {
            if document.doc_no.is_some() {
                return;
            }
            document.doc_numbers = doc_numbers(&text);
            (&mut document.doc_no, "doc_no")
        }
        Label::Index => (&mut document.index_no, "index_no"),
        Label::Issuer => (&mut document.issuer, "publisher"),
        Label::Topic => (&mut document.topic, "topic"),
        Label::TopicWords => (&mut document.topic_words, "topic_words"),
        Label::Open => (&mut document.open_category, "open_category"),
        Label::Written => {
            if document.written.is_none()
                && let Some(written) = calendar.read(&text)
            {
                document.written = Some(written);
                found.proofs.push(("written", Value::new(text, "page", name, 0.95).at(el)));
            }
            return;
        }
        Label::Validity => {
            if document.validity.is_none() {
                document.validity = Some(state(&text).to_owned());
                found.proofs.push(("validity", Value::new(text, "page", name, 0.95).at(el)));
            }
            return;
        }
        Label::Other => return,
    };
    if slot.0.is_none() {
        *slot.0 = Some(text.clone());
        found.proofs.push((slot.1, Value::new(text, "page", name, 0.95).at(el)));
    }
}

fn state(text: &str) -> &'static str {
    let has = |words: &[&str]| words.iter().any(|word| text.contains(word));
    if has(&["未失效", "未废止", "继续有效", "现行有效"]) {
        "valid"
    } else if has(&["部分失效", "部分废止", "部分有效", "部分条款", "修改", "修订", "修正"])
    {
        "revised"
    } else if has(&["失效", "废止", "无效", "停止执行", "作废"]) || text == "否" {
        "invalid"
    } else {
        "valid"
    }
}

/// A number alone on one of the first lines, or on the title.
fn head_of_text(found: &mut Found, article: &PageArticle) {
    if found.document.doc_no.is_some() {
        return;
    }
    let lines: Vec<&str> = article.text.lines().filter(|line| !line.is_empty()).take(8).collect();
    for (at, line) in lines.iter().enumerate().filter(|(_, line)| line.chars().count() < 60) {
        // An order's number stands below its name.
        let below = lines.get(at + 1).map(|next| next.trim()).filter(|next| {
            ["令", "公告", "通告"].iter().any(|kind| line.trim_end().ends_with(kind))
                && next.chars().count() < 20
                && next.trim_start_matches(['（', '(']).starts_with('第')
        });
        let line = &below.map_or((*line).to_owned(), |next| format!("{}{next}", line.trim_end()));
        // The line must be the number and little else: sentences cite numbers of other documents.
        let (numbers, written) = docno::read(line);
        let Some(first) = numbers.first() else { continue };
        let line = fold(line);
        let count = line.chars().filter(|c| !c.is_whitespace()).count();
        if count <= written + 6 && !line.contains(['，', '。']) && names_an_issuer(&first.issuer) {
            let inside = line
                .strip_prefix(['（', '(', '【', '['])
                .and_then(|rest| rest.strip_suffix(['）', ')', '】', ']']));
            let text = inside.unwrap_or(&line).to_owned();
            found.document.doc_no = Some(text.clone());
            found.document.doc_numbers = numbers;
            found.proofs.push(("doc_no", Value::new(text, "page", "line at the head of the text", 0.8)));
            return;
        }
    }
}

/// The day under the text, where no label says when it was written: offices sign so.
fn signed(found: &mut Found, lines: Vec<String>, calendar: Calendar) {
    if found.document.written.is_some() {
        return;
    }
    let read = |line: String| calendar.read(&line).map(|written| (line, written));
    if let Some((line, written)) = lines.into_iter().find_map(read) {
        found.document.written = Some(written);
        found.proofs.push(("written", Value::new(fold(&line), "page", "day under the text", 0.6)));
    }
}

/// Whether the words before a number are those of an issuer, and not a title that ends with a number.
fn names_an_issuer(words: &str) -> bool {
    !words.is_empty() && words.chars().count() <= 24 && !is_a_title(words)
}

/// What only titles say.
fn is_a_title(words: &str) -> bool {
    ["关于", "《", "》"].iter().any(|mark| words.contains(mark))
}

/// Words that say a document no longer holds.
fn validity(found: &mut Found, article: &PageArticle) {
    if found.document.validity.is_some() {
        return;
    }
    let in_title = stamped(article.title.as_deref().unwrap_or_default());
    let head: String = article.text.chars().take(200).collect();
    let in_text = head.split(['。', '\n', '；']).any(speaks_of_itself);
    if in_title || in_text {
        found.document.validity = Some("invalid".to_owned());
        let rule = if in_title { "words in the title" } else { "words at the head of the text" };
        found.proofs.push(("validity", Value::new(String::new(), "page", rule, 0.9)));
    }
}

/// `（已失效）`, `【废止】`: a word alone in brackets of any kind.
fn stamped(title: &str) -> bool {
    title.match_indices(['失', '废']).any(|(at, _)| {
        let behind = title[at..].strip_prefix("失效").or_else(|| title[at..].strip_prefix("废止"));
        let before = title[..at].trim_end_matches(['已', '经', '文', '件', '全', '此', '本', ' ']);
        behind
            .is_some_and(|behind| behind.trim_start().starts_with(|c: char| "）)】]〕］〉>」﹞".contains(c)))
            && before.ends_with(|c: char| "（(【[〔［〈<「﹝".contains(c))
    })
}

/// `本文件已于2025年1月1日废止`; what a document says of others is no word about itself.
fn speaks_of_itself(sentence: &str) -> bool {
    ["本文件", "该文件", "此文件", "此件", "本规范性文件", "该规范性文件"].iter().any(|name| {
        sentence.split_once(name).is_some_and(|(_, rest)| {
            let rest: String = rest.chars().take(30).collect();
            rest.find('已').is_some_and(|at| {
                let rest = &rest[at..];
                (rest.contains("失效") || rest.contains("废止")) && !rest.contains('《')
            })
        })
    })
}

#[cfg(test)]
mod tests {
    use super::{names_an_issuer, speaks_of_itself, stamped, state};

    #[test]
    fn validity_is_read_from_its_label_the_title_and_the_text() {
        for (said, expected) in [
            ("有效", "valid"),
            ("现行有效", "valid"),
            ("是", "valid"),
            ("尚未失效", "valid"),
            ("失效", "invalid"),
            ("已失效", "invalid"),
            ("废止", "invalid"),
            ("全文废止", "invalid"),
            ("无效", "invalid"),
            ("否", "invalid"),
            ("已修改", "revised"),
            ("部分失效", "revised"),
            ("部分条款废止", "revised"),
        ] {
            assert_eq!(state(said), expected, "{said}");
        }
        for (title, expected) in [
            ("示例管理办法（已失效）", true),
            ("示例管理办法(失效)", true),
            ("【已废止】示例管理办法", true),
            ("示例管理办法［全文废止］", true),
            ("〔失效〕示例管理办法", true),
            ("关于宣布失效一批文件的通知", false),
            ("关于废止（修改）部分文件的决定", false),
            ("示例管理办法（修订）", false),
        ] {
            assert_eq!(stamped(title), expected, "{title}");
        }
        for (sentence, expected) in [
            ("本文件已失效", true),
            ("（此件已于2025年1月1日废止）", true),
            ("该规范性文件已被某府〔2025〕1号废止", true),
            ("本办法自印发之日起施行，原办法同时废止", false),
            ("本文件自2030年1月1日起失效", false),
            ("本文件印发后，已《示例办法》同时废止", false),
        ] {
            assert_eq!(speaks_of_itself(sentence), expected, "{sentence}");
        }
    }

    #[test]
    fn a_title_that_ends_with_a_number_is_no_document_number() {
        for issuer in ["国办发", "国务院令", "市场监管总局公告", "国家发展和改革委员会 财政部公告"]
        {
            assert!(names_an_issuer(issuer), "{issuer}");
        }
        for title in
            ["", "市市场监督管理局关于公布《重点建设项目管理工作方案》的通告", "生态环境部关于推进工作的函"]
        {
            assert!(!names_an_issuer(title), "{title}");
        }
    }
}
