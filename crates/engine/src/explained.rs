//! Explanation of the score of one document, found by its URL.

use crate::coordinator::QuerySource;
use crate::engine::{Engine, prepared};
use crate::error::EngineError;
use crate::options::SearchOptions;
use crate::retried::retried;
use document::url_hash;
use index::DocId;
use search::Stop;
use search::explain::Explainer;

impl Engine {
    /// Explains the score of the document at `url`, as JSON; `None` where there is no such document, or it does not match. With
    /// [`Operator::Auto`](search::Operator::Auto) all words are required. Takes time proportional to the documents of the
    /// index.
    ///
    /// # Errors
    /// Those of [`Engine::search`].
    pub fn explain<'q>(
        &self,
        query: impl Into<QuerySource<'q>>,
        options: &SearchOptions,
        url: &str,
    ) -> Result<Option<serde_json::Value>, EngineError> {
        let part = self.part();
        let prepared = prepared(&part, query.into(), options)?;
        let hash = url_hash(url);
        retried(|| {
            let since = part.index().read_start();
            let explained = || {
                let planned = prepared.query.planned(part.index())?;
                for segment in part.segments() {
                    let docs = (0..segment.documents_count()).map(DocId);
                    let is_it = |doc: &DocId| segment.url_hash(*doc) == hash;
                    for doc in docs.filter(is_it).filter(|doc| !segment.is_deleted(*doc)) {
                        if segment.details_reader().url(doc)? == url {
                            let stop = Stop::default();
                            return Explainer::open(&planned.plan, segment, &stop)?.explain(doc);
                        }
                    }
                }
                Ok(None)
            };
            let explained = explained();
            // Errors are verified too: changed bytes may have caused them.
            part.verify(since)?;
            Ok(explained?.and_then(|why| serde_json::to_value(why).ok()))
        })
    }
}
