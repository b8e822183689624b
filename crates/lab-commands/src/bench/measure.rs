//! Passes over a set of queries, and the measured span of each.

use super::decoding::Decoding;
use super::details::details_of;
use super::measured::{Counting, Measured, Mode};
use super::plans::Profiled;
use super::quantiles::min_and_median;
use console::figures::seconds;
use console::meter::{Meter, left_s};
use console::opened::all_segments;
use console::query_file::FileQuery;
use index::{Index, IndexError, Segment};
use search::{Operator, Plan, Ranking, ScoredHit};
use search::{
    bag_of_words, count_partition, parse_with, phrase_of, profile, search_partition, some_of_words,
    top_of_partition,
};
use std::collections::HashSet;
use std::sync::Arc;
use std::time::Instant;
use text::Analyzer;

/// Hits and count of a query.
struct Found {
    hits: Option<u64>,
    top: Option<ScoredHit>,
    /// Hits kept, `k` at most.
    kept_count: usize,
}

/// An index and the parameters of its searches.
pub(super) struct Kernel<'a> {
    index: &'a Index,
    segments: Vec<Arc<Segment>>,
    mode: Mode,
    counting: Counting,
    k: usize,
    ranking: Ranking,
    /// Whether decoding is also timed alone.
    pub(super) with_decoding: bool,
}

impl<'a> Kernel<'a> {
    pub(super) fn new(
        index: &'a Index,
        mode: Mode,
        counting: Counting,
        k: usize,
        ranking: Ranking,
    ) -> Kernel<'a> {
        Kernel {
            index,
            segments: all_segments(index),
            mode,
            counting,
            k,
            ranking,
            with_decoding: false,
        }
    }

    /// Runs one warm-up pass, which is not measured, then `passes` measured ones.
    pub(super) fn measure(
        &self,
        queries: &[FileQuery],
        passes: usize,
    ) -> anyhow::Result<Vec<Measured>> {
        let asked: Vec<Asked> = queries
            .iter()
            .map(|query| self.prepare(&query.text))
            .collect();
        let mut meter = Meter::start("bench", Some((asked.len() * (passes + 1)) as u64));
        let mut progress = Ticks {
            done: 0,
            total: asked.len() * (passes + 1),
        };
        let mut measured = Vec::with_capacity(asked.len());
        for (query, asked) in queries.iter().zip(&asked) {
            let found = self.search(&asked.text)?;
            let top = details_of(&self.segments, found.top.as_slice())?.pop();
            measured.push(Measured {
                query: query.text.clone(),
                words_count: asked.words_count,
                hits: found.hits,
                top: top.map(|details| details.url),
                min_us: 0.0,
                median_us: 0.0,
                decoding: None,
            });
            progress.advance(&mut meter);
        }
        let mut times_us = vec![Vec::with_capacity(passes); asked.len()];
        let mut decoding = match self.with_decoding {
            true => self.decodings(&asked)?,
            false => Vec::new(),
        };
        for _ in 0..passes {
            for (number, (asked, times_us)) in asked.iter().zip(&mut times_us).enumerate() {
                let started = Instant::now();
                std::hint::black_box(self.search(&asked.text)?);
                times_us.push(started.elapsed().as_nanos() as f64 / 1e3);
                if let Some(decoding) = decoding.get_mut(number) {
                    decoding.time();
                }
                progress.advance(&mut meter);
            }
        }
        for (measured, times_us) in measured.iter_mut().zip(&mut times_us) {
            (measured.min_us, measured.median_us) = min_and_median(times_us);
        }
        for (measured, decoding) in measured.iter_mut().zip(decoding) {
            measured.decoding = Some(decoding.finish());
        }
        Ok(measured)
    }

    /// Profiles one search of each query, without timing it.
    pub(super) fn profile(&self, queries: &[FileQuery]) -> anyhow::Result<Vec<Profiled>> {
        let mut profiled = Vec::with_capacity(queries.len());
        for query in queries {
            let plan = self.plan(&self.prepare(&query.text).text)?;
            let (_, profile) = profile(&plan, &self.segments, || self.run(&plan))?;
            profiled.push(Profiled {
                query: query.text.clone(),
                profile,
            });
        }
        Ok(profiled)
    }

    /// Records the blocks that the search of each query decodes.
    fn decodings(&self, asked: &[Asked]) -> Result<Vec<Decoding<'_>>, IndexError> {
        let of_query = |asked: &Asked| {
            let plan = self.plan(&asked.text)?;
            Decoding::of(&plan, &self.segments, || self.run(&plan))
        };
        asked.iter().map(of_query).collect()
    }

    /// Returns the words to search for, as written in the query.
    fn prepare(&self, text: &str) -> Asked {
        let analyzer = self.index.analyzer();
        match self.mode {
            Mode::And | Mode::Or | Mode::Auto => plain_words(text, analyzer, false),
            Mode::Phrase => plain_words(text, analyzer, true),
            Mode::Query | Mode::QueryAny => Asked {
                text: text.to_owned(),
                words_count: plain_words(text, analyzer, false).words_count,
            },
        }
    }

    /// Plans and runs a search: the measured span.
    fn search(&self, text: &str) -> Result<Found, IndexError> {
        let all = self.run(&self.plan(text)?)?;
        if self.mode != Mode::Auto || all.kept_count >= self.k {
            return Ok(all);
        }
        let query = some_of_words(text, self.index.analyzer());
        let plan = Plan::new(&query, self.ranking, self.index.statistics())?;
        // Servers count only those with all words.
        let some = top_of_partition(&plan, &self.segments, self.k)?;
        Ok(Found {
            top: all.top.or(some.first().copied()),
            ..all
        })
    }

    fn plan(&self, text: &str) -> Result<Plan, IndexError> {
        let analyzer = self.index.analyzer();
        let query = match self.mode {
            Mode::And | Mode::Auto => bag_of_words(text, analyzer, Operator::And),
            Mode::Or => bag_of_words(text, analyzer, Operator::Or),
            Mode::Phrase => phrase_of(text, analyzer),
            Mode::Query => parse_with(text, analyzer, self.index.fields(), Operator::And).query,
            Mode::QueryAny => parse_with(text, analyzer, self.index.fields(), Operator::Or).query,
        };
        Plan::new(&query, self.ranking, self.index.statistics())
    }

    fn run(&self, plan: &Plan) -> Result<Found, IndexError> {
        Ok(match self.counting {
            Counting::Only => Found {
                hits: Some(count_partition(plan, &self.segments)?),
                top: None,
                kept_count: self.k,
            },
            Counting::Exact => {
                let (hits, count) = search_partition(plan, &self.segments, self.k)?;
                Found {
                    hits: Some(count),
                    top: hits.first().copied(),
                    kept_count: hits.len(),
                }
            }
            Counting::None => {
                let hits = top_of_partition(plan, &self.segments, self.k)?;
                Found {
                    hits: None,
                    top: hits.first().copied(),
                    kept_count: hits.len(),
                }
            }
        })
    }
}

