//! Searches of an index: one, many at once, facets alone, and the explanation of a score.

use crate::answer::Answer;
use crate::error::{Error, Result};
use crate::facet::{Facet, FacetCounts};
use crate::index::Index;
use crate::query::{Lowered, Query, lowered};
use crate::request::SearchRequest;
use crate::{SuggestedTitle, Value};
use engine::{Engine, QuerySource, SearchOptions};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Mutex, PoisonError};

impl Index {
    /// Answers a request, or a query alone, on the calling thread.
    ///
    /// ```
    /// use shorttail::{Document, Index, SearchRequest};
    /// # let directory = tempfile::tempdir()?;
    /// # let index = Index::create(directory.path())?;
    /// # let mut writer = index.writer()?;
    /// # writer.add(Document::new("https://a.example/").body("a short tail"))?;
    /// # writer.commit()?;
    /// assert_eq!(index.search("short tail")?.hits.len(), 1);
    /// assert_eq!(index.search(SearchRequest::new("tail").k(0))?.hits.len(), 0);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    /// A request without a possible answer, an index that cannot be read, a cancellation, and a time limit that passes
    /// before anything is found. A later one makes the answer partial.
    pub fn search(&self, request: impl Into<SearchRequest>) -> Result<Answer> {
        answer(&self.engine, &request.into())
    }

    /// Answers requests on up to `threads` threads, in the state that the index has at the beginning. Answers are in the
    /// order of the requests; each is what [`search`](Index::search) gives.
    ///
    /// ```
    /// use shorttail::{Document, Index};
    /// # let directory = tempfile::tempdir()?;
    /// # let index = Index::create(directory.path())?;
    /// # let mut writer = index.writer()?;
    /// # writer.add(Document::new("https://a.example/").body("a short tail"))?;
    /// # writer.commit()?;
    /// let answers = index.search_batch(["tail", "story"], 2);
    /// let totals = answers.into_iter().map(|answer| Ok(answer?.total.value));
    /// assert_eq!(totals.collect::<shorttail::Result<Vec<_>>>()?, [1, 0]);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn search_batch<R: Into<SearchRequest>>(
        &self,
        requests: impl IntoIterator<Item = R>,
        threads: usize,
    ) -> Vec<Result<Answer>> {
        let requests: Vec<SearchRequest> = requests.into_iter().map(Into::into).collect();
        let engine = Engine::from_index(self.engine.index());
        let threads = threads.clamp(1, requests.len().max(1));
        if threads == 1 {
            return requests.iter().map(|one| answer(&engine, one)).collect();
        }
        let next = AtomicUsize::new(0);
        let answers = Mutex::new(Vec::with_capacity(requests.len()));
        let work = || {
            while let Some((at, request)) = {
                let at = next.fetch_add(1, Ordering::Relaxed);
                requests.get(at).map(|request| (at, request))
            } {
                let one = answer(&engine, request);
                let mut answers = answers.lock().unwrap_or_else(PoisonError::into_inner);
                answers.push((at, one));
            }
        };
        std::thread::scope(|scope| {
            for _ in 1..threads {
                scope.spawn(work);
            }
            work();
        });
        let mut answers = answers.into_inner().unwrap_or_else(PoisonError::into_inner);
        answers.sort_unstable_by_key(|(at, _)| *at);
        answers.into_iter().map(|(_, answer)| answer).collect()
    }

    /// Returns up to `k` titles for a text that is being typed, each with the URL of a document: those that begin with it,
    /// also with a typing error, then those whose words match.
    ///
    /// ```
    /// use shorttail::{Document, Index};
    /// # let directory = tempfile::tempdir()?;
    /// # let index = Index::create(directory.path())?;
    /// # let mut writer = index.writer()?;
    /// # writer.add(Document::new("https://a.example/").title("Short tails"))?;
    /// # writer.commit()?;
    /// let titles = index.suggest("short ta", 10)?;
    /// assert_eq!(titles[0].title_html, "<mark>Short</mark> <mark>tails</mark>");
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    /// As [`search`](Index::search); and more than 50 titles.
    pub fn suggest(&self, typed: &str, k: usize) -> Result<Vec<SuggestedTitle>> {
        let found = self.engine.titles(typed, k).map_err(Error::of_engine)?;
        Ok(found.titles.into_iter().map(SuggestedTitle::of).collect())
    }

    /// Counts facets over all matches of a query, in their order.
    ///
    /// # Errors
    /// As [`search`](Index::search).
    pub fn aggregate(
        &self,
        query: impl Into<Query>,
        facets: impl IntoIterator<Item = Facet>,
    ) -> Result<Vec<FacetCounts>> {
        let request = SearchRequest::new(query).k(0);
        let request = facets.into_iter().fold(request, SearchRequest::facet);
        Ok(self.search(request)?.facets)
    }

    /// Explains the score of the document at `url`; `None` where there is no such document, or it does not match. Takes
    /// time proportional to the documents of the index; hits of a page explain themselves faster
    /// ([`SearchRequest::explain`]).
    ///
    /// ```
    /// use shorttail::{Document, Index};
    /// # let directory = tempfile::tempdir()?;
    /// # let index = Index::create(directory.path())?;
    /// # let mut writer = index.writer()?;
    /// # writer.add(Document::new("https://a.example/").body("a short tail"))?;
    /// # writer.commit()?;
    /// let explained = index.explain("tail", "https://a.example/")?;
    /// assert!(explained.is_some_and(|explained| explained["value"].as_f64() > Some(0.0)));
    /// assert_eq!(index.explain("story", "https://a.example/")?, None);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    /// As [`search`](Index::search).
    pub fn explain(&self, request: impl Into<SearchRequest>, url: &str) -> Result<Option<Value>> {
        let request = request.into();
        let prepared = Prepared::new(&self.engine, &request)?;
        let explained = self
            .engine
            .explain(prepared.source(&request), &prepared.options, url)
            .map_err(Error::of_engine)?;
        Ok(explained.map(Value::from))
    }
}

