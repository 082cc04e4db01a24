//! A document's files: from the JSON of its row, from the page's script, from links of the page. Each once.

use std::fmt;

use dibao_adapter::Attachment;
use serde::de::{Deserialize, Deserializer, IgnoredAny, MapAccess, SeqAccess, Visitor};

use crate::fit;
use crate::scalar::Scalar;

/// More files than a document has.
const MOST: usize = 200;

/// Files in the order of their first mention.
#[derive(Clone, Debug, Default)]
pub struct Files(Vec<Attachment>);

impl Files {
    /// Adds a file, unless it is known under this address; a name is taken over where there was none.
    pub fn add(&mut self, url: &str, name: Option<String>) {
        let Some(url) = fit::link(url) else { return };
        let name = name.map(fit::name).filter(|name| !name.is_empty());
        let key = key(&url).to_owned();
        match self.0.iter().position(|known| self::key(&known.url) == key) {
            Some(at) => self.0[at].name = self.0[at].name.take().or(name),
            None if self.0.len() < MOST => self.0.push(Attachment { url, name }),
            None => {}
        }
    }

    /// Adds all of another list.
    pub fn extend(&mut self, other: Files) {
        for file in other.0 {
            self.add(&file.url, file.name);
        }
    }

    /// All of them.
    pub fn into_vec(self) -> Vec<Attachment> {
        self.0
    }

    /// All of them, to look at.
    pub fn iter(&self) -> impl Iterator<Item = &Attachment> {
        self.0.iter()
    }
}

/// What two addresses of one file have in common. The page's renderer makes links protocol-relative, the JSON may say
/// `http:`; below `/attachment/` the path alone tells files apart.
fn key(url: &str) -> &str {
    let url = url.split('#').next().unwrap_or(url);
    match url.find("/attachment/") {
        Some(at) => &url[at..],
        None => url.split_once("//").map_or(url, |(_, rest)| rest),
    }
}

/// An array of objects, the same as an object with numbers for keys, or either as text (as the search API sends it).
impl<'de> Deserialize<'de> for Files {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Files, D::Error> {
        deserializer.deserialize_any(AnyFiles { nested: false })
    }
}

struct AnyFiles {
    nested: bool,
}

#[derive(Default, serde::Deserialize)]
#[serde(default)]
struct File {
    url: Scalar,
    name: Scalar,
    title: Scalar,
}

/// An object is perhaps a file; nothing else is.
struct Maybe(Option<File>);

impl<'de> Deserialize<'de> for Maybe {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Maybe, D::Error> {
        crate::lax::object(deserializer).map(Maybe)
    }
}

impl Files {
    fn take(&mut self, file: Option<File>) {
        let Some(file) = file else { return };
        if let Some(url) = file.url.text() {
            self.add(&url, file.name.text().or_else(|| file.title.text()));
        }
    }
}

impl<'de> Visitor<'de> for AnyFiles {
    type Value = Files;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("anything")
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut items: A) -> Result<Files, A::Error> {
        let mut files = Files::default();
        for _ in 0..MOST {
            match items.next_element()? {
                Some(Maybe(file)) => files.take(file),
                None => return Ok(files),
            }
        }
        while items.next_element::<IgnoredAny>()?.is_some() {}
        Ok(files)
    }

    fn visit_map<A: MapAccess<'de>>(self, mut pairs: A) -> Result<Files, A::Error> {
        let mut files = Files::default();
        for _ in 0..MOST {
            match pairs.next_entry()? {
                Some((IgnoredAny, Maybe(file))) => files.take(file),
                None => return Ok(files),
            }
        }
        while pairs.next_entry::<IgnoredAny, IgnoredAny>()?.is_some() {}
        Ok(files)
    }

    fn visit_str<E>(self, text: &str) -> Result<Files, E> {
        // Text inside the text is no list any more.
        if self.nested {
            return Ok(Files::default());
        }
        let mut reader = serde_json::Deserializer::from_str(text.trim());
        Ok((&mut reader).deserialize_any(AnyFiles { nested: true }).unwrap_or_default())
    }

    fn visit_bool<E>(self, _: bool) -> Result<Files, E> {
        Ok(Files::default())
    }

    fn visit_i64<E>(self, _: i64) -> Result<Files, E> {
        Ok(Files::default())
    }

    fn visit_u64<E>(self, _: u64) -> Result<Files, E> {
        Ok(Files::default())
    }

    fn visit_f64<E>(self, _: f64) -> Result<Files, E> {
        Ok(Files::default())
    }

    fn visit_unit<E>(self) -> Result<Files, E> {
        Ok(Files::default())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(json: &str) -> Vec<(String, Option<String>)> {
        let files: Files = serde_json::from_str(json).expect(json);
        files.into_vec().into_iter().map(|file| (file.url, file.name)).collect()
    }

    #[test]
    fn every_form_of_the_list_is_the_same_list() {
        let list = r#"[{"id":1,"name":"报告表.pdf","size":"26624","url":" https://a.cn/attachment/0/1/1/2.pdf "},{"id":2},7]"#;
        let text = serde_json::to_string(list).expect("text");
        let object = r#"{"0":{"name":"报告表.pdf","url":"https://a.cn/attachment/0/1/1/2.pdf"},"1":null}"#;
        for json in [list, text.as_str(), object] {
            let due = ("https://a.cn/attachment/0/1/1/2.pdf".to_owned(), Some("报告表.pdf".to_owned()));
            assert_eq!(read(json), [due], "{json}");
        }
        for nothing in ["null", "[]", "\"[]\"", "\"\"", "\"not json\"", "3", "true", "\"\\\"[]\\\"\""] {
            assert_eq!(read(nothing), [], "{nothing}");
        }
    }

    #[test]
    fn a_file_under_three_spellings_of_its_address_is_one() {
        let mut files = Files::default();
        files.add("//a.cn/attachment/0/1/1/2.pdf", None);
        files.add("https://a.cn/attachment/0/1/1/2.pdf", Some("甲.pdf".into()));
        files.add("/attachment/0/1/1/2.pdf#page=2", Some("乙.pdf".into()));
        files.add("http://b.cn/x.doc", None);
        files.add("https://b.cn/x.doc", None);
        files.add("javascript:void(0)", None);
        let all: Vec<_> = files.into_vec().into_iter().map(|file| (file.url, file.name)).collect();
        assert_eq!(
            all,
            [
                ("//a.cn/attachment/0/1/1/2.pdf".to_owned(), Some("甲.pdf".to_owned())),
                ("http://b.cn/x.doc".to_owned(), None)
            ]
        );
    }
}
