//! Search with SeekStorm in each mode.

use crate::protocol::{Found, Mode, Operator, Result, Searcher};
use crate::words;
use seekstorm::index::{IndexArc, open_index};
use seekstorm::search::{QueryRewriting, QueryType, ResultType, Search, SearchMode};
use std::collections::HashSet;
use std::path::Path;
use tokio::runtime::Runtime;

/// An open index.
pub struct Engine {
    runtime: Runtime,
    index: IndexArc,
}

impl Engine {
    pub fn open(runtime: Runtime, directory: &Path) -> Result<Engine> {
        let index = runtime.block_on(open_index(directory))?;
        Ok(Engine { runtime, index })
    }
}

impl Searcher for Engine {
    type Hit = usize;

    fn search(&mut self, query: &str, mode: Mode) -> Result<Found<usize>> {
        let query = words(&[query], mode.operator == Operator::Phrase);
        let query_type = match mode.operator {
            Operator::And => QueryType::Intersection,
            Operator::Or => QueryType::Union,
            Operator::Phrase => QueryType::Phrase,
        };
        let result_type = match (mode.k, mode.counts) {
            (0, _) => ResultType::Count,
            (_, true) => ResultType::TopkCount,
            (_, false) => ResultType::Topk,
        };
        let result = self.runtime.block_on(self.index.search(
            query,
            None,
            query_type,
            SearchMode::Lexical,
            false,
            0,
            mode.k,
            result_type,
            false,
            Vec::new(),
            Vec::new(),
            Vec::new(),
            Vec::new(),
            QueryRewriting::SearchOnly,
        ));
        let count = match mode.counts {
            true => result.result_count_total,
            false => result.results.len(),
        };
        let best = result.results.first();
        Ok(Found {
            count: count as u64,
            best: best.map(|hit| (hit.score, hit.doc_id)),
        })
    }

    fn url(&self, hit: usize) -> Result<String> {
        let document = self.runtime.block_on(async {
            let index = self.index.read().await;
            let fields = HashSet::new();
            index.get_document(hit, false, &None, &fields, &[]).await
        })?;
        let url = document.get("url").and_then(|url| url.as_str());
        Ok(url.ok_or("a document without URL")?.to_owned())
    }

    /// A runtime serves one thread, and a query is not shared among several.
    fn another(&self) -> Option<Engine> {
        None
    }
}
