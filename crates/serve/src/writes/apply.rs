//! Changes of a request, made in batches while its body comes.
//!
//! ```text
//! reader ─► entries ─► batch: 1 MiB of text or 4,096 changes ─► ingest::LiveWriter ─► durable ─► tally
//! ```
//!
//! Each batch is durable before the next is read. A body that turns out to be damaged has made the changes of the
//! batches before, and none of the batch with the damage; the answer says how many. So a body of one batch is made
//! wholly or not at all, apart from what is rejected by itself.

use super::body::{Action, BodyChanges, ReadChange};
use super::decoded::decoded_body;
use super::outcome::{Broken, Tally};
use super::parameters::{Refresh, WriteParameters};
use crate::net::bodies::{
    BodyPlaces, BodyReader, LARGE_BODY_BYTES, LARGE_ENTRY_BYTES, NoPlace, Place, ReceiveError,
};
use crate::net::response::{refusal, retry_soon};
use axum::body::Body;
use axum::http::{Response, StatusCode};
use document::{BodyEntries, BodyError, BodyForm};
use ingest::{ConditionalChange, LiveError, LiveWriter};
use std::cell::{Cell, RefCell};
use std::io::{self, Read};
use std::sync::atomic::{AtomicBool, Ordering};

/// Upper limit on a decompressed body, in bytes.
const DECODED_BYTES_MAX: u64 = 256 << 20;
/// Upper limit on one entry, in bytes: that of a line when files are indexed.
const ENTRY_BYTES_MAX: u64 = 64 << 20;
/// Upper limits on a batch: bytes of its entries, and changes.
const BATCH_BYTES_MAX: usize = 1 << 20;
const BATCH_CHANGES_MAX: usize = 4_096;
/// Changes that may wait for a refresh while a body goes on, in bytes: a large body asks for refreshes on its way.
const PENDING_BYTES_MAX: u64 = 16 << 20;

/// Request that writes: its body, and what its head says of it.
pub(super) struct WriteRequest {
    pub(super) action: Action,
    pub(super) parameters: WriteParameters,
    pub(super) form: BodyForm,
    /// `Content-Encoding`, in lower case.
    pub(super) encoding: String,
    pub(super) body: BodyReader,
}

impl WriteRequest {
    /// Makes the changes, refreshes as asked for, and answers.
    pub(super) fn run(self, writer: &LiveWriter, places: &BodyPlaces) -> Response<Body> {
        let is_gone = self.body.gone();
        let held = Held {
            places,
            is_gone: &is_gone,
            body: RefCell::default(),
            large_entry: RefCell::default(),
            entry_bytes: Cell::new(0),
        };
        if self.encoding == "zstd"
            && let Err(error) = held.take_for_body()
        {
            // The window of its decoder is as large as a few batches.
            return not_received(error);
        }
        let decoded = match decoded_body(&self.encoding, self.body, DECODED_BYTES_MAX) {
            Ok(decoded) => decoded,
            Err(error) => {
                let reason = format!("the body cannot be decompressed: {error}");
                return refusal(StatusCode::BAD_REQUEST, &reason);
            }
        };
        let decoded = Placed {
            decoded,
            held: &held,
            bytes: 0,
        };
        let entries = BodyEntries::new(decoded, self.form, ENTRY_BYTES_MAX);
        let names = self.parameters.names.clone();
        let mut changes = BodyChanges::new(self.action, entries, names);
        let mut batches = Batches {
            writer,
            parameters: &self.parameters,
            tally: Tally::new(self.parameters.versions),
            changes: Vec::new(),
            lines: Vec::new(),
            bytes: 0,
            has_applied: false,
        };
        let named = self.parameters.urls.iter();
        let mut named = named.map(|url| ReadChange::deletion(url));
        loop {
            let next = match named.next() {
                Some(named) => Ok(Some(named)),
                None => changes.next(),
            };
            let taken = match next {
                Ok(Some(change)) => batches.take(change, held.holds_large_entry()),
                Ok(None) => {
                    batches.tally.tell_names(changes.names_found());
                    break batches.finished();
                }
                Err(error) => break batches.broken(&error),
            };
            held.entry_ended();
            if let Some(refused) = taken {
                break refused;
            }
        }
    }
}

/// Returns the answer to a request whose body was not received.
pub(super) fn not_received(error: ReceiveError) -> Response<Body> {
    let response = refusal(error.status(), &error.to_string());
    match error {
        ReceiveError::NoPlace => retry_soon(response),
        _ => response,
    }
}

/// Changes of a request so far, and those that are not made yet.
struct Batches<'a> {
    writer: &'a LiveWriter,
    parameters: &'a WriteParameters,
    tally: Tally,
    changes: Vec<ConditionalChange>,
    /// Line of each change.
    lines: Vec<u64>,
    bytes: usize,
    /// Whether a batch was made.
    has_applied: bool,
}

