//! Metrics of the crawl that fills the index of a server.

use crate::telemetry::register::Register;
use metrics::{Counter, Gauge};
use std::collections::BTreeMap;
use wire::{CrawlProgress, CrawlStatus};

/// Counter of which a crawl tells the value in its present run.
struct RunCounter {
    counter: Counter,
    of: fn(&CrawlProgress) -> u64,
    seen: u64,
}

/// Gauge of a value that the crawl tells.
struct Told {
    gauge: Gauge,
    of: fn(&CrawlProgress) -> f64,
}

/// Counters and gauges of a crawl.
pub(super) struct CrawlMetrics {
    running: Gauge,
    counters: Vec<RunCounter>,
    gauges: Vec<Told>,
    /// Counters by cause, each with its value in the present run.
    failures: BTreeMap<String, (Counter, u64)>,
    /// Gauges by state and reason.
    urls: BTreeMap<(String, String), Gauge>,
    /// Start of the run that the values seen are of.
    run: String,
}

impl CrawlMetrics {
    pub(super) fn new(register: &Register) -> CrawlMetrics {
        CrawlMetrics {
            running: register.gauge("shorttail_crawl_running", &[], "1 while the crawl runs"),
            counters: counters(register),
            gauges: gauges(register),
            failures: BTreeMap::new(),
            urls: BTreeMap::new(),
            run: String::new(),
        }
    }

    /// Copies the figures, when metrics are read.
    pub(super) fn take_over(&mut self, status: &CrawlStatus, register: &Register) {
        let progress = &status.progress;
        self.running.set(f64::from(u8::from(status.is_running)));
        if self.run != progress.started {
            // Counts of a run begin at 0; the counters go on.
            self.run.clone_from(&progress.started);
            for counter in &mut self.counters {
                counter.seen = 0;
            }
            for (_, seen) in self.failures.values_mut() {
                *seen = 0;
            }
        }
        for RunCounter { counter, of, seen } in &mut self.counters {
            grow(counter, seen, of(progress));
        }
        for Told { gauge, of } in &self.gauges {
            gauge.set(of(progress));
        }
        for (cause, visits) in &progress.failures {
            let (counter, seen) = self.failures.entry(cause.clone()).or_insert_with(|| {
                let help = "Visits of a crawl without a usable answer, by cause";
                let labels = [("cause", cause.as_str())];
                let counter = register.counter("shorttail_crawl_failures_total", &labels, help);
                (counter, 0)
            });
            grow(counter, seen, *visits);
        }
        // States without a URL are not told.
        for gauge in self.urls.values() {
            gauge.set(0.0);
        }
        for told in &progress.states {
            let name = (told.state.clone(), told.reason.clone());
            let gauge = self.urls.entry(name).or_insert_with(|| {
                let labels = [
                    ("state", told.state.as_str()),
                    ("reason", told.reason.as_str()),
                ];
                let help = "URLs that a crawl knows, by state and reason";
                register.gauge("shorttail_crawl_urls", &labels, help)
            });
            gauge.set(told.urls as f64);
        }
    }
}

fn grow(counter: &Counter, seen: &mut u64, value: u64) {
    counter.increment(value.saturating_sub(*seen));
    *seen = value;
}

fn counters(register: &Register) -> Vec<RunCounter> {
    let visits = "Visits of a crawl, by their result";
    let visits = |result, of| RunCounter {
        counter: register.counter(
            "shorttail_crawl_visits_total",
            &[("result", result)],
            visits,
        ),
        of,
        seen: 0,
    };
    let plain = |name, help, of| RunCounter {
        counter: register.counter(name, &[], help),
        of,
        seen: 0,
    };
    vec![
        visits("fetched", |told| told.fetched),
        visits("not_modified", |told| told.not_modified),
        visits("redirected", |told| told.redirects),
        visits("missing", |told| told.missing),
        visits("failed", |told| told.failed),
        visits("refused", |told| told.refused),
        plain(
            "shorttail_crawl_wire_bytes_total",
            "Bytes of bodies that a crawl received",
            |told| told.wire_bytes,
        ),
        plain(
            "shorttail_crawl_documents_added_total",
            "Documents that a crawl added to the index",
            |told| told.added,
        ),
        plain(
            "shorttail_crawl_documents_deleted_total",
            "Documents that a crawl deleted from the index",
            |told| told.deleted,
        ),
        plain(
            "shorttail_crawl_pings_total",
            "URLs that pings asked a crawl for",
            |told| told.pings,
        ),
        plain(
            "shorttail_crawl_handed_over_total",
            "URLs that a crawl handed over to its other members",
            |told| told.handed_over,
        ),
        plain(
            "shorttail_crawl_taken_over_total",
            "URLs that other members handed over to a crawl",
            |told| told.taken_over,
        ),
    ]
}

fn gauges(register: &Register) -> Vec<Told> {
    let gauge = |name, help, of| Told {
        gauge: register.gauge(name, &[], help),
        of,
    };
    vec![
        gauge(
            "shorttail_crawl_urls_known",
            "URLs that a crawl knows",
            |told| told.known as f64,
        ),
        gauge(
            "shorttail_crawl_urls_queued",
            "URLs that a crawl knows and has not visited",
            |told| told.queued as f64,
        ),
        gauge(
            "shorttail_crawl_hosts",
            "Hosts that a crawl knows",
            |told| told.hosts as f64,
        ),
        gauge(
            "shorttail_crawl_hosts_waiting",
            "Hosts with a URL that is due, which wait for politeness or robots.txt",
            |told| told.hosts_waiting as f64,
        ),
        gauge(
            "shorttail_crawl_visits_in_flight",
            "Visits of a crawl under way",
            |told| told.in_flight as f64,
        ),
        gauge(
            "shorttail_crawl_pages_per_second",
            "Pages answered per second, over the last ten seconds",
            |told| told.pages_per_s,
        ),
    ]
}
