//! Passes over a set of queries, and the measured span of each.

use super::decoding::Decoding;
use super::measured::{Counting, Measured, Mode};
use super::plans::Profiled;
use super::quantiles::min_and_median;
use console::figures::seconds;
use console::meter::{Meter, left_s};
use console::opened::all_segments;
use console::query_file::FileQuery;
use engine::{Engine, HitContents, QuerySource, Returned, SearchAnswer, SearchOptions};
use index::{Index, IndexError, Segment};
use search::{Operator, Plan, Query, Ranking, bag_of_words, parse_with, phrase_of, profile};
use std::collections::HashSet;
use std::sync::Arc;
use std::time::Instant;
use text::Analyzer;

/// An index and the parameters of its searches.
pub(super) struct Searches {
    engine: Engine,
    index: Arc<Index>,
    segments: Vec<Arc<Segment>>,
    mode: Mode,
    counting: Counting,
    options: SearchOptions,
    /// Whether decoding is also timed alone.
    pub(super) with_decoding: bool,
}

impl Searches {
    pub(super) fn new(
        index: Arc<Index>,
        mode: Mode,
        counting: Counting,
        k: usize,
        ranking: Ranking,
    ) -> Searches {
        Searches {
            engine: Engine::from_index(Arc::clone(&index)),
            segments: all_segments(&index),
            index,
            mode,
            counting,
            options: SearchOptions {
                k: match counting {
                    Counting::Only => 0,
                    Counting::Exact | Counting::None => k,
                },
                per_site: 0,
                operator: match mode {
                    Mode::And | Mode::Phrase | Mode::Query => Operator::And,
                    Mode::Or | Mode::QueryAny => Operator::Or,
                    Mode::Auto => Operator::Auto,
                },
                ranking,
                returned: Returned {
                    counted: counting != Counting::None,
                    hits: HitContents::Numbers,
                },
                ..SearchOptions::default()
            },
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
            measured.push(Measured {
                query: query.text.clone(),
                words_count: asked.words_count,
                hits: (self.counting != Counting::None).then_some(found.total.value),
                top: self.top(&asked.text)?,
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
            let text = self.prepare(&query.text).text;
            let plan = self.plan(&text)?;
            let (found, profile) = profile(&plan, &self.segments, || Ok(self.search(&text)))?;
            found?;
            profiled.push(Profiled {
                query: query.text.clone(),
                profile,
            });
        }
        Ok(profiled)
    }

    /// Records the blocks that the search of each query decodes.
    fn decodings(&self, asked: &[Asked]) -> anyhow::Result<Vec<Decoding<'_>>> {
        let of_query = |asked: &Asked| {
            let plan = self.plan(&asked.text)?;
            let (found, decoding) =
                Decoding::of(&plan, &self.segments, || Ok(self.search(&asked.text)))?;
            found?;
            anyhow::Ok(decoding)
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

    /// Answers a query with the numbers of its hits, or their count: the measured span.
    fn search(&self, text: &str) -> anyhow::Result<SearchAnswer> {
        self.answer(text, &self.options)
    }

    /// Returns the URL of the best hit; `None` where there is none, or hits are only counted.
    fn top(&self, text: &str) -> anyhow::Result<Option<String>> {
        if self.options.k == 0 {
            return Ok(None);
        }
        let options = SearchOptions {
            k: 1,
            returned: Returned {
                counted: false,
                hits: HitContents::Ids,
            },
            ..self.options.clone()
        };
        let answer = self.answer(text, &options)?;
        Ok(answer.hits.into_iter().next().map(|hit| hit.url))
    }

    fn answer(&self, text: &str, options: &SearchOptions) -> anyhow::Result<SearchAnswer> {
        let answer = match self.mode {
            Mode::And | Mode::Or | Mode::Auto => {
                self.engine.search(QuerySource::Words(text), options)
            }
            Mode::Phrase => {
                let phrase = phrase_of(text, self.index.analyzer());
                self.engine.search(&phrase, options)
            }
            Mode::Query | Mode::QueryAny => self.engine.search(text, options),
        };
        Ok(answer?)
    }

    /// Returns the plan of a query, by whose words its work is named.
    fn plan(&self, text: &str) -> Result<Plan, IndexError> {
        let (analyzer, operator) = (self.index.analyzer(), self.options.operator);
        let query: Query = match self.mode {
            Mode::And | Mode::Or | Mode::Auto => bag_of_words(text, analyzer, operator),
            Mode::Phrase => phrase_of(text, analyzer),
            Mode::Query | Mode::QueryAny => {
                parse_with(text, analyzer, self.index.fields(), operator).query
            }
        };
        Plan::new(&query, self.options.ranking, self.index.statistics())
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
