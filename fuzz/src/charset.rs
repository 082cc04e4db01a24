//! Input: a line with a `content-type`, then a page.

use dibao::extract::decode;

/// Ends what came before it, whatever that was: no encoding takes a line feed for the second half of a character.
const MARK: &str = "\n<p>ASCII 0123456789 stays</p>";

pub fn run(data: &[u8]) {
    let ([content_type], page) = super::lines(data);
    let content_type = super::text(content_type);
    for content_type in [None, Some(content_type.as_str())] {
        let decoded = decode(page, content_type);
        assert_eq!(decoded, decode(page, content_type), "the same bytes are the same text");
        assert!(decoded.replaced <= decoded.text.chars().count());
        assert!(decoded.text.len() <= 4 + 3 * page.len(), "{} from {}", decoded.text.len(), page.len());

        let named = decoded.encoding;
        // UTF-16 has its own line feeds, ISO-2022-JP may be in the midst of a mode, and HZ is written in ASCII.
        if modal(named) {
            continue;
        }
        if page.is_ascii() {
            assert_eq!(decoded.text.as_bytes(), page, "ASCII is ASCII in {named}");
        }
        if named == "UTF-8" && decoded.replaced == 0 {
            let plain = page.strip_prefix(b"\xef\xbb\xbf").unwrap_or(page);
            assert_eq!(decoded.text.as_bytes(), plain);
        }
        let longer = [page, MARK.as_bytes()].concat();
        let again = decode(&longer, content_type);
        if !modal(again.encoding) {
            assert!(again.text.ends_with(MARK), "{}: {:?}", again.encoding, again.text);
        }
    }
}

fn modal(encoding: &str) -> bool {
    encoding.starts_with("UTF-16") || matches!(encoding, "ISO-2022-JP" | "HZ-GB-2312")
}
