use super::*;
use crate::config::PaginationKind;

const NOW: Timestamp = Timestamp(1_780_000_000_000);

fn looked(body: &str) -> Looked {
    let page = format!(
        "<!doctype html><html><head><title>通知公告-某市人民政府</title></head><body>{body}</body></html>"
    );
    look(
        &page,
        &Url::parse("https://www.a.gov.cn/zwgk/tzgg/index.html").unwrap(),
        chrono_tz::Asia::Shanghai,
        NOW,
    )
}

fn rows(of: impl Fn(usize) -> String) -> String {
    (1..=8).map(of).collect()
}

#[test]
fn rows_of_every_usual_shape_are_found_with_selectors_that_find_them_again() {
    let title = |n: usize| format!("关于印发第{n}号工作办法的通知");
    let pages = [
        (
            "a list",
            rows(|n| format!("<li><a href='./t{n}.html'>{}</a><span>2026-04-{n:02}</span></li>", title(n))),
            "<ul class='news-list'>",
            "</ul>",
        ),
        (
            "a list in pieces",
            rows(|n| {
                format!(
                    "<ul class='l'><li><span class='date'>[2026/4/{n}]</span><a href='/c/{n}.htm' title='{0}'>{0}</a></li></ul>",
                    title(n)
                )
            }),
            "<div>",
            "</div>",
        ),
        (
            "a table",
            rows(|n| {
                format!(
                    "<tr><td>{n}</td><td><a href='t{n}.html'>{}</a></td><td>某局</td><td>2026年4月{n}日</td></tr>",
                    title(n)
                )
            }),
            "<table id='docs'><tbody>",
            "</tbody></table>",
        ),
        (
            "another link first",
            rows(|n| {
                format!(
                    "<li><a class='kind' href='/k/'>[政策]</a><a class='doc' href='t{n}.html'>{}</a><i>2026-04-{n:02} 09:30</i></li>",
                    title(n)
                )
            }),
            "<ul>",
            "</ul>",
        ),
        (
            "boxes",
            rows(|n| {
                format!(
                    "<div class='item'><h3><a href='t{n}.html'>{}</a></h3><p>摘要，不长。</p><p class='when'>发布时间：2026-04-{n:02}</p></div>",
                    title(n)
                )
            }),
            "<div class='box'>",
            "</div>",
        ),
        (
            "a link around all",
            rows(|n| {
                format!("<li><a href='t{n}.html'><h4>{}</h4><em>2026-04-{n:02}</em></a></li>", title(n))
            }),
            "<ul class='cards'>",
            "</ul>",
        ),
        (
            "text beside the link",
            rows(|n| format!("<li><a href='t{n}.html'>{}</a> 2026-04-{n:02}</li>", title(n))),
            "<ul class='plain'>",
            "</ul>",
        ),
    ];
    for (name, rows, open, close) in pages {
        let found = looked(&format!("<div class='nav'><a href='/'>首页</a></div>{open}{rows}{close}"));
        let listing = found.listing.unwrap_or_else(|| panic!("{name} is a list"));
        assert_eq!(listing.rows.len(), 8, "{name}: {:?}", listing.selector);
        for (at, (read, date)) in listing.rows.iter().enumerate() {
            assert!(read.contains(&title(at + 1)), "{name}: {read} by {:?}", listing.selector);
            let date = parse_published(date, chrono_tz::Asia::Shanghai, NOW).unwrap().date;
            assert_eq!(date, format!("2026-04-{:02}", at + 1), "{name}");
        }
        assert_eq!((found.documents.len(), found.name.as_deref()), (8, Some("通知公告")), "{name}");
    }
}

