//! The little of the selector language that is needed to name an alternative or to rewrite one. Selecting
//! itself is the host's.

/// The parts between commas that are outside of brackets and quotes.
pub fn alternatives(css: &str) -> Vec<&str> {
    let (mut parts, mut start, mut depth, mut quote) = (Vec::new(), 0, 0u32, None);
    let mut bytes = css.bytes().enumerate();
    while let Some((at, byte)) = bytes.next() {
        match (quote, byte) {
            (_, b'\\') => {
                bytes.next();
            }
            (Some(mark), _) if byte == mark => quote = None,
            (Some(_), _) => {}
            (None, b'"' | b'\'') => quote = Some(byte),
            (None, b'(' | b'[') => depth += 1,
            (None, b')' | b']') => depth = depth.saturating_sub(1),
            (None, b',') if depth == 0 => {
                parts.push(css[start..at].trim());
                start = at + 1;
            }
            _ => {}
        }
    }
    parts.push(css[start..].trim());
    parts
}

/// An alternative without its `::text`, `::attr(…)` or `::html`.
pub fn without_ending(alternative: &str) -> &str {
    match alternative.rfind("::") {
        Some(at) if !alternative[at..].contains(['"', '\'', ']']) => alternative[..at].trim_end(),
        _ => alternative,
    }
}

/// The same alternatives, each asking for the node itself: a mark may have no text.
pub fn as_html(css: &str) -> String {
    let nodes: Vec<String> =
        alternatives(css).into_iter().map(|part| format!("{}::html", without_ending(part))).collect();
    nodes.join(", ")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_commas_outside_of_brackets_and_quotes_separate() {
        assert_eq!(
            alternatives("a:is(b, c)::text, d[x='1,2'],e\\,f , g[h=\"]\"]"),
            ["a:is(b, c)::text", "d[x='1,2']", "e\\,f", "g[h=\"]\"]"]
        );
    }

    #[test]
    fn endings_are_cut_and_attributes_that_look_like_them_are_not() {
        assert_eq!(without_ending("h1 > a::attr(title)"), "h1 > a");
        assert_eq!(without_ending("a[href='x::y']"), "a[href='x::y']");
        assert_eq!(as_html("em.zd::text, img"), "em.zd::html, img::html");
    }
}
