//! Profile `xxgk`: the athena gateway. A warm-up gives the `code`, which every list request carries.
//!
//! The code is kept in the session. An answer that is not 200 may mean that it is no longer good: `stale`, and the host
//! begins again without it, once.

use dibao_adapter::{Ctx, Entry, Expects, Failure, Host, ListStep, Method, Page, Reply, Request};
use serde::Serialize;

use crate::cipher::{app_key_header, component};
use crate::config::{Config, Id, Xxgk};
use crate::wire::Node;
use crate::{Session, paging, row, wire};

/// The longest code that is believed; real ones have eleven characters.
const LONGEST_CODE: usize = 1024;

/// One turn of a list page.
pub fn turn(
    host: &impl Host,
    ctx: &mut Ctx<Config, Session>,
    page: u32,
    replies: &[Reply],
) -> Result<ListStep, Failure> {
    match replies.last() {
        Some(reply) if reply.tag == "list" => list(host, ctx, page, reply).map(ListStep::Done),
        Some(reply) => {
            let code = warmed(host, reply)?;
            let request = list_request(ctx, &code, page)?;
            ctx.session.code = Some(code);
            Ok(ListStep::Fetch(vec![request]))
        }
        None => {
            let request = match ctx.session.code.clone() {
                Some(code) => list_request(ctx, &code, page)?,
                None => warm_up(ctx)?,
            };
            Ok(ListStep::Fetch(vec![request]))
        }
    }
}

fn warm_up(ctx: &Ctx<Config, Session>) -> Result<Request, Failure> {
    let settings = &ctx.config.xxgk;
    let url = format!(
        "{}/athena/forward/{}?thirdPartyName={}&thirdPartyTenantId={}",
        settings.gateway.trim_end_matches('/'),
        settings.warmup_token,
        component(&settings.third_party_name),
        component(&settings.tenant_id),
    );
    let headers = headers(settings, &ctx.seed)?;
    Ok(Request { headers, ..Request::json("warmup", &url) })
}

fn list_request(ctx: &Ctx<Config, Session>, code: &str, page: u32) -> Result<Request, Failure> {
    let settings = &ctx.config.xxgk;
    let url = format!("{}/athena/forward/{}", settings.gateway.trim_end_matches('/'), settings.list_token);
    let categories: &[&[Id]] =
        if settings.categories.is_empty() { &[] } else { &[settings.categories.as_slice()] };
    let question = Question {
        code,
        third_party_code: &settings.third_party_code,
        third_party_table_id: settings.table_id,
        result_fields: &settings.result_fields,
        track_total_hits: "true",
        search_fields: [SearchField {
            field_name: &settings.search_field,
            search_word: &settings.search_word,
        }],
        is_precise_search: u8::from(settings.precise),
        sorts: [Sort { sort_field: &settings.sort_field, sort_order: "DESC" }],
        children_info_ids: categories,
        page_size: ctx.config.page_size,
        page_no: page,
    };
    let body = serde_json::to_vec(&question)
        .map_err(|error| Failure::Config(format!("the question cannot be written: {error}")))?;
    let mut headers = headers(settings, &ctx.seed)?;
    headers.push(("content-type".to_owned(), "application/json;charset=utf-8".to_owned()));
    Ok(Request {
        tag: "list".to_owned(),
        method: Method::Post,
        url,
        headers,
        body: Some(body),
        expects: Expects::Json,
    })
}

/// What the browser sends with both requests.
fn headers(settings: &Xxgk, seed: &[u8]) -> Result<Vec<(String, String)>, Failure> {
    let key = app_key_header(&settings.public_key, &settings.app_key, seed)?;
    let header = |name: &str, value: &str| (name.to_owned(), value.to_owned());
    Ok(vec![
        header("athenaAppKey", &key),
        header("athenaAppName", &component(&settings.app_name)),
        header("origin", &settings.origin),
        header("referer", &settings.referer),
    ])
}

