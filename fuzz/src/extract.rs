//! Input: a line with the page's address, one with its `content-type`, then the page.

use dibao::Timestamp;
use dibao::extract::{self, Options};

/// 2026-05-28.
const NOW: Timestamp = Timestamp(1_780_000_000_000);

pub fn run(data: &[u8]) {
    let ([url, content_type], page) = super::lines(data);
    let mut options = Options { formats: true, ..Options::at(NOW) };
    options.content_type = Some(super::text(content_type));
    let url = super::text(url);
    let article = extract::page(page, &url, &options);
    let again = extract::page(page, &url, &options);
    assert_eq!(article.text, again.text, "the same page is the same article");
    assert_eq!(article.provenance, again.provenance);

    // Every field says where it came from.
    let has = |field: &str| article.provenance.contains_key(field);
    assert!(article.title.is_none() || has("title"));
    assert!(article.source.is_none() || has("source"));
    assert!(article.author.is_none() || has("author"));
    assert!(article.text.is_empty() || has("content"), "{:?}", article.text);
    for proof in article.provenance.values() {
        assert!((0.0..=1.0).contains(&proof.confidence), "{proof:?}");
        assert!(proof.offset.is_none_or(|at| at <= 3 * page.len()), "{proof:?}");
    }
    if let Some(published) = &article.published {
        assert!(has("published"));
        assert!(published.date.as_str() >= "1949-10-01", "{published:?}");
        // The site's day may have begun already.
        assert!(published.at.0 <= NOW.0 + 86_400_000, "{published:?}");
    }
    let html = article.html.to_ascii_lowercase();
    for dead in ["<script", "<style", "<iframe", "<object", "<form", "\"javascript:", "\"data:"] {
        assert!(!html.contains(dead), "{dead} in {html:?}");
    }
    for (address, _) in &article.attachments {
        assert!(matches!(address.scheme(), "http" | "https"), "{address}");
    }
}
