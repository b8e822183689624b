//! Connections: resolution, address check, TCP, TLS, HTTP/1.1 or 2.

use std::io;
use std::net::{IpAddr, SocketAddr};
use std::sync::Arc;
use std::time::Duration;

use hyper::client::conn::{http1, http2};
use hyper_util::rt::{TokioExecutor, TokioIo};
use tokio::io::{AsyncRead, AsyncWrite};
use tokio::net::TcpStream;
use tokio::sync::OwnedSemaphorePermit;
use tokio::time::{Instant, timeout};
use tokio_rustls::TlsConnector;
use tokio_rustls::rustls::crypto::ring;
use tokio_rustls::rustls::pki_types::ServerName;
use tokio_rustls::rustls::{ClientConfig, RootCertStore};
use url::Host;

use super::connection::{Connection, Key, Sender};
use super::error::{FetchError, TimeLimit};
use super::fetched::Phases;
use super::options::{FetchOptions, OptionsError};
use super::tap::{SharedHeads, Tap};

/// Opens connections.
pub(super) struct Connector {
    tls: TlsConnector,
}

impl Connector {
    pub(super) fn new(options: &FetchOptions) -> Result<Self, OptionsError> {
        let mut roots = RootCertStore::from_iter(webpki_roots::TLS_SERVER_ROOTS.iter().cloned());
        for authority in &options.authorities {
            roots.add(authority.clone())?;
        }
        let mut config = ClientConfig::builder_with_provider(Arc::new(ring::default_provider()))
            .with_safe_default_protocol_versions()?
            .with_root_certificates(roots)
            .with_no_client_auth();
        if options.http2 {
            config.alpn_protocols.push(b"h2".to_vec());
        }
        config.alpn_protocols.push(b"http/1.1".to_vec());
        Ok(Self {
            tls: Arc::new(config).into(),
        })
    }

    pub(super) async fn connect(
        &self,
        options: &FetchOptions,
        key: &Key,
        permit: OwnedSemaphorePermit,
        phases: &mut Phases,
    ) -> Result<Connection, FetchError> {
        let host = key.host.to_string();
        let limits = &options.limits;
        let started = Instant::now();
        let addresses = resolve(options, key, &host).await?;
        phases.dns_us = elapsed_us(started);

        let started = Instant::now();
        let limit = Duration::from_millis(limits.connect_ms);
        let stream = match timeout(limit, open(options, &addresses, key.port)).await {
            Ok(Ok(stream)) => stream,
            Ok(Err(source)) => return Err(FetchError::Connect { host, source }),
            Err(_) => return Err(timed_out(&host, TimeLimit::Connect, limits.connect_ms)),
        };
        phases.connect_us = elapsed_us(started);
        let remote = stream.peer_addr().map_err(|source| FetchError::Connect {
            host: host.clone(),
            source,
        })?;
        let _ = stream.set_nodelay(true);
        if !key.tls {
            return handshake(options, stream, false, &host, remote, permit).await;
        }

        let started = Instant::now();
        let limit = Duration::from_millis(limits.tls_ms);
        let tls_failed = |source| FetchError::Tls {
            host: host.clone(),
            source,
        };
        let name = match &key.host {
            Host::Domain(name) => ServerName::try_from(name.trim_end_matches('.').to_owned())
                .map_err(|error| tls_failed(io::Error::other(error)))?,
            Host::Ipv4(address) => ServerName::from(IpAddr::from(*address)),
            Host::Ipv6(address) => ServerName::from(IpAddr::from(*address)),
        };
        let stream = match timeout(limit, self.tls.connect(name, stream)).await {
            Ok(stream) => stream.map_err(tls_failed)?,
            Err(_) => return Err(timed_out(&host, TimeLimit::Tls, limits.tls_ms)),
        };
        phases.tls_us = elapsed_us(started);
        let http2 = stream.get_ref().1.alpn_protocol() == Some(b"h2");
        handshake(options, stream, http2, &host, remote, permit).await
    }
}

