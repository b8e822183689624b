//! Request: a query, and what its answer is to have.

use crate::cancel::CancelToken;
use crate::error::{Error, Result};
use crate::facet::Facet;
use crate::query::Query;
use engine::SearchOptions;
use search::{Least, Operator};
use std::str::FromStr;
use std::time::{Duration, Instant};

/// Words of a text that a document must have, where the text does not say it itself. Clauses that a program makes say it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
#[non_exhaustive]
pub enum Words {
    /// All words.
    All,
    /// Any word.
    Any,
    /// Documents with all words first, then those with some of them.
    #[default]
    AllThenSome,
    /// At least a number of the words.
    AtLeast(u16),
    /// At least a share of the words, in percent.
    Percent(u8),
}

impl Words {
    pub(crate) fn operator(self) -> Operator {
        match self {
            Words::All => Operator::And,
            Words::Any => Operator::Or,
            Words::AllThenSome => Operator::Auto,
            Words::AtLeast(words) => Operator::Most(Least::Words(words.max(1))),
            Words::Percent(percent) => Operator::Most(Least::Percent(percent.clamp(1, 100))),
        }
    }
}

/// Ranking model with its parameters.
///
/// ```
/// use shorttail::Ranking;
///
/// let ranking: Ranking = "bm25:k1=0.9,b=0.4".parse()?;
/// assert_eq!(ranking, Ranking::bm25(0.9, 0.4));
/// assert!("bm26".parse::<Ranking>().is_err());
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct Ranking(search::Ranking);

impl Ranking {
    /// Returns BM25 with a saturation of frequencies and a strength of length normalisation, each brought into its range.
    pub fn bm25(k1: f32, b: f32) -> Ranking {
        Ranking(search::Ranking::Bm25 { k1, b }.sanitized())
    }
}

impl FromStr for Ranking {
    type Err = Error;

    /// Reads a model and the parameters that differ from its defaults: `bm25`, `bm25:k1=0.9,b=0.4`.
    fn from_str(text: &str) -> Result<Ranking> {
        let ranking = text.parse::<search::Ranking>();
        let refused = |unknown: search::ranking::UnknownRanking| {
            Error::refused("ranking", unknown.to_string())
        };
        ranking.map(Ranking).map_err(refused)
    }
}

/// Contents of the hits of an answer; each has what those before it have.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[non_exhaustive]
pub enum HitContents {
    /// Score and place alone, in [`numbers`](crate::Answer::numbers): no document is read, as for a second ranking stage.
    Numbers,
    /// Id and URL.
    Ids,
    /// Title, site, words that the document lacks, and whether its site has further hits.
    /// [Summaries](SearchRequest::summaries) and [further fields](SearchRequest::fields) are added to these.
    Details,
}

/// Search: a query, the page of hits, what hits show, what is counted, and limits.
///
/// ```
/// use shorttail::{Document, Facet, Index, Query, SearchRequest};
/// use std::time::Duration;
/// # let directory = tempfile::tempdir()?;
/// # let index = Index::create(directory.path())?;
/// # let mut writer = index.writer()?;
/// # for number in 0..20 {
/// #     writer.add(Document::new(format!("https://a.example/{number}")).body("a tail").field("price", number))?;
/// # }
/// # writer.commit()?;
/// let request = SearchRequest::new("tail")
///     .filter(Query::range("price", 5..))
///     .sort("price:desc")
///     .facet(Facet::stats("price"))
///     .k(3)
///     .timeout(Duration::from_millis(500));
/// let answer = index.search(request)?;
/// assert_eq!(answer.total.value, 15);
/// assert_eq!(answer.hits[0].url, "https://a.example/19");
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
///
/// A request is a value: serialized, it is one object, of which only `query` is needed, and unknown keys are errors. Deadline and
/// token belong to the process and are not in it.
///
/// ```
/// use shorttail::SearchRequest;
///
/// let request: SearchRequest = serde_json::from_str(r#"{"query": "short tail", "k": 3, "words": "any", "hits": "ids"}"#)?;
/// let json = serde_json::to_string(&request)?;
/// assert!(json.starts_with(r#"{"query":"short tail","k":3,"#));
/// let refused = serde_json::from_str::<SearchRequest>(r#"{"query": "tail", "size": 3}"#).unwrap_err();
/// assert!(refused.to_string().starts_with("unknown field `size`"));
/// # Ok::<(), serde_json::Error>(())
/// ```
#[derive(Debug, Clone)]
pub struct SearchRequest {
    pub(crate) query: Query,
    pub(crate) filters: Vec<Query>,
    pub(crate) options: SearchOptions,
    pub(crate) words: Words,
    pub(crate) deadline: Option<Instant>,
    pub(crate) token: Option<CancelToken>,
}

