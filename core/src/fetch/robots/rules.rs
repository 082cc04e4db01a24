//! What a robots.txt says about one address: the group that applies and the rule that decides (RFC 9309 §2.2).
//!
//! Pure. Whether there is a file to ask at all is [`policy`](super::policy)'s business.

use std::time::Duration;

use serde::Serialize;
use url::Url;

use super::{parse, pattern};

/// A robots.txt, read.
///
/// ```
/// use dibao::fetch::robots::Robots;
/// let robots = Robots::parse(b"User-agent: *\nDisallow: /search\nAllow: /search/about\nCrawl-delay: 2\n");
/// let check = |url: &str| robots.check("dibao/0.1", &url.parse().unwrap());
/// assert!(check("https://example.cn/search/about").allow);
/// let verdict = check("https://example.cn/search?q=1");
/// assert!(!verdict.allow);
/// assert_eq!(verdict.rule.unwrap().text, "Disallow: /search");
/// ```
#[derive(Clone, Debug, Default)]
pub struct Robots {
    pub(super) groups: Vec<Group>,
    pub(super) names: Vec<Name>,
    pub(super) rules: Vec<Stored>,
    pub(super) sitemaps: Vec<String>,
    pub(super) truncated: bool,
}

/// What a file says about one address.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct RobotsVerdict {
    /// May it be fetched?
    pub allow: bool,
    /// The rule that decided; none when no rule matched.
    pub rule: Option<Rule>,
    /// The name of the group that applies, as the file writes it; none when no group does.
    pub group: Option<String>,
    /// The time between two requests that the group asks for.
    pub crawl_delay: Option<Duration>,
}

/// One rule, as people find it in the file.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Rule {
    /// Its line, from 1.
    pub line: u32,
    /// The line without its comment.
    pub text: String,
}

/// Some agents and their rules: ranges of the file's names and rules, since both stand together in it.
#[derive(Clone, Copy, Debug)]
pub(super) struct Group {
    names: (u32, u32),
    rules: (u32, u32),
}

/// An agent named by a group.
#[derive(Clone, Debug)]
pub(super) struct Name {
    /// Up to the first blank or slash.
    word: Box<str>,
    pub(super) delay: Option<Duration>,
}

/// A rule as it is kept.
#[derive(Clone, Debug)]
pub(super) struct Stored {
    pub(super) line: u32,
    pub(super) allow: bool,
    /// Where its pattern begins in the text, unless it has forms.
    pub(super) value_at: u32,
    pub(super) text: Box<str>,
    pub(super) forms: Option<Box<Forms>>,
}

/// The patterns of a rule that is not its own pattern (see [`pattern`]).
#[derive(Clone, Debug)]
pub(super) struct Forms {
    pub(super) written: Box<str>,
    pub(super) plain: Box<str>,
}

impl Robots {
    /// Reads the first [`MAX_BODY`](super::MAX_BODY) bytes of a file. Whatever they are, something can be read.
    pub fn parse(body: &[u8]) -> Robots {
        parse::parse(body)
    }

    /// May `agent` fetch `url`? The agent is a product token or a whole `User-Agent` (see [`product_token`]).
    ///
    /// Rule and address are compared as RFC 9309 §2.2.2 wants it: however each of them is escaped.
    pub fn check(&self, agent: &str, url: &Url) -> RobotsVerdict {
        self.decide(agent, &pattern::plain_path(url), Stored::plain)
    }

    /// The same for an address as somebody wrote it, compared as the published cases of Google's matcher want it:
    /// it expects an address that is already escaped, and undoes no escape of a letter or digit.
    pub fn check_written(&self, agent: &str, address: &str) -> RobotsVerdict {
        self.decide(agent, &pattern::written_path(address), Stored::written)
    }

    /// The site maps the file names, anywhere in it.
    pub fn sitemaps(&self) -> &[String] {
        &self.sitemaps
    }

    /// Whether the file was longer than what is read of it.
    pub fn is_truncated(&self) -> bool {
        self.truncated
    }

    /// Roughly the memory it takes, in bytes.
    pub fn weight(&self) -> usize {
        let rule = |rule: &Stored| {
            rule.text.len()
                + rule.forms.as_ref().map_or(0, |f| size_of::<Forms>() + f.written.len() + f.plain.len())
        };
        size_of::<Robots>()
            + self.groups.len() * size_of::<Group>()
            + self.names.iter().map(|name| size_of::<Name>() + name.word.len()).sum::<usize>()
            + self.rules.iter().map(|r| size_of::<Stored>() + rule(r)).sum::<usize>()
            + self.sitemaps.iter().map(|s| size_of::<String>() + s.len()).sum::<usize>()
    }

    fn decide(&self, agent: &str, path: &str, form: fn(&Stored) -> &str) -> RobotsVerdict {
        let agent = product_token(agent);
        // §2.2.1: the groups that name the agent, all together; else those for everybody; else none.
        let chosen = self.choose(&|name| name.is(agent)).or_else(|| self.choose(&Name::is_everybody));
        let Some(Chosen { groups, name, crawl_delay }) = chosen else {
            return RobotsVerdict { allow: true, rule: None, group: None, crawl_delay: None };
        };
        let rule = if path == "/robots.txt" {
            None // §2.2.2: always allowed.
        } else {
            decisive(groups.iter().flat_map(|group| self.rules_of(group)), path, form)
        };
        RobotsVerdict {
            allow: rule.is_none_or(|rule| rule.allow),
            rule: rule.map(|rule| Rule { line: rule.line, text: rule.text.to_string() }),
            group: Some(name.to_owned()),
            crawl_delay,
        }
    }

