//! From the bytes of any page to an article: the pure call.
//!
//! One parse, one walk, then each field from its candidates (S2-32): tags of the government standard, JSON-LD and OpenGraph, what readers see, generic
//! extraction, `<title>` without its site. Every field says where it came from, and what lost. A list of links is not an article. Does not know adapters,
//! lists or the store; `article` puts those around it.

use std::collections::BTreeMap;

use chrono_tz::Tz;
use scraper::ElementRef;
use url::Url;

use super::attachments::Files;
use super::byline;
use super::charset;
use super::document::{self, Document};
use super::dom::{Budget, Cut, Doc};
use super::generic::{self, Choice, lead, outline::Outline, render, trim};
use super::headline;
use super::markdown;
use super::meta::Head;
use super::pages::resolve;
use super::shape;
use super::value::{Proof, Value};
use super::when::{self, Calendar, Dated};
use super::write;
use crate::clock::Timestamp;
use crate::model::Published;

/// When generic extraction steps in (S2-32).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Policy {
    /// A body with less HTML than this (in characters) is looked for again.
    pub enough_html: usize,
    /// A generic body with less text than this (in characters) is looked for by the next rule.
    pub enough_text: usize,
}

impl Default for Policy {
    fn default() -> Self {
        Policy { enough_html: 100, enough_text: 50 }
    }
}

/// What the call needs to know besides the page.
#[derive(Clone, Debug)]
pub struct Options {
    /// The page's `content-type` header.
    pub content_type: Option<String>,
    /// The zone of times without one, and of days.
    pub zone: Tz,
    /// Days of pages whose title has no Han character are those of the offset they are written with, or of UTC: they are hardly Chinese.
    pub foreign_in_utc: bool,
    /// Now: later dates are refused, relative ones count from here.
    pub now: Timestamp,
    /// Name of the site where it is known, taken off titles.
    pub site_name: String,
    /// Endings of titles that other pages of the site have as well.
    pub endings: Vec<String>,
    /// Thresholds.
    pub policy: Policy,
    /// Write the body as Markdown and HTML as well.
    pub formats: bool,
}

impl Options {
    /// For pages of Chinese sites, read at `now`.
    pub fn at(now: Timestamp) -> Options {
        Options {
            content_type: None,
            zone: chrono_tz::Asia::Shanghai,
            foreign_in_utc: true,
            now,
            site_name: String::new(),
            endings: Vec::new(),
            policy: Policy::default(),
            formats: false,
        }
    }
}

/// What kind of page it is.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, serde::Serialize)]
#[serde(rename_all = "snake_case")]
pub enum PageKind {
    /// It has a text of its own.
    Article,
    /// It leads to articles.
    List,
    /// Its text is in pictures or files.
    Images,
    /// Nothing to read.
    #[default]
    Empty,
}

/// An article as a page gives it.
#[derive(Clone, Debug, Default)]
pub struct PageArticle {
    /// What kind of page it is.
    pub kind: PageKind,
    /// Title without the site's name.
    pub title: Option<String>,
    /// When it was published.
    pub published: Option<Published>,
    /// When it was changed last.
    pub modified: Option<Published>,
    /// Where the site says it came from.
    pub source: Option<String>,
    /// Who wrote it.
    pub author: Option<String>,
    /// The body as readable text.
    pub text: String,
    /// The body as Markdown, when asked for.
    pub markdown: String,
    /// The body as HTML without anything active, when asked for.
    pub html: String,
    /// Files of the body, each address once, with their names.
    pub attachments: Vec<(Url, Option<String>)>,
    /// Pictures in the body.
    pub inline_image_count: u32,
    /// The picture that stands for the article.
    pub lead_image: Option<Url>,
    /// What makes it an official document.
    pub document: Document,
    /// Where each field came from.
    pub provenance: BTreeMap<String, Proof>,
    /// Candidates that lost, by field.
    pub losers: Vec<Loser>,
    /// The encoding it was read in.
    pub encoding: &'static str,
    /// Why some of the page's markup was left out, if it was; its text was not.
    pub cut: Option<Cut>,
    /// `<title>` as it stands, with whatever the site adds.
    pub page_title: String,
}

