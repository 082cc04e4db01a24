//! Words of a feed: when they are HTML, how much of them a reader would see, whether they were cut.

use dibao_adapter::{Host, HtmlPage};

use crate::entities;
use crate::feed::{Kind, Markup};

/// Elements that people write into titles and descriptions of RSS, which does not say whether it holds HTML. One alone
/// is enough: nobody means the word.
const USUAL: [&str; 43] = [
    "a",
    "b",
    "blockquote",
    "br",
    "center",
    "code",
    "dd",
    "div",
    "dl",
    "dt",
    "em",
    "embed",
    "figure",
    "font",
    "h1",
    "h2",
    "h3",
    "h4",
    "h5",
    "h6",
    "hr",
    "i",
    "iframe",
    "img",
    "li",
    "object",
    "ol",
    "p",
    "pre",
    "script",
    "section",
    "small",
    "span",
    "strike",
    "strong",
    "style",
    "sub",
    "sup",
    "table",
    "td",
    "tr",
    "u",
    "ul",
];
/// The other elements of HTML, those of old times too. Somebody may write about `<video>`, so it takes an attribute or an
/// end tag to make one of them HTML.
const RARE: [&str; 91] = [
    "abbr",
    "acronym",
    "address",
    "applet",
    "area",
    "article",
    "aside",
    "audio",
    "base",
    "bdi",
    "bdo",
    "big",
    "body",
    "button",
    "canvas",
    "caption",
    "cite",
    "col",
    "colgroup",
    "data",
    "datalist",
    "del",
    "details",
    "dfn",
    "dialog",
    "dir",
    "fieldset",
    "figcaption",
    "footer",
    "form",
    "frame",
    "frameset",
    "head",
    "header",
    "hgroup",
    "html",
    "input",
    "ins",
    "kbd",
    "label",
    "legend",
    "link",
    "main",
    "map",
    "mark",
    "marquee",
    "menu",
    "meta",
    "meter",
    "nav",
    "nobr",
    "noscript",
    "optgroup",
    "option",
    "output",
    "param",
    "picture",
    "progress",
    "q",
    "rp",
    "rt",
    "ruby",
    "s",
    "samp",
    "select",
    "source",
    "summary",
    "svg",
    "tbody",
    "template",
    "textarea",
    "tfoot",
    "th",
    "thead",
    "time",
    "title",
    "track",
    "tt",
    "var",
    "video",
    "wbr",
    "math",
    "noframes",
    "search",
    "blink",
    "basefont",
    "bgsound",
    "noembed",
    "xmp",
    "slot",
    "listing",
];
/// Bytes that are looked at for tags: what has none there has none.
const LOOK_FOR_TAGS: usize = 128 * 1024;
/// Bytes of a tag in which an attribute is looked for.
const TAG: usize = 200;
/// How an excerpt ends.
const CUT_ENDS: [&str; 12] = [
    "…",
    "...",
    "[…]",
    "[...]",
    "[&hellip;]",
    "阅读全文",
    "查看全文",
    "查看更多",
    "阅读更多",
    "more",
    "reading",
    "详情",
];

/// Bytes that are looked at for plain words: nobody keeps more of a title or a summary, and whole articles stand there.
const LOOK_AT: usize = 8 * 1024;

/// Plain words, white space folded.
pub fn plain(host: &impl Host, markup: &Markup) -> String {
    let words = &markup.text[..markup.text.floor_char_boundary(LOOK_AT)];
    let as_html = match markup.kind {
        Kind::Html => true,
        Kind::Plain => false,
        Kind::Either => is_html(words),
    };
    let text = match as_html && words.contains(['<', '&']) {
        true => host.text(&HtmlPage::Text(words.to_owned())).unwrap_or_else(|_| words.to_owned()),
        false => words.to_owned(),
    };
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}

