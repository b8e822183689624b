//! Tests that profiles agree with the work of a search, and that profiling changes no answer.

use index::{Field, PostingsCodec, Replay, watch_blocks, watch_lists};
use search::{Operator, Plan, Profile, Ranking, bag_of_words, parse, phrase_of, profile};
use search::{count_partition, search_partition, top_of_partition};
use std::sync::Arc;
use testkit::{BuildPlan, MadeUp, build_index};
use text::Analyzer;

struct Case {
    plan: Plan,
    segments: Vec<Arc<index::Segment>>,
}

impl Case {
    fn top(&self) -> Profile {
        let search = || top_of_partition(&self.plan, &self.segments, 10);
        let plain = search().unwrap();
        let (found, profile) = profile(&self.plan, &self.segments, search).unwrap();
        assert_eq!(found, plain);
        checked(profile)
    }

    fn exact(&self) -> Profile {
        let search = || search_partition(&self.plan, &self.segments, 10);
        let plain = search().unwrap();
        let (found, profile) = profile(&self.plan, &self.segments, search).unwrap();
        assert_eq!(found, plain);
        checked(profile)
    }

    fn count(&self) -> Profile {
        let search = || count_partition(&self.plan, &self.segments);
        let plain = search().unwrap();
        let (found, profile) = profile(&self.plan, &self.segments, search).unwrap();
        assert_eq!(found, plain);
        checked(profile)
    }
}

/// Checks the invariants of every profile and returns it.
fn checked(profile: Profile) -> Profile {
    let blocks = profile.blocks;
    let parts = blocks.decoded_count + blocks.as_bits_count + blocks.left_count;
    assert_eq!(parts, blocks.blocks_count, "{profile:?}");
    assert!(
        blocks.frequencies_count <= blocks.blocks_count,
        "{profile:?}"
    );
    profile
}

#[test]
fn every_algorithm_says_what_it_did() {
    let documents: Vec<document::Document> = MadeUp::default().documents(20_000).collect();
    let index = build_index(&[documents], BuildPlan::PLAIN).unwrap();
    let segments: Vec<Arc<index::Segment>> = index.segments(0..1).cloned().collect();
    let case = |query: search::Query| Case {
        plan: Plan::new(&query, Ranking::default(), index.statistics()).unwrap(),
        segments: segments.clone(),
    };
    let words = |text, operator| case(bag_of_words(text, Analyzer::Plain, operator));

    let one = words("fada", Operator::And);
    let pruned = one.top();
    assert_eq!(pruned.algorithms, ["single"]);
    let blocks = pruned.blocks;
    assert!(
        blocks.lists_count == 1 && blocks.blocks_count > 8,
        "{pruned:?}"
    );
    assert!(blocks.decoded_count < blocks.blocks_count, "{pruned:?}");
    assert!(pruned.first_threshold > Some(0.0), "{pruned:?}");
    assert!(
        pruned.scored_count <= 256 * (blocks.decoded_count + blocks.as_bits_count),
        "{pruned:?}"
    );
    assert!(
        (10..=pruned.scored_count).contains(&pruned.offered_count),
        "{pruned:?}"
    );
    let [term] = pruned.terms.as_slice() else {
        panic!("{pruned:?}");
    };
    assert_eq!((term.field, term.term.as_str()), (Field::Text, "fada"));
    assert_eq!(term.documents_count.div_ceil(256), blocks.blocks_count);
    let counted = one.count();
    assert_eq!((counted.scored_count, counted.blocks.decoded_count), (0, 0));

    let any = words("dada rada luda", Operator::Or);
    assert_eq!(any.top().algorithms, ["maxscore"]);
    let counted = any.exact();
    assert_eq!(counted.algorithms, ["maxscore", "union"]);
    assert_eq!(
        counted.blocks.blocks_count,
        2 * any.top().blocks.blocks_count
    );
    let only = any.count();
    assert_eq!(
        (only.algorithms.as_slice(), only.offered_count),
        (["union"].as_slice(), 0)
    );
    assert_eq!(
        (only.blocks.left_count, only.scored_count),
        (0, 0),
        "all are counted"
    );

    let all = words("dada luda", Operator::And);
    let counted = all.exact();
    assert_eq!(counted.algorithms, ["conjunction"]);
    let (_, matching) = search_partition(&all.plan, &all.segments, 10).unwrap();
    assert!(
        (10..matching).contains(&counted.offered_count),
        "matches that cannot enter are only counted: {counted:?}"
    );
    assert!(counted.scored_count < 2 * matching, "{counted:?}");
    assert!(all.top().offered_count < matching);

    let phrase = case(phrase_of("brada popa", Analyzer::Plain)).exact();
    assert_eq!(phrase.algorithms, ["phrase"]);
    assert!(phrase.offered_count > 0, "{phrase:?}");
    let typed = |text, operator| case(parse(text, Analyzer::Plain, operator).query);
    let but = typed("dada -rada", Operator::And);
    let counted = but.exact();
    assert_eq!(counted.algorithms, ["mixed"]);
    assert_eq!(counted.terms.len(), 2);
    let (_, matching) = search_partition(&but.plan, &but.segments, 10).unwrap();
    assert!(
        (10..matching).contains(&counted.offered_count),
        "{counted:?}"
    );
    assert_eq!(but.count().scored_count, 0);
    let many_phrases = r#""dada luda" "dada rada" "dada fada" "luda rada" "luda fada" "luda dada" "rada dada" "rada luda" "fada dada""#;
    for (text, operator, names) in [
        ("+luda dada rada", Operator::Or, ["mixed"].as_slice()),
        ("+dada rada munufa", Operator::Or, &["maxscore"]),
        ("\"brada popa\" dada", Operator::And, &["mixed"]),
        ("\"brada popa\" -dada", Operator::And, &["mixed"]),
        ("dada (rada OR luda)", Operator::And, &["mixed"]),
        ("dada ?ad*", Operator::And, &["mixed"]),
        ("dada rada -luda", Operator::Or, &["maxscore", "union"]),
        ("+(dada luda)", Operator::And, &["conjunction"]),
        ("dada -nowhere", Operator::Or, &["single"]),
        ("\"brada popa\" dada", Operator::Or, &["single", "mixed"]),
        (
            "\"brada popa\" \"dada luda\"",
            Operator::Or,
            &["phrase", "mixed"],
        ),
        ("\"brada popa\"~3 dada", Operator::And, &["mixed"]),
        (many_phrases, Operator::Or, &["exhaustive"]),
        ("?ad* OR dada", Operator::And, &["exhaustive"]),
        (
            "(rada OR luda) (dada OR fada)",
            Operator::And,
            &["maxscore", "union"],
        ),
        (
            "(rada OR luda) (dada OR \"brada popa\")",
            Operator::And,
            &["exhaustive"],
        ),
        (
            "(brada AND popa) OR dada",
            Operator::And,
            &["single", "mixed"],
        ),
        ("(brada AND ?op*) OR dada", Operator::And, &["exhaustive"]),
        (
            "(rada -luda) dada \"brada popa\" fada",
            Operator::Or,
            &["maxscore", "union", "mixed"],
        ),
        ("?ad*", Operator::And, &["exhaustive"]),
    ] {
        assert_eq!(typed(text, operator).exact().algorithms, names, "{text}");
    }
    let nothing = words("dada nowhere", Operator::And).exact();
    assert_eq!(nothing, Profile::default());
}

