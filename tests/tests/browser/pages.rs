//! Pages that only a browser can read, and pages that try to keep it.

use std::time::Duration;

use dibao::fetch::browser::BrowserOptions;
use dibao::fetch::{FetchErrorKind, Fetched, Gate, Part, Rendering, Timeouts};
use dibao_replica::{Fault, FaultRule, NewPost};
use url::Url;

use crate::bed::Bed;
use crate::stage::{GDQY, chromium, gate, page, put, quick, rendered};

fn text(fetched: &Fetched) -> String {
    assert_eq!(fetched.tier, "browser");
    dibao::extract::charset::decode(&fetched.body, fetched.header("content-type")).text.into_owned()
}

fn rows(fetched: &Fetched) -> usize {
    text(fetched).matches("</li>").count()
}

async fn get(gate: &Gate, ask: dibao::fetch::Ask) -> Fetched {
    gate.fetch(&ask).await.unwrap_or_else(|error| panic!("{error}"))
}

/// Adds rows when the end of the page is reached, until there are fifty.
const GROWING: &str = "<ul id=u></ul><script>let n=0;function more(){for(let i=0;i<10&&n<50;i++,n++){const l=document.createElement('li');\
    l.style.height='200px';l.textContent=n;document.getElementById('u').append(l)}}more();\
    addEventListener('scroll',()=>{if(innerHeight+scrollY>=document.body.scrollHeight-50)setTimeout(more,50)})</script>";

#[tokio::test(flavor = "multi_thread")]
async fn pages_are_complete_when_they_are_taken() {
    if !chromium().await {
        return;
    }
    let bed = Bed::new(20).await;
    let gate = gate(&bed, BrowserOptions { tabs: 1, ..quick() }, |_| ());

    let list = "<ul id=u></ul><script>fetch('/robots.txt').then(r=>r.text()).then(t=>{for(let i=0;i<7;i++)u.innerHTML+='<li>'+i})</script>";
    let script = put(&bed, "/by-script", list);
    assert_eq!(rows(&get(&gate, page(&script)).await), 7, "what the page's script asked for");

    // Nothing tells that this row will come but the site's settings: the page is taken as it stands while it waits.
    let held = bed.replica.fault(FaultRule::new(Fault::Hold).path("/slow-part"));
    let late = put(
        &bed,
        "/late",
        "<ul id=u></ul><script>fetch('/slow-part').finally(()=>u.innerHTML='<li>1')</script>",
    );
    assert_eq!(rows(&get(&gate, page(&late)).await), 0);
    let wait_for = Rendering { wait_for: Some("#u > li".into()), ..Rendering::default() };
    let came = bed.replica.requests().iter().filter(|seen| seen.path == "/slow-part").count();
    let (complete, ()) = tokio::join!(get(&gate, rendered(&late, wait_for)), async {
        bed.replica.wait_for(came + 1, |seen| seen.path == "/slow-part").await;
        bed.replica.remove_fault(held);
    });
    assert_eq!(rows(&complete), 1);
    let wrong = Rendering { wait_for: Some("li[".into()), ..Rendering::default() };
    let error = gate.fetch(&rendered(&late, wrong)).await.unwrap_err();
    assert!(error.to_string().contains("browser.wait_for"), "{error}");

    let growing = put(&bed, "/growing", GROWING);
    assert_eq!(rows(&get(&gate, page(&growing)).await), 10);
    let scroll = Rendering { scroll: 20, ..Rendering::default() };
    assert_eq!(rows(&get(&gate, rendered(&growing, scroll)).await), 50);

    // Nobody answers questions, and no window opens.
    let rude = put(
        &bed,
        "/rude",
        "<p id=p></p><script>alert(1);p.textContent=confirm('?')+','+prompt('?')+','+window.open('/popup')</script>",
    );
    let got = text(&get(&gate, page(&rude)).await);
    assert!(got.contains("<p id=\"p\">false,null,"), "{got}");

    // Pictures, sound and fonts are not loaded unless the site says so.
    let parts =
        put(&bed, "/parts", "<img src=/i.png><link rel=stylesheet href=/s.css><script src=/j.js></script>");
    for (block, expected) in
        [(None, vec!["/j.js", "/s.css"]), (Some(vec![Part::Stylesheet]), vec!["/i.png", "/j.js"])]
    {
        bed.forget();
        get(&gate, rendered(&parts, Rendering { block, ..Rendering::default() })).await;
        let mut asked: Vec<String> = bed.asked().into_iter().filter(|path| path.contains('.')).collect();
        asked.sort();
        assert_eq!(asked, expected);
    }

    // A page in GBK is handed on as what it says, and data as data.
    let old = get(&gate, page("https://www.tongcheng.gov.cn/list.asp?id=12")).await;
    assert!(text(&old).contains("通城县人民政府"), "{}", text(&old));
    let data = get(&gate, page("https://www.news.cn/tech/ds_fd79514d92f34849bc8baef7ce3d5aae.json")).await;
    assert!(
        text(&data).trim_start().starts_with('{') && data.header("content-type").unwrap().contains("json")
    );
    let gone = get(&gate, page(&format!("https://{GDQY}/nothing.html"))).await;
    assert_eq!(gone.status, 404);
    // One tab, one page: the second host is not asked before the first has answered.
    let held = bed.replica.fault(FaultRule::new(Fault::Hold).path("/held"));
    let slow = put(&bed, "/held", "<p>slow</p>");
    let (slow, gov) = (page(&slow), page("https://www.gov.cn/zhengce/zuixin/home.htm"));
    bed.forget();
    let asked = |path: &'static str| bed.asked().iter().any(|asked| asked.ends_with(path));
    let (first, second, ()) = tokio::join!(gate.fetch(&slow), gate.fetch(&gov), async {
        let either = |seen: &dibao_replica::Seen| seen.path == "/held" || seen.path.ends_with("home.htm");
        bed.replica.wait_for(1, either).await;
        if asked("/held") {
            tokio::time::sleep(Duration::from_millis(700)).await;
            assert!(!asked("home.htm"));
        }
        bed.replica.remove_fault(held);
    });
    assert!(first.is_ok() && second.is_ok() && asked("home.htm"));
    // A page sees what the pool holds for its host, and nothing of what another page left.
    let jar = put(
        &bed,
        "/jar",
        "<p id=p></p><script>p.textContent='had:'+document.cookie+localStorage.a;document.cookie='a=1;path=/';localStorage.a=2</script>",
    );
    assert!(text(&get(&gate, page(&jar)).await).contains(">had:undefined<"));
    assert!(text(&get(&gate, page(&jar)).await).contains(">had:a=1undefined<"), "the pool's cookie");
    gate.hosts().reset(GDQY);
    assert!(text(&get(&gate, page(&jar)).await).contains(">had:undefined<"), "an empty pool");
}

