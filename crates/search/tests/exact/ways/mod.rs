//! Comparison of all ways to run a search with exhaustive evaluation.

use index::{DocId, Index, IndexError, Segment};
use search::{
    Context, Cut, HitCollector, Plan, Query, Ranking, ScoredHit, SearchTask, Share, Stop,
};
use search::{count_partition, search_partition};
use std::collections::BTreeSet;
use std::sync::Arc;
use testkit::Oracle;

/// A match: segment, document, bits of its score.
pub(crate) type Scored = (u32, DocId, u32);

/// Collector of the score of every match, defined outside the engine.
#[derive(Default)]
pub(crate) struct Everything {
    segment: u32,
    pub(crate) found: Vec<Scored>,
}

impl<'a> HitCollector<'a> for Everything {
    fn k(&self) -> usize {
        usize::MAX
    }
    fn enter(&mut self, segment: &'a Segment) -> Result<(), IndexError> {
        self.segment = segment.id();
        Ok(())
    }
    fn collect(&mut self, score: f32, doc: DocId, _: &mut Context<'a>) {
        self.found.push((self.segment, doc, score.to_bits()));
    }
}

pub(crate) fn all_segments(index: &Index) -> Vec<&Arc<Segment>> {
    search::contract::enforce();
    index.segments(0..index.chunks_count()).collect()
}

/// Checks that all ways to search agree with exhaustive evaluation.
pub(crate) fn check_all_ways(
    index: &Index,
    query: &Query,
    ranking: Ranking,
    k: usize,
    ranges: usize,
) {
    let plan = Arc::new(Plan::new(query, ranking, index.statistics()).unwrap());
    let mut slow = plan.top(k);
    let (mut total, mut counted) = (0, 0);
    for segment in all_segments(index) {
        total += search::exhaustive::search_segment(&plan, segment, &mut slow).unwrap();
        counted += search::exhaustive::count_segment(&plan, segment).unwrap();
    }
    let slow = slow.into_sorted();
    assert_eq!(total, counted);
    let what = format!("{k} of {query:?} by {ranking:?}");
    let best = search::top_of_partition(&plan, all_segments(index), k).unwrap();
    assert_eq!(best, slow, "{what}");
    let both = search_partition(&plan, all_segments(index), k).unwrap();
    assert_eq!(both, (slow.clone(), total), "{what}");
    let count = count_partition(&plan, all_segments(index)).unwrap();
    assert_eq!(count, total, "{what}");
    let shared = on_handlers(&plan, index, k, true, ranges, 2);
    assert_eq!(shared, (slow.clone(), total), "{ranges} ranges, {what}");
    let (hits, _) = on_handlers(&plan, index, k, false, ranges * 9, 2);
    assert_eq!(hits, slow, "{ranges} ranges, {what}");
}

/// Returns the documents that a query finds, having compared all ways to search with each other and the oracle.
pub(crate) fn found_by_all_ways(index: &Index, oracle: &Oracle, query: &Query) -> BTreeSet<u64> {
    let ranking = Ranking::default();
    check_all_ways(index, query, ranking, 3, 4);
    let plan = Arc::new(Plan::new(query, ranking, index.statistics()).unwrap());
    let (hits, _) = search_partition(&plan, all_segments(index), usize::MAX).unwrap();
    let scored = hits.iter().map(|hit| (hit.url_hash, hit.score.to_bits()));
    let expected = oracle.rank(query, ranking).into_iter();
    let expected = expected.map(|hit| (hit.url_hash, hit.score.to_bits()));
    assert!(scored.eq(expected), "{query:?}");
    hits.iter().map(|hit| hit.url_hash).collect()
}

/// Parses a query; `any` makes bare words optional.
pub(crate) fn parsed(typed: &str, any: bool, index: &Index) -> Query {
    let operator = match any {
        true => search::Operator::Or,
        false => search::Operator::And,
    };
    search::parse_with(typed, index.analyzer(), index.fields(), operator).query
}

/// Searches in ranges, on several handlers at once.
pub(crate) fn on_handlers(
    plan: &Arc<Plan>,
    index: &Index,
    k: usize,
    counted: bool,
    ranges_count: usize,
    handlers: usize,
) -> (Vec<ScoredHit>, u64) {
    let cut = Cut {
        ranges_max: ranges_count,
        // These collections are too small to be cut otherwise.
        postings_min: 0,
    };
    let segments = all_segments(index).into_iter().cloned();
    let task = SearchTask::new(Arc::clone(plan), segments, k, counted);
    let task = task.cut(cut).unwrap();
    let shares: Vec<Share> = std::thread::scope(|scope| {
        let handles: Vec<_> = (0..handlers)
            .map(|_| scope.spawn(|| task.work(&Stop::default(), || false).unwrap()))
            .collect();
        handles
            .into_iter()
            .map(|handle| handle.join().unwrap())
            .collect()
    });
    let taken: usize = shares.iter().map(|share| share.ranges_count).sum();
    assert_eq!(taken, task.len());
    let searched = task.merged(shares);
    assert_eq!(searched.count_is_exact, counted || k == 0);
    assert_eq!(searched.documents_searched, searched.documents_count);
    (searched.hits, searched.matches_count)
}

/// Returns thousands of documents, so that lists have many blocks and searches many windows: frequent
/// and rare words, short and long documents.
pub(crate) fn many_documents(seed: u64) -> Vec<document::Document> {
    let mut state = seed;
    let mut random = move |below: u64| {
        // Weyl sequence and a multiplication (Steele et al. 2014): enough for made-up text.
        state = state.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mixed = (state ^ state >> 30).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        (mixed ^ mixed >> 31) % below
    };
    (0..21_000)
        .map(|number| {
            let mut body = String::new();
            let longest = random(30);
            for _ in 0..1 + random(1 + longest) {
                // Word n is half as frequent as word n - 1, with a rare long tail.
                let word = (random(1 << 13) + 1).ilog2();
                body.push_str(&format!("w{word} "));
            }
            document::Document {
                url: format!("http://s{}.test/{number}", number % 7),
                body,
                ..document::Document::default()
            }
        })
        .collect()
}
