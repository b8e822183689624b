//! Options of the synthetic web, classes of its hosts.

/// Options of the synthetic web.
#[derive(Debug, Clone)]
pub struct SyntheticOptions {
    /// Seed of everything.
    pub seed: u64,
    /// Count of hosts, without the one of the seeds.
    pub hosts: u32,
    /// Mean count of pages of a host; sizes are log-uniform from 1.
    pub pages_mean: f64,
    /// Mean length of the HTML of a page, in bytes.
    pub page_bytes_mean: usize,
    /// Mean count of links of a page beside those to its children.
    pub degree_mean: f64,
    /// Hosts on one address.
    pub hosts_per_address: u32,
    /// Port in the URLs.
    pub port: u16,
    /// Whether URLs are https.
    pub tls: bool,
    /// Whether hosts are named by their addresses, so that a client without the resolver of this web reaches them.
    pub by_address: bool,
    /// Whether hosts have all classes in turn; otherwise all are plain.
    pub classes: bool,
    /// Mean time between changes of a page that changes, in ms; half of the pages change.
    pub change_gap_ms: u64,
    /// Time at which the rules of [`HostClass::RobotsChanging`] become stricter, in ms.
    pub robots_change_ms: u64,
    /// Crawl-delay of [`HostClass::CrawlDelay`], in s.
    pub crawl_delay_s: u64,
    /// Delay of each answer of [`HostClass::Slow`], in ms.
    pub slow_ms: u64,
}

impl Default for SyntheticOptions {
    fn default() -> Self {
        Self {
            seed: 7,
            hosts: 100,
            pages_mean: 50.0,
            page_bytes_mean: 8_000,
            degree_mean: 10.0,
            hosts_per_address: 1,
            port: 80,
            tls: false,
            by_address: false,
            classes: true,
            change_gap_ms: 86_400_000,
            robots_change_ms: u64::MAX,
            crawl_delay_s: 1,
            slow_ms: 200,
        }
    }
}

/// A trap: an unbounded set of URLs without new text.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Trap {
    /// Months without end.
    Calendar,
    /// A new session in the query of every link.
    SessionQuery,
    /// A new session in the path of every link.
    SessionPath,
    /// Ever deeper folders.
    EndlessPath,
    /// A relative link that repeats its segment.
    RepeatedSegment,
    /// Orders of the same parameters.
    Permutations,
    /// Queries that grow.
    GrowingQuery,
    /// Searches that suggest searches.
    Search,
    /// Numbered pages without end.
    Pagination,
    /// Redirects to ever new URLs.
    Redirects,
    /// Letters in upper and lower case.
    Case,
    /// Filters that combine.
    Filters,
}

/// All traps, in the order of the hosts that have them.
pub const TRAPS: [Trap; 12] = [
    Trap::Calendar,
    Trap::SessionQuery,
    Trap::SessionPath,
    Trap::EndlessPath,
    Trap::RepeatedSegment,
    Trap::Permutations,
    Trap::GrowingQuery,
    Trap::Search,
    Trap::Pagination,
    Trap::Redirects,
    Trap::Case,
    Trap::Filters,
];

/// The class of a host. Every 28 hosts have all of them, in this order, the traps last.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum HostClass {
    /// Nothing special.
    Plain,
    /// Pages that only its sitemap lists.
    Sitemap,
    /// noindex, nofollow and canonical.
    Directives,
    /// A folder that robots.txt disallows.
    Disallow,
    /// A crawl-delay.
    CrawlDelay,
    /// Late answers.
    Slow,
    /// Answers 429 with `Retry-After` in the first second of every ten.
    Busy429,
    /// Answers 503 in the same way.
    Busy503,
    /// Chains and loops of redirects.
    Redirects,
    /// The same pages as the plain host nine before.
    Mirror,
    /// Odd pages are nearly those before.
    NearDuplicates,
    /// Answers 200 where there is no page.
    SoftNotFound,
    /// Pages in ISO-8859-1.
    Latin1,
    /// Pages that only its feed lists.
    Feed,
    /// A robots.txt that becomes stricter.
    RobotsChanging,
    /// A robots.txt that answers 503: nothing may be fetched.
    RobotsUnavailable,
    /// A trap beside ordinary pages.
    Trap(Trap),
}

impl HostClass {
    pub(super) fn of(number: u32) -> Self {
        match number % 28 {
            0 => Self::Plain,
            1 => Self::Sitemap,
            2 => Self::Directives,
            3 => Self::Disallow,
            4 => Self::CrawlDelay,
            5 => Self::Slow,
            6 => Self::Busy429,
            7 => Self::Busy503,
            8 => Self::Redirects,
            9 => Self::Mirror,
            10 => Self::NearDuplicates,
            11 => Self::SoftNotFound,
            12 => Self::Latin1,
            13 => Self::Feed,
            14 => Self::RobotsChanging,
            15 => Self::RobotsUnavailable,
            trap => Self::Trap(TRAPS[trap as usize - 16]),
        }
    }
}

/// Reason for which a page must not be fetched.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Reason {
    /// robots.txt disallows it.
    Disallowed,
    /// robots.txt disallows it from the time of the options.
    DisallowedLater,
    /// All links to it are nofollow.
    Nofollow,
    /// robots.txt of the host cannot be had.
    RobotsUnavailable,
}
