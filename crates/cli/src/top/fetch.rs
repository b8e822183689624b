//! HTTP client for the metrics of a server.

use anyhow::{Context, bail};
use http_body_util::{BodyExt, Empty, Limited};
use hyper::body::Bytes;
use hyper_util::rt::TokioIo;
use serve::AdminToken;
use std::time::Duration;
use tokio::net::TcpStream;

/// Upper limit on the size of the text: more than that of a server with a thousand partitions.
const TEXT_BYTES_MAX: usize = 16 << 20;

/// Address of a server, as given on the command line.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Target {
    /// `host:port`, to connect to and to name in the request.
    address: String,
    /// Path of the request.
    path: String,
    /// Token, if the server requires one.
    token: Option<AdminToken>,
}

impl Target {
    /// Parses `http://host:port` or `host:port`, each with an optional path before `metrics`.
    pub(crate) fn parse(url: &str) -> anyhow::Result<Target> {
        let with_scheme = match url.contains("://") {
            true => url.to_owned(),
            false => format!("http://{url}"),
        };
        let example = "give the address of a server, such as http://127.0.0.1:7701";
        let parsed = url::Url::parse(&with_scheme)
            .with_context(|| format!("{url:?} is no address; {example}"))?;
        if parsed.scheme() != "http" {
            bail!("{url:?}: only http:// can be read here; {example}");
        }
        let Some(host) = parsed.host_str().filter(|host| !host.is_empty()) else {
            bail!("{url:?} names no host; {example}");
        };
        let port = parsed.port_or_known_default().unwrap_or(80);
        let path = parsed.path().trim_end_matches('/');
        let path = path.strip_suffix("/metrics").unwrap_or(path);
        Ok(Target {
            address: format!("{host}:{port}"),
            path: format!("{path}/metrics"),
            token: None,
        })
    }

    /// Sets the token that the server requires.
    pub(crate) fn with_token(self, token: Option<AdminToken>) -> Target {
        Target { token, ..self }
    }

    /// Returns the address as a URL without the path.
    pub(crate) fn url(&self) -> String {
        format!("http://{}", self.address)
    }
}

/// Fetches the text within `limit`.
pub(crate) async fn fetch(target: &Target, limit: Duration) -> anyhow::Result<String> {
    let url = format!("{}{}", target.url(), target.path);
    match tokio::time::timeout(limit, get(target)).await {
        Ok(text) => text.with_context(|| format!("cannot read {url}")),
        Err(_) => bail!("{url}: no answer within {} s", limit.as_secs_f64()),
    }
}

async fn get(target: &Target) -> anyhow::Result<String> {
    let stream = TcpStream::connect(&target.address)
        .await
        .context("no connection; is the server running?")?;
    let (mut sender, connection) =
        hyper::client::conn::http1::handshake(TokioIo::new(stream)).await?;
    let mut request = hyper::Request::get(&target.path)
        .header("host", &target.address)
        .header("connection", "close");
    if let Some(token) = &target.token {
        request = request.header("authorization", token.authorization());
    }
    let request = request.body(Empty::<Bytes>::new())?;
    let answered = async {
        let answer = sender.send_request(request).await?;
        let status = answer.status();
        if status == hyper::StatusCode::NOT_FOUND {
            bail!(
                "the server answers {status}; give the admin address that it prints as it starts"
            );
        }
        if status == hyper::StatusCode::UNAUTHORIZED {
            bail!(
                "the server answers {status}; give the file of its token, --admin-token-file FILE"
            );
        }
        if !status.is_success() {
            bail!("the server answers {status}");
        }
        let body = Limited::new(answer.into_body(), TEXT_BYTES_MAX)
            .collect()
            .await;
        let body = body.map_err(|error| anyhow::anyhow!("{error}"))?;
        Ok(String::from_utf8_lossy(&body.to_bytes()).into_owned())
    };
    // The connection transfers the bytes of the request and ends with it.
    tokio::pin!(answered);
    tokio::select! {
        text = &mut answered => text,
        ended = connection => {
            ended?;
            answered.await
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn addresses_are_read_or_refused_with_an_example() {
        let check = |url: &str, address: &str, path: &str| {
            let target = Target::parse(url).unwrap();
            assert_eq!((&*target.address, &*target.path), (address, path), "{url}");
        };
        check("http://127.0.0.1:7700", "127.0.0.1:7700", "/metrics");
        check("127.0.0.1:7700", "127.0.0.1:7700", "/metrics");
        check("localhost:7700/", "localhost:7700", "/metrics");
        check("http://[::1]:7700/metrics", "[::1]:7700", "/metrics");
        check(
            "http://search.example/a/",
            "search.example:80",
            "/a/metrics",
        );
        for url in [
            "",
            "https://x:1",
            "http://",
            "http://a b",
            "ftp://x",
            "http://x:99999",
        ] {
            let error = format!("{:#}", Target::parse(url).unwrap_err());
            assert!(error.contains("http://127.0.0.1:7701"), "{url}: {error}");
        }
    }
}
