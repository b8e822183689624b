//! Task that hands URLs over to one member: what has come is one message, repeated until the member has it on its disk.
use super::client::Client;
use super::ends::{Ends, MemberEvent};
use crate::frontier::VisitId;
use std::time::{Duration, Instant};
use tokio::sync::mpsc::UnboundedReceiver;
use wire::members::{FollowedSeed, HandOverRequest, HandedUrl, Sender};

/// URLs of a message. With the longest URLs it is 2 MB.
const MESSAGE_URLS_MAX: usize = 1_000;
/// Waits before a message is repeated.
const RETRY_FIRST: Duration = Duration::from_millis(200);
const RETRY_MAX: Duration = Duration::from_secs(10);
/// Time after which a refusal becomes a notice. Members do not start at one instant.
const TOLD_AFTER: Duration = Duration::from_secs(5);

/// Part of a message to another member.
pub(super) enum Outgoing {
    /// A URL of one of its hosts, with the visit that ends by it.
    Url(HandedUrl, VisitId),
    /// A redirect that extends a site.
    Followed(FollowedSeed),
}

/// The task.
pub(super) struct Handing {
    pub(super) client: Client,
    pub(super) member: String,
    pub(super) sender: Sender,
    pub(super) ends: Ends,
}

impl Handing {
    pub(super) async fn run(mut self, mut waiting: UnboundedReceiver<Outgoing>) {
        let mut items = Vec::new();
        while waiting.recv_many(&mut items, MESSAGE_URLS_MAX).await > 0 {
            let mut visits = Vec::new();
            let mut request = HandOverRequest {
                sender: Some(self.sender.clone()),
                ..HandOverRequest::default()
            };
            for item in items.drain(..) {
                match item {
                    Outgoing::Url(url, visit) => {
                        request.urls.push(url);
                        visits.push(visit);
                    }
                    Outgoing::Followed(followed) => request.followed.push(followed),
                }
            }
            self.send(request).await;
            if !(self.ends)(MemberEvent::HandedOver(visits)) {
                return;
            }
        }
    }

    async fn send(&mut self, request: HandOverRequest) {
        let (mut wait, started) = (RETRY_FIRST, Instant::now());
        while let Err(status) = self.client.hand_over(request.clone()).await {
            tokio::time::sleep(wait).await;
            wait = (wait * 2).min(RETRY_MAX);
            if started.elapsed() < TOLD_AFTER {
                continue;
            }
            let refused = MemberEvent::Refused {
                member: self.member.clone(),
                reason: status.message().to_owned(),
            };
            if !(self.ends)(refused) {
                return;
            }
        }
    }
}
