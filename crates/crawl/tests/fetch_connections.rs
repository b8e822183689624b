//! Connections of the fetcher: TLS with good and bad certificates, HTTP/2, headers by origin, the bound of the pool.

use std::convert::Infallible;
use std::net::{IpAddr, SocketAddr};
use std::sync::Arc;

use bytes::Bytes;
use crawl::fetch::{
    AddressGuard, FetchOptions, FetchRequest, Fetcher, HttpVersion, Limits, OriginHeaders, Resolve,
    Resolving,
};
use http_body_util::Full;
use hyper::body::Incoming;
use hyper::header::{HeaderName, HeaderValue};
use hyper::service::service_fn;
use hyper::{Request, Response};
use hyper_util::rt::{TokioExecutor, TokioIo};
use tokio::io::AsyncWriteExt;
use tokio::net::TcpListener;
use tokio_rustls::TlsAcceptor;
use tokio_rustls::rustls::ServerConfig;
use tokio_rustls::rustls::crypto::ring;
use tokio_rustls::rustls::pki_types::{CertificateDer, PrivateKeyDer, PrivatePkcs8KeyDer};
use url::Url;

/// Every name is at 127.0.0.1.
struct Local;

impl Resolve for Local {
    fn resolve<'a>(&'a self, _host: &'a str) -> Resolving<'a> {
        Box::pin(async { Ok(Arc::from([IpAddr::from([127, 0, 0, 1])])) })
    }
}

fn options() -> FetchOptions {
    FetchOptions {
        guard: AddressGuard::only(vec!["127.0.0.0/8".parse().unwrap()]),
        resolver: Arc::new(Local),
        limits: Limits {
            tls_ms: 300,
            whole_ms: 5_000,
            ..Limits::default()
        },
        ..FetchOptions::default()
    }
}

async fn hello(_: Request<Incoming>) -> Result<Response<Full<Bytes>>, Infallible> {
    Ok(Response::builder()
        .header("Content-Type", "text/html")
        .body("hello".into())
        .unwrap())
}

/// A server of `hello` whose certificate is for `h.test`.
async fn tls_server() -> (SocketAddr, CertificateDer<'static>) {
    let made = rcgen::generate_simple_self_signed(vec!["h.test".to_owned()]).unwrap();
    let authority = made.cert.der().clone();
    let key = PrivateKeyDer::from(PrivatePkcs8KeyDer::from(made.signing_key.serialize_der()));
    let mut config = ServerConfig::builder_with_provider(Arc::new(ring::default_provider()))
        .with_safe_default_protocol_versions()
        .unwrap()
        .with_no_client_auth()
        .with_single_cert(vec![authority.clone()], key)
        .unwrap();
    config.alpn_protocols = vec![b"h2".to_vec(), b"http/1.1".to_vec()];
    let acceptor = TlsAcceptor::from(Arc::new(config));
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = listener.local_addr().unwrap();
    tokio::spawn(async move {
        while let Ok((stream, _)) = listener.accept().await {
            let acceptor = acceptor.clone();
            tokio::spawn(async move {
                let Ok(stream) = acceptor.accept(stream).await else {
                    return;
                };
                let http2 = stream.get_ref().1.alpn_protocol() == Some(b"h2");
                let (io, service) = (TokioIo::new(stream), service_fn(hello));
                let _ = match http2 {
                    true => hyper::server::conn::http2::Builder::new(TokioExecutor::new())
                        .serve_connection(io, service)
                        .await
                        .map_err(drop),
                    false => hyper::server::conn::http1::Builder::new()
                        .serve_connection(io, service)
                        .await
                        .map_err(drop),
                };
            });
        }
    });
    (address, authority)
}

async fn kind(fetcher: &Fetcher, url: &str) -> &'static str {
    let url = Url::parse(url).unwrap();
    fetcher
        .fetch(&FetchRequest::new(&url))
        .await
        .map_or_else(|error| error.kind(), |_| "page")
}

