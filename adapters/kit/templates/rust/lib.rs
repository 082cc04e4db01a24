//! An adapter for dibao: lists of `ul.news > li`, paged as `index_2.html`, `index_3.html`, …, and their documents.
//!
//! Pure functions: given data, they answer with data. They ask for requests, and are called again with the replies. Change the
//! selectors, then `dibao adapter build`, `dibao adapter run --url …` and `dibao adapter record …`.

use dibao_adapter::{
    About, Adapter, Article, Ctx, DetailStep, Entry, Failure, Found, Host, ListStep, Page, Reply, Request, Select,
    at, found, nothing_found,
};

/// One match is one row.
const ROW: &str = "ul.news > li";
/// Of a row. Alternatives are separated by commas, the first that finds something wins.
const LINK: &str = "a::attr(href)";
const TITLE: &str = "a::attr(title), a::text";
const DATE: &str = "span::text";
/// Only there when a further page is.
const NEXT: &str = "a.next::attr(href)";
/// Of a document: each with the words under which its origin is kept.
const DOC_TITLE: &str = "h1::text";
const DOC_DATE: &str = "meta[name='PubDate']::attr(content)";
const DOC_SOURCE: &str = "meta[name='ContentSource']::attr(content)";
const DOC_BODY: &str = "div.content";
const DOC_FILES: &str = "div.content a[href*='/files/']";
const FILE_NAME: &str = "::attr(title), ::attr(alt), ::text";

struct Site;

/// The settings of a column, as a site file gives them; the schema in `about` checks them first.
#[derive(serde::Deserialize)]
struct Config {
    list_url: String,
}

impl Adapter for Site {
    type Config = Config;
    /// What has to be remembered between calls, a token for example: any type of serde's.
    type Session = ();

    fn about() -> About {
        About {
            name: "{{name}}".into(),
            version: env!("CARGO_PKG_VERSION").into(),
            config_schema: r#"{
                "type": "object",
                "required": ["list_url"],
                "additionalProperties": false,
                "properties": {"list_url": {"type": "string", "description": "The first page of the column"}}
            }"#
            .into(),
            hosts: vec!["site".into()],
            default_interval: 0,
        }
    }

    fn list_page(
        host: &impl Host,
        ctx: &mut Ctx<Config, ()>,
        cursor: Option<&str>,
        replies: &[Reply],
    ) -> Result<ListStep, Failure> {
        let number: u32 = match cursor {
            None => 1,
            Some(text) => text.parse().map_err(|_| Failure::Stale(format!("the cursor {text:?} is not a number")))?,
        };
        let Some(reply) = replies.last() else {
            let first = &ctx.config.list_url;
            let url = match number {
                1 => first.clone(),
                _ => format!("{}/index_{number}.html", first.rsplit_once('/').map_or(first.as_str(), |(dir, _)| dir)),
            };
            return Ok(ListStep::Fetch(vec![Request::page("list", &url)]));
        };
        if reply.status == 404 && number > 1 {
            return Ok(ListStep::Done(Page { entries: Vec::new(), next: None }));
        }
        check(reply)?;
        let mut rows = Select::reply(&reply.tag).row(ROW).one(LINK).one(TITLE).one(DATE).run(host)?;
        if rows.is_empty() {
            return Err(Failure::Shape(format!("no row matches {ROW}")));
        }
        let entries = rows
            .iter_mut()
            .filter_map(|mut row| {
                let entry = Entry::new(row.take(0)?, row.take(1)?);
                Some(Entry { published: row.take(2), ..entry })
            })
            .collect();
        let mut more = Select::reply(&reply.tag).one(NEXT).run(host)?;
        let next = more.iter_mut().next().and_then(|mut page| page.take(0)).map(|_| (number + 1).to_string());
        Ok(ListStep::Done(Page { entries, next }))
    }

    fn detail(
        host: &impl Host,
        _ctx: &mut Ctx<Config, ()>,
        entry: &Entry,
        replies: &[Reply],
    ) -> Result<DetailStep, Failure> {
        let Some(reply) = replies.last() else {
            return Ok(DetailStep::Fetch(vec![Request::page("page", &entry.url)]));
        };
        if matches!(reply.status, 404 | 410) {
            return Err(Failure::Gone);
        }
        check(reply)?;
        let mut page = Select::reply(&reply.tag).one(DOC_TITLE).one(DOC_DATE).one(DOC_SOURCE).run(host)?;
        let mut article = Article { content: Some(at(&reply.tag, DOC_BODY)), ..nothing_found() };
        if let Some(mut page) = page.iter_mut().next() {
            let mut one = |column, css: &str| -> Option<Found> { Some(found(page.take(column)?, format!("css:{css}"))) };
            article.title = one(0, DOC_TITLE);
            article.published = one(1, DOC_DATE);
            article.source = one(2, DOC_SOURCE);
        }
        let mut files = Select::reply(&reply.tag).row(DOC_FILES).one("::attr(href)").one(FILE_NAME).run(host)?;
        article.attachments = files
            .iter_mut()
            .filter_map(|mut file| Some(dibao_adapter::Attachment { url: file.take(0)?, name: file.take(1) }))
            .collect();
        Ok(DetailStep::Done(article))
    }
}

/// Any status is a reply; what each means is for the adapter to say.
fn check(reply: &Reply) -> Result<(), Failure> {
    match reply.status {
        200 => Ok(()),
        404 | 410 => Err(Failure::Shape(format!("{} is not there: has the column moved?", reply.url))),
        status => Err(Failure::Refused(format!("HTTP {status} from {}", reply.url))),
    }
}

dibao_adapter::export!(Site);
