//! A file that grows by a line of JSON per message, on the disk before it counts as delivered.

use std::fs::OpenOptions;
use std::io::Write as _;
use std::path::PathBuf;

use futures::future::BoxFuture;

use super::{Delivery, DeliveryError, Receipt};
use crate::deliver::message::Message;
use crate::error::ErrorClass;

pub(in super::super) struct Lines {
    pub path: PathBuf,
}

impl Delivery for Lines {
    fn send<'a>(&'a self, message: &'a Message) -> BoxFuture<'a, Result<Receipt, DeliveryError>> {
        Box::pin(async move {
            let mut line = serde_json::to_vec(message)
                .map_err(|error| DeliveryError::new(ErrorClass::Config, error.to_string()))?;
            line.push(b'\n');
            let path = self.path.clone();
            let written = tokio::task::spawn_blocking(move || -> std::io::Result<u64> {
                let mut file = OpenOptions::new().append(true).create(true).open(&path)?;
                // One call: two processes that append do not mix their lines.
                file.write_all(&line)?;
                file.sync_data()?;
                Ok(file.metadata()?.len())
            });
            // A full disk may have room tomorrow, so this is worth another try.
            let failed = |words: String| {
                DeliveryError::new(ErrorClass::Busy, format!("{}: {words}", self.path.display()))
            };
            match written.await {
                Ok(Ok(size)) => Ok(Receipt(format!("{} bytes in {}", size, self.path.display()))),
                Ok(Err(error)) => Err(failed(error.to_string())),
                Err(error) => Err(failed(error.to_string())),
            }
        })
    }
}
