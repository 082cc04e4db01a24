//! The files of an article: streamed, hashed, stored once per content (S2-39, S2-66).

use std::collections::HashSet;

use futures::{StreamExt, stream};
use url::Url;

use super::context::CrawlContext;
use super::filename::{filename_for, mime_for};
use crate::fetch::{Expects, Purpose};
use crate::model::{Attachment, DownloadStatus, Entry, RequestLog};
use crate::store::{Blob, layout};

/// Two at a time (S2-39): enough to hide latency, few enough not to look like an attack.
pub(super) const FILES_AT_ONCE: usize = 2;
/// A page that names more files than this is a directory, not an article.
const MAX_FILES: usize = 200;

/// Downloads every file; a file that cannot be had is recorded as such and costs nothing else.
pub(super) async fn download_all(
    ctx: &CrawlContext,
    entry: &Entry,
    links: Vec<(Url, Option<String>)>,
    log: &mut Vec<RequestLog>,
) -> Vec<Attachment> {
    let done: Vec<(Attachment, Option<Blob>, Vec<RequestLog>)> =
        stream::iter(links.into_iter().take(MAX_FILES))
            .map(|(url, name)| download(ctx, url, name))
            .buffered(FILES_AT_ONCE)
            .collect()
            .await;
    let mut taken = HashSet::new();
    let mut attachments = Vec::with_capacity(done.len());
    for (mut attachment, blob, lines) in done {
        log.extend(lines);
        // Unique within the article, and the same on every try: the order is that of the page.
        attachment.filename = layout::unique_filename(&attachment.filename, &mut taken);
        if let Some(blob) = blob {
            let rel =
                layout::attachment_path(&ctx.site.code, &ctx.target.code, entry.id, &attachment.filename);
            match ctx.files.link(&blob, &rel).await {
                Ok(()) => attachment.file_path = Some(rel),
                Err(error) => fail(&mut attachment, error.to_string()),
            }
        }
        attachments.push(attachment);
    }
    attachments
}

async fn download(
    ctx: &CrawlContext,
    url: Url,
    name: Option<String>,
) -> (Attachment, Option<Blob>, Vec<RequestLog>) {
    let mut attachment = Attachment {
        url: url.to_string(),
        filename: filename_for(name.as_deref(), &url, None),
        file_path: None,
        mime: None,
        size_bytes: None,
        sha256: None,
        status: DownloadStatus::Failed,
        error: None,
    };
    let ask = ctx.ask(Purpose::Attachment, url.clone(), Expects::Any);
    let mut blob = match ctx.files.blob().await {
        Ok(blob) => blob,
        Err(error) => {
            fail(&mut attachment, error.to_string());
            return (attachment, None, Vec::new()); // nothing was asked for
        }
    };
    let fetched = match ctx.gate.download(&ask, &mut blob, ctx.attachment_cap).await {
        Ok(fetched) => fetched,
        Err(error) => {
            fail(&mut attachment, error.to_string());
            return (attachment, None, ctx.log_error(Purpose::Attachment, &url, &error));
        }
    };
    let (before, took) = ((&fetched.asides[..], &fetched.hops[..]), fetched.duration);
    let answer = (fetched.status, &fetched.verdict, "http");
    let mut lines = ctx.log_answer(Purpose::Attachment, before, &fetched.url, took, answer);
    let content_type = fetched.header("content-type").map(str::to_string);
    if fetched.status != 200 {
        fail(&mut attachment, format!("HTTP {}", fetched.status));
        return (attachment, None, lines);
    }
    if is_page_instead_of_file(&url, content_type.as_deref()) {
        let message = "the site sent a web page instead of the file";
        fail(&mut attachment, message.to_string());
        if let Some(last) = lines.last_mut() {
            (last.success, last.error) = (false, Some(message.to_string()));
        }
        return (attachment, None, lines);
    }
    let disposition = fetched.header("content-disposition").map(str::to_string);
    attachment.filename = filename_for(name.as_deref(), &url, disposition.as_deref());
    attachment.mime = mime_for(content_type.as_deref(), &attachment.filename);
    match blob.finish().await {
        Ok(stored) => {
            attachment.sha256 = Some(stored.sha256.clone());
            attachment.size_bytes = Some(stored.size);
            attachment.status = DownloadStatus::Done;
            (attachment, Some(stored), lines)
        }
        Err(error) => {
            fail(&mut attachment, error.to_string());
            (attachment, None, lines)
        }
    }
}

fn fail(attachment: &mut Attachment, why: String) {
    attachment.status = DownloadStatus::Failed;
    attachment.error = Some(why);
}

/// Block pages and "not found" pages come with status 200 and a web page where a file was asked.
fn is_page_instead_of_file(url: &Url, content_type: Option<&str>) -> bool {
    let is_page =
        content_type.is_some_and(|kind| kind.trim_start().to_ascii_lowercase().starts_with("text/html"));
    let path = url.path().to_ascii_lowercase();
    is_page && !path.ends_with(".html") && !path.ends_with(".htm") && !path.ends_with(".shtml")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_web_page_where_a_file_was_asked_is_told_from_a_file() {
        let url = |text: &str| Url::parse(text).unwrap();
        assert!(is_page_instead_of_file(&url("https://a.gov.cn/x.pdf"), Some("text/html; charset=utf-8")));
        assert!(is_page_instead_of_file(&url("https://a.gov.cn/download?id=1"), Some("Text/HTML")));
        assert!(!is_page_instead_of_file(&url("https://a.gov.cn/x.pdf"), Some("application/pdf")));
        assert!(!is_page_instead_of_file(&url("https://a.gov.cn/x.html"), Some("text/html")));
        assert!(!is_page_instead_of_file(&url("https://a.gov.cn/x.pdf"), None));
    }
}
