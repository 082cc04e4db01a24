//! Which part of a page is the article, whatever its layout is called.

use dibao::Timestamp;
use dibao::extract::{self, Options};

const NOW: Timestamp = Timestamp(1_780_000_000_000);
const SENTENCE: &str = "The council met on Tuesday, and after a long debate it approved the plan, which will cost four million a year. ";

fn text(body: &str) -> String {
    let page = format!("<html><head><title>The council approves its plan</title></head>{body}</html>");
    extract::page(page.as_bytes(), "https://www.example.com/a.html", &Options::at(NOW)).text
}

fn paragraphs(name: &str, count: usize) -> String {
    (0..count).map(|at| format!("<p>{name} {at}. {SENTENCE}{SENTENCE}</p>")).collect()
}

#[test]
fn names_of_the_layout_around_half_of_an_article_do_not_drop_it() {
    for class in ["with-sidebar-right", "no-comments", "sidebars-split", "node-promoted", "comments-open"] {
        let body = format!(
            "<body class='one-sidebar has-comments'><h1>The council approves its plan</h1>\
             <div class='main-part'>{}</div><div class='{class}'>{}</div></body>",
            paragraphs("First", 6),
            paragraphs("Second", 6)
        );
        let text = text(&body);
        for at in 0..6 {
            assert!(
                text.contains(&format!("First {at}.")) && text.contains(&format!("Second {at}.")),
                "{class}: {text}"
            );
        }
    }
}

#[test]
fn dialogs_galleries_and_boxes_about_the_author_are_left_out() {
    for (class, junk) in [
        ("modal fade", "Your account is not approved yet, and you must have two articles."),
        ("slideshow", "<span>left</span><span>right</span><p>1/3</p>"),
        ("author-box", "Jane has written about councils since 2012, and lives in Leeds."),
        (
            "next-articles",
            "<p>Stocks slide after the decision, and energy weighs on them. <a href=/b>More</a></p>",
        ),
    ] {
        let body = format!(
            "<body><h1>The council approves its plan</h1><div class=story>{}<div class='{class}'>{junk}</div>{}</div></body>",
            paragraphs("First", 4),
            paragraphs("Second", 4)
        );
        let text = text(&body);
        assert!(text.contains("Second 3.") && !text.contains("left\n"), "{class}: {text}");
        for words in ["Your account", "1/3", "Jane has", "Stocks slide"] {
            assert!(!text.contains(words), "{class}: {text}");
        }
    }
}

#[test]
fn what_stands_where_an_advertisement_was_is_left_out() {
    let body = format!(
        "<body><h1>The council approves its plan</h1><div class=story>{}<p>Advertisement - story continues below</p>{}\
         <p>What do you think? Scroll down to comment below.</p></div></body>",
        paragraphs("First", 4),
        paragraphs("Second", 4)
    );
    let text = text(&body);
    assert!(!text.contains("Advertisement") && !text.contains("Scroll"), "{text}");
    assert!(text.contains("First 3.") && text.contains("Second 3."), "{text}");
}

#[test]
fn what_editors_write_under_a_headline_is_no_first_paragraph() {
    let first = "The first paragraph stands in a box of its own, but it is a sentence of the article and belongs to it.";
    for (above, stays) in [
        (format!("<h2>{first}</h2>"), false),
        (format!("<p class=article-dek>{first}</p>"), false),
        (format!("<div class=c-entry-summary><p>{first}</p></div>"), false),
        (format!("<div class=lead><p>{first}</p></div>"), true),
    ] {
        let body = format!(
            "<body><div class=top><h1>The council approves its plan</h1>{above}</div><div class=story>{}</div></body>",
            paragraphs("First", 4)
        );
        assert_eq!(text(&body).contains("The first paragraph"), stays, "{above}");
    }
}

#[test]
fn other_articles_and_who_wrote_it_go_although_they_are_prose() {
    let teaser = "Stocks slid after the decision on Wednesday, and energy weighed on them. Analysts had expected it, and said so.";
    for (class, junk) in [
        ("next-article-container", format!("<h3><a href=/b>Stocks slide</a></h3><p>{teaser}</p>").repeat(2)),
        ("related-items", format!("<p>{teaser} <a href=/b>More</a></p>")),
        ("post-body-bio", format!("<p>Jane Doe covers the White House. {teaser}</p>")),
        ("ds-thread", format!("<p>{teaser}</p>").repeat(4)),
        ("video-resource", "<p>Stocks slid, watch how.</p><p>2:32</p>".to_owned()),
    ] {
        let body = format!(
            "<body><h1>The council approves its plan</h1><div class=story>{}<div class='{class}'>{junk}</div></div></body>",
            paragraphs("First", 12)
        );
        let text = text(&body);
        assert!(text.contains("First 11.") && !text.contains("Stocks sli"), "{class}: {text}");
    }
    // What is quoted is part of the text, whatever it shows.
    let body = format!(
        "<body><h1>The council approves its plan</h1><div class=story>{}<blockquote class=twitter-video><p>A video of the \
         plane</p>, said Jane</blockquote>{}</div></body>",
        paragraphs("First", 6),
        paragraphs("Second", 6)
    );
    assert!(text(&body).contains("A video of the plane"));
}

#[test]
fn what_a_site_says_of_rights_is_no_article_however_short_the_article_is() {
    let page = "<html><head><title>某部：着力打造综合立体交通网络</title></head><body><div><h1>某部：着力打造综合立体交通网络</h1></div>\
        <div><div><div><p>据某社9月26日消息，记者从新闻发布会获悉，各项工作取得积极成效，下一步将着力打造综合立体交通网络。</p></div></div></div>\
        <div><p>【免责声明】本文仅代表作者本人观点，与某网无关。某网站对文中陈述、观点判断保持中立，不对所包含内容的准确性、可靠性或完整性提供\
        任何明示或暗示的保证。请读者仅作参考，并请自行承担全部责任。</p><p>本站郑重声明：所载文章、数据仅供参考，投资有风险，选择需谨慎。</p></div>\
        </body></html>";
    let article = extract::page(page.as_bytes(), "https://www.example.com/a.html", &Options::at(NOW));
    assert!(article.text.starts_with("据某社9月26日消息"), "{}", article.text);
}
