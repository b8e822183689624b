//! Proxy that forwards bytes and delays single gRPC calls on request.
//!
//! It parses the HTTP/2 frames to the server (RFC 9113, section 4.1) and delays the DATA frames of a call. The frames
//! before them carry compressed headers, whose order must be kept. A call does not begin without its data, so delaying
//! the data delays this call and no other.
//!
//! frame := length:u24be type:u8 flags:u8 stream:u32be payload[length]

use stats::Random;
use std::collections::HashMap;
use std::io;
use std::net::SocketAddr;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::tcp::{OwnedReadHalf, OwnedWriteHalf};
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::oneshot;
use tokio::task::JoinHandle;

const PREFACE_BYTES: usize = 24;
const HEAD_BYTES: usize = 9;
/// Upper limit on the bytes of a frame, above any that these servers send.
const FRAME_BYTES_MAX: usize = 1 << 20;
const DATA: u8 = 0;
const RESET: u8 = 3;
/// Offset of a message in the data of its call: after the compression flag (one byte) and the length.
const MESSAGE_AT: usize = 5;
/// First byte of a request for summaries: field 1, a number. Health checks begin with a text.
const SUMMARIES_FIRST_BYTE: u8 = 0x08;

/// A proxy before one server. Dropping it ends it.
pub(crate) struct Proxy {
    pub(crate) address: SocketAddr,
    pub(crate) orders: Arc<Orders>,
    accepting: JoinHandle<()>,
}

/// Instructions to a proxy, which may change at any moment.
pub(crate) struct Orders {
    target: SocketAddr,
    /// Share of the calls that are delayed, in millionths.
    held_millionths: AtomicU64,
    held_ms: AtomicU64,
    calls: AtomicU64,
    held: AtomicU64,
    random: Mutex<Random>,
    ambush: Mutex<Option<Ambush>>,
}

/// Signals the arrival of the next call, which waits for its release.
struct Ambush {
    met: oneshot::Sender<()>,
    go_on: oneshot::Receiver<()>,
}

impl Proxy {
    pub(crate) async fn before(target: SocketAddr, seed: u64) -> io::Result<Proxy> {
        let listener = TcpListener::bind("127.0.0.1:0").await?;
        let address = listener.local_addr()?;
        let orders = Arc::new(Orders {
            target,
            held_millionths: AtomicU64::new(0),
            held_ms: AtomicU64::new(0),
            calls: AtomicU64::new(0),
            held: AtomicU64::new(0),
            random: Mutex::new(Random::new(seed, 77)),
            ambush: Mutex::new(None),
        });
        let known = Arc::clone(&orders);
        let accepting = tokio::spawn(async move {
            while let Ok((client, _)) = listener.accept().await {
                tokio::spawn(pass(client, Arc::clone(&known)));
            }
        });
        Ok(Proxy {
            address,
            orders,
            accepting,
        })
    }
}

impl Drop for Proxy {
    fn drop(&mut self) {
        self.accepting.abort();
    }
}

impl Orders {
    /// Delays a share of the calls by a time.
    pub(crate) fn hold(&self, share: f64, time: Duration) {
        let time_ms = time.as_millis() as u64;
        self.held_ms.store(time_ms, Ordering::Relaxed);
        let millionths = (share * 1e6) as u64;
        self.held_millionths.store(millionths, Ordering::Relaxed);
    }

    /// Returns the number of calls so far, and of those that were delayed.
    pub(crate) fn counts(&self) -> (u64, u64) {
        let count = |of: &AtomicU64| of.load(Ordering::Relaxed);
        (count(&self.calls), count(&self.held))
    }

    /// Stops the next request for summaries. The first part resolves when the request arrives; the request continues
    /// when the second part is used or dropped.
    pub(crate) fn ambush(&self) -> (oneshot::Receiver<()>, oneshot::Sender<()>) {
        let (met, is_met) = oneshot::channel();
        let (release, go_on) = oneshot::channel();
        *lock(&self.ambush) = Some(Ambush { met, go_on });
        (is_met, release)
    }

