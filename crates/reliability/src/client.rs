//! HTTP client that classifies the outcome of each request: answered, refused, or lost.

use crate::process::Process;
use anyhow::Context;
use http_body_util::{BodyExt, Empty};
use hyper::Request;
use hyper::body::Bytes;
use hyper::client::conn::http1::{SendRequest, handshake};
use hyper_util::rt::TokioIo;
use std::net::SocketAddr;
use std::time::Duration;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;

/// Time limit for an answer, longer than any server may take.
const PATIENCE: Duration = Duration::from_secs(20);

/// An HTTP answer.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Answered {
    pub(crate) status: u16,
    pub(crate) body: Bytes,
}

/// Reason for a missing answer.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Lost {
    /// The connection was refused; the request was not sent.
    Refused,
    /// Any other failure.
    OnTheWay(String),
}

/// One connection, reopened where the server has closed it.
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

    /// Requests a path.
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
                    // The server has closed the connection since.
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
                    // Not a byte of the request was sent.
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

/// Requests a path whose answer must arrive.
pub(crate) async fn get(address: SocketAddr, path: &str) -> anyhow::Result<Answered> {
    let answered = Client::new(address).get(path).await;
    answered.map_err(|lost| anyhow::anyhow!("http://{address}{path}: {lost:?}"))
}

/// Sends a request with a body on a connection of its own; returns status and body of the answer. `headers` are whole
/// lines.
pub(crate) async fn send_body(
    address: SocketAddr,
    method: &str,
    path: &str,
    headers: &str,
    body: &[u8],
) -> std::io::Result<(u16, Vec<u8>)> {
    let mut stream = TcpStream::connect(address).await?;
    let head = format!(
        "{method} {path} HTTP/1.1\r\nhost: {address}\r\nconnection: close\r\n{headers}content-length: {}\r\n\r\n",
        body.len()
    );
    let mut answer = Vec::new();
    let (mut reading, mut writing) = stream.split();
    let whole = [head.as_bytes(), body].concat();
    // A server that refuses a body may close before it has read all of it.
    let (sent, read) = tokio::join!(writing.write_all(&whole), reading.read_to_end(&mut answer));
    let status = answer
        .get(9..12)
        .and_then(|status| std::str::from_utf8(status).ok());
    match status.and_then(|status| status.parse().ok()) {
        Some(status) => {
            let end = answer.windows(4).position(|four| four == b"\r\n\r\n");
            Ok((status, answer.split_off(end.map_or(0, |end| end + 4))))
        }
        None => Err(sent.and(read.map(drop)).err().unwrap_or_else(|| {
            std::io::Error::new(std::io::ErrorKind::UnexpectedEof, "no answer")
        })),
    }
}

/// Returns a figure of `/metrics`, summed over all partitions.
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

/// Returns the path of a search, with further `parameters` such as `&k=5`.
pub(crate) fn search_path(query: &str, parameters: &str) -> String {
    let query: String = url::form_urlencoded::byte_serialize(query.as_bytes()).collect();
    format!("/search?q={query}{parameters}")
}

/// Returns an answer without the times of its phases, which differ each time.
pub(crate) fn without_phases(body: &[u8]) -> Vec<u8> {
    const KEY: &[u8] = b"\"phases_us\":{";
    // Quotes inside JSON strings are escaped, so only the key can match.
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
