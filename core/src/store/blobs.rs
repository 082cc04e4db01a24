//! Bytes that are kept once: written as they arrive, named by their sha256 when they are whole (S2-66, I8).

use std::fs;
use std::path::PathBuf;
use std::pin::Pin;
use std::task::{Context, Poll, ready};

use sha2::{Digest, Sha256};
use tokio::io::{AsyncWrite, AsyncWriteExt};

use super::error::StoreError;
use super::files::{Durability, Files, blocking};
use super::layout;
use super::sanitize::hex;

/// Bytes that are stored.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Blob {
    /// Of its bytes, in hex.
    pub sha256: String,
    /// In bytes.
    pub size: u64,
    /// Relative to the data directory.
    pub path: String,
}

/// A blob that is being written. Dropped before [`BlobWriter::finish`], it leaves nothing.
#[derive(Debug)]
pub struct BlobWriter {
    files: Files,
    file: tokio::fs::File,
    tmp: Option<PathBuf>,
    hash: Sha256,
    size: u64,
}

impl BlobWriter {
    pub(super) async fn begin(files: Files) -> Result<BlobWriter, StoreError> {
        let tmp = files.tmp_path();
        let file = tokio::fs::File::create_new(&tmp).await.map_err(|error| StoreError::io(&tmp, error))?;
        Ok(BlobWriter { files, file, tmp: Some(tmp), hash: Sha256::new(), size: 0 })
    }

    /// How many bytes were written so far.
    pub fn size(&self) -> u64 {
        self.size
    }

    /// Ends the blob and keeps it, unless the same bytes are kept already.
    pub async fn finish(mut self) -> Result<Blob, StoreError> {
        let Some(tmp) = self.tmp.clone() else { return Err(StoreError::Closed) };
        let fail = |error| StoreError::io(&tmp, error);
        self.file.flush().await.map_err(fail)?;
        // At once, not with the next commit: a blob is trusted by its name and size ever after.
        if self.files.durability() == Durability::Power {
            self.file.sync_data().await.map_err(fail)?;
        }
        let sha256 = hex(&std::mem::take(&mut self.hash).finalize());
        let blob = Blob { path: layout::blob_path(&sha256), size: self.size, sha256 };
        let (files, kept) = (self.files.clone(), blob.clone());
        blocking(move || {
            let path = files.place(&kept.path)?;
            // Same name, same size: the same bytes. A wrong size is damage, and the new bytes heal it.
            if fs::metadata(&path).is_ok_and(|there| there.len() == kept.size) {
                let _ = fs::remove_file(&tmp);
                return Ok(());
            }
            files.rename(&tmp, &path, &kept.path).map_err(|error| StoreError::io(&path, error))
        })
        .await?;
        self.tmp = None;
        Ok(blob)
    }
}

impl AsyncWrite for BlobWriter {
    fn poll_write(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        bytes: &[u8],
    ) -> Poll<std::io::Result<usize>> {
        let written = ready!(Pin::new(&mut self.file).poll_write(cx, bytes))?;
        self.hash.update(&bytes[..written]);
        self.size += written as u64;
        Poll::Ready(Ok(written))
    }

    fn poll_flush(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<std::io::Result<()>> {
        Pin::new(&mut self.file).poll_flush(cx)
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<std::io::Result<()>> {
        Pin::new(&mut self.file).poll_shutdown(cx)
    }
}

impl Drop for BlobWriter {
    fn drop(&mut self) {
        if let Some(tmp) = self.tmp.take() {
            let _ = fs::remove_file(tmp);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    async fn blob(files: &Files, bytes: &[u8]) -> Blob {
        let mut writer = files.blob().await.unwrap();
        for chunk in bytes.chunks(3) {
            writer.write_all(chunk).await.unwrap();
        }
        writer.finish().await.unwrap()
    }

    #[tokio::test]
    async fn equal_bytes_are_stored_once_and_linked_by_every_name() {
        let dir = tempfile::tempdir().unwrap();
        let files = Files::open(dir.path(), Durability::Power).unwrap();
        let (one, two) = (blob(&files, b"hello, world").await, blob(&files, b"hello, world").await);
        assert_eq!(one, two);
        assert_eq!(one.sha256, "09ca7e4eaa6e8ae9c7d261167129184883644d07dfba7cbfbc4c8a2e08360d5b");
        assert_eq!(one.size, 12);
        let names = ["attachments/s/t/1/附件.pdf", "attachments/s/t/2/other.pdf"];
        for name in names.iter().chain(&names) {
            files.link(&one, name).await.unwrap();
        }
        #[cfg(unix)]
        {
            use std::os::unix::fs::MetadataExt as _;
            assert_eq!(fs::metadata(dir.path().join(&one.path)).unwrap().nlink(), 3);
        }
        let other = blob(&files, b"newer").await;
        files.link(&other, names[0]).await.unwrap();
        assert_eq!(files.read(names[0]).await.unwrap(), b"newer");
        assert_eq!(files.read(names[1]).await.unwrap(), b"hello, world");
    }

    #[tokio::test]
    async fn a_blob_that_is_given_up_leaves_nothing() {
        let dir = tempfile::tempdir().unwrap();
        let files = Files::open(dir.path(), Durability::Process).unwrap();
        let mut writer = files.blob().await.unwrap();
        writer.write_all(b"half").await.unwrap();
        let tmp = writer.tmp.clone().unwrap();
        drop(writer);
        assert!(!tmp.exists());
        assert!(!dir.path().join("blobs").exists());
    }
}
