//! Which links of a body are files, and what they are called.

use std::collections::HashMap;

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
    /// Hash of an address → its place among the files.
    known: HashMap<String, usize>,
}

impl Files {
    /// A file the adapter named.
    pub fn name(&mut self, url: Url, name: Option<&str>) {
        self.add(url, name.map(fold).filter(|name| !name.is_empty()));
    }

    /// A link of the body, if it leads to a file; or a frame that shows one.
    pub fn link(&mut self, link: ElementRef<'_>, base: Option<&Url>) {
        if let Some(url) = file_of(link, base) {
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
        match self.known.get(&hash) {
            Some(at) => {
                let known = &mut self.files[*at].1;
                if known.is_none() {
                    *known = name;
                }
            }
            None if self.files.len() < MOST => {
                self.known.insert(hash, self.files.len());
                self.files.push((url, name));
            }
            None => {}
        }
    }
}

/// The file that a link leads to or a frame shows.
pub(crate) fn file_of(link: ElementRef<'_>, base: Option<&Url>) -> Option<Url> {
    let address = match link.value().name() {
        "iframe" | "embed" => link.attr("src"),
        "object" => link.attr("data"),
        _ => link.attr("href"),
    };
    let url = address.and_then(|address| resolve(base, address));
    if let Some(url) = &url
        && let Some(file) = in_viewer(url)
    {
        return Some(file);
    }
    if is_frame(link) {
        // What a frame shows beside files is pages.
        return url.filter(|url| ends_as_file(url.path()));
    }
    match url {
        Some(url) => is_file(link, &url).then_some(url).or_else(|| opened(link, base)),
        None => opened(link, base),
    }
}

/// Elements that show a document in the midst of a page.
pub(crate) fn is_frame(element: ElementRef<'_>) -> bool {
    matches!(element.value().name(), "iframe" | "embed" | "object")
}

/// `viewer.html?file=/a/b.pdf`: a page that shows a file.
fn in_viewer(url: &Url) -> Option<Url> {
    let names = ["file", "url", "src", "path", "pdf", "pdfurl", "fileurl", "filepath"];
    if !is_page(url.path()) {
        return None;
    }
    let mut values =
        url.query_pairs().filter(|(name, _)| names.contains(&name.to_ascii_lowercase().as_str()));
    let (_, file) =
        values.find(|(_, value)| ends_as_file(value.split(['?', '#']).next().unwrap_or_default()))?;
    resolve(Some(url), &file)
}

/// `onclick="window.open('a.pdf')"`: a link whose address only a script knows.
fn opened(link: ElementRef<'_>, base: Option<&Url>) -> Option<Url> {
    let opens = |script: &&str| {
        script.len() < 2_000
            && ["window.open(", "location.href", "location="].iter().any(|call| script.contains(call))
    };
    let script = ["onclick", "href"].iter().filter_map(|name| link.attr(name)).find(opens)?;
    // Only the first text in quotes: what follows are names of windows.
    let at = script.find(['\'', '"'])?;
    let quoted = script[at + 1..].split(&script[at..=at]).next()?;
    ends_as_file(quoted.split(['?', '#']).next().unwrap_or_default()).then(|| resolve(base, quoted)).flatten()
}

fn is_page(path: &str) -> bool {
    let path = path.to_ascii_lowercase();
    [".html", ".htm", ".shtml", ".jsp", ".aspx", ".php", "/"].iter().any(|end| path.ends_with(end))
        || path.contains("viewer")
}

fn ends_as_file(text: &str) -> bool {
    text.rsplit_once('.')
        .is_some_and(|(_, suffix)| SUFFIXES.iter().any(|known| suffix.eq_ignore_ascii_case(known)))
}

fn is_file(link: ElementRef<'_>, url: &Url) -> bool {
    if link.value().classes().any(|class| class == "nfw-cms-attachment") || link.attr("download").is_some() {
        return true;
    }
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
    // What stands in a frame is for readers without frames.
    let shown = if is_frame(link) { String::new() } else { folded_text(*link) };
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
        let links = doc.html.tree.nodes().filter_map(ElementRef::wrap);
        let links = links.filter(|el| el.value().name() == "a" || is_frame(*el));
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
    fn files_in_frames_and_viewers_and_behind_scripts_are_files() {
        for (html, expected) in [
            ("<iframe src=/p/v.pdf></iframe>", "/p/v.pdf"),
            ("<iframe src='/pdfjs/web/viewer.html?file=%2Fp%2Fv.pdf#page=1'></iframe>", "/p/v.pdf"),
            ("<embed src=v.PDF type=application/pdf>", "/tz/v.PDF"),
            ("<object data=v.pdf><p>您的浏览器不支持</p></object>", "/tz/v.pdf"),
            ("<a href='/viewer.html?file=../p/v.pdf'>示例</a>", "/p/v.pdf"),
            ("<a href=# onclick=\"window.open('/p/v.pdf')\">示例</a>", "/p/v.pdf"),
            ("<a onclick=\"window.open('v.pdf','_blank');return false\">示例</a>", "/tz/v.pdf"),
            ("<a href=\"javascript:window.open('v.pdf')\">示例</a>", "/tz/v.pdf"),
        ] {
            let found: Vec<String> = files(html).into_iter().map(|(path, _)| path).collect();
            assert_eq!(found, [expected], "{html}");
        }
        for html in [
            "<iframe src=/video.html></iframe>",
            "<iframe src='/player.html?file=a.mp4'></iframe>",
            "<iframe></iframe>",
            "<object data=a.swf></object>",
            "<a href=/s.html?q=a.pdf>示例</a>",
            "<a href=# onclick=\"window.open('/p/')\">示例</a>",
            "<a href=# onclick=\"share('/p/v.pdf')\">示例</a>",
        ] {
            assert_eq!(files(html), [], "{html}");
        }
        assert_eq!(files("<object data=v.pdf>您的浏览器不支持</object>")[0].1, None);
        assert_eq!(files("<iframe src=v.pdf title=示例方案></iframe>")[0].1.as_deref(), Some("示例方案"));
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
