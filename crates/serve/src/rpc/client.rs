//! Clients of servers in other processes.

use super::{convert, failure};
use crate::api::backend::{DocumentServer, IndexServer, Server};
use crate::api::messages::{
    CountFacetsRequest, CountSitesRequest, DetailsRequest, HitDetails, PartitionHits, Query,
    SearchRequest, Status, StatusRequest, SummariesOf, SummariesRequest, TextSummary,
};
use crate::api::reply::Reply;
use crate::encoding::{malformed, values};
use engine::calls::PartError;
use fields::FacetCounts;
use index::StoredDocument;
use std::future::Future;
use std::sync::Arc;
use std::time::Duration;
use tokio::runtime::Handle;
use tonic::service::interceptor::InterceptedService;
use tonic::transport::{Channel, Endpoint};
use tonic::{Request, Status as RpcStatus};
use wire::rpc;
use wire::rpc::document_server_client::DocumentServerClient;
use wire::rpc::index_server_client::IndexServerClient;

/// Connection timeout.
const CONNECT: Duration = Duration::from_secs(1);
/// Interval of keep-alive probes on an idle connection, which detect a lost machine.
const KEEP_ALIVE: Duration = Duration::from_secs(5);
/// Upper limit on an answer, in bytes: a thousand hits with titles, or texts of documents.
const MESSAGE_BYTES_MAX: usize = 64 << 20;

/// Channel whose calls say which details of failures they read.
type Calls = InterceptedService<Channel, fn(Request<()>) -> Result<Request<()>, RpcStatus>>;

/// Client of an index server in another process.
pub(crate) struct RemoteIndexServer {
    client: IndexServerClient<Calls>,
    runtime: Handle,
}

/// Client of a document server in another process.
pub(crate) struct RemoteDocumentServer {
    client: DocumentServerClient<Calls>,
    runtime: Handle,
}

fn calls(address: &str, runtime: &Handle) -> Result<Calls, String> {
    let _entered = runtime.enter();
    let endpoint = Endpoint::from_shared(format!("http://{address}"))
        .map_err(|error| format!("{address:?} is no address: {error}; write host:port"))?;
    let channel = endpoint
        .connect_timeout(CONNECT)
        .tcp_nodelay(true)
        .http2_keep_alive_interval(KEEP_ALIVE)
        .keep_alive_timeout(CONNECT)
        .keep_alive_while_idle(true)
        .connect_lazy();
    Ok(InterceptedService::new(channel, failure::wants_google))
}

/// Runs a call on a task of its own. If the caller drops the answer, the call is cancelled, and the
/// server stops its work.
fn spawn<M, T, F>(
    runtime: &Handle,
    mut reply: Reply<T>,
    call: F,
    convert: impl FnOnce(M) -> Result<T, PartError> + Send + 'static,
) where
    M: Send + 'static,
    T: Send + 'static,
    F: Future<Output = Result<tonic::Response<M>, RpcStatus>> + Send + 'static,
{
    runtime.spawn(async move {
        let answered = tokio::select! {
            biased;
            answered = call => answered,
            () = reply.abandoned() => return,
        };
        reply.send(match answered {
            Ok(response) => convert(response.into_inner()),
            Err(status) => Err(failure::failure(&status)),
        });
    });
}

impl RemoteIndexServer {
    /// Returns a client of the server at `address`; it connects at the first call.
    pub(crate) fn new(address: &str, runtime: &Handle) -> Result<RemoteIndexServer, String> {
        let client = IndexServerClient::new(calls(address, runtime)?);
        Ok(RemoteIndexServer {
            client: client.max_decoding_message_size(MESSAGE_BYTES_MAX),
            runtime: runtime.clone(),
        })
    }
}

impl IndexServer for RemoteIndexServer {
    fn search(&self, query: &Arc<Query>, request: SearchRequest, reply: Reply<PartitionHits>) {
        let message = rpc::SearchRequest {
            query: Some(convert::query_message(
                query,
                request.deadline,
                request.generation,
            )),
            k: request.k.min(u32::MAX as usize) as u32,
            counted: request.counted,
            sort: request.sort.iter().map(values::sort_key_message).collect(),
            after: request.after.as_deref().map(values::place_message),
            trace: request.trace,
        };
        let mut client = self.client.clone();
        let call = async move { client.search(message).await };
        let keys_count = request.sort.len();
        spawn(&self.runtime, reply, call, move |found| {
            values::as_sorted(convert::hits(found)?, keys_count)
        });
    }

    fn details(&self, query: &Arc<Query>, request: DetailsRequest, reply: Reply<Vec<HitDetails>>) {
        let message = rpc::DetailsRequest {
            query: Some(convert::query_message(
                query,
                request.deadline,
                request.generation,
            )),
            segment: request.hits.iter().map(|&(segment, _)| segment).collect(),
            doc: request.hits.iter().map(|&(_, doc)| doc.0).collect(),
            explain: request.explain,
            lacks: request.lacks,
            bytes_max: request.bytes_max as u64,
        };
        let mut client = self.client.clone();
        let call = async move { client.details(message).await };
        spawn(&self.runtime, reply, call, convert::details);
    }

