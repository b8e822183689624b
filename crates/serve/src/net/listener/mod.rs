//! The connections of a server: taken, watched, ended.
//!
//! A client that is slow to ask or slow to read costs a socket and a little memory, and not for long. Where there are as
//! many connections as there may be, an idle one is closed for a newcomer. A client that is being answered when the server
//! ends gets the answer.
//!
//! ```text
//! accept ─► seat (an idle connection gives way) ─► [half closed · patient] ─► answer (client, router, output)
//! ```

mod answer;
mod client;
mod connection;
mod half_closed;
mod limits;
mod output;
mod seats;

use crate::api::draining::Draining;
use crate::net::write_timeout::Patient;
use answer::Answers;
use axum::Router;
pub use client::{ClientHeader, Network, TrustedProxies, parse_network};
use half_closed::HalfClosed;
use hyper::service::service_fn;
use hyper_util::rt::{TokioIo, TokioTimer};
pub use limits::ConnectionLimits;
use seats::Seats;
use std::future::Future;
use std::io;
use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Duration;
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::watch;
use tokio::task::JoinSet;

/// At the end, idle connections stay open for this time: a request that is on its way must not meet a closed
/// door. Every answer meanwhile tells its client that the connection ends with it.
const LINGER: Duration = Duration::from_secs(1);
/// Time after which busy connections are cut.
const DRAIN: Duration = Duration::from_secs(10);
/// After an error of the system (too many open files, mostly), before the next connection is taken.
const PAUSE: Duration = Duration::from_millis(50);

/// Answers connections until `shutdown` is ready, then drains.
pub(crate) async fn serve(
    listener: TcpListener,
    router: Router,
    limits: &ConnectionLimits,
    draining: &Draining,
    shutdown: impl Future<Output = ()>,
) -> io::Result<()> {
    let (end, ended) = watch::channel(false);
    let mut taking = Taking {
        seats: Seats::new(limits),
        answers: Answers::new(router, limits),
        limits,
        ended,
        connections: JoinSet::new(),
    };
    tokio::pin!(shutdown);
    loop {
        tokio::select! {
            biased;
            () = &mut shutdown => break,
            accepted = listener.accept() => match accepted {
                Ok((stream, peer)) => taking.take(stream, peer),
                Err(error) if is_of_connection(&error) => {}
                Err(_) => tokio::time::sleep(PAUSE).await,
            },
            Some(_) = taking.connections.join_next(), if !taking.connections.is_empty() => {}
        }
    }
    draining.begin();
    // Whoever the system has let in already is answered too.
    while let Ok(Ok((stream, peer))) = tokio::time::timeout(Duration::ZERO, listener.accept()).await
    {
        taking.take(stream, peer);
    }
    drop(listener);
    let mut connections = taking.connections;
    let all_ended = async { while connections.join_next().await.is_some() {} };
    tokio::pin!(all_ended);
    if tokio::time::timeout(LINGER, &mut all_ended).await.is_err() {
        let _ = end.send(true);
        let _ = tokio::time::timeout(DRAIN, all_ended).await;
    }
    Ok(())
}

/// The connections of a listener.
struct Taking<'a> {
    seats: Arc<Seats>,
    answers: Arc<Answers>,
    limits: &'a ConnectionLimits,
    ended: watch::Receiver<bool>,
    connections: JoinSet<()>,
}

impl Taking<'_> {
    /// Begins to answer a connection, or closes it where there is no room for it.
    fn take(&mut self, stream: TcpStream, peer: SocketAddr) {
        let Some(seat) = self.seats.take(peer.ip()) else {
            return;
        };
        // An answer is one small write: waiting to fill a packet would only add to its time. That
        // fails only on a connection that is gone, which reading it will notice.
        let _ = stream.set_nodelay(true);
        let mut builder = hyper::server::conn::http1::Builder::new();
        builder
            .timer(TokioTimer::new())
            .header_read_timeout(self.limits.head_timeout)
            .max_header_size(self.limits.head_bytes_max);
        let connection = Arc::clone(&seat.connection);
        let stream = HalfClosed::new(stream, Arc::clone(&connection));
        let io = TokioIo::new(Patient::new(stream, self.limits.write_timeout));
        let answers = Arc::clone(&self.answers);
        let answered = Arc::clone(&connection);
        let service = service_fn(move |request| answers.begin(&answered, peer.ip(), request));
        let mut ended = self.ended.clone();
        self.connections.spawn(async move {
            // Given up with the connection, however that ends.
            let _seat = seat;
            let served = builder.serve_connection(io, service);
            tokio::pin!(served);
            let ended = async move {
                let _ = ended.wait_for(|ended| *ended).await;
            };
            // What goes wrong with one connection is its client's to notice.
            tokio::select! {
                _ = &mut served => {}
                () = connection.closed() => {}
                () = ended => {
                    served.as_mut().graceful_shutdown();
                    let _ = served.await;
                }
            }
        });
    }
}

/// Errors of a connection that ended before it was taken; everything else is the system's.
fn is_of_connection(error: &io::Error) -> bool {
    use io::ErrorKind::{ConnectionAborted, ConnectionRefused, ConnectionReset};
    matches!(
        error.kind(),
        ConnectionAborted | ConnectionRefused | ConnectionReset
    )
}