#[tokio::test]
async fn tls_is_verified_and_offers_both_versions() {
    let (address, authority) = tls_server().await;
    let url = format!("https://h.test:{}/a?b", address.port());
    for http2 in [true, false] {
        let options = FetchOptions {
            authorities: vec![authority.clone()],
            http2,
            ..options()
        };
        let fetcher = Fetcher::new(options).unwrap();
        let parsed = Url::parse(&url).unwrap();
        for reused in [false, true] {
            let fetched = fetcher.fetch(&FetchRequest::new(&parsed)).await.unwrap();
            let version = if http2 {
                HttpVersion::Http2
            } else {
                HttpVersion::Http11
            };
            assert_eq!(
                (fetched.version, fetched.status, &fetched.body[..]),
                (version, 200, &b"hello"[..])
            );
            assert_eq!(
                (fetched.reused, fetched.phases.tls_us == 0),
                (reused, reused)
            );
            assert!(fetched.request_head.starts_with(b"GET /a?b HTTP/1.1\r\n"));
            assert!(fetched.response_head.starts_with(b"HTTP/1.1 200 OK\r\n"));
            assert_eq!(fetched.header("Content-Type"), Some(&b"text/html"[..]));
            assert!(
                fetched
                    .archived_head()
                    .ends_with(b"Content-Length: 5\r\n\r\n")
            );
        }
        assert_eq!(
            kind(&fetcher, &url.replace("h.test", "other.test")).await,
            "tls"
        );
    }
    let untrusting = Fetcher::new(options()).unwrap();
    assert_eq!(kind(&untrusting, &url).await, "tls");
}

#[tokio::test]
async fn servers_that_speak_no_tls_are_left() {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let port = listener.local_addr().unwrap().port();
    tokio::spawn(async move {
        let mut held = Vec::new();
        for garbage in [
            &b"HTTP/1.1 400 Bad Request\r\n\r\n"[..],
            &b"\x16\x03\x03\xff\xff"[..],
            b"",
        ] {
            let (mut stream, _) = listener.accept().await.unwrap();
            stream.write_all(garbage).await.unwrap();
            held.push(stream);
        }
        std::future::pending::<()>().await;
    });
    let fetcher = Fetcher::new(options()).unwrap();
    let url = format!("https://h.test:{port}/");
    let kinds = [
        kind(&fetcher, &url).await,
        kind(&fetcher, &url).await,
        kind(&fetcher, &url).await,
    ];
    assert_eq!(kinds, ["tls", "tls", "timeout tls"]);
}

/// A plain server of `hello`.
async fn plain_server() -> u16 {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let port = listener.local_addr().unwrap().port();
    tokio::spawn(async move {
        while let Ok((stream, _)) = listener.accept().await {
            let service = service_fn(hello);
            tokio::spawn(
                hyper::server::conn::http1::Builder::new()
                    .serve_connection(TokioIo::new(stream), service),
            );
        }
    });
    port
}

#[tokio::test]
async fn headers_go_to_their_origin_alone() {
    let port = plain_server().await;
    let headers = vec![(
        HeaderName::from_static("authorization"),
        HeaderValue::from_static("secret"),
    )];
    let origin = Url::parse(&format!("http://own.test:{port}")).unwrap();
    let options = FetchOptions {
        headers: vec![OriginHeaders { origin, headers }],
        ..options()
    };
    let fetcher = Fetcher::new(options).unwrap();
    for (host, expected) in [
        ("own.test", true),
        ("other.test", false),
        ("sub.own.test", false),
    ] {
        let url = Url::parse(&format!("http://user:pass@{host}:{port}/#f")).unwrap();
        let head = fetcher
            .fetch(&FetchRequest::new(&url))
            .await
            .unwrap()
            .request_head;
        let head = String::from_utf8(head).unwrap();
        assert_eq!(head.contains("secret"), expected, "{head}");
        assert!(
            head.contains(&format!("Host: {host}:{port}\r\n")) && !head.contains("pass"),
            "{head}"
        );
    }
}

#[tokio::test]
async fn connections_are_bounded_over_all_hosts() {
    let port = plain_server().await;
    let limits = Limits {
        connections_max: 3,
        whole_ms: 5_000,
        ..Limits::default()
    };
    let fetcher = Arc::new(
        Fetcher::new(FetchOptions {
            limits,
            ..options()
        })
        .unwrap(),
    );
    let mut running = Vec::new();
    for number in 0..60 {
        let fetcher = fetcher.clone();
        running.push(tokio::spawn(async move {
            let url = Url::parse(&format!("http://h{}.test:{port}/", number % 20)).unwrap();
            let status = fetcher
                .fetch(&FetchRequest::new(&url))
                .await
                .unwrap()
                .status;
            (status, fetcher.connections_count())
        }));
    }
    for fetched in running {
        let (status, open) = fetched.await.unwrap();
        assert!(status == 200 && open <= 3, "{open} connections");
    }
    assert!(fetcher.connections_count() > 0);
}
