//! State shared by all HTTP requests: the front-end, its metrics, turns of large answers, reloads.

use crate::api::draining::Draining;
use crate::api::observed_crawl::ObservedCrawl;
use crate::api::options::SearchOptions;
use crate::front_end::{FrontEnd, told};
use crate::http::page;
use crate::http::params::SearchParameters;
use crate::metrics::front_end::Metrics;
use crate::net::bodies::BodyPlaces;
use crate::net::turns::{Turn, Turns};
use crate::snapshot::reloads::{Reloaded, Reloads};
use engine::SearchError;
use ingest::ResumingWriter;
use std::sync::{Arc, OnceLock};
use std::time::Instant;
use tokio::runtime::Handle;
use wire::SearchAnswer;

/// State shared by all requests.
pub(crate) struct App {
    pub(crate) front_end: FrontEnd,
    pub(crate) metrics: Metrics,
    pub(crate) draining: Draining,
    /// Writer of the index, where this server writes.
    pub(crate) writer: OnceLock<Arc<ResumingWriter>>,
    /// Crawl that fills the index, where this server has its directory.
    pub(crate) crawl: OnceLock<Arc<dyn ObservedCrawl>>,
    /// Places of the large bodies of requests that write.
    pub(crate) body_places: Arc<BodyPlaces>,
    reloads: Arc<Reloads<SearchError>>,
    turns: Turns,
}

impl App {
    pub(crate) fn new(front_end: FrontEnd, draining: Draining) -> App {
        let metrics = Metrics::new(&front_end);
        let cores_count = std::thread::available_parallelism().map_or(1, |cores| cores.get());
        App {
            front_end,
            metrics,
            draining,
            writer: OnceLock::new(),
            crawl: OnceLock::new(),
            body_places: Arc::default(),
            reloads: Arc::default(),
            turns: Turns::new(cores_count),
        }
    }

    /// Makes every server open the newest generation, off the threads that read requests.
    pub(crate) async fn reload(self: &Arc<Self>) -> Reloaded<SearchError> {
        let (app, runtime) = (Arc::clone(self), Handle::current());
        let lost = || SearchError::Unavailable {
            part: "the front-end".into(),
            reason: "the reload was given up; see the server's log".into(),
        };
        let reload = move || runtime.block_on(app.front_end.reload());
        self.reloads.run(reload, lost).await
    }

    /// Returns other searches that find something.
    pub(super) async fn suggestions(
        &self,
        query: &str,
        options: &SearchOptions,
    ) -> Vec<page::Suggestion> {
        let mut suggestions = Vec::new();
        for one in page::suggestions(query, options) {
            let probe = SearchOptions {
                k: 0,
                suggest: false,
                explain: false,
                trace: false,
                ..one.options.clone()
            };
            let found = self.front_end.search(&one.query, &probe).await;
            if found.is_ok_and(|found| found.total.value > 0) {
                suggestions.push(one);
            }
        }
        suggestions
    }

    /// Answers a query after the wait for its turn. The turn ends when the answer is rendered.
    pub(super) async fn search(
        &self,
        parameters: &SearchParameters,
        query: &str,
    ) -> Result<(SearchAnswer, Option<Turn<'_>>), Failure> {
        let (mut options, arrived) = (parameters.options.clone(), Instant::now());
        let timeout = self.front_end.timeout_of(&options);
        let turn = self.turns.take(&options, timeout).await;
        let turn = turn.map_err(|error| self.failure(error))?;
        let waited = arrived.elapsed();
        if turn.is_some() {
            options.timeout = Some(timeout.saturating_sub(waited));
        }
        let (number, answered) = self.front_end.search_told(query, &options).await;
        let mut answer = answered.map_err(|error| Failure { error, number })?;
        if turn.is_some() {
            answer.phases_us.total += waited.as_micros() as u64;
        }
        told::without_paths(&mut answer.degraded, number);
        Ok((answer, turn))
    }

    /// Returns the failure of a request that never became a query.
    pub(super) fn failure(&self, error: SearchError) -> Failure {
        Failure {
            number: self.front_end.failed(&error),
            error,
        }
    }
}

/// Request without an answer, with its number in the log.
pub(super) struct Failure {
    pub(super) error: SearchError,
    pub(super) number: u64,
}
