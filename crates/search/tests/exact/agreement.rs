//! Tests that the hits, scores and order are those of the oracle, which tries every document, for any
//! chunks, codec, memory, commits and partitions.
use crate::ways::{all_segments, check_all_ways, many_documents, on_handlers, parsed};
use index::{DocId, Index, PostingsCodec, Segment};
use proptest::prelude::*;
use search::exhaustive::{count_site, explain};
use search::{Plan, Query, Ranking, ScoredHit};
use search::{count_partition, merge_sorted, search_partition};
use std::sync::Arc;
use testkit::{BuildPlan, Oracle, batches, build_index, build_plans, rankings, ruled_queries};

/// Hit without the parts that depend on the chunks: the hash of the URL and the bits of the score.
type Bits = (u64, u32);

fn bits(hits: &[ScoredHit]) -> Vec<Bits> {
    hits.iter()
        .map(|hit| (hit.url_hash, hit.score.to_bits()))
        .collect()
}

fn expected(oracle: &Oracle, query: &Query, ranking: Ranking) -> Vec<Bits> {
    oracle
        .rank(query, ranking)
        .iter()
        .map(|hit| (hit.url_hash, hit.score.to_bits()))
        .collect()
}

/// Operator between the words of a query.
#[derive(Debug, Clone, Copy)]
enum Kind {
    Any,
    All,
    Most(search::Least),
    Phrase(u32),
}

impl Kind {
    fn query(self, typed: &str, index: &Index) -> Query {
        match self {
            Kind::Any => search::bag_of_words(typed, index.analyzer(), search::Operator::Or),
            Kind::All => search::bag_of_words(typed, index.analyzer(), search::Operator::And),
            Kind::Most(least) => {
                let operator = search::Operator::Most(least);
                search::parse(typed, index.analyzer(), operator).query
            }
            Kind::Phrase(wanted) => {
                let mut query = search::phrase_of(typed, index.analyzer());
                if let Query::Phrase { slop, .. } = &mut query {
                    *slop = wanted;
                }
                query
            }
        }
    }
}

fn kinds() -> impl Strategy<Value = Kind> {
    prop_oneof![
        Just(Kind::Any),
        Just(Kind::All),
        (1u16..6).prop_map(|words| Kind::Most(search::Least::Words(words))),
        (30u8..100).prop_map(|percent| Kind::Most(search::Least::Percent(percent))),
        prop_oneof![Just(0), 0u32..4].prop_map(Kind::Phrase),
    ]
}

fn segment_of<'a>(index: &'a Index, hit: &ScoredHit) -> &'a Arc<Segment> {
    let mut segments = index.segments(0..index.chunks_count());
    let found = segments.find(|segment| segment.id() == hit.segment);
    found.expect("a hit names a segment of the index")
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(testkit::size(150, 2_000)))]

    #[test]
    fn search_is_the_oracle(
        batches in batches(3, 24),
        build in build_plans(),
        queries in proptest::collection::vec((ruled_queries(), rankings()), 1..8),
        k in 0usize..20,
    ) {
        let index = build_index(&batches, build).unwrap();
        let oracle = Oracle::new(&batches, index.analyzer(), index.fields());
        prop_assert_eq!(index.statistics().documents_count(), oracle.documents_count() as u64);
        for (query, ranking) in queries {
            let plan = Arc::new(Plan::new(&query, ranking, index.statistics()).unwrap());
            let expected = expected(&oracle, &query, ranking);
            let segments = all_segments(&index);
            let (hits, total) = search_partition(&plan, segments.iter().copied(), usize::MAX)
                .unwrap();
            prop_assert_eq!(&bits(&hits), &expected, "{:?} {:?}", query, ranking);
            prop_assert_eq!(total, expected.len() as u64);
            prop_assert_eq!(count_partition(&plan, segments.iter().copied()).unwrap(), total);
            let (top, total) = search_partition(&plan, segments, k).unwrap();
            prop_assert_eq!(bits(&top), &expected[..k.min(expected.len())]);
            prop_assert_eq!(total, expected.len() as u64);
            let (shared, total) = on_handlers(&plan, &index, k, true, 1 + 2 * k, 2);
            prop_assert_eq!(bits(&shared), &expected[..k.min(expected.len())]);
            prop_assert_eq!(total, expected.len() as u64);
        }
    }

    #[test]
    fn merged_partitions_are_one_search(
        batches in batches(2, 24),
        build in build_plans(),
        query in ruled_queries(),
        ranking in rankings(),
        partitions in 1u32..6,
        k in 0usize..20,
    ) {
        let index = build_index(&batches, build).unwrap();
        let plan = Arc::new(Plan::new(&query, ranking, index.statistics()).unwrap());
        let whole = search_partition(&plan, all_segments(&index), k).unwrap();
        let laid_out: Vec<_> = index.layout().partitions().collect();
        let (mut lists, mut total) = (Vec::new(), 0);
        for partition in 0..partitions as usize {
            let cut = |partition: usize| laid_out.len() * partition / partitions as usize;
            let Some((first, last)) = laid_out[cut(partition)..cut(partition + 1)]
                .first()
                .zip(laid_out[..cut(partition + 1)].last())
            else {
                continue;
            };
            let chunks = *first.start()..*last.end() + 1;
            index.check_partition(chunks.clone()).unwrap();
            let (hits, count) = search_partition(&plan, index.segments(chunks), k).unwrap();
            lists.push(hits);
            total += count;
        }
        prop_assert_eq!(merge_sorted(&lists, k), whole.0);
        prop_assert_eq!(total, whole.1);
    }

    #[test]
    fn explanations_are_the_scores(
        batches in batches(2, 16),
        build in build_plans(),
        query in ruled_queries(),
        ranking in rankings(),
    ) {
        let index = build_index(&batches, build).unwrap();
        let plan = Arc::new(Plan::new(&query, ranking, index.statistics()).unwrap());
        let segments = all_segments(&index);
        let (hits, total) = search_partition(&plan, segments.iter().copied(), 1000).unwrap();
        for hit in &hits {
            let explanation = explain(&plan, segment_of(&index, hit), hit.doc).unwrap();
            let value = explanation.map(|explanation| explanation.value.to_bits());
            prop_assert_eq!(value, Some(hit.score.to_bits()));
        }
        // A document that does not match has no explanation, and one beyond the segment causes no
        // panic.
        let mut explained = 0;
        for segment in segments {
            for doc in (0..segment.documents_count() + 2).chain([u32::MAX]) {
                explained += u64::from(explain(&plan, segment, DocId(doc)).unwrap().is_some());
            }
        }
        prop_assert_eq!(explained, total);
    }

    #[test]
    fn sites_are_counted(
        batches in batches(2, 24),
        build in build_plans(),
        query in ruled_queries(),
        limit in 0u64..6,
    ) {
        let index = build_index(&batches, build).unwrap();
        let oracle = Oracle::new(&batches, index.analyzer(), index.fields());
        let plan = Arc::new(Plan::new(&query, Ranking::default(), index.statistics()).unwrap());
        for site in ["s0.test", "s1.test", "/Folder", "absent.test"] {
            let (mut count, mut limited) = (0, 0);
            for segment in all_segments(&index) {
                let stop = search::Stop::default();
                count += count_site(&plan, segment, site, u64::MAX, &stop).unwrap();
                limited += count_site(&plan, segment, site, limit - limited, &stop).unwrap();
            }
            prop_assert_eq!(count, oracle.count_site(&query, site));
            prop_assert_eq!(limited, count.min(limit));
        }
    }
}

