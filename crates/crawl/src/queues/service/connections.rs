//! Connections of the service: HTTP/2 with windows and buffers that are small, so that a client that does not read, or puts
//! faster than the disk takes, is held back by flow control.
//!
//! ```text
//! received, not read   ≤ STREAM_WINDOW_BYTES a stream, CONNECTION_WINDOW_BYTES a connection
//! to be sent           ≤ SEND_BYTES_MAX and a message a stream, and the budget of bytes of all streams
//! ```
//!
//! The connection's window also sets how many small DATA frames may wait (h2 allows for half of it, counting 256 bytes for a
//! shorter frame). A stream is held back by its own window long before it has as many: one message a frame is what clients
//! of URLFrontier send.
use super::budget::{Share, Taken};
use bytes::Bytes;
use hyper::body::{Body, Frame, Incoming};
use hyper_util::rt::{TokioExecutor, TokioIo, TokioTimer};
use std::collections::BTreeMap;
use std::convert::Infallible;
use std::future::Future;
use std::pin::{Pin, pin};
use std::sync::{Arc, Mutex, PoisonError};
use std::task::{Context, Poll};
use std::time::Duration;
use tokio::net::TcpStream;
use tokio::time::Instant;
use tonic::Status;

/// Bytes of a stream that a client may send before they are read.
const STREAM_WINDOW_BYTES: u32 = 64 << 10;
/// Receive window of a connection, over all of its streams.
const CONNECTION_WINDOW_BYTES: u32 = 8 << 20;
/// Bytes of a stream that wait to be sent, beside one message.
const SEND_BYTES_MAX: usize = 16 << 10;
/// Open calls of a connection.
const CALLS_MAX: u32 = 4_096;
/// Time for the first bytes of a connection.
const PREFACE: Duration = Duration::from_secs(10);
/// Silence of a client after which it is asked whether it is there, and the time that it has to answer.
const SILENCE: Duration = Duration::from_secs(30);
/// Write timeout: time in which a client must take sent bytes.
const STALL: Duration = Duration::from_secs(120);
/// A message of gRPC begins with whether it is compressed, and its length in 4 bytes.
const MESSAGE_HEAD_BYTES: usize = 5;
const NOT_COMPRESSED: u8 = 0;
/// First bytes of an HTTP/2 connection.
const PREFACE_BYTES: &[u8; 24] = b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n";

/// Times of the connections.
#[derive(Debug, Clone, Copy)]
pub(in crate::queues) struct Patience {
    /// Time limit for the first bytes of a connection.
    pub(in crate::queues) preface: Duration,
    /// Write timeout: time in which a client must take sent bytes.
    pub(in crate::queues) stall: Duration,
}

impl Default for Patience {
    fn default() -> Patience {
        Patience {
            preface: PREFACE,
            stall: STALL,
        }
    }
}

/// Serves a connection until its client or the server ends it.
pub(super) async fn serve_connection<S, F>(
    stream: TcpStream,
    service: S,
    patience: Patience,
    ending: impl Future<Output = ()>,
) where
    S: Fn(hyper::Request<Incoming>) -> F + Send + 'static,
    F: Future<Output = hyper::Response<tonic::body::Body>> + Send + 'static,
{
    if !speaks_http2(&stream, patience.preface).await {
        return;
    }
    let _ = stream.set_nodelay(true);
    let waiting = Waiting::default();
    let of_bodies = waiting.clone();
    let service = hyper::service::service_fn(move |request| {
        let (answer, waiting) = (service(request), of_bodies.clone());
        async move {
            let answer = answer.await;
            let taken = answer.extensions().get::<Taken>().cloned();
            Ok::<_, Infallible>(answer.map(|inner| Metered {
                inner,
                taken: taken.unwrap_or_default(),
                waiting,
            }))
        }
    });
    let connection = hyper::server::conn::http2::Builder::new(TokioExecutor::new())
        .timer(TokioTimer::new())
        .initial_stream_window_size(STREAM_WINDOW_BYTES)
        .initial_connection_window_size(CONNECTION_WINDOW_BYTES)
        .max_send_buf_size(SEND_BYTES_MAX)
        .max_concurrent_streams(CALLS_MAX)
        .keep_alive_interval(SILENCE)
        .keep_alive_timeout(SILENCE)
        .serve_connection(TokioIo::new(stream), service);
    let (mut connection, mut ending) = (pin!(connection), pin!(ending));
    let mut looks = tokio::time::interval(patience.stall / 4);
    let mut ends = false;
    loop {
        tokio::select! {
            // How it ended is the client's affair.
            _ = &mut connection => return,
            () = &mut ending, if !ends => {
                ends = true;
                connection.as_mut().graceful_shutdown();
            }
            _ = looks.tick() => {
                if waiting.since().is_some_and(|since| since.elapsed() > patience.stall) {
                    return;
                }
            }
        }
    }
}