    fn count_sites(&self, query: &Arc<Query>, request: CountSitesRequest, reply: Reply<Vec<u64>>) {
        let message = rpc::CountSitesRequest {
            query: Some(convert::query_message(
                query,
                request.deadline,
                request.generation,
            )),
            sites: request.sites.to_vec(),
            limit: request.limit,
        };
        let mut client = self.client.clone();
        let call = async move { client.count_sites(message).await };
        let sites_count = request.sites.len();
        spawn(
            &self.runtime,
            reply,
            call,
            move |counted: rpc::CountSitesReply| match counted.counts.len() == sites_count {
                true => Ok(counted.counts),
                false => Err(PartError::Protocol {
                    reason: "it counted other sites than it was asked for; update it".into(),
                }),
            },
        );
    }

    fn count_facets(
        &self,
        query: &Arc<Query>,
        request: CountFacetsRequest,
        reply: Reply<Vec<FacetCounts>>,
    ) {
        let message = rpc::CountFacetsRequest {
            query: Some(convert::query_message(
                query,
                request.deadline,
                request.generation,
            )),
            facets: request.facets.iter().map(ToString::to_string).collect(),
            whole: request.is_whole,
            chosen: values::facets_message(&request.chosen),
        };
        let mut client = self.client.clone();
        let call = async move { client.count_facets(message).await };
        let facets = request.facets;
        spawn(
            &self.runtime,
            reply,
            call,
            move |counted: rpc::CountFacetsReply| {
                let counts = values::facets(&counted.counts, &facets);
                counts.ok_or_else(|| malformed("facets"))
            },
        );
    }
}

impl Server for RemoteIndexServer {
    fn status(&self, request: &StatusRequest, reply: Reply<Status>) {
        let message = convert::status_request_message(request);
        let mut client = self.client.clone();
        let call = async move { client.status(message).await };
        spawn(&self.runtime, reply, call, convert::status);
    }

    fn reload(&self, reply: Reply<u64>) {
        let mut client = self.client.clone();
        let call = async move { client.reload(rpc::ReloadRequest {}).await };
        spawn(&self.runtime, reply, call, |done: rpc::ReloadReply| {
            Ok(done.generation)
        });
    }
}

impl RemoteDocumentServer {
    /// Returns a client of the server at `address`; it connects at the first call.
    pub(crate) fn new(address: &str, runtime: &Handle) -> Result<RemoteDocumentServer, String> {
        let client = DocumentServerClient::new(calls(address, runtime)?);
        Ok(RemoteDocumentServer {
            client: client.max_decoding_message_size(MESSAGE_BYTES_MAX),
            runtime: runtime.clone(),
        })
    }
}

impl DocumentServer for RemoteDocumentServer {
    fn summaries(&self, request: SummariesRequest, reply: Reply<Vec<Option<TextSummary>>>) {
        let count = request.of.count();
        let (urls, url_hashes) = match request.of {
            SummariesOf::Urls(urls) => (urls, Vec::new()),
            SummariesOf::UrlHashes(hashes) => (Vec::new(), hashes),
        };
        let message = rpc::SummariesRequest {
            query_id: request.query_id,
            left_us: convert::left_us(request.deadline),
            generation: request.generation,
            terms: convert::terms_message(&request.terms),
            urls,
            url_hashes,
            fields: request.fields,
        };
        let mut client = self.client.clone();
        let call = async move { client.summaries(message).await };
        spawn(
            &self.runtime,
            reply,
            call,
            move |made: rpc::SummariesReply| {
                if made.summaries.len() != count {
                    return Err(PartError::Protocol {
                        reason: "it summarized other documents than it was asked for; update it"
                            .into(),
                    });
                }
                let one = |summary: rpc::Summary| {
                    let text = TextSummary {
                        url: summary.url,
                        html: summary.html,
                        fields: summary.fields,
                        cut: summary.cut,
                    };
                    summary.found.then_some(text)
                };
                Ok(made.summaries.into_iter().map(one).collect())
            },
        );
    }

    fn document(&self, url: &str, reply: Reply<Option<StoredDocument>>) {
        let message = rpc::DocumentRequest {
            url: url.to_owned(),
        };
        let mut client = self.client.clone();
        let call = async move { client.document(message).await };
        spawn(&self.runtime, reply, call, convert::document);
    }
}

impl Server for RemoteDocumentServer {
    fn status(&self, request: &StatusRequest, reply: Reply<Status>) {
        let message = convert::status_request_message(request);
        let mut client = self.client.clone();
        let call = async move { client.status(message).await };
        spawn(&self.runtime, reply, call, convert::status);
    }

    fn reload(&self, reply: Reply<u64>) {
        let mut client = self.client.clone();
        let call = async move { client.reload(rpc::ReloadRequest {}).await };
        spawn(&self.runtime, reply, call, |done: rpc::ReloadReply| {
            Ok(done.generation)
        });
    }
}
