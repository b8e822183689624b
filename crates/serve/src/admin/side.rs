//! A small HTTP listener with a thread of its own, beside the main business of a process.
//!
//! What it answers does not wait for the threads that read queries, however much these have to do.

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

/// Few ask: a scraper or two, and those who watch the process.
const CONNECTIONS_MAX: usize = 64;
/// Longest time for requests in work at the end.
const END: Duration = Duration::from_secs(1);

/// The address is taken; no request is answered yet.
pub(crate) struct Side {
    pub(crate) listener: TcpListener,
    pub(crate) address: SocketAddr,
}

/// A listener that answers. Dropping it ends it.
pub(crate) struct SideThread {
    end: Option<oneshot::Sender<()>>,
    thread: Option<JoinHandle<()>>,
}

impl Side {
    /// Answers by `router` until the returned thread is dropped: also while the process drains, of which it tells.
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
                    ..ConnectionLimits::default()
                };
                // Of its own: this listener does not end when the server does.
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
            // It catches the panics of requests; there is nothing to learn from the result.
            let _ = thread.join();
        }
    }
}
