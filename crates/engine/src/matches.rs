//! All matches of a query, without ranking: what a deletion by query deletes.

use crate::engine::Engine;
use crate::error::EngineError;
use crate::retried::retried;
use search::{Operator, Plan, Ranking, exhaustive};

/// Documents that match a query.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Matches {
    /// URLs, in the order of the index.
    pub urls: Vec<String>,
    /// Warnings of the parser: parts of the query that mean something else than they seem to.
    pub warnings: Vec<String>,
}

impl Engine {
    /// Returns the URLs of all documents that match `query`, with all of its words for [`Operator::And`].
    ///
    /// # Errors
    /// An index that cannot be read.
    pub fn matches(&self, query: &str, operator: Operator) -> Result<Matches, EngineError> {
        let part = self.part();
        let index = part.index();
        let parsed = search::parse_with(query, index.analyzer(), index.fields(), operator);
        let urls = retried(|| {
            let since = index.read_start();
            let plan = Plan::new(&parsed.query, Ranking::default(), index.statistics());
            let found = plan.map_err(EngineError::from).and_then(|plan| {
                let mut urls = Vec::new();
                for segment in part.segments() {
                    let mut docs = Vec::new();
                    exhaustive::each_match(&plan, segment, |doc| docs.push(doc))?;
                    let mut details = segment.details_reader();
                    for doc in docs {
                        urls.push(details.url(doc)?.to_owned());
                    }
                }
                Ok(urls)
            });
            // Errors are verified too: changed bytes may have caused them.
            part.verify(since)?;
            found
        })?;
        Ok(Matches {
            urls,
            warnings: parsed.warnings,
        })
    }
}
