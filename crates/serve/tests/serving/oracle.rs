//! Random queries through the coordinator, in process and over gRPC: one answer, which is the oracle's.
//!
//! ```text
//! documents ─┬─► index ─┬─► Engine ───────────────────────────────────┐
//!            │          └─► index and document servers ─gRPC─ FrontEnd ┼─► equal to the bit
//!            └─► oracle: tries every document ────────────────────────┘
//! ```
use crate::groups::{Scored, collapsed, group};
use crate::processes::{Served, connect, end, file};
use document::{Document, site_of};
use engine::{Engine, EngineError, FIRST_SHARE, HitContents, QuerySource, Returned, SearchAnswer};
use index::Index;
use proptest::prelude::*;
use proptest::test_runner::TestCaseResult;
use search::{Operator, Parsed, Query, Ranking};
use serve::{FrontEnd, SearchOptions, io_runtime};
use std::cell::RefCell;
use std::collections::{BTreeSet, HashMap};
use std::sync::Arc;
use testkit::{BuildPlan, Oracle, batches, build_index, queries, rankings};
use tokio::runtime::Runtime;

/// Number of chunks of the index; servers have some each.
const CHUNKS: u32 = 4;
/// Pages that a sequence of cursors has at most.
const PAGES_MAX: usize = 4;

/// Query of a search, as its caller gives it.
#[derive(Debug, Clone)]
enum Asked {
    Tree(Query),
    Text(String),
    Words(String),
}

impl Asked {
    fn source(&self) -> QuerySource<'_> {
        match self {
            Asked::Tree(tree) => QuerySource::Tree(tree),
            Asked::Text(text) => QuerySource::Text(text),
            Asked::Words(text) => QuerySource::Words(text),
        }
    }

    /// Returns the query as it is searched for, without filters.
    fn parsed(&self, index: &Index, operator: Operator) -> Parsed {
        match self {
            Asked::Tree(tree) => Parsed {
                query: tree.clone(),
                some_words: None,
                warnings: Vec::new(),
                rules: Vec::new(),
            },
            Asked::Text(text) => {
                search::parse_with(text, index.analyzer(), index.fields(), operator)
            }
            Asked::Words(text) => search::words_with(text, index.analyzer(), operator),
        }
    }
}

fn asked() -> impl Strategy<Value = Asked> {
    let word = || prop::sample::select(&testkit::documents::VOCABULARY[..]).prop_map(str::to_owned);
    let words = prop::collection::vec(word(), 1..5).prop_map(|words| words.join(" "));
    prop_oneof![
        6 => queries().prop_map(Asked::Tree),
        2 => testkit::typed(word()).prop_map(Asked::Text),
        1 => words.prop_map(Asked::Words),
    ]
}

fn contents() -> impl Strategy<Value = HitContents> {
    let details = any::<(bool, bool)>();
    prop_oneof![
        2 => Just(HitContents::Numbers),
        2 => Just(HitContents::Ids),
        3 => details.prop_map(|(fields, summaries)| HitContents::Details { fields, summaries }),
    ]
}

fn options() -> impl Strategy<Value = SearchOptions> {
    let page = (
        prop_oneof![1 => Just(0usize), 4 => 1usize..9, 1 => Just(100)],
        prop_oneof![3 => Just(0usize), 1 => 1usize..9],
        prop_oneof![2 => Just(0u32), 2 => 1u32..4],
        prop_oneof![3 => Just(""), 1 => prop::sample::select(vec!["site", "n", "b"])],
    );
    let order = prop_oneof![
        3 => Just(""),
        1 => prop::sample::select(vec!["n", "n:desc", "k,f:desc", "t", "b,site"]),
    ];
    let facets = prop::sample::select(vec![
        "n",
        "k:terms:2",
        "site",
        "f:stats",
        "t:day",
        "k{n:stats}",
    ]);
    let facets = prop_oneof![
        2 => Just(Vec::new()),
        1 => prop::collection::vec(facets.prop_map(str::to_owned), 1..3),
    ];
    // A filter that only leaves out is no clause of its own.
    let filter = queries().prop_filter("it only leaves out", |query| !query.only_excludes());
    let filters = prop_oneof![2 => Just(Vec::new()), 1 => filter.prop_map(|query| vec![query])];
    let operator = prop::sample::select(&Operator::NAMED[..]);
    let returned = (
        contents(),
        prop::bool::weighted(0.8),
        prop::bool::weighted(0.2),
    );
    (page, order, facets, filters, operator, rankings(), returned).prop_map(
        |(
            (k, start, per_site, collapse),
            sort,
            facets,
            filter_trees,
            operator,
            ranking,
            returned,
        )| {
            let (hits, counted, explain) = returned;
            SearchOptions {
                k,
                start,
                per_site,
                collapse: collapse.to_owned(),
                operator: operator.1,
                ranking,
                explain,
                returned: Returned { counted, hits },
                filter_trees,
                facets,
                sort: sort.to_owned(),
                ..SearchOptions::default()
            }
        },
    )
}

