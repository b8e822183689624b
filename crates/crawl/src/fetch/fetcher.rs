//! Fetch of one URL over a pooled connection.

use std::time::Duration;

use bytes::Bytes;
use hyper::Response;
use hyper::body::{Body as _, Incoming};
use hyper::header::{self, HeaderValue};
use tokio::time::{Instant, timeout};

use super::body::{self, Body, BodyError};
use super::coding::Coding;
use super::connect::{Connector, elapsed_us, timed_out};
use super::connection::{Connection, Key};
use super::error::{FetchError, TimeLimit};
use super::fetched::{Fetched, Outcome, Phases};
use super::head::header_lines;
use super::messages::{message, outcome, protocol, version_of, written_head};
use super::options::{FetchOptions, FetchRequest, OptionsError};
use super::pool::Pool;

/// Fetches URLs within limits. It is shared by all fetches of a crawl.
pub struct Fetcher {
    options: FetchOptions,
    user_agent: HeaderValue,
    connector: Connector,
    pool: Pool,
}

impl Fetcher {
    /// Prepares TLS and an empty pool.
    pub fn new(options: FetchOptions) -> Result<Self, OptionsError> {
        let user_agent = HeaderValue::from_str(&options.user_agent)
            .map_err(|_| OptionsError::UserAgent(options.user_agent.clone()))?;
        let connector = Connector::new(&options)?;
        let limits = &options.limits;
        let pool = Pool::new(
            limits.connections_max,
            Duration::from_millis(limits.idle_ms),
        );
        Ok(Self {
            options,
            user_agent,
            connector,
            pool,
        })
    }

    /// Returns the count of open connections, in use and idle.
    pub fn connections_count(&self) -> usize {
        self.pool.open_count(self.options.limits.connections_max)
    }

    /// Fetches one URL: one hop, redirects are returned. Cancellation closes the connection.
    pub async fn fetch(&self, request: &FetchRequest<'_>) -> Result<Fetched, FetchError> {
        let Some(key) = Key::of(request.url) else {
            return Err(FetchError::Url {
                url: request.url.as_str().chars().take(2_000).collect(),
            });
        };
        let limit_ms = self.options.limits.whole_ms;
        match timeout(Duration::from_millis(limit_ms), self.hop(request, &key)).await {
            Ok(fetched) => fetched,
            Err(_) => Err(timed_out(&key.host.to_string(), TimeLimit::Whole, limit_ms)),
        }
    }

    async fn hop(&self, request: &FetchRequest<'_>, key: &Key) -> Result<Fetched, FetchError> {
        let started = Instant::now();
        let mut phases = Phases::default();
        if let Some(connection) = self.pool.take(key) {
            match self
                .exchange(request, key, connection, &mut phases, started, true)
                .await
            {
                Some(fetched) => return fetched,
                // The server closed the idle connection: a new one is opened, once.
                None => phases = Phases::default(),
            }
        }
        let gone = || {
            protocol(
                key,
                "no response before the connection closed",
                None::<std::io::Error>,
            )
        };
        let permit = self.pool.permit().await.ok_or_else(gone)?;
        let connection = self
            .connector
            .connect(&self.options, key, permit, &mut phases)
            .await?;
        self.exchange(request, key, connection, &mut phases, started, false)
            .await
            .unwrap_or_else(|| Err(gone()))
    }

