//! gkmlpt, Guangdong's open-government catalogue: a shell page with a script object, lists as JSON of a hundred rows, documents
//! in a script of their page. The ways in which hosts of the platform differ are different hosts here.

mod list;
mod page;
#[cfg(test)]
mod tests;
mod truth;

use chrono::NaiveDateTime;
pub use truth::{GkmlptFile, GkmlptPost};

use crate::answer::{Answer, Ask};
use crate::files::Attachment;
use crate::post::Head;
use crate::seed::Chance;
use crate::site::{Column, Family, Site};
use crate::text;

/// How one host of the platform answers.
#[derive(Debug)]
pub(crate) struct Gkmlpt {
    /// The department's folder with its slash; empty at the root.
    dept: &'static str,
    sid: &'static str,
    /// A list without the right `sid` is a 404.
    wants_sid: bool,
    /// Rows and the list itself are counted (`total`, `offset`).
    counts: bool,
    /// A page past the end is a 404; else an empty list.
    end_is_404: bool,
    /// Numbers and attachments are text, some links are `http:` or have blanks around them.
    as_text: bool,
    /// Lists in the words of S2-23, at an address of their own.
    seed_shape: bool,
    document: Document,
    /// Whoever does not look like a browser is hung up on.
    browsers_only: bool,
}

/// Where a document's body is.
#[derive(Debug, PartialEq, Eq)]
enum Document {
    /// In the script and on the page.
    Both,
    /// On the page only.
    Page,
    /// In the script only; for some neither, but on the page of the content system.
    Script,
}

const USUAL: Gkmlpt = Gkmlpt {
    dept: "",
    sid: "",
    wants_sid: false,
    counts: true,
    end_is_404: true,
    as_text: false,
    seed_shape: false,
    document: Document::Both,
    browsers_only: false,
};

static ZHAOQING: Gkmlpt = Gkmlpt { dept: "/zqhjj", sid: "758019", wants_sid: true, ..USUAL };
static DONGGUAN: Gkmlpt = Gkmlpt {
    dept: "/dghlz",
    sid: "769021",
    counts: false,
    end_is_404: false,
    as_text: true,
    document: Document::Page,
    ..USUAL
};
static PINGSHAN: Gkmlpt =
    Gkmlpt { dept: "/psozhzx", sid: "755041", document: Document::Script, end_is_404: false, ..USUAL };
static YANGJIANG: Gkmlpt = Gkmlpt { sid: "662001", seed_shape: true, counts: false, ..USUAL };
static SHANTOU: Gkmlpt = Gkmlpt { dept: "/sthbj", sid: "754019", browsers_only: true, ..USUAL };

