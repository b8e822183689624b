//! Answer of a search.

use crate::facet::FacetCounts;
use crate::{Fields, Value};
use std::time::Duration;

/// Answer of a search.
///
/// ```
/// # use shorttail::{Document, Index};
/// # let directory = tempfile::tempdir()?;
/// # let index = Index::create(directory.path())?;
/// # let mut writer = index.writer()?;
/// # writer.add(Document::new("https://a.example/").title("A tail").body("a short tail"))?;
/// # writer.commit()?;
/// let answer = index.search("tail")?;
/// println!("{} matches in {:?}", answer.total.value, answer.times.total);
/// for hit in &answer.hits {
///     println!("{:.3} {} {}", hit.score, hit.title, hit.url);
/// }
/// assert!(answer.is_complete());
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub struct Answer {
    /// Number of matches.
    pub total: Total,
    /// The page of hits, best first.
    pub hits: Vec<Hit>,
    /// Numbers of the hits of the page, best first, where [nothing else](crate::HitContents::Numbers) of them was asked for;
    /// `hits` is empty then.
    pub numbers: Vec<HitNumbers>,
    /// Rank, from 0, of the first hit that lacks some of the words or scores far below one that does, where such hits follow
    /// those with all words.
    pub some_words_from: Option<usize>,
    /// Facets, in the order of the request.
    pub facets: Vec<FacetCounts>,
    /// Text whose hits these are, in place of that of the request, which finds nothing.
    pub corrected: Option<String>,
    /// Text that finds more, where that of the request finds few or no documents with all words and a correction was asked
    /// for, with the number of its matches.
    pub did_you_mean: Option<(String, Total)>,
    /// Whether further hits follow the page.
    pub more_hits: bool,
    /// Whether a match that ranks before the end of the page is hidden by a better one, where hits are collapsed.
    pub hides_some: bool,
    /// Cursor for the next page, where the request had one.
    pub after: Option<String>,
    /// Whether the index has changed since the page before, so that hits may be missing or come twice.
    pub moved: bool,
    /// What was ignored or changed in a text.
    pub warnings: Vec<String>,
    /// Share of the documents that were searched, 0 to 1.
    pub coverage: f64,
    /// Whether the time limit ended the search early.
    pub timed_out: bool,
    /// What the answer lacks, as sentences; empty where it is complete.
    pub lacks: Vec<String>,
    /// Time of each phase.
    pub times: Times,
}

impl Answer {
    /// Returns whether nothing is missing.
    pub fn is_complete(&self) -> bool {
        self.lacks.is_empty() && !self.timed_out
    }
}

/// Number of matches.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub struct Total {
    /// The number.
    pub value: u64,
    /// Whether it is exact; otherwise it is a lower bound.
    pub exact: bool,
}

/// Document that matches.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub struct Hit {
    /// Name of the document, or its URL.
    pub id: String,
    /// Address.
    pub url: String,
    /// Title as stored.
    pub title: String,
    /// HTML: the title, escaped, with `<mark>` around matched words; empty where none matches.
    pub title_html: String,
    /// Site.
    pub site: String,
    /// Score.
    pub score: f32,
    /// HTML: parts of the text, escaped, with `<mark>` around matched words; empty where no summaries were asked for.
    pub summary: String,
    /// Further fields, where they were asked for.
    pub fields: Fields,
    /// Names of texts and fields that were cut, since they are too long for an answer.
    pub cut: Vec<String>,
    /// Values by which the hit was sorted; null where it has none.
    pub sort: Vec<Value>,
    /// Words of the query that tell documents apart and that this one lacks.
    pub lacks: Vec<String>,
    /// Whether the site has more hits than the limit on hits of a site.
    pub more_from_site: bool,
    /// Whether this limit put the hit behind hits of lower rank.
    pub held_back: bool,
    /// Whether a rule of the index has put the hit before all others; its score is 0.
    pub pinned: bool,
    /// Number of matches that the hit hides, where hits are collapsed.
    pub hidden: u64,
    /// Explanation of the score, where it was asked for: an object with `value`, `description` and `details`.
    pub explanation: Option<Value>,
}