/// A candidate that was not chosen.
#[derive(Clone, Debug)]
pub struct Loser {
    /// The field.
    pub field: &'static str,
    /// What it would have been; the beginning of it.
    pub value: String,
    /// Where it came from.
    pub proof: Proof,
}

/// Reads a page. The same bytes, address and options always give the same article.
///
/// ```
/// use dibao::extract::{self, Options};
/// let page = "<title>关于示例的通知_某市人民政府</title><meta name=PubDate content='2026-04-10 09:30'><h1>关于示例的通知</h1>\
///     <div id=zoom><p>为了做好示例工作，现将有关事项通知如下。</p><p>一、高度重视示例工作，认真组织实施。</p></div>";
/// let article = extract::page(page.as_bytes(), "https://www.example.gov.cn/a.html", &Options::at(dibao::Timestamp(1_780_000_000_000)));
/// assert_eq!(article.title.as_deref(), Some("关于示例的通知"));
/// assert_eq!(article.provenance["published"].rule, "pubdate");
/// assert!(article.text.ends_with("认真组织实施。"));
/// ```
pub fn page(bytes: &[u8], url: &str, options: &Options) -> PageArticle {
    let decoded = charset::decode(bytes, options.content_type.as_deref());
    let doc = Doc::page(&decoded.text, Budget::default());
    let mut article = read(&doc, &decoded.text, url, options);
    article.encoding = decoded.encoding;
    article
}

/// Reads a page that was parsed already.
pub(crate) fn read(doc: &Doc, source: &str, url: &str, options: &Options) -> PageArticle {
    let head = Head::of(doc);
    let outline = Outline::of(doc.html.tree.root());
    let foreign =
        options.foreign_in_utc && !head.title.is_empty() && !head.title.chars().any(|c| c as u32 > 0x2e80);
    let zone = if foreign { chrono_tz::UTC } else { options.zone };
    let calendar = Calendar { zone, now: options.now, foreign };
    let mut reader = Reader { outline: &outline, source, out: PageArticle::default() };

    let titles = headline::titles(&head, &outline, &options.site_name, &options.endings);
    let heading = headline::shown(&outline, &titles);
    let title = reader.values("title", titles);
    let mut choice = generic::choose(&outline, heading);
    let span = choice.as_mut().map(|choice| {
        let best = &mut choice.candidates[choice.best];
        let span =
            (best.ranges.first().map_or(0, |range| range.0), best.ranges.last().map_or(0, |range| range.1));
        lead::add(&outline, best, heading);
        trim::trim(&outline, best, title.as_deref().unwrap_or_default(), &byline::known(&head));
        span
    });
    reader.out.title = title;
    reader.out.page_title = head.title.clone();
    let dates = when::published(&head, &outline, heading, span, url, calendar);
    reader.out.published = reader.dates("published", dates);
    let changed: Vec<Dated> = when::modified(&head, calendar).into_iter().collect();
    reader.out.modified = reader.dates("modified", changed);
    reader.out.source = reader.values("source", byline::sources(&head, &outline, heading, span));
    let mut authors = byline::authors(&head, &outline, heading, span);
    // Columns of a title (`王文：…`) and headings of lists are marked as authors by some templates.
    let titled = reader.out.title.as_deref().unwrap_or_default();
    authors.retain(|author| {
        let said = (author.engine != "page" || author.confidence < 0.7)
            && author.text.chars().count() >= 6
            && titled.contains(author.text.as_str());
        !said && !generic::lines::is_related(&author.text)
    });
    reader.out.author = reader.values("author", authors);
    let base = base(doc, url);
    let frames = write::frames(doc);
    match &choice {
        Some(choice) => reader.body(choice, &frames, base.as_ref(), options),
        None => reader.framed(&frames, base.as_ref()),
    }
    reader.linked_body(&head, options);
    if shape::leads_elsewhere(&outline, &reader.out) {
        reader.out.kind = PageKind::List;
        (reader.out.text, reader.out.markdown, reader.out.html) = Default::default();
        reader.out.provenance.remove("content");
    }
    // A line of a list speaks of what it leads to.
    let lines = |proof: &Proof| proof.engine == "page";
    if reader.out.kind == PageKind::List && reader.out.provenance.get("published").is_some_and(lines) {
        reader.out.published = None;
        reader.out.provenance.remove("published");
    }
    let document = document::read(&head, &outline, span, &reader.out, calendar);
    reader.document(document);
    let image = head.meta(&["og:image", "twitter:image", "image"]).map(|(name, value)| ("meta", name, value));
    let image = image.or_else(|| head.linked.image.as_deref().map(|value| ("json-ld", "image", value)));
    if let Some((engine, rule, value)) = image
        && let Some(url) = resolve(base.as_ref(), value)
    {
        let proof = reader.proof(&Value::new(value.to_owned(), engine, rule, 0.8));
        reader.out.provenance.insert("lead_image".into(), proof);
        reader.out.lead_image = Some(url);
    }
    if let Some(cut) = doc.cut {
        reader.cut(cut);
    }
    reader.out
}

