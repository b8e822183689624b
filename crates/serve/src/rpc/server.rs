//! Index server or document server in a process of its own.

use super::health::Health;
use super::offered::{OfferedIndexes, RpcServices};
use super::services::{DocumentService, IndexService};
use crate::admin::metrics_server::MetricsServer;
use crate::api::backend::Server;
use crate::api::draining::Draining;
use crate::api::error::ServeError;
use crate::metrics::process::ServerMetrics;
use crate::net::reload_signal::{self, log_reload};
use crate::net::socket::{io_runtime, listen_on};
use crate::snapshot::reloads::in_background;
use std::future::Future;
use std::net::{SocketAddr, TcpListener};
use std::pin::Pin;
use std::sync::Arc;
use std::time::Duration;
use tokio::runtime::Runtime;
use tonic::transport::server::{Router, TcpIncoming};
use wire::rpc::document_server_server::DocumentServerServer;
use wire::rpc::index_server_server::IndexServerServer;

/// Notice period of a shutdown: front-ends learn of it from their next health check; until then the
/// server works on.
const NOTICE: Duration = Duration::from_millis(750);
/// Upper limit on the time for requests in work to end.
const DRAIN: Duration = Duration::from_secs(10);
/// Upper limit on a request, in bytes: a page of hits.
const REQUEST_BYTES_MAX: usize = 4 << 20;
/// Upper limit on concurrent requests of one connection; a front-end needs no more than its concurrent
/// queries.
const STREAMS_MAX: u32 = 4096;

/// Listening server of parts of indexes.
pub struct RpcServer {
    listener: TcpListener,
    address: SocketAddr,
    services: RpcServices,
    draining: Draining,
    metrics: Option<MetricsServer>,
    runtime: Runtime,
}

impl RpcServer {
    /// Binds an address for `services`.
    pub fn bind(
        listen: &str,
        services: RpcServices,
        draining: Draining,
    ) -> Result<RpcServer, ServeError> {
        let (listener, address) = listen_on(listen)?;
        Ok(RpcServer {
            listener,
            address,
            services,
            draining,
            metrics: None,
            runtime: io_runtime()?,
        })
    }

    /// Adds metrics and health checks at an HTTP address of their own.
    pub fn with_metrics(
        mut self,
        listen: &str,
        metrics: ServerMetrics,
    ) -> Result<RpcServer, ServeError> {
        self.metrics = Some(MetricsServer::bind(listen, metrics, self.draining.clone())?);
        Ok(self)
    }

    /// Returns the address of the metrics, if there is one.
    pub fn metrics_address(&self) -> Option<SocketAddr> {
        self.metrics.as_ref().map(MetricsServer::address)
    }

    /// Returns the address on which the server listens.
    pub fn address(&self) -> SocketAddr {
        self.address
    }

    /// Answers until `shutdown` completes. Then it announces the end, serves on while front-ends turn
    /// away, and finishes the requests in work. `SIGHUP` opens the newest generation of the index.
    pub fn run_until(
        self,
        shutdown: impl Future<Output = ()> + Send + 'static,
    ) -> Result<(), ServeError> {
        self.run(Box::pin(shutdown))
    }

    /// Not generic, as that of the other server.
    fn run(self, shutdown: Pin<Box<dyn Future<Output = ()> + Send>>) -> Result<(), ServeError> {
        let failed = |reason: String| ServeError::System {
            operation: "serve",
            source: std::io::Error::other(reason),
        };
        let draining = self.draining;
        let services = self.services;
        let metrics = self.metrics.map(MetricsServer::start).transpose()?;
        let served = self.runtime.block_on(async {
            let listener =
                tokio::net::TcpListener::from_std(self.listener).map_err(|e| e.to_string())?;
            let incoming = TcpIncoming::from(listener).with_nodelay(Some(true));
            let reloads = tokio::spawn(reload_on_hangup(services.clone()));
            let looks = tokio::spawn(look(services.index_servers.clone()));
            let looks_at_texts = tokio::spawn(look(services.document_servers.clone()));
            let (begin_drain, drain) = tokio::sync::oneshot::channel::<()>();
            let health = Health::of(&services).await;
            let server = router(&services, &health);
            let server = server.serve_with_incoming_shutdown(incoming, async move {
                shutdown.await;
                draining.begin();
                health.is_ending().await;
                tokio::time::sleep(NOTICE).await;
                health.ends().await;
                let _ = begin_drain.send(());
            });
            let cut = async {
                let _ = drain.await;
                tokio::time::sleep(DRAIN).await;
            };
            let served = tokio::select! {
                served = server => served.map_err(|error| error.to_string()),
                () = cut => Ok(()),
            };
            for task in [reloads, looks, looks_at_texts] {
                task.abort();
            }
            served
        });
        drop(metrics);
        self.runtime.shutdown_timeout(Duration::from_secs(1));
        served.map_err(failed)
    }
}

fn router(services: &RpcServices, health: &Health) -> Router {
    let mut builder = tonic::transport::Server::builder()
        .max_concurrent_streams(STREAMS_MAX)
        .http2_max_pending_accept_reset_streams(Some(64))
        .http2_max_local_error_reset_streams(Some(64));
    let services = services.clone();
    builder
        .add_service(health.service())
        .add_optional_service(services.index_servers.map(|servers| {
            IndexServerServer::new(IndexService(servers))
                .max_decoding_message_size(REQUEST_BYTES_MAX)
        }))
        .add_optional_service(services.document_servers.map(|servers| {
            DocumentServerServer::new(DocumentService(servers))
                .max_decoding_message_size(REQUEST_BYTES_MAX)
        }))
}

async fn reload_on_hangup(services: RpcServices) {
    reload_signal::reload_on_hangup(|| {
        let services = services.clone();
        Box::pin(async move {
            for (name, reloaded) in services.reload().await {
                log_reload(name.as_deref(), reloaded);
            }
        })
    })
    .await;
}

/// Looks for newer generations and for indexes that are gone, at each interval, on one thread for all indexes.
async fn look<S: Server + ?Sized + 'static>(servers: Option<Arc<dyn OfferedIndexes<S>>>) {
    let Some(servers) = servers else { return };
    while let Some(every) = servers.refresh() {
        tokio::time::sleep(every).await;
        let servers = Arc::clone(&servers);
        in_background(move || servers.look()).await;
    }
}
