//! What a line of text says it is: byline, editors' line, button, copyright, heading of a related list.
//!
//! Decides by words at the beginning of the line and by its length. Where such lines are looked for is `trim`'s business.

use super::outline::Leaf;

/// A line of text as a reader sees it; only its beginning is kept.
pub(super) struct Line {
    pub from: u32,
    pub to: u32,
    pub text: String,
    pub tokens: u32,
    /// All of it is in links.
    pub link: bool,
    /// How much of it is.
    pub linked: u32,
    pub ends: u32,
}

fn begins(text: &str, words: &[&str]) -> bool {
    let text =
        text.trim_start_matches(|c: char| c.is_whitespace() || "（(【[〔<《“\"*●■▲·•-—>»▼◆★|".contains(c));
    words.iter().any(|word| text.get(..word.len()).is_some_and(|head| head.eq_ignore_ascii_case(word)))
}

/// `来源：…  发布时间：2024-03-05  浏览次数：12  字号：大 中 小`.
#[rustfmt::skip]
pub(super) fn is_byline(line: &Line) -> bool {
    if line.tokens > 60 || line.ends > 3 {
        return false;
    }
    let text = line.text.as_str();
    let labels = [
        "来源", "时间", "日期", "浏览", "点击", "字号", "字体", "作者", "发布", "阅读", "访问", "编辑", "打印", "分享",
        "责编", "撰稿", "记者", "updated", "published", "posted", "by ",
    ];
    let labelled = begins(
        text,
        &[
            "来源：", "来源:", "信息来源", "文章来源", "稿件来源", "发布时间", "发布日期", "时间：", "时间:", "日期：",
            "日期:", "浏览次数", "浏览量", "点击数", "点击次数", "点击：", "阅读次数", "访问次数", "字号", "字体", "作者：",
            "作者:", "发布者", "发布人", "发布机构：", "信息时间", "更新时间", "发表时间", "published", "posted on",
            "updated", "last updated", "submitted on",
        ],
    );
    if labelled && line.tokens < 45 && !text.contains('。') {
        return true;
    }
    // `Jan 8, 2026`, `4 March 2026 · 3 min read`
    let lower = text.to_ascii_lowercase();
    if line.tokens < 20 && line.ends <= 1 && (names_a_day(&lower) || lower.contains(" min read")) {
        // Besides the day only names.
        let mut others = text
            .split(|c: char| !c.is_alphanumeric())
            .filter(|word| word.chars().any(char::is_alphabetic) && !is_of_a_date(&word.to_ascii_lowercase()));
        if others.by_ref().take(4).all(|word| word.chars().next().is_some_and(char::is_uppercase) || is_ordinal(word))
            && others.next().is_none()
        {
            return true;
        }
    }
    let rest = line.tokens < 30;
    let words = labels.iter().filter(|label| contains(text, label)).count();
    let only =
        text.chars().filter(|c| c.is_alphabetic() && !"年月日时分秒星期一二三四五六".contains(*c)).count()
            == 0;
    holds_date(text) && rest && (words >= 1 || only) && !text.contains('。') && !text.contains('，')
}

const MONTHS: [&str; 12] =
    ["jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec"];

/// A day with the name of its month and a year, in lower case.
fn names_a_day(text: &str) -> bool {
    let words: Vec<&str> =
        text.split(|c: char| !c.is_alphanumeric()).filter(|word| !word.is_empty()).collect();
    let is_day = |word: &&str| {
        let digits = word.trim_end_matches(|c: char| c.is_ascii_alphabetic());
        digits.parse::<u32>().is_ok_and(|day| (1..=31).contains(&day))
    };
    let is_year =
        |word: &&str| word.len() == 4 && word.parse::<u32>().is_ok_and(|year| (1900..2100).contains(&year));
    words.windows(3).any(|three| {
        let [a, b, c] = three else { return false };
        let month =
            |word: &&str| word.get(..3).is_some_and(|head| MONTHS.contains(&head)) && is_of_a_date(word);
        is_year(c) && (month(a) && is_day(b) || is_day(a) && month(b))
    })
}

/// `5th`
fn is_ordinal(word: &str) -> bool {
    word.starts_with(|c: char| c.is_ascii_digit())
}

