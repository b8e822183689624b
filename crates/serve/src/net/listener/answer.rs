//! Handling of one request of a connection: it is counted and routed, and its answer is limited in
//! memory.

use super::client::ClientAddress;
use super::connection::{Answering, Connection};
use super::limits::ConnectionLimits;
use super::output::{LARGE_BYTES, Output, Room, TooMuch, held};
use super::timed_body::TimedBody;
use crate::net::health::is_health_check;
use crate::net::response::{refusal, retry_soon};
use axum::Router;
use axum::body::Body;
use axum::http::{HeaderValue, Request, Response, StatusCode, Version, header};
use hyper::body::{Bytes, Frame, Incoming, SizeHint};
use hyper::service::Service;
use hyper_util::service::TowerToHyperService;
use std::collections::HashMap;
use std::convert::Infallible;
use std::future::Future;
use std::net::IpAddr;
use std::pin::Pin;
use std::sync::{Arc, Mutex, PoisonError};
use std::task::{Context, Poll, ready};

/// State shared by the connections of a listener.
pub(super) struct Answers {
    router: TowerToHyperService<Router>,
    limits: ConnectionLimits,
    output: Arc<Output>,
    behind_proxies: Arc<InWork>,
}

/// Requests in work of each client behind a proxy. (A client of its own has a connection for each, and these are counted.)
#[derive(Debug, Default)]
struct InWork(Mutex<HashMap<ClientAddress, usize>>);

/// One counted request; dropping it ends the count.
struct OneInWork(Arc<InWork>, ClientAddress);

impl InWork {
    fn begin(self: &Arc<Self>, client: ClientAddress, max: usize) -> Option<OneInWork> {
        let mut counts = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let count = counts.entry(client).or_default();
        if *count >= max {
            return None;
        }
        *count += 1;
        Some(OneInWork(Arc::clone(self), client))
    }
}

impl Drop for OneInWork {
    fn drop(&mut self) {
        let mut counts = self.0.0.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(count) = counts.get_mut(&self.1) {
            *count -= 1;
            if *count == 0 {
                counts.remove(&self.1);
            }
        }
    }
}

impl Answers {
    pub(super) fn new(router: Router, limits: &ConnectionLimits) -> Arc<Answers> {
        Arc::new(Answers {
            router: TowerToHyperService::new(router),
            limits: limits.clone(),
            output: Output::new(limits.output_bytes_max),
            behind_proxies: Arc::default(),
        })
    }

    /// Answers one request that came over `connection` from `peer`. The request is counted at once,
    /// before the answer is polled, because the connection may read further input while the request is
    /// in work.
    pub(super) fn begin(
        self: &Arc<Self>,
        connection: &Arc<Connection>,
        peer: IpAddr,
        is_for_health: bool,
        request: Request<Incoming>,
    ) -> impl Future<Output = Result<Response<Answer>, Infallible>> + use<> {
        let answering = connection.begin(request.version() >= Version::HTTP_11);
        let answers = Arc::clone(self);
        let is_refused = is_for_health && !is_health_check(&request);
        let request = request.map(|body| TimedBody::new(body, connection, &self.limits));
        async move {
            match answering {
                Some(answering) if is_refused => Ok(no_seat(answering)),
                Some(answering) => answers.answer(answering, peer, request).await,
                // The connection was just closed to make room, so its task is about to drop this future.
                None => std::future::pending().await,
            }
        }
    }

    async fn answer(
        &self,
        answering: Answering,
        peer: IpAddr,
        request: Request<TimedBody>,
    ) -> Result<Response<Answer>, Infallible> {
        let ip = self.limits.trusted_proxies.client(peer, request.headers());
        let client = ClientAddress::of(ip);
        let in_work = match self.limits.trusted_proxies.are_at(peer) {
            false => None,
            true => match self
                .behind_proxies
                .begin(client, self.limits.connections_per_client)
            {
                Some(one) => Some(one),
                None => return Ok(too_many_of_client(answering, ip == peer)),
            },
        };
        let Ok(response) = self.router.call(request).await;
        drop(in_work);
        let share = (self.limits.is_limited(peer) || ip != peer).then_some(client);
        Ok(self.bounded(response, share, answering))
    }

    /// Returns the response, or a refusal if too many bytes wait for slow readers already.
    fn bounded(
        &self,
        response: Response<Body>,
        client: Option<ClientAddress>,
        answering: Answering,
    ) -> Response<Answer> {
        let bytes = hyper::body::Body::size_hint(response.body()).lower() as usize;
        let room = match bytes > LARGE_BYTES {
            false => None,
            true => match self.output.room(client, bytes) {
                Ok(room) => Some(room),
                Err(why) => return too_slow(answering, why),
            },
        };
        response.map(|body| Answer::new(body, room, answering))
    }
}

fn no_seat(answering: Answering) -> Response<Answer> {
    ended(
        StatusCode::SERVICE_UNAVAILABLE,
        "every connection of this port is busy; try again in a moment",
        answering,
    )
}

fn too_many_of_client(answering: Answering, is_proxy: bool) -> Response<Answer> {
    let reason = match is_proxy {
        false => "too many requests of this client are being answered; wait for some of them",
        true => {
            "too many requests of clients that the proxy does not name are being answered; have it set the header \
             that --client-header says"
        }
    };
    ended(StatusCode::TOO_MANY_REQUESTS, reason, answering)
}

fn too_slow(answering: Answering, why: TooMuch) -> Response<Answer> {
    match why {
        TooMuch::OfClient => ended(
            StatusCode::TOO_MANY_REQUESTS,
            "this client has not read the large answers that it asked for before; read them, or ask for less with a \
             smaller k",
            answering,
        ),
        TooMuch::OfAll => ended(
            StatusCode::SERVICE_UNAVAILABLE,
            "too many large answers wait for clients to read them; try again in a moment, or ask for less with a \
             smaller k",
            answering,
        ),
    }
}

/// Returns a refusal after which the connection ends: further requests that the client has sent ahead
/// would fail too.
fn ended(status: StatusCode, reason: &str, answering: Answering) -> Response<Answer> {
    let mut response = retry_soon(refusal(status, reason));
    let close = HeaderValue::from_static("close");
    response.headers_mut().insert(header::CONNECTION, close);
    response.map(|body| Answer::new(body, None, answering))
}

/// Body of an answer. The connection is busy while it lives.
pub(super) struct Answer {
    body: Body,
    room: Option<Room>,
    _answering: Answering,
}

impl Answer {
    fn new(body: Body, room: Option<Room>, answering: Answering) -> Answer {
        answering.responds();
        Answer {
            body,
            room,
            _answering: answering,
        }
    }
}

impl hyper::body::Body for Answer {
    type Data = Bytes;
    type Error = axum::Error;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, axum::Error>>> {
        let polled = ready!(Pin::new(&mut self.body).poll_frame(context));
        // An answer has one frame of data, and its bytes take the reservation along.
        let frame = |frame: Frame<Bytes>| match (frame.is_data(), self.room.take()) {
            (true, Some(room)) => frame.map_data(|bytes| held(bytes, room)),
            (_, room) => {
                self.room = room;
                frame
            }
        };
        Poll::Ready(polled.map(|polled| polled.map(frame)))
    }

    fn is_end_stream(&self) -> bool {
        self.body.is_end_stream()
    }

    fn size_hint(&self) -> SizeHint {
        self.body.size_hint()
    }
}
