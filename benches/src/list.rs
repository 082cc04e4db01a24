//! One list page, from bytes to rows: through yaml-css in its sandbox, and by `scraper` alone.

use std::hint::black_box;
use std::path::Path;
use std::sync::Arc;
use std::time::{Duration, Instant};

use anyhow::{Context as _, Result, ensure};
use dibao::adapter::{Adapter, AdapterHost, Call, HostOptions, Step, contract};
use dibao::config::{effective_config, parse_site};
use dibao::extract::Pages;
use dibao_replica::{Replica, ReplicaOptions};
use encoding_rs::Encoding;
use scraper::{Html, Selector};

use crate::bare;
use crate::figures::{Figure, Goal, Samples};
use crate::world::World;

/// A list of the replica, the settings that read it and the selectors that read it natively.
struct Kind {
    name: &'static str,
    host: &'static str,
    path: &'static str,
    encoding: &'static Encoding,
    row: &'static str,
    link: &'static str,
    /// Whether the whole title is in the link's `title` attribute.
    title_attr: bool,
    date: &'static str,
}

const KINDS: [Kind; 3] = [
    Kind {
        name: "TRS",
        host: "www.ndrc.gov.cn",
        path: "/xwdt/xwfb/index.html",
        encoding: encoding_rs::UTF_8,
        row: "ul.u-list li:not(.empty)",
        link: "a",
        title_attr: true,
        date: "span",
    },
    Kind {
        name: "NF-CMS",
        host: "www.gdqy.gov.cn",
        path: "/gdqy/newxxgk/tzgg/index.html",
        encoding: encoding_rs::UTF_8,
        row: "div.news_list ul li",
        link: "a._recurl",
        title_attr: false,
        date: "span",
    },
    Kind {
        name: "GBK",
        host: "www.tongcheng.gov.cn",
        path: "/list.asp?id=12",
        encoding: encoding_rs::GB18030,
        row: "table.newslist tr",
        link: "td.tit a",
        title_attr: false,
        date: "td.rq",
    },
];

impl Kind {
    fn site_file(&self) -> String {
        let Kind { host, path, row, link, date, .. } = self;
        let title = if self.title_attr { format!("{link}::attr(title)") } else { format!("{link}::text") };
        format!(
            "site_id: bench\nsite_name: bench\nbase_url: https://{host}/\ncolumns:\n  - column_id: list\n    \
             list_url: https://{host}{path}\n    list_selector:\n      row: \"{row}\"\n      href: \"{link}::attr(href)\"\n      \
             title: \"{title}\"\n      date: \"{date}::text\"\n    detail:\n      content: body\n"
        )
    }
}

/// The page as the gate would hand it over.
async fn page(replica: &Replica, kind: &Kind) -> Result<contract::Reply> {
    let hosts = vec![kind.host.to_owned()];
    let world = World { addr: replica.addr(), ca_pem: replica.ca_pem().to_owned(), hosts };
    let url = format!("https://{}{}", kind.host, kind.path);
    let response = bare::client(&world)?.get(&url).send().await?.error_for_status()?;
    let headers = response
        .headers()
        .iter()
        .map(|(name, value)| {
            (name.as_str().to_owned(), String::from_utf8_lossy(value.as_bytes()).into_owned())
        })
        .collect();
    let (status, body) = (response.status().as_u16(), response.bytes().await?.to_vec());
    Ok(contract::Reply { tag: "list".into(), status, url, headers, body })
}

/// The native way, its selectors compiled once.
struct Native {
    encoding: &'static Encoding,
    row: Selector,
    link: Selector,
    date: Selector,
    title_attr: bool,
}

impl Native {
    fn new(kind: &Kind) -> Result<Native> {
        let css = |css: &str| Selector::parse(css).map_err(|error| anyhow::anyhow!("{css}: {error}"));
        Ok(Native {
            encoding: kind.encoding,
            row: css(kind.row)?,
            link: css(kind.link)?,
            date: css(kind.date)?,
            title_attr: kind.title_attr,
        })
    }

    /// Address, title and date of each row.
    fn rows(&self, body: &[u8]) -> Vec<(String, String, Option<String>)> {
        let (text, _, _) = self.encoding.decode(body);
        let page = Html::parse_document(&text);
        let row = |row: scraper::ElementRef<'_>| {
            let link = row.select(&self.link).next()?;
            let title = match self.title_attr {
                true => link.attr("title")?.trim().to_owned(),
                false => link.text().collect::<String>().trim().to_owned(),
            };
            let date = row.select(&self.date).next();
            let date = date.map(|date| date.text().collect::<String>().trim().to_owned());
            Some((link.attr("href")?.to_owned(), title, date))
        };
        page.select(&self.row).filter_map(row).collect()
    }
}

/// A turn that is ready to be taken again and again.
struct Turns<'a> {
    adapter: &'a Adapter,
    context: contract::Context,
    replies: Arc<Vec<contract::Reply>>,
}

impl Turns<'_> {
    fn take(&self) -> Result<Step> {
        let call = Call::List { cursor: None };
        self.adapter.turn(&self.context, call, Arc::clone(&self.replies), |turn, _| Ok(turn?.step))
    }
}

