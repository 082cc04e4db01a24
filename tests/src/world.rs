//! All the hosts of a replica: which exist, with which columns. The table in the crate's documentation is this
//! file in words; change both together.

use std::collections::BTreeMap;
use std::sync::{PoisonError, RwLock};

use anyhow::{Context as _, bail};
use chrono::NaiveDateTime;

use crate::answer::{Answer, Ask};
use crate::feeds::{self, Feeds};
use crate::gbk::Gbk;
use crate::gkmlpt;
use crate::govcn::GovCn;
use crate::library::{self, Library};
use crate::nfcms::NfCms;
use crate::options::ReplicaOptions;
use crate::post::{NewPost, Published};
use crate::site::{Column, Family, Site};
use crate::trs::Trs;
use crate::xinhua::Xinhua;

/// Every site by host name.
#[derive(Debug)]
pub(crate) struct World {
    sites: BTreeMap<String, Site>,
    /// The search hosts of gov.cn, which hold no documents of their own.
    pub(crate) library: Library,
}

const fn column(id: &'static str, list: &'static str, name: &'static str, pinned: bool) -> Column {
    Column { id, list, name, pinned }
}

impl World {
    pub(crate) fn new(options: &ReplicaOptions) -> anyhow::Result<Self> {
        let (least, most) = (u64::from(*options.article_kib.start()), u64::from(*options.article_kib.end()));
        if least > most {
            bail!("article size {least}-{most} KiB is empty: write the smaller number first");
        }
        let mut world = Self { sites: BTreeMap::new(), library: Library::default() };
        let mut add = |host: &str,
                       name,
                       family: &'static dyn Family,
                       columns: Vec<Column>,
                       page_size,
                       newest_id,
                       with_files| {
            if options.only_hosts.is_empty() || options.only_hosts.iter().any(|only| only == host) {
                let site = Site {
                    host: host.to_owned(),
                    name,
                    family,
                    columns,
                    page_size,
                    seed: options.seed,
                    articles: options.articles.clamp(1, 100_000),
                    newest_id,
                    with_files,
                    article_bytes: (least * 1024, most * 1024),
                    published: RwLock::new(Vec::new()),
                };
                world.sites.insert(host.to_owned(), site);
            }
        };
        add(
            "www.ndrc.gov.cn",
            "国家发展和改革委员会",
            &Trs,
            vec![
                column("xwfb", "/xwdt/xwfb/index.html", "新闻发布", false),
                column("tz", "/xxgk/zcfb/tz/index.html", "通知", true),
            ],
            25,
            1_400_001,
            true,
        );
        add(
            "www.gdqy.gov.cn",
            "清远市人民政府",
            &NfCms::Portal,
            vec![
                column("tzgg", "/gdqy/newxxgk/tzgg/index.html", "通知公告", false),
                column("zlxx", "/gdqy/newxxgk/zdly/spypaqbz/zlxx/index.html", "质量信息", false),
            ],
            20,
            1_900_001,
            true,
        );
        add(
            "www.gd.gov.cn",
            "广东省人民政府",
            &NfCms::Library,
            vec![
                column("yf", "/zwgk/wjk/qbwj/yf/index.html", "粤府", false),
                column("yfb", "/zwgk/wjk/qbwj/yfb/index.html", "粤府办", false),
            ],
            20,
            4_600_001,
            true,
        );
        add(
            "www.gov.cn",
            "中国政府网",
            &GovCn,
            vec![
                column("zuixin", "/zhengce/zuixin/home.htm", "最新政策", false),
                column("jiedu", "/zhengce/jiedu/home.htm", "政策解读", false),
            ],
            20,
            7_000_001,
            true,
        );
        add(
            "www.news.cn",
            "新华网",
            &Xinhua,
            vec![
                column("zxbd", "/politics/leaders/xijinping/zxbd.html", "最新报道", false),
                column("tech", "/tech/index.html", "科技", false),
            ],
            20,
            9_100_001,
            false,
        );
        add(
            "www.tongcheng.gov.cn",
            "通城县人民政府",
            &Gbk,
            vec![
                column("zwdt", "/list.asp?id=12", "政务动态", false),
                column("tzgg", "/list.asp?id=13", "通知公告", false),
            ],
            20,
            340_001,
            true,
        );
        for (host, name, mode, columns) in gkmlpt::places() {
            add(host, name, mode, columns.to_vec(), 100, 3_255_421, true);
        }
        add(feeds::HOST, "人民网", &Feeds, feeds::columns(), 50, 40_600_001, true);
        for number in 0..options.bench_hosts {
            let host = format!("bench{number}.gov.cn");
            add(
                &host,
                "基准测试网",
                &Trs,
                vec![column("tz", "/xxgk/tz/index.html", "通知", false)],
                25,
                1_400_001,
                false,
            );
        }
        if world.sites.is_empty() {
            bail!(
                "none of the hosts {:?} is a replica host; see the table in the crate's documentation",
                options.only_hosts
            );
        }
        Ok(world)
    }

    pub(crate) fn hosts(&self) -> Vec<String> {
        self.sites.keys().cloned().collect()
    }

    /// The names of all hosts that answer: sites, and the search hosts of the policy library.
    pub(crate) fn all_hosts(&self) -> Vec<String> {
        let library = self.site(library::DOCUMENTS).map(|_| library::HOSTS.map(str::to_owned));
        self.hosts().into_iter().chain(library.into_iter().flatten()).collect()
    }

    /// The answer to a request; none where the host is not ours or takes no posts.
    pub(crate) fn answer(&self, host: &str, ask: &Ask<'_>) -> Option<Answer> {
        if library::HOSTS.contains(&host) {
            return self.site(library::DOCUMENTS).map(|documents| self.library.answer(host, documents, ask));
        }
        self.site(host).filter(|_| ask.posted.is_none()).map(|site| site.answer(ask))
    }

    pub(crate) fn site(&self, host: &str) -> Option<&Site> {
        self.sites.get(host)
    }

    /// Puts a post on top of a column.
    pub(crate) fn publish(&self, host: &str, column: &str, new: NewPost) -> anyhow::Result<Published> {
        let site = self.site(host).with_context(|| format!("{host} is not one of {:?}", self.hosts()))?;
        let known = || site.columns.iter().map(|column| column.id).collect::<Vec<_>>();
        let index = site.columns.iter().position(|known| known.id == column);
        let index = index.with_context(|| format!("{host} has no column {column}, only {:?}", known()))?;
        let at = match &new.published {
            None => None,
            Some(text) => Some(
                NaiveDateTime::parse_from_str(text, "%Y-%m-%d %H:%M:%S")
                    .with_context(|| format!("published {text:?} is not YYYY-MM-DD HH:MM:SS"))?,
            ),
        };
        let head = site.publish(index, new, at);
        let url = format!("https://{host}{}", site.family.post_path(site, &head));
        Ok(Published { id: head.id, url, title: head.title })
    }
}

/// The host of a `Host` header or an authority, without port, in lower case.
pub(crate) fn bare_host(authority: &str) -> String {
    let host = authority.rsplit_once(':').map_or(authority, |(host, _)| host);
    host.to_ascii_lowercase()
}

/// Guards whose holder panicked still hold good data here: nothing is ever half written.
pub(crate) fn calm<T>(lock: Result<T, PoisonError<T>>) -> T {
    lock.unwrap_or_else(PoisonError::into_inner)
}
