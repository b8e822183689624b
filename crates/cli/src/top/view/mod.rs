//! Differences between two readings: rates, queues and times of each phase.
//!
//! Counters and histograms are cumulative since the start of the server, so the difference of two readings describes
//! the time between them. A quantile is known to a bucket; the figure is the upper bound of that bucket.

mod change;
mod crawl;
mod indexes;
mod phase;

use super::exposition::{Exposition, Labels};
use change::Change;
pub(crate) use crawl::CrawlView;
pub(crate) use indexes::IndexView;
use phase::phase_view;
pub(crate) use phase::{AtMost, PhaseView};
use serde::Serialize;
use std::collections::{BTreeMap, BTreeSet};
use std::time::Duration;

/// Figures to show. `None` is unknown: the server does not report it, or there is only one reading.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub(crate) struct View {
    pub(crate) url: String,
    /// Seconds between the two readings; `None` after the first.
    pub(crate) interval_s: Option<f64>,
    /// Documents of all indexes.
    pub(crate) documents: Option<f64>,
    /// Generation of the index; `None` where the server has several.
    pub(crate) generation: Option<f64>,
    /// Open indexes of a server of many, the one with the most searches first.
    pub(crate) indexes: Vec<IndexView>,
    pub(crate) queries_per_s: Option<f64>,
    pub(crate) queries_per_s_by_client: BTreeMap<String, f64>,
    pub(crate) errors_per_s: Option<f64>,
    pub(crate) errors_per_s_by_kind: BTreeMap<String, f64>,
    pub(crate) rejected_per_s: Option<f64>,
    pub(crate) rejected_per_s_by_reason: BTreeMap<String, f64>,
    pub(crate) expired_per_s: Option<f64>,
    pub(crate) partial_answers_per_s: Option<f64>,
    pub(crate) optimization_searches_per_s: Option<f64>,
    /// Calls of the front-end to other servers, without hedged requests.
    pub(crate) calls_per_s: Option<f64>,
    pub(crate) failovers_per_s: Option<f64>,
    pub(crate) hedges_per_s: Option<f64>,
    pub(crate) hedges_won_per_s: Option<f64>,
    pub(crate) cache_hits_per_s: Option<f64>,
    pub(crate) cache_misses_per_s: Option<f64>,
    pub(crate) partitions: Vec<PartitionView>,
    pub(crate) phases: Vec<PhaseView>,
    /// Crawl in the directory of the index; `None` without one.
    pub(crate) crawl: Option<CrawlView>,
    /// Whether a counter decreased, that is the server was restarted between the readings.
    pub(crate) restarted: bool,
    /// Number of malformed lines in the text of the server.
    pub(crate) malformed_count: u64,
}

/// Figures of one partition.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub(crate) struct PartitionView {
    pub(crate) partition: String,
    pub(crate) queue_length: Option<f64>,
    pub(crate) handlers_busy: Option<f64>,
    pub(crate) handlers: Option<f64>,
    /// Requests refused because the queue was full.
    pub(crate) refused_per_s: Option<f64>,
    /// Searches that did not begin before their deadline.
    pub(crate) expired_per_s: Option<f64>,
    /// Searches that began and were ended by their deadline.
    pub(crate) ended_early_per_s: Option<f64>,
    pub(crate) phases: Vec<PhaseView>,
}