fn base(doc: &Doc, url: &str) -> Option<Url> {
    let own = Url::parse(url).ok();
    let href = doc.html.tree.nodes().find_map(|node| {
        node.value()
            .as_element()
            .filter(|element| element.name() == "base")
            .and_then(|element| element.attr("href"))
    });
    href.and_then(|href| resolve(own.as_ref(), href)).or(own)
}

struct Reader<'o, 'a> {
    outline: &'o Outline<'a>,
    source: &'o str,
    out: PageArticle,
}

/// At most so sure is a body whose page lost some of its markup.
const SURE_OF_CUT: f64 = 0.7;
/// Losers kept per field.
const MOST_LOSERS: usize = 6;
/// Characters of a loser's value.
const PREVIEW: usize = 60;

impl Reader<'_, '_> {
    fn values(&mut self, field: &'static str, mut values: Vec<Value>) -> Option<String> {
        if values.is_empty() {
            return None;
        }
        let best = values.remove(0);
        let proof = self.proof(&best);
        self.out.provenance.insert(field.into(), proof);
        for value in values.into_iter().take(MOST_LOSERS) {
            self.lose(field, &value, value.text.clone());
        }
        Some(best.text)
    }

    fn dates(&mut self, field: &'static str, mut dates: Vec<Dated>) -> Option<Published> {
        if dates.is_empty() {
            return None;
        }
        let best = dates.remove(0);
        let proof = self.proof(&best.value);
        self.out.provenance.insert(field.into(), proof);
        for other in dates.into_iter().take(MOST_LOSERS) {
            self.lose(field, &other.value, other.published.date);
        }
        Some(best.published)
    }

    fn lose(&mut self, field: &'static str, value: &Value, text: String) {
        let proof = self.proof(value);
        self.out.losers.push(Loser { field, value: text.chars().take(PREVIEW).collect(), proof });
    }

    fn proof(&self, value: &Value) -> Proof {
        let needle = &value.text[..value.text.floor_char_boundary(48)];
        let offset = if needle.len() < 4 { None } else { self.source.find(needle) };
        Proof {
            engine: value.engine.to_owned(),
            rule: value.rule.clone(),
            at: value.el.map(|el| shape::path(self.outline, el)),
            offset,
            confidence: round(value.confidence),
        }
    }

