//! Connections of a member to the others, and the service for them.
use super::activity::{Figures, Watch};
use super::client::client;
use super::ends::Ends;
use super::handing::{Handing, Outgoing};
use super::ownership::Ownership;
use super::service;
use crate::frontier::VisitId;
use std::sync::Arc;
use std::time::Duration;
use tokio::sync::mpsc::UnboundedSender;
use wire::members::{FollowedSeed, HandedUrl, Sender};

/// Connections to the other members, and the service for them, until the drop of the runtime.
pub(crate) struct Members {
    pub(crate) ownership: Ownership,
    pub(crate) figures: Arc<Figures>,
    /// Senders by position in the ownership; `None` for this member.
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
            let handing = Handing {
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

    /// Sends all members a redirect that extends a site.
    pub(crate) fn tell_followed(&self, from: &str, to: &str) {
        for items in self.outgoing.iter().flatten() {
            let _ = items.send(Outgoing::Followed(FollowedSeed {
                from: from.to_owned(),
                to: to.to_owned(),
            }));
        }
    }
}
