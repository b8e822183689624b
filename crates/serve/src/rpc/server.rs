//! Index server or document server in a process of its own.

use super::{convert, failure, values};
use crate::admin::metrics_server::MetricsServer;
use crate::api::backend::{DocumentServer, IndexServer};
use crate::api::draining::Draining;
use crate::api::error::ServeError;
use crate::api::messages::{
    CountFacetsRequest, CountSitesRequest, DetailsRequest, SearchRequest, StatusRequest,
    SummariesOf, SummariesRequest, TextSummary,
};
use crate::api::reply::Reply;
use crate::api::server_error::ServerError;
use crate::metrics::process::ServerMetrics;
use crate::net::reload_signal;
use crate::net::socket::{io_runtime, listen_on};
use crate::snapshot::reloads::{Reloaded, Reloads};
use fields::Facet;
use index::DocId;
use std::future::Future;
use std::net::{SocketAddr, TcpListener};
use std::sync::Arc;
use std::time::Duration;
use tokio::runtime::Runtime;
use tokio::task::block_in_place;
use tonic::transport::server::{Router, TcpIncoming};
use tonic::{Request, Response, Status};
use wire::rpc;
use wire::rpc::document_server_server::{self as documents, DocumentServerServer};
use wire::rpc::index_server_server::{self as indexes, IndexServerServer};

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

/// Services of a process.
#[derive(Clone)]
pub struct RpcServices {
    /// Index server of the partition, if the process has one.
    pub index_server: Option<Arc<dyn IndexServer>>,
    /// Document server, if the process has one.
    pub document_server: Option<Arc<dyn DocumentServer>>,
}

/// Listening server of one part of an index.
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
        let failed = |reason: String| ServeError::System {
            operation: "serve",
            source: std::io::Error::other(reason),
        };
        let draining = self.draining;
        let services = Services::new(self.services);
        let metrics = self.metrics.map(MetricsServer::start).transpose()?;
        let served = self.runtime.block_on(async {
            let listener =
                tokio::net::TcpListener::from_std(self.listener).map_err(|e| e.to_string())?;
            let incoming = TcpIncoming::from(listener).with_nodelay(Some(true));
            let reloads = tokio::spawn(reload_on_hangup(services.clone()));
            let (begin_drain, drain) = tokio::sync::oneshot::channel::<()>();
            let server = router(&services).serve_with_incoming_shutdown(incoming, async move {
                shutdown.await;
                draining.begin();
                tokio::time::sleep(NOTICE).await;
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
            reloads.abort();
            served
        });
        drop(metrics);
        self.runtime.shutdown_timeout(Duration::from_secs(1));
        served.map_err(failed)
    }
}

/// Services of a process, and its reloads: one at a time for all callers.
#[derive(Clone)]
struct Services {
    offered: RpcServices,
    reloads: Arc<Reloads<ServerError>>,
}

impl Services {
    fn new(offered: RpcServices) -> Services {
        Services {
            offered,
            reloads: Arc::default(),
        }
    }

    /// Opens the newest generation, off the threads that read requests.
    async fn reload(&self) -> Reloaded<ServerError> {
        let offered = self.offered.clone();
        let given_up = || ServerError::Unreachable {
            reason: "the reload was given up; see the server's log".into(),
        };
        let reload = move || {
            let (reply, answer) = Reply::channel();
            match (&offered.index_server, &offered.document_server) {
                (Some(server), _) => server.reload(reply),
                (None, Some(server)) => server.reload(reply),
                (None, None) => drop(reply),
            }
            answer.blocking_recv().unwrap_or_else(|_| Err(given_up()))
        };
        self.reloads.run(reload, given_up).await
    }

    /// Reloads, and replies as a gRPC message.
    async fn reload_message(&self) -> Result<Response<rpc::ReloadReply>, Status> {
        let reloaded = self.reload().await;
        let generation = reloaded.map_err(|error| failure::status(&error))?;
        Ok(Response::new(rpc::ReloadReply { generation }))
    }
}

fn router(services: &Services) -> Router {
    let mut builder = tonic::transport::Server::builder()
        .max_concurrent_streams(STREAMS_MAX)
        .http2_max_pending_accept_reset_streams(Some(64))
        .http2_max_local_error_reset_streams(Some(64));
    let offered = services.offered.clone();
    builder
        .add_optional_service(offered.index_server.map(|server| {
            IndexServerServer::new(IndexService(server, services.clone()))
                .max_decoding_message_size(REQUEST_BYTES_MAX)
        }))
        .add_optional_service(offered.document_server.map(|server| {
            DocumentServerServer::new(DocumentService(server, services.clone()))
                .max_decoding_message_size(REQUEST_BYTES_MAX)
        }))
}

async fn reload_on_hangup(services: Services) {
    reload_signal::reload_on_hangup(|| {
        let services = services.clone();
        Box::pin(async move { services.reload().await })
    })
    .await;
}

/// Starts a request and waits for its answer. If the client cancels, this future is dropped, which
/// cancels the work of the handlers.
async fn answered<T>(start: impl FnOnce(Reply<T>)) -> Result<T, Status> {
    let (reply, answer) = Reply::channel();
    start(reply);
    match answer.await {
        Ok(answered) => answered.map_err(|error| failure::status(&error)),
        Err(_) => Err(failure::status(&ServerError::Unreachable {
            reason: "the request was given up; see the server's log".into(),
        })),
    }
}

struct IndexService(Arc<dyn IndexServer>, Services);

