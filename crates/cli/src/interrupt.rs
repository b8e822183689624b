//! Whether a person asked the program to end (Ctrl-C, SIGTERM).

use anyhow::Context;
use std::future::Future;
use tokio::runtime::Runtime;
use tokio::signal::unix::{SignalKind, signal};
use tokio::sync::watch;

/// Remembers the request. While this lives the signals no longer kill the process: whoever holds
/// it must ask it, and has the chance to tidy up.
pub(crate) struct Interrupt {
    asked: watch::Receiver<bool>,
    /// Hears the signals; nothing else runs on it.
    _runtime: Runtime,
}

impl Interrupt {
    /// Listens from here on: both signals are registered when this returns.
    pub(crate) fn listen() -> anyhow::Result<Interrupt> {
        let runtime = tokio::runtime::Builder::new_multi_thread()
            .worker_threads(1)
            .thread_name("signals")
            .enable_io()
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
            // Fails only when nobody wants to know any more.
            let _ = ask.send(true);
        });
        Ok(Interrupt {
            asked,
            _runtime: runtime,
        })
    }

    /// Whether the end was asked for.
    pub(crate) fn is_asked(&self) -> bool {
        *self.asked.borrow()
    }

    /// Ready when the end is asked for.
    pub(crate) fn asked(&self) -> impl Future<Output = ()> + Send + 'static {
        let mut asked = self.asked.clone();
        async move {
            let _ = asked.wait_for(|asked| *asked).await;
        }
    }
}
