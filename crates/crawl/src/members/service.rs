//! Service of a member for the others.
use super::activity::Figures;
use super::ends::{Ends, MemberEvent, Taken};
use std::net::TcpListener;
use std::sync::Arc;
use tokio::sync::oneshot;
use tokio_stream::wrappers::TcpListenerStream;
use tonic::{Request, Response, Status};
use wire::members::crawl_member_server::{CrawlMember, CrawlMemberServer};
use wire::members::{
    ActivityReply, ActivityRequest, ConcludeReply, ConcludeRequest, HandOverReply, HandOverRequest,
    Sender,
};

/// Largest message, in bytes.
const MESSAGE_BYTES_MAX: usize = 8 << 20;

struct MemberService {
    crawl: u64,
    figures: Arc<Figures>,
    ends: Ends,
}

/// Serves at `listener`, on the runtime that is entered, until its drop.
pub(super) fn serve(
    listener: TcpListener,
    own: &Sender,
    figures: Arc<Figures>,
    ends: Ends,
) -> Result<(), std::io::Error> {
    listener.set_nonblocking(true)?;
    let listener = tokio::net::TcpListener::from_std(listener)?;
    let service = MemberService {
        crawl: own.crawl,
        figures,
        ends,
    };
    let service = CrawlMemberServer::new(service).max_decoding_message_size(MESSAGE_BYTES_MAX);
    let server = tonic::transport::Server::builder()
        .add_service(service)
        .serve_with_incoming(TcpListenerStream::new(listener));
    tokio::spawn(server);
    Ok(())
}

impl MemberService {
    fn check(&self, sender: Option<&Sender>) -> Result<(), Status> {
        match sender.is_some_and(|sender| sender.crawl == self.crawl) {
            true => Ok(()),
            false => Err(Status::failed_precondition(
                "the configurations differ: the names under [[member]] must be the same everywhere",
            )),
        }
    }

    fn absent() -> Status {
        Status::unavailable("it is starting or ending")
    }
}

#[tonic::async_trait]
impl CrawlMember for MemberService {
    async fn hand_over(
        &self,
        request: Request<HandOverRequest>,
    ) -> Result<Response<HandOverReply>, Status> {
        let HandOverRequest {
            sender,
            urls,
            followed,
        } = request.into_inner();
        self.check(sender.as_ref())?;
        let (durable, is_durable) = oneshot::channel();
        let taken = Taken {
            urls,
            followed,
            durable,
        };
        if !self.figures.is_running() || !(self.ends)(MemberEvent::Taken(taken)) {
            return Err(Self::absent());
        }
        is_durable.await.map_err(|_| Self::absent())?;
        Ok(Response::new(HandOverReply {}))
    }

    async fn activity(
        &self,
        request: Request<ActivityRequest>,
    ) -> Result<Response<ActivityReply>, Status> {
        self.check(request.into_inner().sender.as_ref())?;
        if !self.figures.is_running() {
            return Err(Self::absent());
        }
        let (is_quiet, activity) = self.figures.activity();
        Ok(Response::new(ActivityReply { is_quiet, activity }))
    }

    async fn conclude(
        &self,
        request: Request<ConcludeRequest>,
    ) -> Result<Response<ConcludeReply>, Status> {
        let request = request.into_inner();
        self.check(request.sender.as_ref())?;
        self.figures.conclude(request.activity);
        Ok(Response::new(ConcludeReply {}))
    }
}
