//! The gRPC service of the queues. Calls that touch the disk run on threads that may wait, a few for all calls.
mod budget;
mod connections;
mod giving;
mod groups;
mod messages;
mod rpc;
mod shared;

use super::queues::Queues;
use crate::frontier::FrontierError;
pub(in crate::queues) use connections::Patience;
use connections::serve_connection;
use hyper::body::Incoming;
use shared::Shared;
use std::future::Future;
use std::pin::pin;
use std::sync::Arc;
use std::time::Duration;
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::{OwnedSemaphorePermit, Semaphore, mpsc, watch};
use tokio::task::JoinSet;
use tonic::codegen::Service;
use wire::urlfrontier::url_frontier_server::UrlFrontierServer;

/// Largest message, in bytes: a batch of the links of a large page.
const MESSAGE_BYTES_MAX: usize = 16 << 20;
/// Time that open streams have to end when the server does.
const DRAIN: Duration = Duration::from_secs(2);
/// Connections of clients.
const CONNECTIONS_MAX: usize = 256;
/// Pause after a connection could not be accepted.
const ACCEPT_PAUSE: Duration = Duration::from_millis(50);

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
    serve_patiently(queues, listener, shutdown, Patience::default()).await
}

/// Does the same with other times, for tests.
pub(in crate::queues) async fn serve_patiently(
    queues: Queues,
    listener: TcpListener,
    shutdown: impl Future<Output = ()>,
    patience: Patience,
) -> Result<(), ServeError> {
    let address = listener.local_addr().map(|address| address.to_string());
    let (failed, mut failures) = mpsc::unbounded_channel();
    let (end, ending) = watch::channel(false);
    let shared = Shared::new(queues, failed, ending);
    let service = rpc::QueueService {
        shared: shared.clone(),
        address: address.unwrap_or_default(),
    };
    let service = UrlFrontierServer::new(service).max_decoding_message_size(MESSAGE_BYTES_MAX);
    let seats = Arc::new(Semaphore::new(CONNECTIONS_MAX));
    let mut connections = JoinSet::new();
    let mut shutdown = pin!(shutdown);
    let failure = loop {
        tokio::select! {
            () = &mut shutdown => break None,
            error = failures.recv() => break error,
            Some(_) = connections.join_next() => {}
            accepted = accept(&listener, &seats) => {
                let Some((stream, seat)) = accepted else { continue };
                let (service, ended) = (service.clone(), shared.clone());
                let answer = move |request| answer(service.clone(), request);
                connections.spawn(async move {
                    serve_connection(stream, answer, patience, ended.ended()).await;
                    drop(seat);
                });
            }
        }
    };
    drop(listener);
    let _ = end.send(true);
    let drained = async { while connections.join_next().await.is_some() {} };
    if tokio::time::timeout(DRAIN, drained).await.is_err() {
        connections.shutdown().await;
    }
    match failure {
        Some(error) => Err(error.into()),
        None => Ok(shared.locked(|queues| queues.checkpoint())?),
    }
}

/// Accepts a connection when there is a seat for it. Others wait in the queue of the system.
async fn accept(
    listener: &TcpListener,
    seats: &Arc<Semaphore>,
) -> Option<(TcpStream, OwnedSemaphorePermit)> {
    let seat = seats.clone().acquire_owned().await.ok()?;
    match listener.accept().await {
        Ok((stream, _)) => Some((stream, seat)),
        Err(_) => {
            // Out of descriptors, or a connection that was gone before it was accepted.
            tokio::time::sleep(ACCEPT_PAUSE).await;
            None
        }
    }
}

/// Answers a call.
async fn answer(
    mut service: UrlFrontierServer<rpc::QueueService>,
    request: hyper::Request<Incoming>,
) -> hyper::Response<tonic::body::Body> {
    match service.call(request).await {
        Ok(answer) => answer,
        Err(never) => match never {},
    }
}