/// Request as the engine takes it.
struct Prepared {
    /// `None` for a text.
    tree: Option<search::Query>,
    options: SearchOptions,
    /// Warnings of the texts within a tree.
    warnings: Vec<String>,
}

impl Prepared {
    fn new(engine: &Engine, request: &SearchRequest) -> Result<Prepared> {
        let mut prepared = Prepared {
            tree: None,
            options: request.engine_options(),
            warnings: Vec::new(),
        };
        let index = engine.index();
        let operator = request.words.operator();
        for filter in &request.filters {
            match filter.as_text() {
                Some(text) => prepared.options.filters.push(text.to_owned()),
                None => {
                    let Lowered { tree, warnings } = lowered(filter, &index, operator)?;
                    prepared.options.filter_trees.push(tree);
                    prepared.warnings.extend(warnings);
                }
            }
        }
        if request.query.as_text().is_none() {
            let Lowered { tree, warnings } = lowered(&request.query, &index, operator)?;
            prepared.tree = Some(tree);
            prepared.warnings.extend(warnings);
        }
        Ok(prepared)
    }

    fn source<'s>(&'s self, request: &'s SearchRequest) -> QuerySource<'s> {
        match &self.tree {
            Some(tree) => QuerySource::Tree(tree),
            None => QuerySource::Text(request.query.as_text().unwrap_or_default()),
        }
    }
}

fn answer(engine: &Engine, request: &SearchRequest) -> Result<Answer> {
    if request.is_cancelled() {
        return Err(Error::Cancelled);
    }
    let prepared = Prepared::new(engine, request)?;
    let is_cancelled = || request.is_cancelled();
    let found = engine
        .search_until(prepared.source(request), &prepared.options, &is_cancelled)
        .map_err(Error::of_engine)?;
    Ok(Answer::of(found, prepared.warnings))
}
