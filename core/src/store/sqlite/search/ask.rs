//! Words asked of the index. Every step is bounded: a word that half of all articles have costs no more than one that
//! ten thousand have.
//!
//! Matches are taken by day of publication, the newest first, of a day the last stored first. The newest ones, and the newest that have the words in their title, are weighed
//! against each other (BM25, a word in the title counts more, the newer of equals first) and lead the list; behind
//! them the rest follows, the newest first. The total is exact up to [`COUNTED`] and a lower bound above.

use std::collections::HashSet;

use rusqlite::{Connection, OptionalExtension};

use super::super::rows::Fault;
use super::{day_of, list};
use crate::Refusal;
use crate::desk::{Cursor, FoundIds, Page, Paging, SearchHit, SearchQuery};
use crate::store::files::Files;
use crate::store::search::Question;

/// Matches that are counted.
pub(super) const COUNTED: usize = 10_000;
/// Matches that are weighed: so many of the newest, and so many of the newest by title.
const WEIGHED: usize = 100;
/// No page begins deeper than this without a cursor.
const DEEPEST: u64 = 100_000;
/// Numbers that are handed out at once.
const MOST_IDS: usize = 10_000;

pub(in super::super) fn page(
    db: &Connection,
    files: &Files,
    query: &SearchQuery,
    paging: &Paging,
) -> Result<Page<SearchHit>, Fault> {
    let limit = paging.rows()?;
    let asked = asked(query);
    let place = paging.place("search")?;
    if place.as_ref().is_some_and(|place| place.asked != asked) {
        return Err(
            Refusal::invalid("cursor", "belongs to another search", "use it with the same filters").into()
        );
    }
    if paging.skip() > DEEPEST {
        let fix = format!("go on with `cursor`, or begin at {DEEPEST} at most");
        return Err(Refusal::invalid("offset", format!("{} is too deep", paging.skip()), fix).into());
    }
    let question = Question::read(query.q.as_deref().unwrap_or_default());
    if question.is_empty() {
        if query.q.as_deref().is_some_and(|q| !q.trim().is_empty()) {
            let fix = "write words of two Chinese characters or more, or a Latin word or number";
            return Err(Refusal::invalid("q", "has no word that can be searched", fix).into());
        }
        if query.doc_no.is_none() {
            return list::page(db, files, query, limit, paging.skip(), place, &asked);
        }
    }
    let Some(expression) = expression(db, query, &question)? else {
        return Ok(Page {
            count: 0,
            total: 0,
            total_exact: true,
            limit,
            offset: paging.skip(),
            items: Vec::new(),
            cursor: None,
        });
    };
    let (top, skip, before, seen) = match &place {
        // The list as it was when its first page was read: what came since is not in it.
        Some(place) => (Some(place.at), 0, (place.id > 0).then_some(place.id), place.seen),
        None => (None, usize::try_from(paging.skip()).unwrap_or(usize::MAX), None, paging.skip()),
    };
    let leaders = weigh(db, files, &expression, &question, top)?;
    let lead = keys_of(db, &leaders)?;
    let want = limit as usize;
    let mut chosen: Vec<(i64, Option<f64>)> = Vec::new();
    let mut behind: Vec<i64> = Vec::new();
    let (mut total, mut exact) = (0, false);
    let seen_here = usize::try_from(seen).unwrap_or(usize::MAX);
    if before.is_none() {
        let from = seen_here.min(leaders.len());
        chosen.extend(leaders.iter().skip(from).take(want).map(|(id, score)| (*id, Some(*score))));
        // One pass gives the total and the page.
        let passed = seen_here.saturating_sub(leaders.len());
        let reach = COUNTED.max(skip.saturating_add(want)).saturating_add(lead.len()) + 1;
        let all = matches(db, &expression, top, None, reach)?;
        exact = all.len() < reach;
        total = if exact { all.len() } else { reach - 1 - lead.len() };
        let rest = all.into_iter().filter(|key| !lead.contains(key)).skip(passed).take(want - chosen.len());
        behind.extend(rest);
    } else {
        let more = matches(db, &expression, top, before, want + lead.len() + 1)?;
        behind.extend(more.into_iter().filter(|key| !lead.contains(key)).take(want));
        if let Some(place) = &place {
            (total, exact) = (usize::try_from(place.seen).unwrap_or(0).max(COUNTED), false);
        }
    }
    chosen.extend(articles_of(db, &behind)?.into_iter().map(|id| (id, None)));
    let top = match top {
        Some(top) => top,
        None => db
            .prepare_cached("SELECT coalesce(max(article_id), 0) FROM search_row")?
            .query_row([], |row| row.get(0))?,
    };
    let items = list::hits(db, files, &chosen, &question.words)?;
    let next = seen + chosen.len() as u64;
    let last = behind.last().copied().unwrap_or(0);
    let more = chosen.len() == want && (!exact || next < total as u64);
    let cursor = more.then(|| Cursor { at: top, id: last, seen: next, asked }.write("search"));
    let count = items.len() as u32;
    Ok(Page { count, total: total as u64, total_exact: exact, limit, offset: seen, items, cursor })
}

