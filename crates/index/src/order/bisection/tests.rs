use super::*;
use proptest::prelude::*;

/// Computes the cost that bisection lowers, from its definition, for terms of more than one document; `sizes` are the
/// documents that each half is charged with.
fn cost(halves: &[Vec<&Vec<u32>>; 2], sizes: [usize; 2]) -> f64 {
    let count_of = |half: &[&Vec<u32>], term: u32| {
        half.iter().filter(|terms| terms.contains(&term)).count() as f64
    };
    let mut cost = 0.0;
    for term in 0..30 {
        let counts = [0, 1].map(|side| count_of(&halves[side], term));
        if counts[0] + counts[1] > 1.0 {
            for (count, size) in counts.into_iter().zip(sizes) {
                cost += count * (size as f64 / (count + 1.0)).log2();
            }
        }
    }
    cost
}

fn nodes(documents: &mut [Vec<u32>]) -> Vec<Node<'_>> {
    (0..)
        .zip(documents)
        .map(|(place, terms)| Node { place, terms })
        .collect()
}

fn bisected(documents: &[Vec<u32>], terms_count: usize, threads: usize) -> Vec<u32> {
    let mut documents = documents.to_vec();
    let mut nodes = nodes(&mut documents);
    let passed = std::sync::atomic::AtomicU64::new(0);
    let progress = |documents| {
        passed.fetch_add(documents, std::sync::atomic::Ordering::Relaxed);
    };
    let limits = Limits {
        threads,
        progress: &progress,
    };
    bisect(&mut nodes, terms_count, &limits);
    let all = nodes.len() as u64 * u64::from(levels(nodes.len() as u32));
    assert!(passed.into_inner() <= all);
    nodes.iter().map(|node| node.place).collect()
}

/// Returns documents about `topics` topics in no order, each with words of its topic and of all.
fn mixed_topics(documents_count: u32, topics: u32) -> Vec<Vec<u32>> {
    let mut random = 1u32;
    let mut next = |below: u32| {
        random = random.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
        (random >> 8) % below
    };
    (0..documents_count)
        .map(|_| {
            let topic = next(topics);
            let mut terms: Vec<u32> = (0..12).map(|_| topic * 20 + next(20)).collect();
            terms.extend((0..4).map(|_| topics * 20 + next(50)));
            terms.sort_unstable();
            terms.dedup();
            terms
        })
        .collect()
}

fn terms_count(documents: &[Vec<u32>]) -> usize {
    documents
        .iter()
        .flatten()
        .max()
        .map_or(0, |&max| max as usize + 1)
}

/// Returns the mean logarithm of gaps for documents in an order.
fn gap_bits(documents: &[Vec<u32>], order: &[u32]) -> f64 {
    let mut last = vec![-1i64; terms_count(documents)];
    let mut bits = crate::order::GapBits::default();
    for (at, &doc) in (0i64..).zip(order) {
        for &term in &documents[doc as usize] {
            bits.add((at - last[term as usize]) as u32);
            last[term as usize] = at;
        }
    }
    bits.mean()
}

#[test]
fn documents_of_a_topic_become_neighbours() {
    let documents = mixed_topics(2000, 32);
    let given: Vec<u32> = (0..2000).collect();
    let order = bisected(&documents, terms_count(&documents), 1);
    let (before, after) = (gap_bits(&documents, &given), gap_bits(&documents, &order));
    assert!(after < before * 0.6, "{before} bits a gap became {after}");
}

#[test]
fn any_number_of_threads_gives_the_same_order() {
    let documents = mixed_topics(40_000, 50);
    let one = bisected(&documents, terms_count(&documents), 1);
    for threads in [2, 3, 8] {
        assert!(
            bisected(&documents, terms_count(&documents), threads) == one,
            "{threads}"
        );
    }
}

#[test]
fn levels_end_where_parts_are_small() {
    let cases = [
        (0, 0),
        (1, 0),
        (32, 0),
        (33, 1),
        (64, 1),
        (65, 2),
        (128, 2),
        (129, 3),
    ];
    for (documents_count, expected) in cases {
        assert_eq!(levels(documents_count), expected, "{documents_count}");
    }
}

#[test]
fn deltas_are_those_of_the_definition() {
    let cost = |count: f64| count * (count + 1.0).log2();
    for count in (0..5000).chain([10_000, 1_000_000, 1 << 30]) {
        let expected = cost(f64::from(count) + 1.0) - cost(f64::from(count));
        let found = f64::from(delta(count));
        assert!(
            (found - expected).abs() < 1e-4,
            "{count}: {found}, not {expected}"
        );
    }
}

fn documents() -> impl Strategy<Value = Vec<Vec<u32>>> {
    let terms = prop::collection::btree_set(0u32..30, 0..8);
    prop::collection::vec(terms.prop_map(|terms| terms.into_iter().collect()), 0..90)
}

proptest! {
    #[test]
    fn every_document_stands_once(documents in documents(), threads in 1usize..4) {
        let mut order = bisected(&documents, 30, threads);
        order.sort_unstable();
        let expected: Vec<u32> = (0..documents.len() as u32).collect();
        prop_assert_eq!(order, expected);
    }

    /// The gain of a document is the decrease of the cost, computed anew.
    #[test]
    fn gains_are_differences_of_cost(mut documents in documents(), chosen in any::<prop::sample::Index>()) {
        prop_assume!(documents.len() > 1);
        let half = documents.len() / 2;
        let chosen = chosen.index(documents.len());
        let copy = documents.clone();
        let mut nodes = nodes(&mut documents);
        let mut part = Part::new(30);
        part.count(&mut nodes, half);
        part.find_gains(half, copy.len() - half);
        let side = usize::from(chosen >= half);
        let found = f64::from(sum_of(nodes[chosen].terms, &part.gains[side]));

        let mut halves: [Vec<&Vec<u32>>; 2] = [copy[..half].iter().collect(), copy[half..].iter().collect()];
        // A move is half of an exchange: the halves are charged as if they kept their sizes.
        let sizes = [half, copy.len() - half];
        let before = cost(&halves, sizes);
        let at = if side == 0 { chosen } else { chosen - half };
        let moved = halves[side].remove(at);
        halves[1 - side].push(moved);
        let expected = before - cost(&halves, sizes);
        prop_assert!((found - expected).abs() < 1e-3, "{} {}", found, expected);
    }

    #[test]
    fn counts_follow_exchanges(mut documents in documents()) {
        prop_assume!(documents.len() > 1);
        let half = documents.len() / 2;
        let copy = documents.clone();
        let mut nodes = nodes(&mut documents);
        let mut part = Part::new(30);
        part.count(&mut nodes, half);
        let mut exchanges = 0;
        while exchanges < ITERATIONS_MAX && part.exchange(&mut nodes, half, 0.0, 1) {
            exchanges += 1;
        }
        // Counts updated along the way are those of the documents in their present places.
        let place = |node: &Node<'_>| &copy[node.place as usize];
        let (left, right): (Vec<_>, Vec<_>) =
            (nodes[..half].iter().map(place).collect(), nodes[half..].iter().map(place).collect());
        for &term in &part.terms {
            let count = |half: &[&Vec<u32>]| half.iter().filter(|t| t.contains(&term)).count() as u32;
            prop_assert_eq!(part.counts[0][term as usize], count(&left));
            prop_assert_eq!(part.counts[1][term as usize], count(&right));
        }
    }
}
