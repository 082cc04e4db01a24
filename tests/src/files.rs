//! Attachments: small files that open as what they claim to be, made from a key. Where they lie on a
//! site is the families' business.

use bytes::Bytes;
use flate2::Crc;

use crate::seed::Chance;
use crate::text;

/// The two kinds of file these sites hang on their posts.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Kind {
    Pdf,
    Docx,
}

/// One file of one post.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Attachment {
    /// Its place among the post's files.
    pub(crate) ordinal: usize,
    pub(crate) kind: Kind,
    /// The Chinese name a reader sees, without extension.
    pub(crate) title: String,
    /// Equal keys are equal bytes.
    key: u64,
}

/// A file of its own for this post.
pub(crate) fn of_post(seed: u64, host: &str, id: u64, ordinal: usize, docx: bool) -> Attachment {
    let mut chance = Chance::new(seed, host, "file", id * 8 + ordinal as u64);
    let title = text::file_title(&mut chance, ordinal);
    Attachment { ordinal, kind: if docx { Kind::Docx } else { Kind::Pdf }, title, key: chance.next() }
}

/// The form every department attaches again: the same bytes under many addresses.
pub(crate) fn common(seed: u64, host: &str, ordinal: usize) -> Attachment {
    let key = Chance::new(seed, host, "common file", 0).next();
    Attachment {
        ordinal, kind: Kind::Pdf, title: format!("附件{}：政府信息公开申请表", ordinal + 1), key
    }
}

impl Attachment {
    pub(crate) fn extension(&self) -> &'static str {
        match self.kind {
            Kind::Pdf => "pdf",
            Kind::Docx => "docx",
        }
    }

    /// The name with its extension.
    pub(crate) fn name(&self) -> String {
        format!("{}.{}", self.title, self.extension())
    }

    pub(crate) fn mime(&self) -> &'static str {
        match self.kind {
            Kind::Pdf => "application/pdf",
            Kind::Docx => "application/vnd.openxmlformats-officedocument.wordprocessingml.document",
        }
    }

    /// 32 hex digits that stand for the content, as gov.cn names its files.
    pub(crate) fn digest(&self) -> String {
        let mut chance = Chance::new(self.key, "digest", self.extension(), self.ordinal as u64);
        format!("{:016x}{:016x}", chance.next(), chance.next())
    }

    pub(crate) fn bytes(&self) -> Bytes {
        let mut chance = Chance::new(self.key, "bytes", self.extension(), 0);
        match self.kind {
            Kind::Pdf => pdf(&mut chance),
            Kind::Docx => docx(&mut chance),
        }
        .into()
    }
}

/// A one-page PDF 1.4 with a correct cross-reference table.
fn pdf(chance: &mut Chance) -> Vec<u8> {
    let mut drawing = String::from("BT /F1 12 Tf 72 720 Td\n");
    for _ in 0..40 + chance.below(200) {
        drawing.push_str(&format!("({:016x}) Tj 0 -14 Td\n", chance.next()));
    }
    drawing.push_str("ET\n");
    let objects = [
        "<< /Type /Catalog /Pages 2 0 R >>".to_owned(),
        "<< /Type /Pages /Kids [3 0 R] /Count 1 >>".to_owned(),
        "<< /Type /Page /Parent 2 0 R /MediaBox [0 0 595 842] /Contents 4 0 R /Resources << /Font << /F1 5 0 R >> >> >>".to_owned(),
        format!("<< /Length {} >>\nstream\n{drawing}endstream", drawing.len()),
        "<< /Type /Font /Subtype /Type1 /BaseFont /Helvetica >>".to_owned(),
    ];
    let mut out = b"%PDF-1.4\n%\xE2\xE3\xCF\xD3\n".to_vec();
    let mut offsets = Vec::new();
    for (number, object) in objects.iter().enumerate() {
        offsets.push(out.len());
        out.extend_from_slice(format!("{} 0 obj\n{object}\nendobj\n", number + 1).as_bytes());
    }
    let table = out.len();
    out.extend_from_slice(format!("xref\n0 {}\n0000000000 65535 f \n", objects.len() + 1).as_bytes());
    for offset in offsets {
        out.extend_from_slice(format!("{offset:010} 00000 n \n").as_bytes());
    }
    let trailer =
        format!("trailer\n<< /Size {} /Root 1 0 R >>\nstartxref\n{table}\n%%EOF\n", objects.len() + 1);
    out.extend_from_slice(trailer.as_bytes());
    out
}

