//! States of a URL, with their reasons.

/// Origin of a URL.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Source {
    /// Given by the user.
    Seed,
    /// A link on a page.
    Link,
    /// A sitemap or feed.
    Sitemap,
    /// Target of a redirect.
    Redirect,
    /// A ping (IndexNow).
    Ping,
    /// Path that a host cannot have, requested to learn its answer for missing pages.
    Probe,
    /// Named as a list of URLs: by robots.txt or an index as a sitemap, by a page as its feed. It is read as one whatever
    /// its type is.
    List,
}

const SOURCES: [Source; 7] = [
    Source::Seed,
    Source::Link,
    Source::Sitemap,
    Source::Redirect,
    Source::Ping,
    Source::Probe,
    Source::List,
];

impl Source {
    /// Returns what a URL was named as, after a further sighting: a list stays one, whatever else leads there. Probes and
    /// pings keep what they are.
    pub(super) fn and(self, later: Source) -> Source {
        match (self, later) {
            (Source::Probe | Source::Ping, _) => self,
            (_, Source::List) => Source::List,
            _ => self,
        }
    }

    pub(super) fn code(self) -> u8 {
        SOURCES.iter().position(|s| *s == self).unwrap_or_default() as u8
    }

    pub(super) fn from_code(code: u8) -> Option<Source> {
        SOURCES.get(usize::from(code)).copied()
    }
}

/// Reason for which a page must not be in the index.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Refusal {
    /// robots.txt.
    Robots,
    /// A rule of the configuration, or the scope.
    Rule,
    /// Meta robots or `X-Robots-Tag`.
    NoIndex,
    /// Another page has the same text. Of earlier versions: the collection decides which pages stand for others.
    Duplicate,
}

/// Reason for which a visit had no usable answer. The page is kept.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Failure {
    /// The name of the host was not resolved.
    Dns,
    /// No connection.
    Connect,
    /// The TLS handshake or certificate.
    Tls,
    /// A time limit.
    Timeout,
    /// The answer broke off or cannot be read.
    Broken,
    /// 429 or 503.
    Throttled,
    /// Another 5xx.
    Server,
    /// A 4xx that says nothing about the page (401, 403, …).
    Client,
    /// 404 or 410, not yet twice in 24 hours.
    Missing,
    /// An address that the configuration forbids.
    Address,
    /// Too many redirects, or a target that is no URL.
    Redirects,
}

/// Reason for which a URL is never visited.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Parked {
    /// Pages of its path shape have hardly any new text.
    Trap,
    /// Too many links from a seed.
    Depth,
    /// The URL is too long, or repeats itself.
    Shape,
    /// Not a type that is indexed.
    Type,
    /// Failed too often.
    Failures,
    /// A path that does not exist, visited once.
    Probe,
}

/// State of a URL.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum State {
    /// Known, not visited.
    Queued,
    /// Fetched; in the index.
    Fetched,
    /// Redirects elsewhere.
    Moved,
    /// 404 or 410 twice, at least 24 hours apart.
    Gone,
    /// The URL must not be in the index.
    Refused(Refusal),
    /// The last visit had no usable answer; an earlier text is kept.
    Failed(Failure),
    /// Not visited.
    Parked(Parked),
    /// Another member of the crawl visits its host.
    Elsewhere,
}

/// The class of each state on disk. Never reordered; new ones at new numbers.
const CLASSES: [(u8, State); 26] = [
    (0, State::Queued),
    (1, State::Fetched),
    (2, State::Moved),
    (3, State::Gone),
    (4, State::Elsewhere),
    (10, State::Refused(Refusal::Robots)),
    (11, State::Refused(Refusal::Rule)),
    (12, State::Refused(Refusal::NoIndex)),
    (13, State::Refused(Refusal::Duplicate)),
    (20, State::Failed(Failure::Dns)),
    (21, State::Failed(Failure::Connect)),
    (22, State::Failed(Failure::Tls)),
    (23, State::Failed(Failure::Timeout)),
    (24, State::Failed(Failure::Broken)),
    (25, State::Failed(Failure::Throttled)),
    (26, State::Failed(Failure::Server)),
    (27, State::Failed(Failure::Client)),
    (28, State::Failed(Failure::Missing)),
    (29, State::Failed(Failure::Address)),
    (30, State::Failed(Failure::Redirects)),
    (40, State::Parked(Parked::Trap)),
    (41, State::Parked(Parked::Depth)),
    (42, State::Parked(Parked::Shape)),
    (43, State::Parked(Parked::Type)),
    (44, State::Parked(Parked::Failures)),
    (45, State::Parked(Parked::Probe)),
];

impl Refusal {
    /// Returns its name in JSON and metrics.
    pub fn name(self) -> &'static str {
        match self {
            Refusal::Robots => "robots",
            Refusal::Rule => "rule",
            Refusal::NoIndex => "noindex",
            Refusal::Duplicate => "duplicate",
        }
    }
}

