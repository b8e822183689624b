//! Budget of streams: how many are open, and the bytes of what was read for them and not yet sent.
//!
//! ```text
//! acquire ─▶ read from the store ─▶ channel ─▶ encoder ─▶ HTTP/2 ─▶ socket
//!    a share of the bytes goes with each URL up to here ──────────────▶ given back
//! ```
//!
//! A client that does not read leaves its share where it is, and what it asks for further is not read from the store. Each
//! stream has a small share of its own, so that those that nobody reads keep no other from going on; more is taken from what
//! all have together, and comes back when it is read or its connection is closed ([`super::connections`]).
use prost::Message;
use std::pin::Pin;
use std::sync::{Arc, Mutex, PoisonError};
use std::task::{Context, Poll};
use tokio::sync::{OwnedSemaphorePermit, Semaphore, mpsc};
use tokio_stream::Stream;
use tonic::{Response, Status};

/// Open streams of all clients.
const STREAMS_MAX: usize = 2_048;
/// Bytes read for streams and not yet sent, beside the share that each has of its own.
const BYTES_MAX: u32 = 8 << 20;
/// Bytes of a stream's own share.
const OWN_BYTES: usize = 16 << 10;

/// Streams and bytes that are left.
#[derive(Debug, Clone)]
pub(super) struct Budget {
    streams: Arc<Semaphore>,
    bytes: Arc<Semaphore>,
}

/// Share of the bytes, given back when it is dropped.
#[derive(Debug)]
pub(super) enum Share {
    /// The stream's own, of all URLs of a batch.
    Own(Arc<OwnedSemaphorePermit>),
    /// Share of the bytes that all streams have together.
    Common(OwnedSemaphorePermit),
}

impl Share {
    /// Takes the part of one URL.
    pub(super) fn part(&mut self, bytes: usize) -> Option<Share> {
        match self {
            Share::Own(own) => Some(Share::Own(own.clone())),
            Share::Common(common) => {
                let bytes = bytes.min(common.num_permits());
                common.split(bytes).map(Share::Common)
            }
        }
    }
}

/// Encoded answers that the connection has not taken, each with its share.
///
/// They go past the encoder of tonic, which keeps the buffer of its largest answer until its stream ends: it gets empty
/// messages, and the body puts these in their place ([`super::connections`]).
#[derive(Debug, Clone, Default)]
pub(super) struct Taken(Arc<Mutex<Vec<Encoded>>>);

/// Bytes of an encoded answer, and their share of the budget.
pub(super) type Encoded = (Vec<u8>, Option<Share>);

impl Taken {
    /// Returns the answers encoded since the last call.
    pub(super) fn take(&self) -> Vec<Encoded> {
        std::mem::take(&mut self.0.lock().unwrap_or_else(PoisonError::into_inner))
    }

    fn push(&self, encoded: Vec<u8>, share: Option<Share>) {
        let mut taken = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        taken.push((encoded, share));
    }
}

impl Default for Budget {
    fn default() -> Budget {
        Budget {
            streams: Arc::new(Semaphore::new(STREAMS_MAX)),
            bytes: Arc::new(Semaphore::new(BYTES_MAX as usize)),
        }
    }
}

impl Budget {
    /// Opens a stream of answers, of which `waiting` wait for the encoder, or refuses it where too many are open.
    pub(super) fn open<T>(
        &self,
        waiting: usize,
    ) -> Result<(Giver<T>, Response<Answers<T>>), Status> {
        let seat = self.streams.clone().try_acquire_owned().map_err(|_| {
            Status::resource_exhausted(format!(
                "{STREAMS_MAX} streams are open; read or cancel some, and try again"
            ))
        })?;
        let (sender, receiver) = mpsc::channel(waiting);
        let taken = Taken::default();
        let giver = Giver {
            sender,
            own: Arc::new(Semaphore::new(1)),
            common: self.bytes.clone(),
        };
        let mut response = Response::new(Answers {
            receiver,
            taken: taken.clone(),
            _seat: seat,
        });
        response.extensions_mut().insert(taken);
        Ok((giver, response))
    }
}

/// The side of a stream that gives answers. The stream ends well when all its givers are gone.
pub(super) struct Giver<T> {
    sender: mpsc::Sender<(Result<T, Status>, Option<Share>)>,
    own: Arc<Semaphore>,
    common: Arc<Semaphore>,
}

impl<T> Clone for Giver<T> {
    fn clone(&self) -> Giver<T> {
        Giver {
            sender: self.sender.clone(),
            own: self.own.clone(),
            common: self.common.clone(),
        }
    }
}

/// Returns the status of a stream that the end of the server breaks off.
pub(super) fn server_ends() -> Status {
    Status::unavailable("the server ends; ask again when it is back")
}

impl<T> Giver<T> {
    /// Waits for a share of this many bytes: of the stream's own bytes, or of those that all streams have together.
    pub(super) async fn share(&self, bytes: usize) -> Result<Share, Status> {
        let (own, common) = (self.own.clone(), self.common.clone());
        let is_small = bytes <= OWN_BYTES;
        let bytes = u32::try_from(bytes).unwrap_or(u32::MAX).min(BYTES_MAX);
        let share = tokio::select! {
            biased;
            own = own.acquire_owned(), if is_small => own.map(|own| Share::Own(Arc::new(own))),
            common = common.acquire_many_owned(bytes) => common.map(Share::Common),
        };
        share.map_err(|_| server_ends())
    }

    /// Gives an answer when the client has taken the one before; `false` where it is gone.
    pub(super) async fn give(&self, answer: Result<T, Status>, share: Option<Share>) -> bool {
        self.sender.send((answer, share)).await.is_ok()
    }

    /// Returns when the client is gone.
    pub(super) async fn closed(&self) {
        self.sender.closed().await;
    }
}

/// Answers of a stream.
pub(super) struct Answers<T> {
    receiver: mpsc::Receiver<(Result<T, Status>, Option<Share>)>,
    taken: Taken,
    _seat: OwnedSemaphorePermit,
}

impl<T: Message + Default> Stream for Answers<T> {
    type Item = Result<T, Status>;

    fn poll_next(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Option<Self::Item>> {
        self.receiver.poll_recv(context).map(|received| {
            let (answer, share) = received?;
            Some(answer.map(|answer| {
                self.taken.push(answer.encode_to_vec(), share);
                T::default()
            }))
        })
    }
}
