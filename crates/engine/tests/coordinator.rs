//! The coordinator by itself: replies in any order, from any number of parts, some of which fail.

use engine::calls::{Chunks, PartError, PartitionHits, SummariesOf, TextSummary};
use engine::{
    Call, Coordinator, Engine, IndexFacts, Layout, Limits, Part, PreparedQuery, QuerySource, Reply,
    SearchAnswer, SearchError, SearchOptions,
};
use index::{BuildOptions, Index, Writer};
use proptest::prelude::*;
use search::Stop;
use std::sync::Arc;
use std::time::{Duration, Instant};
use vfs::{MemoryStorage, SharedStorage};
use wire::PhaseTimes;

const CHUNKS: u32 = 4;

fn built(words: &[u8]) -> Arc<Index> {
    let storage: SharedStorage = Arc::new(MemoryStorage::default());
    let options = BuildOptions {
        chunks: Some(CHUNKS),
        partitions: Some(CHUNKS),
        ..BuildOptions::default()
    };
    let mut writer = Writer::open(storage.clone(), options).unwrap();
    for (number, &words) in words.iter().enumerate() {
        let has = |bit: u8, word| if words & bit > 0 { word } else { "" };
        let body = [has(1, "alpha "), has(2, "beta "), has(4, "gamma "), "text"].concat();
        let document = document::Document {
            url: format!("https://site{}.example/{number}", number % 3),
            title: format!("Title {number}"),
            body,
            ..Default::default()
        };
        writer.add(document).unwrap();
    }
    writer.commit().unwrap();
    Arc::new(Index::open(storage).unwrap())
}

/// Partitions of an index, one a chunk, whose texts are in two parts.
struct Cut(Vec<Part>);

impl Cut {
    fn new(index: &Arc<Index>) -> Cut {
        let part = |chunk| Part::new(Arc::clone(index), chunk..=chunk);
        Cut((0..CHUNKS).map(part).collect())
    }

    fn reply(&self, call: Call, fails: &mut impl FnMut() -> bool) -> Reply {
        let mut failing = || match fails() {
            true => Err(PartError::Expired),
            false => Ok(()),
        };
        let never = || false;
        let stop = Stop::when(&never);
        let search = |part: &Part, query: &engine::calls::Query, k, counted| {
            let planned = query.planned(part.index()).unwrap();
            let found = part.search(&planned.plan, k, counted, &stop).unwrap();
            PartitionHits::of_scores(found, k, false).planned_by(&planned)
        };
        match call {
            Call::SearchAll { query, request } => {
                let mut failures = Vec::new();
                let partitions = self.0.iter().enumerate().map(|(at, part)| match failing() {
                    Ok(()) => Some(search(part, &query, request.k, request.counted)),
                    Err(error) => {
                        failures.push((at, error));
                        None
                    }
                });
                Reply::SearchedAll {
                    partitions: partitions.collect(),
                    failures,
                    generation: self.0[0].index().generation(),
                }
            }
            Call::Search {
                query,
                request,
                partitions,
            } => {
                let replies = partitions.into_iter().map(|at| {
                    let found = |()| search(&self.0[at], &query, request.k, request.counted);
                    (at, failing().map(found))
                });
                Reply::Searched(replies.collect())
            }
            Call::Details(requests) => {
                let replies = requests.iter().map(|(at, query, request)| {
                    failing()?;
                    let part = &self.0[*at];
                    let planned = query.planned(part.index()).unwrap();
                    let read = request.read(Some(&planned.plan));
                    Ok(part.details(&read, &stop).unwrap())
                });
                Reply::Details(replies.collect())
            }
            Call::CountMatches {
                query,
                request,
                partitions,
            } => {
                let replies = partitions.into_iter().map(|at| {
                    failing()?;
                    let part = &self.0[at];
                    let planned = query.planned(part.index()).unwrap();
                    let counted = &request.counted;
                    Ok(part.count_matches(&planned.plan, counted, &stop).unwrap())
                });
                Reply::MatchesCounted(request.counted.clone(), replies.collect())
            }
            Call::Summaries(requests) => {
                let replies = requests.iter().map(|(_, request)| {
                    failing()?;
                    let SummariesOf::UrlHashes(hashes) = &request.of else {
                        panic!("no two of these URLs have one hash")
                    };
                    let text = |hash: &u64| {
                        Some(TextSummary {
                            html: hash.to_string(),
                            ..TextSummary::default()
                        })
                    };
                    Ok(hashes.iter().map(text).collect())
                });
                Reply::Summaries(replies.collect())
            }
            Call::CountFacets { .. } => panic!("no facets are asked for"),
        }
    }

