//! Connections of a server: acceptance, supervision and end.
//!
//! A client that sends or reads slowly costs a socket and a little memory, for a limited time. When the
//! limit on connections is reached, an idle one is closed for a newcomer; where all are busy, a few seats are left for
//! health checks. A client that is being answered when the server ends gets its answer.
//!
//! ```text
//! accept ─► seat (an idle connection gives way) ─► [half closed · write timeout] ─► answer (client, router, output)
//! ```

mod answer;
mod client;
mod connection;
mod half_closed;
mod limits;
mod output;
mod seats;
mod timed_body;

use crate::api::draining::Draining;
use crate::net::write_timeout::with_write_timeout;
use answer::Answers;
use axum::Router;
pub use client::{ClientHeader, Network, TrustedProxies, parse_network};
use half_closed::HalfClosed;
use hyper::service::service_fn;
use hyper_util::rt::{TokioIo, TokioTimer};
use hyper_util::server::graceful::GracefulShutdown;
pub use limits::ConnectionLimits;
use seats::{Full, Seats};
use std::future::Future;
use std::io;
use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Duration;
pub(crate) use timed_body::TooSlow;
use tokio::net::{TcpListener, TcpStream};
use tokio::task::JoinSet;

/// Time for which idle connections stay open at the end: a request on its way must not meet a closed
/// socket. Every answer meanwhile announces the end of its connection.
const LINGER: Duration = Duration::from_secs(1);
/// Time after which busy connections are closed.
const DRAIN: Duration = Duration::from_secs(10);
/// Pause before the next `accept` after an error of the system (usually too many open files).
const PAUSE: Duration = Duration::from_millis(50);

/// Answers connections until `shutdown` completes, then drains.
pub(crate) async fn serve(
    listener: TcpListener,
    router: Router,
    limits: &ConnectionLimits,
    draining: &Draining,
    shutdown: impl Future<Output = ()>,
) -> io::Result<()> {
    let mut taking = Taking {
        seats: Seats::new(limits),
        answers: Answers::new(router, limits),
        limits,
        ending: GracefulShutdown::new(),
        connections: JoinSet::new(),
    };
    tokio::pin!(shutdown);
    loop {
        tokio::select! {
            biased;
            () = &mut shutdown => break,
            accepted = listener.accept() => match accepted {
                Ok((stream, peer)) => taking.take(stream, peer).await,
                Err(error) if is_of_connection(&error) => {}
                Err(_) => tokio::time::sleep(PAUSE).await,
            },
            Some(_) = taking.connections.join_next(), if !taking.connections.is_empty() => {}
        }
    }
    draining.begin();
    // Connections that the system has accepted already are answered too.
    while let Ok(Ok((stream, peer))) = tokio::time::timeout(Duration::ZERO, listener.accept()).await
    {
        taking.take(stream, peer).await;
    }
    drop(listener);
    let mut connections = taking.connections;
    let all_ended = async { while connections.join_next().await.is_some() {} };
    if tokio::time::timeout(LINGER, all_ended).await.is_err() {
        let _ = tokio::time::timeout(DRAIN, taking.ending.shutdown()).await;
    }
    Ok(())
}

/// State of the accept loop.
struct Taking<'a> {
    seats: Arc<Seats>,
    answers: Arc<Answers>,
    limits: &'a ConnectionLimits,
    ending: GracefulShutdown,
    connections: JoinSet<()>,
}

impl Taking<'_> {
    /// Begins to serve a connection, or closes it if there is no seat for it.
    async fn take(&mut self, stream: TcpStream, peer: SocketAddr) {
        let seat = loop {
            match self.seats.take(peer.ip()) {
                Ok(seat) => break seat,
                Err(Full::Busy) => return,
                // Those who come meanwhile wait in the queue of the system.
                Err(Full::For(time)) => tokio::time::sleep(time).await,
            }
        };
        // An answer is one small write, so waiting to fill a packet would only delay it. The call fails
        // only on a closed connection, which the next read will notice.
        let _ = stream.set_nodelay(true);
        let mut builder = hyper::server::conn::http1::Builder::new();
        builder
            .timer(TokioTimer::new())
            .header_read_timeout(self.limits.head_timeout)
            .max_header_size(self.limits.head_bytes_max);
        let connection = Arc::clone(&seat.connection);
        let stream = HalfClosed::new(stream, Arc::clone(&connection));
        let io = TokioIo::new(with_write_timeout(stream, self.limits.write_timeout));
        let answers = Arc::clone(&self.answers);
        let answered = Arc::clone(&connection);
        let is_for_health = seat.is_for_health;
        let service =
            service_fn(move |request| answers.begin(&answered, peer.ip(), is_for_health, request));
        let served = self.ending.watch(builder.serve_connection(io, service));
        self.connections.spawn(async move {
            // The seat is released with the connection, however it ends.
            let _seat = seat;
            // Errors of one connection concern only its client.
            tokio::select! {
                _ = served => {}
                () = connection.closed() => {}
            }
        });
    }
}

/// Returns whether an error concerns a connection that ended before `accept`; all other errors are the
/// system's.
fn is_of_connection(error: &io::Error) -> bool {
    use io::ErrorKind::{ConnectionAborted, ConnectionRefused, ConnectionReset};
    matches!(
        error.kind(),
        ConnectionAborted | ConnectionRefused | ConnectionReset
    )
}
