//! Lists of the Hanweb kind (`/col/col1/index.html`): the rows lie in a script as `<record><![CDATA[<li>…</li>]]></record>`, where no
//! selector finds them. Here they are taken out of their wrapping, so that `recordset li` finds them; what a row is remains the
//! selectors' business.

use dibao_adapter::{Host, Reply};

const OPEN: &str = "<![CDATA[";
const CLOSE: &str = "]]>";

/// The rows of such a list as a piece of HTML; none where a page is of another kind.
pub fn unwrapped(host: &impl Host, reply: &Reply) -> Option<String> {
    let marked = reply.body.windows(10).any(|window| window.eq_ignore_ascii_case(b"<recordset"));
    if !marked {
        return None;
    }
    let kind = reply.headers.iter().find(|(name, _)| name == "content-type").map(|(_, value)| value.as_str());
    records(&host.decode(&reply.body, kind))
}

fn records(page: &str) -> Option<String> {
    // `to_ascii_lowercase` keeps every byte in its place.
    let lower = page.to_ascii_lowercase();
    let start = lower.find("<recordset")?;
    let end = lower[start..].find("</recordset").map_or(page.len(), |at| start + at);
    let mut rest = &page[start..end];
    let mut rows = String::new();
    while let Some((_, inside)) = rest.split_once(OPEN) {
        let (row, after) = inside.split_once(CLOSE).unwrap_or((inside, ""));
        rows.push_str(row);
        rest = after;
    }
    let around = if rows.trim_start().get(..3).is_some_and(|tag| tag.eq_ignore_ascii_case("<tr")) {
        "table"
    } else {
        "ul"
    };
    (!rows.is_empty()).then(|| format!("<recordset><{around}>{rows}</{around}></recordset>"))
}

#[cfg(test)]
mod tests {
    use super::records;

    #[test]
    fn rows_are_what_lies_in_the_records_and_nothing_around_them() {
        let page = "<nextgroup><![CDATA[<a href='/module/jpage/dataproxy.jsp?page=1'></a>]]></nextgroup>\
            <RecordSet><record><![CDATA[<li>一</li>]]></record>\n<record><![CDATA[<li>二</li>]]></record></RecordSet><![CDATA[x]]>";
        assert_eq!(records(page).as_deref(), Some("<recordset><ul><li>一</li><li>二</li></ul></recordset>"));
        assert_eq!(
            records("<recordset><record><![CDATA[<TR><td>").as_deref(),
            Some("<recordset><table><TR><td></table></recordset>")
        );
        for none in ["", "<recordset>", "<recordset></recordset><![CDATA[x]]>", "<li>一</li>"] {
            assert_eq!(records(none), None, "{none}");
        }
    }
}
