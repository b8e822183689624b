//! Services of a process: calls of the schema become calls of its servers.

use super::failure::{self, Form};
use super::offered::{Offered, OfferedIndexes};
use super::{convert, counts, near_words};
use crate::api::backend::{DocumentServer, IndexServer, Server};
use crate::api::messages::{
    CountFacetsRequest, CountMatchesRequest, DetailsRequest, SearchRequest, StatusRequest,
    SummariesOf, SummariesRequest, TextSummary,
};
use crate::api::reply::Reply;
use crate::encoding::values;
use engine::calls::PartError;
use fields::Facet;
use std::sync::Arc;
use tokio::task::{block_in_place, spawn_blocking};
use tonic::{Request, Response, Status};
use wire::rpc;
use wire::rpc::document_server_server as documents;
use wire::rpc::index_server_server as indexes;

/// Returns the server of an index, which is opened if it is not, off the threads that read requests.
async fn named<S: Server + ?Sized + 'static>(
    servers: &Arc<dyn OfferedIndexes<S>>,
    name: &str,
    form: Form,
) -> Result<Arc<Offered<S>>, Status> {
    match servers.asked(name) {
        Some(offered) => Ok(offered),
        None => {
            let name = name.to_owned();
            beside(servers, move |servers| servers.open(&name), form).await
        }
    }
}

/// Does work that waits for the disk on a thread of its own.
async fn beside<S: Server + ?Sized + 'static, T: Send + 'static>(
    servers: &Arc<dyn OfferedIndexes<S>>,
    work: impl FnOnce(&dyn OfferedIndexes<S>) -> Result<T, PartError> + Send + 'static,
    form: Form,
) -> Result<T, Status> {
    let servers = Arc::clone(servers);
    let done = spawn_blocking(move || work(&*servers)).await;
    let done = done.unwrap_or_else(|_| Err(given_up()));
    done.map_err(|error| failure::status(&error, form))
}

fn given_up() -> PartError {
    PartError::Unreachable {
        reason: "the request was given up; see the server's log".into(),
    }
}

/// Opens the newest generation of an index, and replies as a gRPC message.
async fn reloaded<S: Server + ?Sized + 'static>(
    servers: &Arc<dyn OfferedIndexes<S>>,
    request: Request<rpc::ReloadRequest>,
) -> Result<Response<rpc::ReloadReply>, Status> {
    let form = Form::wanted(request.metadata());
    let name = request.into_inner().index;
    // The index may be gone, or another one by now.
    let offered = beside(servers, move |servers| servers.open(&name), form).await?;
    let reloaded = offered.reload().await;
    let generation = reloaded.map_err(|error| failure::status(&error, form))?;
    Ok(Response::new(rpc::ReloadReply { generation }))
}

/// Replies with the names of the indexes.
async fn listed<S: Server + ?Sized + 'static>(
    servers: &Arc<dyn OfferedIndexes<S>>,
    request: Request<rpc::ListIndexesRequest>,
) -> Result<Response<rpc::ListIndexesReply>, Status> {
    let form = Form::wanted(request.metadata());
    let names = beside(servers, |servers| servers.names(), form).await?;
    Ok(Response::new(rpc::ListIndexesReply {
        named: servers.has_names(),
        names,
    }))
}

/// Starts a request and waits for its answer; a failure has details in `form`. If the client cancels, this future is
/// dropped, which cancels the work of the handlers.
async fn answered<T>(form: Form, start: impl FnOnce(Reply<T>)) -> Result<T, Status> {
    let (reply, answer) = Reply::channel();
    start(reply);
    let answered = answer.await.unwrap_or_else(|_| Err(given_up()));
    answered.map_err(|error| failure::status(&error, form))
}

/// Calls of the index servers of a process.
pub(super) struct IndexService(pub(super) Arc<dyn OfferedIndexes<dyn IndexServer>>);

#[tonic::async_trait]
impl indexes::IndexServer for IndexService {
    async fn status(
        &self,
        request: Request<rpc::StatusRequest>,
    ) -> Result<Response<rpc::StatusReply>, Status> {
        let form = Form::wanted(request.metadata());
        let (name, request) = convert::status_request(request.into_inner());
        let offered = named(&self.0, &name, form).await?;
        let status = answered(form, |reply| offered.server.status(&request, reply)).await?;
        Ok(Response::new(convert::status_message(status, name)))
    }

    async fn search(
        &self,
        request: Request<rpc::SearchRequest>,
    ) -> Result<Response<rpc::SearchReply>, Status> {
        let form = Form::wanted(request.metadata());
        let request = request.into_inner();
        let (query, deadline, generation) = convert::query(request.query)?;
        let offered = named(&self.0, query.index().unwrap_or_default(), form).await?;
        let server = &offered.server;
        let asked = SearchRequest {
            k: request.k as usize,
            counted: request.counted,
            sort: request.sort.into_iter().map(values::sort_key).collect(),
            after: request.after.map(values::place).transpose()?,
            trace: request.trace,
            collapse: (!request.collapse.is_empty()).then(|| request.collapse.into()),
            generation,
            deadline,
            caller_waits: true,
        };
        let found = answered(form, |reply| server.search(&query, asked, reply)).await?;
        Ok(Response::new(convert::hits_message(found)))
    }

