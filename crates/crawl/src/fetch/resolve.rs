//! Name resolution behind a trait, and a bounded cache of its answers.

use std::collections::{HashMap, VecDeque};
use std::future::Future;
use std::io;
use std::net::IpAddr;
use std::pin::Pin;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use tokio::sync::Semaphore;
use tokio::time::Instant;

/// The addresses of a host, in the order of preference.
pub type Resolved = io::Result<Arc<[IpAddr]>>;

/// A resolution under way.
pub type Resolving<'a> = Pin<Box<dyn Future<Output = Resolved> + Send + 'a>>;

/// A resolver of host names. Its answers are not trusted: each address is checked by the guard.
pub trait Resolve: Send + Sync {
    /// Resolves `host`, which is a name in lower case, never an address.
    fn resolve<'a>(&'a self, host: &'a str) -> Resolving<'a>;
}

/// The resolver of the operating system (getaddrinfo, on threads for blocking calls).
pub struct SystemResolver {
    calls: Semaphore,
}

impl SystemResolver {
    /// Permits `calls_max` calls at a time: each holds a thread.
    pub fn new(calls_max: usize) -> Self {
        Self {
            calls: Semaphore::new(calls_max.max(1)),
        }
    }
}

impl Resolve for SystemResolver {
    fn resolve<'a>(&'a self, host: &'a str) -> Resolving<'a> {
        Box::pin(async move {
            let _call = self.calls.acquire().await.map_err(io::Error::other)?;
            let mut found: Vec<IpAddr> = tokio::net::lookup_host((host, 0))
                .await?
                .map(|address| address.ip())
                .collect();
            // IPv4 first: more crawling machines have a route for it. The sort is stable.
            found.sort_by_key(IpAddr::is_ipv6);
            found.dedup();
            Ok(found.into())
        })
    }
}

struct Cached {
    answer: Result<Arc<[IpAddr]>, io::ErrorKind>,
    expires: Instant,
}

#[derive(Default)]
struct Entries {
    by_host: HashMap<Arc<str>, Cached>,
    /// Hosts in the order of insertion; each is in the map.
    order: VecDeque<Arc<str>>,
}

/// Cache over a resolver, bounded in entries; the oldest is evicted.
pub struct CachedResolver<R> {
    inner: R,
    entries: Mutex<Entries>,
    entries_max: usize,
    ttl: Duration,
    failure_ttl: Duration,
}

impl<R: Resolve> CachedResolver<R> {
    /// Keeps at most `entries_max` answers for `ttl`, failures for a tenth of it.
    pub fn new(inner: R, entries_max: usize, ttl: Duration) -> Self {
        Self {
            inner,
            entries: Mutex::default(),
            entries_max: entries_max.max(1),
            ttl,
            failure_ttl: ttl / 10,
        }
    }

    fn cached(&self, host: &str) -> Option<Resolved> {
        let entries = self.entries.lock().unwrap_or_else(PoisonError::into_inner);
        let cached = entries.by_host.get(host)?;
        (Instant::now() < cached.expires).then(|| match &cached.answer {
            Ok(addresses) => Ok(addresses.clone()),
            Err(kind) => Err((*kind).into()),
        })
    }

    fn keep(&self, host: &str, answer: &Resolved) {
        let ttl = if answer.is_ok() {
            self.ttl
        } else {
            self.failure_ttl
        };
        let cached = Cached {
            answer: answer.as_ref().cloned().map_err(io::Error::kind),
            expires: Instant::now() + ttl,
        };
        let mut entries = self.entries.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(known) = entries.by_host.get_mut(host) {
            *known = cached;
            return;
        }
        if entries.by_host.len() >= self.entries_max
            && let Some(oldest) = entries.order.pop_front()
        {
            entries.by_host.remove(&oldest);
        }
        let host: Arc<str> = host.into();
        entries.order.push_back(host.clone());
        entries.by_host.insert(host, cached);
    }
}

impl<R: Resolve> Resolve for CachedResolver<R> {
    fn resolve<'a>(&'a self, host: &'a str) -> Resolving<'a> {
        Box::pin(async move {
            if let Some(answer) = self.cached(host) {
                return answer;
            }
            let answer = self.inner.resolve(host).await;
            self.keep(host, &answer);
            answer
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::atomic::{AtomicU8, Ordering};

    struct Counting(AtomicU8);

    impl Resolve for Counting {
        fn resolve<'a>(&'a self, host: &'a str) -> Resolving<'a> {
            Box::pin(async move {
                let call = self.0.fetch_add(1, Ordering::Relaxed);
                if host == "none.test" {
                    return Err(io::ErrorKind::NotFound.into());
                }
                Ok(vec![IpAddr::from([127, 0, 0, call])].into())
            })
        }
    }

    #[tokio::test(start_paused = true)]
    async fn answers_expire_and_the_oldest_is_evicted() {
        let resolver = CachedResolver::new(Counting(AtomicU8::new(1)), 2, Duration::from_secs(100));
        let last = async |host: &str| match resolver.resolve(host).await.unwrap()[0] {
            IpAddr::V4(v4) => v4.octets()[3],
            IpAddr::V6(_) => unreachable!("the resolver gives IPv4"),
        };
        assert_eq!(last("a.test").await, 1);
        assert_eq!(last("a.test").await, 1);
        tokio::time::advance(Duration::from_secs(101)).await;
        assert_eq!(last("a.test").await, 2);
        assert_eq!(last("b.test").await, 3);
        assert_eq!(last("c.test").await, 4);
        assert_eq!(last("b.test").await, 3);
        assert_eq!(last("a.test").await, 5);
        assert!(resolver.resolve("none.test").await.is_err());
        assert!(resolver.resolve("none.test").await.is_err());
        assert_eq!(resolver.inner.0.load(Ordering::Relaxed), 7);
        tokio::time::advance(Duration::from_secs(11)).await;
        assert!(resolver.resolve("none.test").await.is_err());
        assert_eq!(resolver.inner.0.load(Ordering::Relaxed), 8);
    }
}