/// A host of the platform: its name, who it is, how it answers, its first column of documents and the next one.
pub(crate) type Place = (&'static str, &'static str, &'static Gkmlpt, [Column; 2]);

/// All hosts of the platform.
pub(crate) fn places() -> [Place; 5] {
    let column = |id, list, name| Column { id, list, name, pinned: false };
    [
        (
            "www.zhaoqing.gov.cn",
            "肇庆市生态环境局",
            &ZHAOQING,
            [
                column("21023", "/zqhjj/gkmlpt/api/all/21023", "受理公告"),
                column("21024", "/zqhjj/gkmlpt/api/all/21024", "审批公告"),
            ],
        ),
        (
            "www.dg.gov.cn",
            "东莞市厚街镇人民政府",
            &DONGGUAN,
            [
                column("4101", "/dghlz/gkmlpt/api/all/4101", "通知公告"),
                column("4102", "/dghlz/gkmlpt/api/all/4102", "规范性文件"),
            ],
        ),
        (
            "www.szpsq.gov.cn",
            "坪山区政务服务数据管理局",
            &PINGSHAN,
            [
                column("2972", "/psozhzx/gkmlpt/api/all/2972", "政策文件"),
                column("2973", "/psozhzx/gkmlpt/api/all/2973", "工作动态"),
            ],
        ),
        (
            "www.yangjiang.gov.cn",
            "阳江市人民政府",
            &YANGJIANG,
            [
                column("801", "/gkmlpt/api/list/801", "政府文件"),
                column("802", "/gkmlpt/api/list/802", "人事信息"),
            ],
        ),
        (
            "www.shantou.gov.cn",
            "汕头市生态环境局",
            &SHANTOU,
            [
                column("6001", "/sthbj/gkmlpt/api/all/6001", "环评审批"),
                column("6002", "/sthbj/gkmlpt/api/all/6002", "环境质量"),
            ],
        ),
    ]
}

impl Family for Gkmlpt {
    fn post_path(&self, _: &Site, head: &Head) -> String {
        format!(
            "{}/gkmlpt/content/{}/{}/post_{}.html",
            self.dept,
            head.id / 1_000_000,
            head.id / 1_000,
            head.id
        )
    }

    fn answer(&self, site: &Site, ask: &Ask<'_>) -> Answer {
        let Some(path) = ask.path.strip_prefix(self.dept) else { return Answer::missing() };
        match path {
            "/gkmlpt/index" | "/gkmlpt/policy" | "/gkmlpt/mindex" => return page::index(self, site),
            _ => {}
        }
        let api = if self.seed_shape { "/gkmlpt/api/list/" } else { "/gkmlpt/api/all/" };
        if let Some(column) = path.strip_prefix(api) {
            return list::answer(self, site, column, ask);
        }
        let file = path.rsplit('/').next().unwrap_or_default();
        let number = |ending| file.strip_prefix("post_")?.strip_suffix(ending)?.parse::<u64>().ok();
        if let Some(head) = number(".html").and_then(|id| site.post(id)).filter(|head| !is_link(head)) {
            if site.family.post_path(site, &head) == ask.path {
                return page::platform(self, site, &head);
            }
            if self.content_path(&head) == ask.path {
                return page::content(self, site, &head);
            }
            return Answer::missing();
        }
        let owner = file.split('.').next().and_then(|id| site.post(id.parse().ok()?));
        let found = owner.and_then(|head| {
            site.files(&head).into_iter().find(|file| self.file_path(&head, file) == ask.path)
        });
        found.map_or_else(Answer::missing, |file| Answer::file(&file, true))
    }

    fn hangs_up_on(&self, agent: &str) -> bool {
        self.browsers_only && !(agent.starts_with("Mozilla/5.0 (") && agent.contains("AppleWebKit/"))
    }
}

impl Gkmlpt {
    /// The same post on the pages of the content system behind the platform.
    fn content_path(&self, head: &Head) -> String {
        format!("{}/xxgk/content/post_{}.html", self.dept, head.id)
    }

    /// `/attachment/<aid÷10⁶>/<aid÷10³>/<aid>/<post id>.<ext>`
    fn file_path(&self, head: &Head, file: &Attachment) -> String {
        let id = file_id(head, file);
        let (high, low) = (id / 1_000_000, id / 1_000);
        format!("{}/attachment/{high}/{low}/{id}/{}.{}", self.dept, head.id, file.extension())
    }

    /// Whether the platform's page of a post has no body: only the content system's has.
    fn is_hollow(&self, head: &Head) -> bool {
        self.document == Document::Script && head.id % 9 == 4
    }
}

fn file_id(head: &Head, file: &Attachment) -> u64 {
    head.id * 4 + file.ordinal as u64
}

/// Whether a post leads out of the platform. One that brought its own text does not.
fn is_link(head: &Head) -> bool {
    head.id % 25 == 7 && head.paragraphs.is_empty()
}

/// What the catalogue knows of a post.
struct Facts {
    doc_no: String,
    index_no: String,
    publisher: String,
    keywords: String,
    summary: String,
    genre: &'static str,
    theme: &'static str,
    written: NaiveDateTime,
    is_expired: bool,
    is_abolished: bool,
    /// Where a post that leads out leads.
    link: String,
}

fn facts(site: &Site, head: &Head) -> Facts {
    let mut chance = Chance::new(site.seed, &site.host, "catalogue", head.id);
    let year = head.at.format("%Y");
    let midnight = head.at.date().and_time(chrono::NaiveTime::MIN);
    let or_none = |there: bool, text: String| if there { text } else { String::new() };
    Facts {
        doc_no: or_none(!head.id.is_multiple_of(6), format!("粤环函〔{year}〕{}号", 1 + chance.below(900))),
        index_no: format!("11441200MB2C{:05}G/{year}-{:05}", site.newest_id % 100_000, head.id % 100_000),
        publisher: text::body(&mut chance).to_owned(),
        keywords: or_none(head.id % 4 != 1, text::theme(&mut chance).to_owned()),
        summary: or_none(head.id % 5 == 2, format!("关于{}的摘要。", text::theme(&mut chance))),
        genre: chance.pick(&["公告", "通知", "意见", "函"]),
        theme: chance.pick(&["环境保护", "综合政务", "城乡建设", "科技、教育"]),
        written: midnight - chrono::TimeDelta::days(chance.below(9) as i64),
        is_expired: head.id % 13 == 5,
        is_abolished: head.id % 17 == 3,
        link: format!("https://mp.weixin.qq.com/s/{:016x}", chance.next()),
    }
}

/// Seconds since 1970 of a moment in China.
fn epoch(at: NaiveDateTime) -> i64 {
    at.and_utc().timestamp() - 8 * 3600
}
