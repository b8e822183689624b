//! Bodies: read from the wire, decoded, within bounds of size, expansion and speed.

use std::io;
use std::pin::Pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::task::{Context, Poll, ready};
use std::time::Duration;

use async_compression::tokio::bufread::{BrotliDecoder, GzipDecoder, ZlibDecoder, ZstdDecoder};
use async_compression::zstd::DParameter;
use bytes::{Buf, Bytes};
use hyper::body::{Body as _, Incoming};
use tokio::io::{AsyncBufRead, AsyncBufReadExt, AsyncRead, AsyncReadExt, BufReader, ReadBuf};
use tokio::time::Instant;

use super::fetched::Truncated;
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
    fn may_start_with(self, byte: u8) -> bool {
        match self {
            Self::Gzip => byte == 0x1f,
            Self::Zstd => byte == 0x28 || (0x50..=0x5f).contains(&byte),
            Self::Brotli => byte != b'<',
            Self::Deflate => byte & 0x0f == 8,
        }
    }
}

/// A body as read.
pub(super) struct Body {
    pub(super) bytes: Bytes,
    pub(super) wire_bytes: u64,
    pub(super) truncated: Option<Truncated>,
    pub(super) decoded_from: Vec<&'static str>,
    /// The end of the message was read: the connection may serve another.
    pub(super) complete: bool,
}

/// A body that is refused.
pub(super) enum BodyError {
    Bomb { wire_bytes: u64, decoded_bytes: u64 },
    TooSlow { bytes: u64, took_ms: u64 },
    Wire(io::Error),
    Decoding(io::Error),
}

#[derive(Default)]
struct Counters {
    wire: AtomicU64,
    /// Decoded bytes of the layer that expanded too much; 0 for none.
    bomb: AtomicU64,
    wire_failed: AtomicBool,
    wire_cut: AtomicBool,
    complete: AtomicBool,
}

/// The body on the wire.
struct Wire {
    body: Incoming,
    chunk: Bytes,
    counters: Arc<Counters>,
    bytes_max: u64,
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

type Source = Pin<Box<dyn AsyncBufRead + Send>>;

fn layer(coding: Coding, source: Source, counters: &Arc<Counters>, limits: &Limits) -> Source {
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

/// Reads a body of at most `bytes_max` decoded bytes. `length` is the one stated, for the first allocation.
pub(super) async fn read(
    body: Incoming,
    codings: &[Coding],
    bytes_max: usize,
    length: Option<u64>,
    limits: &Limits,
) -> Result<Body, BodyError> {
    let counters = Arc::new(Counters::default());
    let wire = Wire {
        body,
        chunk: Bytes::new(),
        counters: counters.clone(),
        bytes_max: (bytes_max as u64).saturating_add(64 << 10),
    };
    let mut reading = Reading {
        counters,
        started: Instant::now(),
        limits,
    };
    let mut source: Source = Box::pin(wire);
    let mut decoded_from = Vec::new();
    if let Some(&outer) = codings.last() {
        // Some servers state a coding that they did not apply.
        let first = reading
            .timed(source.fill_buf())
            .await
            .map(|result| result.map(|b| b.first().copied()));
        match first? {
            Ok(Some(byte)) if outer.may_start_with(byte) => {
                decoded_from = codings.iter().map(|coding| coding.name()).collect();
                for &coding in codings.iter().rev() {
                    source = layer(coding, source, &reading.counters, limits);
                }
            }
            Ok(_) => {}
            Err(error) => return Err(BodyError::Wire(error)),
        }
    }
    let room = length.map_or(16 << 10, |length| {
        usize::try_from(length).unwrap_or(usize::MAX)
    });
    let mut bytes = Vec::with_capacity(room.min(bytes_max).min(128 << 10));
    let truncated = reading.fill(&mut source, &mut bytes, bytes_max).await?;
    let counters = &reading.counters;
    Ok(Body {
        wire_bytes: counters.wire.load(Ordering::Relaxed),
        complete: truncated.is_none() && counters.complete.load(Ordering::Relaxed),
        bytes: bytes.into(),
        truncated,
        decoded_from,
    })
}

struct Reading<'a> {
    counters: Arc<Counters>,
    started: Instant,
    limits: &'a Limits,
}

impl Reading<'_> {
    /// Runs `step` until it is done, or the mean speed falls below the minimum.
    async fn timed<F: Future>(&mut self, step: F) -> Result<F::Output, BodyError> {
        let mut step = std::pin::pin!(step);
        loop {
            let before = self.counters.wire.load(Ordering::Relaxed);
            // At this instant the bytes received until now would be too few.
            let permitted_ms = before.saturating_mul(1_000) / self.limits.bytes_per_s_min.max(1);
            let permitted = Duration::from_millis(permitted_ms.max(self.limits.speed_grace_ms));
            match tokio::time::timeout_at(self.started + permitted, &mut step).await {
                Ok(done) => return Ok(done),
                Err(_) if self.counters.wire.load(Ordering::Relaxed) > before => {}
                Err(_) => {
                    let took_ms = self.started.elapsed().as_millis() as u64;
                    return Err(BodyError::TooSlow {
                        bytes: before,
                        took_ms,
                    });
                }
            }
        }
    }

    async fn fill(
        &mut self,
        source: &mut Source,
        bytes: &mut Vec<u8>,
        bytes_max: usize,
    ) -> Result<Option<Truncated>, BodyError> {
        loop {
            // One byte more than permitted tells a body that is cut from one that just fits.
            let room = (bytes_max + 1).saturating_sub(bytes.len());
            if room == 0 {
                bytes.truncate(bytes_max);
                return Ok(Some(Truncated::Length));
            }
            let mut piece = (&mut *source).take(room as u64);
            match self.timed(piece.read_buf(bytes)).await? {
                Ok(0) => return Ok(None),
                Ok(_) => {}
                Err(error) => return self.failed(bytes, error),
            }
        }
    }

    fn failed(&self, bytes: &[u8], error: io::Error) -> Result<Option<Truncated>, BodyError> {
        let counters = &self.counters;
        let bomb = counters.bomb.load(Ordering::Relaxed);
        if bomb > 0 {
            let wire_bytes = counters.wire.load(Ordering::Relaxed);
            return Err(BodyError::Bomb {
                wire_bytes,
                decoded_bytes: bomb,
            });
        }
        if counters.wire_cut.load(Ordering::Relaxed) {
            return Ok(Some(Truncated::Length));
        }
        let wire_failed = counters.wire_failed.load(Ordering::Relaxed);
        match (bytes.is_empty(), wire_failed) {
            (true, true) => Err(BodyError::Wire(error)),
            (true, false) => Err(BodyError::Decoding(error)),
            (false, true) => Ok(Some(Truncated::Disconnect)),
            (false, false) => Ok(Some(Truncated::Decoding)),
        }
    }
}
