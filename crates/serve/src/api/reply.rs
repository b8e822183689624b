//! Reply to one request, and its cancellation.

use crate::api::server_error::ServerError;
use tokio::sync::oneshot;

/// Where the answer of one request goes. Dropped unanswered, it is an error at the other end, never a
/// missing part of the answer.
#[derive(Debug)]
pub struct Reply<T>(oneshot::Sender<Result<T, ServerError>>);

/// An answer on its way.
pub(crate) type Answer<T> = oneshot::Receiver<Result<T, ServerError>>;

impl<T> Reply<T> {
    /// A reply and the answer that it becomes. A server that is waited for elsewhere is abandoned when the
    /// answer is dropped.
    pub fn channel() -> (Reply<T>, Answer<T>) {
        let (sender, receiver) = oneshot::channel();
        (Reply(sender), receiver)
    }

    /// Answers. A client that no longer waits is no error.
    pub fn send(self, result: Result<T, ServerError>) {
        let _ = self.0.send(result);
    }

    /// Answers, unless what was read for the answer turns out not to be what was verified: `verify` says so, and is asked
    /// when the answer is complete. An error is no safer than a value, since it may come of changed bytes too.
    pub fn send_verified<E: Into<ServerError>>(
        self,
        result: Result<T, ServerError>,
        verify: impl FnOnce() -> Result<(), E>,
    ) {
        match verify() {
            Ok(()) => self.send(result),
            Err(error) => self.send(Err(error.into())),
        }
    }

    /// Returns whether the request was cancelled: the client has gone, or has been answered by another replica.
    pub fn is_abandoned(&self) -> bool {
        self.0.is_closed()
    }

    /// Waits for the cancellation of the request.
    pub async fn abandoned(&mut self) {
        self.0.closed().await;
    }
}