fn context(kind: &Kind) -> Result<contract::Context> {
    let (_, targets) = parse_site(&kind.site_file(), kind.name)?.into_rows()?;
    let target = targets.first().context("a target")?;
    Ok(contract::Context {
        target: target.code.clone(),
        base: format!("https://{}/", kind.host),
        config: effective_config(target).to_string(),
        session: Vec::new(),
        now: 1_775_784_000_000,
        seed: vec![7; 32],
    })
}

/// The bundled adapter.
pub fn adapter(adapters: &Path) -> Result<Adapter> {
    let file = adapters.join("yaml-css.wasm");
    let bytes = std::fs::read(&file)
        .with_context(|| format!("{}: run `cargo xtask adapters` first", file.display()))?;
    Ok(AdapterHost::new(HostOptions::default())?.load(&bytes, "yaml-css")?)
}

/// Measures the three lists and the trivial call.
pub async fn measure(adapters: &Path, quick: bool) -> Result<Vec<Figure>> {
    let (rounds, turns) = if quick { (60, 2_000) } else { (1_000, 20_000) };
    let adapter = adapter(adapters)?;
    // A site's articles are spread over its two columns; this many fill a page.
    let options = ReplicaOptions { articles: 200, gzip: false, ..ReplicaOptions::default() };
    let replica = Replica::start(options).await?;
    let mut figures = Vec::new();
    for kind in &KINDS {
        let reply = page(&replica, kind).await?;
        figures.push(tokio::task::block_in_place(|| compare(&adapter, kind, reply, rounds))?);
    }
    figures.push(tokio::task::block_in_place(|| trivial(&adapter, turns))?);
    Ok(figures)
}

fn compare(adapter: &Adapter, kind: &Kind, reply: contract::Reply, rounds: usize) -> Result<Figure> {
    let size = reply.body.len();
    let body = reply.body.clone();
    let native = Native::new(kind)?;
    let turns = Turns { adapter, context: context(kind)?, replies: Arc::new(vec![reply]) };

    let Step::Page(found) = turns.take()? else { anyhow::bail!("{}: not a page", kind.name) };
    let rows: Vec<_> = found.entries.into_iter().map(|e| (e.url, e.title, e.published)).collect();
    let expected = native.rows(&body);
    ensure!(rows == expected, "{}: dibao reads {rows:?}, scraper reads {expected:?}", kind.name);

    let queries = |css: &[&str]| -> Vec<contract::Query> {
        css.iter().map(|css| contract::Query { css: (*css).into(), all: false }).collect()
    };
    let title = if kind.title_attr { "::attr(title)" } else { "::text" };
    let (href, title) = (format!("{}::attr(href)", kind.link), format!("{}{title}", kind.link));
    let queries = queries(&[&href, &title, &format!("{}::text", kind.date)]);
    let host_side = || {
        let page = contract::HtmlPage::Reply("list".into());
        black_box(Pages::new(Arc::clone(&turns.replies)).select(&page, Some(kind.row), &queries)).is_ok()
    };

    let (mut through, mut alone, mut plain) = (Vec::new(), Vec::new(), Vec::new());
    for round in 0..rounds + rounds / 10 {
        // The order changes, so that neither always finds the cache warm.
        let (a, b) = if round % 2 == 0 {
            let a = timed(|| turns.take());
            (a, timed(|| native.rows(black_box(&body))))
        } else {
            let b = timed(|| native.rows(black_box(&body)));
            (timed(|| turns.take()), b)
        };
        let c = timed(host_side);
        // The first tenth warms up.
        if round >= rounds / 10 {
            through.push(a);
            alone.push(b);
            plain.push(c);
        }
    }
    let ratios: Vec<f64> = through.iter().zip(&alone).map(|(a, b)| a / b).collect();
    let (ratios, through, alone, plain) =
        (Samples::new(ratios), Samples::new(through), Samples::new(alone), Samples::new(plain));
    Ok(Figure {
        name: format!("list page {}, bytes to rows, to native", kind.name),
        value: through.median() / alone.median(),
        unit: "×",
        goal: Goal::AtMost(1.2),
        note: format!(
            "{} rows, {} KB: {:.0} µs to {:.0} µs; quartiles {:.2}–{:.2}; of it the same selection without a guest {:.2}×",
            rows.len(),
            size / 1000,
            through.median() * 1e6,
            alone.median() * 1e6,
            ratios.at(0.25),
            ratios.at(0.75),
            plain.median() / alone.median(),
        ),
    })
}

/// A fresh instance and a turn that only says what to fetch.
fn trivial(adapter: &Adapter, count: usize) -> Result<Figure> {
    let turns = Turns { adapter, context: context(&KINDS[0])?, replies: Arc::default() };
    ensure!(matches!(turns.take()?, Step::Fetch(_)), "the first turn asks for the page");
    let samples = Samples::new((0..count).map(|_| timed(|| turns.take()) * 1e6).collect());
    Ok(Figure {
        name: "instantiate + trivial call".into(),
        value: samples.median(),
        unit: " µs",
        goal: Goal::AtMost(40.0),
        note: format!(
            "{count} first turns of yaml-css, its settings parsed each time; quartiles {:.1}–{:.1}",
            samples.at(0.25),
            samples.at(0.75)
        ),
    })
}

/// Seconds that `work` takes, with the end of what it gives.
fn timed<T>(work: impl FnOnce() -> T) -> f64 {
    let begin = Instant::now();
    drop(black_box(work()));
    begin.elapsed().max(Duration::from_nanos(1)).as_secs_f64()
}