    fn choose(&self, wanted: &dyn Fn(&Name) -> bool) -> Option<Chosen<'_>> {
        let mut chosen: Option<Chosen<'_>> = None;
        for group in &self.groups {
            let mut is_new = true;
            for name in self.names_of(group).iter().filter(|name| wanted(name)) {
                let chosen = chosen.get_or_insert_with(|| Chosen {
                    groups: Vec::new(),
                    name: &name.word,
                    crawl_delay: None,
                });
                // A delay can be raised by another group of the same name, never lowered.
                chosen.crawl_delay = chosen.crawl_delay.max(name.delay);
                if std::mem::take(&mut is_new) {
                    chosen.groups.push(group);
                }
            }
        }
        chosen
    }

    fn names_of(&self, group: &Group) -> &[Name] {
        self.names.get(group.names.0 as usize..group.names.1 as usize).unwrap_or_default()
    }

    fn rules_of(&self, group: &Group) -> &[Stored] {
        self.rules.get(group.rules.0 as usize..group.rules.1 as usize).unwrap_or_default()
    }

    /// The group being read reaches to here.
    pub(super) fn close_group(&mut self) {
        if let Some(group) = self.groups.last_mut() {
            group.names.1 = self.names.len() as u32;
            group.rules.1 = self.rules.len() as u32;
        }
    }

    pub(super) fn shrink(&mut self) {
        self.groups.shrink_to_fit();
        self.names.shrink_to_fit();
        self.rules.shrink_to_fit();
        self.sitemaps.shrink_to_fit();
    }
}

/// The groups that apply, as one.
struct Chosen<'a> {
    groups: Vec<&'a Group>,
    name: &'a str,
    crawl_delay: Option<Duration>,
}

/// §2.2.2: the longest pattern that matches; of two as long, the one that allows; of equals, the first.
/// An empty pattern matches nothing.
fn decisive<'a>(
    rules: impl Iterator<Item = &'a Stored>,
    path: &str,
    form: fn(&Stored) -> &str,
) -> Option<&'a Stored> {
    let mut best: Option<((usize, bool), &Stored)> = None;
    for rule in rules {
        let pattern = form(rule);
        // Cheap first: a rule that could not win need not be matched.
        let wins = |length: usize| length > 0 && best.is_none_or(|(rank, _)| (length, rule.allow) > rank);
        let mut length = pattern.len();
        if !wins(length) {
            continue;
        }
        if !pattern::matches(path, pattern) {
            let directory = pattern::directory_of_index(pattern).filter(|_| rule.allow);
            match directory {
                // As long as if the directory had been written with `$` behind it.
                Some(directory) if pattern::matches(path, &format!("{directory}$")) => {
                    length = directory.len() + 1;
                }
                _ => continue,
            }
        }
        if wins(length) {
            best = Some(((length, rule.allow), rule));
        }
    }
    best.map(|(_, rule)| rule)
}

impl Stored {
    fn plain(&self) -> &str {
        match &self.forms {
            Some(forms) => &forms.plain,
            None => &self.text[self.value_at as usize..],
        }
    }

    fn written(&self) -> &str {
        match &self.forms {
            Some(forms) => &forms.written,
            None => &self.text[self.value_at as usize..],
        }
    }
}

impl Group {
    pub(super) fn starting_at(names: usize, rules: usize) -> Group {
        Group { names: (names as u32, names as u32), rules: (rules as u32, rules as u32) }
    }
}

impl Name {
    pub(super) fn read(value: &[u8]) -> Name {
        let end =
            value.iter().position(|byte| byte.is_ascii_whitespace() || *byte == b'/').unwrap_or(value.len());
        Name { word: String::from_utf8_lossy(&value[..end]).into(), delay: None }
    }

    /// `*`, also with words behind it.
    fn is_everybody(&self) -> bool {
        &*self.word == "*"
    }

    /// §2.2.1: letters, `_` and `-` make a token, and case does not matter. A name with digits in it is no token,
    /// but there are crawlers of such names, so the whole word counts too.
    fn is(&self, agent: &str) -> bool {
        let end = self.word.bytes().position(|b| !is_token_byte(b)).unwrap_or(self.word.len());
        !agent.is_empty()
            && !self.is_everybody()
            && (self.word[..end].eq_ignore_ascii_case(agent) || self.word.eq_ignore_ascii_case(agent))
    }
}

fn is_token_byte(byte: u8) -> bool {
    byte.is_ascii_alphabetic() || matches!(byte, b'_' | b'-')
}

/// The name by which a robots.txt calls a client (RFC 9309 §2.2.1), out of its `User-Agent`.
///
/// ```
/// use dibao::fetch::robots::product_token;
/// assert_eq!(product_token("dibao"), "dibao");
/// assert_eq!(product_token("dibao/0.1 (+https://example.org)"), "dibao");
/// assert_eq!(product_token("Mozilla/5.0 (compatible; dibao/0.1; polite crawler)"), "dibao");
/// ```
pub fn product_token(user_agent: &str) -> &str {
    // Crawlers that introduce themselves as browsers name themselves behind this word.
    const INTRODUCTION: &[u8] = b"(compatible;";
    let at =
        user_agent.as_bytes().windows(INTRODUCTION.len()).position(|w| w.eq_ignore_ascii_case(INTRODUCTION));
    if let Some(rest) = at.and_then(|at| user_agent.get(at + INTRODUCTION.len()..)) {
        let rest = rest.trim_start();
        let end = rest.find(|c: char| c.is_whitespace() || "/;)".contains(c)).unwrap_or(rest.len());
        if end > 0 {
            return &rest[..end];
        }
    }
    match user_agent.split_once('/') {
        Some((name, _)) if !name.is_empty() && !name.contains(char::is_whitespace) => name,
        // No token: it is the name of nobody, and only the rules for everybody apply.
        _ => user_agent,
    }
}
