//! Body of a request as a reader on another thread, while the client sends it.
//!
//! ```text
//! client ─► first 64 KiB, whole ─► thread ─► reader ─► decoder ─► entries
//!              └─ the rest: a frame at a time ─┘
//! ```
//!
//! No thread and no place waits for a client that has sent little: the work begins when the first part is there. Frames
//! are handed over one at a time, so the client sends no faster than the work goes.

use super::places::{BodyPlaces, CONTENDED_BEHIND_MAX, CONTENDED_BYTES_S};
use crate::net::listener::TooSlow;
use axum::body::{Body, BodyDataStream, Bytes, HttpBody};
use axum::http::StatusCode;
use futures_util::StreamExt;
use std::io::{self, Read};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};
use tokio::sync::mpsc;

/// Size of the first part, in bytes.
const FIRST_BYTES: usize = 64 << 10;
/// Interval at which a slow client is looked at.
const LOOK: Duration = Duration::from_millis(250);

/// Failure to receive a body.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub(crate) enum ReceiveError {
    #[error("the body was cut off")]
    CutOff,
    #[error("the body has over {bytes_max} bytes; send less at a time")]
    TooLarge { bytes_max: u64 },
    #[error("the body comes too slowly; send less at a time, or over a faster connection")]
    TooSlow,
    #[error(
        "too many large bodies are being received; try again in a moment, or send less at a time"
    )]
    NoPlace,
}

impl ReceiveError {
    /// Returns the status of a request with this body.
    pub(crate) fn status(self) -> StatusCode {
        match self {
            ReceiveError::CutOff => StatusCode::BAD_REQUEST,
            ReceiveError::TooLarge { .. } => StatusCode::PAYLOAD_TOO_LARGE,
            ReceiveError::TooSlow => StatusCode::REQUEST_TIMEOUT,
            ReceiveError::NoPlace => StatusCode::SERVICE_UNAVAILABLE,
        }
    }

    pub(crate) fn into_io(self) -> io::Error {
        io::Error::other(self)
    }

    /// Returns the failure within an error of a reader.
    pub(crate) fn within(error: &io::Error) -> Option<ReceiveError> {
        error.get_ref()?.downcast_ref().copied()
    }
}

/// Part of a body; `None` is its end.
type Part = Result<Option<Bytes>, ReceiveError>;

/// Body of which the first part has come.
pub(crate) struct Received {
    body: BodyDataStream,
    first: Vec<u8>,
    is_whole: bool,
    bytes_max: u64,
}

/// Rest of a body, handed on as it comes.
pub(crate) struct Rest {
    incoming: Incoming,
    sender: mpsc::Sender<Part>,
    gone: GoneOnDrop,
}

/// Rest of a body, whose client is prompt while others wait for its place.
struct Incoming {
    body: BodyDataStream,
    /// Bytes that have come, and the time for which they were waited for.
    bytes: u64,
    waited: Duration,
    bytes_max: u64,
}

/// Notifies the reader, when dropped, that its client is gone.
struct GoneOnDrop(Option<Arc<AtomicBool>>);

impl Drop for GoneOnDrop {
    fn drop(&mut self) {
        if let Some(is_gone) = &self.0 {
            is_gone.store(true, Ordering::Relaxed);
        }
    }
}

/// Reader of a body, for a thread that may wait.
pub(crate) struct BodyReader {
    part: io::Cursor<Bytes>,
    /// `None` where all of the body is in the part.
    rest: Option<mpsc::Receiver<Part>>,
    is_gone: Arc<AtomicBool>,
}

impl Received {
    /// Waits for the first part of a body of at most `bytes_max` bytes.
    pub(crate) async fn first_part(body: Body, bytes_max: u64) -> Result<Received, ReceiveError> {
        if body.size_hint().lower() > bytes_max {
            return Err(ReceiveError::TooLarge { bytes_max });
        }
        let mut body = body.into_data_stream();
        let (mut first, mut is_whole) = (Vec::new(), false);
        while first.len() < FIRST_BYTES && !is_whole {
            match next_part(&mut body).await? {
                // A copy: the part may keep a larger buffer of the connection alive.
                Some(part) => first.extend_from_slice(&part),
                None => is_whole = true,
            }
        }
        Ok(Received {
            body,
            first,
            is_whole,
            bytes_max,
        })
    }

