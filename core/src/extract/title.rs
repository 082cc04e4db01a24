//! A page's `<title>` without the name of its site (S2-32).
//!
//! Decides where a title ends and the site begins. A part is only taken off when it looks like a site or column, because titles
//! contain hyphens themselves (`中国-东盟`, `2025-2026年度`). What is left is never empty.

/// Endings that only names of sites have.
const SURE: [&str; 12] =
    ["网", "网站", "门户", "人民政府", "政府", "官网", "在线", "日报", "客户端", "平台", "公众网", "首页"];
/// Endings that names of sites and of institutions have: enough behind a separator that titles hardly use.
const LIKELY: [&str; 15] = [
    "委员会",
    "局",
    "厅",
    "部",
    "办公室",
    "公报",
    "法院",
    "检察院",
    "频道",
    "中心",
    "协会",
    "银行",
    "学院",
    "大学",
    "研究院",
];
/// Columns are short; titles are not.
const LONGEST_COLUMN: usize = 12;
/// Below this a head is rather half of a hyphenated name.
const SHORTEST_TITLE: usize = 4;

/// The title without site and column.
pub(crate) fn without_site(title: &str, site_name: &str) -> String {
    let mut rest = title.trim();
    while let Some((head, tail, separator)) = last_part(rest) {
        if chars(head) < 2 || !is_site(head, tail, separator, site_name, rest.len() < title.trim().len()) {
            break;
        }
        rest = head;
    }
    rest.to_owned()
}

/// Whether a title is only the name of a site.
pub(crate) fn is_of_site(title: &str) -> bool {
    SURE.iter().any(|ending| title.ends_with(ending))
}

/// Whether a heading is rather the name of a site or of an office.
pub(crate) fn is_of_office(heading: &str) -> bool {
    is_of_site(heading) || LIKELY.iter().any(|ending| heading.ends_with(ending))
}

/// What stands before the last parts, where those are as short as names of columns and offices: whoever finds it alone on the page knows that it
/// is the title. The longest comes first.
pub(crate) fn before_columns(title: &str) -> impl Iterator<Item = &str> {
    let last = |text| match last_part(text) {
        Some((head, tail, _)) => Some((head, tail)),
        None => text.rsplit_once(" : "),
    };
    let mut rest = title.trim();
    std::iter::from_fn(move || {
        let (head, tail) = last(rest)?;
        rest = head.trim();
        let short = (1..=LONGEST_COLUMN).contains(&chars(tail.trim()));
        (short && chars(rest) >= SHORTEST_TITLE && chars(rest) >= chars(tail.trim())).then_some(rest)
    })
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Separator {
    /// `_`, `|`: hardly ever part of a title.
    Strong,
    /// ` - ` with spaces around.
    Spaced,
    /// `-` between words.
    Tight,
}

/// What stands before and after the last separator.
fn last_part(text: &str) -> Option<(&str, &str, Separator)> {
    let (at, mark) = text.char_indices().rev().find(|(_, c)| "_-|｜–—＿－丨".contains(*c))?;
    let (before, after) = (&text[..at], &text[at + mark.len_utf8()..]);
    let spaced = before.ends_with(char::is_whitespace) && after.starts_with(char::is_whitespace);
    let separator = match mark {
        '_' | '|' | '｜' | '＿' => Separator::Strong,
        _ if spaced => Separator::Spaced,
        _ => Separator::Tight,
    };
    let head =
        before.trim_end_matches(|c: char| c.is_whitespace() || "_-|｜–—＿－丨".contains(c)).trim_start();
    Some((head, after.trim(), separator))
}

/// `behind` says that a site has been taken off already: what is now last may be its column.
fn is_site(head: &str, tail: &str, separator: Separator, site_name: &str, behind: bool) -> bool {
    if tail.is_empty() || names(tail, site_name) {
        return true;
    }
    let ends = |endings: &[&str]| endings.iter().any(|ending| tail.ends_with(ending));
    let longer = chars(head) >= chars(tail);
    let short =
        chars(tail) <= LONGEST_COLUMN && !tail.contains(|c: char| c.is_numeric() || "《》“”（）".contains(c));
    let domain = tail.contains('.') && tail.is_ascii() && !tail.contains(' ');
    // A sure sign is enough, even for a hyphen between words, when the head can stand alone.
    if (ends(&SURE) || domain) && chars(head) >= SHORTEST_TITLE {
        return true;
    }
    let column = short && (behind || !tail.is_ascii());
    longer
        && match separator {
            Separator::Strong => ends(&LIKELY) || column,
            Separator::Spaced => ends(&LIKELY) || short,
            Separator::Tight => false,
        }
}

fn names(tail: &str, site_name: &str) -> bool {
    let site = site_name.trim();
    chars(tail) >= 2 && chars(site) >= 2 && (tail.contains(site) || site.contains(tail))
}

fn chars(text: &str) -> usize {
    text.chars().count()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_site_is_taken_off_and_the_title_stays() {
        for (title, site, expected) in [
            ("习近平主持召开会议_新华网", "", "习近平主持召开会议"),
            ("习近平主持召开会议-新华网", "", "习近平主持召开会议"),
            ("国务院关于示例的通知_国务院文件_中国政府网", "", "国务院关于示例的通知"),
            ("国务院关于示例的通知_中国政府网", "", "国务院关于示例的通知"),
            ("关于示例的公告 - 清远市人民政府", "", "关于示例的公告"),
            ("关于示例的公告-通知公告-清远市人民政府门户网站", "", "关于示例的公告-通知公告"),
            ("关于示例的公告 - 通知公告 - 国家发展改革委", "国家发展改革委", "关于示例的公告"),
            ("关于示例的公告 | 国家发展改革委", "", "关于示例的公告"),
            ("关于示例的公告－某某市", "某某市", "关于示例的公告"),
            ("A long enough headline | Example", "Example", "A long enough headline"),
            ("  关于示例的公告_ ", "", "关于示例的公告"),
        ] {
            assert_eq!(without_site(title, site), expected, "{title}");
        }
    }

    #[test]
    fn hyphens_that_belong_to_a_title_stay() {
        for title in [
            "中国-东盟博览会开幕",
            "推动中国-东盟合作",
            "关于印发2025-2026年度计划的通知",
            "COVID-19疫情通报",
            "京津冀-雄安一体化",
            "权威发布丨一季度国民经济运行情况",
            "新华网",
            "-新华网",
            "_",
            "",
            "关于 GB_T 1234",
            "通告 | 关于调整部分公交线路运营时间的通告",
        ] {
            assert_eq!(without_site(title, ""), title, "{title}");
        }
    }

    proptest::proptest! {
        #[test]
        fn never_empty_and_never_a_panic(title in "[a中网_| -]{0,12}", site in "[a中网]{0,4}") {
            let rest = without_site(&title, &site);
            proptest::prop_assert_eq!(rest.is_empty(), title.trim().is_empty());
            proptest::prop_assert!(title.contains(&rest));
        }
    }
}
