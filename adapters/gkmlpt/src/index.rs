//! What a site says of itself in the script of `/gkmlpt/index`: its number and its tree of columns.

use serde_json::{Map, Value};

use crate::fit;
use crate::js;
use crate::scalar::Scalar;

/// Columns of one site that are taken. The largest trees seen have some hundreds.
const MOST: usize = 5_000;

/// A site as its index describes it.
#[derive(Debug, Default, PartialEq)]
pub struct Index {
    /// The site's number.
    pub sid: Option<String>,
    /// All nodes of the tree, parents before children.
    pub columns: Vec<Node>,
}

/// A node of the tree.
#[derive(Debug, Default, PartialEq)]
pub struct Node {
    /// Its number.
    pub id: u64,
    /// Its parent's, 0 at the top.
    pub parent: u64,
    /// Its name.
    pub name: String,
    /// The names from the top, separated by `/`.
    pub path: String,
    /// How many posts its counter shows.
    pub post_count: Option<u64>,
    /// Where it leads instead of to a list.
    pub jump_url: Option<String>,
    /// Whether other columns are below it.
    pub has_children: bool,
}

impl Node {
    /// Whether documents are listed under it: a leaf that leads nowhere else.
    pub fn is_list(&self) -> bool {
        !self.has_children && self.jump_url.is_none()
    }
}

/// The site's script object; none when the page has none.
pub fn config(page: &str) -> Option<Map<String, Value>> {
    js::assigned(page, "_CONFIG")
}

/// Reads an index page; none when it is not one.
pub fn read(page: &str) -> Option<Index> {
    let mut config = config(page)?;
    let sid = scalar(config.get("SID")).natural().map(|sid| sid.to_string());
    let mut columns = Vec::new();
    let tree = match config.remove("TREE") {
        Some(Value::String(text)) => Some(js::literal(&text)),
        tree => tree,
    };
    walk(list(tree), 0, "", &mut columns);
    (sid.is_some() || !columns.is_empty()).then_some(Index { sid, columns })
}

/// An array of nodes, or what PHP makes of one with gaps.
fn list(value: Option<Value>) -> Vec<Value> {
    match value {
        Some(Value::Array(nodes)) => nodes,
        Some(Value::Object(numbered)) => numbered.into_iter().map(|(_, node)| node).collect(),
        _ => Vec::new(),
    }
}

fn walk(nodes: Vec<Value>, parent: u64, above: &str, out: &mut Vec<Node>) {
    for node in nodes {
        let Value::Object(mut node) = node else { continue };
        let Some(id) = scalar(node.get("id")).natural().filter(|_| out.len() < MOST) else { continue };
        let name = scalar(node.get("name")).text().map(fit::name).unwrap_or_else(|| id.to_string());
        let path = fit::name(if above.is_empty() { name.clone() } else { format!("{above}/{name}") });
        let children = list(node.remove("children"));
        out.push(Node {
            id,
            parent,
            post_count: scalar(node.get("post_count")).natural(),
            jump_url: scalar(node.get("jump_url")).text().and_then(|url| fit::link(&url)),
            has_children: !children.is_empty(),
            path: path.clone(),
            name,
        });
        walk(children, id, &path, out);
    }
}

fn scalar(value: Option<&Value>) -> Scalar {
    match value {
        Some(Value::Bool(flag)) => Scalar::Flag(*flag),
        Some(Value::Number(number)) => match number.as_i64() {
            Some(whole) => Scalar::Whole(whole),
            None => Scalar::Real(number.as_f64().unwrap_or_default()),
        },
        Some(Value::String(text)) => Scalar::Text(text.clone()),
        _ => Scalar::Nothing,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const PAGE: &str = r#"<html><script>window._CONFIG = { APP_URL: 'https://www.example.gov.cn/dept', SID: '763015',
        TREE: [{"id":21022,"name":"建设项目环评","parent":0,"post_count":0,"jump_url":"","children":[
            {"id":"21023","name":" 受理公告 ","parent":21022,"post_count":"203","jump_url":"","children":[]},
            {"id":21024,"name":"链接","jump_url":" https://b.cn/x ","children":[]}]},
          {"id":5,"name":"文件","children":null}, {"name":"no number"}, 7],
        SERVICE_AREA_ID: 763 };</script>"#;

    #[test]
    fn number_and_tree_are_found_in_the_script() {
        let index = read(PAGE).expect("an index");
        assert_eq!(index.sid.as_deref(), Some("763015"));
        let nodes: Vec<_> =
            index.columns.iter().map(|n| (n.id, n.parent, n.path.as_str(), n.is_list())).collect();
        assert_eq!(
            nodes,
            [
                (21022, 0, "建设项目环评", false),
                (21023, 21022, "建设项目环评/受理公告", true),
                (21024, 21022, "建设项目环评/链接", false),
                (5, 0, "文件", true)
            ]
        );
        assert_eq!(index.columns[1].post_count, Some(203));
        assert_eq!(index.columns[2].jump_url.as_deref(), Some("https://b.cn/x"));
    }

    #[test]
    fn the_tree_may_be_text_and_children_may_be_numbered() {
        let page =
            r#"window._CONFIG = {TREE: '[{"id":1,"name":"a","children":{"0":{"id":2},"2":{"id":3}}}]'}"#;
        let index = read(page).expect("an index");
        assert_eq!(
            index.columns.iter().map(|n| (n.id, n.path.as_str())).collect::<Vec<_>>(),
            [(1, "a"), (2, "a/2"), (3, "a/3")]
        );
    }

    #[test]
    fn a_page_that_says_nothing_of_the_kind_is_no_index() {
        for page in ["", "<html>", "window._CONFIG = {}", "window._CONFIG = {SID: 'x', TREE: {}}", "SID: '1'"]
        {
            assert_eq!(read(page), None, "{page}");
        }
    }
}