/// Names of months and days of the week, and what stands beside times.
fn is_of_a_date(word: &str) -> bool {
    let full = [
        "january",
        "february",
        "march",
        "april",
        "june",
        "july",
        "august",
        "september",
        "sept",
        "october",
        "november",
        "december",
        "monday",
        "tuesday",
        "wednesday",
        "thursday",
        "friday",
        "saturday",
        "sunday",
        "mon",
        "tue",
        "wed",
        "thu",
        "fri",
        "sat",
        "sun",
        "am",
        "pm",
        "at",
        "on",
        "gmt",
        "utc",
        "est",
        "edt",
        "pst",
        "pdt",
        "bst",
        "by",
        "min",
        "read",
        "published",
        "updated",
        "posted",
        "first",
        "last",
        "modified",
        "the",
        "st",
        "nd",
        "rd",
        "th",
    ];
    MONTHS.contains(&word) || full.contains(&word)
}

fn contains(text: &str, word: &str) -> bool {
    if word.is_ascii() { text.to_ascii_lowercase().contains(word) } else { text.contains(word) }
}

/// A year with month and day.
pub(crate) fn holds_date(text: &str) -> bool {
    let mut rest = text;
    while let Some(at) = rest.find(|c: char| c.is_ascii_digit()) {
        let run = rest[at..].bytes().take_while(u8::is_ascii_digit).count();
        let (year, behind) = (&rest[at..at + run], rest[at + run..].trim_start());
        rest = &rest[at + run..];
        if run == 4
            && (year.starts_with("19") || year.starts_with("20"))
            && behind.starts_with(['年', '-', '/', '.'])
        {
            let month = behind[behind.chars().next().map_or(0, char::len_utf8)..].trim_start();
            let digits = month.bytes().take_while(u8::is_ascii_digit).count();
            if (1..=2).contains(&digits) && month[digits..].trim_start().starts_with(['月', '-', '/', '.']) {
                return true;
            }
        }
    }
    false
}

/// `责任编辑：张三`, `（编辑：李四）`, `[ 责编：王五 ]`.
#[rustfmt::skip]
pub(super) fn is_credit(line: &Line) -> bool {
    line.tokens < 40
        && begins(
            &line.text,
            &[
                "责任编辑", "责编", "编辑：", "编辑:", "编辑 ", "编辑/", "编辑丨", "编辑｜", "编辑|", "编  辑",
                "编 辑", "本文编辑", "网络编辑", "值班编辑", "新媒体编辑", "执行编辑", "实习编辑", "校对：", "校对:",
                "校对 ", "审核：", "审核:", "审核人", "一审", "二审", "三审", "终审", "初审", "复审", "监制：",
                "监制:", "主编：", "主编:", "制图：", "策划：", "统筹：", "值班主任", "值班编委", "排版：", "责任校对",
                "美编：", "来源：", "来源:", "文章来源", "信息来源", "稿件来源", "本文来源", "作者：", "作者:", "撰稿：",
                "供稿：", "供稿:", "流程编辑", "文字编辑", "纠错", "editor:", "edited by", "reporting by",
            ],
        )
}

/// Rights and liability.
#[rustfmt::skip]
pub(super) fn is_copyright(line: &Line) -> bool {
    let text = line.text.as_str();
    line.tokens < 260
        && (begins(
            text,
            &[
                "版权声明", "免责声明", "声明：", "声明:", "特别声明", "郑重声明", "版权所有", "copyright ", "©",
                "转载请注明", "未经授权", "本文为原创", "本文为转载", "本文为自媒体", "本文为作者", "本文为澎湃号", "本网站所",
                "风险提示：", "以上内容仅供参考", "all rights reserved", "特别提示：", "凡注明", "凡本网", "举报邮箱",
                "违法和不良信息",
            ],
        ) || (line.tokens < 120
            && (text.contains("不代表本网")
                || text.contains("不代表本站")
                || text.contains("不构成投资建议")
                || text.contains("版权归原作者")
                || text.contains("侵权") && text.contains("删除"))))
        && !text.contains("第一条")
}

/// Whether a piece of text is about rights.
pub(super) fn tells_rights(leaf: &Leaf<'_>) -> bool {
    let text = leaf.text.trim_start();
    let text = text[..text.floor_char_boundary(400)].to_owned();
    let (tokens, ends) = (leaf.size.tokens, leaf.size.ends);
    is_copyright(&Line { from: 0, to: 0, text, tokens, link: leaf.link, linked: 0, ends })
}