/// Score and place of a hit.
#[derive(Debug, Clone, Copy, PartialEq)]
#[non_exhaustive]
pub struct HitNumbers {
    /// Score.
    pub score: f32,
    /// Segment of the document. Places are those of one state of the index.
    pub segment: u32,
    /// Number of the document in the segment.
    pub document: u32,
    /// Hash of the document's URL, which stays the same.
    pub url_hash: u64,
    /// Hash of the name of its site.
    pub site_hash: u64,
}

/// Time of each phase of a search.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
#[non_exhaustive]
pub struct Times {
    /// Parsing and planning.
    pub parse: Duration,
    /// Searching for hits, counting facets.
    pub search: Duration,
    /// Ranking hits.
    pub merge: Duration,
    /// Looking for a correction.
    pub spelling: Duration,
    /// Reading titles and URLs.
    pub details: Duration,
    /// Making summaries.
    pub summaries: Duration,
    /// All of it.
    pub total: Duration,
}

impl Answer {
    pub(crate) fn of(found: wire::SearchAnswer, mut warnings: Vec<String>) -> Answer {
        warnings.extend(found.warnings);
        let lacks = found.degraded.into_iter();
        let did_you_mean = found.did_you_mean;
        Answer {
            total: Total::of(found.total),
            hits: found.hits.into_iter().map(Hit::of).collect(),
            numbers: found.numbers.into_iter().map(HitNumbers::of).collect(),
            some_words_from: found.some_words_from,
            facets: found.facets.into_iter().map(FacetCounts::of).collect(),
            corrected: found.corrected,
            did_you_mean: did_you_mean.map(|other| (other.query, Total::of(other.total))),
            more_hits: found.more_hits,
            hides_some: found.hides_some,
            after: found.after,
            moved: found.moved,
            warnings,
            coverage: found.coverage,
            timed_out: found.timed_out,
            lacks: lacks
                .map(|lack| format!("{}: {}", lack.lacks, lack.message))
                .collect(),
            times: Times::of(&found.phases_us),
        }
    }
}

impl Total {
    fn of(total: wire::Total) -> Total {
        Total {
            value: total.value,
            exact: total.exact,
        }
    }
}

impl Hit {
    fn of(hit: wire::Hit) -> Hit {
        Hit {
            id: hit.id,
            url: hit.url,
            title: hit.title,
            title_html: hit.title_html,
            site: hit.site,
            score: hit.score,
            summary: hit.summary,
            fields: hit.fields,
            cut: hit.cut,
            sort: hit.sort.into_iter().map(Value::from).collect(),
            lacks: hit.lacks,
            more_from_site: hit.more_from_site,
            held_back: hit.held_back,
            pinned: hit.pinned,
            hidden: hit.hidden,
            explanation: hit.explanation.map(Value::from),
        }
    }
}

impl HitNumbers {
    fn of(numbers: wire::HitNumbers) -> HitNumbers {
        HitNumbers {
            score: numbers.score,
            segment: numbers.segment,
            document: numbers.document,
            url_hash: numbers.url_hash,
            site_hash: numbers.site_hash,
        }
    }
}

impl Times {
    fn of(phases: &wire::PhaseTimes) -> Times {
        let search = phases.queueing + phases.index_search + phases.optimization_searches;
        Times {
            parse: Duration::from_micros(phases.parse),
            search: Duration::from_micros(search),
            merge: Duration::from_micros(phases.merge),
            spelling: Duration::from_micros(phases.spelling),
            details: Duration::from_micros(phases.details),
            summaries: Duration::from_micros(phases.summaries),
            total: Duration::from_micros(phases.total),
        }
    }
}
