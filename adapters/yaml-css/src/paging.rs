//! Where the pages of a list are (S2-21). Pure: a page number in, an address out.
//!
//! Page 1 is `list_url` itself. The second page carries the number `start`, 2 where nothing is said:
//! NF-CMS counts `index_2`, TRS sets `start: 1` for `index_1`.

use dibao_adapter::Failure;

use crate::config::{Config, PaginationKind};

/// The page a cursor names: none is the first.
pub fn number(cursor: Option<&str>) -> Result<u32, Failure> {
    match cursor {
        None => Ok(1),
        Some(text) => text
            .parse()
            .ok()
            .filter(|page| *page >= 1)
            .ok_or_else(|| Failure::Stale(format!("the stored cursor `{text}` is not a page number"))),
    }
}

/// The cursor of the page after this one, while there may be one.
pub fn next(config: &Config, page: u32) -> Option<String> {
    let pagination = &config.pagination;
    let more = pagination.kind != PaginationKind::None && page < pagination.max_pages.unwrap_or(1);
    more.then(|| (page + 1).to_string())
}

/// The address of a page.
pub fn address(config: &Config, page: u32) -> Result<String, Failure> {
    let first = match config.list_json.as_ref().and_then(|json| json.source.as_deref()) {
        Some(source) => replace_last_segment(&config.list_url, source),
        None => config.list_url.clone(),
    };
    if page <= 1 {
        return Ok(first);
    }
    let shown = config.pagination.start.unwrap_or(2).saturating_add(page - 2).to_string();
    match config.pagination.kind {
        PaginationKind::None => Ok(first),
        PaginationKind::PageParam => {
            let param = config.pagination.param.as_deref().unwrap_or("page");
            Ok(with_param(&first, param, &shown))
        }
        PaginationKind::PathPattern => match config.pagination.pattern.as_deref() {
            Some(pattern) if pattern.contains("{page}") => {
                Ok(replace_last_segment(&first, &pattern.replace("{page}", &shown)))
            }
            _ => Err(Failure::Config(
                "pagination.pattern needs {page}, for example index_{page}.html".to_owned(),
            )),
        },
    }
}

/// `name` in place of the last path segment; of the path, when it begins with `/`; of everything, when it
/// is an address.
fn replace_last_segment(url: &str, name: &str) -> String {
    if name.starts_with("http://") || name.starts_with("https://") {
        return name.to_owned();
    }
    let whole = url.split(['?', '#']).next().unwrap_or(url);
    let path = whole.find("://").map_or(0, |scheme| {
        let host = scheme + 3;
        whole[host..].find('/').map_or(whole.len(), |slash| host + slash)
    });
    if name.starts_with('/') {
        return format!("{}{name}", &whole[..path]);
    }
    match whole[path..].rfind('/') {
        Some(slash) => format!("{}{name}", &whole[..=path + slash]),
        None => format!("{}/{name}", &whole[..path]),
    }
}

/// The query with `param` set, other parameters and their order kept.
fn with_param(url: &str, param: &str, value: &str) -> String {
    let url = url.split('#').next().unwrap_or(url);
    let (path, query) = url.split_once('?').unwrap_or((url, ""));
    let mut found = false;
    let mut pairs: Vec<String> = query
        .split('&')
        .filter(|pair| !pair.is_empty())
        .map(|pair| {
            if pair.split('=').next() == Some(param) && !found {
                found = true;
                return format!("{param}={value}");
            }
            pair.to_owned()
        })
        .collect();
    if !found {
        pairs.push(format!("{param}={value}"));
    }
    format!("{path}?{}", pairs.join("&"))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn config(list_url: &str, pagination: &str) -> Config {
        let json = format!(r#"{{"list_url":"{list_url}","pagination":{pagination}}}"#);
        serde_json::from_str(&json).expect("a config")
    }

    #[test]
    fn each_family_finds_its_second_and_third_page() {
        let trs = r#"{"type":"path_pattern","pattern":"index_{page}.html","start":1,"max_pages":9}"#;
        let nf = r#"{"type":"path_pattern","pattern":"index_{page}.html","max_pages":9}"#;
        let param = r#"{"type":"page_param","param":"p","max_pages":9}"#;
        let rooted = r#"{"type":"path_pattern","pattern":"/x/list-{page}.htm","max_pages":9}"#;
        let whole = r#"{"type":"path_pattern","pattern":"https://b.cn/{page}","max_pages":9}"#;
        for (url, pagination, second, third) in [
            ("https://a.cn/tz/", trs, "https://a.cn/tz/index_1.html", "https://a.cn/tz/index_2.html"),
            (
                "https://a.cn/tz/index.html",
                nf,
                "https://a.cn/tz/index_2.html",
                "https://a.cn/tz/index_3.html",
            ),
            ("https://a.cn", nf, "https://a.cn/index_2.html", "https://a.cn/index_3.html"),
            ("https://a.cn/l?x=1&p=1#top", param, "https://a.cn/l?x=1&p=2", "https://a.cn/l?x=1&p=3"),
            ("https://a.cn/l", param, "https://a.cn/l?p=2", "https://a.cn/l?p=3"),
            ("https://a.cn/tz/i.html", rooted, "https://a.cn/x/list-2.htm", "https://a.cn/x/list-3.htm"),
            ("https://a.cn/tz/", whole, "https://b.cn/2", "https://b.cn/3"),
        ] {
            let config = config(url, pagination);
            assert_eq!(address(&config, 1).expect("page 1"), url, "the first page is list_url itself");
            assert_eq!(address(&config, 2).expect("page 2"), second);
            assert_eq!(address(&config, 3).expect("page 3"), third);
        }
    }

    #[test]
    fn the_last_page_is_max_pages_and_a_list_without_pagination_has_one() {
        let paged = config("https://a.cn/", r#"{"type":"page_param","param":"p","max_pages":3}"#);
        assert_eq!(next(&paged, 2).as_deref(), Some("3"));
        assert_eq!(next(&paged, 3), None);
        assert_eq!(next(&config("https://a.cn/", r#"{"type":"none"}"#), 1), None);
    }

    #[test]
    fn a_cursor_that_is_no_page_number_is_stale() {
        assert!(matches!(number(Some("x")), Err(Failure::Stale(_))));
        assert!(matches!(number(Some("0")), Err(Failure::Stale(_))));
        assert_eq!(number(Some("7")).ok(), Some(7));
    }
}
