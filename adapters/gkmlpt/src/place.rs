//! Where things are on a site: its root, its index, its lists, its documents. Pure: settings in, addresses out.

use crate::config::Config;

/// Where the list is when nothing else is said.
const LIST: &str = "/gkmlpt/api/all/{column_id}?page={page}&sid={sid}";

/// The platform's place on a site: `https://<host>[/<department>]`, without a slash at the end.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Root {
    base: String,
    root: String,
}

impl Root {
    /// From any address of the site: its root, a department, the catalogue's index with its fragment, a document.
    pub fn of(base: &str, dept_path: Option<&str>) -> Root {
        let whole = base.trim().split(['?', '#']).next().unwrap_or_default();
        let path = path_start(whole);
        let base = match whole[path..].find("/gkmlpt") {
            Some(at) if whole[path + at + 7..].chars().next().is_none_or(|next| next == '/') => {
                &whole[..path + at]
            }
            _ => match whole[path..].rfind('/') {
                // The last part of a path is a file when it has an ending.
                Some(slash) if whole[path + slash..].contains('.') => &whole[..path + slash],
                _ => whole,
            },
        };
        let base = base.trim_end_matches('/').to_owned();
        let dept = dept_path.unwrap_or_default().trim_matches('/');
        // The department may be in both.
        let root = match dept.is_empty() || base[path_start(&base)..].trim_matches('/') == dept {
            true => base.clone(),
            false => format!("{base}/{dept}"),
        };
        Root { base, root }
    }

    /// The root of the host, when this one is below it.
    pub fn of_host(&self) -> Option<Root> {
        let path = path_start(&self.root);
        let host = self.root[..path].to_owned();
        (path < self.root.len()).then(|| Root { base: host.clone(), root: host })
    }

    /// As an address.
    pub fn as_str(&self) -> &str {
        &self.root
    }

    /// The page whose script has the site's number and its tree of columns.
    pub fn index(&self) -> String {
        format!("{}/gkmlpt/index", self.root)
    }

    /// Whether an address is on the site's own host.
    pub fn has(&self, url: &str) -> bool {
        let url = url.trim();
        match url.split_once("//") {
            Some((scheme, _)) if scheme.is_empty() || scheme.ends_with(':') => host(url) == host(&self.root),
            _ => true,
        }
    }
}

/// A page of a column's list.
pub fn list_address(config: &Config, root: &Root, sid: Option<&str>, column: u64, page: u32) -> String {
    let template = config.list_api_path_tpl.as_deref().unwrap_or(LIST);
    let values = [
        ("{column_id}", Some(column.to_string())),
        ("{page}", Some(page.to_string())),
        ("{sid}", sid.map(str::to_owned)),
        ("{page_size}", config.page_size.map(|size| size.to_string())),
        ("{area_code}", config.area_code()),
        ("{dept_path}", config.dept_path.as_ref().map(|dept| dept.trim_matches('/').to_owned())),
    ];
    let fill = |text: &str| {
        values.iter().fold(text.to_owned(), |text, (place, value)| {
            text.replace(place, value.as_deref().unwrap_or_default())
        })
    };
    let unknown = |pair: &str| values.iter().any(|(place, value)| value.is_none() && pair.contains(place));
    let (path, query) = template.split_once('?').unwrap_or((template, ""));
    let pairs: Vec<String> =
        query.split('&').filter(|pair| !pair.is_empty() && !unknown(pair)).map(fill).collect();
    let mut path = fill(path);
    if !path.contains("://") {
        let under = if template.contains("{dept_path}") { &root.base } else { &root.root };
        path = format!("{under}/{}", path.trim_start_matches('/'));
    }
    if pairs.is_empty() { path } else { format!("{path}?{}", pairs.join("&")) }
}

/// The page of a document: `3255421` → `/gkmlpt/content/3/3255/post_3255421.html`.
pub fn post_address(root: &Root, id: u64) -> String {
    format!("{}/gkmlpt/content/{}/{}/post_{id}.html", root.root, id / 1_000_000, id / 1_000)
}

/// Where the path of an address begins.
fn path_start(url: &str) -> usize {
    let host = url.find("://").map_or(0, |at| at + 3);
    url[host..].find('/').map_or(url.len(), |slash| host + slash)
}

