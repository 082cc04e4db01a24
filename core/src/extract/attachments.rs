//! Which links of a body are files, and what they are called.

use scraper::ElementRef;
use url::Url;

use super::normalize::url_hash;
use super::pages::resolve;
use super::select::{fold, folded_text};

/// Suffixes of files that offices publish; web pages and pictures are not among them.
const SUFFIXES: [&str; 18] = [
    "pdf", "doc", "docx", "xls", "xlsx", "ppt", "pptx", "zip", "rar", "7z", "ofd", "wps", "et", "csv", "txt",
    "rtf", "docm", "xlsm",
];
/// More links to files than any document has.
const MOST: usize = 500;
/// Words on a link that say what to do and not what it is.
const CALLS: [&str; 8] = ["下载", "点击下载", "附件", "附件下载", "查看", "点击查看", "下载附件", "预览"];

/// Files of a document in the order of their first mention, each address once.
#[derive(Debug, Default)]
pub(crate) struct Files {
    files: Vec<(Url, Option<String>)>,
    hashes: Vec<String>,
}

impl Files {
    /// A file the adapter named.
    pub fn name(&mut self, url: Url, name: Option<&str>) {
        self.add(url, name.map(fold).filter(|name| !name.is_empty()));
    }

    /// A link of the body, if it leads to a file.
    pub fn link(&mut self, link: ElementRef<'_>, base: Option<&Url>) {
        let Some(url) = link.attr("href").and_then(|href| resolve(base, href)) else { return };
        if is_file(link, &url) {
            self.add(url, name_of(link));
        }
    }

    /// All of them.
    pub fn into_vec(self) -> Vec<(Url, Option<String>)> {
        self.files
    }

    fn add(&mut self, mut url: Url, name: Option<String>) {
        url.set_fragment(None);
        let hash = url_hash(&url);
        match self.hashes.iter().position(|known| *known == hash) {
            Some(at) => {
                let known = &mut self.files[at].1;
                if known.is_none() {
                    *known = name;
                }
            }
            None if self.files.len() < MOST => {
                self.hashes.push(hash);
                self.files.push((url, name));
            }
            None => {}
        }
    }
}

fn is_file(link: ElementRef<'_>, url: &Url) -> bool {
    if link.value().classes().any(|class| class == "nfw-cms-attachment") || link.attr("download").is_some() {
        return true;
    }
    let ends_as_file = |text: &str| {
        text.rsplit_once('.')
            .is_some_and(|(_, suffix)| SUFFIXES.iter().any(|known| suffix.eq_ignore_ascii_case(known)))
    };
    let path = url.path();
    let page = [".html", ".htm", ".shtml", "/"].iter().any(|end| path.to_ascii_lowercase().ends_with(end));
    ends_as_file(path)
        || (path.contains("/attachment/") && !page)
        || (!page && url.query().is_some_and(ends_as_file))
        || is_handler(url)
}

/// `downfile.jsp?id=1`, `/servlet/download?file=…`: programs that send files.
fn is_handler(url: &Url) -> bool {
    let last = url.path().rsplit('/').next().unwrap_or_default().to_ascii_lowercase();
    let named = ["download", "downfile", "filedown", "getfile", "showattach", "attachdown"];
    url.query().is_some_and(|query| !query.is_empty()) && named.iter().any(|name| last.contains(name))
}

/// What readers see; where that is only a call to action, what the editor's form kept.
fn name_of(link: ElementRef<'_>) -> Option<String> {
    let shown = folded_text(*link);
    let is_call = |text: &str| CALLS.contains(&text.trim_matches(|c: char| !c.is_alphanumeric()));
    let kept = || {
        ["title", "alt", "download"]
            .iter()
            .filter_map(|name| link.attr(name))
            .map(fold)
            .find(|name| !name.is_empty() && !is_call(name))
    };
    if !shown.is_empty() && !is_call(&shown) {
        return Some(shown);
    }
    kept().or_else(|| (!shown.is_empty()).then_some(shown))
}
