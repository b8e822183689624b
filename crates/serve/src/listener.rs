//! The connections of a server: taken, watched, ended.
//!
//! A client that is slow to ask or slow to read costs a socket and a little memory, and not for long; one
//! too many is turned away at once. Whoever is being answered when the server ends gets the answer.

use crate::draining::Draining;
use crate::patience::Patient;
use axum::Router;
use hyper_util::rt::{TokioIo, TokioTimer};
use hyper_util::service::TowerToHyperService;
use std::future::Future;
use std::io;
use std::time::Duration;
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::watch;
use tokio::task::JoinSet;

/// How connections are treated.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ConnectionLimits {
    /// Connections at once; further ones are closed as they come.
    pub connections_max: usize,
    /// A request's head must be there after so long, counted from the last answer.
    pub head_timeout: Duration,
    /// A client that takes nothing of an answer for so long is left.
    pub write_timeout: Duration,
    /// The longest head of a request, in bytes.
    pub head_bytes_max: usize,
}

impl Default for ConnectionLimits {
    fn default() -> Self {
        ConnectionLimits {
            connections_max: 4096,
            head_timeout: Duration::from_secs(10),
            write_timeout: Duration::from_secs(10),
            head_bytes_max: 32 * 1024,
        }
    }
}

/// At the end, idle connections stay open for so long: a request that is on its way must not meet a closed
/// door. Every answer meanwhile tells its client that the connection ends with it.
const LINGER: Duration = Duration::from_secs(1);
/// Connections that are still busy after so long are cut.
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
    let mut connections = JoinSet::new();
    tokio::pin!(shutdown);
    loop {
        tokio::select! {
            biased;
            () = &mut shutdown => break,
            accepted = listener.accept() => match accepted {
                Ok((stream, _)) => take(stream, &router, limits, &ended, &mut connections),
                Err(error) if is_of_connection(&error) => {}
                Err(_) => tokio::time::sleep(PAUSE).await,
            },
            Some(_) = connections.join_next(), if !connections.is_empty() => {}
        }
    }
    draining.begin();
    // Whoever the system has let in already is answered too.
    while let Ok(Ok((stream, _))) = tokio::time::timeout(Duration::ZERO, listener.accept()).await {
        take(stream, &router, limits, &ended, &mut connections);
    }
    drop(listener);
    let all_ended = async { while connections.join_next().await.is_some() {} };
    tokio::pin!(all_ended);
    if tokio::time::timeout(LINGER, &mut all_ended).await.is_err() {
        let _ = end.send(true);
        let _ = tokio::time::timeout(DRAIN, all_ended).await;
    }
    Ok(())
}

fn take(
    stream: TcpStream,
    router: &Router,
    limits: &ConnectionLimits,
    ended: &watch::Receiver<bool>,
    connections: &mut JoinSet<()>,
) {
    if connections.len() >= limits.connections_max {
        return;
    }
    // An answer is one small write: waiting to fill a packet would only add to its time. That
    // fails only on a connection that is gone, which reading it will notice.
    let _ = stream.set_nodelay(true);
    let mut builder = hyper::server::conn::http1::Builder::new();
    builder
        .timer(TokioTimer::new())
        .header_read_timeout(limits.head_timeout)
        .max_buf_size(limits.head_bytes_max);
    let io = TokioIo::new(Patient::new(stream, limits.write_timeout));
    let service = TowerToHyperService::new(router.clone());
    let mut ended = ended.clone();
    connections.spawn(async move {
        let connection = builder.serve_connection(io, service);
        tokio::pin!(connection);
        let ended = async move {
            let _ = ended.wait_for(|ended| *ended).await;
        };
        // What goes wrong with one connection is its client's to notice.
        tokio::select! {
            _ = &mut connection => {}
            () = ended => {
                connection.as_mut().graceful_shutdown();
                let _ = connection.await;
            }
        }
    });
}

/// Errors of a connection that ended before it was taken; everything else is the system's.
fn is_of_connection(error: &io::Error) -> bool {
    use io::ErrorKind::{ConnectionAborted, ConnectionRefused, ConnectionReset};
    matches!(
        error.kind(),
        ConnectionAborted | ConnectionRefused | ConnectionReset
    )
}
