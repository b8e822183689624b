//! Members of a crawl: processes that share its hosts. Each has a frontier, an archive and an index of its own.
//!
//! ```text
//! link ─► frontier ─► visit ─► whose host? ─┬─ own ─────────► fetch
//!             ▲                             └─ of another ──► hand over ─► its frontier, synced ─► visit ends
//!             └──────── handed over by others
//! ```
//!
//! - **Who visits a host.** The member that owns the bucket of its name looks its address up once; the member that owns the
//!   bucket of the address visits it, from then on. So one member visits all hosts of an address, and the politeness law
//!   holds for hosts and addresses as it does with one process. Buckets are owned by rendezvous hashing.
//! - **Nothing is lost.** A URL of another member's host is visited by handing it over. The visit ends when that member
//!   has the URL on its disk; until then it is in flight, and due again after a crash. No further log is kept.
//! - **The end** of a run is a property of all members: [`activity`].

mod activity;
mod ends;
mod handing;
mod ownership;
mod service;

pub(crate) use activity::{Figures, RunEnd};
pub(crate) use ends::{Ends, MemberEvent, Taken};
pub(crate) use ownership::Ownership;

use crate::frontier::VisitId;
use activity::Watch;
use handing::Outgoing;
use std::sync::Arc;
use std::time::Duration;
use tokio::sync::mpsc::UnboundedSender;
use tonic::transport::{Channel, Endpoint};
use wire::members::crawl_member_client::CrawlMemberClient;
use wire::members::{FollowedSeed, HandedUrl, Sender};

/// Time limits of a call, and of its connection.
const CALL_MAX: Duration = Duration::from_secs(60);
const CONNECT_MAX: Duration = Duration::from_secs(5);

type Client = CrawlMemberClient<Channel>;

/// Connections to the other members, and the service for them, until the drop of the runtime.
pub(crate) struct Members {
    pub(crate) ownership: Ownership,
    pub(crate) figures: Arc<Figures>,
    /// By the positions in the ownership; `None` for this member.
    outgoing: Vec<Option<UnboundedSender<Outgoing>>>,
}

impl Members {
    /// Serves at `listener` and connects to the others, on the runtime that is entered. `addresses` has one, as `host:port`, for
    /// each name of `ownership`. Members that cannot be reached for `patience` end the wait for them.
    ///
    /// # Errors
    /// An address that is none.
    pub(crate) fn start(
        ownership: Ownership,
        addresses: &[String],
        listener: std::net::TcpListener,
        patience: Duration,
        ends: Ends,
    ) -> Result<Members, std::io::Error> {
        let figures = Arc::new(Figures::default());
        let sender = Sender {
            crawl: ownership.crawl(),
            member: ownership.own_name().to_owned(),
        };
        service::serve(listener, &sender, figures.clone(), ends.clone())?;
        let (mut outgoing, mut clients) = (Vec::new(), Vec::new());
        for (at, address) in addresses.iter().enumerate() {
            if at == ownership.own() {
                outgoing.push(None);
                continue;
            }
            let client = client(address)?;
            let name = ownership.name(at).to_owned();
            clients.push((name.clone(), client.clone()));
            let (items, waiting) = tokio::sync::mpsc::unbounded_channel();
            let handing = handing::Handing {
                client,
                member: name,
                sender: sender.clone(),
                ends: ends.clone(),
            };
            tokio::spawn(handing.run(waiting));
            outgoing.push(Some(items));
        }
        let watch = Watch {
            others: clients,
            figures: figures.clone(),
            sender,
            patience,
        };
        tokio::spawn(watch.run());
        Ok(Members {
            ownership,
            figures,
            outgoing,
        })
    }

    /// Sends a URL to a member. [`MemberEvent::HandedOver`] follows when it is durable there.
    pub(crate) fn hand_over(&self, member: usize, url: HandedUrl, visit: VisitId) {
        if let Some(Some(items)) = self.outgoing.get(member) {
            // The task runs as long as the runtime does.
            let _ = items.send(Outgoing::Url(url, visit));
        }
    }

    /// Tells all members of a redirect that extends a site.
    pub(crate) fn tell_followed(&self, from: &str, to: &str) {
        for items in self.outgoing.iter().flatten() {
            let _ = items.send(Outgoing::Followed(FollowedSeed {
                from: from.to_owned(),
                to: to.to_owned(),
            }));
        }
    }
}

/// Returns a client that connects at its first call.
fn client(address: &str) -> Result<Client, std::io::Error> {
    let endpoint = Endpoint::from_shared(format!("http://{address}"))
        .map_err(|_| std::io::Error::other(format!("{address}: no address; write host:port")))?;
    let channel = endpoint
        .connect_timeout(CONNECT_MAX)
        .timeout(CALL_MAX)
        .tcp_nodelay(true)
        .connect_lazy();
    Ok(CrawlMemberClient::new(channel))
}
