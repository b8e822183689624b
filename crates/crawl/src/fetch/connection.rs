//! Connection that is open, and the key by which it is shared.

use std::net::SocketAddr;

use bytes::Bytes;
use http_body_util::Empty;
use hyper::body::Incoming;
use hyper::client::conn::{http1, http2};
use hyper::{Request, Response};
use tokio::sync::OwnedSemaphorePermit;
use tokio::task::AbortHandle;
use url::{Host, Url};

use super::tap::SharedHeads;

/// Scheme, host and port: connections are shared within these.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub(super) struct Key {
    pub(super) tls: bool,
    pub(super) host: Host<String>,
    pub(super) port: u16,
}

impl Key {
    pub(super) fn of(url: &Url) -> Option<Self> {
        let tls = match url.scheme() {
            "http" => false,
            "https" => true,
            _ => return None,
        };
        let host = url.host()?.to_owned();
        if matches!(&host, Host::Domain(name) if name.is_empty()) {
            return None;
        }
        Some(Self {
            tls,
            host,
            port: url.port_or_known_default()?,
        })
    }
}

/// Sending side of a connection.
pub(super) enum Sender {
    Http1(http1::SendRequest<Empty<Bytes>>),
    Http2(http2::SendRequest<Empty<Bytes>>),
}

/// An open connection, for one exchange at a time. It is closed when dropped.
pub(super) struct Connection {
    pub(super) sender: Sender,
    pub(super) heads: SharedHeads,
    pub(super) remote: SocketAddr,
    pub(super) driver: AbortHandle,
    pub(super) _permit: OwnedSemaphorePermit,
}

impl Drop for Connection {
    fn drop(&mut self) {
        self.driver.abort();
    }
}

impl Connection {
    pub(super) fn is_usable(&self) -> bool {
        match &self.sender {
            Sender::Http1(sender) => !sender.is_closed(),
            Sender::Http2(sender) => !sender.is_closed(),
        }
    }

    pub(super) fn is_http2(&self) -> bool {
        matches!(self.sender, Sender::Http2(_))
    }

    pub(super) async fn send(
        &mut self,
        request: Request<Empty<Bytes>>,
    ) -> hyper::Result<Response<Incoming>> {
        self.heads.begin();
        match &mut self.sender {
            Sender::Http1(sender) => {
                sender.ready().await?;
                sender.send_request(request).await
            }
            Sender::Http2(sender) => {
                sender.ready().await?;
                sender.send_request(request).await
            }
        }
    }
}
