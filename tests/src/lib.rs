//! Replicas of the sites dibao watches: small servers on loopback, over real TLS with a CA of their own, that
//! answer under the *real host names*. A client reaches them by sending a host's connections to the replica's
//! address (`curl --resolve`, the engine's resolve override) and by trusting [`Replica::ca_pem`].
//!
//! # Sites
//! Every site has `articles` distinct articles over its columns, the newest at 2026-04-10 09:38:30 (China time),
//! newest first. All text is UTF-8 unless said otherwise. `robots.txt` everywhere. Unknown pages are 404.
//!
//! | host | column | first list page | page 2, 3, … | past the end |
//! |---|---|---|---|---|
//! | `www.ndrc.gov.cn` (TRS) | `xwfb` 新闻发布 | `/xwdt/xwfb/index.html` | `index_1.html`, `index_2.html` | 200, a stub of 350 bytes without rows |
//! | | `tz` 通知 (pinned post; shares one post with `xwfb`) | `/xxgk/zcfb/tz/index.html` | same | same |
//! | `www.gdqy.gov.cn` (NF-CMS) | `tzgg` 通知公告 | `/gdqy/newxxgk/tzgg/index.html` | `index_2.html`, `index_3.html` | 404 |
//! | | `zlxx` 质量信息 | `/gdqy/newxxgk/zdly/spypaqbz/zlxx/index.html` | same | 404 |
//! | | no column: the home page `/` leads to the section `/gdqy/newxxgk/`, which leads to both | – | – | – |
//! | `www.gd.gov.cn` (NF-CMS 文件库) | `yf` 粤府 | `/zwgk/wjk/qbwj/yf/index.html` | `index_2.html` | 404 |
//! | | `yfb` 粤府办 | `/zwgk/wjk/qbwj/yfb/index.html` | same | 404 |
//! | `www.gov.cn` | `zuixin` 最新政策 (articles in template A) | `/zhengce/zuixin/home.htm` | `home_1.htm`, `home_2.htm` | 404 |
//! | | `jiedu` 政策解读 (articles in template B) | `/zhengce/jiedu/home.htm` | same | 404 |
//! | | the same as JSON | `/zhengce/zuixin/ZUIXINZHENGCE.json`: the newest 1,000 of `zuixin` | – | – |
//! | `sousuoht.www.gov.cn` (athena) | `zuixin` of www.gov.cn | `POST /athena/forward/<token>` with a header that it decrypts | `pageNo` | 200, an empty list |
//! | `sousuo.www.gov.cn` (search-gov) | both columns of www.gov.cn, in classes | `/search-gov/data?t=…&p=1&n=…` with all parameters | `p` | 200, empty lists |
//! | `www.news.cn` (Xinhua) | `zxbd` 最新报道 | `/politics/leaders/xijinping/zxbd.html` | none; all in `ds_f20e1073e7a74e839072c20b31557fcc.json` beside it | – |
//! | | `tech` 科技 | `/tech/index.html` | `ds_fd79514d92f34849bc8baef7ce3d5aae.json` beside it | – |
//! | `www.tongcheng.gov.cn` (GBK) | `zwdt` 政务动态 | `/list.asp?id=12` | `/list.asp?id=12&page=2` | 200, table without rows |
//! | | `tzgg` 通知公告 | `/list.asp?id=13` | `/list.asp?id=13&page=2` | same |
//! | `www.zhaoqing.gov.cn` (gkmlpt) | `21023` 受理公告, `21024` 审批公告 | `/zqhjj/gkmlpt/api/all/21023?page=1&sid=758019` | `page=2` | 404 |
//! | `www.dg.gov.cn` (gkmlpt) | `4101` 通知公告, `4102` 规范性文件 | `/dghlz/gkmlpt/api/all/4101?page=1` | same | 200, no rows |
//! | `www.szpsq.gov.cn` (gkmlpt) | `2972` 政策文件, `2973` 工作动态 | `/psozhzx/gkmlpt/api/all/2972?page=1` | same | 200, no rows |
//! | `www.yangjiang.gov.cn` (gkmlpt, S2's shape) | `801` 政府文件, `802` 人事信息 | `/gkmlpt/api/list/801?page=1&page_size=20` | same | 404 |
//! | `www.shantou.gov.cn` (gkmlpt, browsers only) | `6001` 环评审批, `6002` 环境质量 | `/sthbj/gkmlpt/api/all/6001?page=1` | same | 404 |
//! | `www.people.com.cn` (feeds) | `rss2`, `rss091`, `rdf`, `atom`, `atom03`, `json`, `gb` | one feed each, see `feeds.rs` | `?page=2` for `atom` and `json`, linked | no entries |
//! | `bench0.gov.cn` … (TRS, `bench_hosts`) | `tz` 通知 | `/xxgk/tz/index.html` | `index_1.html` | stub |
//!
//! | host | list row | link, title | date | article: title, time, source, body, files |
//! |---|---|---|---|---|
//! | ndrc, bench | `ul.u-list li:not(.empty)` (pinned `li.top` with `em.zd`) | `a`: href relative (`./`, `../`), a few absolute or `//`; full title in `@title`, text cut at 28 characters | `span` `2026/04/10` | `h2.article_title`; meta `PubDate` (`… HH:MM:SS`) or `.laiyuan .time` (`发布时间：2026/04/10`); `.laiyuantext span` (`来源：…`); `.article_con .TRS_Editor`; `.attachment_r a` beside the page (`./P0….pdf`), name in `@title` |
//! | gdqy | `div.news_list ul li` | `a._recurl`: absolute, full title in the text | `span` `2026-04-10` | `h1.title`; meta `PubDate` (`2026-04-10 09:38`); meta `ContentSource`; `div.article-content`; `a.nfw-cms-attachment`, name only in `@alt` |
//! | gd | `div.viewList ul li` | `span.name a`: absolute | `span.date` `2026-04-10` (`span.wh` = document number) | `h3.zw-title`; meta `PubDate`; meta `ContentSource`; `div.viewList.left > div.zw`; metadata `div.introduce > div > div > label + span`; `a.nfw-cms-attachment` |
//! | gov.cn | `.news_box .list li:not(.line)` | `h4 > a`: absolute path or `./`-relative, old ones `http://` | `span.date` `2026-04-10` | A: table in `.pctoubukuang1` (`td.zcwj_title`), meta `firstpublishedtime` (`2026-04-10-09:38:30`), `td#UCAP-CONTENT`; B: `h1#ti`, `.pages-date` (`2026-04-10 09:38`), `.pages-date span.font` (`来源：…`), `div.pages_content#UCAP-CONTENT`; files in the body |
//! | news.cn | `ul.xpage-content-list li` (20) or JSON `datasource[]` | `.tit a` / `publishUrl`, `title` | `.time` / `publishTime` | `span.title`; `.header-time` (`.year em`, `.day em` ×2, `.time`), mobile `.info` has the full stamp; `.source`; `span#detailContent` (drop `.editor`) |
//! | tongcheng | `table.newslist tr` (header row without link) | `td.tit a`: `show.asp?id=…` | `td.rq` `[2026-4-10]` | `td.bt`; `td.xx` (`发布时间：2026-4-10 9:38:30 　来源：…`); `td#zoom`; `#zoom a[href*=UploadFile]` with Chinese characters in the address |
//!
//! The gkmlpt hosts have `_CONFIG` with SID and TREE in `/gkmlpt/index` (two columns, one that leads elsewhere, an empty one); lists of a hundred
//! rows, page 0 = page 1, fewer rows than `post_count` says; one row in 25 is `type: "url"`; one in 13 expired, one in 17 abolished. They differ
//! as the real hosts do: zhaoqing wants its `sid`, counts (`total`, `offset`) and has bodies in script and page; dg does not count, writes numbers and
//! attachments as text, some addresses with `http:` or blanks, times in different keys, and has bodies on the page only; szpsq has them in the script only, one
//! in nine only at `post_url`; yangjiang answers in S2-23's words; shantou resets the connection of whoever has no `AppleWebKit/` in his
//! name. [`Replica::gkmlpt_posts`] tells what was published.
//!
//! # Knobs
//! [`ReplicaOptions`]: `articles`, `seed`, `article_kib`, `bench_hosts`, `only_hosts`, `tls`, `gzip`, `versions`,
//! `max_age`, `log_capacity`.
//! While it runs: [`Replica::publish`] puts a post on top of a column, [`Replica::fault`] makes requests go wrong
//! ([`Fault`] lists how), [`Replica::requests`] and [`Replica::wait_for`] tell what was asked. The binary offers the
//! same over HTTP: `GET /state`, `POST /publish`, `GET|POST|DELETE /faults`, `DELETE /faults/ID`, `GET|DELETE /requests`.
#![deny(missing_docs)]

mod admin;
mod answer;
mod athena;
mod broken;
mod chrome;
mod faults;
mod feeds;
mod files;
mod gbk;
mod gkmlpt;
mod govcn;
mod library;
#[cfg(test)]
mod library_tests;
mod log;
mod nfcms;
mod options;
mod post;
mod replica;
mod search_gov;
mod seed;
mod server;
mod site;
mod text;
mod tls;
mod trs;
mod truth;
mod versions;
#[cfg(test)]
mod wire_tests;
mod world;
#[cfg(test)]
mod world_tests;
mod xinhua;

pub use faults::{Fault, FaultRule};
pub use feeds::FeedTruth;
pub use gkmlpt::{GkmlptFile, GkmlptPost};
pub use library::PolicyTruth;
pub use log::Seen;
pub use options::ReplicaOptions;
pub use post::{NewPost, Published};
pub use replica::Replica;
pub use truth::Post;
