//! Proxy of one page: the only thing that its browser can reach.
use super::page::{Manners, RenderError, RenderPage, Resource};
use super::resources::Resources;
use crate::fetch::Fetched;
use bytes::Bytes;
use http_body_util::Full;
use hyper::body::Incoming;
use hyper::http::uri::Authority;
use hyper::server::conn::http1;
use hyper::service::service_fn;
use hyper::{Method, Request, Response, StatusCode};
use hyper_util::rt::TokioIo;
use std::convert::Infallible;
use std::net::SocketAddr;
use std::pin::Pin;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use tokio::net::TcpListener;
use tokio::task::JoinHandle;
use tokio_rustls::TlsAcceptor;
use tokio_rustls::rustls::ServerConfig;
use tokio_rustls::rustls::pki_types::{PrivateKeyDer, PrivatePkcs8KeyDer};
use url::Url;

/// Resources that a page gets, at most, and their bytes in all.
const RESOURCES_MAX: usize = 200;
const RESOURCES_BYTES_MAX: usize = 50 << 20;

/// Headers of answers that the browser does not get.
const LEFT_OUT: [&str; 11] = [
    "alt-svc",
    "connection",
    "content-encoding",
    "content-length",
    "keep-alive",
    "proxy-authenticate",
    "set-cookie",
    "strict-transport-security",
    "trailer",
    "transfer-encoding",
    "upgrade",
];

/// Proxy that runs until the drop.
pub(super) struct Proxy {
    address: SocketAddr,
    page: Arc<Page>,
    server: JoinHandle<()>,
}

/// State that the proxy has of its page.
struct Page {
    url: Url,
    fetched: Fetched,
    origin: String,
    manners: Manners,
    resources: Arc<Resources>,
    tls: TlsAcceptor,
    asked: AtomicUsize,
    taken: Mutex<Taken>,
}

#[derive(Default)]
struct Taken {
    bytes: usize,
    resources: Vec<Resource>,
}

/// Returns an acceptor of TLS with a self-signed certificate: the proxy answers its browser in the place of hosts. It
/// reaches no other program.
pub(super) fn acceptor() -> Result<TlsAcceptor, RenderError> {
    let failed = |error: String| RenderError::Certificate(error);
    let made = rcgen::generate_simple_self_signed(vec!["proxy.invalid".to_owned()]);
    let made = made.map_err(|error| failed(error.to_string()))?;
    let key = PrivateKeyDer::Pkcs8(PrivatePkcs8KeyDer::from(made.signing_key.serialize_der()));
    let provider = Arc::new(tokio_rustls::rustls::crypto::ring::default_provider());
    let config = ServerConfig::builder_with_provider(provider)
        .with_safe_default_protocol_versions()
        .map_err(|error| failed(error.to_string()))?
        .with_no_client_auth()
        .with_single_cert(vec![made.cert.der().clone()], key)
        .map_err(|error| failed(error.to_string()))?;
    Ok(TlsAcceptor::from(Arc::new(config)))
}

impl Proxy {
    pub(super) async fn start(
        page: &RenderPage<'_>,
        resources: Arc<Resources>,
        tls: TlsAcceptor,
    ) -> Result<Proxy, RenderError> {
        let url = Url::parse(page.url.as_str()).map_err(std::io::Error::other)?;
        let listener = TcpListener::bind("127.0.0.1:0").await?;
        let address = listener.local_addr()?;
        let (origin, manners) = (url.origin().ascii_serialization(), page.manners.clone());
        resources.ended(&origin, &manners).await;
        let page = Arc::new(Page {
            url,
            fetched: page.fetched.clone(),
            origin,
            manners,
            resources,
            tls,
            asked: AtomicUsize::new(0),
            taken: Mutex::default(),
        });
        let server = tokio::spawn(accept(listener, page.clone()));
        Ok(Proxy {
            address,
            page,
            server,
        })
    }

    pub(super) fn address(&self) -> SocketAddr {
        self.address
    }

    /// Ends the proxy and returns the resources fetched.
    pub(super) fn end(self) -> Vec<Resource> {
        let mut taken = self.page.taken();
        std::mem::take(&mut taken.resources)
    }
}

impl Drop for Proxy {
    fn drop(&mut self) {
        self.server.abort();
    }
}

