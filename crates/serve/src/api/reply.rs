//! Reply to one request, and its cancellation.

use engine::calls::PartError;
use tokio::sync::oneshot;

/// Sender for the answer of one request. A reply dropped without an answer is an error for the caller,
/// never a missing part of the answer.
#[derive(Debug)]
pub struct Reply<T>(oneshot::Sender<Result<T, PartError>>);

/// Receiver for the answer of one request.
pub(crate) type Answer<T> = oneshot::Receiver<Result<T, PartError>>;

impl<T> Reply<T> {
    /// Returns a reply and its receiver. Dropping the receiver cancels the request.
    pub fn channel() -> (Reply<T>, Answer<T>) {
        let (sender, receiver) = oneshot::channel();
        (Reply(sender), receiver)
    }

    /// Sends the answer. A caller that no longer waits is no error.
    pub fn send(self, result: Result<T, PartError>) {
        let _ = self.0.send(result);
    }

    /// Sends `result`, or the error of `verify`. `verify` runs when the answer is complete; it fails if
    /// the bytes that were read are not those that were verified. Errors are verified too, since
    /// changed bytes may have caused them.
    pub fn send_verified<E: Into<PartError>>(
        self,
        result: Result<T, PartError>,
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