impl SearchRequest {
    /// Returns the request for the ten best hits of a query, with summaries.
    pub fn new(query: impl Into<Query>) -> SearchRequest {
        SearchRequest {
            query: query.into(),
            filters: Vec::new(),
            options: SearchOptions {
                correct: true,
                ..SearchOptions::default()
            },
            words: Words::default(),
            deadline: None,
            token: None,
        }
    }

    /// Sets the number of hits; 0 counts matches alone.
    #[must_use]
    pub fn k(mut self, k: usize) -> SearchRequest {
        self.options.k = k;
        self
    }

    /// Sets the number of hits before the first one.
    #[must_use]
    pub fn start(mut self, start: usize) -> SearchRequest {
        self.options.start = start;
        self
    }

    /// Sets the place after which hits begin: `*` for the first page, then [`after`](crate::Answer::after) of the page
    /// before. So hits at any depth are reached.
    #[must_use]
    pub fn after(mut self, cursor: impl Into<String>) -> SearchRequest {
        self.options.after = Some(cursor.into());
        self
    }

    /// Adds a filter: a query that all hits match, and that adds nothing to their scores.
    #[must_use]
    pub fn filter(mut self, filter: impl Into<Query>) -> SearchRequest {
        self.filters.push(filter.into());
        self
    }

    /// Sets the fields by which hits are sorted, each with `:desc` for its greatest values first: `date:desc,price`.
    /// Without any, the best hits are first.
    #[must_use]
    pub fn sort(mut self, fields: impl Into<String>) -> SearchRequest {
        self.options.sort = fields.into();
        self
    }

    /// Adds a facet: counts over all matches. See [`Index::aggregate`](crate::Index::aggregate) for facets without hits.
    #[must_use]
    pub fn facet(mut self, facet: Facet) -> SearchRequest {
        self.options.facets.push(facet.into_text());
        self
    }

    /// Sets the words of a text that a document must have; all of them by default.
    #[must_use]
    pub fn words(mut self, words: Words) -> SearchRequest {
        self.words = words;
        self
    }

    /// Sets the ranking model.
    #[must_use]
    pub fn ranking(mut self, ranking: Ranking) -> SearchRequest {
        self.options.ranking = ranking.0;
        self
    }

    /// Sets how many hits of a site come before those of other sites that rank lower; 0, the default, is no limit. No
    /// hit is left out: those held back follow, and [`Hit::held_back`](crate::Hit) tells them.
    #[must_use]
    pub fn per_site(mut self, hits: u32) -> SearchRequest {
        self.options.per_site = hits;
        self
    }

    /// Lists of the hits with one value of a field, or of one `site`, only the best. [`Hit::hidden`](crate::Hit) counts the
    /// others. Documents without a value are all listed.
    #[must_use]
    pub fn collapse(mut self, field: impl Into<String>) -> SearchRequest {
        self.options.collapse = field.into();
        self
    }

    /// Sets the contents of hits; details with summaries by default.
    ///
    /// ```
    /// use shorttail::{Document, HitContents, Index, SearchRequest};
    /// # let directory = tempfile::tempdir()?;
    /// # let index = Index::create(directory.path())?;
    /// # let mut writer = index.writer()?;
    /// # writer.add(Document::new("https://a.example/").title("A tail").body("a short tail").field("lang", "en"))?;
    /// # writer.commit()?;
    /// let request = SearchRequest::new("tail");
    ///
    /// // The count alone: no hit is ranked.
    /// let answer = index.search(request.clone().k(0))?;
    /// assert_eq!((answer.total.value, answer.hits.len()), (1, 0));
    ///
    /// // Score and place of each hit: no document is read.
    /// let answer = index.search(request.clone().hits(HitContents::Numbers))?;
    /// assert!(answer.numbers[0].score > 0.0 && answer.hits.is_empty());
    ///
    /// // Ids and URLs.
    /// let answer = index.search(request.clone().hits(HitContents::Ids))?;
    /// assert_eq!((&*answer.hits[0].url, &*answer.hits[0].title), ("https://a.example/", ""));
    ///
    /// // Details, and what is added to them.
    /// let details = request.hits(HitContents::Details);
    /// assert_eq!(index.search(details.clone())?.hits[0].title, "A tail");
    /// assert_eq!(index.search(details.fields(true))?.hits[0].fields["lang"], "en");
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    #[must_use]
    pub fn hits(mut self, contents: HitContents) -> SearchRequest {
        self.options.returned.hits = match contents {
            HitContents::Numbers => engine::HitContents::Numbers,
            HitContents::Ids => engine::HitContents::Ids,
            HitContents::Details => engine::HitContents::DETAILS,
        };
        self
    }

