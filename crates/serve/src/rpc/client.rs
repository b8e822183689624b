//! Clients of servers in other processes.

use super::{convert, counts, failure, near_words};
use crate::api::backend::{DocumentServer, IndexServer, Server};
use crate::api::messages::{
    CountFacetsRequest, CountMatchesRequest, DetailsRequest, HitDetails, NearWordsRequest,
    PartitionHits, Query, SearchRequest, Status, StatusRequest, SummariesOf, SummariesRequest,
    TextSummary, TypedWord,
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
use tonic::{Code, Request, Status as RpcStatus};
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

/// Connection to a process, which the clients of all its indexes share.
#[derive(Clone)]
pub(crate) struct Connection {
    calls: Calls,
    runtime: Handle,
}

/// Indexes of a server in another process.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Indexes {
    /// One, which has no name.
    Only,
    /// Those of these names.
    Named(Vec<String>),
}

/// Client of the server of an index in another process.
pub(crate) struct RemoteIndexServer {
    client: IndexServerClient<Calls>,
    /// Name of the index; empty for the only one.
    index: Arc<str>,
    runtime: Handle,
}

/// Client of the document server of an index in another process.
pub(crate) struct RemoteDocumentServer {
    client: DocumentServerClient<Calls>,
    /// Name of the index; empty for the only one.
    index: Arc<str>,
    runtime: Handle,
}

impl Connection {
    /// Returns the connection to the process at `address`, made at the first call.
    pub(crate) fn new(address: &str, runtime: &Handle) -> Result<Connection, String> {
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
        Ok(Connection {
            calls: InterceptedService::new(channel, failure::wants_google),
            runtime: runtime.clone(),
        })
    }

    /// Returns the client of the server of an index; an empty name is that of the only one.
    pub(crate) fn index_server(&self, index: &Arc<str>) -> RemoteIndexServer {
        RemoteIndexServer {
            client: self.index_client(),
            index: Arc::clone(index),
            runtime: self.runtime.clone(),
        }
    }

    /// Returns the client of the document server of an index; an empty name is that of the only one.
    pub(crate) fn document_server(&self, index: &Arc<str>) -> RemoteDocumentServer {
        RemoteDocumentServer {
            client: self.document_client(),
            index: Arc::clone(index),
            runtime: self.runtime.clone(),
        }
    }

    /// Returns the indexes of the index server at the other end.
    pub(crate) async fn indexes(&self) -> Result<Indexes, PartError> {
        let mut client = self.index_client();
        listed(client.list_indexes(rpc::ListIndexesRequest {}).await)
    }

    /// Returns the indexes of the document server at the other end.
    pub(crate) async fn indexes_of_texts(&self) -> Result<Indexes, PartError> {
        let mut client = self.document_client();
        listed(client.list_indexes(rpc::ListIndexesRequest {}).await)
    }

    fn index_client(&self) -> IndexServerClient<Calls> {
        let client = IndexServerClient::new(self.calls.clone());
        client.max_decoding_message_size(MESSAGE_BYTES_MAX)
    }

    fn document_client(&self) -> DocumentServerClient<Calls> {
        let client = DocumentServerClient::new(self.calls.clone());
        client.max_decoding_message_size(MESSAGE_BYTES_MAX)
    }
}

