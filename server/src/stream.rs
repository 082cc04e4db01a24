//! A connection's bytes, watched: who does not take his answer is not waited for.

use std::future::Future;
use std::io;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};
use std::time::Duration;

use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};
use tokio::time::{Sleep, sleep};

use crate::places::{Doing, Line};

/// How long an answer may wait for the client to take any of it. Live events that nobody makes wait for nothing.
pub const STALLED: Duration = Duration::from_secs(30);

/// A stream whose moves its line knows.
pub struct Watched<S> {
    stream: S,
    line: Arc<Line>,
    stalled: Option<Pin<Box<Sleep>>>,
}

impl<S> Watched<S> {
    pub fn new(stream: S, line: Arc<Line>) -> Watched<S> {
        Watched { stream, line, stalled: None }
    }

    fn wrote<T>(&mut self, context: &mut Context<'_>, done: Poll<io::Result<T>>) -> Poll<io::Result<T>> {
        if done.is_ready() {
            if self.stalled.take().is_some() {
                self.line.does(Doing::Waiting);
            }
            self.line.moved();
            return done;
        }
        let line = &self.line;
        let stalled = self.stalled.get_or_insert_with(|| {
            line.does(Doing::Nothing);
            Box::pin(sleep(STALLED))
        });
        match stalled.as_mut().poll(context) {
            Poll::Ready(()) => {
                let words = "the client does not take its answer";
                Poll::Ready(Err(io::Error::new(io::ErrorKind::TimedOut, words)))
            }
            Poll::Pending => Poll::Pending,
        }
    }
}

impl<S: AsyncRead + Unpin> AsyncRead for Watched<S> {
    fn poll_read(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        buffer: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        let before = buffer.filled().len();
        let done = Pin::new(&mut self.stream).poll_read(context, buffer);
        if buffer.filled().len() > before {
            self.line.moved();
        }
        done
    }
}

impl<S: AsyncWrite + Unpin> AsyncWrite for Watched<S> {
    fn poll_write(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        bytes: &[u8],
    ) -> Poll<io::Result<usize>> {
        let done = Pin::new(&mut self.stream).poll_write(context, bytes);
        self.wrote(context, done)
    }

    fn poll_write_vectored(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        parts: &[io::IoSlice<'_>],
    ) -> Poll<io::Result<usize>> {
        let done = Pin::new(&mut self.stream).poll_write_vectored(context, parts);
        self.wrote(context, done)
    }

    fn is_write_vectored(&self) -> bool {
        self.stream.is_write_vectored()
    }

    fn poll_flush(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_flush(context)
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_shutdown(context)
    }
}

#[cfg(test)]
mod tests {
    use tokio::io::{AsyncReadExt, AsyncWriteExt, duplex};
    use tokio::time::timeout;

    use super::*;
    use crate::places::Places;

    #[tokio::test(start_paused = true)]
    async fn who_takes_nothing_is_let_go_and_who_takes_a_little_is_not() {
        let place = Arc::new(Places::new(1)).take([10, 0, 0, 1].into());
        let (near, mut far) = duplex(8);
        let mut near = Watched::new(near, place.line.clone());
        place.line.does(Doing::Waiting);
        let writing = tokio::spawn(async move {
            let done = near.write_all(&[7; 32]).await;
            (near, done)
        });
        let mut eight = [0; 8];
        for _ in 0..3 {
            sleep(STALLED / 2).await;
            assert!(place.line.is_new(), "it stands still");
            far.read_exact(&mut eight).await.unwrap();
        }
        let (mut near, done) = writing.await.unwrap();
        done.unwrap();
        assert!(!place.line.is_new());
        let refused = timeout(STALLED * 2, near.write_all(&[7; 32])).await.expect("it ends by itself");
        assert_eq!(refused.unwrap_err().kind(), io::ErrorKind::TimedOut);
    }
}