    /// Waits for the whole of a body, with a place where it is large.
    pub(crate) async fn whole(self, places: &BodyPlaces) -> Result<Bytes, ReceiveError> {
        if self.is_whole {
            return Ok(self.first.into());
        }
        let place = places.for_body_of_task().await;
        let _place = place.map_err(|_| ReceiveError::NoPlace)?;
        let mut whole = self.first;
        let mut rest = Incoming::new(self.body, whole.len() as u64, self.bytes_max);
        while let Some(part) = rest.next(places).await? {
            whole.extend_from_slice(&part);
        }
        Ok(whole.into())
    }

    /// Splits the body into its reader, and what feeds the reader; `None` where all of it has come.
    pub(crate) fn split(self) -> (BodyReader, Option<Rest>) {
        let is_gone = Arc::<AtomicBool>::default();
        let bytes = self.first.len() as u64;
        let mut reader = BodyReader {
            part: io::Cursor::new(Bytes::from(self.first)),
            rest: None,
            is_gone: Arc::clone(&is_gone),
        };
        if self.is_whole {
            return (reader, None);
        }
        let (sender, receiver) = mpsc::channel(1);
        reader.rest = Some(receiver);
        let rest = Rest {
            incoming: Incoming::new(self.body, bytes, self.bytes_max),
            sender,
            gone: GoneOnDrop(Some(is_gone)),
        };
        (reader, Some(rest))
    }
}

impl Rest {
    /// Hands the body on until it ends or fails. Where it is read no further, the rest is dropped as it comes.
    pub(crate) async fn hand_on(mut self, places: &BodyPlaces) {
        let mut is_read = true;
        loop {
            let part = self.incoming.next(places).await;
            let is_last = !matches!(part, Ok(Some(_)));
            is_read = is_read && self.sender.send(part).await.is_ok();
            if is_last {
                break;
            }
        }
        // What has come is worked on, whether or not the client waits for the answer.
        self.gone.0 = None;
    }
}

impl Incoming {
    fn new(body: BodyDataStream, bytes: u64, bytes_max: u64) -> Incoming {
        Incoming {
            body,
            bytes,
            waited: Duration::ZERO,
            bytes_max,
        }
    }

    async fn next(&mut self, places: &BodyPlaces) -> Part {
        loop {
            let begun = Instant::now();
            let part = tokio::time::timeout(LOOK, next_part(&mut self.body)).await;
            self.waited += begun.elapsed();
            if let Ok(part) = part {
                let part = part?;
                self.bytes += part.as_ref().map_or(0, |part| part.len() as u64);
                let bytes_max = self.bytes_max;
                return match self.bytes > bytes_max {
                    true => Err(ReceiveError::TooLarge { bytes_max }),
                    false => Ok(part),
                };
            }
            let due = Duration::from_millis(self.bytes * 1000 / CONTENDED_BYTES_S);
            if places.are_wanted() && self.waited.saturating_sub(due) > CONTENDED_BEHIND_MAX {
                return Err(ReceiveError::TooSlow);
            }
        }
    }
}

/// Waits for the next bytes of a body; `None` at its end.
async fn next_part(body: &mut BodyDataStream) -> Part {
    match body.next().await {
        None => Ok(None),
        Some(Ok(part)) => Ok(Some(part)),
        Some(Err(error)) if TooSlow::is_within(&error) => Err(ReceiveError::TooSlow),
        Some(Err(_)) => Err(ReceiveError::CutOff),
    }
}

impl BodyReader {
    /// Returns the flag that tells whether the client went away before it had sent everything.
    pub(crate) fn gone(&self) -> Arc<AtomicBool> {
        Arc::clone(&self.is_gone)
    }
}

impl Read for BodyReader {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        loop {
            let read = self.part.read(buffer)?;
            let Some(rest) = self
                .rest
                .as_mut()
                .filter(|_| read == 0 && !buffer.is_empty())
            else {
                return Ok(read);
            };
            match rest.blocking_recv() {
                Some(Ok(Some(part))) => self.part = io::Cursor::new(part),
                Some(Ok(None)) => self.rest = None,
                Some(Err(error)) => return Err(error.into_io()),
                // The end has a message of its own; a body without it is cut off.
                None => return Err(ReceiveError::CutOff.into_io()),
            }
        }
    }
}
