//! Listener for submissions of IndexNow, at an address of its own.
//!
//! Not the admin address: publishers have neither its token nor its name. Not the public port: no request there changes
//! anything. Submissions are judged by a function, so that a server needs no crawler.

use crate::api::draining::Draining;
use crate::api::error::ServeError;
use crate::http::layers::{finished, one_host};
use crate::net::bodies::{BodyPlaces, ReceiveError, Received};
use crate::net::response::{JSON, refusal, respond, retry_soon};
use crate::net::side::{Side, SideThread};
use crate::net::socket::listen_on;
use axum::Router;
use axum::body::{Body, Bytes};
use axum::extract::{RawQuery, State};
use axum::http::{HeaderValue, Response, StatusCode, header};
use axum::middleware::{from_fn, map_response_with_state};
use axum::routing::get;
use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Duration;

/// Upper limit on a body, in bytes: 10,000 URLs of 200 bytes.
const BODY_BYTES_MAX: u64 = 2 << 20;
/// Time limit of reading a body.
const BODY_TIMEOUT: Duration = Duration::from_secs(10);

/// Submission as it was received.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Submitted {
    /// Query of a GET.
    Query(String),
    /// Body of a POST.
    Body(Bytes),
}

/// Answer to a submission.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SubmissionReply {
    /// Status code.
    pub status: u16,
    /// Result or reason.
    pub message: String,
    /// Time after which to try again, in seconds.
    pub retry_after_s: Option<u64>,
}

/// Judge of submissions. It may wait for files and other servers.
pub type JudgeSubmission = dyn Fn(Submitted) -> SubmissionReply + Send + Sync;

/// State of the routes.
#[derive(Clone)]
struct Submissions {
    judge: Arc<JudgeSubmission>,
    /// Places of large bodies, so that their memory is bounded over all connections.
    places: Arc<BodyPlaces>,
}

/// Listener that answers until it is dropped.
pub struct IndexNowServer {
    address: SocketAddr,
    _thread: SideThread,
}

impl IndexNowServer {
    /// Listens at an address.
    ///
    /// # Errors
    /// The address cannot be listened on; no thread.
    pub fn start(listen: &str, judge: Arc<JudgeSubmission>) -> Result<IndexNowServer, ServeError> {
        let (listener, address) = listen_on(listen)?;
        let routes = Router::new()
            .route("/indexnow", get(of_query).post(of_body))
            .fallback(async || {
                refusal(
                    StatusCode::NOT_FOUND,
                    "nothing is here; submit URLs by POST /indexnow or GET /indexnow?url=URL&key=KEY",
                )
            })
            .method_not_allowed_fallback(async || {
                refusal(StatusCode::METHOD_NOT_ALLOWED, "use GET or POST")
            })
            .layer(from_fn(one_host))
            .layer(map_response_with_state(Draining::default(), finished))
            .with_state(Submissions {
                judge,
                places: Arc::default(),
            });
        let side = Side { listener, address };
        Ok(IndexNowServer {
            address,
            _thread: side.start("indexnow", routes, std::future::pending())?,
        })
    }

    /// Returns the address, with the actual port in place of port 0.
    pub fn address(&self) -> SocketAddr {
        self.address
    }
}

async fn of_query(
    State(Submissions { judge, .. }): State<Submissions>,
    RawQuery(query): RawQuery,
) -> Response<Body> {
    judged(judge, Submitted::Query(query.unwrap_or_default())).await
}

async fn of_body(State(submissions): State<Submissions>, body: Body) -> Response<Body> {
    let received = async {
        let received = Received::first_part(body, BODY_BYTES_MAX).await?;
        received.whole(&submissions.places).await
    };
    match tokio::time::timeout(BODY_TIMEOUT, received).await {
        Ok(Ok(body)) => judged(submissions.judge, Submitted::Body(body)).await,
        Ok(Err(ReceiveError::NoPlace)) => {
            let error = ReceiveError::NoPlace;
            retry_soon(refusal(error.status(), &error.to_string()))
        }
        Ok(Err(error)) => refusal(error.status(), &error.to_string()),
        Err(_) => refusal(
            StatusCode::REQUEST_TIMEOUT,
            "the body did not come within 10 s",
        ),
    }
}

/// Judges on a thread of its own: it may wait.
async fn judged(judge: Arc<JudgeSubmission>, submitted: Submitted) -> Response<Body> {
    let judged = tokio::task::spawn_blocking(move || judge(submitted)).await;
    let Ok(reply) = judged else {
        return refusal(
            StatusCode::INTERNAL_SERVER_ERROR,
            "the submission was given up; see the server's log",
        );
    };
    let status = StatusCode::from_u16(reply.status).unwrap_or(StatusCode::INTERNAL_SERVER_ERROR);
    let mut response = match status.is_success() {
        true => {
            let json = serde_json::json!({ "result": reply.message });
            respond(status, JSON, json.to_string())
        }
        false => refusal(status, &reply.message),
    };
    if let Some(seconds) = reply.retry_after_s {
        let headers = response.headers_mut();
        headers.insert(header::RETRY_AFTER, HeaderValue::from(seconds));
    }
    response
}
