//! What a line says about the day of publication, and how good a place for it that line is.
//!
//! Decides by labels (发布时间, `Posted`, 更新时间), by what else stands in the line and by its length. Which lines are looked at, and in what
//! order, is decided one level up.

use super::super::date::parse_in_words;
use super::super::headline::fold;
use super::super::value::Value;
use super::{Calendar, Dated};
use crate::model::Precision;

/// The rule of an ordinary line.
pub(super) const NEAR_TITLE: &str = "line near the title";
/// It is right only while the page is fresh: any other date comes before it.
pub(super) const RELATIVE: &str = "relative time near the title";
/// What stands before the moment of publication.
const SAYS_PUBLISHED: [&str; 17] = [
    "发布时间",
    "发布日期",
    "发表时间",
    "发稿时间",
    "发布于",
    "发表于",
    "時間：",
    "時間:",
    "时间：",
    "时间:",
    "日期：",
    "日期:",
    "published",
    "posted",
    "veröffentlicht",
    "publié",
    "publicado",
];
/// What stands before the moment of a change.
const SAYS_CHANGED: [&str; 15] = [
    "更新时间",
    "更新日期",
    "更新于",
    "最后更新",
    "最近更新",
    "修改时间",
    "修改日期",
    "最后修改",
    "updated",
    "modified",
    "aktualisiert",
    "aktualisierung",
    "mis à jour",
    "mise à jour",
    "actualizado",
];
/// What stands before a clock.
const SAYS_NOW: [&str; 6] = ["今天是", "今日是", "现在是", "现在时间", "当前时间", "today is"];

/// A line, or what an element says besides what it shows.
pub(super) struct Spot {
    pub text: String,
    pub el: u32,
    pub marked: bool,
    pub tokens: u32,
    pub link: bool,
    /// The moment that the element has besides what it shows.
    pub stamp: Option<String>,
}

/// The part of a line that speaks of the publication, when another speaks of a change.
fn telling(text: &str, calendar: Calendar) -> &str {
    let lower = text.to_ascii_lowercase();
    let changed =
        SAYS_CHANGED.iter().filter_map(|word| lower.find(word).map(|at| (at, at + word.len()))).min();
    let Some((changed, end)) = changed else { return text };
    // `时间：` ends `更新时间：` as well.
    let outside = |at: &usize| !(changed..end).contains(at);
    let published = SAYS_PUBLISHED
        .iter()
        .filter_map(|word| lower.match_indices(word).map(|(at, _)| at).find(outside))
        .min();
    let part = match published {
        Some(at) if at > changed => &text[at..],
        _ => &text[..changed],
    };
    if calendar.read(part).is_some() { part } else { text }
}

/// How good a line is as the place of the date.
pub(super) fn weigh(spot: &Spot, calendar: Calendar) -> Option<(f64, Dated)> {
    let text = spot.text.as_str();
    let digit = |c: char| c.is_ascii_digit() || ('０'..='９').contains(&c);
    if !text.contains(digit) && !text.contains(['年', '刚', '前', '昨']) {
        return None;
    }
    let lower = text.to_ascii_lowercase();
    let has = |words: &[&str]| words.iter().any(|word| lower.contains(word));
    if has(&SAYS_NOW) && !has(&["发布", "发表"]) {
        return None;
    }
    let text = telling(text, calendar);
    let lower = text.to_ascii_lowercase();
    let has = |words: &[&str]| words.iter().any(|word| lower.contains(word));
    let stamp = spot.stamp.as_deref().and_then(|stamp| calendar.read(stamp));
    let (published, relative) = match stamp.or_else(|| calendar.read(text)) {
        Some(published) => (published, false),
        // A link's is that of what it leads to.
        None if spot.link => return None,
        None => (parse_in_words(text, calendar.zone, calendar.now)?, true),
    };
    // A relative form is right only while the page is fresh.
    let mut worth: f64 = if relative { -0.5 } else { 1.0 };
    if has(&SAYS_PUBLISHED) {
        worth += 2.0;
    } else if is_clock(text) {
        worth -= 0.8;
    }
    if has(&SAYS_CHANGED) || has(&["更新", "修改", "截止", "成文", "生成", "失效", "有效", "实施"])
    {
        worth -= 1.5;
    }
    if has(&["来源", "作者", "编辑", "浏览", "点击", "字号"]) {
        worth += 1.0;
    }
    if published.precision != Precision::Day {
        worth += 1.5;
    }
    if spot.marked {
        worth += 0.7;
    }
    // Sentences speak of other days.
    if spot.tokens > 70 {
        worth -= 4.0;
    } else if spot.tokens > 40 || text.contains('。') || text.contains('，') {
        worth -= 2.0;
    }
    if spot.link {
        worth -= 1.5;
    }
    if has(&["copyright", "©", "版权", "icp备", "icp证", "许可证"]) {
        worth -= 4.0;
    }
    let confidence = (0.5 + worth / 12.0).clamp(0.3, 0.93);
    let written = has(&["成文", "发文日期", "发文时间", "印发日期", "生成日期", "制发日期"]);
    let (rule, confidence) = if written {
        ("day of writing", confidence.min(0.5))
    } else {
        (if relative { RELATIVE } else { NEAR_TITLE }, confidence)
    };
    let value = Value::new(fold(text), "page", rule, confidence).at(spot.el);
    Some((worth, Dated { published, value }))
}

/// A day with its weekday and nothing else: the clock of a page's header writes so.
fn is_clock(text: &str) -> bool {
    let weekday = ["星期", "周一", "周二", "周三", "周四", "周五", "周六", "周日"];
    weekday.iter().any(|word| text.contains(word))
        && !text.chars().any(|c| c.is_alphabetic() && !"年月日号时分秒星期周一二三四五六天上下午".contains(c))
}
