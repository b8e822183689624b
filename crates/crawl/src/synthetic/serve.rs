//! Server of the synthetic web on HTTP/1, with a log of its requests, and the resolver of its names.

use std::convert::Infallible;
use std::io::{self, Write};
use std::net::{IpAddr, Ipv4Addr};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use bytes::Bytes;
use http_body_util::Full;
use hyper::body::Incoming;
use hyper::header::{HOST, HeaderName, IF_MODIFIED_SINCE, IF_NONE_MATCH, USER_AGENT};
use hyper::service::service_fn;
use hyper::{Request, Response};
use hyper_util::rt::TokioIo;
use tokio::net::{TcpListener, TcpSocket};
use tokio_rustls::TlsAcceptor;

use super::judge::LogRecord;
use super::respond::RequestFacts;
use super::web::{SEEDS_ADDRESS, SyntheticWeb};
use crate::fetch::{Resolve, Resolving};

/// Resolver of the names of a synthetic web: host k is at 127.1.0.2 and the addresses after it.
pub struct SyntheticResolver(pub Arc<SyntheticWeb>);

impl Resolve for SyntheticResolver {
    fn resolve<'a>(&'a self, host: &'a str) -> Resolving<'a> {
        let address = self.0.address(host);
        Box::pin(async move {
            address
                .map(|address| Arc::from([address]))
                .ok_or_else(|| io::ErrorKind::NotFound.into())
        })
    }
}

impl SyntheticWeb {
    /// Returns the loopback address of a host name.
    pub fn address(&self, host: &str) -> Option<IpAddr> {
        match host == self.seeds_host() {
            true => Some(SEEDS_ADDRESS.into()),
            false => Some(self.address_of(self.host_named(host)?.number).into()),
        }
    }
}

/// Listens on all addresses of 127.0.0.0/8 at `port`, on the loopback device alone.
pub fn listen(port: u16) -> io::Result<TcpListener> {
    let socket = TcpSocket::new_v4()?;
    socket.set_reuseaddr(true)?;
    socket.bind_device(Some(b"lo"))?;
    socket.bind((Ipv4Addr::UNSPECIFIED, port).into())?;
    socket.listen(4_096)
}

/// Serves `web` until dropped; each request becomes a line of JSON in `log`.
pub async fn serve(
    web: Arc<SyntheticWeb>,
    listener: TcpListener,
    log: Box<dyn Write + Send>,
) -> io::Result<()> {
    serve_with(web, listener, log, None).await
}

/// Serves `web` over TLS if there is a `tls`, as [`serve`].
pub async fn serve_with(
    web: Arc<SyntheticWeb>,
    listener: TcpListener,
    log: Box<dyn Write + Send>,
    tls: Option<TlsAcceptor>,
) -> io::Result<()> {
    let log = Arc::new(Mutex::new(log));
    loop {
        let (stream, _) = listener.accept().await?;
        let local = stream.local_addr()?.ip();
        if !local.is_loopback() {
            continue;
        }
        let _ = stream.set_nodelay(true);
        let (web, log, tls) = (web.clone(), log.clone(), tls.clone());
        tokio::spawn(async move {
            let service = service_fn(|request| answer(&web, &log, local, request));
            let http = hyper::server::conn::http1::Builder::new();
            // A client may leave at any time.
            let _ = match tls {
                None => http.serve_connection(TokioIo::new(stream), service).await,
                Some(tls) => match tls.accept(stream).await {
                    Ok(stream) => http.serve_connection(TokioIo::new(stream), service).await,
                    Err(_) => Ok(()),
                },
            };
        });
    }
}

type Log = Mutex<Box<dyn Write + Send>>;

async fn answer(
    web: &SyntheticWeb,
    log: &Log,
    address: IpAddr,
    request: Request<Incoming>,
) -> Result<Response<Full<Bytes>>, Infallible> {
    let start_us = now_us();
    let text = |name: HeaderName| {
        request
            .headers()
            .get(name)
            .and_then(|value| value.to_str().ok())
    };
    let host = text(HOST)
        .unwrap_or_default()
        .split(':')
        .next()
        .unwrap_or_default()
        .to_owned();
    let path = request
        .uri()
        .path_and_query()
        .map_or("/", |path| path.as_str())
        .to_owned();
    let facts = RequestFacts {
        if_none_match: text(IF_NONE_MATCH),
    };
    let made = web.respond(&host, &path, start_us / 1_000, facts);
    if made.delay_ms > 0 {
        tokio::time::sleep(Duration::from_millis(made.delay_ms)).await;
    }
    let record = LogRecord {
        start_us,
        end_us: now_us(),
        address,
        host,
        path,
        status: made.status,
        conditional: facts.if_none_match.is_some() || text(IF_MODIFIED_SINCE).is_some(),
        agent: text(USER_AGENT).unwrap_or_default().to_owned(),
        retry_after_s: made.retry_after_s,
    };
    if let Ok(mut line) = serde_json::to_vec(&record) {
        line.push(b'\n');
        let _ = log
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .write_all(&line);
    }
    let mut response = Response::new(Full::new(made.body.into()));
    *response.status_mut() = hyper::StatusCode::from_u16(made.status).unwrap_or_default();
    for (name, value) in made.headers {
        if let (Ok(name), Ok(value)) = (HeaderName::try_from(name), value.try_into()) {
            response.headers_mut().append(name, value);
        }
    }
    Ok(response)
}

fn now_us() -> u64 {
    SystemTime::now()
        .duration_since(UNIX_EPOCH)
        .map_or(0, |since| since.as_micros() as u64)
}
