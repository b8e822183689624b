//! "Did you mean": a corrected query where one finds nothing.

use crate::asked::Asked;
use crate::cursor::PageStart;
use crate::engine::Engine;
use crate::error::EngineError;
use crate::options::SearchOptions;
use crate::part::Part;
use crate::refinement::Refinement;
use crate::retried::retried;
use crate::spelling::{SAMPLE_HITS, Spelling};
use search::{Operator, Parsed, Query};
use std::time::Instant;
use wire::{DidYouMean, SearchAnswer};

impl Engine {
    /// Returns a query that finds something, for one that finds nothing.
    pub(crate) fn did_you_mean(
        &self,
        part: &Part,
        text: &str,
        options: &SearchOptions,
        arrived: Instant,
    ) -> Result<Option<DidYouMean>, EngineError> {
        let analyzer = part.index().analyzer();
        let Some(spelling) = Spelling::of(text, analyzer) else {
            return Ok(None);
        };
        let probe = Probe {
            part,
            options,
            arrived,
        };
        let mut counts = Vec::new();
        for word in spelling.words() {
            counts.push(probe.answer(word, 0)?.total.value);
        }
        for attempt in spelling.attempts(&counts) {
            let sample = probe.answer(attempt.query.clone(), SAMPLE_HITS)?;
            let hits = sample.hits.iter();
            let hits = hits.map(|hit| (hit.title.as_str(), hit.summary.as_str()));
            if let Some(query) = spelling.corrected(&attempt, hits) {
                let parsed = search::parse(&query, analyzer, Operator::And);
                let total = probe.answer(parsed.query, 0)?.total;
                return Ok((total.value > 0).then_some(DidYouMean { query, total }));
            }
        }
        Ok(None)
    }
}

/// Searches on behalf of a query, within its time.
struct Probe<'a> {
    part: &'a Part,
    options: &'a SearchOptions,
    arrived: Instant,
}

impl Probe<'_> {
    fn answer(&self, query: Query, k: usize) -> Result<SearchAnswer, EngineError> {
        let parsed = Parsed {
            query,
            some_words: None,
            warnings: Vec::new(),
        };
        let options = SearchOptions {
            k,
            per_site: Some(0),
            timeout: self.options.timeout,
            ..SearchOptions::default()
        };
        let asked = Asked {
            text: "",
            parsed: &parsed,
            options: &options,
            refinement: &Refinement::default(),
            start: PageStart::default(),
            arrived: self.arrived,
        };
        retried(|| {
            let since = self.part.index().read_start();
            let answer = asked.answer(self.part, since);
            self.part.verify(since)?;
            answer
        })
    }
}