/// Decoding again, watched, is seen to decode what the search was seen to decode: as many blocks of
/// documents, and as many of frequencies, each time that it is run.
#[test]
fn what_a_search_decoded_is_decoded_again() {
    for codec in [PostingsCodec::Packed, PostingsCodec::Vint] {
        let documents: Vec<document::Document> = MadeUp::default().documents(5_000).collect();
        let build = BuildPlan {
            chunks: 2,
            codec,
            partitions: 2,
            ..BuildPlan::PLAIN
        };
        let index = build_index(&[documents], build).unwrap();
        let segments: Vec<Arc<index::Segment>> = index.segments(0..2).cloned().collect();
        let mut decoded_count = 0;
        for text in ["dada luda", "rada", "brada popa dada", "nowhere"] {
            for operator in [Operator::And, Operator::Or] {
                let query = bag_of_words(text, Analyzer::Plain, operator);
                let plan = Plan::new(&query, Ranking::default(), index.statistics()).unwrap();
                let search = || search_partition(&plan, &segments, 10);
                let (profiled, mut lists) = watch_lists(|| profile(&plan, &segments, search));
                let blocks = profiled.unwrap().1.blocks;
                let (_, again) = watch_blocks(|| {
                    let mut replay = Replay::default();
                    for segment in &segments {
                        for word in text.split(' ') {
                            if let Some(record) = segment.term(Field::Text, word).unwrap() {
                                replay.add(segment, &record, &mut lists).unwrap();
                            }
                        }
                    }
                    assert_eq!(replay.blocks_count() as u64, blocks.decoded_count);
                    let postings_count = replay.run();
                    assert_eq!(replay.run(), postings_count);
                    assert!(postings_count <= 256 * blocks.decoded_count);
                });
                assert!(lists.is_empty(), "{text}: lists of no word");
                assert_eq!(
                    again.decoded_count, blocks.decoded_count,
                    "{codec:?} {text}"
                );
                assert_eq!(
                    again.frequencies_count, blocks.frequencies_count,
                    "{codec:?} {text}"
                );
                decoded_count += blocks.decoded_count;
            }
        }
        assert!(decoded_count > 20, "{codec:?}: {decoded_count}");
    }
}
