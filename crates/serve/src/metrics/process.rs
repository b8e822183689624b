//! Metrics of an index server or a document server in a process of its own.
//!
//! The names are those of a front-end for the same quantities, so one set of rules and one `shorttail
//! top` read all kinds of servers.

use super::filter_lists::FilterListMetrics;
use super::index::{self, TrustMetrics};
use super::partition::{HandlerMetrics, busy, ended_early, expired, handlers};
use crate::document_server::DocumentFigures;
use crate::document_server::InProcessDocumentServer;
use crate::index_server::InProcessIndexServer;
use crate::telemetry::partition_times::{PartitionTimes, partition_seconds};
use crate::telemetry::register::Register;
use engine::Generations;
use engine::calls::chunks_shown;
use metrics::{Counter, Gauge};
use metrics_exporter_prometheus::PrometheusHandle;
use std::sync::Arc;
use std::sync::atomic::Ordering;

/// Metrics of one index server or document server in a process of its own.
pub struct ServerMetrics {
    handle: PrometheusHandle,
    generations: Arc<Generations>,
    documents: Gauge,
    generation: Gauge,
    trust: TrustMetrics,
    handlers: Option<(HandlerMetrics, FilterListMetrics)>,
    texts: Option<TextMetrics>,
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
        let register = Register::new(None);
        let (chunks, figures) = (server.chunks(), server.figures());
        let handlers = HandlerMetrics::new(&register, Some(chunks), &figures);
        // The first registration stays: the process has one server.
        let _ = figures
            .times
            .set(PartitionTimes::of_handlers(&register, Some(chunks)));
        ServerMetrics::new(&register, server.generations(), Some(handlers), None)
    }

    /// Returns the metrics of a document server.
    pub fn of_document_server(server: &InProcessDocumentServer) -> ServerMetrics {
        let register = Register::new(None);
        let figures = server.figures();
        let partition = chunks_shown(server.chunks());
        let labels = [("partition", partition.as_str())];
        handlers(&register, &labels).set(server.handlers_count() as f64);
        let times = partition_seconds(&register, Some(server.chunks()), "summaries");
        let _ = figures.times.set(times);
        let texts = TextMetrics {
            busy: busy(&register, &labels),
            summaries: register.counter("shorttail_summaries_total", &labels, "Summaries made"),
            expired: expired(&register, &labels),
            ended_early: ended_early(&register, &labels),
            figures,
        };
        ServerMetrics::new(&register, server.generations(), None, Some(texts))
    }

    fn new(
        register: &Register,
        generations: &Arc<Generations>,
        handlers: Option<HandlerMetrics>,
        texts: Option<TextMetrics>,
    ) -> ServerMetrics {
        let chunks_count = generations.newest().chunks_count();
        index::chunks(register).set(f64::from(chunks_count));
        ServerMetrics {
            documents: index::documents(register),
            generation: index::generation(register),
            trust: TrustMetrics::new(register),
            handle: register.handle(),
            generations: Arc::clone(generations),
            handlers: handlers.map(|handlers| (handlers, FilterListMetrics::new(register))),
            texts,
        }
    }

    /// Returns the metrics in the text format of Prometheus.
    pub(crate) fn render(&self) -> String {
        let index = self.generations.newest();
        let documents = index.statistics().documents_count();
        self.documents.set(documents as f64);
        self.generation.set(index.generation() as f64);
        self.trust.take_over(&self.generations);
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
        self.handle.render()
    }

    /// Folds recorded values into their histograms; otherwise they accumulate.
    pub(crate) fn upkeep(&self) {
        self.handle.run_upkeep();
    }
}
