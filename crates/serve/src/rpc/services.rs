//! Services of a process: calls of the schema become calls of its servers.

use super::convert;
use super::failure::{self, Form};
use crate::api::backend::{DocumentServer, IndexServer};
use crate::api::messages::{
    CountFacetsRequest, CountSitesRequest, DetailsRequest, SearchRequest, StatusRequest,
    SummariesOf, SummariesRequest, TextSummary,
};
use crate::api::reply::Reply;
use crate::encoding::values;
use crate::snapshot::reloads::{Reloaded, Reloads};
use engine::calls::PartError;
use fields::Facet;
use index::DocId;
use std::sync::Arc;
use tokio::task::block_in_place;
use tonic::{Request, Response, Status};
use wire::rpc;
use wire::rpc::document_server_server as documents;
use wire::rpc::index_server_server as indexes;

/// Services of a process.
#[derive(Clone)]
pub struct RpcServices {
    /// Index server of the partition, if the process has one.
    pub index_server: Option<Arc<dyn IndexServer>>,
    /// Document server, if the process has one.
    pub document_server: Option<Arc<dyn DocumentServer>>,
}

/// Services of a process, and its reloads: one at a time for all callers.
#[derive(Clone)]
pub(super) struct Services {
    pub(super) offered: RpcServices,
    reloads: Arc<Reloads<PartError>>,
}

impl Services {
    /// Returns the services with no reload under way.
    pub(super) fn new(offered: RpcServices) -> Services {
        Services {
            offered,
            reloads: Arc::default(),
        }
    }