    /// A page without any text may still show a file.
    fn framed(&mut self, frames: &[ElementRef<'_>], base: Option<&Url>) {
        let mut files = Files::default();
        frames.iter().for_each(|frame| files.link(*frame, base));
        self.out.attachments = files.into_vec();
        if !self.out.attachments.is_empty() {
            self.out.kind = PageKind::Images;
        }
    }

    fn body(&mut self, choice: &Choice, frames: &[ElementRef<'_>], base: Option<&Url>, options: &Options) {
        let best = &choice.candidates[choice.best];
        let agreeing: Vec<&str> = choice
            .candidates
            .iter()
            .filter(|other| generic::judge::overlap(self.outline, best, other) > 0.9)
            .map(|other| other.engine)
            .collect();
        let rule = if agreeing.is_empty() { best.engine.to_owned() } else { agreeing.join("+") };
        let rule = if choice.relaxed { format!("{rule} (relaxed)") } else { rule };
        let value = Value {
            text: String::new(),
            engine: "generic",
            rule,
            confidence: choice.confidence,
            el: best.roots.first().copied(),
        };
        let mut proof = self.proof(&value);
        let first = best.ranges.first().map(|(from, _)| self.outline.leaves[*from as usize].text.trim());
        proof.offset = first.and_then(|text| self.source.find(&text[..text.floor_char_boundary(48)]));
        let text = render::text(self.outline, best);
        let found = write::look(self.outline, best, base);
        let mut files = Files::default();
        for link in &found.links {
            files.link(*link, base);
        }
        write::files_beside(self.outline, best, &mut files, base);
        frames.iter().for_each(|frame| files.link(*frame, base));
        let attachments = files.into_vec();
        self.out.kind = shape::kind(self.outline, best, &text, found.images, attachments.len());
        self.out.attachments = attachments;
        self.out.inline_image_count = found.images;
        self.out.lead_image = found.first_image;
        for other in
            choice.candidates.iter().enumerate().filter(|(at, _)| *at != choice.best).map(|(_, other)| other)
        {
            let value = Value {
                text: String::new(),
                engine: "generic",
                rule: other.engine.to_owned(),
                confidence: other.worth.clamp(0.0, 1.0),
                el: other.roots.first().copied(),
            };
            self.lose("content", &value, format!("{} tokens", other.tokens));
        }
        if self.out.kind == PageKind::List {
            self.lose("content", &value, "a list of links".to_owned());
            return;
        }
        if options.formats {
            self.out.markdown = markdown::markdown(self.outline, best, base);
            self.out.html = write::html(self.outline, best, base);
        }
        self.out.text = text;
        self.out.provenance.insert("content".into(), proof);
    }

    /// Some pages have their text only in JSON-LD, for the script that shows it.
    fn linked_body(&mut self, head: &Head<'_>, options: &Options) {
        let Some(body) = head.linked.body.as_deref().map(str::trim) else { return };
        let enough = |text: &str, count: usize| text.chars().nth(count).is_some();
        if enough(&self.out.text, options.policy.enough_text * 2)
            || !enough(body, options.policy.enough_text * 4)
        {
            return;
        }
        self.out.text = body.to_owned();
        self.out.kind = PageKind::Article;
        let proof = self.proof(&Value::new(body.to_owned(), "json-ld", "articleBody", 0.7));
        self.out.provenance.insert("content".into(), proof);
    }

    fn cut(&mut self, cut: Cut) {
        if let Some(proof) = self.out.provenance.get_mut("content") {
            proof.confidence = proof.confidence.min(SURE_OF_CUT);
        }
        let proof = self.proof(&Value::new(String::new(), "parser", &cut.to_string(), 1.0));
        self.out.provenance.insert("cut".into(), proof);
        self.out.cut = Some(cut);
    }

    fn document(&mut self, found: document::Found) {
        for (field, value) in &found.proofs {
            let proof = self.proof(value);
            self.out.provenance.entry((*field).to_owned()).or_insert(proof);
        }
        self.out.document = found.document;
    }
}

fn round(confidence: f64) -> f64 {
    (confidence * 100.0).round() / 100.0
}