impl Failure {
    /// Returns its name in JSON and metrics.
    pub fn name(self) -> &'static str {
        match self {
            Failure::Dns => "dns",
            Failure::Connect => "connect",
            Failure::Tls => "tls",
            Failure::Timeout => "timeout",
            Failure::Broken => "broken",
            Failure::Throttled => "throttled",
            Failure::Server => "server",
            Failure::Client => "client",
            Failure::Missing => "missing",
            Failure::Address => "address",
            Failure::Redirects => "redirects",
        }
    }
}

impl Parked {
    /// Returns its name in JSON and metrics.
    pub fn name(self) -> &'static str {
        match self {
            Parked::Trap => "trap",
            Parked::Depth => "depth",
            Parked::Shape => "shape",
            Parked::Type => "type",
            Parked::Failures => "failures",
            Parked::Probe => "probe",
        }
    }
}

impl State {
    /// Returns its name in JSON and metrics, without the reason.
    pub fn name(self) -> &'static str {
        match self {
            State::Queued => "queued",
            State::Fetched => "fetched",
            State::Moved => "moved",
            State::Gone => "gone",
            State::Refused(_) => "refused",
            State::Failed(_) => "failed",
            State::Parked(_) => "parked",
            State::Elsewhere => "elsewhere",
        }
    }

    /// Returns the name of the reason for it; empty where the state has one reason alone.
    pub fn reason(self) -> &'static str {
        match self {
            State::Refused(refusal) => refusal.name(),
            State::Failed(failure) => failure.name(),
            State::Parked(parked) => parked.name(),
            State::Queued | State::Fetched | State::Moved | State::Gone | State::Elsewhere => "",
        }
    }

    pub(super) fn class(self) -> u8 {
        CLASSES
            .iter()
            .find(|(_, state)| *state == self)
            .map_or(0, |(class, _)| *class)
    }

    pub(super) fn from_class(class: u8) -> Option<State> {
        CLASSES
            .iter()
            .find(|(code, _)| *code == class)
            .map(|(_, state)| *state)
    }
}

impl std::fmt::Display for State {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(match self {
            State::Queued => "queued: not visited yet",
            State::Fetched => "fetched",
            State::Moved => "moved: it redirects elsewhere",
            State::Elsewhere => "elsewhere: another member of the crawl visits its host",
            State::Gone => "gone: 404 or 410 twice, at least 24 hours apart",
            State::Refused(Refusal::Robots) => "refused: robots.txt disallows it",
            State::Refused(Refusal::Rule) => "refused: a rule of the configuration excludes it",
            State::Refused(Refusal::NoIndex) => "refused: the page says noindex",
            State::Refused(Refusal::Duplicate) => "refused: another page has the same text",
            State::Failed(Failure::Dns) => "failed: the host name was not resolved",
            State::Failed(Failure::Connect) => "failed: no connection",
            State::Failed(Failure::Tls) => "failed: TLS handshake or certificate",
            State::Failed(Failure::Timeout) => "failed: time limit",
            State::Failed(Failure::Broken) => "failed: the answer broke off or cannot be read",
            State::Failed(Failure::Throttled) => "failed: the host wants fewer requests (429, 503)",
            State::Failed(Failure::Server) => "failed: error of the server (5xx)",
            State::Failed(Failure::Client) => "failed: the server refused the request (4xx)",
            State::Failed(Failure::Missing) => {
                "failed: 404 or 410; deleted if it is so again after 24 hours"
            }
            State::Failed(Failure::Address) => "failed: the address is not allowed",
            State::Failed(Failure::Redirects) => "failed: too many redirects",
            State::Parked(Parked::Trap) => "parked: pages of its shape have hardly any new text",
            State::Parked(Parked::Depth) => "parked: too many links from a seed",
            State::Parked(Parked::Shape) => "parked: the URL is too long or repeats itself",
            State::Parked(Parked::Type) => "parked: not a type that is indexed",
            State::Parked(Parked::Failures) => "parked: it failed too often",
            State::Parked(Parked::Probe) => {
                "parked: asked for once to see how the host answers for what it does not have"
            }
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn classes_and_sources_come_back() {
        for (class, state) in CLASSES {
            assert_eq!(
                (state.class(), State::from_class(class)),
                (class, Some(state))
            );
            // Explanations begin with the name.
            assert!(state.to_string().starts_with(state.name()), "{state}");
        }
        let names: std::collections::HashSet<_> = CLASSES
            .iter()
            .map(|(_, state)| (state.name(), state.reason()))
            .collect();
        assert_eq!(names.len(), CLASSES.len());
        assert_eq!(State::from_class(9), None);
        for source in SOURCES {
            assert_eq!(Source::from_code(source.code()), Some(source));
        }
    }
}
