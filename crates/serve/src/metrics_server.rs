//! `/metrics` and `/healthz` of a process that otherwise speaks gRPC alone.

use crate::ServeError;
use crate::draining::Draining;
use crate::listener::{self, ConnectionLimits};
use crate::metrics::ServerMetrics;
use crate::server::listen_on;
use axum::Router;
use axum::extract::State;
use axum::http::{StatusCode, header};
use axum::response::IntoResponse;
use axum::routing::get;
use std::net::{SocketAddr, TcpListener};
use std::sync::Arc;
use std::time::Duration;

/// Few ask: a scraper or two, and whoever watches the process.
const CONNECTIONS_MAX: usize = 64;
const UPKEEP: Duration = Duration::from_secs(5);

/// The address is taken; nobody is answered yet.
pub(crate) struct MetricsServer {
    listener: TcpListener,
    address: SocketAddr,
    told: Told,
}

#[derive(Clone)]
struct Told {
    metrics: Arc<ServerMetrics>,
    draining: Draining,
}

impl MetricsServer {
    pub(crate) fn bind(
        listen: &str,
        metrics: ServerMetrics,
        draining: Draining,
    ) -> Result<MetricsServer, ServeError> {
        let (listener, address) = listen_on(listen)?;
        let told = Told {
            metrics: Arc::new(metrics),
            draining,
        };
        Ok(MetricsServer {
            listener,
            address,
            told,
        })
    }

    pub(crate) fn address(&self) -> SocketAddr {
        self.address
    }

    /// Answers for ever: what it tells while the server drains is wanted too.
    pub(crate) async fn run(self) {
        let Ok(listener) = tokio::net::TcpListener::from_std(self.listener) else {
            return tracing::error!("the metrics cannot be served");
        };
        let limits = ConnectionLimits {
            connections_max: CONNECTIONS_MAX,
            ..ConnectionLimits::default()
        };
        let metrics = Arc::clone(&self.told.metrics);
        let router = Router::new()
            .route("/metrics", get(metrics_text))
            .route("/healthz", get(health))
            .with_state(self.told);
        // Of its own: this listener does not end when the server does.
        let draining = Draining::default();
        let never = std::future::pending();
        let upkeep = async {
            let mut ticks = tokio::time::interval(UPKEEP);
            loop {
                ticks.tick().await;
                metrics.upkeep();
            }
        };
        tokio::select! {
            _ = listener::serve(listener, router, &limits, &draining, never) => {}
            () = upkeep => {}
        }
    }
}

async fn metrics_text(State(told): State<Told>) -> impl IntoResponse {
    const TEXT: &str = "text/plain; version=0.0.4; charset=utf-8";
    let headers = [
        (header::CONTENT_TYPE, TEXT),
        (header::CACHE_CONTROL, "no-store"),
    ];
    (headers, told.metrics.render())
}

async fn health(State(told): State<Told>) -> impl IntoResponse {
    match told.draining.has_begun() {
        true => (StatusCode::SERVICE_UNAVAILABLE, "about to end\n"),
        false => (StatusCode::OK, "ok\n"),
    }
}