/// The host of an address, in lower case, without port.
fn host(url: &str) -> String {
    let rest = url.split_once("//").map_or(url, |(_, rest)| rest);
    let authority = rest.split(['/', '?', '#']).next().unwrap_or_default();
    let host = authority.rsplit('@').next().unwrap_or_default();
    host.split(':').next().unwrap_or_default().to_ascii_lowercase()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn config(json: &str) -> Config {
        serde_json::from_str(json).expect(json)
    }

    #[test]
    fn any_address_of_a_site_leads_to_its_root() {
        for (address, dept, root) in [
            ("https://www.zhaoqing.gov.cn/zqhjj", None, "https://www.zhaoqing.gov.cn/zqhjj"),
            ("https://www.zhaoqing.gov.cn/zqhjj/", Some("/zqhjj/"), "https://www.zhaoqing.gov.cn/zqhjj"),
            ("https://www.zhaoqing.gov.cn", Some("zqhjj"), "https://www.zhaoqing.gov.cn/zqhjj"),
            ("http://www.sz.gov.cn/", None, "http://www.sz.gov.cn"),
            ("http://www.sz.gov.cn/gkmlpt/index#2972", None, "http://www.sz.gov.cn"),
            ("https://a.gov.cn/dept/gkmlpt/content/3/3255/post_3255421.html", None, "https://a.gov.cn/dept"),
            ("https://a.gov.cn/dept/gkmlpt?x=1", None, "https://a.gov.cn/dept"),
            ("https://a.gov.cn/gkmlpts/x/index.html", None, "https://a.gov.cn/gkmlpts/x"),
            ("https://a.gov.cn", None, "https://a.gov.cn"),
        ] {
            assert_eq!(Root::of(address, dept).as_str(), root, "{address}");
        }
        let root = Root::of("https://a.gov.cn/dept", None);
        assert_eq!(root.of_host().map(|root| root.index()).as_deref(), Some("https://a.gov.cn/gkmlpt/index"));
        assert_eq!(Root::of("https://a.gov.cn/", None).of_host(), None);
        for (url, own) in [
            ("http://A.gov.cn:80/x", true),
            ("//a.gov.cn/x", true),
            ("/x", true),
            ("x//y", true),
            ("https://mp.weixin.qq.com/s/x", false),
            ("//b.gov.cn", false),
        ] {
            assert_eq!(root.has(url), own, "{url}");
        }
    }

    #[test]
    fn lists_are_where_the_template_says_and_unknown_parameters_are_left_out() {
        let root = Root::of("https://a.gov.cn/dept", None);
        let plain = config("{}");
        assert_eq!(
            list_address(&plain, &root, Some("763015"), 21023, 2),
            "https://a.gov.cn/dept/gkmlpt/api/all/21023?page=2&sid=763015"
        );
        assert_eq!(list_address(&plain, &root, None, 0, 1), "https://a.gov.cn/dept/gkmlpt/api/all/0?page=1");
        let own = r#"{"list_api_path_tpl":"/gkml/{area_code}/{dept_path}/list?c={column_id}&p={page}&n={page_size}&sid={sid}",
            "area_code":441200,"dept_path":"zqhjj","page_size":20}"#;
        let own = config(own);
        let root = Root::of("https://a.gov.cn/", own.dept_path.as_deref());
        assert_eq!(
            list_address(&own, &root, None, 7, 3),
            "https://a.gov.cn/gkml/441200/zqhjj/list?c=7&p=3&n=20"
        );
        let elsewhere = config(r#"{"list_api_path_tpl":"https://api.gov.cn/{column_id}/{page}"}"#);
        assert_eq!(list_address(&elsewhere, &root, None, 7, 3), "https://api.gov.cn/7/3");
    }

    #[test]
    fn documents_lie_in_folders_of_their_number() {
        let root = Root::of("https://a.gov.cn", None);
        for (id, path) in [
            (3_255_421, "3/3255/post_3255421.html"),
            (12_728_907, "12/12728/post_12728907.html"),
            (7, "0/0/post_7.html"),
        ] {
            assert_eq!(post_address(&root, id), format!("https://a.gov.cn/gkmlpt/content/{path}"));
        }
    }
}