/// The numbers of what is found, in the order of the list without weighing: at most 10,000.
pub(in super::super) fn ids(db: &Connection, query: &SearchQuery) -> Result<FoundIds, Fault> {
    let question = Question::read(query.q.as_deref().unwrap_or_default());
    let mut ids = if question.is_empty() && query.doc_no.is_none() {
        if query.q.as_deref().is_some_and(|q| !q.trim().is_empty()) {
            return Ok(FoundIds { count: 0, complete: true, ids: Vec::new() });
        }
        list::ids(db, query, MOST_IDS + 1)?
    } else {
        match expression(db, query, &question)? {
            Some(expression) => {
                let keys = matches(db, &expression, None, None, MOST_IDS + 1)?;
                articles_of(db, &keys)?
            }
            None => Vec::new(),
        }
    };
    let complete = ids.len() <= MOST_IDS;
    ids.truncate(MOST_IDS);
    Ok(FoundIds { count: ids.len() as u32, complete, ids })
}

/// Rows of the index that match, the newest first; with `top` only those of articles up to that number.
fn matches(
    db: &Connection,
    expression: &str,
    top: Option<i64>,
    before: Option<i64>,
    limit: usize,
) -> Result<Vec<i64>, Fault> {
    let before = before.unwrap_or(i64::MAX);
    let rows = |sql: &str, values: &[&dyn rusqlite::ToSql]| -> Result<Vec<i64>, Fault> {
        let mut found = db.prepare_cached(sql)?;
        Ok(found.query_map(values, |row| row.get(0))?.collect::<Result<_, _>>()?)
    };
    match top {
        None => rows(
            "SELECT rowid FROM article_fts WHERE article_fts MATCH ?1 AND rowid < ?2 ORDER BY rowid DESC LIMIT ?3",
            rusqlite::params![expression, before, limit as i64],
        ),
        Some(top) => rows(
            "SELECT f.rowid FROM article_fts f WHERE article_fts MATCH ?1 AND f.rowid < ?2
                 AND (SELECT article_id FROM search_row WHERE key = f.rowid) <= ?4 ORDER BY f.rowid DESC LIMIT ?3",
            rusqlite::params![expression, before, limit as i64, top],
        ),
    }
}

// An article that was removed meanwhile is left out.
fn articles_of(db: &Connection, keys: &[i64]) -> Result<Vec<i64>, Fault> {
    let mut article = db.prepare_cached("SELECT article_id FROM search_row WHERE key = ?")?;
    let found = keys.iter().map(|key| article.query_row([key], |row| row.get(0)).optional());
    Ok(found.filter_map(Result::transpose).collect::<Result<_, _>>()?)
}

fn keys_of(db: &Connection, articles: &[(i64, f64)]) -> Result<HashSet<i64>, Fault> {
    let mut key = db.prepare_cached("SELECT key FROM search_row WHERE article_id = ?")?;
    let found = articles.iter().map(|(id, _)| key.query_row([id], |row| row.get(0)).optional());
    Ok(found.filter_map(Result::transpose).collect::<Result<_, _>>()?)
}

/// The leaders of the list with their weights, the heaviest first.
fn weigh(
    db: &Connection,
    files: &Files,
    expression: &str,
    question: &Question,
    top: Option<i64>,
) -> Result<Vec<(i64, f64)>, Fault> {
    if question.is_empty() {
        return Ok(Vec::new());
    }
    let mut ids = matches(db, expression, top, None, WEIGHED)?;
    if ids.len() == WEIGHED {
        let titles = format!("({expression}) AND ({})", question.expression("title"));
        let titled = matches(db, &titles, top, None, WEIGHED)?;
        ids.extend(titled);
        ids.sort_unstable_by(|a, b| b.cmp(a));
        ids.dedup();
    }
    let ids = articles_of(db, &ids)?;
    list::weights(db, files, &ids, &question.words)
}