/// Returns the permitted addresses of the host, at most `addresses_max`.
async fn resolve(options: &FetchOptions, key: &Key, host: &str) -> Result<Vec<IpAddr>, FetchError> {
    let found: Arc<[IpAddr]> = match &key.host {
        Host::Ipv4(address) => Arc::new([IpAddr::from(*address)]),
        Host::Ipv6(address) => Arc::new([IpAddr::from(*address)]),
        Host::Domain(name) => {
            let limit_ms = options.limits.dns_ms;
            let resolving = options.resolver.resolve(name);
            match timeout(Duration::from_millis(limit_ms), resolving).await {
                Ok(answer) => answer.map_err(|source| FetchError::Dns {
                    host: host.to_owned(),
                    source,
                })?,
                Err(_) => return Err(timed_out(host, TimeLimit::Dns, limit_ms)),
            }
        }
    };
    let mut permitted = Vec::new();
    let mut denied = None;
    for &address in found.iter() {
        match options.guard.check(address) {
            Ok(()) => permitted.push(address.to_canonical()),
            Err(denial) => denied = denied.or(Some((address, denial))),
        }
    }
    permitted.truncate(options.limits.addresses_max.max(1));
    if !permitted.is_empty() {
        return Ok(permitted);
    }
    let host = host.to_owned();
    Err(match denied {
        Some((address, denial)) => FetchError::Denied {
            host,
            address,
            denial,
        },
        None => FetchError::Dns {
            host,
            source: io::ErrorKind::NotFound.into(),
        },
    })
}

/// Connects to the first of `addresses` that accepts.
async fn open(options: &FetchOptions, addresses: &[IpAddr], port: u16) -> io::Result<TcpStream> {
    let each = Duration::from_millis(options.limits.connect_ms) / addresses.len().max(1) as u32;
    let mut last = io::Error::from(io::ErrorKind::NotFound);
    for &address in addresses {
        let address = SocketAddr::new(address, port);
        if let Some(on_connect) = &options.on_connect {
            on_connect(address);
        }
        match timeout(each, TcpStream::connect(address)).await {
            Ok(Ok(stream)) => return Ok(stream),
            Ok(Err(error)) => last = error,
            Err(_) => last = io::ErrorKind::TimedOut.into(),
        }
    }
    Err(last)
}

async fn handshake<S>(
    options: &FetchOptions,
    stream: S,
    http2: bool,
    host: &str,
    remote: SocketAddr,
    permit: OwnedSemaphorePermit,
) -> Result<Connection, FetchError>
where
    S: AsyncRead + AsyncWrite + Send + Unpin + 'static,
{
    let limits = &options.limits;
    let heads = SharedHeads::default();
    let failed = |error: hyper::Error| FetchError::Protocol {
        host: host.to_owned(),
        what: "the connection failed before the request",
        source: Some(error.into()),
    };
    let (sender, driver) = if http2 {
        let (sender, connection) = http2::Builder::new(TokioExecutor::new())
            .max_header_list_size(u32::try_from(limits.head_bytes_max).unwrap_or(u32::MAX))
            .initial_stream_window_size(256 << 10)
            .initial_connection_window_size(512 << 10)
            .handshake(TokioIo::new(stream))
            .await
            .map_err(failed)?;
        (
            Sender::Http2(sender),
            tokio::spawn(async move { drop(connection.await) }),
        )
    } else {
        let tap = Tap {
            inner: stream,
            heads: heads.clone(),
            limit: limits.head_bytes_max,
        };
        let (sender, connection) = http1::Builder::new()
            .max_buf_size(limits.head_bytes_max.max(8 << 10))
            .max_headers(limits.headers_count_max)
            .title_case_headers(true)
            .allow_obsolete_multiline_headers_in_responses(true)
            .allow_spaces_after_header_name_in_responses(true)
            .ignore_invalid_headers_in_responses(true)
            .handshake(TokioIo::new(tap))
            .await
            .map_err(failed)?;
        (
            Sender::Http1(sender),
            tokio::spawn(async move { drop(connection.await) }),
        )
    };
    Ok(Connection {
        sender,
        heads,
        remote,
        driver: driver.abort_handle(),
        _permit: permit,
    })
}

pub(super) fn timed_out(host: &str, which: TimeLimit, limit_ms: u64) -> FetchError {
    FetchError::Timeout {
        host: host.to_owned(),
        which,
        limit_ms,
    }
}

pub(super) fn elapsed_us(started: Instant) -> u64 {
    u64::try_from(started.elapsed().as_micros()).unwrap_or(u64::MAX)
}