#[tonic::async_trait]
impl indexes::IndexServer for IndexService {
    async fn status(
        &self,
        request: Request<rpc::StatusRequest>,
    ) -> Result<Response<rpc::StatusReply>, Status> {
        let request = convert::status_request(request.into_inner());
        let status = answered(|reply| self.0.status(&request, reply)).await?;
        Ok(Response::new(convert::status_message(status)))
    }

    async fn search(
        &self,
        request: Request<rpc::SearchRequest>,
    ) -> Result<Response<rpc::SearchReply>, Status> {
        let request = request.into_inner();
        let (query, deadline, generation) = convert::query(request.query)?;
        let asked = SearchRequest {
            k: request.k as usize,
            counted: request.counted,
            sort: request.sort.into_iter().map(values::sort_key).collect(),
            generation,
            deadline,
        };
        let found = answered(|reply| self.0.search(&query, asked, reply)).await?;
        Ok(Response::new(convert::hits_message(found)))
    }

    async fn details(
        &self,
        request: Request<rpc::DetailsRequest>,
    ) -> Result<Response<rpc::DetailsReply>, Status> {
        let request = request.into_inner();
        if request.segment.len() != request.doc.len() {
            return Err(Status::invalid_argument(
                "segments and documents differ in number",
            ));
        }
        let (query, deadline, generation) = convert::query(request.query)?;
        let docs = request.doc.into_iter().map(DocId);
        let asked = DetailsRequest {
            hits: request.segment.into_iter().zip(docs).collect(),
            explain: request.explain,
            lacks: request.lacks,
            bytes_max: convert::bytes_max(request.bytes_max),
            generation,
            deadline,
        };
        let hits = answered(|reply| self.0.details(&query, asked, reply)).await?;
        Ok(Response::new(convert::details_message(hits)))
    }

    async fn count_sites(
        &self,
        request: Request<rpc::CountSitesRequest>,
    ) -> Result<Response<rpc::CountSitesReply>, Status> {
        let request = request.into_inner();
        let (query, deadline, generation) = convert::query(request.query)?;
        let asked = CountSitesRequest {
            sites: request.sites.into(),
            limit: request.limit,
            generation,
            deadline,
        };
        let counts = answered(|reply| self.0.count_sites(&query, asked, reply)).await?;
        Ok(Response::new(rpc::CountSitesReply { counts }))
    }

    async fn count_facets(
        &self,
        request: Request<rpc::CountFacetsRequest>,
    ) -> Result<Response<rpc::CountFacetsReply>, Status> {
        let request = request.into_inner();
        let (query, deadline, generation) = convert::query(request.query)?;
        let asked = StatusRequest::default();
        let status = answered(|reply| self.0.status(&asked, reply)).await?;
        let facets = request.facets.iter();
        let facets: Result<Vec<Facet>, _> = facets
            .map(|text| Facet::parse(text, &status.fields))
            .collect();
        let asked = CountFacetsRequest {
            facets: facets
                .map_err(|bad| Status::invalid_argument(bad.reason))?
                .into(),
            is_whole: request.whole,
            generation,
            deadline,
        };
        let facets = answered(|reply| self.0.count_facets(&query, asked, reply)).await?;
        Ok(Response::new(values::facets_message(facets)))
    }

    async fn reload(
        &self,
        _request: Request<rpc::ReloadRequest>,
    ) -> Result<Response<rpc::ReloadReply>, Status> {
        self.1.reload_message().await
    }
}

struct DocumentService(Arc<dyn DocumentServer>, Services);

#[tonic::async_trait]
impl documents::DocumentServer for DocumentService {
    async fn status(
        &self,
        request: Request<rpc::StatusRequest>,
    ) -> Result<Response<rpc::StatusReply>, Status> {
        let request = convert::status_request(request.into_inner());
        let status = answered(|reply| self.0.status(&request, reply)).await?;
        Ok(Response::new(convert::status_message(status)))
    }

    async fn summaries(
        &self,
        request: Request<rpc::SummariesRequest>,
    ) -> Result<Response<rpc::SummariesReply>, Status> {
        let request = request.into_inner();
        let asked = SummariesRequest {
            query_id: request.query_id,
            deadline: convert::deadline(request.left_us),
            generation: request.generation,
            of: match request.urls.is_empty() {
                false => SummariesOf::Urls(request.urls),
                true => SummariesOf::UrlHashes(request.url_hashes),
            },
            terms: convert::terms(request.terms).into(),
            fields: request.fields,
        };
        let made = answered(|reply| self.0.summaries(asked, reply)).await?;
        let one = |summary: Option<TextSummary>| {
            let found = summary.is_some();
            let TextSummary { url, html, fields } = summary.unwrap_or_default();
            rpc::Summary {
                found,
                html,
                url,
                fields,
            }
        };
        Ok(Response::new(rpc::SummariesReply {
            summaries: made.into_iter().map(one).collect(),
        }))
    }

    async fn document(
        &self,
        request: Request<rpc::DocumentRequest>,
    ) -> Result<Response<rpc::DocumentReply>, Status> {
        let url = request.into_inner().url;
        let found = answered(|reply| block_in_place(|| self.0.document(&url, reply))).await?;
        let document = match &found {
            Some(found) => serde_json::to_string(found).map_err(|error| {
                Status::internal(format!("the document cannot be written: {error}"))
            })?,
            None => String::new(),
        };
        Ok(Response::new(rpc::DocumentReply {
            found: found.is_some(),
            document,
        }))
    }

    async fn reload(
        &self,
        _request: Request<rpc::ReloadRequest>,
    ) -> Result<Response<rpc::ReloadReply>, Status> {
        self.1.reload_message().await
    }
}