/// What is asked of the index; none: a filter that nothing can pass.
fn expression(db: &Connection, query: &SearchQuery, question: &Question) -> Result<Option<String>, Fault> {
    let mut parts = Vec::new();
    if !question.is_empty() {
        parts.push(format!("({})", question.expression("title body docno")));
    }
    if let Some(doc_no) = &query.doc_no {
        let Some(phrase) = crate::store::search::phrase(doc_no) else {
            let fix = "write a part of it, such as 国发〔2024〕5号";
            return Err(Refusal::invalid("doc_no", "has nothing that can be searched", fix).into());
        };
        parts.push(format!("docno : \"{phrase}\""));
    }
    let tag = |tags: &[String]| -> String {
        let tags: Vec<String> = tags.iter().map(|tag| format!("\"{tag}\"")).collect();
        format!("tags : ({})", tags.join(" OR "))
    };
    let number = |sql: &str, code: &str| -> Result<Option<i64>, Fault> {
        Ok(db.prepare_cached(sql)?.query_row([code], |row| row.get(0)).optional()?)
    };
    if let Some(site) = &query.site {
        let Some(id) = number("SELECT id FROM crawl_site WHERE site_code = ?", site)? else {
            return Ok(None);
        };
        parts.push(tag(&[format!("s{id}")]));
    }
    if let Some(target) = &query.target {
        let Some(id) = number("SELECT id FROM crawl_target WHERE target_code = ?", target)? else {
            return Ok(None);
        };
        parts.push(tag(&[format!("t{id}")]));
    }
    if let Some(department) = query.department {
        // Articles belong to whoever their target belongs to.
        let mut of = db.prepare_cached("SELECT id FROM crawl_target WHERE dept_id = ?")?;
        let targets = of.query_map([department], |row| Ok(format!("t{}", row.get::<_, i64>(0)?)))?;
        let targets = targets.collect::<Result<Vec<_>, _>>()?;
        if targets.is_empty() {
            return Ok(None);
        }
        parts.push(tag(&targets));
    }
    if let Some(status) = list::status(query)? {
        parts.push(tag(&[format!("x{status}")]));
    }
    if let Some(days) = days(query)? {
        if days.is_empty() {
            return Ok(None);
        }
        parts.push(tag(&days));
    }
    Ok(Some(parts.join(" AND ")))
}

/// The years, months and days that a span is made of; none: no span was asked for.
fn days(query: &SearchQuery) -> Result<Option<Vec<String>>, Refusal> {
    use chrono::{Datelike, Days, Months, NaiveDate};
    if query.from.is_none() && query.to.is_none() {
        return Ok(None);
    }
    let day = |field: &str, text: &str| -> Result<NaiveDate, Refusal> {
        let read = day_of(text).and_then(|_| text.parse::<NaiveDate>().ok());
        read.ok_or_else(|| Refusal::invalid(field, format!("`{text}` is no day"), "write YYYY-MM-DD"))
    };
    let bound = |year, month, of| NaiveDate::from_ymd_opt(year, month, of).unwrap_or_default();
    let from = query.from.as_deref().map(|text| day("from", text)).transpose()?;
    let to = query.to.as_deref().map(|text| day("to", text)).transpose()?;
    let mut at = from.unwrap_or(bound(1949, 1, 1)).max(bound(1949, 1, 1));
    let to = to.unwrap_or(bound(2099, 12, 31)).min(bound(2099, 12, 31));
    let mut tags = Vec::new();
    while at <= to {
        let next_month = at.checked_add_months(Months::new(1)).unwrap_or(to);
        let next_year = at.checked_add_months(Months::new(12)).unwrap_or(to);
        let until = |next: NaiveDate| next.checked_sub_days(Days::new(1)).is_some_and(|last| last <= to);
        if at.ordinal() == 1 && until(next_year) {
            tags.push(format!("y{:04}", at.year()));
            at = next_year;
        } else if at.day() == 1 && until(next_month) {
            tags.push(format!("m{:04}{:02}", at.year(), at.month()));
            at = next_month;
        } else {
            tags.push(format!("d{:04}{:02}{:02}", at.year(), at.month(), at.day()));
            at = match at.checked_add_days(Days::new(1)) {
                Some(next) => next,
                None => break,
            };
        }
    }
    Ok(Some(tags))
}

/// What a cursor belongs to: every word of the question, in few characters.
fn asked(query: &SearchQuery) -> String {
    use sha2::{Digest, Sha256};
    let words = serde_json::to_vec(query).unwrap_or_default();
    crate::store::sanitize::hex(&Sha256::digest(&words)[..8])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_span_is_made_of_whole_years_months_and_days() {
        let tags = |from: &str, to: &str| {
            let query = SearchQuery { from: Some(from.into()), to: Some(to.into()), ..Default::default() };
            days(&query).unwrap().unwrap().join(" ")
        };
        assert_eq!(tags("2024-01-01", "2024-12-31"), "y2024");
        assert_eq!(tags("2023-11-30", "2025-02-01"), "d20231130 m202312 y2024 m202501 d20250201");
        assert_eq!(tags("2024-02-28", "2024-03-01"), "d20240228 d20240229 d20240301");
        assert_eq!(tags("2024-02-02", "2024-02-01"), "");
        let bad = SearchQuery { from: Some("2024-02-30".into()), ..Default::default() };
        assert_eq!(days(&bad).unwrap_err().field(), Some("from"));
    }
}
