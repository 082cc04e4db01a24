//! Which of a page's headings is its title, and how it is written.

use dibao::Timestamp;
use dibao::extract::{self, Options};

const NOW: Timestamp = Timestamp(1_780_000_000_000);
const PROSE: &str = "<p>为了做好示例工作，切实兜住民生底线，现将有关事项通知如下，请各单位认真贯彻执行，确保各项任务落到实处。</p>\
    <p>一、提高思想认识，加强组织领导，压实工作责任，确保各项措施取得实效。</p>";

/// The title of a page with a head and something above its text.
fn title(head: &str, above: &str) -> String {
    let page = format!("<html><head>{head}</head><body>{above}<div id=zoom>{PROSE}</div></body></html>");
    let article = extract::page(page.as_bytes(), "https://www.example.gov.cn/a.html", &Options::at(NOW));
    article.title.unwrap_or_default()
}

#[test]
fn the_first_heading_that_the_page_tells_others_comes_before_a_column_that_the_head_shares() {
    let head = "<title>某局召开会议部署安全工作 : 本地要闻</title><meta property=og:title content=某局召开安全生产专题会议>";
    let above = "<header><h2>本地要闻</h2></header><h1>某局召开安全生产专题会议</h1>";
    assert_eq!(title(head, above), "某局召开安全生产专题会议");
}

#[test]
fn the_only_first_heading_comes_before_what_others_are_told_where_the_head_shares_no_heading() {
    let head = "<title>Springs home is for sale: see inside - Example</title>\
        <meta property=og:title content='Springs home is for sale and it is pure paradise'>";
    let above = "<h1>Take a tour inside a former Palm Springs retreat</h1>";
    assert_eq!(title(head, above), "Take a tour inside a former Palm Springs retreat");
    // The name of the site at its head is none, nor is a link home.
    for site in ["<h1>某市应急管理综合服务网站</h1>", "<h1><a href=/>某市应急管理综合服务之窗</a></h1>"]
    {
        let head = "<title>某局召开会议</title><meta property=og:title content=某局召开安全生产专题会议>";
        assert_eq!(title(head, site), "某局召开安全生产专题会议", "{site}");
    }
}

#[test]
fn a_first_heading_that_names_an_office_is_not_the_title_that_the_page_shows_elsewhere() {
    let head = "<title>关于开展示例工作的通知</title>";
    for office in
        ["中华人民共和国国家示例和改革委员会", "某某市人力资源和社会保障局", "示例天地 服务社会 造福人民"]
    {
        let above = format!("<h1>{office}</h1><div class=a><p>关于开展示例工作的通知</p></div>");
        assert_eq!(title(head, &above), "关于开展示例工作的通知", "{office}");
    }
}

#[test]
fn a_column_behind_a_hyphen_is_cut_when_the_title_stands_alone_on_the_page() {
    let head = "<title>中华人民共和国示例法-纪检</title>";
    assert_eq!(title(head, "<p class=t>中华人民共和国示例法</p>"), "中华人民共和国示例法");
    assert_eq!(title(head, "<p class=t>示例法全文</p>"), "中华人民共和国示例法-纪检");
    // Several columns, and the office behind them.
    let head = "<title>关于示例工作的通知-通知公告-某市教育局</title>";
    assert_eq!(title(head, "<p>关于示例工作的通知</p>"), "关于示例工作的通知");
    // What stands before a colon is half of a title that the page shows in two lines.
    let head = "<title>专家解读：如何推进</title>";
    assert_eq!(title(head, "<p>专家解读</p><p>如何推进</p>"), "专家解读：如何推进");
    // A hyphen of its own stays where the page shows the whole.
    let head = "<title>粤港澳大湾区-雄安</title>";
    assert_eq!(title(head, "<p>粤港澳大湾区</p><p>粤港澳大湾区-雄安</p>"), "粤港澳大湾区-雄安");
}

#[test]
fn a_heading_of_several_lines_keeps_its_words_apart() {
    let head = "<title>某市召开会议 部署工作_某市</title>";
    assert_eq!(title(head, "<h1>某市召开会议<br>部署工作</h1>"), "某市召开会议 部署工作");
    // Chinese has no spaces where a line was too long.
    let head = "<title>某市</title>";
    let above = "<h1><span>某市人民政府办公室</span><br><span>关于印发示例工作方案的通知</span></h1>";
    assert_eq!(title(head, above), "某市人民政府办公室关于印发示例工作方案的通知");
    let above = "<h1>Prince<br>Woman Warns Estate <span>Step</span> <span>Aside</span></h1>";
    assert_eq!(title("<title>x</title>", above), "Prince Woman Warns Estate Step Aside");
}

#[test]
fn where_title_and_first_heading_name_the_site_the_heading_above_the_date_is_the_title() {
    let head = "<title>某市人民政府门户网站</title>";
    let above = "<h1>某市人民政府门户网站</h1><h3>关于示例工作的通知</h3><p>发布时间：2024-03-05</p>";
    assert_eq!(title(head, above), "关于示例工作的通知");
}