#[tokio::test(flavor = "multi_thread")]
async fn pages_that_try_to_keep_the_browser_do_not() {
    if !chromium().await {
        return;
    }
    let bed = Bed::new(20).await;
    let timeouts = Timeouts { total: Duration::from_secs(10), ..Timeouts::default() };
    let gate = gate(&bed, quick(), |options| {
        options.timeouts = timeouts;
        options.body_cap = 1 << 20;
    });

    // A part that never comes: the page is taken as it stands.
    bed.replica.fault(FaultRule::new(Fault::Hold).path("/never"));
    let waiting = put(&bed, "/waiting", "<p>here</p><script>fetch('/never')</script><img src=/never>");
    assert!(text(&get(&gate, page(&waiting)).await).contains("here"));
    // A page that never comes.
    let error = gate.fetch(&page(&format!("https://{GDQY}/never"))).await.unwrap_err();
    assert!(matches!(error.kind(), FetchErrorKind::Timeout { .. }), "{error}");
    gate.hosts().reset(GDQY);
    // A script that never ends.
    let busy = put(&bed, "/busy", "<script>for(;;);</script>");
    let error = gate.fetch(&page(&busy)).await.unwrap_err();
    assert!(matches!(error.kind(), FetchErrorKind::Timeout { .. }), "{error}");
    gate.hosts().reset(GDQY);
    // More than is wanted.
    let huge = put(&bed, "/huge", "<script>document.write('<!--'+'x'.repeat(3<<20)+'-->')</script>");
    let error = gate.fetch(&page(&huge)).await.unwrap_err();
    assert!(matches!(error.kind(), FetchErrorKind::TooLarge { limit: 1_048_576 }), "{error}");
    bed.replica.fault(FaultRule::new(Fault::HugeBody { bytes: 1 << 30 }).path("/endless"));
    let error = gate.fetch(&page(&format!("https://{GDQY}/endless"))).await.unwrap_err();
    assert!(error.duration() < Duration::from_secs(60), "{error}");
    gate.hosts().reset(GDQY);
    // Files are no pages, whether Chromium would show them or keep them.
    let post = NewPost { attachments: 4, ..NewPost::default() };
    let post = bed.replica.publish(GDQY, "tzgg", post).unwrap();
    let html = text(&get(&gate, page(&post.url)).await);
    let links = html
        .split("nfw-cms-attachment")
        .skip(1)
        .filter_map(|rest| rest.split("href=\"").nth(1)?.split('"').next());
    let files: Vec<Url> = links.map(|link| Url::parse(&post.url).unwrap().join(link).unwrap()).collect();
    assert!(files.len() >= 3, "{html}");
    for file in files {
        let error = gate.fetch(&page(file.as_str())).await.unwrap_err();
        assert!(error.to_string().contains("files come by HTTP"), "{error}");
    }
    // After all that it still reads pages.
    let good = put(&bed, "/good", "<p>good</p>");
    assert!(text(&get(&gate, page(&good)).await).contains("good"));
}