/// Whole ranking of a query, before the limit of hits per site.
struct Expected {
    hits: Vec<Scored>,
    /// Number of the documents that match the query itself.
    matches_count: usize,
    /// Number of the hits listed that stand before all with some of the words.
    first_listed: usize,
    per_site: u32,
    /// Hits that are listed where hits are collapsed, with the number of those that each hides.
    hidden: HashMap<String, u64>,
}

impl Expected {
    fn of(
        asked: &Asked,
        options: &SearchOptions,
        index: &Index,
        (oracle, documents): (&Oracle, &Documents),
    ) -> Expected {
        let parsed = asked.parsed(index, options.operator);
        let filtered = |query: Query| match &options.filter_trees[..] {
            [] => query,
            filters => Query::Boolean {
                required: [query]
                    .into_iter()
                    .chain(
                        filters
                            .iter()
                            .map(|one| Query::Filter(Box::new(one.clone()))),
                    )
                    .collect(),
                optional: Vec::new(),
                excluded: Vec::new(),
            },
        };
        let compares_scores = has_only_words(&parsed.query);
        let query = filtered(parsed.query);
        let rank = |query: &Query, ranking: Ranking| -> Vec<Scored> {
            let ranked = oracle.rank(query, ranking).into_iter();
            ranked.map(|hit| (hit.url, hit.score.to_bits())).collect()
        };
        let mut hits = rank(&query, options.ranking);
        let matches_count = hits.len();
        let mut first_count = matches_count;
        if let (Some(some), true) = (parsed.some_words, options.sort.is_empty())
            // Without a page, hits with some of the words are not looked for.
            && options.k > 0
        {
            let further = rank(&filtered(some), options.ranking);
            let score = |hit: &Scored| f32::from_bits(hit.1);
            let urls = |hits: &[Scored]| -> BTreeSet<String> {
                hits.iter().map(|(url, _)| url.clone()).collect()
            };
            if compares_scores {
                let complete = urls(&hits);
                let best = further.iter().find(|hit| !complete.contains(&hit.0));
                let least = FIRST_SHARE * best.map_or(0.0, score);
                hits.retain(|hit| score(hit) >= least);
            }
            first_count = hits.len();
            let known = urls(&hits);
            hits.extend(further.into_iter().filter(|(url, _)| !known.contains(url)));
        }
        let mut first_listed = first_count;
        let per_site = match query.requires_one_site() {
            true => 0,
            false => options.per_site,
        };
        let mut hidden = HashMap::new();
        if !options.collapse.is_empty() {
            (hits, first_listed) = collapsed(hits, first_count, &mut hidden, |url| {
                group(&documents[url], &options.collapse)
            });
        }
        Expected {
            hits,
            matches_count,
            first_listed,
            per_site,
            hidden,
        }
    }

    /// Returns the hits in the order of the limit of hits per site: in each class those that it holds back
    /// follow the others. There are fewer documents than its window has places.
    fn listed(&self) -> Vec<Scored> {
        let mut counts: HashMap<String, u32> = HashMap::new();
        let mut listed: Vec<(bool, bool, &Scored)> = Vec::new();
        for (rank, hit) in self.hits.iter().enumerate() {
            let count = counts.entry(site_of(&hit.0)).or_default();
            *count += 1;
            let is_held_back = self.per_site > 0 && *count > self.per_site;
            listed.push((rank >= self.first_listed, is_held_back, hit));
        }
        listed.sort_by_key(|&(has_some, is_held_back, _)| (has_some, is_held_back));
        listed.into_iter().map(|(.., hit)| hit.clone()).collect()
    }