/// Buttons that were read as text.
#[rustfmt::skip]
pub(super) fn is_control(line: &Line) -> bool {
    if line.tokens > 24 {
        return false;
    }
    if line.text.contains("下一页") || line.text.contains("上一页") {
        return true;
    }
    let text = line.text.trim_matches(|c: char| !c.is_alphanumeric());
    let whole = [
        "打印", "关闭", "打印本页", "关闭窗口", "打印 关闭", "返回顶部", "返回列表", "返回", "收藏", "分享", "分享到",
        "扫一扫", "纠错", "举报", "点赞", "评论", "点击进入专题", "阅读原文", "大 中 小", "大中小", "字体", "share",
        "tweet", "print", "email", "advertisement", "facebook", "twitter", "comments",
        "share this", "share this article", "reprints", "我要反馈", "全文阅读", "展开全文", "显示全文",
        "收藏文章", "加载中", "更多", "下一页", "上一页", "尾页", "首页", "微信", "微博", "qq空间", "正文", "字号", "小",
        "中", "大", "默认", "超大", "a-", "a+", "t", "繁体", "无障碍", "end", "the end", "完",
        "分享让更多人看到", "推荐阅读", "返回搜狐，查看更多", "点击播报本文，约", "图集", "1", "赞", "自动播放", "点击查看大图",
        "点击图片进入下一页", "听新闻", "播报", "查看原文", "订阅", "关注", "react", "what's your reaction", "kudos", "play video",
        "learn more", "report corrections", "story highlights", "follow this topic", "more commentary", "read this story",
    ];
    // `#天文航天#月球#中国航天`: tags, and nothing besides.
    if line.text.starts_with('#') && line.ends == 0 && line.text.matches('#').count() >= 2 {
        return true;
    }
    whole.iter().any(|word| text.eq_ignore_ascii_case(word))
        || begins(
            &line.text,
            &[
                "分享到", "分享至", "上一篇", "下一篇", "上一条", "下一条", "扫一扫", "扫码", "扫描二维码", "打印本",
                "【打印", "【关闭", "打印】", "关闭本页", "关闭窗口", "我要纠错", "字体：", "字体:", "字号：", "字号:",
                "收藏本", "用微信扫", "微信扫一扫", "打开微信", "share on", "share this", "follow us",
                "sign up for", "subscribe to", "click here to", "prev:", "next:",
                "previous:", "浏览次数", "阅读量", "点击数", "文章关键词", "关键词：", "关键词:", "标签：", "标签:",
                "关键字：", "表情删除后", "图片正在上传", "取消上传", "评论内容为空", "read or share this story", "right click here to", "← previous", "next →", "tags:", "filed under", "本文标签", "版次：",
            ],
        )
}

/// Notes that media put before the text.
pub(super) fn is_note(line: &Line) -> bool {
    line.tokens < 60 && begins(&line.text, &["原标题", "原题：", "原题:"])
}

#[rustfmt::skip]
pub(crate) fn is_related(text: &str) -> bool {
    let text = text.trim_matches(|c: char| !c.is_alphanumeric());
    // `延伸 · 推荐`
    let joined: String;
    let text = if text.len() < 60 && text.contains(['·', '•', '|', '/']) && !text.is_ascii() {
        joined = text.chars().filter(|c| c.is_alphanumeric()).collect();
        &joined
    } else {
        text
    };
    let words = [
        "延伸推荐", "相关文章推荐", "推荐新闻", "新闻推荐", "更多推荐", "大家还在看", "相关视频", "热点新闻", "热门新闻",
        "编辑推荐", "头条推荐", "猜您喜欢", "更多报道", "此前报道", "早前报道", "精彩图片", "点击进入专题", "进入专题", "相关文档",
        "相关图集", "相关解读", "相关政策", "新闻链接",
        "相关阅读", "相关新闻", "相关链接", "相关文章", "相关报道", "相关信息", "相关推荐", "相关内容", "相关稿件", "延伸阅读",
        "推荐阅读", "热门推荐", "猜你喜欢", "更多阅读", "更多新闻", "热点推荐", "精彩推荐", "为您推荐", "为你推荐", "大家都在看",
        "今日热点", "最新评论", "网友评论", "热门评论", "往期回顾", "拓展阅读", "热门文章", "最新文章", "相关专题", "related",
        "related articles", "related stories", "related posts", "related content",
        "related topics", "more stories", "most popular", "most read", "recommended",
        "you may also like", "read next", "trending", "see also our", "comments",
        "leave a comment", "about the author", "leave a reply", "recommended for you",
        "more from", "further reading from", "also on", "editors' picks", "top stories",
    ];
    words.iter().any(|word| text.eq_ignore_ascii_case(word))
}

