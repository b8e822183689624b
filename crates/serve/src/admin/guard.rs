//! Guard of an administration address: checks host name, token and origin.
//!
//! A browser on an administrator's machine reaches loopback too, and runs scripts of any page. So
//! `Host` must name this address (a name that an attacker's DNS points here is refused), and a request
//! that changes state must not come from another origin. Health checks are for load balancers and show
//! nothing secret, so they pass.

use super::token::AdminToken;
use crate::http::host_names::is_named;
use crate::http::layers::one_host;
use crate::net::health::{is_health_check, is_reading};
use crate::net::response::refusal;
use axum::Router;
use axum::body::Body;
use axum::extract::{Request, State};
use axum::http::uri::Authority;
use axum::http::{HeaderMap, Method, Response, StatusCode, header};
use axum::middleware::{Next, from_fn, from_fn_with_state};
use std::net::SocketAddr;
use std::sync::Arc;

/// Access conditions of one address.
#[derive(Debug, Clone)]
pub(crate) struct Guard(Arc<Conditions>);

#[derive(Debug, Clone)]
struct Conditions {
    address: SocketAddr,
    /// Host name of the address as the operator writes it, if it is a name.
    name: Option<String>,
    /// Further names from the operator's options; `None` where there is no such option.
    names: Option<Vec<String>>,
    token: Option<AdminToken>,
}

impl Guard {
    /// Returns the guard of a bound address; `named` is the operator's spelling of it.
    pub(crate) fn new(
        address: SocketAddr,
        named: Option<&str>,
        token: Option<AdminToken>,
    ) -> Guard {
        let name = named.and_then(|named| named.rsplit_once(':'));
        Guard(Arc::new(Conditions {
            address,
            name: name.map(|(host, _)| host.to_ascii_lowercase()),
            names: None,
            token,
        }))
    }

    /// Returns the guard with further names, of `--host`.
    pub(crate) fn with_names(self, names: &[String]) -> Guard {
        let names = names.iter().map(|name| name.to_ascii_lowercase()).collect();
        let conditions = Arc::unwrap_or_clone(self.0);
        Guard(Arc::new(Conditions {
            names: Some(names),
            ..conditions
        }))
    }

    /// Returns the routes behind this guard.
    pub(crate) fn around<S: Clone + Send + Sync + 'static>(self, routes: Router<S>) -> Router<S> {
        routes
            .layer(from_fn_with_state(self.0, check))
            .layer(from_fn(one_host))
    }
}

async fn check(
    State(conditions): State<Arc<Conditions>>,
    request: Request,
    next: Next,
) -> Response<Body> {
    if is_health_check(&request) {
        return next.run(request).await;
    }
    let target = request.uri().authority().map(Authority::as_str);
    match conditions.refusal(request.method(), target, request.headers()) {
        Some(refused) => refused,
        None => next.run(request).await,
    }
}

impl Conditions {
    /// Returns the refusal of a request that fails a condition; `None` if the request may pass.
    /// `target` is the host of a target in full.
    fn refusal(
        &self,
        method: &Method,
        target: Option<&str>,
        headers: &HeaderMap,
    ) -> Option<Response<Body>> {
        let text = |name| headers.get(name).and_then(|value| value.to_str().ok());
        let host = text(header::HOST).unwrap_or("");
        if !self.is_host(host) || target.is_some_and(|target| !self.is_host(target)) {
            let remedy = match self.names {
                Some(_) => ", or start the server with --host NAME for the name that clients use",
                None => "",
            };
            return Some(refusal(
                StatusCode::FORBIDDEN,
                &format!(
                    "the Host header names another server; ask for http://{}{remedy}",
                    self.address
                ),
            ));
        }
        if let Some(token) = &self.token {
            let sent = headers.get(header::AUTHORIZATION);
            if !sent.is_some_and(|sent| token.is_carried_by(sent.as_bytes())) {
                let mut refused = refusal(
                    StatusCode::UNAUTHORIZED,
                    "send the token of this server's --admin-token-file, as Authorization: Bearer TOKEN",
                );
                let scheme = header::HeaderValue::from_static("Bearer");
                refused
                    .headers_mut()
                    .insert(header::WWW_AUTHENTICATE, scheme);
                return Some(refused);
            }
        }
        if !is_reading(method) && is_cross_site(headers, host) {
            return Some(refusal(
                StatusCode::FORBIDDEN,
                "a page of another site asks for this; send it from a program, without Origin",
            ));
        }
        None
    }

    /// Returns whether a `Host` names this address, or loopback with any port.
    fn is_host(&self, host: &str) -> bool {
        let (own, names) = (self.address.ip(), self.names.iter().flatten());
        is_named(host, self.name.iter().chain(names), |ip| {
            ip.is_loopback() || ip == own || own.is_unspecified()
        })
    }
}