async fn accept(listener: TcpListener, page: Arc<Page>) {
    // Connections end with the task.
    let mut connections = tokio::task::JoinSet::new();
    while let Ok((stream, _)) = listener.accept().await {
        connections.spawn(serve(TokioIo::new(stream), page.clone(), None));
        while connections.try_join_next().is_some() {}
    }
}

/// Serves a connection of the browser: to the proxy itself, or one that it believes to be to `host` by TLS.
async fn serve<S>(stream: S, page: Arc<Page>, host: Option<Authority>)
where
    S: hyper::rt::Read + hyper::rt::Write + Unpin + Send + 'static,
{
    let service = service_fn(move |request| answer(request, page.clone(), host.clone()));
    let connection = http1::Builder::new().serve_connection(stream, service);
    // The browser closes connections as it likes.
    let _ = connection.with_upgrades().await;
}

async fn answer(
    request: Request<Incoming>,
    page: Arc<Page>,
    host: Option<Authority>,
) -> Result<Response<Full<Bytes>>, Infallible> {
    if request.method() == Method::CONNECT && host.is_none() {
        let Some(host) = request.uri().authority().cloned() else {
            return Ok(refused(StatusCode::BAD_REQUEST));
        };
        tokio::spawn(tunnel(request, page, host));
        return Ok(Response::new(Full::default()));
    }
    let path = request
        .uri()
        .path_and_query()
        .map_or("/", |path| path.as_str());
    let url = match &host {
        Some(host) => format!("https://{host}{path}"),
        None => request.uri().to_string(),
    };
    Ok(match (request.method(), Url::parse(&url)) {
        (&Method::GET, Ok(url)) => page.get(url).await,
        _ => refused(StatusCode::METHOD_NOT_ALLOWED),
    })
}

/// Speaks TLS with the browser in the place of a host. Its type is named, because its requests come here again.
fn tunnel(
    request: Request<Incoming>,
    page: Arc<Page>,
    host: Authority,
) -> Pin<Box<dyn Future<Output = ()> + Send>> {
    Box::pin(async move {
        let Ok(upgraded) = hyper::upgrade::on(request).await else {
            return;
        };
        if let Ok(stream) = page.tls.clone().accept(TokioIo::new(upgraded)).await {
            serve(TokioIo::new(stream), page, Some(host)).await;
        }
    })
}

fn refused(status: StatusCode) -> Response<Full<Bytes>> {
    let mut response = Response::new(Full::default());
    *response.status_mut() = status;
    response
}

impl Page {
    fn taken(&self) -> std::sync::MutexGuard<'_, Taken> {
        self.taken.lock().unwrap_or_else(PoisonError::into_inner)
    }

    async fn get(&self, mut url: Url) -> Response<Full<Bytes>> {
        url.set_fragment(None);
        if url == self.url {
            return response(&self.fetched);
        }
        let is_permitted = matches!(url.scheme(), "http" | "https")
            && (url.origin() == self.url.origin()
                || url
                    .host_str()
                    .is_some_and(|host| self.manners.from.iter().any(|from| from == host)));
        if !is_permitted || url.path() == "/favicon.ico" {
            return refused(StatusCode::FORBIDDEN);
        }
        if self.asked.fetch_add(1, Ordering::Relaxed) >= RESOURCES_MAX
            || self.taken().bytes >= RESOURCES_BYTES_MAX
        {
            return refused(StatusCode::TOO_MANY_REQUESTS);
        }
        let Some((fetched, is_new)) = self.resources.get(&url, &self.origin, &self.manners).await
        else {
            return refused(StatusCode::FORBIDDEN);
        };
        let mut taken = self.taken();
        taken.bytes += fetched.body.len();
        if is_new {
            taken.resources.push(Resource {
                url: url.into(),
                fetched: fetched.clone(),
            });
        }
        drop(taken);
        response(&fetched)
    }
}

/// Returns an answer as a browser gets it: without codings, cookies and what binds it to the connection.
fn response(fetched: &Fetched) -> Response<Full<Bytes>> {
    let mut response = Response::builder().status(fetched.status);
    for (name, value) in &fetched.headers {
        if !LEFT_OUT.iter().any(|out| name.eq_ignore_ascii_case(out)) {
            response = response.header(name, value.as_slice());
        }
    }
    // Names and values were those of an answer.
    response
        .body(Full::new(fetched.body.clone()))
        .unwrap_or_else(|_| refused(StatusCode::BAD_GATEWAY))
}
