//! What the names of classes and ids say about an element.
//!
//! Decides by word lists only; what follows from a mark is the scorers' and the cleaner's business. The words are those that content systems
//! and templates use again and again, in English and in pinyin; none is the name of a site.

use std::sync::LazyLock;

use aho_corasick::AhoCorasick;
use scraper::node::Element;

/// What is known of an element by its names.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Marks(u16);

impl Marks {
    /// Hardly ever holds an article: banners, comments, side bars.
    pub const UNLIKELY: Marks = Marks(1);
    /// May hold one all the same: `content`, `article`, `main`.
    pub const MAYBE: Marks = Marks(2);
    /// Speaks for it.
    pub const POSITIVE: Marks = Marks(4);
    /// Speaks against it.
    pub const NEGATIVE: Marks = Marks(8);
    /// Furniture inside of articles: share bars, related lists, editors' lines.
    pub const FURNITURE: Marks = Marks(16);
    /// Comments of readers.
    pub const COMMENTS: Marks = Marks(32);
    /// A body by the convention of a content system or of the microformats.
    pub const BODY: Marks = Marks(64);
    /// Date, source, author: what stands between title and text.
    pub const BYLINE: Marks = Marks(128);
    /// Caption of a picture.
    pub const CAPTION: Marks = Marks(256);
    /// Title of the page.
    pub const TITLE: Marks = Marks(512);
    /// Other articles: related, recommended, next ones.
    pub const OTHERS: Marks = Marks(1024);
    /// Who wrote it, often with a few sentences about them.
    pub const AUTHOR: Marks = Marks(2048);

    pub fn has(self, other: Marks) -> bool {
        self.0 & other.0 != 0
    }
}

const fn m(a: Marks, b: Marks) -> Marks {
    Marks(a.0 | b.0)
}

const U: Marks = Marks::UNLIKELY;
const UN: Marks = m(Marks::UNLIKELY, Marks::NEGATIVE);
const N: Marks = Marks::NEGATIVE;
const P: Marks = Marks::POSITIVE;
const PM: Marks = m(Marks::POSITIVE, Marks::MAYBE);
const F: Marks = Marks::FURNITURE;
const UNF: Marks = m(UN, Marks::FURNITURE);
const NF: Marks = m(Marks::NEGATIVE, Marks::FURNITURE);
const C: Marks = m(UNF, Marks::COMMENTS);
const O: Marks = m(UNF, Marks::OTHERS);

