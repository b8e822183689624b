//! Visits, their outcomes, and what follows from them.
use super::record::{Record, Validators, WarcPlace};
use super::state::{Failure, Parked, Refusal, Source, State};
use crate::politeness::TimeMs;

/// A URL found.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Discovery<'a> {
    /// Canonical URL.
    pub url: &'a str,
    /// Links from a seed.
    pub depth: u16,
    /// Origin of the URL.
    pub source: Source,
    /// Hash of the URL that it was found on.
    pub from: Option<u64>,
    /// Importance for the recrawl law, 1 without knowledge.
    pub importance: f32,
    /// Modification claimed by a sitemap or a ping: a page visited before it is due at once.
    pub modified: Option<TimeMs>,
}

/// Number of a visit, unique while the frontier is open.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct VisitId(pub u64);

/// Resource that a visit fetches.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum VisitKind {
    /// `/robots.txt` of the origin; ends with [`super::Frontier::robots`].
    Robots,
    /// A page; ends with [`super::Frontier::finished`].
    Page,
}

/// A request that may be sent now.
#[derive(Debug, Clone, PartialEq)]
pub struct Visit {
    /// Id by which the end of the visit is reported.
    pub id: VisitId,
    /// URL to fetch.
    pub url: String,
    /// Its origin.
    pub origin: String,
    /// Page or robots.txt.
    pub kind: VisitKind,
    /// Record of a page: validators, depth, failures, place of the last answer.
    pub record: Option<Record>,
}

/// Answer to "what now".
#[derive(Debug, Clone, PartialEq)]
pub enum Next {
    /// Send this request.
    Visit(Box<Visit>),
    /// No request may be sent before `until`, unless a visit ends or a URL is found. [`TimeMs::NEVER`]: only visits are
    /// in flight.
    Wait {
        /// Time of the next call.
        until: TimeMs,
    },
    /// No URL will be due, and no visit is in flight.
    Idle,
}

/// Whether a visit may connect to the address that its host resolved to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[must_use]
pub enum Permission {
    /// Send the request.
    Go,
    /// The address is in use or its gap has not passed: the visit was taken back and is given again later.
    Later,
}

/// Outcome of a page visit. `took_ms` is the fetch time; where it is absent no request was sent.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub enum Outcome {
    /// A page.
    Fetched {
        /// HTTP status.
        status: u16,
        /// Fetch time in milliseconds.
        took_ms: u64,
        /// Hash of the main text.
        text_hash: u128,
        /// Whether it names another address as its own, so that its text is no sign of new ones.
        duplicate: bool,
        /// Whether the page or its headers say noindex.
        noindex: bool,
        /// Whether another page of the host has the same text.
        repeats: bool,
        /// Validators of the next conditional request.
        validators: Validators,
        /// Place of the answer, which is durable.
        place: WarcPlace,
    },
    /// 304.
    NotModified {
        /// Fetch time in milliseconds.
        took_ms: u64,
    },
    /// A redirect to another URL, which the caller discovers.
    Redirected {
        /// HTTP status.
        status: u16,
        /// Fetch time in milliseconds.
        took_ms: u64,
    },
    /// 404 or 410.
    Gone {
        /// HTTP status.
        status: u16,
        /// Fetch time in milliseconds.
        took_ms: u64,
    },
    /// Not fetched, and not to be in the index.
    Refused(Refusal),
    /// No usable answer.
    Failed {
        /// Why.
        failure: Failure,
        /// HTTP status, if there was one.
        status: Option<u16>,
        /// Fetch time in milliseconds.
        took_ms: u64,
        /// Retry-After, in seconds.
        retry_after_s: Option<u64>,
    },
    /// Not fetched, and not visited again.
    Parked(Parked),
    /// Not fetched: the member of the crawl that visits its host has it.
    HandedOver,
}

/// Reason for which a page leaves the index.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum Deletion {
    /// 404 or 410 twice, at least 24 hours apart.
    Gone,
    /// It redirects elsewhere.
    Moved,
    /// robots.txt, a rule, noindex, or a duplicate.
    Refused(Refusal),
}

/// Effect of a visit on the index.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Effect {
    /// Index the text: it is new or changed.
    Index,
    /// Nothing: the index is current, or keeps what it has.
    Keep,
    /// Delete the page.
    Delete(Deletion),
}

