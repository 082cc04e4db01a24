//! Chinese official prose from a seed: titles, document numbers, sentences, paragraphs, file names.
//! Knows words only; what page they go to is the families' business.

use crate::seed::Chance;

const BODIES: &[&str] = &[
    "国家发展改革委",
    "省人民政府",
    "市人民政府办公室",
    "财政部",
    "市市场监督管理局",
    "生态环境部",
    "省教育厅",
    "人力资源社会保障部",
    "工业和信息化部",
    "市自然资源局",
    "交通运输部",
    "农业农村部",
];
const ACTS: &[&str] =
    &["关于印发", "关于公布", "关于做好", "关于调整", "关于开展", "关于进一步加强", "关于规范", "关于推进"];
const THEMES: &[&str] = &[
    "新能源汽车下乡",
    "政务服务一网通办",
    "食品安全抽检",
    "农村饮水安全保障",
    "重点建设项目管理",
    "中小企业融资担保",
    "城镇老旧小区改造",
    "普惠托育服务发展",
    "公共资源交易监管",
    "大气污染防治",
    "基层医疗卫生能力提升",
    "高标准农田建设",
    "数据要素市场化配置",
    "行政规范性文件清理",
    "招标投标信用评价",
    "防汛抗旱应急准备",
    "职业技能培训补贴",
    "不动产登记便民",
];
const SHAPES: &[&str] =
    &["工作方案", "实施意见", "若干措施", "管理办法", "年度计划", "行动方案", "工作指引", "目录清单"];
const KINDS: &[&str] = &["通知", "公告", "通告", "意见", "函", "批复"];
const OPENINGS: &[&str] = &[
    "为深入贯彻落实党中央、国务院决策部署",
    "根据《中华人民共和国行政许可法》等有关规定",
    "经市人民政府常务会议审议通过",
    "为切实维护人民群众合法权益",
    "按照全省统一部署",
    "结合我市工作实际",
    "为进一步优化营商环境",
    "依据有关法律法规和标准规范",
    "针对近期监督检查中发现的突出问题",
    "坚持稳中求进工作总基调",
];
const MIDDLES: &[&str] = &[
    "各有关单位要提高政治站位，压实主体责任",
    "建立健全部门协同、上下联动的工作机制",
    "加快推进项目前期工作，确保按期开工建设",
    "严格执行信息公开制度，主动接受社会监督",
    "统筹用好财政资金，提高资金使用效益",
    "强化过程管理和动态监测，及时通报进展情况",
    "完善配套政策，细化任务分工和时间节点",
    "畅通投诉举报渠道，依法依规处置违法行为",
    "组织开展专题培训，提升基层业务能力",
    "对符合条件的企业和个人给予适当补助",
    "推动线上线下融合，实现“最多跑一次”",
    "严格落实安全生产责任制，坚决防范重特大事故",
    "对工作推进不力的，予以通报批评并限期整改",
    "做好政策解读和舆论引导，回应社会关切",
];
const CLOSINGS: &[&str] = &[
    "现就有关事项通知如下。",
    "请认真贯彻执行。",
    "执行中遇到的问题，请及时反馈。",
    "本通知自印发之日起施行，有效期五年。",
    "有关情况请于每季度末报送。",
    "具体要求另行通知。",
    "此前有关规定与本文件不一致的，以本文件为准。",
    "特此公告。",
];
const SOURCES: &[&str] = &["本网", "新华社", "人民日报", "办公厅", "政策研究室", "南方日报"];
const PEOPLE: &[&str] = &["张伟", "李娜", "王建国", "刘洋", "陈静", "赵敏"];

/// A full title. `number` makes it unique on its site, as document numbers do.
pub(crate) fn title(chance: &mut Chance, year: i32, number: u64) -> String {
    format!(
        "{}{}《{}{}》的{}（{year}年第{number}号）",
        chance.pick(BODIES),
        chance.pick(ACTS),
        chance.pick(THEMES),
        chance.pick(SHAPES),
        chance.pick(KINDS)
    )
}

/// Where an article says it comes from.
pub(crate) fn source(chance: &mut Chance) -> &'static str {
    chance.pick(SOURCES)
}

/// A person's name, for editor lines.
pub(crate) fn person(chance: &mut Chance) -> &'static str {
    chance.pick(PEOPLE)
}

/// A topic, for keywords and classifications.
pub(crate) fn theme(chance: &mut Chance) -> &'static str {
    chance.pick(THEMES)
}

/// An issuing body.
pub(crate) fn body(chance: &mut Chance) -> &'static str {
    chance.pick(BODIES)
}

/// The readable name of an attachment, without its extension.
pub(crate) fn file_title(chance: &mut Chance, ordinal: usize) -> String {
    format!("附件{}：{}{}", ordinal + 1, chance.pick(THEMES), chance.pick(SHAPES))
}

/// Appends one paragraph of three to seven sentences.
pub(crate) fn paragraph(chance: &mut Chance, to: &mut String) {
    to.push_str("　　");
    to.push_str(chance.pick(OPENINGS));
    for _ in 0..3 + chance.below(5) {
        to.push('，');
        to.push_str(chance.pick(MIDDLES));
        if chance.below(3) == 0 {
            to.push('。');
            to.push_str(chance.pick(OPENINGS));
        }
    }
    to.push('，');
    to.push_str(chance.pick(CLOSINGS));
}

/// The first `most` characters, with an ellipsis when something was cut: how lists shorten titles.
pub(crate) fn shorten(title: &str, most: usize) -> String {
    if title.chars().count() <= most {
        return title.to_owned();
    }
    title.chars().take(most).chain(['…']).collect()
}

/// Text or attribute value for HTML.
pub(crate) fn escape(text: &str) -> String {
    text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;").replace('"', "&quot;")
}
