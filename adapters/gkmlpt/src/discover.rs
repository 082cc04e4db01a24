//! `discover: true`: the site's columns as rows of a list, so that whoever sets up a site sees what there is.
//!
//! Looked for at the address itself and then at the root of its host.

use dibao_adapter::{Ctx, Entry, Failure, Host, ListStep, Page, Reply, Request, Select};

use crate::config::Config;
use crate::index::{self, Index, Node};
use crate::list::{Session, missing};
use crate::place::{Root, list_address};
use crate::{answer, fit};

/// One turn.
pub fn turn(host: &impl Host, ctx: &Ctx<Config, Session>, replies: &[Reply]) -> Result<ListStep, Failure> {
    let root = Root::of(&ctx.base, ctx.config.dept_path.as_deref());
    let Some(reply) = replies.last() else {
        return Ok(ListStep::Fetch(vec![Request::page("index", &root.index())]));
    };
    let of_host = root.of_host();
    let (root, other) = match (reply.tag.as_str(), of_host) {
        ("index-of-host", Some(of_host)) => (of_host, None),
        (_, of_host) => (root, of_host),
    };
    let found = match reply.status {
        0..=399 => index::read(&answer::text(host, reply)),
        404 | 410 => None,
        status => return Err(Failure::Refused(format!("{} answered {status}", reply.url))),
    };
    match (found, other) {
        (Some(index), _) if !index.columns.is_empty() => {
            let title = Select::reply(&reply.tag).one("title::text").run(host)?;
            let name = { title }.iter_mut().next().and_then(|mut row| row.take(0)).unwrap_or_default();
            Ok(ListStep::Done(Page { entries: columns(ctx, &root, index, &fit::name(name)), next: None }))
        }
        (_, Some(other)) => Ok(ListStep::Fetch(vec![Request::page("index-of-host", &other.index())])),
        (Some(_), None) => Err(Failure::Shape(format!(
            "`window._CONFIG` in {} has an SID but no TREE of columns",
            reply.url
        ))),
        (None, None) => Err(Failure::Shape(missing(reply))),
    }
}

fn columns(ctx: &Ctx<Config, Session>, root: &Root, index: Index, site_name: &str) -> Vec<Entry> {
    let Index { sid, columns } = index;
    let entry = |node: Node| {
        let mut fields = vec![
            ("path".to_owned(), node.path.clone()),
            ("parent".to_owned(), node.parent.to_string()),
            ("is_list".to_owned(), node.is_list().to_string()),
            ("root".to_owned(), root.as_str().to_owned()),
            ("site_name".to_owned(), site_name.to_owned()),
        ];
        fields.extend(sid.clone().map(|sid| ("sid".to_owned(), sid)));
        fields.extend(node.post_count.map(|count| ("post_count".to_owned(), count.to_string())));
        fields.extend(node.jump_url.map(|url| ("jump_url".to_owned(), url)));
        Entry {
            // The index with the column in its fragment is what a person would open, but to the host all of those
            // are one address.
            url: list_address(&ctx.config, root, sid.as_deref(), node.id, 1),
            title: node.name,
            published: None,
            native_id: Some(node.id.to_string()),
            pinned: false,
            fields,
        }
    };
    columns.into_iter().map(entry).collect()
}
