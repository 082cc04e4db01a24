//! What elements are called, as far as it matters to what is left out of a page.

use html5ever::{LocalName, local_name};

/// Never has an end tag.
pub(super) fn is_void(name: &LocalName) -> bool {
    matches!(
        *name,
        local_name!("area")
            | local_name!("base")
            | local_name!("basefont")
            | local_name!("bgsound")
            | local_name!("br")
            | local_name!("col")
            | local_name!("embed")
            | local_name!("frame")
            | local_name!("hr")
            | local_name!("image")
            | local_name!("img")
            | local_name!("input")
            | local_name!("keygen")
            | local_name!("link")
            | local_name!("meta")
            | local_name!("param")
            | local_name!("source")
            | local_name!("track")
            | local_name!("wbr")
    )
}

/// What articles are made of, however many names a page has made up.
pub(super) fn is_usual(name: &LocalName) -> bool {
    is_void(name)
        || is_inline(name)
        || matches!(
            *name,
            local_name!("article")
                | local_name!("aside")
                | local_name!("blockquote")
                | local_name!("center")
                | local_name!("dd")
                | local_name!("div")
                | local_name!("dl")
                | local_name!("dt")
                | local_name!("footer")
                | local_name!("form")
                | local_name!("h1")
                | local_name!("h2")
                | local_name!("h3")
                | local_name!("h4")
                | local_name!("h5")
                | local_name!("h6")
                | local_name!("header")
                | local_name!("iframe")
                | local_name!("li")
                | local_name!("main")
                | local_name!("nav")
                | local_name!("ol")
                | local_name!("p")
                | local_name!("pre")
                | local_name!("script")
                | local_name!("section")
                | local_name!("style")
                | local_name!("table")
                | local_name!("tbody")
                | local_name!("td")
                | local_name!("th")
                | local_name!("time")
                | local_name!("tr")
                | local_name!("ul")
        )
}

/// What the parser opens again by itself; not links, of which it keeps one.
pub(super) fn is_formatting(name: &LocalName) -> bool {
    matches!(
        *name,
        local_name!("b")
            | local_name!("big")
            | local_name!("code")
            | local_name!("em")
            | local_name!("font")
            | local_name!("i")
            | local_name!("nobr")
            | local_name!("s")
            | local_name!("small")
            | local_name!("strike")
            | local_name!("strong")
            | local_name!("tt")
            | local_name!("u")
    )
}

/// Does not end the line.
pub(super) fn is_inline(name: &LocalName) -> bool {
    is_formatting(name)
        || matches!(
            *name,
            local_name!("a")
                | local_name!("abbr")
                | local_name!("cite")
                | local_name!("img")
                | local_name!("input")
                | local_name!("label")
                | local_name!("link")
                | local_name!("meta")
                | local_name!("span")
                | local_name!("sub")
                | local_name!("sup")
                | local_name!("wbr")
        )
}