/// The body of the list request, in the order in which the browser writes it.
#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Question<'a> {
    code: &'a str,
    third_party_code: &'a str,
    third_party_table_id: u64,
    result_fields: &'a [String],
    track_total_hits: &'a str,
    search_fields: [SearchField<'a>; 1],
    is_precise_search: u8,
    sorts: [Sort<'a>; 1],
    children_info_ids: &'a [&'a [Id]],
    page_size: u32,
    page_no: u32,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct SearchField<'a> {
    field_name: &'a str,
    search_word: &'a str,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Sort<'a> {
    sort_field: &'a str,
    sort_order: &'a str,
}

/// None when the gateway said 200, else its words. A gateway that says nothing at all is another page.
fn objection(answer: &Node, reply: &Reply) -> Result<Option<String>, Failure> {
    let said = answer.at("resultCode");
    match said.at("code").text() {
        None => Err(Failure::Shape(format!("{} has no resultCode.code", reply.url))),
        Some(code) if code == "200" => Ok(None),
        Some(code) => {
            let words = format!("{code} {}", said.at("cnMsg").text().unwrap_or_default());
            Ok(Some(row::name(words.trim().to_owned())))
        }
    }
}

fn warmed(host: &impl Host, reply: &Reply) -> Result<String, Failure> {
    wire::usable(reply, "xxgk.gateway or xxgk.warmup_token")?;
    let answer = wire::read(host, reply)?;
    if let Some(words) = objection(&answer, reply)? {
        return Err(Failure::Refused(format!(
            "the gateway answers the warm-up with {words}; if it stays so, the site has changed xxgk.public_key, \
             xxgk.app_key or xxgk.app_name"
        )));
    }
    let code = answer.at("result").at("data").text().filter(|code| code.len() <= LONGEST_CODE);
    code.ok_or_else(|| Failure::Shape(format!("{} has no code in result.data", reply.url)))
}

fn list(host: &impl Host, ctx: &Ctx<Config, Session>, page: u32, reply: &Reply) -> Result<Page, Failure> {
    wire::usable(reply, "xxgk.gateway or xxgk.list_token")?;
    let answer = wire::read(host, reply)?;
    if let Some(words) = objection(&answer, reply)? {
        return Err(Failure::Stale(format!("the gateway answers the list with {words}")));
    }
    let data = answer.at("result").at("data");
    let pager = data.at("pager");
    let rows = match data.at("list") {
        Node::List(rows) => rows.as_slice(),
        // Java writes a list without rows as null.
        Node::Nothing if pager.at("total").number() == Some(0) || page > 1 && pager.entries().is_some() => {
            &[]
        }
        _ => return Err(Failure::Shape(format!("{} has no rows at result.data.list", reply.url))),
    };
    if rows.is_empty() {
        let settings = &ctx.config.xxgk;
        let all = settings.search_word.is_empty() && settings.categories.is_empty();
        return paging::empty(page, all, reply);
    }
    let entries: Vec<Entry> = rows.iter().filter_map(|row| entry(host, &ctx.config.landing, row)).collect();
    paging::complain(host, entries.len(), rows.len(), "pub_url", reply)?;
    let more = pager.at("pageCount").number().is_none_or(|pages| i64::from(page) < pages);
    Ok(Page { entries, next: paging::next(host, &ctx.config, page, more) })
}

fn entry(host: &impl Host, landing: &str, row: &Node) -> Option<Entry> {
    let url = row::absolute(landing, &row.at("pub_url").text()?)?;
    let mut fields = Vec::new();
    if let Some(doc_no) = row.at("fwzh").text() {
        fields.push(("doc_no".to_owned(), row::plain(host, &doc_no)));
    }
    if let Some(written) = row.at("cwrq").text().as_deref().and_then(row::day) {
        fields.push(("written_date".to_owned(), written));
    }
    Some(Entry {
        title: row.at("maintitle").text().map(|title| row::plain(host, &title)).unwrap_or_default(),
        published: row.at("publish_time").text().map(row::value),
        native_id: row::native_id(&url),
        pinned: false,
        fields,
        url,
    })
}