/// Returns whether a browser sent this for a page of another origin. Ports of one host are one *site*, so `same-site`
/// is not enough.
fn is_cross_site(headers: &HeaderMap, host: &str) -> bool {
    let own = format!("http://{host}");
    let is_foreign =
        |origin: &header::HeaderValue| !origin.as_bytes().eq_ignore_ascii_case(own.as_bytes());
    let is_elsewhere =
        |site: &header::HeaderValue| !matches!(site.as_bytes(), b"same-origin" | b"none");
    headers.get_all(header::ORIGIN).iter().any(is_foreign)
        || headers.get_all("sec-fetch-site").iter().any(is_elsewhere)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn status(guard: &Guard, method: Method, headers: &[(&'static str, &str)]) -> u16 {
        let mut map = HeaderMap::new();
        for (name, value) in headers {
            map.append(*name, value.parse().unwrap());
        }
        let refused = guard.0.refusal(&method, None, &map);
        refused.map_or(200, |refused| refused.status().as_u16())
    }

    #[test]
    fn other_names_and_other_origins_are_refused() {
        let guard = Guard::new("127.0.0.1:7701".parse().unwrap(), None, None);
        for (host, expected) in [
            ("127.0.0.1:7701", 200),
            ("127.0.0.1", 200),
            ("localhost:9999", 200),
            ("[::1]:7701", 200),
            ("", 403),
            ("evil.example:7701", 403),
            ("127.0.0.1.evil.example", 403),
            ("10.0.0.1:7701", 403),
            ("a b", 403),
        ] {
            assert_eq!(
                status(&guard, Method::GET, &[("host", host)]),
                expected,
                "{host}"
            );
        }
        let post = |name, value| {
            status(
                &guard,
                Method::POST,
                &[("host", "127.0.0.1:7701"), (name, value)],
            )
        };
        assert_eq!(post("x-other", "1"), 200);
        assert_eq!(post("origin", "http://127.0.0.1:7701"), 200);
        assert_eq!(post("sec-fetch-site", "same-origin"), 200);
        assert_eq!(post("sec-fetch-site", "none"), 200);
        for origin in [
            "http://evil",
            "null",
            "http://localhost:7701",
            "https://127.0.0.1:7701",
            "",
        ] {
            assert_eq!(post("origin", origin), 403, "{origin}");
        }
        assert_eq!(post("sec-fetch-site", "same-site"), 403);
        assert_eq!(post("sec-fetch-site", "cross-site"), 403);
    }

    #[test]
    fn the_name_that_the_operator_chose_is_taken() {
        let guard = Guard::new(
            "10.0.0.5:7701".parse().unwrap(),
            Some("Search.internal:7701"),
            None,
        );
        for (host, expected) in [
            ("search.internal:7701", 200),
            ("10.0.0.5", 200),
            ("10.0.0.6", 403),
            ("other.internal", 403),
        ] {
            assert_eq!(
                status(&guard, Method::GET, &[("host", host)]),
                expected,
                "{host}"
            );
        }
        let listed = guard.with_names(&["Admin.example".to_owned()]);
        assert_eq!(
            status(&listed, Method::GET, &[("host", "admin.example:7701")]),
            200
        );
        assert_eq!(status(&listed, Method::GET, &[("host", "b.example")]), 403);
        let headers = HeaderMap::from_iter([(header::HOST, "10.0.0.5".parse().unwrap())]);
        let foreign = listed
            .0
            .refusal(&Method::GET, Some("evil.example:7701"), &headers);
        assert_eq!(foreign.unwrap().status(), 403);
        let any = Guard::new("0.0.0.0:7701".parse().unwrap(), Some("0.0.0.0:7701"), None);
        assert_eq!(status(&any, Method::GET, &[("host", "10.1.2.3:7701")]), 200);
        assert_eq!(status(&any, Method::GET, &[("host", "evil.example")]), 403);
    }

    #[test]
    fn a_token_is_demanded_where_there_is_one() {
        let token = AdminToken::parse("0123456789abcdef").unwrap();
        let guard = Guard::new("127.0.0.1:7701".parse().unwrap(), None, Some(token));
        let host = ("host", "127.0.0.1");
        assert_eq!(status(&guard, Method::GET, &[host]), 401);
        let right = ("authorization", "Bearer 0123456789abcdef");
        assert_eq!(status(&guard, Method::GET, &[host, right]), 200);
        let foreign = ("origin", "http://evil");
        assert_eq!(status(&guard, Method::POST, &[host, right, foreign]), 403);
    }
}
