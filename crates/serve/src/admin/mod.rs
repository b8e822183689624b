//! Administration of a server: `/reload`, `/metrics`, `/healthz`, writing and the status of a crawl, away from the public port.
//!
//! ```text
//! public port ──► search, documents, health          any number of clients, I/O threads
//! admin port  ──► guard (Host, token, Origin) ──► reload, metrics, health, crawl     a thread of its own
//!                                              └─► writing (crate::writes)            threads of their own
//! ```
//!
//! Invariants: no public route changes what is served; an address other than loopback requires a token;
//! `/healthz` answers whatever the load on the I/O threads of the public port.

mod crawl;
pub(crate) mod metrics_server;

pub(crate) mod guard;
mod token;

use crate::api::error::ServeError;
use crate::http::app::{App, ServerState};
use crate::http::failure::status;
use crate::http::layers::finished;
use crate::http::routes::health;
use crate::net::response::{JSON, refusal, respond};
use crate::net::side::{Side, SideThread};
use crate::net::socket::listen_on;
use crate::writes;
use axum::Extension;
use axum::Router;
use axum::body::Body;
use axum::http::{Response, StatusCode};
use axum::middleware::map_response_with_state;
use axum::routing::{get, post};
use guard::Guard;
use std::net::{Ipv4Addr, SocketAddr};
use std::sync::Arc;
pub use token::AdminToken;

/// Address of the administration.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub enum AdminAddress {
    /// Loopback, at the port after the public one; any free port if that one is taken or the public
    /// port is 0.
    #[default]
    Beside,
    /// A given address and port.
    At(String),
    /// No address: metrics cannot be read, and a reload takes a signal.
    Off,
}

/// Options of the administration.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct AdminOptions {
    /// Address to listen on.
    pub address: AdminAddress,
    /// Token required of every request but health checks; an address other than loopback needs one.
    pub token: Option<AdminToken>,
}

/// Bound listener that does not answer yet.
pub(crate) struct AdminServer {
    side: Side,
    guard: Guard,
}

impl AdminServer {
    /// Binds the address of `options`; `None` where administration is off. `public` is the public
    /// address; `is_any_port` tells whether the system chose its port, `host_names` are further names of the server.
    pub(crate) fn bind(
        options: &AdminOptions,
        public: SocketAddr,
        is_any_port: bool,
        host_names: &[String],
    ) -> Result<Option<AdminServer>, ServeError> {
        let named = match &options.address {
            AdminAddress::Off => return Ok(None),
            AdminAddress::Beside => None,
            AdminAddress::At(address) => Some(address.as_str()),
        };
        let (listener, address) = match named {
            None => beside(public, is_any_port)?,
            Some(address) => listen_on(address).map_err(|error| ServeError::Options {
                option: "--admin",
                reason: error.to_string(),
            })?,
        };
        if !address.ip().is_loopback() && options.token.is_none() {
            return Err(ServeError::Options {
                option: "--admin",
                reason: format!(
                    "{address} can be reached from other machines: demand a token with --admin-token-file FILE, \
                     or listen at 127.0.0.1"
                ),
            });
        }
        let guard = Guard::new(address, named, options.token.clone()).with_names(host_names);
        Ok(Some(AdminServer {
            side: Side { listener, address },
            guard,
        }))
    }

    pub(crate) fn address(&self) -> SocketAddr {
        self.side.address
    }

    /// Begins to answer with `routes` on a thread of its own, until the returned thread is dropped.
    pub(crate) fn start(
        self,
        routes: Router,
        server: &Arc<ServerState>,
    ) -> Result<SideThread, ServeError> {
        let routes = routes.layer(Extension(Arc::clone(server)));
        let router = self
            .guard
            .around(routes)
            .layer(map_response_with_state(server.draining.clone(), finished));
        self.side.start("admin", router, std::future::pending())
    }
}

/// Returns the administration of a server of one index.
pub(crate) fn routes(app: Arc<App>) -> Router {
    index_routes()
        .route("/healthz", get(health_of_writer))
        .route("/metrics", get(metrics_text))
        .layer(Extension(app))
}

/// Returns the administration of an index, which each request carries as an extension.
pub(crate) fn index_routes() -> Router {
    let routes = Router::new().route("/reload", post(reload));
    crawl::with_routes(writes::with_routes(routes))
        .fallback(async || {
            refusal(
                StatusCode::NOT_FOUND,
                "nothing is here; the admin address has GET /metrics, GET /healthz, GET /rules, GET /crawl, POST /crawl/stop \
                 and POST /reload, and a server that writes /documents, /rules, /refresh and /delete-by-query",
            )
        })
        .method_not_allowed_fallback(async || {
            refusal(
                StatusCode::METHOD_NOT_ALLOWED,
                "GET /metrics, GET /healthz, GET /rules, GET /crawl, POST /crawl/stop and POST /reload are answered here, and \
                 by a server that writes GET, POST, PATCH and DELETE /documents, PUT /rules, POST /refresh and POST \
                 /delete-by-query",
            )
        })
}

/// Binds a loopback address at the port after the public one, or at a free one.
fn beside(
    public: SocketAddr,
    is_any_port: bool,
) -> Result<(std::net::TcpListener, SocketAddr), ServeError> {
    let at = |port| listen_on(&SocketAddr::from((Ipv4Addr::LOCALHOST, port)).to_string());
    match public.port().checked_add(1) {
        Some(port) if !is_any_port => at(port).or_else(|_| at(0)),
        _ => at(0),
    }
}

/// Reports whether the server takes requests, and whether it writes where it should.
async fn health_of_writer(Extension(app): Extension<Arc<App>>) -> Response<Body> {
    let writer = app.writer.opened().map(|writer| writer.current());
    match writer.and_then(|writer| writer.failure_now()) {
        Some(failure) if !app.server.draining.has_begun() => {
            let text = format!("ok, but nothing is written: {failure}\n");
            respond(StatusCode::OK, "text/plain; charset=utf-8", text)
        }
        _ => health(Extension(Arc::clone(&app.server))).await,
    }
}

async fn metrics_text(Extension(app): Extension<Arc<App>>) -> Response<Body> {
    exposed(move || app.render_all()).await
}

/// Answers with metrics that are rendered beside this thread, which answers health checks.
pub(crate) async fn exposed(render: impl FnOnce() -> String + Send + 'static) -> Response<Body> {
    const TEXT: &str = "text/plain; version=0.0.4; charset=utf-8";
    match tokio::task::spawn_blocking(render).await {
        Ok(text) => respond(StatusCode::OK, TEXT, text),
        Err(_) => refusal(
            StatusCode::INTERNAL_SERVER_ERROR,
            "the metrics cannot be told; see the server's log",
        ),
    }
}

async fn reload(Extension(app): Extension<Arc<App>>) -> Response<Body> {
    match app.reload().await {
        Ok(generation) => {
            let json = serde_json::json!({ "generation": generation });
            respond(StatusCode::OK, JSON, json.to_string())
        }
        // A client that may reload may read the paths of the index.
        Err(error) => refusal(status(&error), &error.to_string()),
    }
}
