//! Search with Tantivy in each mode.

use crate::protocol::{Found, Mode, Operator, Result};
use crate::{BODY, TOKENIZER, URL, analyzer, protocol};
use std::path::Path;
use tantivy::collector::{Count, TopDocs};
use tantivy::query::{BooleanQuery, EmptyQuery, Occur, PhraseQuery, Query, TermQuery};
use tantivy::schema::{Field, IndexRecordOption, Value};
use tantivy::tokenizer::TextAnalyzer;
use tantivy::{DocAddress, Index, ReloadPolicy, Searcher, TantivyDocument, Term};

/// An open index.
#[derive(Clone)]
pub struct Engine {
    searcher: Searcher,
    body: Field,
    url: Field,
    analyzer: TextAnalyzer,
}

impl Engine {
    /// Opens an index. With more than one thread, the segments of a query are tasks of a pool of that many.
    pub fn open(directory: &Path, threads: usize) -> Result<Engine> {
        let mut index = Index::open_in_dir(directory)?;
        if threads > 1 {
            index.set_multithread_executor(threads)?;
        }
        index.tokenizers().register(TOKENIZER, analyzer());
        let reader = index.reader_builder();
        let reader = reader.reload_policy(ReloadPolicy::Manual).try_into()?;
        let schema = index.schema();
        Ok(Engine {
            searcher: tantivy::IndexReader::searcher(&reader),
            body: schema.get_field(BODY)?,
            url: schema.get_field(URL)?,
            analyzer: analyzer(),
        })
    }

    fn query(&mut self, text: &str, operator: Operator) -> Box<dyn Query> {
        let mut terms: Vec<Term> = Vec::new();
        let mut tokens = self.analyzer.token_stream(text);
        while tokens.advance() {
            let term = Term::from_field_text(self.body, &tokens.token().text);
            if operator == Operator::Phrase || !terms.contains(&term) {
                terms.push(term);
            }
        }
        drop(tokens);
        let occur = match (terms.len(), operator) {
            (0, _) => return Box::new(EmptyQuery),
            (1, _) => return term_query(terms.remove(0)),
            (_, Operator::Phrase) => return Box::new(PhraseQuery::new(terms)),
            (_, Operator::And) => Occur::Must,
            (_, Operator::Or) => Occur::Should,
        };
        let clauses = terms.into_iter().map(|term| (occur, term_query(term)));
        Box::new(BooleanQuery::new(clauses.collect()))
    }
}

fn term_query(term: Term) -> Box<dyn Query> {
    Box::new(TermQuery::new(term, IndexRecordOption::WithFreqs))
}

impl protocol::Searcher for Engine {
    type Hit = DocAddress;

    fn search(&mut self, query: &str, mode: Mode) -> Result<Found<DocAddress>> {
        let query = self.query(query, mode.operator);
        if mode.k == 0 {
            let count = self.searcher.search(&*query, &Count)? as u64;
            return Ok(Found { count, best: None });
        }
        // Without a count, `TopDocs` skips documents that cannot enter the top k.
        let top = TopDocs::with_limit(mode.k).order_by_score();
        let (hits, count) = if mode.counts {
            self.searcher.search(&*query, &(top, Count))?
        } else {
            let hits = self.searcher.search(&*query, &top)?;
            let count = hits.len();
            (hits, count)
        };
        Ok(Found {
            count: count as u64,
            best: hits.first().copied(),
        })
    }

    fn url(&self, hit: DocAddress) -> Result<String> {
        let document: TantivyDocument = self.searcher.doc(hit)?;
        let url = document.get_first(self.url).and_then(|url| url.as_str());
        Ok(url.ok_or("a document without URL")?.to_owned())
    }

    fn another(&self) -> Option<Engine> {
        Some(self.clone())
    }
}