fn listed(
    reply: Result<tonic::Response<rpc::ListIndexesReply>, RpcStatus>,
) -> Result<Indexes, PartError> {
    match reply.map(tonic::Response::into_inner) {
        Ok(rpc::ListIndexesReply { named: true, names }) => Ok(Indexes::Named(names)),
        Ok(_) => Ok(Indexes::Only),
        // A server of before names.
        Err(status) if status.code() == Code::Unimplemented => Ok(Indexes::Only),
        Err(status) => Err(failure::failure(&status)),
    }
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

impl IndexServer for RemoteIndexServer {
    fn search(&self, query: &Arc<Query>, request: SearchRequest, reply: Reply<PartitionHits>) {
        let message = rpc::SearchRequest {
            query: Some(convert::query_message(
                query,
                request.deadline,
                request.generation,
                &self.index,
            )),
            k: request.k.min(u32::MAX as usize) as u32,
            counted: request.counted,
            sort: request.sort.iter().map(values::sort_key_message).collect(),
            after: request.after.as_deref().map(values::place_message),
            trace: request.trace,
            collapse: request.collapse.as_deref().unwrap_or_default().to_owned(),
        };
        let mut client = self.client.clone();
        let call = async move { client.search(message).await };
        let (keys_count, is_collapsed) = (request.sort.len(), request.collapse.is_some());
        spawn(&self.runtime, reply, call, move |found| {
            let found = values::as_sorted(convert::hits(found)?, keys_count)?;
            values::as_collapsed(found, is_collapsed)
        });
    }

    fn details(&self, query: &Arc<Query>, request: DetailsRequest, reply: Reply<Vec<HitDetails>>) {
        let message = rpc::DetailsRequest {
            query: Some(convert::query_message(
                query,
                request.deadline,
                request.generation,
                &self.index,
            )),
            segment: request.hits.iter().map(|hit| hit.segment).collect(),
            doc: request.hits.iter().map(|hit| hit.doc.0).collect(),
            url_hash: convert::url_hashes(&request.hits),
            explain: request.explain,
            lacks: request.lacks,
            bytes_max: request.bytes_max as u64,
        };
        let mut client = self.client.clone();
        let call = async move { client.details(message).await };
        spawn(&self.runtime, reply, call, convert::details);
    }

    fn count_matches(
        &self,
        query: &Arc<Query>,
        request: CountMatchesRequest,
        reply: Reply<Vec<u64>>,
    ) {
        let counts_len = request.counted.counts_len();
        let message = rpc::CountSitesRequest {
            query: Some(convert::query_message(
                query,
                request.deadline,
                request.generation,
                &self.index,
            )),
            ..counts::counted_message(&request.counted)
        };
        let mut client = self.client.clone();
        let call = async move { client.count_sites(message).await };
        spawn(
            &self.runtime,
            reply,
            call,
            move |counted: rpc::CountSitesReply| match counted.counts.len() == counts_len {
                true => Ok(counted.counts),
                false => Err(PartError::Protocol {
                    reason: "it counted other matches than it was asked for; update it".into(),
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
                &self.index,
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

    fn near_words(
        &self,
        query: &Arc<Query>,
        request: NearWordsRequest,
        reply: Reply<Vec<TypedWord>>,
    ) {
        let query = convert::query_message(query, request.deadline, 0, &self.index);
        let message = rpc::NearWordsRequest {
            query: Some(query),
            ..near_words::request_message(&request)
        };
        let mut client = self.client.clone();
        let call = async move { client.near_words(message).await };
        let words_count = request.words.len();
        spawn(&self.runtime, reply, call, move |known| {
            near_words::reply(known, words_count)
        });
    }
}

impl Server for RemoteIndexServer {
    fn status(&self, request: &StatusRequest, reply: Reply<Status>) {
        let message = convert::status_request_message(request, &self.index);
        let (mut client, index) = (self.client.clone(), Arc::clone(&self.index));
        let call = async move { client.status(message).await };
        spawn(&self.runtime, reply, call, move |status| {
            convert::status(status, &index)
        });
    }

    fn reload(&self, reply: Reply<u64>) {
        let mut client = self.client.clone();
        let index = self.index.to_string();
        let call = async move { client.reload(rpc::ReloadRequest { index }).await };
        spawn(&self.runtime, reply, call, |done: rpc::ReloadReply| {
            Ok(done.generation)
        });
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
            index: self.index.to_string(),
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
            index: self.index.to_string(),
        };
        let mut client = self.client.clone();
        let call = async move { client.document(message).await };
        spawn(&self.runtime, reply, call, convert::document);
    }
}

impl Server for RemoteDocumentServer {
    fn status(&self, request: &StatusRequest, reply: Reply<Status>) {
        let message = convert::status_request_message(request, &self.index);
        let (mut client, index) = (self.client.clone(), Arc::clone(&self.index));
        let call = async move { client.status(message).await };
        spawn(&self.runtime, reply, call, move |status| {
            convert::status(status, &index)
        });
    }

    fn reload(&self, reply: Reply<u64>) {
        let mut client = self.client.clone();
        let index = self.index.to_string();
        let call = async move { client.reload(rpc::ReloadRequest { index }).await };
        spawn(&self.runtime, reply, call, |done: rpc::ReloadReply| {
            Ok(done.generation)
        });
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::api::draining::Draining;
    use crate::rpc::{RpcServer, RpcServices};

    #[test]
    fn a_status_of_another_index_than_the_named_one_is_refused() {
        let replied = |index: &str| rpc::StatusReply {
            protocol: rpc::PROTOCOL,
            index: index.to_owned(),
            ..rpc::StatusReply::default()
        };
        assert!(convert::status(replied("news"), "news").is_ok());
        assert!(convert::status(replied(""), "").is_ok());
        // A server of before names answers for its only index.
        for (index, asked) in [("", "news"), ("mail", "news")] {
            let refused = convert::status(replied(index), asked);
            assert!(matches!(refused, Err(PartError::Protocol { .. })));
        }
    }

    #[test]
    fn a_server_of_before_names_has_one_index() {
        // It knows no such method, as this one without services.
        let server = RpcServer::bind("127.0.0.1:0", RpcServices::default(), Draining::default());
        let server = server.unwrap();
        let address = server.address().to_string();
        let (stop, stopped) = tokio::sync::oneshot::channel::<()>();
        let thread = std::thread::spawn(move || {
            server.run_until(async {
                let _ = stopped.await;
            })
        });
        let runtime = crate::io_runtime().unwrap();
        let connection = Connection::new(&address, runtime.handle()).unwrap();
        let indexes = runtime.block_on(connection.indexes()).unwrap();
        assert_eq!(indexes, Indexes::Only);
        let indexes = runtime.block_on(connection.indexes_of_texts()).unwrap();
        assert_eq!(indexes, Indexes::Only);
        drop((connection, stop));
        thread.join().unwrap().unwrap();
    }
}
