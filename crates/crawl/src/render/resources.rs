//! Resources of rendered pages: who may be asked, with which pauses, and what earlier pages have fetched.
use super::page::{Manners, RenderOptions};
use crate::fetch::{AcceptedTypes, FetchRequest, Fetched, Fetcher, Outcome};
use crate::politeness::{Law, Pace, TimeMs};
use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;
use tokio::time::Instant;
use url::Url;
use web::robots::{Access, Robots, Rules, access};

/// Resources kept for later pages, in bytes, and for how long.
const KEPT_BYTES_MAX: usize = 64 << 20;
const KEPT_MAX: Duration = Duration::from_secs(600);

/// State of a host that resources come from.
#[derive(Default)]
struct Origin {
    /// Its clock. The lock is held by the request under way.
    pace: tokio::sync::Mutex<Pace>,
    /// Rules of its robots.txt; `None` inside where it cannot be read.
    rules: tokio::sync::OnceCell<Option<Arc<Rules>>>,
}

/// Resources of all pages of a crawl.
pub(super) struct Resources {
    fetcher: Arc<Fetcher>,
    product_token: String,
    law: Law,
    /// Instant from which the clocks count.
    started: Instant,
    origins: Mutex<HashMap<String, Arc<Origin>>>,
    kept: Mutex<Kept>,
}

#[derive(Default)]
struct Kept {
    resources: HashMap<String, (Instant, Arc<Fetched>)>,
    bytes: usize,
}

fn locked<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

impl Resources {
    pub(super) fn new(fetcher: Arc<Fetcher>, options: &RenderOptions) -> Resources {
        Resources {
            fetcher,
            product_token: options.product_token.clone(),
            law: options.law,
            started: Instant::now(),
            origins: Mutex::default(),
            kept: Mutex::default(),
        }
    }

    /// Notes that a request to the origin of a page has just ended.
    pub(super) async fn ended(&self, origin: &str, manners: &Manners) {
        let origin = self.origin(origin);
        let mut pace = origin.pace.lock().await;
        pace.set_crawl_delay(&self.law, manners.rules.crawl_delay());
        pace.allow_after(&self.law, false, self.now());
    }

    /// Returns the time on the clocks of origins, rounded up: no pause is short by a fraction of a millisecond.
    fn now(&self) -> TimeMs {
        TimeMs(self.started.elapsed().as_micros().div_ceil(1_000) as u64)
    }

    /// Returns a resource, and whether it was fetched now; `None` where robots.txt forbids it or it cannot be had.
    pub(super) async fn get(
        &self,
        url: &Url,
        page_origin: &str,
        manners: &Manners,
    ) -> Option<(Arc<Fetched>, bool)> {
        if let Some(kept) = self.kept(url.as_str()) {
            return Some((kept, false));
        }
        let name = url.origin().ascii_serialization();
        let origin = self.origin(&name);
        let rules = match name == page_origin {
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
        let fetched = match name == page_origin && manners.is_owned {
            true => self.fetch(url).await?,
            false => self.fetch_politely(url, &origin, &rules).await?,
        };
        let fetched = Arc::new(fetched);
        self.keep(url.as_str(), &fetched);
        Some((fetched, true))
    }

    async fn fetch_politely(&self, url: &Url, origin: &Origin, rules: &Rules) -> Option<Fetched> {
        let mut pace = origin.pace.lock().await;
        pace.set_crawl_delay(&self.law, rules.crawl_delay());
        let allowed_at = Duration::from_millis(pace.allowed_at.0);
        tokio::time::sleep_until(self.started + allowed_at).await;
        let begun = self.now();
        let fetched = self.fetch(url).await;
        let ended = self.now();
        let took_ms = ended.since_ms(begun);
        match &fetched {
            Some(answer) if matches!(answer.status, 429 | 503) => {
                let now_ms = jiff::Timestamp::now().as_millisecond();
                let retry_after_s = answer.retry_after_ms(now_ms).map(|ms| ms.div_ceil(1_000));
                pace.throttled(&self.law, false, retry_after_s, ended);
            }
            Some(_) => pace.answered(&self.law, false, took_ms, ended),
            None => pace.failed(&self.law, false, took_ms, ended),
        }
        fetched
    }

    async fn fetch(&self, url: &Url) -> Option<Fetched> {
        let request = FetchRequest {
            accepted: AcceptedTypes::Any,
            ..FetchRequest::new(url)
        };
        self.fetcher.fetch(&request).await.ok()
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
