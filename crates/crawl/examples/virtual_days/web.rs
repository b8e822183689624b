//! Web of the virtual days: each answer is a function of seed, URL and time.
//!
//! Page counts of hosts are log-uniform (BUbiNG's rule). Page 0 is the root of a tree with four children a page, so each
//! page is found from the root. A page has about eight links more: 10 % to roots of other hosts, 1 % to dead paths.
use super::urls::mix;
use std::net::{IpAddr, Ipv4Addr};

pub(super) const DAY_MS: u64 = 86_400_000;
/// One host in this many shares its address.
const SHARES_ONE_IN: usize = 10;
/// Hosts of a shared address are taken from this many.
const GROUP_HOSTS: usize = 500;

pub(super) struct Web {
    seed: u64,
    /// Pages of each host.
    pages: Vec<u32>,
}

/// Questions to the seed; each has an answer of its own.
#[derive(Clone, Copy)]
enum About {
    Size,
    Speed,
    Delay,
    Time,
    Change,
    Links,
}

impl Web {
    /// Start of each origin; the number of the host follows.
    pub(super) const ORIGIN: &'static str = "http://h";

    pub(super) fn new(seed: u64, hosts: usize, pages: u64) -> Web {
        // The mean of a log-uniform size from 1 to m is (m - 1) / ln m.
        let mean = (pages as f64 / hosts as f64).max(1.001);
        let (mut low, mut high) = (0.001_f64, 20.0_f64);
        for _ in 0..60 {
            let middle = (low + high) / 2.0;
            match middle.exp_m1() / middle < mean {
                true => low = middle,
                false => high = middle,
            }
        }
        let mut web = Web {
            seed,
            pages: Vec::new(),
        };
        // Evenly spread, each in a stratum of its own: the sum is near its mean for any seed.
        let mut sizes: Vec<u32> = (0..hosts)
            .map(|host| {
                let part = web.about(host, 0, About::Size) as f64 / u64::MAX as f64;
                let size = ((host as f64 + part) / hosts as f64 * low).exp();
                size.round().max(1.0) as u32
            })
            .collect();
        let mut state = seed;
        for host in (1..hosts).rev() {
            sizes.swap(host, (mix(&mut state) % (host as u64 + 1)) as usize);
        }
        web.pages = sizes;
        web
    }

    pub(super) fn hosts(&self) -> usize {
        self.pages.len()
    }

    pub(super) fn pages(&self) -> u64 {
        self.pages.iter().map(|pages| u64::from(*pages)).sum()
    }

    pub(super) fn bytes(&self) -> usize {
        self.pages.capacity() * size_of::<u32>()
    }

    /// Paths that links name: pages, then dead ones.
    pub(super) fn paths(&self, host: usize) -> u32 {
        self.pages[host] + self.pages[host] / 20 + 1
    }

    pub(super) fn is_dead(&self, host: usize, page: u32) -> bool {
        page >= self.pages[host]
    }

    pub(super) fn url(host: usize, page: u32) -> String {
        format!("{}{host}.example/{page}", Web::ORIGIN)
    }

    /// Number of the address of a host: first those that are shared, then one a host.
    pub(super) fn address_number(&self, host: usize) -> usize {
        match host.is_multiple_of(SHARES_ONE_IN) {
            true => host / GROUP_HOSTS,
            false => self.shared_addresses() + host,
        }
    }

    pub(super) fn shared_addresses(&self) -> usize {
        self.hosts().div_ceil(GROUP_HOSTS)
    }

    /// Hosts of an address.
    pub(super) fn hosts_of(&self, address: usize) -> std::iter::StepBy<std::ops::Range<usize>> {
        let hosts = match address.checked_sub(self.shared_addresses()) {
            Some(host) if host.is_multiple_of(SHARES_ONE_IN) => 0..0,
            Some(host) => host..host + 1,
            None => address * GROUP_HOSTS..((address + 1) * GROUP_HOSTS).min(self.hosts()),
        };
        hosts.step_by(SHARES_ONE_IN)
    }

    pub(super) fn address(&self, host: usize) -> IpAddr {
        let number = 10 << 24 | self.address_number(host) as u32;
        IpAddr::V4(Ipv4Addr::from_bits(number))
    }

    /// Fetch time: that of the host, 20 to 576 ms, and up to a quarter more; one host in 200 takes 5 to 20 s.
    pub(super) fn took_ms(&self, host: usize, page: Option<u32>, time: u64) -> u64 {
        let speed = self.about(host, 0, About::Speed);
        let least_ms = match speed % 200 {
            0 => 5_000 + speed / 200 % 15_000,
            _ => 20 + speed / 200 % 557,
        };
        let page = page.map_or(u64::MAX, u64::from);
        least_ms + self.about(host, page ^ time << 32, About::Time) % (least_ms / 4 + 1)
    }

    /// Crawl-delay, 0 without one: one host in 20 wants 1 to 20 s.
    pub(super) fn crawl_delay_s(&self, host: usize) -> u64 {
        let delay = self.about(host, 0, About::Delay);
        if delay.is_multiple_of(20) {
            1 + delay / 20 % 20
        } else {
            0
        }
    }

    /// Version of the text of a page; it changes every 5 to 205 days.
    pub(super) fn version(&self, host: usize, page: u32, time: u64) -> u64 {
        let change = self.about(host, u64::from(page), About::Change);
        let period_ms = 5 * DAY_MS + change % (200 * DAY_MS);
        (time + change / 7 % period_ms) / period_ms
    }

    /// Host and page of each link of a page.
    pub(super) fn links(&self, host: usize, page: u32) -> Vec<(usize, u32)> {
        let (pages, paths) = (self.pages[host], self.paths(host));
        let children = page.saturating_mul(4).saturating_add(1)..;
        let mut links: Vec<(usize, u32)> = children
            .take(4)
            .filter(|child| *child < pages)
            .map(|child| (host, child))
            .collect();
        let mut dice = self.about(host, u64::from(page), About::Links);
        for _ in 0..4 + mix(&mut dice) % 9 {
            let (kind, which) = (mix(&mut dice) % 100, mix(&mut dice));
            links.push(match kind {
                0..10 => ((which % self.hosts() as u64) as usize, 0),
                10 => (host, pages + (which % u64::from(paths - pages)) as u32),
                _ => (host, (which % u64::from(pages)) as u32),
            });
        }
        links
    }

    fn about(&self, host: usize, page: u64, about: About) -> u64 {
        let mut state = self.seed << 8 | about as u64;
        state = mix(&mut state) ^ host as u64;
        state = mix(&mut state) ^ page;
        mix(&mut state)
    }
}
