//! What the tasks of the members tell the crawl.
use crate::frontier::VisitId;
use std::sync::Arc;
use tokio::sync::oneshot;
use wire::members::{FollowedSeed, HandedUrl};

/// Takes events; false where the crawl has ended.
pub(crate) type Ends = Arc<dyn Fn(MemberEvent) -> bool + Send + Sync>;

/// Event of a member.
pub(crate) enum MemberEvent {
    /// Another member has handed URLs over.
    Taken(Taken),
    /// URLs are durable at another member: their visits end.
    HandedOver(Vec<VisitId>),
    /// A member cannot take URLs now; they wait.
    Refused { member: String, reason: String },
}

/// URLs from another member.
pub(crate) struct Taken {
    pub(crate) urls: Vec<HandedUrl>,
    pub(crate) followed: Vec<FollowedSeed>,
    /// Acknowledges them, once they are durable.
    pub(crate) durable: oneshot::Sender<()>,
}