impl Batches<'_> {
    /// Takes a change, and makes the batch that is full with it. Returns the answer to a request that is refused.
    fn take(&mut self, read: ReadChange, is_large: bool) -> Option<Response<Body>> {
        let is_conditional = self.parameters.condition.is_some();
        if is_conditional && self.tally.total() + self.changes.len() as u64 > 0 {
            return Some(refusal(
                StatusCode::BAD_REQUEST,
                "if_version holds for one document; send the others by themselves",
            ));
        }
        match read.change {
            Ok(change) => {
                let condition = self.parameters.condition;
                self.changes.push(ConditionalChange { change, condition });
                self.lines.push(read.line);
                self.bytes += read.bytes;
            }
            Err(reason) => self.tally.reject(read.line, reason),
        }
        let is_full =
            is_large || self.bytes >= BATCH_BYTES_MAX || self.changes.len() >= BATCH_CHANGES_MAX;
        // A condition must not be met before it is known that no other document follows.
        let applied = match is_full && !is_conditional {
            true => self.apply(),
            false => Ok(()),
        };
        applied.err().map(|error| self.tally.refused(&error))
    }

    /// Makes the changes of the batch, which are durable then.
    fn apply(&mut self) -> Result<(), LiveError> {
        if self.changes.is_empty() {
            return Ok(());
        }
        if self.has_applied {
            // Where refreshes fail, changes wait up to the writer's own limit.
            let _ = self.writer.make_room(PENDING_BYTES_MAX);
        }
        self.has_applied = true;
        let (changes, lines) = (
            std::mem::take(&mut self.changes),
            std::mem::take(&mut self.lines),
        );
        self.bytes = 0;
        let urls: Vec<String> = changes
            .iter()
            .map(|one| one.change.url().to_owned())
            .collect();
        let outcomes = self.writer.apply(changes)?;
        for ((outcome, line), url) in outcomes.iter().zip(lines).zip(urls) {
            self.tally.count(line, url, outcome);
        }
        Ok(())
    }

    /// Makes what is left, refreshes as asked for, and answers.
    fn finished(&mut self) -> Response<Body> {
        if let Err(error) = self.apply() {
            return self.tally.refused(&error);
        }
        if self.tally.total() == 0 {
            return refusal(
                StatusCode::BAD_REQUEST,
                "no document in the request; send an array of objects, or one a line",
            );
        }
        let generation = match self.parameters.refresh {
            Refresh::None => return self.tally.response(None),
            Refresh::Wait => self.writer.wait_for_refresh(),
            Refresh::Now => self.writer.refresh(),
        };
        match generation {
            Ok(generation) => self.tally.response(Some(generation)),
            Err(error) => self.tally.refused(&error),
        }
    }

    /// Answers a request whose body was not read to its end. The changes of this batch are not made.
    fn broken(&self, error: &BodyError) -> Response<Body> {
        let (status, line, offset, reason) = match error {
            BodyError::Damaged {
                line,
                offset,
                reason,
            } => {
                let reason = format!("the body is damaged at line {line}, byte {offset}: {reason}");
                (StatusCode::BAD_REQUEST, Some(*line), *offset, reason)
            }
            BodyError::Unreadable { offset, source } => {
                let (status, reason) = unreadable(source);
                (status, None, *offset, reason)
            }
        };
        let response = self.tally.broken(
            status,
            Broken {
                line,
                offset: Some(offset),
                reason,
            },
        );
        match status {
            StatusCode::SERVICE_UNAVAILABLE => retry_soon(response),
            _ => response,
        }
    }
}

/// Returns the status and the reason of a request whose body could not be read.
fn unreadable(source: &io::Error) -> (StatusCode, String) {
    match ReceiveError::within(source) {
        Some(error) => (error.status(), error.to_string()),
        None if source.kind() == io::ErrorKind::FileTooLarge => (
            StatusCode::PAYLOAD_TOO_LARGE,
            format!("the decompressed body is too large: {source}"),
        ),
        None => (
            StatusCode::BAD_REQUEST,
            format!("the body cannot be decompressed: {source}"),
        ),
    }
}

/// Places that a request holds.
struct Held<'a> {
    places: &'a BodyPlaces,
    is_gone: &'a AtomicBool,
    body: RefCell<Option<Place<'a>>>,
    large_entry: RefCell<Option<Place<'a>>>,
    /// Bytes read since the last entry.
    entry_bytes: Cell<u64>,
}

impl Held<'_> {
    fn take_for_body(&self) -> Result<(), ReceiveError> {
        take(&self.body, || {
            self.places
                .for_body(|| self.is_gone.load(Ordering::Relaxed))
        })
    }

    fn take_for_large_entry(&self) -> Result<(), ReceiveError> {
        take(&self.large_entry, || {
            self.places
                .for_large_entry(|| self.is_gone.load(Ordering::Relaxed))
        })
    }

    fn holds_large_entry(&self) -> bool {
        self.large_entry.borrow().is_some()
    }

    fn entry_ended(&self) {
        self.entry_bytes.set(0);
        self.large_entry.take();
    }
}

fn take<'a>(
    held: &RefCell<Option<Place<'a>>>,
    place: impl FnOnce() -> Result<Place<'a>, NoPlace>,
) -> Result<(), ReceiveError> {
    let mut held = held.borrow_mut();
    if held.is_none() {
        *held = Some(place().map_err(|no_place| match no_place {
            NoPlace::Full => ReceiveError::NoPlace,
            NoPlace::Gone => ReceiveError::CutOff,
        })?);
    }
    Ok(())
}

/// Reader of a decompressed body that takes the places that its size asks for.
struct Placed<'h, 'p, R> {
    decoded: R,
    held: &'h Held<'p>,
    bytes: u64,
}

impl<R: Read> Read for Placed<'_, '_, R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let read = self.decoded.read(buffer)?;
        self.bytes += read as u64;
        let entry_bytes = self.held.entry_bytes.get() + read as u64;
        self.held.entry_bytes.set(entry_bytes);
        if self.bytes > LARGE_BODY_BYTES {
            self.held.take_for_body().map_err(ReceiveError::into_io)?;
        }
        if entry_bytes > LARGE_ENTRY_BYTES {
            self.held
                .take_for_large_entry()
                .map_err(ReceiveError::into_io)?;
        }
        Ok(read)
    }
}