/// Words found anywhere in class and id, whatever the case.
const WORDS: &[(&str, Marks)] = &[
    // Speaking for.
    ("article", PM),
    ("body", PM),
    ("content", PM),
    ("main", PM),
    ("column", Marks::MAYBE),
    ("shadow", Marks::MAYBE),
    ("entry", P),
    ("post", P),
    ("text", P),
    ("blog", P),
    ("story", P),
    ("zhengwen", P),
    ("neirong", P),
    ("detail", P),
    ("trs_editor", PM),
    ("trs_ueditor", PM),
    ("ucap-content", PM),
    ("zoom", P),
    ("artibody", PM),
    ("endtext", PM),
    // Speaking against.
    ("banner", UNF),
    ("breadcrumb", UNF),
    ("combx", UN),
    ("comment", C),
    ("disqus", C),
    ("pinglun", C),
    ("replies", C),
    ("community", U),
    ("cover-wrap", U),
    ("footer", UNF),
    ("gdpr", UNF),
    ("cookie", UNF),
    ("consent", UNF),
    ("legends", U),
    ("menu", UNF),
    ("related", O),
    ("remark", U),
    ("rss", U),
    ("shoutbox", UN),
    ("sidebar", UNF),
    ("skyscraper", UN),
    ("social", UNF),
    ("sponsor", UNF),
    ("supplemental", U),
    ("ad-break", U),
    ("agegate", U),
    ("pagination", UNF),
    ("pager", UNF),
    ("popup", UNF),
    ("modal", NF),
    ("slideshow", F),
    ("slider", F),
    ("carousel", F),
    ("lightbox", F),
    ("video", F),
    ("reaction", F),
    ("gallery", F),
    ("contact", N),
    ("masthead", UN),
    ("outbrain", NF),
    ("taboola", NF),
    ("promo", NF),
    ("scroll", N),
    ("share", NF),
    ("sharing", NF),
    ("shopping", N),
    ("widget", N),
    ("-ad-", NF),
    ("advert", NF),
    ("newsletter", NF),
    ("subscri", NF),
    ("signup", NF),
    ("sign-up", NF),
    ("recommend", O),
    ("recirc", m(NF, Marks::OTHERS)),
    ("read-more", F),
    ("readmore", F),
    ("more-on", F),
    ("morefrom", F),
    ("most-read", O),
    ("trending", UNF),
    ("popular", m(NF, Marks::OTHERS)),
    ("author-bio", NF),
    ("authorbio", NF),
    ("about-author", NF),
    ("author-box", NF),
    ("about-the-author", NF),
    ("author-card", F),
    ("author-profile", F),
    ("author-desc", F),
    ("author-info", F),
    ("toolbar", NF),
    ("tool-bar", NF),
    ("toolbox", NF),
    ("bdshare", UNF),
    ("jiathis", UNF),
    ("fenxiang", UNF),
    ("tuijian", O),
    ("xiangguan", O),
    ("guanlian", NF),
    ("dayin", NF),
    ("copyright", UNF),
    ("disclaimer", NF),
    ("statement", NF),
    ("mianze", NF),
    ("shengming", NF),
    ("zebian", F),
    ("zeren", F),
    ("editor-name", F),
    ("articleedit", F),
    ("ep-editor", F),
    ("ep-source", F),
    ("qrcode", NF),
    ("erweima", NF),
    ("weixin", N),
    ("prevnext", NF),
    ("prev-next", NF),
    ("post-nav", NF),
    ("nextpage", NF),
    ("next-article", O),
    ("up-next", O),
    ("hot-", N),
    ("hotnews", UNF),
    ("ranklist", UNF),
    ("navbar", UNF),
    ("navigation", UNF),
    ("site-nav", UNF),
    ("crumb", UNF),
    ("topbar", UNF),
    ("toplink", UNF),
    ("friendlink", UNF),
    ("login", UNF),
    ("appdown", NF),
    ("app-download", NF),
    ("download-app", NF),
    // Bylines.
    ("byline", Marks::BYLINE),
    ("dateline", Marks::BYLINE),
    ("pubdate", Marks::BYLINE),
    ("pub-date", Marks::BYLINE),
    ("publish-date", Marks::BYLINE),
    ("publishtime", Marks::BYLINE),
    ("publishdate", Marks::BYLINE),
    ("publish_date", Marks::BYLINE),
    ("post-date", Marks::BYLINE),
    ("post_date", Marks::BYLINE),
    ("entry-date", Marks::BYLINE),
    ("article-date", Marks::BYLINE),
    ("article_date", Marks::BYLINE),
    ("posted-on", Marks::BYLINE),
    ("pubtime", Marks::BYLINE),
    ("timestamp", Marks::BYLINE),
    ("post-meta", Marks::BYLINE),
    ("entry-meta", Marks::BYLINE),
    ("article-meta", Marks::BYLINE),
    ("article-info", Marks::BYLINE),
    ("post_info", Marks::BYLINE),
    ("pages-date", Marks::BYLINE),
    ("date-source", Marks::BYLINE),
    ("laiyuan", Marks::BYLINE),
    // Captions.
    ("caption", Marks::CAPTION),
    ("photo-credit", Marks::CAPTION),
    ("image-credit", Marks::CAPTION),
    ("imgdesc", Marks::CAPTION),
    ("pictext", Marks::CAPTION),
    // Titles.
    ("title", Marks::TITLE),
    ("headline", Marks::TITLE),
    ("biaoti", Marks::TITLE),
];

/// Whole names of bodies: conventions of content systems (TRS, UCAP, NF-CMS, Hanweb, visual site builders, WordPress, WeChat) and microformats.
const BODIES: &[&str] = &[
    "trs_editor",
    "trs_ueditor",
    "trs_editor_view",
    "ucap-content",
    "ucapcontent",
    "zoom",
    "zoomcon",
    "vsb_content",
    "v_news_content",
    "js_content",
    "rich_media_content",
    "article-content",
    "article_content",
    "articlecontent",
    "article-body",
    "article_body",
    "articlebody",
    "article__body",
    "article__content",
    "article_text",
    "articletext",
    "article-text",
    "article_con",
    "artibody",
    "endtext",
    "entry-content",
    "post-content",
    "post_content",
    "post-body",
    "post_body",
    "e-content",
    "story-body",
    "storybody",
    "story-content",
    "news_content",
    "news-content",
    "newscontent",
    "news_txt",
    "news_text",
    "content-article",
    "detailcontent",
    "detail-content",
    "main-content-article",
    "pages_content",
    "p-detail",
    "content_main",
    "contentmain",
    "wp_articlecontent",
    "single-content",
    "td-post-content",
    "rm_txt_con",
    "main_content",
    "ctrlfscont",
    "statuses-text",
    "article-detail",
    "article-main",
    "zw",
    "text_con",
    "text-con",
];

static MATCHER: LazyLock<Option<AhoCorasick>> = LazyLock::new(|| {
    AhoCorasick::builder().ascii_case_insensitive(true).build(WORDS.iter().map(|(word, _)| word)).ok()
});

