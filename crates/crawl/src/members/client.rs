//! Client of another member.
use std::time::Duration;
use tonic::transport::{Channel, Endpoint};
use wire::members::crawl_member_client::CrawlMemberClient;

/// Time limits of a call, and of its connection.
const CALL_MAX: Duration = Duration::from_secs(60);
const CONNECT_MAX: Duration = Duration::from_secs(5);

pub(super) type Client = CrawlMemberClient<Channel>;

/// Returns a client that connects at its first call.
pub(super) fn client(address: &str) -> Result<Client, std::io::Error> {
    let endpoint = Endpoint::from_shared(format!("http://{address}"))
        .map_err(|_| std::io::Error::other(format!("{address}: no address; write host:port")))?;
    let channel = endpoint
        .connect_timeout(CONNECT_MAX)
        .timeout(CALL_MAX)
        .tcp_nodelay(true)
        .connect_lazy();
    Ok(CrawlMemberClient::new(channel))
}
