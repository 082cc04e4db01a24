//! Which of the days on a page is that of its publication.

use dibao::Timestamp;
use dibao::extract::{self, Options};

/// 2026-05-29 04:26:40 in China.
const NOW: Timestamp = Timestamp(1_780_000_000_000);
const PROSE: &str = "<p>为了做好示例工作，切实兜住民生底线，现将有关事项通知如下，请各单位认真贯彻执行，确保各项任务落到实处。</p>\
    <p>一、提高思想认识，加强组织领导，压实工作责任，确保各项措施取得实效。</p>";

fn day(head: &str, above: &str, between: &str, behind: &str) -> Option<String> {
    of("关于示例工作的通知", head, above, between, behind)
}

fn of(title: &str, head: &str, above: &str, between: &str, behind: &str) -> Option<String> {
    let page = format!(
        "<html><head><title>{title}</title>{head}</head><body>{above}<h1>{title}</h1>{between}<div id=zoom>{PROSE}</div>\
         {behind}</body></html>"
    );
    let article = extract::page(page.as_bytes(), "https://www.example.cn/a.html", &Options::at(NOW));
    article.published.map(|published| published.date)
}

#[test]
fn a_line_with_publication_and_change_gives_the_publication() {
    for line in [
        "<p>更新时间：2024-03-08 10:00 发布时间：2024-03-05 10:00</p>",
        "<p>发布时间：2024-03-05 10:00 更新时间：2024-03-08 10:00</p>",
        "<span>更新时间：2024-03-08 10:00</span><span>发布时间：2024-03-05</span>",
        "<p>2024-03-05 10:00 最后更新：2024-03-08 10:00</p>",
        "<p>Last updated: March 8, 2024 | Published: March 5, 2024</p>",
        "<p>Updated <time datetime=2024-03-08T10:00>March 8</time>, posted <time datetime=2024-03-05>March 5</time></p>",
    ] {
        assert_eq!(day("", "", line, "").as_deref(), Some("2024-03-05"), "{line}");
    }
    assert_eq!(
        day("", "", "<p>更新时间：2024-03-08</p>", "").as_deref(),
        Some("2024-03-08"),
        "better than none"
    );
}

#[test]
fn clocks_and_the_weather_are_no_days_of_publication() {
    for clock in ["今天是2026年5月29日 星期五", "现在是2026年5月29日 04:26:40", "今天：晴 12℃", "昨天：阴"]
    {
        let above = format!("<div>{clock}</div>");
        assert_eq!(day("", &above, "", ""), None, "{clock}");
        assert_eq!(day("", &above, "<p>2024-03-05</p>", "").as_deref(), Some("2024-03-05"), "{clock}");
    }
}

#[test]
fn the_day_is_read_however_it_is_written() {
    for (head, between) in [
        ("", "<p>发布日期：２０２４－０３－０５</p>"),
        ("", "<p>发布日期：二○二四年三月五日</p>"),
        ("<meta name=pubdate content='Tue Mar 05 08:00:00 CST 2024'>", ""),
        ("<meta name=pubdate content='Tue Mar  5 01:00:00 UTC 2024'>", ""),
        ("", "<time data-published='2024-03-05 09:13:00'>4 hours ago</time>"),
        ("", "<span property='dc:date dc:created' content='2024-03-05T10:00:00+08:00'>周二</span>"),
        ("", "<span class=x datetime='2024-03-05 10:00'>前天</span>"),
        ("", "<time datetime=2024-03-09T10:18:46Z>Publié le 5 mars 2024</time>"),
        ("", "<abbr title='Tuesday' data-utime=1709600000>4 hours</abbr>"),
        (
            "<script type=application/ld+json><![CDATA[{\"@type\":\"Article\",\"datePublished\":\"2024-03-05\"}]]></script>",
            "",
        ),
    ] {
        assert_eq!(day(head, "", between, "").as_deref(), Some("2024-03-05"), "{head}{between}");
    }
}

#[test]
fn a_relative_time_counts_only_where_no_other_day_is_known() {
    assert_eq!(day("", "", "<p>发布时间：3小时前</p>", "").as_deref(), Some("2026-05-29"));
    assert_eq!(day("", "", "<span>半小时前</span>", "").as_deref(), Some("2026-05-29"));
    let vague = "<meta name=date content=2024-03-05>";
    assert_eq!(day(vague, "", "<p>发布时间：3小时前</p>", "").as_deref(), Some("2024-03-05"));
    // That of a link is what the link leads to, and behind the text it is a comment's.
    assert_eq!(day("", "", "<p><a href=/b>3小时前</a></p>", ""), None);
    assert_eq!(day("", "", "", "<p>网友 3小时前</p>"), None);
}

#[test]
fn of_metas_that_disagree_the_one_that_readers_see_is_right() {
    let head = "<meta property=article:published_time content=2024-03-06T01:00:00+08:00>\
        <meta name='weibo: article:create_at' content='2024-03-05 17:39:17'>";
    assert_eq!(
        day(head, "", "<span class=date>2024年03月05日 17:39</span>", "").as_deref(),
        Some("2024-03-05")
    );
    assert_eq!(day(head, "", "", "").as_deref(), Some("2024-03-06"), "nothing is seen");
    assert_eq!(day(head, "", "<p>2024-03-09</p>", "").as_deref(), Some("2024-03-06"), "neither is seen");
}

#[test]
fn a_day_in_a_quotation_or_a_comment_is_not_the_pages() {
    let quoted = "<blockquote><p>Gast <time datetime=2024-03-01>1.3.</time></p></blockquote>";
    assert_eq!(day("", "", &format!("{quoted}<p>2024-03-05</p>"), "").as_deref(), Some("2024-03-05"));
}

#[test]
fn a_page_of_another_country_has_the_day_of_the_offset_it_writes() {
    let head = "<meta property=article:published_time content=2024-03-05T20:28:14-04:00>";
    assert_eq!(of("A headline of some length", head, "", "", "").as_deref(), Some("2024-03-05"));
    // A Chinese page has the day in China.
    assert_eq!(day(head, "", "", "").as_deref(), Some("2024-03-06"));
}