/// A line that is only a link elsewhere.
#[rustfmt::skip]
pub(super) fn is_call(line: &Line) -> bool {
    line.link
        && begins(
            &line.text,
            &[
                "read more", "related:", "related story", "see also", "more:", "watch:",
                "also read", "read also", "recommended:", "read:", "sign up", "subscribe",
                "continue reading", "click here", "点击查看", "点击进入", "更多精彩", "相关阅读", "延伸阅读",
                "查看更多", "下载客户端", "want more", "view gallery", "must read", "photos:", "video:",
                "gallery:", "slideshow:", "more commentary", "lire aussi", "a lire aussi", "à lire aussi",
            ],
        )
}

/// `此前报道：…` with the title of another article behind it.
#[rustfmt::skip]
pub(super) fn is_reference(line: &Line) -> bool {
    line.linked * 2 > line.tokens
        && line.tokens < 60
        && begins(
            &line.text,
            &[
                "此前报道", "早前报道", "相关报道", "相关新闻", "相关阅读", "相关链接", "相关文章", "延伸阅读", "推荐阅读",
                "点击进入专题", "进入专题", "更多新闻", "related:",
            ],
        )
}

/// What media ask of readers behind the text: load the app, follow the account, scan the code.
pub(super) fn is_promotion(line: &Line) -> bool {
    let text = line.text.as_str();
    let has = |words: &[&str]| words.iter().any(|word| text.contains(word));
    let account = ["公众号", "官方微信", "微信号", "官方微博", "二维码", "客户端", "APP", "App"];
    line.tokens < 70
        && (has(&[
            "下载",
            "扫描",
            "扫码",
            "长按",
            "搜索",
            "登录",
            "请关注",
            "关注我们",
            "欢迎关注",
            "点击关注",
        ]) && has(&account)
            || text.contains("更多") && has(&["敬请关注", "请关注", "欢迎关注", "请点击"]))
        && line.ends <= 2
}

/// `责任编辑：张三`: here ends what the office or the paper has to say.
pub(super) fn is_editors(line: &Line) -> bool {
    line.tokens < 30 && begins(&line.text, &["责任编辑", "责编：", "责编:", "编辑：", "编辑:"])
}

/// A link that leads out of the article.
pub(super) fn is_way_out(text: &str) -> bool {
    text.chars().count() < 20
        && begins(text, &["返回", "查看更多", "阅读原文", "更多精彩", "点击查看", "点击进入", "进入专题"])
}

/// What stands where an advertisement was.
pub(super) fn is_break(line: &Line) -> bool {
    let text = line.text.trim_matches(|c: char| !c.is_alphanumeric());
    // What a video player writes: `05:22 - Source: CNN`.
    let played = line.text.trim_start_matches(|c: char| c.is_ascii_digit() || c == ':');
    if played.len() < line.text.len() && played.trim_start().to_ascii_lowercase().starts_with("- source:") {
        return true;
    }
    let words = [
        "inread invented by teads",
        "wait 1 second to continue",
        "play video",
        "video ad feedback",
        "story highlights",
        "sign up for our newsletter",
        "advertisement",
        "advertising",
        "continue reading the main story",
        "story continues below",
        "story continues below advertisement",
        "article continues below",
        "loading",
        "广告",
        "未完待续，请点击下一页",
    ];
    if line.tokens < 8 && words.iter().any(|word| text.eq_ignore_ascii_case(word)) {
        return true;
    }
    // `Advertisement - story continues below`, `What do you think? Scroll down to comment below.`
    let lower = text.to_ascii_lowercase();
    let goes_on = line.tokens < 8
        && lower.starts_with("advertisement")
        && ["continue", "below", "scroll"].iter().any(|word| lower.contains(word));
    goes_on || line.tokens < 14 && lower.contains("scroll down to") && lower.contains("comment")
}
