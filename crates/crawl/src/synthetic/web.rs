//! Hosts and paths of the synthetic web.

use super::options::{HostClass, Reason, SyntheticOptions, Trap};
use super::text::{Vocabulary, mix, unit};
use std::net::Ipv4Addr;

/// One host.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Host {
    /// Its number.
    pub number: u32,
    /// Its class.
    pub class: HostClass,
    /// Count of pages of its tree.
    pub pages: u32,
}

impl Host {
    /// Returns the host whose pages this one has: itself, unless it is a mirror.
    pub(super) fn origin(&self) -> u32 {
        if self.class == HostClass::Mirror {
            self.number - 9
        } else {
            self.number
        }
    }
}

/// Resource at a path.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum Place {
    /// robots.txt.
    Robots,
    /// The sitemap, or the feed.
    List,
    /// A page of the tree.
    Page(u32),
    /// The print version of a page, whose canonical URL is the page.
    Print(u32),
    /// A page beside the tree, with the number of the page that it belongs to.
    Extra(u32),
    /// A redirect: the path of its target is computed by the response. Hops that remain to the target page.
    Redirect(u32, u32),
    /// A redirect without end.
    Loop,
    /// A URL of a trap.
    Trap(Trap),
    /// A page that must not be fetched.
    Forbidden(Reason, u32),
    /// A URL to which links lead although there is nothing.
    Dead,
    /// A path that no link names.
    Unknown,
}

/// The synthetic web.
pub struct SyntheticWeb {
    pub(super) options: SyntheticOptions,
    pub(super) vocabulary: Vocabulary,
    pages_max_ln: f64,
}

/// Extra pages of a list: sitemap or feed.
pub(super) const LISTED: u32 = 10;
/// Address of the seeds; host k is at the k-th address after it.
pub(super) const SEEDS_ADDRESS: Ipv4Addr = Ipv4Addr::new(127, 1, 0, 1);
const ADDRESSES: u32 = 16_600_000;
/// Hosts on one page of seeds.
pub(super) const SEEDS_A_PAGE: u32 = 1_000;

impl SyntheticWeb {
    /// Prepares the web; nothing is stored for a page.
    pub fn new(options: SyntheticOptions) -> Self {
        // The mean of a log-uniform size from 1 to m is (m - 1) / ln m.
        let (mut low, mut high) = (0.001_f64, 40.0_f64);
        for _ in 0..60 {
            let middle = (low + high) / 2.0;
            if (middle.exp() - 1.0) / middle < options.pages_mean {
                low = middle
            } else {
                high = middle
            }
        }
        Self {
            options,
            vocabulary: Vocabulary::new(),
            pages_max_ln: low,
        }
    }

    /// Returns the options.
    pub fn options(&self) -> &SyntheticOptions {
        &self.options
    }

    /// Returns the URL from which every host is reached.
    pub fn seeds_url(&self) -> String {
        self.url_of(&self.seeds_host(), "/")
    }

    /// Returns the URL of `path` on host `number`.
    pub fn url(&self, number: u32, path: &str) -> String {
        self.url_of(&self.host_name(number), path)
    }

    fn url_of(&self, host: &str, path: &str) -> String {
        let scheme = if self.options.tls { "https" } else { "http" };
        format!("{scheme}://{host}:{}{path}", self.options.port)
    }

    /// Returns the name of host `number`.
    pub fn host_name(&self, number: u32) -> String {
        match self.options.by_address {
            true => self.address_of(number).to_string(),
            false => format!("h{number}.web.test"),
        }
    }

    /// Returns the name of the host of the seeds.
    pub fn seeds_host(&self) -> String {
        match self.options.by_address {
            true => SEEDS_ADDRESS.to_string(),
            false => "seeds.web.test".to_owned(),
        }
    }

    /// Returns the address of host `number`: several hosts may have one.
    pub(super) fn address_of(&self, number: u32) -> Ipv4Addr {
        let number = number / self.options.hosts_per_address.max(1);
        // Below 127.255.0.0: 16.6 million addresses.
        Ipv4Addr::from(u32::from(SEEDS_ADDRESS) + 1 + number % ADDRESSES)
    }

