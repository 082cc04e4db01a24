//! A program of the operator's: the message as JSON on its standard input. No shell reads any of it.

use std::process::Stdio;
use std::time::Duration;

use futures::future::BoxFuture;
use tokio::io::{AsyncRead, AsyncReadExt as _, AsyncWriteExt as _};

use super::{Delivery, DeliveryError, Receipt};
use crate::deliver::message::Message;
use crate::error::ErrorClass;

/// What is kept of the program's words.
const MAX_ANSWER: u64 = 4_096;

pub(in super::super) struct Command {
    pub argv: Vec<String>,
    pub timeout: Duration,
}

impl Delivery for Command {
    fn send<'a>(&'a self, message: &'a Message) -> BoxFuture<'a, Result<Receipt, DeliveryError>> {
        Box::pin(async move {
            match tokio::time::timeout(self.timeout, self.run(message)).await {
                Ok(ended) => ended,
                // Dropping the future has killed it.
                Err(_) => {
                    let words = format!("it took longer than {} s", self.timeout.as_secs_f64());
                    Err(DeliveryError::new(ErrorClass::Network, words))
                }
            }
        })
    }
}

impl Command {
    async fn run(&self, message: &Message) -> Result<Receipt, DeliveryError> {
        let failed = |class, words: String| DeliveryError::new(class, words);
        let body =
            serde_json::to_vec(message).map_err(|error| failed(ErrorClass::Config, error.to_string()))?;
        let [program, arguments @ ..] = &self.argv[..] else {
            return Err(failed(ErrorClass::Config, "no program is named".to_owned()));
        };
        let mut child = tokio::process::Command::new(program)
            .args(arguments)
            .env("DIBAO_KEY", message.key.replace('\0', ""))
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .kill_on_drop(true)
            .spawn()
            .map_err(|error| failed(ErrorClass::Config, format!("{program}: {error}")))?;
        let (input, output, errors) = (child.stdin.take(), child.stdout.take(), child.stderr.take());
        let write = async move {
            // A program that does not read its input has ended; its exit code says how.
            if let Some(mut input) = input {
                let _ = input.write_all(&body).await;
                let _ = input.shutdown().await;
            }
        };
        let ((), said, complained, status) = tokio::join!(write, some(output), some(errors), child.wait());
        let status = status.map_err(|error| failed(ErrorClass::Server, format!("{program}: {error}")))?;
        match status.success() {
            true => Ok(Receipt(if said.is_empty() { "exit 0".to_owned() } else { said })),
            false => Err(failed(ErrorClass::Server, format!("{program}: {status}: {complained}"))),
        }
    }
}

/// The first words of a stream; the rest is read and thrown away, so that nobody waits for us.
async fn some(stream: Option<impl AsyncRead + Unpin>) -> String {
    let Some(mut stream) = stream else { return String::new() };
    let mut words = Vec::new();
    let _ = (&mut stream).take(MAX_ANSWER).read_to_end(&mut words).await;
    let _ = tokio::io::copy(&mut stream, &mut tokio::io::sink()).await;
    String::from_utf8_lossy(&words).trim().to_owned()
}
