//! Content codings: layers of decoders over the body on the wire, each with a bound on its expansion.

use std::io;
use std::pin::Pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::task::{Context, Poll, ready};

use async_compression::tokio::bufread::{BrotliDecoder, GzipDecoder, ZlibDecoder, ZstdDecoder};
use async_compression::zstd::DParameter;
use bytes::{Buf, Bytes};
use hyper::body::{Body as _, Incoming};
use tokio::io::{AsyncBufRead, AsyncRead, BufReader, ReadBuf};

use super::limits::Limits;

/// Window of zstd that RFC 9659 permits for content codings: 8 MiB.
const ZSTD_WINDOW_LOG: u32 = 23;

/// A content coding.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Coding {
    Gzip,
    Brotli,
    Zstd,
    Deflate,
}

impl Coding {
    pub(super) fn name(self) -> &'static str {
        match self {
            Self::Gzip => "gzip",
            Self::Brotli => "br",
            Self::Zstd => "zstd",
            Self::Deflate => "deflate",
        }
    }

    /// Parses the values of `Content-Encoding`; `None` for a coding that is not known.
    pub(super) fn parse<'a>(values: impl Iterator<Item = &'a [u8]>) -> Option<Vec<Self>> {
        let mut codings = Vec::new();
        for name in values.flat_map(|value| value.split(|&byte| byte == b',')) {
            match name.trim_ascii().to_ascii_lowercase().as_slice() {
                b"" | b"identity" | b"none" | b"utf-8" => {}
                b"gzip" | b"x-gzip" => codings.push(Self::Gzip),
                b"br" => codings.push(Self::Brotli),
                b"zstd" => codings.push(Self::Zstd),
                b"deflate" => codings.push(Self::Deflate),
                _ => return None,
            }
        }
        Some(codings)
    }

    /// Returns whether data that starts with `byte` may be of the coding.
    pub(super) fn may_start_with(self, byte: u8) -> bool {
        match self {
            Self::Gzip => byte == 0x1f,
            Self::Zstd => byte == 0x28 || (0x50..=0x5f).contains(&byte),
            Self::Brotli => byte != b'<',
            Self::Deflate => byte & 0x0f == 8,
        }
    }
}

/// Counts and events of a body, which its reader looks at.
#[derive(Default)]
pub(super) struct Counters {
    pub(super) wire: AtomicU64,
    /// Decoded bytes of the layer that expanded too much; 0 for none.
    pub(super) bomb: AtomicU64,
    pub(super) wire_failed: AtomicBool,
    pub(super) wire_cut: AtomicBool,
    pub(super) complete: AtomicBool,
}

/// The body on the wire.
pub(super) struct Wire {
    pub(super) body: Incoming,
    pub(super) chunk: Bytes,
    pub(super) counters: Arc<Counters>,
    pub(super) bytes_max: u64,
}

impl AsyncBufRead for Wire {
    fn poll_fill_buf(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<&[u8]>> {
        let this = self.get_mut();
        while this.chunk.is_empty() && !this.counters.complete.load(Ordering::Relaxed) {
            match ready!(Pin::new(&mut this.body).poll_frame(cx)) {
                None => this.counters.complete.store(true, Ordering::Relaxed),
                Some(Ok(frame)) => {
                    let Ok(data) = frame.into_data() else {
                        continue;
                    };
                    let before = this
                        .counters
                        .wire
                        .fetch_add(data.len() as u64, Ordering::Relaxed);
                    if before > this.bytes_max {
                        this.counters.wire_cut.store(true, Ordering::Relaxed);
                        return Poll::Ready(Err(io::Error::other("body longer than permitted")));
                    }
                    this.chunk = data;
                }
                Some(Err(error)) => {
                    this.counters.wire_failed.store(true, Ordering::Relaxed);
                    return Poll::Ready(Err(io::Error::other(error)));
                }
            }
        }
        if this.body.is_end_stream() {
            this.counters.complete.store(true, Ordering::Relaxed);
        }
        Poll::Ready(Ok(&this.chunk))
    }

    fn consume(mut self: Pin<&mut Self>, len: usize) {
        self.chunk.advance(len);
    }
}

impl AsyncRead for Wire {
    fn poll_read(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        buf: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        let chunk = ready!(self.as_mut().poll_fill_buf(cx))?;
        let len = chunk.len().min(buf.remaining());
        buf.put_slice(&chunk[..len]);
        self.consume(len);
        Poll::Ready(Ok(()))
    }
}

/// One decoded layer, whose expansion is bounded: a layer between others would not show in the result.
struct Metered<R> {
    inner: R,
    decoded: u64,
    counters: Arc<Counters>,
    ratio_max: u64,
    allowance: u64,
}

impl<R: AsyncRead + Unpin> AsyncRead for Metered<R> {
    fn poll_read(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        buf: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        let before = buf.filled().len();
        ready!(Pin::new(&mut self.inner).poll_read(cx, buf))?;
        self.decoded += (buf.filled().len() - before) as u64;
        let wire = self.counters.wire.load(Ordering::Relaxed);
        if self.decoded > self.allowance && self.decoded > wire.saturating_mul(self.ratio_max) {
            self.counters.bomb.store(self.decoded, Ordering::Relaxed);
            return Poll::Ready(Err(io::Error::other("expands more than permitted")));
        }
        Poll::Ready(Ok(()))
    }
}

/// Bytes to decode.
pub(super) type Source = Pin<Box<dyn AsyncBufRead + Send>>;

/// Returns the decoder of one coding over `source`.
pub(super) fn layer(
    coding: Coding,
    source: Source,
    counters: &Arc<Counters>,
    limits: &Limits,
) -> Source {
    let inner: Pin<Box<dyn AsyncRead + Send>> = match coding {
        Coding::Gzip => {
            let mut decoder = GzipDecoder::new(source);
            decoder.multiple_members(true);
            Box::pin(decoder)
        }
        Coding::Brotli => Box::pin(BrotliDecoder::new(source)),
        Coding::Zstd => {
            let window = [DParameter::window_log_max(ZSTD_WINDOW_LOG)];
            let mut decoder = ZstdDecoder::with_params(source, &window);
            decoder.multiple_members(true);
            Box::pin(decoder)
        }
        Coding::Deflate => Box::pin(ZlibDecoder::new(source)),
    };
    Box::pin(BufReader::new(Metered {
        inner,
        decoded: 0,
        counters: counters.clone(),
        ratio_max: limits.ratio_max,
        allowance: limits.ratio_allowance_bytes,
    }))
}
