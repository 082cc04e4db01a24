//! Whether a fetched page is an article worth keeping as `ready` (S2-40).

use crate::extract::ENOUGH_HTML;
use crate::model::ArticleStatus;

/// Characters of text that make an article.
pub(crate) const ENOUGH_TEXT: usize = 50;

/// What was found on a page.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Findings {
    /// Characters of text.
    pub text_chars: usize,
    /// Characters of content HTML, counted as far as [`ENOUGH_HTML`].
    pub html_chars: usize,
    /// Attachments that were downloaded.
    pub downloaded: usize,
    /// Attachments that the page names; one that could not be downloaded still shows that the
    /// article is real.
    pub attachments: usize,
    /// Images in the body: some notices are nothing but a scan.
    pub images: usize,
}

/// `ready` as soon as one of five signs of a real article is there.
///
/// ```
/// use dibao::crawl::verdict::{Findings, status};
/// use dibao::model::ArticleStatus;
/// let scan = Findings { images: 1, ..Findings::default() };
/// assert_eq!(status(scan), ArticleStatus::Ready);
/// ```
pub fn status(found: Findings) -> ArticleStatus {
    let ready = found.text_chars >= ENOUGH_TEXT
        || found.downloaded >= 1
        || found.attachments >= 1
        || found.images >= 1
        // A table of names or figures may hold little text and much markup.
        || found.html_chars >= ENOUGH_HTML;
    if ready { ArticleStatus::Ready } else { ArticleStatus::Failed }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_sign_alone_makes_an_article_ready_at_its_threshold() {
        let none = Findings::default();
        let table = [
            (none, false),
            (Findings { text_chars: 49, ..none }, false),
            (Findings { text_chars: 50, ..none }, true),
            (Findings { html_chars: 499, ..none }, false),
            (Findings { html_chars: 500, ..none }, true),
            (Findings { downloaded: 1, ..none }, true),
            (Findings { attachments: 1, ..none }, true),
            (Findings { images: 1, ..none }, true),
        ];
        for (found, ready) in table {
            assert_eq!(status(found) == ArticleStatus::Ready, ready, "{found:?}");
        }
    }
}