proptest! {
    // Lists have several blocks, so that seeks cross them. Few cases: the oracle is slow.
    #![proptest_config(ProptestConfig::with_cases(testkit::size(5, 50)))]

    #[test]
    fn long_lists_are_the_oracle(
        mut documents in proptest::collection::vec(testkit::documents::document(), 600..1400),
        codec in prop_oneof![Just(PostingsCodec::Packed), Just(PostingsCodec::Vint)],
        replaced in proptest::collection::vec(0usize..600, 0..20),
        queries in proptest::collection::vec((ruled_queries(), rankings()), 1..4),
    ) {
        for (number, document) in documents.iter_mut().enumerate() {
            document.url = format!("http://s{}.test/{number}", number % 7);
        }
        let later = replaced.iter().map(|&number| documents[number].clone()).collect();
        let batches = [documents, later];
        let index = build_index(&batches, BuildPlan { codec, ..BuildPlan::PLAIN }).unwrap();
        let oracle = Oracle::new(&batches, index.analyzer(), index.fields());
        for (query, ranking) in queries {
            let plan = Arc::new(Plan::new(&query, ranking, index.statistics()).unwrap());
            let (hits, _) = search_partition(&plan, all_segments(&index), 2000).unwrap();
            prop_assert_eq!(bits(&hits), expected(&oracle, &query, ranking), "{:?}", query);
        }
    }
}

#[test]
fn an_empty_index_answers_nothing() {
    let index = build_index(&[Vec::new()], BuildPlan::PLAIN).unwrap();
    for typed in ["a", "a*", "\"a b\"", "site:x", "a OR b", "-a", ""] {
        let parsed = search::parse_with(
            typed,
            index.analyzer(),
            index.fields(),
            search::Operator::And,
        );
        let plan =
            Arc::new(Plan::new(&parsed.query, Ranking::default(), index.statistics()).unwrap());
        let answer = search_partition(&plan, all_segments(&index), 10).unwrap();
        assert_eq!(answer, (Vec::new(), 0), "{typed}");
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(testkit::size(80, 1_000)))]

    /// The algorithm chosen by `search_partition` agrees with exhaustive evaluation.
    #[test]
    fn the_chosen_algorithm_is_its_slow_twin(
        documents in batches(3, 12),
        build in build_plans(),
        words in prop::collection::vec("[a-e]", 1..6),
        ranking in rankings(),
        k in 0usize..20,
        kind in kinds(),
    ) {
        let index = build_index(&documents, build).unwrap();
        let query = kind.query(&words.join(" "), &index);
        let plan = Arc::new(Plan::new(&query, ranking, index.statistics()).unwrap());
        let mut top = plan.top(k);
        let mut total = 0;
        let mut counted = 0;
        for segment in all_segments(&index) {
            total += search::exhaustive::search_segment(&plan, segment, &mut top).unwrap();
            counted += search::exhaustive::count_segment(&plan, segment).unwrap();
        }
        let shared = on_handlers(&plan, &index, k, true, 1 + k, 2);
        let fast = search_partition(&plan, all_segments(&index), k).unwrap();
        let best = search::top_of_partition(&plan, all_segments(&index), k).unwrap();
        let expected = top.into_sorted();
        prop_assert_eq!(&best, &expected);
        prop_assert_eq!(shared.1, total);
        prop_assert_eq!(&shared.0, &expected);
        prop_assert_eq!(fast, (expected, total));
        prop_assert_eq!(count_partition(&plan, all_segments(&index)).unwrap(), counted);
    }
}