    /// Answers a query; of the calls that are due, `choose` takes the one that is replied to next.
    fn answer(
        &self,
        query: &str,
        options: &SearchOptions,
        mut choose: impl FnMut(usize) -> usize,
        mut fails: impl FnMut() -> bool,
    ) -> Result<SearchAnswer, SearchError> {
        let index = self.0[0].index();
        let facts = IndexFacts {
            rules: None,
            analyzer: index.analyzer(),
            fields: index.fields(),
            index_id: index.id(),
        };
        let now = Instant::now();
        let source = QuerySource::Text(query);
        let prepared = PreparedQuery::new(1, source, options.clone(), facts, now).unwrap();
        let later = now + Duration::from_secs(3600);
        let limits = Limits {
            cut_off: later,
            deadline: later,
            bytes_max: 1 << 20,
        };
        let mut coordinator = Coordinator::new(&prepared, self, limits);
        let mut due: Vec<Call> = coordinator.first_call().into_iter().collect();
        while !due.is_empty() {
            let call = due.swap_remove(choose(due.len()));
            due.extend(coordinator.reply(self.reply(call, &mut fails), now)?);
        }
        Ok(coordinator.finish()?.answer)
    }
}

impl Layout for Cut {
    fn partitions_count(&self) -> usize {
        self.0.len()
    }

    fn chunks_of(&self, partition: usize) -> Chunks {
        partition as u32..=partition as u32
    }

    fn documents_of(&self, _: usize) -> u64 {
        1
    }

    fn texts_count(&self) -> usize {
        2
    }

    fn text_chunks_of(&self, part: usize) -> Chunks {
        part as u32 * 2..=part as u32 * 2 + 1
    }

    fn texts_of(&self, url_hash: u64) -> Option<usize> {
        Some((url_hash % u64::from(CHUNKS)) as usize / 2)
    }
}

/// Returns an answer without its times and its summaries, which are made up here.
fn comparable(mut answer: SearchAnswer) -> SearchAnswer {
    answer.phases_us = PhaseTimes::default();
    for hit in &mut answer.hits {
        hit.summary.clear();
    }
    answer
}

fn options() -> impl Strategy<Value = SearchOptions> {
    (0usize..6, 1usize..8, 0u32..3, any::<bool>()).prop_map(|(start, k, per_site, explain)| {
        SearchOptions {
            start,
            k,
            per_site,
            explain,
            ..SearchOptions::default()
        }
    })
}

const QUERIES: [&str; 5] = [
    "alpha",
    "alpha beta",
    "alpha beta gamma",
    "text -beta",
    "nothing",
];

proptest! {
    #![proptest_config(ProptestConfig::with_cases(48))]

    #[test]
    fn replies_in_any_order_give_the_answer_of_the_whole_index(
        words in prop::collection::vec(0u8..8, 1..40),
        options in options(),
        order in prop::collection::vec(any::<usize>(), 32),
    ) {
        let index = built(&words);
        let (cut, engine) = (Cut::new(&index), Engine::from_index(index));
        for query in QUERIES {
            let mut order = order.iter().cycle();
            let choose = |count: usize| order.next().map_or(0, |at| at % count);
            let answer = cut.answer(query, &options, choose, || false).unwrap();
            for hit in &answer.hits {
                // The text of each hit came to it.
                prop_assert_eq!(&hit.summary, &document::url_hash(&hit.url).to_string());
            }
            let whole = engine.search(query, &options).unwrap();
            prop_assert_eq!(comparable(answer), comparable(whole), "{}", query);
        }
    }

    #[test]
    fn what_a_part_did_not_give_is_named_or_the_answer_is_the_whole_one(
        words in prop::collection::vec(0u8..8, 1..40),
        options in options(),
        failures in prop::collection::vec(prop::bool::weighted(0.2), 64),
    ) {
        let index = built(&words);
        let (cut, engine) = (Cut::new(&index), Engine::from_index(index));
        for query in QUERIES {
            let mut failures = failures.iter().copied();
            let fails = || failures.next().unwrap_or(false);
            let Ok(answer) = cut.answer(query, &options, |_| 0, fails) else {
                continue;
            };
            if answer.degraded.is_empty() {
                let whole = engine.search(query, &options).unwrap();
                prop_assert_eq!(comparable(answer), comparable(whole), "{}", query);
            } else {
                prop_assert!(answer.timed_out);
            }
        }
    }
}
