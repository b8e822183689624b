//! Listener for `/metrics` and `/healthz` of a gRPC process, on a thread of its own.

use crate::admin::guard::Guard;
use crate::api::draining::Draining;
use crate::api::error::ServeError;
use crate::metrics::process::ServerMetrics;
use crate::net::side::{Side, SideThread};
use crate::net::socket::listen_on;
use axum::Router;
use axum::extract::State;
use axum::http::{StatusCode, header};
use axum::response::IntoResponse;
use axum::routing::get;
use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Duration;

const UPKEEP: Duration = Duration::from_secs(5);

/// Bound listener that does not answer yet.
pub(crate) struct MetricsServer {
    side: Side,
    guard: Guard,
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
            side: Side { listener, address },
            guard: Guard::new(address, Some(listen), None),
            told,
        })
    }

    pub(crate) fn address(&self) -> SocketAddr {
        self.side.address
    }

    /// Begins to answer, until the returned thread is dropped: metrics are wanted while the server
    /// drains too.
    pub(crate) fn start(self) -> Result<SideThread, ServeError> {
        let metrics = Arc::clone(&self.told.metrics);
        let routes = Router::new()
            .route("/metrics", get(metrics_text))
            .route("/healthz", get(health));
        let router = self.guard.around(routes).with_state(self.told);
        let upkeep = async move {
            let mut ticks = tokio::time::interval(UPKEEP);
            loop {
                ticks.tick().await;
                metrics.upkeep();
            }
        };
        self.side.start("metrics", router, upkeep)
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