#[test]
fn what_is_no_list_is_not_taken_for_one() {
    let item = |n: usize| {
        format!("<li><a href='/x/{n}.html'>关于印发第{n}号工作办法的通知</a><span>2026-04-{n:02}</span></li>")
    };
    let box_of = |class: &str, from: usize| -> String {
        format!("<ul class='{class}'>{}</ul>", (from..from + 6).map(item).collect::<String>())
    };
    let home = format!("{}{}{}", box_of("a", 1), box_of("b", 10), box_of("c", 20));
    let article = format!(
        "<h1>通知</h1><div>{}</div>{}",
        "各单位要认真贯彻执行有关规定。".repeat(150),
        box_of("related", 1)
    );
    let menu = rows(|n| format!("<li><a href='/c{n}/'>第{n}个栏目的名称在这里</a></li>"));
    // Two boxes of one make, each with its newest on top; three pieces of one list go on downwards.
    let dated = |day: usize| item(30 - day);
    let boxes = |from: [usize; 2]| -> String {
        from.iter()
            .map(|from| format!("<ul class='same'>{}</ul>", (*from..from + 5).map(dated).collect::<String>()))
            .collect()
    };
    assert!(looked(&boxes([1, 6])).listing.is_some(), "one list in two pieces");
    assert!(looked(&boxes([1, 3])).listing.is_none(), "two boxes");
    let few = format!("<ul>{}</ul>", (1..4).map(item).collect::<String>());
    for (name, body) in [
        ("a home page", home),
        ("a document", article),
        ("a menu", menu),
        ("a box", few),
        ("nothing", String::new()),
    ] {
        assert!(looked(&body).listing.is_none(), "{name}");
    }
}

#[test]
fn the_second_page_is_found_by_its_link_or_its_script() {
    let list = rows(|n| {
        format!("<li><a href='t{n}.html'>关于印发第{n}号工作办法的通知</a><span>2026-04-{n:02}</span></li>")
    });
    for (more, kind, pattern, start, most) in [
        (
            "<a href='index_2.html'>下一页</a><a href='index_9.html'>9</a>",
            "path",
            "index_{page}.html",
            None,
            9,
        ),
        ("<a href='index_1.html'>下一页</a>", "path", "index_{page}.html", Some(1), 30),
        ("<a href='/zwgk/tzgg/list/2.html'>&gt;</a>", "path", "/zwgk/tzgg/list/{page}.html", None, 30),
        ("<a href='?page=2'>2</a><a href='?page=3'>3</a>", "param", "page", None, 3),
        (
            "<script>createPageHTML(12, 0, \"index\", \"html\");</script>",
            "path",
            "index_{page}.html",
            Some(1),
            12,
        ),
    ] {
        let found = looked(&format!("<ul class='x'>{list}</ul><div>{more}</div>"));
        let paging = found.listing.unwrap().pagination.unwrap_or_else(|| panic!("{more}"));
        let shown = match paging.kind {
            PaginationKind::PathPattern => ("path", paging.pattern.unwrap()),
            _ => ("param", paging.param.unwrap()),
        };
        assert_eq!(
            (shown, paging.start, paging.max_pages),
            ((kind, pattern.to_owned()), start, Some(most)),
            "{more}"
        );
    }
    assert!(
        looked(&format!("<ul class='x'>{list}</ul><a href='/other/'>下一页</a>"))
            .listing
            .unwrap()
            .pagination
            .is_none()
    );
}

#[test]
fn hostile_pages_cost_little_and_propose_nothing_that_cannot_be_written() {
    let odd = rows(|n| {
        format!(
            "<li class='\"]}}{{'><a href='t{n}.html'>关于印发第{n}号工作办法的通知</a><b class='x\\y:z'>2026-04-{n:02}</b></li>"
        )
    });
    let listing = looked(&format!("<ul class='a\"b\\'>{odd}</ul>")).listing.unwrap();
    assert_eq!(listing.selector.row, "body > ul > li");
    let many = "<a href='/1'>关于印发第号工作办法的通知</a>2026-04-01".repeat(20_000);
    assert!(looked(&many).links.len() <= MOST_LINKS);
    looked(&"<div><a href=x>关于印发第号工作办法的通知".repeat(5_000));
}
