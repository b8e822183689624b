//! Resources of rendered pages: who may be asked, with which pauses, and what earlier pages have fetched.
use super::page::RenderOptions;
use crate::fetch::{AcceptedTypes, FetchRequest, Fetched, Fetcher, Outcome};
use bytes::Bytes;
use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;
use tokio::time::Instant;
use url::Url;
use web::robots::{Access, Robots, Rules, access};

/// Resources kept for later pages, in bytes, and for how long.
const KEPT_BYTES_MAX: usize = 64 << 20;
const KEPT_MAX: Duration = Duration::from_secs(600);
/// Pause as a multiple of the time of the last answer, as in the politeness law, and its greatest length.
const GAP_PER_FETCH_TIME: u32 = 2;
const GAP_MAX: Duration = Duration::from_secs(30);

/// State of a host that resources come from.
#[derive(Default)]
struct Origin {
    /// Earliest next request. The lock is held by the one under way.
    gate: tokio::sync::Mutex<Option<Instant>>,
    /// Rules of its robots.txt; `None` inside where it cannot be read.
    rules: tokio::sync::OnceCell<Option<Arc<Rules>>>,
}

/// Resources of all pages of a crawl.
pub(super) struct Resources {
    fetcher: Arc<Fetcher>,
    product_token: String,
    gap: Duration,
    origins: Mutex<HashMap<String, Arc<Origin>>>,
    kept: Mutex<Kept>,
}

#[derive(Default)]
struct Kept {
    resources: HashMap<String, (Instant, Arc<Fetched>)>,
    bytes: usize,
}

/// How requests for the resources of a page are sent.
#[derive(Clone)]
pub(super) struct Manners {
    /// Origin of the page, whose robots.txt is known.
    pub(super) origin: String,
    pub(super) rules: Arc<Rules>,
    /// Whether the origin is the user's own.
    pub(super) is_owned: bool,
}

fn locked<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

impl Resources {
    pub(super) fn new(fetcher: Arc<Fetcher>, options: &RenderOptions) -> Resources {
        Resources {
            fetcher,
            product_token: options.product_token.clone(),
            gap: options.gap,
            origins: Mutex::default(),
            kept: Mutex::default(),
        }
    }

    /// Notes that a request to the origin of a page has just ended.
    pub(super) async fn ended(&self, manners: &Manners) {
        let origin = self.origin(&manners.origin);
        let allowed_at = Instant::now() + self.gap_of(&manners.rules, Duration::ZERO);
        let mut gate = origin.gate.lock().await;
        *gate = Some(gate.map_or(allowed_at, |at| at.max(allowed_at)));
    }

    /// Returns a resource, and whether it was fetched now; `None` where robots.txt forbids it or it cannot be had.
    pub(super) async fn get(&self, url: &Url, manners: &Manners) -> Option<(Arc<Fetched>, bool)> {
        if let Some(kept) = self.kept(url.as_str()) {
            return Some((kept, false));
        }
        let name = url.origin().ascii_serialization();
        let origin = self.origin(&name);
        let rules = match name == manners.origin {
            true => manners.rules.clone(),
            false => {
                let read = origin.rules.get_or_init(|| self.robots(&name, &origin));
                read.await.clone()?
            }
        };
        let path = &url[url::Position::BeforePath..url::Position::AfterQuery];
        if !rules.allows(path).allowed {
            return None;
        }
        let fetched = match name == manners.origin && manners.is_owned {
            true => self.fetch(url).await?,
            false => self.fetch_politely(url, &origin, &rules).await?,
        };
        let fetched = Arc::new(fetched);
        self.keep(url.as_str(), &fetched);
        Some((fetched, true))
    }

    async fn fetch_politely(&self, url: &Url, origin: &Origin, rules: &Rules) -> Option<Fetched> {
        let mut gate = origin.gate.lock().await;
        if let Some(at) = *gate {
            tokio::time::sleep_until(at).await;
        }
        let begun = Instant::now();
        let fetched = self.fetch(url).await;
        *gate = Some(Instant::now() + self.gap_of(rules, begun.elapsed()));
        fetched
    }

    async fn fetch(&self, url: &Url) -> Option<Fetched> {
        let request = FetchRequest {
            accepted: AcceptedTypes::Any,
            ..FetchRequest::new(url)
        };
        self.fetcher.fetch(&request).await.ok()
    }

    fn gap_of(&self, rules: &Rules, took: Duration) -> Duration {
        let asked = rules.crawl_delay().unwrap_or(0.0).clamp(0.0, 3_600.0);
        let measured = (took * GAP_PER_FETCH_TIME).min(GAP_MAX);
        self.gap.max(measured).max(Duration::from_secs_f64(asked))
    }

    /// Reads the robots.txt of an origin that is not the page's.
    async fn robots(&self, origin: &str, state: &Origin) -> Option<Arc<Rules>> {
        let url = Url::parse(&format!("{origin}/robots.txt")).ok()?;
        let none = Robots::parse(b"").rules(&self.product_token);
        let fetched = self.fetch_politely(&url, state, &none).await?;
        let source: &[u8] = match access(fetched.status) {
            Access::Obey => &fetched.body,
            Access::Free => b"",
            Access::Wait => return None,
        };
        Some(Arc::new(Robots::parse(source).rules(&self.product_token)))
    }

    fn origin(&self, name: &str) -> Arc<Origin> {
        let mut origins = locked(&self.origins);
        origins.entry(name.to_owned()).or_default().clone()
    }

    fn kept(&self, url: &str) -> Option<Arc<Fetched>> {
        let kept = locked(&self.kept);
        let (since, fetched) = kept.resources.get(url)?;
        (since.elapsed() < KEPT_MAX).then(|| fetched.clone())
    }

    fn keep(&self, url: &str, fetched: &Arc<Fetched>) {
        if fetched.status != 200 || !matches!(fetched.outcome, Outcome::Page) {
            return;
        }
        let mut kept = locked(&self.kept);
        if kept.bytes + fetched.body.len() > KEPT_BYTES_MAX {
            *kept = Kept::default();
        }
        kept.bytes += fetched.body.len();
        let entry = (Instant::now(), fetched.clone());
        if let Some((_, before)) = kept.resources.insert(url.to_owned(), entry) {
            kept.bytes -= before.body.len();
        }
    }
}

/// Returns the body and the headers of an answer that a browser gets: without codings, cookies and what binds it to the
/// connection.
pub(super) fn for_browser(fetched: &Fetched) -> (Bytes, Vec<(&str, &[u8])>) {
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
    let is_kept = |name: &str| !LEFT_OUT.iter().any(|out| name.eq_ignore_ascii_case(out));
    let headers = fetched.headers.iter();
    let headers = headers
        .filter(|(name, _)| is_kept(name))
        .map(|(name, value)| (name.as_str(), value.as_slice()));
    (fetched.body.clone(), headers.collect())
}
