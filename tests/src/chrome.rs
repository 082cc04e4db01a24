//! The noise around the content: head, inline styles and scripts, menus, footers. As long and as useless as
//! on the real portals, so that selection has something to walk through. Never uses the classes of rows or bodies.

use std::fmt::Write as _;

use crate::post::Head;
use crate::seed::Chance;
use crate::site::{Column, Site};
use crate::text;

/// How much menu stands above the content.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Menu {
    /// About 35 KiB: list pages carry the whole site map.
    Full,
    /// About 3 KiB: article pages carry the main menu.
    Short,
}

/// The text of one document while it is written.
pub(crate) struct Frame {
    pub(crate) out: String,
}

impl Frame {
    /// `<!DOCTYPE …` up to the end of the menu. `head` goes into `<head>` as it is.
    pub(crate) fn open(site: &Site, title: &str, charset_meta: &str, head: &str, menu: Menu) -> Self {
        let mut out = String::with_capacity(if menu == Menu::Full { 64 * 1024 } else { 32 * 1024 });
        let _ = write!(
            out,
            "<!DOCTYPE html>\n<html lang=\"zh-CN\">\n<head>\n{charset_meta}\n<meta http-equiv=\"X-UA-Compatible\" content=\"IE=edge\">\n\
             <title>{}</title>\n<meta name=\"SiteName\" content=\"{}\">\n<meta name=\"SiteDomain\" content=\"{}\">\n\
             <meta name=\"SiteIDCode\" content=\"bm04000007\">\n{head}\
             <link rel=\"stylesheet\" href=\"/images/css/base.css\">\n<script src=\"/images/js/jquery-1.12.4.min.js\"></script>\n",
            text::escape(title),
            site.name,
            site.host,
        );
        style(&mut out, if menu == Menu::Full { 60 } else { 6 });
        let _ = write!(
            out,
            "</head>\n<body>\n<div class=\"top-bar\"><div class=\"wrap-in\"><a href=\"/\">{0}</a><a href=\"/wza/\" title=\"无障碍浏览\">无障碍</a>\
             <a href=\"javascript:void(0)\" onclick=\"SetHome(this,'https://{1}/')\">设为首页</a><a href=\"mailto:webmaster@{1}\">联系我们</a></div></div>\n\
             <div class=\"search-box\"><form action=\"/search/\" method=\"get\"><input type=\"text\" name=\"q\" placeholder=\"请输入关键词\"><button>搜索</button></form></div>\n\
             <div class=\"nav-menu\"><dl>\n",
            site.name, site.host,
        );
        let mut chance = Chance::new(site.seed, &site.host, "menu", 0);
        for group in 0..if menu == Menu::Full { 18 } else { 2 } {
            let _ = writeln!(out, "<dt><a href=\"/channel{group}/\">{}</a></dt>", text::theme(&mut chance));
            for item in 0..12 {
                let theme = text::theme(&mut chance);
                let _ = writeln!(
                    out,
                    "<dd class=\"menu-item\"><a target=\"_blank\" href=\"/channel{group}/sub{item}/\" title=\"{theme}\">{theme}</a></dd>"
                );
            }
        }
        out.push_str("</dl></div>\n");
        Self { out }
    }

    pub(crate) fn push(&mut self, html: &str) -> &mut Self {
        self.out.push_str(html);
        self
    }

    /// Where the reader is.
    pub(crate) fn crumbs(&mut self, column: &Column) -> &mut Self {
        let _ = writeln!(
            self.out,
            "<div class=\"crumbs\">当前位置：<a href=\"/\">首页</a> &gt; <a href=\"{}\">{}</a></div>",
            column.list, column.name
        );
        self
    }

    /// The footer and the end of the document.
    pub(crate) fn close(mut self, site: &Site) -> String {
        let _ = write!(
            self.out,
            "<div class=\"footer\"><p><a href=\"/gywm/\">关于我们</a> | <a href=\"/wzdt/\">网站地图</a> | <a href=\"/wzsm/\">网站声明</a></p>\n\
             <p>主办单位：{} 版权所有：{} 网站标识码：bm04000007</p>\n<p>京ICP备05052393号-1 京公网安备11010202000001号</p>\n\
             <a href=\"https://bszs.conac.cn/sitename?method=show\"><img src=\"//dcs.conac.cn/image/red.png\" alt=\"党政机关\"></a></div>\n\
             <script>var _hmt=_hmt||[];(function(){{var hm=document.createElement('script');hm.src='//hm.baidu.com/hm.js?0';}})();</script>\n\
             </body>\n</html>\n",
            site.name, site.name
        );
        self.out
    }
}

/// The government meta-tag set of an article.
pub(crate) fn article_meta(site: &Site, head: &Head, date_format: &str) -> String {
    let mut chance = Chance::new(site.seed, &site.host, "meta", head.id);
    format!(
        "<meta name=\"ColumnName\" content=\"{}\">\n<meta name=\"ColumnType\" content=\"{}\">\n<meta name=\"ArticleTitle\" content=\"{}\">\n\
         <meta name=\"PubDate\" content=\"{}\">\n<meta name=\"ContentSource\" content=\"{}\">\n<meta name=\"Keywords\" content=\"{};{}\">\n\
         <meta name=\"Author\" content=\"{}\">\n<meta name=\"Url\" content=\"https://{}{}\">\n",
        site.columns[head.column].name,
        site.columns[head.column].name,
        text::escape(&head.title),
        head.at.format(date_format),
        head.source,
        text::theme(&mut chance),
        text::theme(&mut chance),
        text::person(&mut chance),
        site.host,
        site.family.post_path(site, head),
    )
}

fn style(out: &mut String, rules: u32) {
    out.push_str("<style type=\"text/css\">\n");
    for rule in 0..rules {
        let _ = writeln!(
            out,
            ".m{rule}{{width:{}px;margin:0 auto;padding:{}px 12px;font:14px/1.8 \"Microsoft YaHei\",sans-serif;color:#333}}\n\
             .m{rule} a:hover{{color:#c00;text-decoration:underline}}",
            960 + rule,
            rule % 20
        );
    }
    out.push_str("</style>\n");
}