    /// Opens the newest generation, off the threads that read requests.
    pub(super) async fn reload(&self) -> Reloaded<PartError> {
        let offered = self.offered.clone();
        let given_up = || PartError::Unreachable {
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
    async fn reload_message(&self, form: Form) -> Result<Response<rpc::ReloadReply>, Status> {
        let reloaded = self.reload().await;
        let generation = reloaded.map_err(|error| failure::status(&error, form))?;
        Ok(Response::new(rpc::ReloadReply { generation }))
    }
}

/// Starts a request and waits for its answer; a failure has details in `form`. If the client cancels, this future is
/// dropped, which cancels the work of the handlers.
async fn answered<T>(form: Form, start: impl FnOnce(Reply<T>)) -> Result<T, Status> {
    let (reply, answer) = Reply::channel();
    start(reply);
    let answered = answer.await.unwrap_or_else(|_| {
        Err(PartError::Unreachable {
            reason: "the request was given up; see the server's log".into(),
        })
    });
    answered.map_err(|error| failure::status(&error, form))
}

/// Calls of an index server.
pub(super) struct IndexService(pub(super) Arc<dyn IndexServer>, pub(super) Services);

#[tonic::async_trait]
impl indexes::IndexServer for IndexService {
    async fn status(
        &self,
        request: Request<rpc::StatusRequest>,
    ) -> Result<Response<rpc::StatusReply>, Status> {
        let form = Form::wanted(request.metadata());
        let request = convert::status_request(request.into_inner());
        let status = answered(form, |reply| self.0.status(&request, reply)).await?;
        Ok(Response::new(convert::status_message(status)))
    }

    async fn search(
        &self,
        request: Request<rpc::SearchRequest>,
    ) -> Result<Response<rpc::SearchReply>, Status> {
        let form = Form::wanted(request.metadata());
        let request = request.into_inner();
        let (query, deadline, generation) = convert::query(request.query)?;
        let asked = SearchRequest {
            k: request.k as usize,
            counted: request.counted,
            sort: request.sort.into_iter().map(values::sort_key).collect(),
            after: request.after.map(values::place).transpose()?,
            trace: request.trace,
            generation,
            deadline,
        };
        let found = answered(form, |reply| self.0.search(&query, asked, reply)).await?;
        Ok(Response::new(convert::hits_message(found)))
    }

    async fn details(
        &self,
        request: Request<rpc::DetailsRequest>,
    ) -> Result<Response<rpc::DetailsReply>, Status> {
        let form = Form::wanted(request.metadata());
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
        let hits = answered(form, |reply| self.0.details(&query, asked, reply)).await?;
        Ok(Response::new(convert::details_message(hits)))
    }

    async fn count_sites(
        &self,
        request: Request<rpc::CountSitesRequest>,
    ) -> Result<Response<rpc::CountSitesReply>, Status> {
        let form = Form::wanted(request.metadata());
        let request = request.into_inner();
        let (query, deadline, generation) = convert::query(request.query)?;
        let asked = CountSitesRequest {
            sites: request.sites.into(),
            limit: request.limit,
            generation,
            deadline,
        };
        let counts = answered(form, |reply| self.0.count_sites(&query, asked, reply)).await?;
        Ok(Response::new(rpc::CountSitesReply { counts }))
    }

    async fn count_facets(
        &self,
        request: Request<rpc::CountFacetsRequest>,
    ) -> Result<Response<rpc::CountFacetsReply>, Status> {
        let form = Form::wanted(request.metadata());
        let request = request.into_inner();
        let (query, deadline, generation) = convert::query(request.query)?;
        let asked = StatusRequest::default();
        let status = answered(form, |reply| self.0.status(&asked, reply)).await?;
        let facets = request.facets.iter();
        let facets: Result<Vec<Facet>, _> = facets
            .map(|text| Facet::parse(text, &status.fields))
            .collect();
        let facets = facets.map_err(|bad| Status::invalid_argument(bad.reason))?;
        let chosen = match request.chosen.is_empty() {
            true => Vec::new(),
            false => values::facets(&request.chosen, &facets)
                .ok_or_else(|| Status::invalid_argument("the chosen values cannot be read"))?,
        };
        let asked = CountFacetsRequest {
            facets: facets.into(),
            is_whole: request.whole,
            chosen: chosen.into(),
            generation,
            deadline,
        };
        let facets = answered(form, |reply| self.0.count_facets(&query, asked, reply)).await?;
        Ok(Response::new(rpc::CountFacetsReply {
            counts: values::facets_message(&facets),
        }))
    }

    async fn reload(
        &self,
        request: Request<rpc::ReloadRequest>,
    ) -> Result<Response<rpc::ReloadReply>, Status> {
        let form = Form::wanted(request.metadata());
        self.1.reload_message(form).await
    }
}

/// Calls of a document server.
pub(super) struct DocumentService(pub(super) Arc<dyn DocumentServer>, pub(super) Services);

#[tonic::async_trait]
impl documents::DocumentServer for DocumentService {
    async fn status(
        &self,
        request: Request<rpc::StatusRequest>,
    ) -> Result<Response<rpc::StatusReply>, Status> {
        let form = Form::wanted(request.metadata());
        let request = convert::status_request(request.into_inner());
        let status = answered(form, |reply| self.0.status(&request, reply)).await?;
        Ok(Response::new(convert::status_message(status)))
    }

    async fn summaries(
        &self,
        request: Request<rpc::SummariesRequest>,
    ) -> Result<Response<rpc::SummariesReply>, Status> {
        let form = Form::wanted(request.metadata());
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
        let made = answered(form, |reply| self.0.summaries(asked, reply)).await?;
        let one = |summary: Option<TextSummary>| {
            let found = summary.is_some();
            let TextSummary {
                url,
                html,
                fields,
                cut,
            } = summary.unwrap_or_default();
            rpc::Summary {
                found,
                html,
                url,
                fields,
                cut,
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
        let form = Form::wanted(request.metadata());
        let url = request.into_inner().url;
        let found = answered(form, |reply| {
            block_in_place(|| self.0.document(&url, reply))
        })
        .await?;
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
        request: Request<rpc::ReloadRequest>,
    ) -> Result<Response<rpc::ReloadReply>, Status> {
        let form = Form::wanted(request.metadata());
        self.1.reload_message(form).await
    }
}
