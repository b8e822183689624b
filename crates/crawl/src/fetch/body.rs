//! Bodies: read from the wire, decoded, within bounds of size, expansion and speed.

use std::io;
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::Duration;

use bytes::Bytes;
use hyper::body::Incoming;
use tokio::io::{AsyncBufReadExt, AsyncReadExt};
use tokio::time::Instant;

use super::coding::{Coding, Counters, Source, Wire, layer};
use super::fetched::Truncated;
use super::limits::Limits;

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
