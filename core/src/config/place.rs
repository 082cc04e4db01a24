//! From a key path to its line, and from a line to the key path: the text is read once more, with locations.
//!
//! Only done when there is something to report, so that the settings stay plain types.

use std::fmt;

use serde::de::{Deserialize, Deserializer, MapAccess, SeqAccess, Visitor};
use serde_saphyr::Spanned;

/// Line and column of the value at `path` (`columns[2].pagination.max_pages`), or of the nearest thing
/// around it that exists.
pub(crate) fn locate(text: &str, path: &str) -> Option<(u32, u32)> {
    let mut node: Spanned<Node> = serde_saphyr::from_str(text).ok()?;
    for step in steps(path) {
        let child = match (&mut node.value, step) {
            (Node::Map(entries), Step::Key(key)) => {
                entries.iter().position(|(k, _)| k == key).map(|at| entries.swap_remove(at).1)
            }
            (Node::List(items), Step::Index(index)) if index < items.len() => Some(items.swap_remove(index)),
            _ => None,
        };
        match child {
            Some(child) => node = child,
            None => break,
        }
    }
    let at = node.referenced;
    (at.line() > 0).then(|| (at.line() as u32, at.column() as u32))
}

/// The key path of the value that begins at this line and column; none where no value does.
pub(crate) fn path_at(text: &str, at: (u32, u32)) -> Option<String> {
    let root: Spanned<Node> = serde_saphyr::from_str(text).ok()?;
    let mut found = None;
    walk(&root, &mut String::new(), &mut |node, path| {
        let here = node.referenced;
        // The deepest wins: a list begins where its first item does.
        if (here.line() as u32, here.column() as u32) == at && !path.is_empty() {
            found = Some(path.to_owned());
        }
    });
    found
}

fn walk(node: &Spanned<Node>, path: &mut String, seen: &mut impl FnMut(&Spanned<Node>, &str)) {
    seen(node, path);
    let length = path.len();
    match &node.value {
        Node::Map(entries) => {
            for (key, child) in entries {
                if !path.is_empty() {
                    path.push('.');
                }
                path.push_str(key);
                walk(child, path, seen);
                path.truncate(length);
            }
        }
        Node::List(items) => {
            for (index, child) in items.iter().enumerate() {
                path.push_str(&format!("[{index}]"));
                walk(child, path, seen);
                path.truncate(length);
            }
        }
        Node::Scalar => {}
    }
}

enum Step<'a> {
    Key(&'a str),
    Index(usize),
}

fn steps(path: &str) -> impl Iterator<Item = Step<'_>> {
    path.split(['.', '[']).filter(|part| !part.is_empty()).map(|part| {
        match part.strip_suffix(']').and_then(|number| number.parse().ok()) {
            Some(index) => Step::Index(index),
            None => Step::Key(part),
        }
    })
}

/// YAML of any shape: only what is needed to walk it.
enum Node {
    Map(Vec<(String, Spanned<Node>)>),
    List(Vec<Spanned<Node>>),
    Scalar,
}

impl<'de> Deserialize<'de> for Node {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(NodeVisitor)
    }
}

struct NodeVisitor;

impl<'de> Visitor<'de> for NodeVisitor {
    type Value = Node;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("any YAML")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Node, A::Error> {
        let mut entries = Vec::new();
        while let Some(entry) = map.next_entry()? {
            entries.push(entry);
        }
        Ok(Node::Map(entries))
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut seq: A) -> Result<Node, A::Error> {
        let mut items = Vec::new();
        while let Some(item) = seq.next_element()? {
            items.push(item);
        }
        Ok(Node::List(items))
    }

    fn visit_bool<E>(self, _: bool) -> Result<Node, E> {
        Ok(Node::Scalar)
    }

    fn visit_i64<E>(self, _: i64) -> Result<Node, E> {
        Ok(Node::Scalar)
    }

    fn visit_u64<E>(self, _: u64) -> Result<Node, E> {
        Ok(Node::Scalar)
    }

    fn visit_f64<E>(self, _: f64) -> Result<Node, E> {
        Ok(Node::Scalar)
    }

    fn visit_str<E>(self, _: &str) -> Result<Node, E> {
        Ok(Node::Scalar)
    }

    fn visit_unit<E>(self) -> Result<Node, E> {
        Ok(Node::Scalar)
    }

    fn visit_none<E>(self) -> Result<Node, E> {
        Ok(Node::Scalar)
    }
}