/// Text of a query after preparation, and the number of its words.
#[derive(Debug, PartialEq)]
struct Asked {
    text: String,
    words_count: usize,
}

/// Returns the words of a query without repetitions of a term, unless `keep_repeated`. Words are kept as written,
/// because the stem of a stem may differ from it.
fn plain_words(text: &str, analyzer: Analyzer, keep_repeated: bool) -> Asked {
    let mut seen = HashSet::new();
    let mut words: Vec<&str> = Vec::new();
    analyzer.each_token(text, &mut String::new(), |token| {
        if keep_repeated || seen.insert(token.term.to_owned()) {
            words.push(&text[token.start..token.end]);
        }
    });
    Asked {
        text: words.join(" "),
        words_count: words.len(),
    }
}

/// Number of searches done, out of all.
struct Ticks {
    done: usize,
    total: usize,
}

impl Ticks {
    fn advance(&mut self, meter: &mut Meter) {
        self.done += 1;
        let (done, total) = (self.done as u64, self.total as u64);
        meter.update(done, |elapsed_s| {
            let left = left_s(done, total, elapsed_s).unwrap_or_default();
            format!("{done} of {total} searches, {} left", seconds(left))
        });
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn repeated_words_count_once_but_in_phrases() {
        let words = |text, keep| plain_words(text, Analyzer::Plain, keep).text;
        assert_eq!(words("To be, or NOT to be?", false), "To be or NOT");
        assert_eq!(words("To be, or NOT to be?", true), "To be or NOT to be");
        assert_eq!(words("-- \"  ", false), "");
    }
}