    fn draw(&self) -> Option<Duration> {
        self.calls.fetch_add(1, Ordering::Relaxed);
        let share = self.held_millionths.load(Ordering::Relaxed);
        let is_held = share > 0 && lock(&self.random).chance(share);
        if is_held {
            self.held.fetch_add(1, Ordering::Relaxed);
        }
        is_held.then(|| Duration::from_millis(self.held_ms.load(Ordering::Relaxed)))
    }
}

fn lock<T>(mutex: &Mutex<T>) -> std::sync::MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Forwards one connection until either side ends it, then closes the other side too.
async fn pass(client: TcpStream, orders: Arc<Orders>) {
    let Ok(server) = TcpStream::connect(orders.target).await else {
        return;
    };
    let _ = client.set_nodelay(true);
    let _ = server.set_nodelay(true);
    let (from_client, mut to_client) = client.into_split();
    let (mut from_server, to_server) = server.into_split();
    let there = to_the_server(from_client, to_server, orders);
    let back = tokio::io::copy(&mut from_server, &mut to_client);
    tokio::select! {
        _ = there => {}
        _ = back => {}
    }
}

/// Write side of the connection to the server. Delayed calls wait in `waiting`, by stream.
struct ToServer {
    stream: tokio::sync::Mutex<OwnedWriteHalf>,
    waiting: Mutex<HashMap<u32, Vec<u8>>>,
}

async fn to_the_server(
    mut from: OwnedReadHalf,
    to: OwnedWriteHalf,
    orders: Arc<Orders>,
) -> io::Result<()> {
    let to = Arc::new(ToServer {
        stream: tokio::sync::Mutex::new(to),
        waiting: Mutex::default(),
    });
    let mut preface = [0; PREFACE_BYTES];
    from.read_exact(&mut preface).await?;
    to.stream.lock().await.write_all(&preface).await?;
    let mut newest = 0;
    loop {
        let mut frame = vec![0; HEAD_BYTES];
        from.read_exact(&mut frame).await?;
        let length = u32::from_be_bytes([0, frame[0], frame[1], frame[2]]) as usize;
        let (kind, stream) = (
            frame[3],
            u32::from_be_bytes([frame[5], frame[6], frame[7], frame[8]]) & 0x7fff_ffff,
        );
        if length > FRAME_BYTES_MAX {
            return Err(io::ErrorKind::InvalidData.into());
        }
        frame.resize(HEAD_BYTES + length, 0);
        from.read_exact(&mut frame[HEAD_BYTES..]).await?;
        if kind == RESET {
            lock(&to.waiting).remove(&stream);
        }
        if kind == DATA {
            if let Some(waiting) = lock(&to.waiting).get_mut(&stream) {
                waiting.extend_from_slice(&frame);
                continue;
            }
            // A client's stream numbers increase: a higher one is a new call.
            if stream > newest {
                newest = stream;
                let ambush = match frame.get(HEAD_BYTES + MESSAGE_AT) {
                    Some(&SUMMARIES_FIRST_BYTE) => lock(&orders.ambush).take(),
                    _ => None,
                };
                if let Some(ambush) = ambush {
                    let _ = ambush.met.send(());
                    let _ = ambush.go_on.await;
                }
                if let Some(time) = orders.draw() {
                    lock(&to.waiting).insert(stream, frame.clone());
                    tokio::spawn(later(Arc::clone(&to), stream, time));
                    continue;
                }
            }
        }
        to.stream.lock().await.write_all(&frame).await?;
    }
}

/// Sends the delayed frames in one piece, before any later frame of the call.
async fn later(to: Arc<ToServer>, stream: u32, time: Duration) {
    tokio::time::sleep(time).await;
    let mut writer = to.stream.lock().await;
    let frames = lock(&to.waiting).remove(&stream);
    if let Some(frames) = frames {
        // The reading side notices the end of the connection.
        let _ = writer.write_all(&frames).await;
    }
}