/// The marks of an element.
pub(crate) fn marks_of(element: &Element) -> Marks {
    let mut marks = Marks::default();
    // What stands on the page as a whole says how it is laid out.
    if matches!(element.name(), "html" | "body") {
        return marks;
    }
    for (name, value) in &element.attrs {
        match &*name.local {
            "class" | "id" => {
                names(&mut marks, value);
            }
            "itemprop" => match &**value {
                "articleBody" => marks = m(marks, Marks::BODY),
                "headline" => marks = m(marks, Marks::TITLE),
                "datePublished" | "author" => marks = m(marks, Marks::BYLINE),
                _ => {}
            },
            // RDFa, as Drupal writes it.
            "property"
                if ["dc:created", "dc:date", "datePublished"].iter().any(|name| value.contains(name)) =>
            {
                marks = m(marks, Marks::BYLINE);
            }
            "role" => match &**value {
                "navigation" | "complementary" | "banner" | "menu" | "menubar" | "dialog" | "alert"
                | "alertdialog" => marks = m(marks, UNF),
                "main" | "article" => marks = m(marks, PM),
                _ => {}
            },
            _ => {}
        }
    }
    marks
}

fn names(marks: &mut Marks, value: &str) {
    if value.is_empty() || value.len() > 1000 {
        return;
    }
    for name in value.split_ascii_whitespace() {
        if let Some(matcher) = MATCHER.as_ref().filter(|_| !is_layout(name)) {
            for found in matcher.find_overlapping_iter(name) {
                *marks = m(*marks, WORDS[found.pattern().as_usize()].1);
            }
        }
        if BODIES.iter().any(|body| body.eq_ignore_ascii_case(name)) {
            *marks = m(*marks, Marks::BODY);
        }
        let part = |part: &str| {
            ["author", "authors", "autor", "bio"].iter().any(|word| part.eq_ignore_ascii_case(word))
        };
        if name.split(['-', '_']).any(part) {
            *marks = m(*marks, Marks::AUTHOR);
        }
        match name.as_bytes() {
            b"ad" | b"ads" | b"nav" | b"aside" | b"side" | b"foot" | b"tags" | b"tag" | b"tool"
            | b"tools" | b"print" | b"xgyd" | b"xgxw" | b"gg" => {
                *marks = m(*marks, NF);
            }
            // Programs for comments that many sites embed.
            b"SOHUCS" | b"uyan_frame" | b"ds-thread" | b"gitalk-container" | b"lv-container"
            | b"vcomments" | b"waline" | b"giscus" | b"utterances" => *marks = m(*marks, C),
            // Dialogs that wait to be opened.
            b"modal" | b"modal-dialog" => *marks = m(*marks, UNF),
            b"hid" | b"hidden" | b"media" | b"meta" => *marks = m(*marks, N),
            b"editor" | b"zrbj" | b"bianji" | b"tiyi1" => *marks = m(*marks, F),
            b"source" | b"info" | b"date" | b"time" | b"author" | b"ly" => *marks = m(*marks, Marks::BYLINE),
            _ => {}
        }
    }
}

/// Names that say how a page is laid out or what state it is in, and not what the element is: `with-sidebar-right` stands around the article,
/// `has-comments` and `comments-open` on the whole of it.
fn is_layout(name: &str) -> bool {
    const BEFORE: [&str; 10] = ["has", "with", "no", "without", "not", "is", "show", "hide", "one", "two"];
    const BEHIND: [&str; 5] = ["open", "enabled", "disabled", "active", "promoted"];
    let is = |part: &str, of: &[&str]| of.iter().any(|word| word.eq_ignore_ascii_case(part));
    let mut parts = name.split(['-', '_']);
    let first = parts.next().unwrap_or_default();
    let Some(last) = parts.next_back() else { return false };
    is(first, &BEFORE) || is(last, &BEHIND) || is(first, &["sidebars"])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_of_layouts_and_states_say_nothing_of_what_an_element_is() {
        let of = |names: &str| {
            let mut marks = Marks::default();
            super::names(&mut marks, names);
            marks
        };
        for layout in [
            "with-sidebar-right",
            "has-comments",
            "no-sidebar",
            "sidebars-split",
            "comments-open",
            "node-promoted",
            "menu-active",
            "two-columns-share",
        ] {
            assert_eq!(of(layout), Marks::default(), "{layout}");
        }
        for furniture in ["sidebar", "comments", "sidebar-right", "node-promo", "share-bar"] {
            assert!(of(furniture).has(Marks::NEGATIVE), "{furniture}");
        }
        assert!(of("with-sidebar article-body").has(Marks::BODY), "the other names still count");
    }
}