/// Event that a caller reports to people.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub enum Notice {
    /// Pages of a shape have hardly any new text: no further ones are visited.
    ShapeParked {
        /// Origin of the pages.
        origin: String,
        /// Their shape.
        shape: u64,
    },
    /// The Crawl-delay is longer than the law obeys: the host is not visited until its robots.txt is read again.
    HostParked {
        /// Origin.
        origin: String,
        /// Time at which robots.txt is read again.
        until: TimeMs,
    },
}

/// Consequences of the end of a visit.
#[derive(Debug, Clone, PartialEq)]
pub struct Finished {
    /// URL of the visit.
    pub url: String,
    /// Effect on the index.
    pub effect: Effect,
    /// State of the URL.
    pub state: State,
    /// Next visit; [`TimeMs::NEVER`] if none.
    pub due: TimeMs,
    /// Notice for the log of the crawl.
    pub notice: Option<Notice>,
}

/// Permissions of robots.txt.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum RobotsOutcome {
    /// It has rules, which the caller applies to each URL.
    Rules {
        /// Crawl-delay, in seconds.
        crawl_delay_s: Option<f64>,
        /// Time at which it is read again.
        valid_until: TimeMs,
    },
    /// All is permitted: there is none (4xx).
    Free {
        /// Time at which it is read again.
        valid_until: TimeMs,
    },
    /// It cannot be read (5xx, 429, unreachable): no page until it was tried again at this time.
    WaitUntil(TimeMs),
}

/// The answer to a request for robots.txt.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct RobotsAnswer<'a> {
    /// Its permissions.
    pub outcome: RobotsOutcome,
    /// Whether the host wants fewer requests (429, 503), and its Retry-After in seconds.
    pub throttled: Option<Option<u64>>,
    /// Fetch time in milliseconds.
    pub took_ms: u64,
    /// Its source, kept for restarts.
    pub source: &'a [u8],
}

/// Explanation of the state of a URL.
#[derive(Debug, Clone, PartialEq)]
pub struct Explanation {
    /// All that is known: state, dates, counts.
    pub record: Record,
    /// State and reason in words.
    pub reason: String,
    /// Next visit, with the host's clock; `None` if none is planned.
    pub next_visit: Option<TimeMs>,
    /// Whether a visit is in flight.
    pub in_flight: bool,
    /// Whether the host is parked for its Crawl-delay.
    pub host_parked: bool,
}

/// Counts of URLs by state, and of hosts by the reason for which they wait.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Counts {
    /// Known URLs, without the unchecked ones.
    pub known: u64,
    /// Sightings since the last checkpoint, not checked yet: new URLs or known ones.
    pub unchecked: u64,
    /// Not visited yet.
    pub queued: u64,
    /// Fetched.
    pub fetched: u64,
    /// All states, for those not listed here.
    pub states: Vec<(State, u64)>,
    /// Origins.
    pub hosts: u64,
    /// Origins with a URL that is due and waits for the politeness law or robots.txt.
    pub hosts_waiting: u64,
    /// Visits in flight.
    pub in_flight: u64,
    /// Size of the runs, in bytes.
    pub disk_bytes: u64,
}

/// Origin with a URL that is due and may not be visited yet.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Waiting {
    /// The origin.
    pub origin: String,
    /// Earliest next request.
    pub until: TimeMs,
    /// Reason for the wait.
    pub reason: WaitReason,
}

/// Reason for which a host waits.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum WaitReason {
    /// The pause after its last answer.
    Pause,
    /// The Crawl-delay of its robots.txt.
    CrawlDelay,
    /// It answered 429 or 503.
    Throttled,
    /// Its robots.txt cannot be read.
    Robots,
    /// Its Crawl-delay is longer than any that is obeyed.
    Parked,
}

impl WaitReason {
    /// Returns its name in JSON.
    pub fn name(self) -> &'static str {
        match self {
            WaitReason::Pause => "pause",
            WaitReason::CrawlDelay => "crawl_delay",
            WaitReason::Throttled => "throttled",
            WaitReason::Robots => "robots",
            WaitReason::Parked => "parked",
        }
    }
}