/// As HTML: what is plain is escaped, its lines become paragraphs.
pub fn html(markup: Markup) -> String {
    let plain = match markup.kind {
        Kind::Html => false,
        Kind::Plain => true,
        Kind::Either => !is_html(&markup.text),
    };
    if !plain {
        return markup.text;
    }
    let lines = markup.text.lines().map(str::trim).filter(|line| !line.is_empty());
    lines.map(|line| format!("<p>{}</p>\n", entities::escape(line))).collect()
}

/// Whether words that may be HTML are: a known tag, or a named reference.
pub fn is_html(text: &str) -> bool {
    let text = &text[..text.floor_char_boundary(LOOK_FOR_TAGS)];
    let tag = text.match_indices('<').any(|(at, _)| {
        let (ends, rest) = match text[at + 1..].strip_prefix('/') {
            Some(rest) => (true, rest),
            None => (false, &text[at + 1..]),
        };
        let length = rest.bytes().take(12).take_while(u8::is_ascii_alphanumeric).count();
        let (name, behind) = rest.split_at(length);
        let is = |names: &[&str]| names.iter().any(|known| known.eq_ignore_ascii_case(name));
        let attribute = || {
            let tag = &behind[..behind.floor_char_boundary(TAG)];
            tag.split(['<', '>']).next().is_some_and(|tag| tag.contains('='))
        };
        behind.starts_with(|c: char| c == '>' || c == '/' || c.is_whitespace())
            && (is(&USUAL) || is(&RARE) && (ends || attribute()))
    });
    tag || text.match_indices('&').any(|(at, _)| {
        let rest = &text[at + 1..];
        let name = rest.bytes().take(32).take_while(|b| b.is_ascii_alphanumeric() || *b == b'#').count();
        name > 1 && rest.as_bytes().get(name) == Some(&b';')
    })
}

/// How many characters a reader would see, tags and white space aside; counted as far as `enough`.
pub fn visible(html: &str, enough: usize) -> usize {
    let mut inside = false;
    let seen = html.chars().filter(|c| {
        match c {
            '<' => inside = true,
            '>' => inside = false,
            c if !inside && !c.is_whitespace() => return true,
            _ => {}
        }
        false
    });
    seen.take(enough).count()
}

/// Whether a text ends as excerpts do.
pub fn is_cut(html: &str) -> bool {
    let tail = &html[html.ceil_char_boundary(html.len().saturating_sub(1000))..];
    let mut inside = false;
    let text: String = tail
        .chars()
        .filter(|c| {
            match c {
                '<' => inside = true,
                '>' if inside => {
                    inside = false;
                    return false;
                }
                _ => {}
            }
            !inside
        })
        .collect();
    let text = text.trim_end().trim_end_matches(['»', '>', ']', '】', ')', '）', '→', ' ']).to_lowercase();
    CUT_ENDS.iter().any(|end| text.ends_with(end.trim_end_matches(']')))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn html_is_told_from_words_that_look_like_it() {
        for text in [
            "<p>a</p>",
            "a<br/>b",
            "<A HREF='x'>y</A>",
            "a&nbsp;b",
            "<img\nsrc=x>",
            "<details>全文</details>",
            "<video src=x>",
            "<Article>文</ARTICLE>",
            "<th>a</th>",
        ] {
            assert!(is_html(text), "{text}");
        }
        for text in [
            "a < b",
            "Vec<String>",
            "AT&T; 2",
            "《通知》",
            "<通知>",
            "‹通知>",
            "a & b",
            "the <video> element",
            "<T, U>",
            "a <string> b</string>",
        ] {
            assert!(!is_html(text), "{text}");
        }
    }

    #[test]
    fn an_excerpt_is_told_by_its_end() {
        for text in
            ["<p>开头……</p>", "Text [...]", "<p>a <a href='x'>Read more »</a></p>", "正文<a>[阅读全文]</a>"]
        {
            assert!(is_cut(text), "{text}");
        }
        for text in ["<p>全文。</p>", "", "<p>见附件</p>", "<img src='a...'>"] {
            assert!(!is_cut(text), "{text}");
        }
        assert_eq!((visible("<p>中 文</p>", 99), visible("aaaa", 2)), (2, 2));
    }
}
