//! Small HTTP listener with a thread of its own.
//!
//! Its answers do not wait for the threads that read queries, however busy those are.

use crate::api::draining::Draining;
use crate::api::error::ServeError;
use crate::net::listener;
use crate::net::listener::ConnectionLimits;
use axum::Router;
use std::future::Future;
use std::net::{SocketAddr, TcpListener};
use std::thread::JoinHandle;
use std::time::Duration;
use tokio::sync::oneshot;

/// Upper limit on connections, and on those of one client: a few scrapers, monitors and writers.
const CONNECTIONS_MAX: usize = 128;
const CONNECTIONS_PER_CLIENT: usize = 32;
/// Upper limit on the threads of requests that wait for the disk or a refresh. More than connections: a request that
/// others wait for must not wait for a thread.
const THREADS_MAX: usize = CONNECTIONS_MAX + 64;
/// Upper limit on the time for requests in work at the end.
const END: Duration = Duration::from_secs(1);

/// Bound listener that does not answer yet.
pub(crate) struct Side {
    pub(crate) listener: TcpListener,
    pub(crate) address: SocketAddr,
}

/// Thread of an answering listener, which ends when dropped.
pub(crate) struct SideThread {
    end: Option<oneshot::Sender<()>>,
    thread: Option<JoinHandle<()>>,
}

impl Side {
    /// Answers with `router` until the returned thread is dropped, also while the process drains.
    /// `beside` runs meanwhile on the same thread.
    pub(crate) fn start(
        self,
        name: &'static str,
        router: Router,
        beside: impl Future<Output = ()> + Send + 'static,
    ) -> Result<SideThread, ServeError> {
        let system = |source| ServeError::System {
            operation: "start a thread",
            source,
        };
        let runtime = tokio::runtime::Builder::new_current_thread()
            .enable_io()
            .enable_time()
            .max_blocking_threads(THREADS_MAX)
            .build()
            .map_err(system)?;
        let (end, ended) = oneshot::channel::<()>();
        let run = move || {
            runtime.block_on(async {
                let Ok(listener) = tokio::net::TcpListener::from_std(self.listener) else {
                    return tracing::error!(address = %self.address, "cannot be listened on");
                };
                let limits = ConnectionLimits {
                    connections_max: CONNECTIONS_MAX,
                    connections_per_client: CONNECTIONS_PER_CLIENT,
                    ..ConnectionLimits::default()
                };
                // The listener has a flag of its own: it does not end when the server does.
                let draining = Draining::default();
                let never = std::future::pending();
                tokio::select! {
                    _ = listener::serve(listener, router, &limits, &draining, never) => {}
                    () = beside => {}
                    _ = ended => {}
                }
            });
            runtime.shutdown_timeout(END);
        };
        let thread = std::thread::Builder::new().name(name.into()).spawn(run);
        Ok(SideThread {
            end: Some(end),
            thread: Some(thread.map_err(system)?),
        })
    }
}

impl Drop for SideThread {
    fn drop(&mut self) {
        drop(self.end.take());
        if let Some(thread) = self.thread.take() {
            // The thread catches the panics of requests, so its result holds no information.
            let _ = thread.join();
        }
    }
}
