//! Requests to end the program (Ctrl-C, SIGTERM).

use anyhow::Context;
use std::future::Future;
use std::time::Duration;
use tokio::runtime::Runtime;
use tokio::signal::unix::{SignalKind, signal};
use tokio::sync::watch;

/// Listener for the signals. While it exists, they do not kill the process: its owner must check it, and can clean
/// up before the end.
pub struct Interrupt {
    asked: watch::Receiver<bool>,
    /// Runtime of the listener and of sleeps.
    runtime: Runtime,
}

impl Interrupt {
    /// Starts listening. Both signals are registered on return.
    pub fn listen() -> anyhow::Result<Interrupt> {
        let runtime = tokio::runtime::Builder::new_multi_thread()
            .worker_threads(1)
            .thread_name("signals")
            .enable_io()
            .enable_time()
            .build()
            .context("cannot start a thread")?;
        let (ask, asked) = watch::channel(false);
        let entered = runtime.enter();
        let mut interrupted = signal(SignalKind::interrupt()).context("cannot hear Ctrl-C")?;
        let mut terminated = signal(SignalKind::terminate()).context("cannot hear SIGTERM")?;
        drop(entered);
        runtime.spawn(async move {
            tokio::select! {
                _ = interrupted.recv() => {}
                _ = terminated.recv() => {}
            }
            // Fails only if no receiver is left.
            let _ = ask.send(true);
        });
        Ok(Interrupt { asked, runtime })
    }

    /// Returns whether a signal asked for the end.
    pub fn is_asked(&self) -> bool {
        *self.asked.borrow()
    }

    /// Sleeps. Returns `false`, at once, when a signal asks for the end.
    pub fn sleep(&self, pause: Duration) -> bool {
        let asked = self.asked();
        let slept = async move { tokio::time::timeout(pause, asked).await };
        self.runtime.block_on(slept).is_err()
    }

    /// Returns a future that is ready when a signal asks for the end.
    pub fn asked(&self) -> impl Future<Output = ()> + Send + 'static {
        let mut asked = self.asked.clone();
        async move {
            let _ = asked.wait_for(|asked| *asked).await;
        }
    }
}