    /// Checks an answer: its total, its hits, and whether further ones follow.
    fn check(&self, answer: &SearchAnswer, options: &SearchOptions) -> TestCaseResult {
        prop_assert_eq!(answer.coverage, 1.0);
        prop_assert!(answer.degraded.is_empty());
        let (total, matches_count) = (answer.total, self.matches_count as u64);
        if options.returned.counted {
            prop_assert_eq!((total.value, total.exact), (matches_count, true));
        } else {
            prop_assert!(total.value <= matches_count);
        }
        for facet in &answer.facets {
            prop_assert!(facet.documents + facet.missing > 0 || matches_count == 0);
        }
        let end = options.start.saturating_add(options.k);
        let listed = self.listed();
        if options.sort.is_empty() {
            let page = listed.get(options.start..).unwrap_or_default();
            let page = &page[..options.k.min(page.len())];
            prop_assert_eq!(&scored(answer), page);
            prop_assert_eq!(answer.more_hits, listed.len() > end);
        } else if options.start == 0
            && end >= self.hits.len()
            && self.per_site == 0
            && options.collapse.is_empty()
        {
            // Sorted hits have no scores.
            let urls = |hits: &[Scored]| -> BTreeSet<String> {
                hits.iter().map(|(url, _)| url.clone()).collect()
            };
            prop_assert_eq!(urls(&scored(answer)), urls(&self.hits));
        }
        Ok(())
    }
}

/// Returns whether all bare words of a query are single words, whose scores do not depend on what else matches.
fn has_only_words(query: &Query) -> bool {
    match query {
        Query::AllTelling(words) => words.iter().all(|word| match word {
            Query::Boosted { clause, .. } => matches!(**clause, Query::Term { .. }),
            word => matches!(word, Query::Term { .. }),
        }),
        Query::Boolean { required, .. } => required.iter().any(has_only_words),
        _ => false,
    }
}

/// Documents by their URL, each in its last version.
type Documents = HashMap<String, Document>;

/// Returns URL and score of each hit of an answer that has ids.
fn scored(answer: &SearchAnswer) -> Vec<Scored> {
    let hits = answer.hits.iter();
    hits.map(|hit| (hit.url.clone(), hit.score.to_bits()))
        .collect()
}

/// Returns an answer without its times.
fn timeless(mut answer: SearchAnswer) -> SearchAnswer {
    answer.phases_us = Default::default();
    answer
}

/// The embedded engine, and a front-end before servers in other threads.
struct Ways<'a> {
    engine: Engine,
    front_end: FrontEnd,
    runtime: &'a Runtime,
}

