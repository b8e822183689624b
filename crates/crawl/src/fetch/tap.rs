//! Stream that keeps the heads passing through it as bytes, and bounds the response head.

use std::io;
use std::pin::Pin;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::task::{Context, Poll, ready};

use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};

use super::head::{head_len, is_interim};

/// The heads of the exchange under way.
#[derive(Default)]
pub(super) struct Heads {
    pub(super) request: Vec<u8>,
    request_done: bool,
    pub(super) response: Vec<u8>,
    response_done: bool,
    /// Bytes of interim responses.
    interim_bytes: usize,
    /// The head exceeded its limit.
    pub(super) overflow: bool,
}

impl Heads {
    fn sent(&mut self, bytes: &[u8], limit: usize) {
        if self.request_done || self.request.len() > limit {
            return;
        }
        let from = self.request.len();
        self.request.extend_from_slice(bytes);
        if let Some(len) = head_len(&self.request, from) {
            self.request.truncate(len);
            self.request_done = true;
        }
    }

    fn received(&mut self, bytes: &[u8], limit: usize) -> io::Result<()> {
        if self.response_done {
            return Ok(());
        }
        let mut from = self.response.len();
        self.response.extend_from_slice(bytes);
        while let Some(len) = head_len(&self.response, from) {
            if !is_interim(&self.response[..len]) {
                self.response.truncate(len);
                self.response_done = true;
                break;
            }
            self.response.drain(..len);
            self.interim_bytes += len;
            from = 0;
            if self.interim_bytes > limit {
                break;
            }
        }
        if self.interim_bytes + self.response.len() > limit {
            self.overflow = true;
            return Err(io::Error::other("response head larger than permitted"));
        }
        Ok(())
    }
}

/// The heads, shared between the stream and the fetch.
#[derive(Clone, Default)]
pub(super) struct SharedHeads(Arc<Mutex<Heads>>);

impl SharedHeads {
    pub(super) fn lock(&self) -> MutexGuard<'_, Heads> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Forgets the exchange before.
    pub(super) fn begin(&self) {
        *self.lock() = Heads::default();
    }
}

/// The stream.
pub(super) struct Tap<S> {
    pub(super) inner: S,
    pub(super) heads: SharedHeads,
    pub(super) limit: usize,
}

impl<S: AsyncRead + Unpin> AsyncRead for Tap<S> {
    fn poll_read(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        buf: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        let before = buf.filled().len();
        ready!(Pin::new(&mut self.inner).poll_read(cx, buf))?;
        Poll::Ready(
            self.heads
                .lock()
                .received(&buf.filled()[before..], self.limit),
        )
    }
}

impl<S: AsyncWrite + Unpin> AsyncWrite for Tap<S> {
    fn poll_write(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        buf: &[u8],
    ) -> Poll<io::Result<usize>> {
        let written = ready!(Pin::new(&mut self.inner).poll_write(cx, buf))?;
        self.heads.lock().sent(&buf[..written], self.limit);
        Poll::Ready(Ok(written))
    }

    fn poll_flush(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.inner).poll_flush(cx)
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.inner).poll_shutdown(cx)
    }
}
