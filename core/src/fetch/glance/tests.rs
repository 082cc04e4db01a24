use super::*;
use proptest::prelude::*;

#[test]
fn the_shape_is_told_by_the_first_bytes() {
    for (body, content_type, expected) in [
        ("", "text/html", Shape::Empty),
        (" \r\n ", "application/json", Shape::Empty),
        ("<!DOCTYPE html><html>", "", Shape::Html),
        ("\u{feff}\r\n<!-- x --><HTML>", "application/json", Shape::Html),
        ("<script>1</script>", "", Shape::Html),
        ("<!-- only a comment", "text/html", Shape::Html),
        ("<?xml version='1.0'?><!DOCTYPE html PUBLIC \"-//W3C//DTD XHTML\"><html>", "", Shape::Html),
        ("<?xml version='1.0'?><rss><channel/></rss>", "text/html", Shape::Xml),
        ("<rss version='2.0'>", "text/html", Shape::Xml),
        ("<datastore><record>", "application/xml", Shape::Xml),
        ("<custom-element>", "text/html; charset=utf-8", Shape::Html),
        ("{\"code\":1}", "text/html", Shape::Json),
        ("  [1,2]", "text/plain", Shape::Json),
        ("null", "", Shape::Json),
        ("-1.5", "", Shape::Json),
        ("jQuery123_456({\"a\":1})", "text/javascript", Shape::Json),
        ("/**/cb([1]);", "text/html", Shape::Json),
        ("系统繁忙", "application/json", Shape::Text),
        ("系统繁忙<br>请稍后", "text/html", Shape::Html),
        ("%PDF-1.7\n", "text/html", Shape::File("PDF")),
        ("PK\u{3}\u{4}", "", Shape::File("ZIP or Office")),
        ("abc\0def", "text/html", Shape::File("binary")),
    ] {
        assert_eq!(shape(body.as_bytes(), content_type), expected, "{body:?} as {content_type:?}");
    }
    let utf16: Vec<u8> = "\u{feff}<html>".encode_utf16().flat_map(u16::to_le_bytes).collect();
    assert_eq!(shape(&utf16, ""), Shape::Html);
}

#[test]
fn only_what_a_reader_would_see_is_counted() {
    for (body, visible) in [
        ("", 0),
        ("<p>abc def</p>", 6),
        ("<title>hidden</title><style>p{}</style><script>var a='<p>x</p>';</script>ok", 2),
        ("<SCRIPT type='a>b'>lots of it</SCRIPT ><noscript>enable JavaScript</noscript>", 0),
        ("<!-- a comment > with <b>tags</b> -->x", 1),
        ("<a title='a > b'>链接</a>", 2),
        ("请稍候&hellip;&nbsp;&nbsp;\u{3000}", 4),
        ("<script>never closed", 0),
        ("<p class='never closed>text</p>", 4),
        ("1 < 2", 2),
        ("<script src=x /></script>y", 1),
    ] {
        assert_eq!(glance(body.as_bytes(), "text/html", false).visible, visible, "{body:?}");
    }
    let (gbk, _, _) = encoding_rs::GBK.encode("<p>请稍候，正在验证</p>");
    assert_eq!(glance(&gbk, "text/html; charset=gbk", false).visible, 8);
}

#[test]
fn titles_and_text_are_read_in_their_encoding() {
    let page = "<html><head><title>\n 安全验证 </title></head><body>请 完成</body></html>";
    let (gbk, _, _) = encoding_rs::GBK.encode(page);
    for (body, charset) in [(gbk.as_ref(), "gb2312"), (page.as_bytes(), "utf-8"), (page.as_bytes(), "")] {
        let seen = glance(body, &format!("text/html; charset={charset}"), false);
        assert_eq!((seen.title.as_str(), seen.shown.as_str()), ("安全验证", "请完成"));
    }
    let seen = glance("<title>&#35831;&#x7a0d;&#20505;</title>&#;".as_bytes(), "", false);
    assert_eq!((seen.title.as_str(), seen.shown.as_str()), ("请稍候", "&#;"));
}

#[test]
fn an_ordinary_page_is_not_read_to_its_end() {
    let page = format!("<p>{}</p>{}", "字".repeat(250), "<script>x</script>".repeat(10_000));
    let seen = glance(page.as_bytes(), "text/html", false);
    assert!(!seen.shows_little());
    assert_eq!(seen.source, "", "its source was not even decoded");
}

proptest! {
    #[test]
    fn no_bytes_make_it_panic(body in proptest::collection::vec(any::<u8>(), 0..2000), closely in any::<bool>()) {
        let _ = shape(&body, "text/html");
        let _ = glance(&body, "text/html; charset=gbk", closely);
    }

    #[test]
    fn no_markup_makes_it_panic(body in "(<[a-z/!?]{0,8}|[ \"'=]|>|&#?x?[0-9a-f]{0,9};?|<!--|-->|</title|<title>|中|\\PC){0,60}") {
        let _ = shape(body.as_bytes(), "");
        let seen = glance(body.as_bytes(), "", true);
        prop_assert!(seen.visible < 5 * ENOUGH);
    }
}