    /// Returns host `number`.
    pub fn host(&self, number: u32) -> Host {
        let class = if self.options.classes {
            HostClass::of(number)
        } else {
            HostClass::Plain
        };
        let origin = if class == HostClass::Mirror {
            number - 9
        } else {
            number
        };
        let size = (unit(mix(self.options.seed, u64::from(origin))) * self.pages_max_ln).exp();
        Host {
            number,
            class,
            pages: (size as u32).max(1),
        }
    }

    /// Returns the host with a name, such as `h12.web.test` or `127.1.0.14`, with or without port.
    pub fn host_named(&self, name: &str) -> Option<Host> {
        let name = name.split(':').next()?;
        let number = if self.options.by_address {
            let address: Ipv4Addr = name.parse().ok()?;
            u32::from(address).checked_sub(u32::from(SEEDS_ADDRESS) + 1)?
        } else {
            let digits = name.strip_prefix('h')?.strip_suffix(".web.test")?;
            digits.parse().ok()?
        };
        (number < self.options.hosts && self.host_name(number) == name).then(|| self.host(number))
    }

    /// Returns the path of page `page` of the tree of `host`. Depths are about lognormal.
    pub fn page_path(&self, host: &Host, page: u32) -> String {
        if page == 0 {
            return "/".to_owned();
        }
        let mixed = mix(
            self.options.seed ^ 0xda7a,
            u64::from(host.origin()) << 32 | u64::from(page),
        );
        let depth = [0, 1, 1, 1, 2, 2, 3, 4][(mixed & 7) as usize];
        let mut path = String::from("/");
        for level in 0..depth {
            // Folders differ, so that no segment is repeated.
            path.push_str(&format!("d{level}{}/", mixed >> (8 + 8 * level) & 7));
        }
        path + &format!("{page}.html")
    }

    /// Returns the page or file at `path` of `host` (with its query).
    pub fn place(&self, host: &Host, path: &str) -> Place {
        let number = |prefix: &str| -> Option<u32> {
            let digits = path.strip_prefix(prefix)?.strip_suffix(".html")?;
            let number: u32 = digits.parse().ok()?;
            (number < host.pages.max(LISTED) && number.to_string() == digits).then_some(number)
        };
        let tree = |path: &str| -> Option<u32> {
            let name = path.rsplit('/').next()?;
            let page = if path == "/" {
                0
            } else {
                name.strip_suffix(".html")?.parse().ok()?
            };
            (page < host.pages && self.page_path(host, page) == path).then_some(page)
        };
        match path {
            "/robots.txt" => return Place::Robots,
            "/sitemap.xml" if host.class == HostClass::Sitemap => return Place::List,
            "/feed.xml" if host.class == HostClass::Feed => return Place::List,
            "/loop/a" | "/loop/b" if host.class == HostClass::Redirects => return Place::Loop,
            _ => {}
        }
        if let Some(page) = tree(path) {
            return Place::Page(page);
        }
        if path.starts_with("/dead/") {
            return Place::Dead;
        }
        let forbidden = |reason, page| Place::Forbidden(reason, page);
        match host.class {
            HostClass::Disallow => {
                number("/private/").map(|page| forbidden(Reason::Disallowed, page))
            }
            HostClass::RobotsChanging => {
                number("/later/").map(|page| forbidden(Reason::DisallowedLater, page))
            }
            HostClass::Directives => path
                .strip_suffix("?print=1")
                .and_then(tree)
                .filter(|page| page % 5 == 4)
                .map(Place::Print)
                .or_else(|| number("/unfollowed/").map(|page| forbidden(Reason::Nofollow, page))),
            HostClass::Sitemap => number("/listed/")
                .filter(|&page| page < LISTED)
                .map(Place::Extra),
            HostClass::Feed => number("/entry/")
                .filter(|&page| page < LISTED)
                .map(Place::Extra),
            HostClass::Redirects => {
                let hops = path
                    .strip_prefix("/r/")
                    .and_then(|rest| rest.split_once('/'));
                let hop =
                    hops.and_then(|(page, hops)| Some((page.parse().ok()?, hops.parse().ok()?)));
                hop.filter(|&(page, hops): &(u32, u32)| page < host.pages && hops <= 3)
                    .map(|(page, hops)| Place::Redirect(page, hops))
                    .or_else(|| number("/target/").map(Place::Extra))
            }
            HostClass::Trap(trap) => path
                .to_ascii_lowercase()
                .starts_with("/trap")
                .then_some(Place::Trap(trap)),
            _ => None,
        }
        .unwrap_or(Place::Unknown)
    }
}
