//! Words with gaps: `{title}` is filled with the message's title, escaped for the format of the channel. Pure.
//!
//! The template itself is the operator's and stands as it is; only what comes from pages is escaped. A line whose gaps
//! are all empty is left out, so one template serves articles with and without a document number.

use super::message::Message;

/// The names that a template may use.
const NAMES: &[&str] = &[
    "key",
    "event",
    "title",
    "text",
    "url",
    "id",
    "site",
    "target",
    "published",
    "publisher",
    "doc_no",
    "channel",
    "attachments",
    "failures",
    "since",
    "error",
    "error_class",
    "lane",
    "job",
];

/// How a channel reads its text.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Format {
    /// As it is.
    Plain,
    /// Markdown of the chat robots.
    Markdown,
    /// The few tags that Telegram knows.
    Html,
}

/// A checked template.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Template(Vec<Vec<Piece>>);

#[derive(Clone, Debug, PartialEq, Eq)]
enum Piece {
    Words(String),
    Gap(String),
}

impl Template {
    /// Reads a template; the error says what is wrong with it and which names there are.
    pub fn parse(text: &str) -> Result<Template, String> {
        text.lines().map(line).collect::<Result<_, _>>().map(Template)
    }

    /// Fills the gaps.
    pub fn render(&self, message: &Message, format: Format) -> String {
        let mut lines = Vec::new();
        for line in &self.0 {
            let mut gaps = line.iter().filter_map(|piece| match piece {
                Piece::Gap(name) => Some(message.value(name)),
                Piece::Words(_) => None,
            });
            let filled = gaps.clone().next().is_none() || gaps.any(|value| !value.is_empty());
            if filled {
                lines.push(line.iter().map(|piece| piece.render(message, format)).collect::<String>());
            }
        }
        let lines = lines.join("\n");
        lines.trim_end().to_owned()
    }
}

impl Piece {
    fn render(&self, message: &Message, format: Format) -> String {
        match self {
            Piece::Words(words) => words.clone(),
            Piece::Gap(name) if name == "url" => link(message.value(name), format),
            Piece::Gap(name) => escape(message.value(name), format),
        }
    }
}

fn line(text: &str) -> Result<Vec<Piece>, String> {
    let (mut pieces, mut words, mut rest) = (Vec::new(), String::new(), text);
    while let Some(at) = rest.find(['{', '}']) {
        words += &rest[..at];
        let brace = &rest[at..at + 1];
        rest = &rest[at + 1..];
        // Twice means itself.
        if rest.starts_with(brace) {
            words += brace;
            rest = &rest[1..];
            continue;
        }
        let end = rest.find('}').filter(|_| brace == "{");
        let Some(end) = end else {
            return Err(format!("a lonely `{brace}` in `{text}`; write `{brace}{brace}` for the character"));
        };
        let name = rest[..end].trim();
        if !NAMES.contains(&name) {
            return Err(format!("there is no `{{{name}}}`; there are {}", NAMES.join(", ")));
        }
        pieces.extend((!words.is_empty()).then(|| Piece::Words(std::mem::take(&mut words))));
        pieces.push(Piece::Gap(name.to_owned()));
        rest = &rest[end + 1..];
    }
    words += rest;
    pieces.extend((!words.is_empty()).then_some(Piece::Words(words)));
    Ok(pieces)
}

/// A value from outside, harmless in this format.
pub(super) fn escape(text: &str, format: Format) -> String {
    let mut out = String::with_capacity(text.len());
    for character in text.chars() {
        match (format, character) {
            (_, '\r') => {}
            (Format::Html, '&') => out += "&amp;",
            (Format::Html, '<') => out += "&lt;",
            (Format::Html, '>') => out += "&gt;",
            (Format::Html, '"') => out += "&quot;",
            // A title is one line of Markdown, or it could begin a heading or mention everybody.
            (Format::Markdown, '\n') => out.push(' '),
            (Format::Markdown, '<') => out += "&lt;",
            (Format::Markdown, '>') => out += "&gt;",
            (Format::Markdown, '@') => out += "＠",
            (Format::Markdown, '\\' | '`' | '*' | '_' | '[' | ']' | '#' | '!') => {
                out.push('\\');
                out.push(character);
            }
            (_, character) if character.is_control() && character != '\n' && character != '\t' => {}
            (_, character) => out.push(character),
        }
    }
    out
}

/// An address that may be clicked on: of the web, and unable to end its own brackets.
fn link(url: &str, format: Format) -> String {
    let web = url::Url::parse(url).ok().filter(|url| matches!(url.scheme(), "http" | "https"));
    let Some(url) = web else { return String::new() };
    match format {
        Format::Plain => url.to_string(),
        Format::Html => escape(url.as_str(), Format::Html),
        Format::Markdown => {
            url.as_str().replace('(', "%28").replace(')', "%29").replace('[', "%5B").replace(']', "%5D")
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::clock::Timestamp;

    fn message(title: &str, url: &str) -> Message {
        let mut message = Message::new("k", "article", title, Timestamp(0));
        message.url = Some(url.to_owned());
        message.fields.insert("site".into(), "ndrc".into());
        message
    }

    #[test]
    fn gaps_are_filled_and_empty_lines_left_out() {
        let template = Template::parse("{title}\n文号 {doc_no}\n{site} · {publisher}\n\n{{end}}").unwrap();
        assert_eq!(template.render(&message("通知", ""), Format::Plain), "通知\nndrc · \n\n{end}");
    }

    #[test]
    fn what_pages_say_cannot_leave_its_place() {
        let evil = "a](http://evil) @all <b>\n# *x* \u{7}`";
        let template = Template::parse("[{title}]({url})").unwrap();
        for (format, url, expected) in [
            (
                Format::Markdown,
                "https://a.cn/(1)",
                "[a\\](http://evil) ＠all &lt;b&gt; \\# \\*x\\* \\`](https://a.cn/%281%29)",
            ),
            (
                Format::Html,
                "https://a.cn/?a=1&b=\"",
                "[a](http://evil) @all &lt;b&gt;\n# *x* `](https://a.cn/?a=1&amp;b=%22)",
            ),
            (Format::Plain, "javascript:alert(1)", "[a](http://evil) @all <b>\n# *x* `]()"),
        ] {
            assert_eq!(template.render(&message(evil, url), format), expected);
        }
    }

    #[test]
    fn a_wrong_template_is_explained() {
        for (text, words) in
            [("{titel}", "there are key, event, title"), ("{title", "lonely"), ("a } b", "lonely")]
        {
            assert!(Template::parse(text).unwrap_err().contains(words), "{text}");
        }
    }
}