/// Returns whether the first bytes are those of HTTP/2, and come in time.
async fn speaks_http2(stream: &TcpStream, preface: Duration) -> bool {
    let begins = async {
        let (mut first, mut before) = ([0; PREFACE_BYTES.len()], 0);
        loop {
            let count = stream.peek(&mut first).await.unwrap_or(0);
            if count == first.len() || count == 0 || first[..count] != PREFACE_BYTES[..count] {
                return first == *PREFACE_BYTES;
            }
            // What has come is still there to be seen, so nothing tells when more does.
            if count == before {
                tokio::time::sleep(Duration::from_millis(20)).await;
            }
            before = count;
        }
    };
    tokio::time::timeout(preface, begins).await.unwrap_or(false)
}

/// Frames of a connection that its client has not taken, by their number, and since when each waits.
#[derive(Debug, Clone, Default)]
struct Waiting(Arc<Mutex<(u64, BTreeMap<u64, Instant>)>>);

impl Waiting {
    fn enter(&self) -> u64 {
        let mut waiting = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        waiting.0 += 1;
        let number = waiting.0;
        waiting.1.insert(number, Instant::now());
        number
    }

    fn leave(&self, number: u64) {
        let mut waiting = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        waiting.1.remove(&number);
    }

    /// Returns since when the oldest frame waits.
    fn since(&self) -> Option<Instant> {
        let waiting = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        waiting.1.first_key_value().map(|(_, since)| *since)
    }
}

/// Bytes of a frame, with the shares that they have of the budget.
struct Held {
    bytes: Bytes,
    number: u64,
    waiting: Waiting,
    _shares: Vec<Option<Share>>,
}

impl AsRef<[u8]> for Held {
    fn as_ref(&self) -> &[u8] {
        &self.bytes
    }
}

impl Drop for Held {
    fn drop(&mut self) {
        self.waiting.leave(self.number);
    }
}

/// Body whose frames give their shares back when the connection has sent them.
struct Metered {
    inner: tonic::body::Body,
    taken: Taken,
    waiting: Waiting,
}

impl Body for Metered {
    type Data = Bytes;
    type Error = Status;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, Status>>> {
        let polled = Pin::new(&mut self.inner).poll_frame(context);
        polled.map_ok(|frame| {
            frame.map_data(|bytes| {
                let (encoded, shares): (Vec<_>, Vec<_>) = self.taken.take().into_iter().unzip();
                Bytes::from_owner(Held {
                    bytes: filled(bytes, &encoded),
                    number: self.waiting.enter(),
                    waiting: self.waiting.clone(),
                    _shares: shares,
                })
            })
        })
    }
}

/// Returns the frame of messages in place of a frame of as many empty ones; that of an answer without a stream as it is.
fn filled(frame: Bytes, encoded: &[Vec<u8>]) -> Bytes {
    if encoded.is_empty() {
        return frame;
    }
    debug_assert_eq!(frame.len(), encoded.len() * MESSAGE_HEAD_BYTES);
    let whole: usize = encoded.iter().map(Vec::len).sum();
    let mut bytes = Vec::with_capacity(whole + encoded.len() * MESSAGE_HEAD_BYTES);
    for message in encoded {
        bytes.push(NOT_COMPRESSED);
        // Longer ones than 4 GiB are not in the store (messages put are 16 MiB at most).
        bytes.extend((message.len() as u32).to_be_bytes());
        bytes.extend_from_slice(message);
    }
    bytes.into()
}
