//! A client that knows what became of each request: answered, refused at the door, or lost on the way.

use crate::process::Process;
use anyhow::Context;
use http_body_util::{BodyExt, Empty};
use hyper::Request;
use hyper::body::Bytes;
use hyper::client::conn::http1::{SendRequest, handshake};
use hyper_util::rt::TokioIo;
use std::net::SocketAddr;
use std::time::Duration;
use tokio::net::TcpStream;

/// Longer than any server may take over an answer.
const PATIENCE: Duration = Duration::from_secs(20);

/// An HTTP answer.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Answered {
    pub(crate) status: u16,
    pub(crate) body: Bytes,
}

/// Why there is no answer.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Lost {
    /// Nobody listens there; the request was not sent.
    Refused,
    /// Anything else.
    OnTheWay(String),
}

/// One connection, made again where the server has closed it.
#[derive(Debug)]
pub(crate) struct Client {
    address: SocketAddr,
    sender: Option<SendRequest<Empty<Bytes>>>,
}

impl Client {
    pub(crate) fn new(address: SocketAddr) -> Client {
        Client {
            address,
            sender: None,
        }
    }

    /// Asks for a path.
    pub(crate) async fn get(&mut self, path: &str) -> Result<Answered, Lost> {
        match tokio::time::timeout(PATIENCE, self.get_patiently(path)).await {
            Ok(answered) => answered,
            Err(_) => {
                self.sender = None;
                let reason = format!("no answer after {} s", PATIENCE.as_secs());
                Err(Lost::OnTheWay(reason))
            }
        }
    }

    async fn get_patiently(&mut self, path: &str) -> Result<Answered, Lost> {
        let lost =
            |what: &str, error: &dyn std::fmt::Display| Lost::OnTheWay(format!("{what}: {error}"));
        let mut request = Request::get(path)
            .header("host", self.address.to_string())
            .body(Empty::new())
            .map_err(|error| lost("the request", &error))?;
        loop {
            let mut sender = match self.sender.take() {
                Some(mut sender) => match sender.ready().await {
                    Ok(()) => sender,
                    // The server has closed it since.
                    Err(_) => continue,
                },
                None => self.connect().await?,
            };
            match sender.try_send_request(request).await {
                Ok(response) => {
                    let status = response.status().as_u16();
                    let body = response.into_body().collect().await;
                    let body = body.map_err(|error| lost("reading the answer", &error))?;
                    self.sender = Some(sender);
                    return Ok(Answered {
                        status,
                        body: body.to_bytes(),
                    });
                }
                Err(mut error) => match error.take_message() {
                    // Not a byte of it was sent.
                    Some(unsent) => request = unsent,
                    None => return Err(lost("after sending", error.error())),
                },
            }
        }
    }

    async fn connect(&self) -> Result<SendRequest<Empty<Bytes>>, Lost> {
        let stream = TcpStream::connect(self.address).await;
        let stream = stream.map_err(|error| match error.kind() {
            std::io::ErrorKind::ConnectionRefused => Lost::Refused,
            _ => Lost::OnTheWay(format!("connecting: {error}")),
        })?;
        let _ = stream.set_nodelay(true);
        let (sender, connection) = handshake(TokioIo::new(stream))
            .await
            .map_err(|error| Lost::OnTheWay(format!("connecting: {error}")))?;
        tokio::spawn(connection);
        Ok(sender)
    }
}

/// An answer that must be there.
pub(crate) async fn get(address: SocketAddr, path: &str) -> anyhow::Result<Answered> {
    let answered = Client::new(address).get(path).await;
    answered.map_err(|lost| anyhow::anyhow!("http://{address}{path}: {lost:?}"))
}

/// The sum over all partitions of a figure of `/metrics`.
pub(crate) async fn metric(server: &Process, name: &str) -> anyhow::Result<f64> {
    let admin = server.admin.context("the server has no admin address")?;
    let answered = get(admin, "/metrics").await?;
    let text = std::str::from_utf8(&answered.body)?;
    sum_of(text, name).with_context(|| format!("/metrics has no {name}"))
}

fn sum_of(text: &str, name: &str) -> Option<f64> {
    let values = text.lines().filter_map(|line| {
        let rest = line.strip_prefix(name)?;
        let value = match rest.strip_prefix('{') {
            Some(labelled) => labelled.rsplit_once('}')?.1,
            None => rest.strip_prefix(' ')?,
        };
        value.trim().parse::<f64>().ok()
    });
    values.fold(None, |sum, value| Some(sum.unwrap_or(0.0) + value))
}

/// The path of a search, with more parameters as `&k=5`.
pub(crate) fn search_path(query: &str, parameters: &str) -> String {
    let query: String = url::form_urlencoded::byte_serialize(query.as_bytes()).collect();
    format!("/search?q={query}{parameters}")
}

/// An answer without what may differ each time: the times of its phases.
pub(crate) fn without_phases(body: &[u8]) -> Vec<u8> {
    const KEY: &[u8] = b"\"phases_us\":{";
    // Inside JSON strings quotes are escaped, so this is only ever the key.
    let at = body.windows(KEY.len()).rposition(|bytes| bytes == KEY);
    let Some(at) = at else { return body.to_vec() };
    let length = body[at..].iter().position(|&byte| byte == b'}');
    let end = at + length.unwrap_or(0);
    [&body[..at], &body[end..]].concat()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_the_times_are_left_out() {
        let body =
            br#"{"query":"a \"phases_us\":{ b","phases_us":{"parse":1,"total":2},"coverage":1.0}"#;
        let rest = br#"{"query":"a \"phases_us\":{ b",},"coverage":1.0}"#;
        assert_eq!(without_phases(body), rest);
        assert_eq!(without_phases(b"{}"), b"{}");
    }

    #[test]
    fn figures_are_summed_over_partitions() {
        let text = "# HELP x\nx{partition=\"0-1\"} 2\nx{partition=\"2\"} 3\nx_total 9\ny 4\n";
        assert_eq!(sum_of(text, "x"), Some(5.0));
        assert_eq!(sum_of(text, "y"), Some(4.0));
        assert_eq!(sum_of(text, "z"), None);
    }
}