/// The smallest Word document that Word opens: three parts in a zip.
fn docx(chance: &mut Chance) -> Vec<u8> {
    let mut text = String::new();
    for _ in 0..4 + chance.below(12) {
        text.push_str("<w:p><w:r><w:t>");
        text::paragraph(chance, &mut text);
        text.push_str("</w:t></w:r></w:p>");
    }
    zip(&[
        (
            "[Content_Types].xml",
            r#"<?xml version="1.0" encoding="UTF-8" standalone="yes"?><Types xmlns="http://schemas.openxmlformats.org/package/2006/content-types"><Default Extension="rels" ContentType="application/vnd.openxmlformats-package.relationships+xml"/><Override PartName="/word/document.xml" ContentType="application/vnd.openxmlformats-officedocument.wordprocessingml.document.main+xml"/></Types>"#,
        ),
        (
            "_rels/.rels",
            r#"<?xml version="1.0" encoding="UTF-8" standalone="yes"?><Relationships xmlns="http://schemas.openxmlformats.org/package/2006/relationships"><Relationship Id="rId1" Type="http://schemas.openxmlformats.org/officeDocument/2006/relationships/officeDocument" Target="word/document.xml"/></Relationships>"#,
        ),
        (
            "word/document.xml",
            &format!(
                r#"<?xml version="1.0" encoding="UTF-8" standalone="yes"?><w:document xmlns:w="http://schemas.openxmlformats.org/wordprocessingml/2006/main"><w:body>{text}</w:body></w:document>"#
            ),
        ),
    ])
}

/// A zip archive whose members are stored uncompressed; its clock stands at 1980, so equal members are equal bytes.
fn zip(members: &[(&str, &str)]) -> Vec<u8> {
    const DAY_ONE: u16 = 0x21; // 1980-01-01 in MS-DOS form
    let (mut out, mut directory) = (Vec::new(), Vec::new());
    for (name, content) in members {
        let mut crc = Crc::new();
        crc.update(content.as_bytes());
        let mut facts = Vec::new();
        for half in [20u16, 0x0800, 0, 0, DAY_ONE] {
            facts.extend_from_slice(&half.to_le_bytes()); // version, UTF-8 names, stored, time, date
        }
        for word in [crc.sum(), content.len() as u32, content.len() as u32] {
            facts.extend_from_slice(&word.to_le_bytes());
        }
        facts.extend_from_slice(&(name.len() as u16).to_le_bytes());
        facts.extend_from_slice(&0u16.to_le_bytes());
        let offset = out.len() as u32;
        out.extend_from_slice(b"PK\x03\x04");
        out.extend_from_slice(&facts);
        out.extend_from_slice(name.as_bytes());
        out.extend_from_slice(content.as_bytes());
        directory.extend_from_slice(b"PK\x01\x02\x14\x00");
        directory.extend_from_slice(&facts);
        directory.extend_from_slice(&[0; 10]); // comment length, disk, attributes
        directory.extend_from_slice(&offset.to_le_bytes());
        directory.extend_from_slice(name.as_bytes());
    }
    let (start, count) = (out.len() as u32, members.len() as u16);
    out.extend_from_slice(&directory);
    out.extend_from_slice(b"PK\x05\x06\0\0\0\0");
    out.extend_from_slice(&count.to_le_bytes());
    out.extend_from_slice(&count.to_le_bytes());
    out.extend_from_slice(&(directory.len() as u32).to_le_bytes());
    out.extend_from_slice(&start.to_le_bytes());
    out.extend_from_slice(&[0; 2]);
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn equal_keys_are_equal_bytes_whatever_the_post() {
        assert_eq!(common(1, "h", 0).bytes(), common(1, "h", 2).bytes());
        assert_ne!(of_post(1, "h", 10, 0, false).bytes(), of_post(1, "h", 11, 0, false).bytes());
        assert_ne!(of_post(1, "h", 10, 0, true).bytes(), of_post(1, "h", 11, 0, true).bytes());
    }

    #[test]
    fn files_look_like_what_they_claim_to_be() {
        let pdf = of_post(1, "h", 10, 0, false).bytes();
        assert!(pdf.starts_with(b"%PDF-1.4") && pdf.ends_with(b"%%EOF\n"));
        let docx = of_post(1, "h", 10, 0, true).bytes();
        assert!(docx.starts_with(b"PK\x03\x04"));
        assert_eq!(&docx[docx.len() - 22..docx.len() - 18], b"PK\x05\x06");
    }
}