/// Returns the words of tiny documents, frequent ones more often.
fn vocabulary() -> impl Strategy<Value = String> + Clone {
    let words = [
        ["a", "b", "c", "d", "ab"].as_slice(),
        &testkit::documents::VOCABULARY,
    ]
    .concat();
    prop::sample::select(words).prop_map(str::to_owned)
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(testkit::size(150, 2_000)))]

    #[test]
    fn combinations_are_their_slow_twin(
        documents in batches(3, 40),
        build in build_plans(),
        queries in prop::collection::vec(
            (testkit::typed(vocabulary()), any::<bool>(), rankings()), 1..6),
        k in prop_oneof![Just(0usize), Just(1), Just(10), 0usize..30],
    ) {
        let index = build_index(&documents, build).unwrap();
        for (typed, any, ranking) in queries {
            check_all_ways(&index, &parsed(&typed, any, &index), ranking, k, 1 + k);
            let most = search::Operator::Most(search::Least::Percent(60));
            let most = search::parse_with(&typed, index.analyzer(), index.fields(), most);
            check_all_ways(&index, &most.query, ranking, k, 1 + k);
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(4))]

    #[test]
    fn pruning_over_many_windows_is_its_slow_twin(
        seed in any::<u64>(),
        codec in prop_oneof![Just(PostingsCodec::Packed), Just(PostingsCodec::Vint)],
        with_deletions in any::<bool>(),
        queries in prop::collection::vec(
            (prop::collection::vec(5u32..14, 1..7), rankings(), 1usize..90, kinds()), 40),
    ) {
        let documents = many_documents(seed);
        let replaced = if with_deletions { documents[..900].to_vec() } else { Vec::new() };
        let plan = BuildPlan { codec, ..BuildPlan::PLAIN };
        let index = build_index(&[documents, replaced], plan).unwrap();
        for (words, ranking, k, kind) in queries {
            let typed: Vec<String> = words.iter().map(|word| format!("w{word}")).collect();
            let typed = typed.join(" ");
            let query = kind.query(&typed, &index);
            let plan = Arc::new(Plan::new(&query, ranking, index.statistics()).unwrap());
            let mut slow = plan.top(k);
            let mut total = 0;
            for segment in all_segments(&index) {
                total += search::exhaustive::search_segment(&plan, segment, &mut slow).unwrap();
            }
            let slow = slow.into_sorted();
            let best = search::top_of_partition(&plan, all_segments(&index), k).unwrap();
            prop_assert_eq!(&best, &slow, "{} of {:?} {}", k, kind, typed);
            let counted = search_partition(&plan, all_segments(&index), k).unwrap();
            prop_assert_eq!(counted, (slow.clone(), total), "{} of {:?} {}", k, kind, typed);
            let count = count_partition(&plan, all_segments(&index)).unwrap();
            prop_assert_eq!(count, total, "{:?} {}", kind, typed);
            let shared = on_handlers(&plan, &index, k, true, words[0] as usize, 2);
            prop_assert_eq!(&shared, &(best.clone(), total), "ranges {:?} {}", kind, typed);
            let (hits, _) = on_handlers(&plan, &index, k, false, 1 + words.len() * 9, 1);
            prop_assert_eq!(&hits, &best, "ranges of {:?} {}", kind, typed);
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(6))]

    #[test]
    fn combinations_over_many_blocks_are_their_slow_twin(
        seed in any::<u64>(),
        codec in prop_oneof![Just(PostingsCodec::Packed), Just(PostingsCodec::Vint)],
        with_deletions in any::<bool>(),
        queries in prop::collection::vec(
            (testkit::typed((3u32..13).prop_map(|word| format!("w{word}"))), any::<bool>(), rankings(),
             prop_oneof![Just(0usize), Just(1), Just(10), 1usize..90], 1usize..12), 90),
    ) {
        let documents = many_documents(seed);
        let replaced = if with_deletions { documents[..900].to_vec() } else { Vec::new() };
        let plan = BuildPlan { codec, ..BuildPlan::PLAIN };
        let index = build_index(&[documents, replaced], plan).unwrap();
        for (typed, any, ranking, k, ranges) in queries {
            check_all_ways(&index, &parsed(&typed, any, &index), ranking, k, ranges);
        }
    }
}