    async fn details(
        &self,
        request: Request<rpc::DetailsRequest>,
    ) -> Result<Response<rpc::DetailsReply>, Status> {
        let form = Form::wanted(request.metadata());
        let request = request.into_inner();
        let (query, deadline, generation) = convert::query(request.query)?;
        let offered = named(&self.0, query.index().unwrap_or_default(), form).await?;
        let server = &offered.server;
        let hits = convert::addresses(request.segment, request.doc, request.url_hash)?;
        let asked = DetailsRequest {
            hits,
            explain: request.explain,
            lacks: request.lacks,
            bytes_max: convert::bytes_max(request.bytes_max),
            generation,
            deadline,
        };
        let hits = answered(form, |reply| server.details(&query, asked, reply)).await?;
        Ok(Response::new(convert::details_message(hits)))
    }

    async fn count_sites(
        &self,
        request: Request<rpc::CountSitesRequest>,
    ) -> Result<Response<rpc::CountSitesReply>, Status> {
        let form = Form::wanted(request.metadata());
        let mut request = request.into_inner();
        let (query, deadline, generation) = convert::query(request.query.take())?;
        let offered = named(&self.0, query.index().unwrap_or_default(), form).await?;
        let server = &offered.server;
        let asked = CountMatchesRequest {
            counted: counts::counted(request)?,
            generation,
            deadline,
        };
        let counts = answered(form, |reply| server.count_matches(&query, asked, reply)).await?;
        Ok(Response::new(rpc::CountSitesReply { counts }))
    }

    async fn count_facets(
        &self,
        request: Request<rpc::CountFacetsRequest>,
    ) -> Result<Response<rpc::CountFacetsReply>, Status> {
        let form = Form::wanted(request.metadata());
        let request = request.into_inner();
        let (query, deadline, generation) = convert::query(request.query)?;
        let offered = named(&self.0, query.index().unwrap_or_default(), form).await?;
        let server = &offered.server;
        let asked = StatusRequest::default();
        let status = answered(form, |reply| server.status(&asked, reply)).await?;
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
        let facets = answered(form, |reply| server.count_facets(&query, asked, reply)).await?;
        Ok(Response::new(rpc::CountFacetsReply {
            counts: values::facets_message(&facets),
        }))
    }

    async fn near_words(
        &self,
        request: Request<rpc::NearWordsRequest>,
    ) -> Result<Response<rpc::NearWordsReply>, Status> {
        let form = Form::wanted(request.metadata());
        let mut request = request.into_inner();
        let (query, deadline, _) = convert::query(request.query.take())?;
        let offered = named(&self.0, query.index().unwrap_or_default(), form).await?;
        let server = &offered.server;
        let asked = near_words::request(request, deadline)?;
        let words = answered(form, |reply| server.near_words(&query, asked, reply)).await?;
        Ok(Response::new(near_words::reply_message(words)))
    }

    async fn reload(
        &self,
        request: Request<rpc::ReloadRequest>,
    ) -> Result<Response<rpc::ReloadReply>, Status> {
        reloaded(&self.0, request).await
    }

    async fn list_indexes(
        &self,
        request: Request<rpc::ListIndexesRequest>,
    ) -> Result<Response<rpc::ListIndexesReply>, Status> {
        listed(&self.0, request).await
    }
}

/// Calls of the document servers of a process.
pub(super) struct DocumentService(pub(super) Arc<dyn OfferedIndexes<dyn DocumentServer>>);

#[tonic::async_trait]
impl documents::DocumentServer for DocumentService {
    async fn status(
        &self,
        request: Request<rpc::StatusRequest>,
    ) -> Result<Response<rpc::StatusReply>, Status> {
        let form = Form::wanted(request.metadata());
        let (name, request) = convert::status_request(request.into_inner());
        let offered = named(&self.0, &name, form).await?;
        let status = answered(form, |reply| offered.server.status(&request, reply)).await?;
        Ok(Response::new(convert::status_message(status, name)))
    }

    async fn summaries(
        &self,
        request: Request<rpc::SummariesRequest>,
    ) -> Result<Response<rpc::SummariesReply>, Status> {
        let form = Form::wanted(request.metadata());
        let request = request.into_inner();
        let offered = named(&self.0, &request.index, form).await?;
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
        let made = answered(form, |reply| offered.server.summaries(asked, reply)).await?;
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
        let rpc::DocumentRequest { url, index } = request.into_inner();
        let offered = named(&self.0, &index, form).await?;
        let found = answered(form, |reply| {
            block_in_place(|| offered.server.document(&url, reply))
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
        reloaded(&self.0, request).await
    }

    async fn list_indexes(
        &self,
        request: Request<rpc::ListIndexesRequest>,
    ) -> Result<Response<rpc::ListIndexesReply>, Status> {
        listed(&self.0, request).await
    }
}