impl View {
    /// Builds a view of `now`, with the differences to `before` and the time between them.
    pub(crate) fn of(url: &str, now: &Exposition, before: Option<(&Exposition, Duration)>) -> View {
        let mut change = Change {
            now,
            before: before.map(|(before, elapsed)| (before, elapsed.as_secs_f64().max(1e-6))),
            restarted: false,
        };
        let queries = "shorttail_queries_total";
        let errors = "shorttail_errors_total";
        let rejected = "shorttail_rejected_total";
        View {
            url: url.to_owned(),
            interval_s: change.before.map(|(_, elapsed_s)| elapsed_s),
            documents: now.sum("shorttail_documents"),
            generation: match now.by("shorttail_generation", "index").is_empty() {
                true => now.sum("shorttail_generation"),
                false => None,
            },
            indexes: change.indexes(),
            queries_per_s: change.rate(queries),
            queries_per_s_by_client: change.rates(queries, "client"),
            errors_per_s: change.rate(errors),
            errors_per_s_by_kind: change.rates(errors, "kind"),
            rejected_per_s: change.rate(rejected),
            rejected_per_s_by_reason: change.rates(rejected, "reason"),
            expired_per_s: change.rate("shorttail_expired_total"),
            partial_answers_per_s: change.rate("shorttail_partial_answers_total"),
            optimization_searches_per_s: change.rate("shorttail_optimization_searches_total"),
            calls_per_s: change.rate("shorttail_calls_total"),
            failovers_per_s: change.rate("shorttail_failovers_total"),
            hedges_per_s: change.rate("shorttail_hedges_total"),
            hedges_won_per_s: change.rate("shorttail_hedges_won_total"),
            cache_hits_per_s: change.rate("shorttail_cache_hits_total"),
            cache_misses_per_s: change.rate("shorttail_cache_misses_total"),
            partitions: change.partitions(),
            phases: change.phases(),
            crawl: CrawlView::of(&mut change),
            restarted: change.restarted,
            malformed_count: now.malformed_count,
        }
    }
}

impl Change<'_> {
    /// Returns the phases of whole searches in their order, and the total.
    fn phases(&mut self) -> Vec<PhaseView> {
        let mut phases = self.histograms("shorttail_phase_seconds");
        let mut views: Vec<PhaseView> = wire::PhaseTimes::default()
            .named()
            .iter()
            .filter_map(|(phase, _)| {
                let labels = Labels::from([("phase".to_owned(), (*phase).to_owned())]);
                Some(phase_view(phase, &phases.remove(&labels)?))
            })
            .collect();
        // Unknown phases are shown too.
        for (labels, histogram) in &phases {
            views.extend(
                labels
                    .get("phase")
                    .map(|phase| phase_view(phase, histogram)),
            );
        }
        let mut totals = self.histograms("shorttail_search_seconds").into_values();
        if let Some(mut total) = totals.next() {
            totals.for_each(|more| total.add(&more));
            views.push(phase_view("total", &total));
        }
        views
    }

    fn partitions(&mut self) -> Vec<PartitionView> {
        let label = "partition";
        let queues = self.now.by("shorttail_queue_length", label);
        let busy = self.now.by("shorttail_handlers_busy", label);
        let handlers = self.now.by("shorttail_handlers", label);
        let refused = self.rates("shorttail_refused_total", label);
        let expired = self.rates("shorttail_expired_total", label);
        let ended_early = self.rates("shorttail_ended_early_total", label);
        let histograms = self.histograms("shorttail_partition_seconds");
        let timed = histograms.keys().filter_map(|labels| labels.get(label));
        let names: BTreeSet<&String> = queues
            .keys()
            .chain(busy.keys())
            .chain(handlers.keys())
            .chain(timed)
            .collect();
        let mut views: Vec<PartitionView> = names
            .into_iter()
            .map(|name| PartitionView {
                partition: name.clone(),
                queue_length: queues.get(name).copied(),
                handlers_busy: busy.get(name).copied(),
                handlers: handlers.get(name).copied(),
                refused_per_s: refused.get(name).copied(),
                expired_per_s: expired.get(name).copied(),
                ended_early_per_s: ended_early.get(name).copied(),
                phases: histograms
                    .iter()
                    .filter(|(labels, _)| labels.get(label) == Some(name))
                    .filter_map(|(labels, histogram)| {
                        Some(phase_view(labels.get("phase")?, histogram))
                    })
                    .collect(),
            })
            .collect();
        // Sorted by the number at the start of a name: 10 follows 9, and chunks 64-127 precede 128-191.
        views.sort_by_key(|view| {
            let name = &view.partition;
            let digits = name
                .find(|c: char| !c.is_ascii_digit())
                .unwrap_or(name.len());
            name[..digits].parse::<u64>().unwrap_or(u64::MAX)
        });
        views
    }
}

#[cfg(test)]
mod tests;