    /// Sets whether all matches are counted, as they are by default; otherwise the total is a lower bound.
    #[must_use]
    pub fn count_all(mut self, counted: bool) -> SearchRequest {
        self.options.returned.counted = counted;
        self
    }

    /// Sets whether hits have summaries, as they have by default. Hits with summaries have details.
    #[must_use]
    pub fn summaries(mut self, summaries: bool) -> SearchRequest {
        let contents = &mut self.options.returned.hits;
        *contents = contents.with_summaries(summaries);
        self
    }

    /// Sets whether hits have the further fields of their documents. Hits with fields have details.
    #[must_use]
    pub fn fields(mut self, fields: bool) -> SearchRequest {
        let contents = &mut self.options.returned.hits;
        *contents = contents.with_fields(fields);
        self
    }

    /// Sets whether hits explain their scores. Hits with explanations have ids.
    #[must_use]
    pub fn explain(mut self, explain: bool) -> SearchRequest {
        self.options.explain = explain;
        self
    }

    /// Sets whether the query, where it is a text, is still being typed: its last word is a beginning, and words may have
    /// typing errors.
    #[must_use]
    pub fn as_you_type(mut self, as_you_type: bool) -> SearchRequest {
        self.options.as_you_type = as_you_type;
        self
    }

    /// Sets whether the query, where it is a text, is read with the rules of the index: synonyms and stop words.
    #[must_use]
    pub fn rules(mut self, rules: bool) -> SearchRequest {
        self.options.rules = rules;
        self
    }

    /// Sets whether a text that finds little is offered a correction
    /// ([`did_you_mean`](crate::Answer::did_you_mean)).
    #[must_use]
    pub fn suggest(mut self, suggest: bool) -> SearchRequest {
        self.options.suggest = suggest;
        self
    }

    /// Sets whether a text that finds nothing, for a word that no document has, is answered with the hits of its correction
    /// ([`corrected`](crate::Answer::corrected)); it is by default.
    #[must_use]
    pub fn correct(mut self, correct: bool) -> SearchRequest {
        self.options.correct = correct;
        self
    }

    /// Sets the time limit, from the beginning of the search. An answer that was not complete by then says so
    /// ([`timed_out`](crate::Answer::timed_out)).
    #[must_use]
    pub fn timeout(mut self, timeout: Duration) -> SearchRequest {
        self.options.timeout = Some(timeout);
        self
    }

    /// Sets the instant at which the time limit ends. The earlier one of this and the [timeout](Self::timeout) counts.
    #[must_use]
    pub fn deadline(mut self, deadline: Instant) -> SearchRequest {
        self.deadline = Some(deadline);
        self
    }

    /// Sets the token by which the search is cancelled. It is looked at where the deadline is, every few dozen
    /// microseconds.
    #[must_use]
    pub fn cancel(mut self, token: &CancelToken) -> SearchRequest {
        self.token = Some(token.clone());
        self
    }

    /// Returns the options of the engine, with what is left of the time.
    pub(crate) fn engine_options(&self) -> SearchOptions {
        let mut options = self.options.clone();
        options.operator = self.words.operator();
        if let Some(deadline) = self.deadline {
            let left = deadline.saturating_duration_since(Instant::now());
            options.timeout = Some(options.timeout.map_or(left, |timeout| timeout.min(left)));
        }
        options
    }

    pub(crate) fn is_cancelled(&self) -> bool {
        self.token.as_ref().is_some_and(CancelToken::is_cancelled)
    }
}

impl<Q: Into<Query>> From<Q> for SearchRequest {
    fn from(query: Q) -> SearchRequest {
        SearchRequest::new(query)
    }
}

impl From<&SearchRequest> for SearchRequest {
    fn from(request: &SearchRequest) -> SearchRequest {
        request.clone()
    }
}
