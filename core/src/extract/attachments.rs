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
    let shown = || {
        let text = folded_text(*link);
        let kept = ["title", "alt"].iter().filter_map(|name| link.attr(name));
        ends_as_file(text.trim_end_matches(['）', ')', '】', '》']))
            || kept.into_iter().any(|name| ends_as_file(name.trim()))
    };
    ends_as_file(path)
        || (path.contains("/attachment/") && !page)
        // `<a href="/file/8f3a">示例表.docx</a>`
        || (!page && shown())
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
    // A picture may be all there is of a link.
    let pictured = || {
        link.descendants()
            .filter_map(|node| node.value().as_element())
            .filter(|element| element.name() == "img")
            .flat_map(|element| ["title", "alt"].into_iter().filter_map(|name| element.attr(name)))
            .map(fold)
            .find(|name| !name.is_empty() && !is_call(name))
    };
    kept().or_else(pictured).or_else(|| (!shown.is_empty()).then_some(shown))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::extract::dom::{Budget, Doc};

    fn files(html: &str) -> Vec<(String, Option<String>)> {
        let doc = Doc::fragment(html, Budget::default());
        let base = Url::parse("http://www.example.gov.cn/tz/1.html").ok();
        let mut files = Files::default();
        let links = doc.html.tree.nodes().filter_map(ElementRef::wrap).filter(|el| el.value().name() == "a");
        links.for_each(|link| files.link(link, base.as_ref()));
        files
            .into_vec()
            .into_iter()
            .map(|(url, name)| (url.path().to_owned() + url.query().unwrap_or(""), name))
            .collect()
    }

    #[test]
    fn a_link_is_a_file_by_its_suffix_its_class_its_handler_or_its_name() {
        for (html, expected) in [
            ("<a href=./P0202604.pdf>示例.pdf</a>", Some("示例.pdf")),
            ("<a href=a.DOCX>附件1：示例表</a>", Some("附件1：示例表")),
            ("<a href=a.ofd></a>", None),
            ("<a href=a.wps?v=1>示例</a>", Some("示例")),
            ("<a class='x nfw-cms-attachment' href=/a/1 alt=名单.xlsx>下载</a>", Some("名单.xlsx")),
            ("<a download=名单.xlsx href=/a/1>点击下载</a>", Some("名单.xlsx")),
            ("<a href=/attachment/0/1/2.jpg title=图纸>附件</a>", Some("图纸")),
            ("<a href='/module/download/downfile.jsp?classid=0&filename=8.pdf'>示例</a>", Some("示例")),
            (
                "<a href='/system/_content/download.jsp?urltype=news&wbfileid=1'>附件【示例.rar】</a>",
                Some("附件【示例.rar】"),
            ),
            ("<a href='/servlet/FileDownload?id=1'>示例表</a>", Some("示例表")),
            ("<a href=/api/file/8f3a>示例表.docx</a>", Some("示例表.docx")),
            ("<a href=/api/file/8f3a title=示例表.docx>下载附件</a>", Some("示例表.docx")),
            ("<a href=a.xls><img src=i.gif alt=汇总表.xls></a>", Some("汇总表.xls")),
            ("<a href=a.xls><img src=i.gif title=汇总表>下载</a>", Some("汇总表")),
            ("<a href=a.zip>下载</a>", Some("下载")),
        ] {
            let found = files(html);
            assert_eq!(
                found.iter().map(|(_, name)| name.as_deref()).collect::<Vec<_>>(),
                [expected],
                "{html}"
            );
        }
        for html in [
            "<a href=b.html>示例.pdf 的说明</a>",
            "<a href=b.html>示例.pdf</a>",
            "<a href=/download/>下载中心</a>",
            "<a href=/show.jsp?id=1>相关报道</a>",
            "<a href=javascript:down('a.pdf')>a.pdf</a>",
            "<a href='data:application/pdf,x'>a.pdf</a>",
            "<a href=mailto:a@b.cn>a.pdf</a>",
            "<a name=a.pdf>a.pdf</a>",
            "<a href=/download>下载</a>",
        ] {
            assert_eq!(files(html), [], "{html}");
        }
    }

    #[test]
    fn one_address_is_one_file_and_the_first_name_stays() {
        let found = files(
            "<a href=a.pdf></a><a href='./a.pdf#page=2'>示例.pdf</a><a href='https://www.example.gov.cn/tz/a.pdf'>下载</a>\
             <a href='a.pdf?utm_source=x'>又一次</a><a href='b.pdf?id=1'>甲</a><a href='b.pdf?id=2'>乙</a>",
        );
        let names: Vec<_> = found.iter().map(|(_, name)| name.as_deref()).collect();
        assert_eq!(names, [Some("示例.pdf"), Some("甲"), Some("乙")]);
    }
}
