//! Placeholder.
use dibao_adapter::*;
/// The adapter.
pub struct YamlCss;
/// c
#[derive(serde::Deserialize)]
pub struct Config {
    list_url: String,
}
impl Adapter for YamlCss {
    type Config = Config;
    type Session = ();
    fn about() -> About {
        About {
            name: "yaml-css".into(),
            version: env!("CARGO_PKG_VERSION").into(),
            config_schema: "{}".into(),
            hosts: vec!["site".into()],
            default_interval: 0,
        }
    }
    fn list_page(
        host: &impl Host,
        ctx: &mut Ctx<Config, ()>,
        _: Option<&str>,
        replies: &[Reply],
    ) -> Result<ListStep, Failure> {
        let Some(r) = replies.last() else {
            return Ok(ListStep::Fetch(vec![Request::page("list", &ctx.config.list_url)]));
        };
        let mut rows = Select::reply(&r.tag).row("li").one("a::attr(href)").one("a::text").run(host)?;
        Ok(ListStep::Done(Page {
            entries: rows.iter_mut().filter_map(|mut r| Some(Entry::new(r.take(0)?, r.take(1)?))).collect(),
            next: None,
        }))
    }
    fn detail(
        _: &impl Host,
        _: &mut Ctx<Config, ()>,
        entry: &Entry,
        replies: &[Reply],
    ) -> Result<DetailStep, Failure> {
        let Some(r) = replies.last() else {
            return Ok(DetailStep::Fetch(vec![Request::page("page", &entry.url)]));
        };
        Ok(DetailStep::Done(Article { content: Some(at(&r.tag, "body")), ..nothing_found() }))
    }
}
dibao_adapter::export!(YamlCss);