    /// Sends the request and reads the response; `None` if a reused connection closed before any of it.
    async fn exchange(
        &self,
        request: &FetchRequest<'_>,
        key: &Key,
        mut connection: Connection,
        phases: &mut Phases,
        started: Instant,
        reused: bool,
    ) -> Option<Result<Fetched, FetchError>> {
        let limits = &self.options.limits;
        let (is_http2, headers) = (connection.is_http2(), &self.options.headers);
        let Some(message) = message(request, is_http2, &self.user_agent, headers) else {
            return Some(Err(FetchError::Url {
                url: request.url.to_string(),
            }));
        };
        let (method_line, sent_headers) = (
            message
                .uri()
                .path_and_query()
                .map_or("/", |p| p.as_str())
                .to_owned(),
            message.headers().clone(),
        );
        let sent = Instant::now();
        let response = match timeout(
            Duration::from_millis(limits.head_ms),
            connection.send(message),
        )
        .await
        {
            Err(_) => {
                return Some(Err(timed_out(
                    &key.host.to_string(),
                    TimeLimit::Head,
                    limits.head_ms,
                )));
            }
            Ok(Err(error)) => {
                let heads = connection.heads.lock();
                if reused && heads.response.is_empty() && !error.is_parse() {
                    return None;
                }
                let too_large = heads.overflow || error.is_parse_too_large();
                return Some(Err(match too_large {
                    true => FetchError::HeadTooLarge {
                        host: key.host.to_string(),
                    },
                    false => protocol(key, "no valid response head", Some(error)),
                }));
            }
            Ok(Ok(response)) => response,
        };
        phases.first_byte_us = elapsed_us(sent);

        let (request_head, response_head) = if connection.is_http2() {
            let first = format!("GET {method_line} HTTP/1.1\r\n");
            let status = format!("HTTP/1.1 {}\r\n", response.status());
            let host = request
                .url
                .authority()
                .rsplit('@')
                .next()
                .unwrap_or_default();
            (
                written_head(&first, Some(host), &sent_headers),
                written_head(&status, None, response.headers()),
            )
        } else {
            let mut heads = connection.heads.lock();
            (
                std::mem::take(&mut heads.request),
                std::mem::take(&mut heads.response),
            )
        };

        let status = response.status();
        let version = version_of(response.version());
        let outcome = match outcome(request, key, &response) {
            Ok(outcome) => outcome,
            Err(error) => return Some(Err(error)),
        };
        let reading = Instant::now();
        let body = match self.body(key, &outcome, response).await {
            Ok(body) => body,
            Err(error) => return Some(Err(error)),
        };
        phases.body_us = elapsed_us(reading);
        phases.total_us = elapsed_us(started);
        let remote = connection.remote;
        if body.complete {
            self.pool.put(key.clone(), connection);
        }
        Some(Ok(Fetched {
            outcome,
            status: status.as_u16(),
            version,
            headers: header_lines(&response_head),
            remote,
            body: body.bytes,
            truncated: body.truncated,
            wire_bytes: body.wire_bytes,
            decoded_from: body.decoded_from,
            request_head,
            response_head,
            phases: *phases,
            reused,
        }))
    }

    async fn body(
        &self,
        key: &Key,
        outcome: &Outcome,
        response: Response<Incoming>,
    ) -> Result<Body, FetchError> {
        let limits = &self.options.limits;
        let host = || key.host.to_string();
        let codings = response.headers().get_all(header::CONTENT_ENCODING);
        let codings = Coding::parse(codings.iter().map(HeaderValue::as_bytes));
        let (codings, bytes_max) = match outcome {
            Outcome::Page => {
                let codings = codings.ok_or_else(|| {
                    protocol(key, "unknown content coding", None::<std::io::Error>)
                })?;
                if codings.len() > limits.codings_max {
                    return Err(protocol(
                        key,
                        "too many content codings",
                        None::<std::io::Error>,
                    ));
                }
                (codings, limits.body_bytes_max)
            }
            // A body that cannot be decoded does not spoil a redirect.
            Outcome::Redirect { .. } => (Vec::new(), limits.redirect_body_bytes_max),
            Outcome::NotModified => (Vec::new(), 0),
            Outcome::SkippedType { .. } => {
                return Ok(Body {
                    bytes: Bytes::new(),
                    wire_bytes: 0,
                    truncated: None,
                    decoded_from: Vec::new(),
                    complete: false,
                });
            }
        };
        let body = response.into_body();
        let length = body.size_hint().exact();
        body::read(body, &codings, bytes_max, length, limits)
            .await
            .map_err(|error| match error {
                BodyError::Bomb {
                    wire_bytes,
                    decoded_bytes,
                } => FetchError::Bomb {
                    host: host(),
                    wire_bytes,
                    decoded_bytes,
                },
                BodyError::TooSlow { bytes, took_ms } => FetchError::TooSlow {
                    host: host(),
                    bytes,
                    took_ms,
                },
                BodyError::Wire(error) => protocol(key, "no valid body", Some(error)),
                BodyError::Decoding(error) => protocol(key, "damaged content coding", Some(error)),
            })
    }
}
