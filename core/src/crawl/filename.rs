//! What a downloaded file is called and of what type it is. Pure.
//!
//! The name that people see comes first: link text or `alt`, as the page shows it; then what the
//! server calls it; then the last part of its address. The extension comes from whichever of these
//! has one, because a link text seldom does.

use std::path::Path;

use url::Url;

use crate::extract::charset;
use crate::store::layout::safe_filename;

/// `%E6%8A%A5` and what older servers write in GBK.
fn decode_percent(text: &str) -> String {
    let bytes: Vec<u8> = percent_encoding::percent_decode_str(text).collect();
    charset::decode(&bytes, None).text.into_owned()
}

/// The name of a file.
pub fn filename_for(shown: Option<&str>, url: &Url, disposition: Option<&str>) -> String {
    let from_url = url.path_segments().and_then(|mut parts| parts.next_back()).map(decode_percent);
    let from_header = disposition.and_then(disposition_filename);
    let from_url = from_url.filter(|name| !name.is_empty());
    let shown = shown.map(str::trim).filter(|name| !name.is_empty());
    let name = shown.map(str::to_string).or(from_header.clone()).or(from_url.clone());
    let mut name = name.unwrap_or_else(|| "attachment".to_string());
    if extension(&name).is_none() {
        let known = [from_header.as_deref(), from_url.as_deref()];
        if let Some(ending) = known.into_iter().flatten().find_map(extension) {
            name = format!("{name}.{ending}");
        }
    }
    safe_filename(&name)
}

/// The media type: the header's word, unless it says nothing, then the suffix (S2-39).
pub fn mime_for(content_type: Option<&str>, filename: &str) -> Option<String> {
    let header = content_type
        .map(|value| value.split(';').next().unwrap_or("").trim().to_ascii_lowercase())
        .filter(|value| value.contains('/') && value.len() <= 100)
        .filter(|value| !matches!(value.as_str(), "application/octet-stream" | "application/x-download"));
    header.or_else(|| extension(filename).and_then(|ending| mime_of_suffix(&ending)).map(str::to_string))
}

/// The suffixes of official attachments; anything else keeps the header's word.
fn mime_of_suffix(suffix: &str) -> Option<&'static str> {
    Some(match suffix.to_ascii_lowercase().as_str() {
        "pdf" => "application/pdf",
        "doc" | "wps" => "application/msword",
        "docx" => "application/vnd.openxmlformats-officedocument.wordprocessingml.document",
        "xls" | "et" => "application/vnd.ms-excel",
        "xlsx" => "application/vnd.openxmlformats-officedocument.spreadsheetml.sheet",
        "ppt" => "application/vnd.ms-powerpoint",
        "pptx" => "application/vnd.openxmlformats-officedocument.presentationml.presentation",
        "ofd" => "application/ofd",
        "zip" => "application/zip",
        "rar" => "application/vnd.rar",
        "7z" => "application/x-7z-compressed",
        "csv" => "text/csv",
        "txt" => "text/plain",
        "jpg" | "jpeg" => "image/jpeg",
        "png" => "image/png",
        "gif" => "image/gif",
        "mp4" => "video/mp4",
        "mp3" => "audio/mpeg",
        _ => return None,
    })
}

/// 1 to 5 ASCII letters or digits after the last dot, at least one of them a letter: `第2.1` is no
/// file name with an extension.
fn extension(name: &str) -> Option<String> {
    let ending = Path::new(name).extension()?.to_str()?;
    let sane = ending.len() <= 5
        && ending.bytes().all(|byte| byte.is_ascii_alphanumeric())
        && ending.bytes().any(|byte| byte.is_ascii_alphabetic());
    sane.then(|| ending.to_string())
}

/// `filename*=UTF-8''…` (RFC 5987), then `filename="…"`.
fn disposition_filename(header: &str) -> Option<String> {
    let parameter = |name: &str| {
        header.split(';').skip(1).find_map(|part| {
            let (key, value) = part.split_once('=')?;
            key.trim().eq_ignore_ascii_case(name).then(|| value.trim().trim_matches('"').to_string())
        })
    };
    let extended = parameter("filename*").and_then(|value| {
        let encoded = value.splitn(3, '\'').nth(2)?.to_string();
        Some(decode_percent(&encoded))
    });
    extended
        .or_else(|| parameter("filename").map(|value| decode_percent(&value)))
        .filter(|name| !name.is_empty())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn url(text: &str) -> Url {
        Url::parse(text).unwrap()
    }

    #[test]
    fn the_shown_name_wins_and_takes_the_extension_of_the_file() {
        let at = url("https://a.gov.cn/P020260410.pdf");
        assert_eq!(filename_for(Some("附件1 报名表"), &at, None), "附件1 报名表.pdf");
        assert_eq!(filename_for(Some("报名表.docx"), &at, None), "报名表.docx");
        assert_eq!(filename_for(None, &at, None), "P020260410.pdf");
        assert_eq!(filename_for(Some("第2.1"), &at, None), "第2.1.pdf");
    }

    #[test]
    fn the_server_names_a_file_whose_address_does_not() {
        let at = url("https://a.gov.cn/download?id=7");
        let header = "attachment; filename=\"x.doc\"; filename*=UTF-8''%E6%8A%A5%E5%91%8A.doc";
        assert_eq!(filename_for(None, &at, Some(header)), "报告.doc");
        assert_eq!(filename_for(Some("附件"), &at, Some(header)), "附件.doc");
        assert_eq!(filename_for(None, &url("https://a.gov.cn/"), None), "attachment");
    }

    #[test]
    fn a_vague_media_type_gives_way_to_the_suffix() {
        assert_eq!(mime_for(Some("application/pdf; q=1"), "a.doc").as_deref(), Some("application/pdf"));
        assert_eq!(mime_for(Some("application/octet-stream"), "a.PDF").as_deref(), Some("application/pdf"));
        assert_eq!(mime_for(None, "a.ofd").as_deref(), Some("application/ofd"));
        assert_eq!(mime_for(None, "a"), None);
    }

    proptest::proptest! {
        #[test]
        fn a_hostile_name_never_leaves_the_directory(
            shown in proptest::option::of(".*"), path in ".*", header in proptest::option::of(".*"),
        ) {
            if let Ok(url) = url("https://a.gov.cn/").join(&path) {
                let name = filename_for(shown.as_deref(), &url, header.as_deref());
                proptest::prop_assert!(!name.is_empty() && !name.contains(['/', '\\', '\0']) && name != "..");
            }
        }
    }
}
