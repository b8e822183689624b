//! Reload on SIGHUP.

use futures_util::future::BoxFuture;
use std::fmt::Display;

/// Logs what became of a reload of the index `index`, which has a name where there are several.
pub(crate) fn log_reload(index: Option<&str>, reloaded: Result<u64, impl Display>) {
    match reloaded {
        Ok(generation) => tracing::info!(index, generation, "serving the newest generation"),
        Err(error) => {
            tracing::error!(index, %error, "the index served before goes on being served")
        }
    }
}

/// Calls `reload`, which logs what became of it, at every SIGHUP. It never returns.
#[cfg(unix)]
pub(crate) async fn reload_on_hangup(mut reload: impl FnMut() -> BoxFuture<'static, ()>) {
    use tokio::signal::unix::{SignalKind, signal};
    let Ok(mut hangups) = signal(SignalKind::hangup()) else {
        return;
    };
    while hangups.recv().await.is_some() {
        reload().await;
    }
}

/// Never returns: this system has no such signal.
#[cfg(not(unix))]
pub(crate) async fn reload_on_hangup(_: impl FnMut() -> BoxFuture<'static, ()>) {
    std::future::pending::<()>().await;
}
