//! Reload on SIGHUP.

use futures_util::future::BoxFuture;
use std::fmt::Display;

/// Calls `reload` at every SIGHUP and logs the result: the generation then served, or the error. It
/// never returns.
#[cfg(unix)]
pub(crate) async fn reload_on_hangup<E: Display>(
    mut reload: impl FnMut() -> BoxFuture<'static, Result<u64, E>>,
) {
    use tokio::signal::unix::{SignalKind, signal};
    let Ok(mut hangups) = signal(SignalKind::hangup()) else {
        return;
    };
    while hangups.recv().await.is_some() {
        match reload().await {
            Ok(generation) => tracing::info!(generation, "serving the newest generation"),
            Err(error) => tracing::error!(%error, "the index served before goes on being served"),
        }
    }
}

/// Never returns: this system has no such signal.
#[cfg(not(unix))]
pub(crate) async fn reload_on_hangup<E: Display>(
    _: impl FnMut() -> BoxFuture<'static, Result<u64, E>>,
) {
    std::future::pending::<()>().await;
}
