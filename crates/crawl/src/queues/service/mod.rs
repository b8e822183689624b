//! The gRPC service of the queues. Calls that touch the disk run on threads that may wait.
mod groups;
mod messages;
mod rpc;
mod shared;

use super::queues::Queues;
use crate::frontier::FrontierError;
use shared::Shared;
use std::future::Future;
use std::time::Duration;
use tokio::net::TcpListener;
use tokio::sync::{mpsc, oneshot};
use tokio_stream::wrappers::TcpListenerStream;
use wire::urlfrontier::url_frontier_server::UrlFrontierServer;

/// Largest message, in bytes: a batch of the links of a large page.
const MESSAGE_BYTES_MAX: usize = 16 << 20;
/// Time that open streams have to end when the server does.
const DRAIN: Duration = Duration::from_secs(2);

/// The server of queues ended otherwise than asked for.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ServeError {
    /// The connections to clients failed.
    #[error("the server of queues failed: {0}")]
    Server(String),
    /// The disk refused: what was not acknowledged may be lost.
    #[error(transparent)]
    Frontier(#[from] FrontierError),
}

/// Serves queues until `shutdown` ends or the disk refuses. Ends with a checkpoint.
pub async fn serve(
    queues: Queues,
    listener: TcpListener,
    shutdown: impl Future<Output = ()>,
) -> Result<(), ServeError> {
    let address = listener.local_addr().map(|address| address.to_string());
    let (failed, mut failures) = mpsc::unbounded_channel();
    let shared = Shared::new(queues, failed);
    let service = rpc::QueueService {
        shared: shared.clone(),
        address: address.unwrap_or_default(),
    };
    let service = UrlFrontierServer::new(service).max_decoding_message_size(MESSAGE_BYTES_MAX);
    let (end, ending) = oneshot::channel::<()>();
    let server = tonic::transport::Server::builder()
        .add_service(service)
        .serve_with_incoming_shutdown(TcpListenerStream::new(listener), async {
            let _ = ending.await;
        });
    let mut server = tokio::spawn(server);
    let failure = tokio::select! {
        () = shutdown => None,
        error = failures.recv() => error,
        ended = &mut server => {
            return match ended {
                Ok(Ok(())) => Ok(()),
                Ok(Err(error)) => Err(ServeError::Server(error.to_string())),
                Err(error) => Err(ServeError::Server(error.to_string())),
            };
        }
    };
    let _ = end.send(());
    if tokio::time::timeout(DRAIN, &mut server).await.is_err() {
        server.abort();
    }
    match failure {
        Some(error) => Err(error.into()),
        None => Ok(shared.locked(|queues| queues.checkpoint())?),
    }
}
