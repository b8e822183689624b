//! "Did you mean": a corrected query where one finds nothing.

use crate::api::messages::Query;
use crate::api::options::SearchOptions;
use crate::cluster::Known;
use crate::front_end::assemble::assemble;
use crate::front_end::coverage::Coverage;
use crate::front_end::timeline::Timeline;
use crate::front_end::{Begun, FrontEnd};
use engine::PageStart;
use engine::spelling::{SAMPLE_HITS, Spelling};
use futures_util::future::join_all;
use search::Operator;
use std::sync::Arc;
use std::time::Instant;
use wire::{DidYouMean, Hit, Total};

/// Searches on behalf of a query, within its time.
struct Probe<'a> {
    front_end: &'a FrontEnd,
    id: u64,
    known: Known,
    arrived: Instant,
    deadline: Instant,
}

impl FrontEnd {
    /// Returns a query that finds something, for one that finds nothing. `None` too where a part of the index does not
    /// answer in time.
    pub(super) async fn did_you_mean(
        &self,
        id: u64,
        text: &str,
        options: &SearchOptions,
        known: Known,
        arrived: Instant,
    ) -> Option<DidYouMean> {
        let analyzer = known.analyzer?;
        let spelling = Spelling::of(text, analyzer)?;
        let probe = Probe {
            front_end: self,
            id,
            known,
            arrived,
            deadline: arrived + self.timeout_of(options),
        };
        let counts = spelling
            .words()
            .into_iter()
            .map(|word| probe.answer(word, 0));
        let counts: Option<Vec<_>> = join_all(counts).await.into_iter().collect();
        let counts: Vec<u64> = counts?.into_iter().map(|(total, _)| total.value).collect();
        for attempt in spelling.attempts(&counts) {
            let (_, hits) = probe.answer(attempt.query.clone(), SAMPLE_HITS).await?;
            let hits = hits
                .iter()
                .map(|hit| (hit.title.as_str(), hit.summary.as_str()));
            if let Some(query) = spelling.corrected(&attempt, hits) {
                let parsed = search::parse(&query, analyzer, Operator::And);
                let (total, _) = probe.answer(parsed.query, 0).await?;
                return (total.value > 0).then_some(DidYouMean { query, total });
            }
        }
        None
    }
}

impl Probe<'_> {
    /// Returns the number of matches and the `k` best hits; `None` where the answer would not be whole.
    async fn answer(&self, query: search::Query, k: usize) -> Option<(Total, Vec<Hit>)> {
        let options = SearchOptions {
            k,
            per_site: Some(0),
            ..SearchOptions::default()
        };
        let query = Query::new(self.id, String::new(), options.operator, options.ranking)
            .with_parsed(query);
        let begun = Begun {
            query: Arc::new(query),
            some_words: None,
            warnings: Some(Vec::new()),
            facets: Vec::new(),
            sort: Arc::default(),
            cursors: None,
            start: PageStart::default(),
            parse_us: 0,
            options,
            known: self.known.clone(),
            arrived: self.arrived,
            timeline: Timeline::new(self.arrived, false),
        };
        let mut coverage = Coverage::default();
        let cut_off = self.deadline;
        let attempt = self
            .front_end
            .attempt(&begun, cut_off, self.deadline, &mut coverage);
        let (found, shown, _) = attempt.await.ok()?;
        if coverage.share() < 1.0 {
            return None;
        }
        let total = Total {
            value: found.matches_count,
            exact: found.count_is_exact,
        };
        let hits = assemble(found, shown, None, &mut Vec::new());
        Some((total, hits))
    }
}