impl Ways<'_> {
    /// Returns the answer that both ways give; `None` where both refuse a field that no document has.
    fn answer(
        &self,
        query: QuerySource<'_>,
        options: &SearchOptions,
    ) -> Result<Option<SearchAnswer>, TestCaseError> {
        let local = self.engine.search(query, options);
        let served = self.runtime.block_on(self.front_end.search(query, options));
        match (local, served) {
            (Ok(local), Ok(served)) => {
                let (local, mut served) = (timeless(local), timeless(served));
                if !options.returned.counted {
                    // How many matches are met depends on the order in which parts are searched.
                    served.total = local.total;
                }
                prop_assert_eq!(&local, &served);
                Ok(Some(local))
            }
            (Err(EngineError::BadRequest(local)), Err(served)) => {
                prop_assert_eq!(local.to_string(), served.to_string());
                Ok(None)
            }
            (local, served) => Err(TestCaseError::fail(format!("{local:?} {served:?}"))),
        }
    }

    fn check(&self, asked: &Asked, options: &SearchOptions, expected: &Expected) -> TestCaseResult {
        let query = asked.source();
        let Some(answer) = self.answer(query, options)? else {
            return Ok(());
        };
        let hits = match options.returned.hits {
            // Explanations are of hits with ids.
            HitContents::Numbers if !options.explain => {
                prop_assert!(answer.hits.is_empty());
                let ids = SearchOptions {
                    returned: Returned {
                        hits: HitContents::Ids,
                        ..options.returned
                    },
                    ..options.clone()
                };
                let with_ids = self.answer(query, &ids)?.unwrap_or_default();
                let of = |url: &str| document::url_hash(url);
                let named = with_ids.hits.iter().map(|hit| (of(&hit.url), hit.score));
                let numbers = answer.numbers.iter().map(|hit| (hit.url_hash, hit.score));
                prop_assert!(named.eq(numbers));
                with_ids
            }
            contents => {
                prop_assert!(answer.numbers.is_empty());
                let has_details = contents > HitContents::Ids;
                for hit in &answer.hits {
                    prop_assert_eq!(hit.site.is_empty(), !has_details);
                    prop_assert!(hit.summary.is_empty() || contents.has_summaries());
                    prop_assert!(hit.fields.is_empty() || contents.has_fields());
                    prop_assert_eq!(hit.explanation.is_some(), options.explain);
                    if has_details && options.sort.is_empty() {
                        let hidden = expected.hidden.get(&hit.url).copied();
                        prop_assert_eq!(hit.hidden, hidden.unwrap_or(0));
                    }
                }
                answer
            }
        };
        expected.check(&hits, options)
    }

    /// Checks that pages by cursors are the ranking from its beginning.
    fn check_pages(
        &self,
        asked: &Asked,
        options: &SearchOptions,
        expected: &Expected,
    ) -> TestCaseResult {
        let mut after = Some("*".to_owned());
        let mut hits = Vec::new();
        for _ in 0..PAGES_MAX {
            let Some(place) = after else { break };
            let options = SearchOptions {
                start: 0,
                after: Some(place),
                returned: Returned {
                    hits: HitContents::Ids,
                    ..options.returned
                },
                ..options.clone()
            };
            let Some(page) = self.answer(asked.source(), &options)? else {
                return Ok(());
            };
            hits.extend(scored(&page));
            after = page.after;
        }
        if options.sort.is_empty() {
            let listed = expected.listed();
            let count = (PAGES_MAX * options.k).min(listed.len());
            prop_assert_eq!(hits, &listed[..count]);
        }
        Ok(())
    }
}

/// Builds an index of some chunks in memory.
fn built(batches: &[Vec<Document>]) -> Arc<Index> {
    let plan = BuildPlan {
        chunks: CHUNKS,
        partitions: CHUNKS,
        ..BuildPlan::PLAIN
    };
    Arc::new(build_index(batches, plan).unwrap())
}

#[test]
fn any_query_has_one_answer_which_is_the_oracles() {
    let runtime = io_runtime().unwrap();
    let searches = prop::collection::vec((asked(), options(), prop::bool::weighted(0.2)), 40);
    let config = ProptestConfig {
        cases: 16,
        max_shrink_iters: 20,
        ..ProptestConfig::default()
    };
    // A server takes most of a second to end: all of them end at once.
    let running = RefCell::new(Vec::new());
    proptest!(config, |(batches in batches(3, 40), searches in searches)| {
        let index = built(&batches);
        let oracle = Oracle::new(&batches, index.analyzer(), index.fields());
        let documents = batches.iter().flatten().cloned();
        let documents: Documents = documents.map(|one| (one.url.clone(), one)).collect();
        let servers = [0..=0, 1..=3].map(|chunks| Served::index_server(&index, chunks));
        let texts = [0..=2, 3..=3].map(|chunks| Served::document_server(&index, chunks));
        let file = file(
            CHUNKS,
            vec![(0..=0, &servers[0]), (1..=3, &servers[1])],
            vec![(0..=2, &texts[0]), (3..=3, &texts[1])],
        );
        running.borrow_mut().extend(servers.into_iter().chain(texts));
        let ways = Ways {
            engine: Engine::from_index(index.clone()),
            front_end: connect(&file, "one", &runtime).unwrap(),
            runtime: &runtime,
        };
        for (asked, options, pages) in searches {
            let expected = Expected::of(&asked, &options, &index, (&oracle, &documents));
            let checked = ways.check(&asked, &options, &expected).and_then(|()| match pages {
                true => ways.check_pages(&asked, &options, &expected),
                false => Ok(()),
            });
            // The one of many that fails, beside the input of all.
            let told = |error| TestCaseError::fail(format!("{error}: {asked:?} {options:?}"));
            checked.map_err(told)?;
        }
    });
    end(running.into_inner());
}
