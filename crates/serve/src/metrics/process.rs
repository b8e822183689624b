//! Metrics of index servers or document servers in a process of their own.
//!
//! The names are those of a front-end for the same quantities, so one set of rules and one `shorttail
//! top` read all kinds of servers.

use super::exposition;
use super::filter_lists::FilterListMetrics;
use super::index::{self, TrustMetrics};
use super::partition::{HandlerMetrics, busy, ended_early, expired, handlers};
use crate::document_server::DocumentFigures;
use crate::document_server::InProcessDocumentServer;
use crate::handlers::figures::Figures;
use crate::index_server::InProcessIndexServer;
use crate::telemetry::partition_times::{PartitionTimes, partition_name, partition_seconds};
use crate::telemetry::register::Register;
use engine::Generations;
use engine::calls::Chunks;
use metrics::{Counter, Gauge};
use metrics_exporter_prometheus::PrometheusHandle;
use std::sync::Arc;
use std::sync::atomic::Ordering;

/// Metrics of the servers of a process: of their threads, and of each index.
pub struct ServerMetrics {
    handle: PrometheusHandle,
    handlers: Option<(HandlerMetrics, FilterListMetrics)>,
    texts: Option<TextMetrics>,
    indexes: Box<OpenIndexes>,
}

/// Returns the metrics of the indexes that are open.
pub(crate) type OpenIndexes = dyn Fn() -> Vec<Arc<OpenIndexMetrics>> + Send + Sync;

/// Metrics of the files of an index that is open in this process.
pub(crate) struct OpenIndexMetrics {
    handle: PrometheusHandle,
    generations: Arc<Generations>,
    documents: Gauge,
    generation: Gauge,
    trust: TrustMetrics,
}

/// Metrics of a document server.
struct TextMetrics {
    figures: Arc<DocumentFigures>,
    busy: Gauge,
    summaries: Counter,
    expired: Counter,
    ended_early: Counter,
}

impl ServerMetrics {
    /// Returns the metrics of an index server.
    pub fn of_index_server(server: &InProcessIndexServer) -> ServerMetrics {
        let indexes = of_one(server.generations());
        ServerMetrics::of_searches(Some(server.chunks()), &server.figures(), indexes)
    }

    /// Returns the metrics of a document server.
    pub fn of_document_server(server: &InProcessDocumentServer) -> ServerMetrics {
        let (handlers, figures) = (server.handlers_count(), server.figures());
        let indexes = of_one(server.generations());
        ServerMetrics::of_texts(Some(server.chunks()), handlers, figures, indexes)
    }

    /// Returns the metrics of handlers that search some chunks of indexes, or all.
    pub(crate) fn of_searches(
        chunks: Option<&Chunks>,
        figures: &Arc<Figures>,
        indexes: Box<OpenIndexes>,
    ) -> ServerMetrics {
        let register = Register::new(None);
        let handlers = HandlerMetrics::new(&register, chunks, figures);
        // The first registration stays: the handlers have one process.
        let _ = figures
            .times
            .set(PartitionTimes::of_handlers(&register, chunks));
        ServerMetrics {
            handlers: Some((handlers, FilterListMetrics::new(&register))),
            texts: None,
            handle: register.handle(),
            indexes,
        }
    }

    /// Returns the metrics of handlers that make summaries of the texts of some chunks of indexes, or all.
    pub(crate) fn of_texts(
        chunks: Option<&Chunks>,
        handlers_count: usize,
        figures: Arc<DocumentFigures>,
        indexes: Box<OpenIndexes>,
    ) -> ServerMetrics {
        let register = Register::new(None);
        let partition = partition_name(chunks);
        let labels = [("partition", partition.as_str())];
        handlers(&register, &labels).set(handlers_count as f64);
        let times = partition_seconds(&register, chunks, "summaries");
        let _ = figures.times.set(times);
        let texts = TextMetrics {
            busy: busy(&register, &labels),
            summaries: register.counter("shorttail_summaries_total", &labels, "Summaries made"),
            expired: expired(&register, &labels),
            ended_early: ended_early(&register, &labels),
            figures,
        };
        ServerMetrics {
            handlers: None,
            texts: Some(texts),
            handle: register.handle(),
            indexes,
        }
    }

    /// Returns the metrics in the text format of Prometheus.
    pub(crate) fn render(&self) -> String {
        if let Some((handlers, lists)) = &self.handlers {
            handlers.take_over();
            lists.take_over();
        }
        if let Some(texts) = &self.texts {
            let figures = &texts.figures;
            texts.busy.set(figures.busy.load(Ordering::Relaxed) as f64);
            for (counter, count) in [
                (&texts.summaries, &figures.made),
                (&texts.expired, &figures.expired),
                (&texts.ended_early, &figures.ended_early),
            ] {
                counter.absolute(count.load(Ordering::Relaxed));
            }
        }
        let indexes = (self.indexes)();
        let of_indexes = indexes.iter().map(|index| index.render());
        exposition::joined(std::iter::once(self.handle.render()).chain(of_indexes))
    }

    /// Folds recorded values into their histograms; otherwise they accumulate.
    pub(crate) fn upkeep(&self) {
        self.handle.run_upkeep();
    }
}

/// Returns the metrics of the only index of a process, which has no name.
fn of_one(generations: &Arc<Generations>) -> Box<OpenIndexes> {
    let metrics = Arc::new(OpenIndexMetrics::new(None, generations));
    Box::new(move || vec![Arc::clone(&metrics)])
}

impl OpenIndexMetrics {
    /// Returns the metrics of an index; its name is given where the process has several.
    pub(crate) fn new(name: Option<&str>, generations: &Arc<Generations>) -> OpenIndexMetrics {
        let register = Register::new(name);
        let chunks_count = generations.newest().chunks_count();
        index::chunks(&register).set(f64::from(chunks_count));
        OpenIndexMetrics {
            documents: index::documents(&register),
            generation: index::generation(&register),
            trust: TrustMetrics::new(&register),
            handle: register.handle(),
            generations: Arc::clone(generations),
        }
    }

    fn render(&self) -> String {
        let index = self.generations.newest();
        let documents = index.statistics().documents_count();
        self.documents.set(documents as f64);
        self.generation.set(index.generation() as f64);
        self.trust.take_over(&self.generations);
        self.handle.render()
    }
}
