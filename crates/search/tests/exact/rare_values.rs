//! Values that few documents have, and columns of several blocks: filters, counts and orders are those of the slow twins.

use document::Document;
use fields::{Test, Value};
use index::{DocId, Index};
use search::exhaustive::{each_match, search_segment};
use search::{Collectors, DocBits, FilterWay, Plan, Query, Ranking, SortKey};
use search::{best_by_values, collect, search_partition, top_of_partition};
use testkit::building::{BuildPlan, build_index};

/// Number of documents: several blocks of a column, the last one not full.
const DOCUMENTS: u64 = 5_000;

/// Makes an index of documents of the words w0 (rare) to w9 (frequent), with fields of several widths. With
/// `with_deletions`, every seventh is deleted.
fn made_up(with_deletions: bool) -> Index {
    let mut state = 7u64;
    let mut random = move |below: u64| {
        state = state
            .wrapping_mul(6364136223846793005)
            .wrapping_add(1442695040888963407);
        (state >> 33) % below
    };
    let mut documents = Vec::new();
    for number in 0..DOCUMENTS {
        let mut body = String::new();
        for _ in 0..1 + random(8) {
            body += &format!("w{} ", (random(1023) + 1).ilog2());
        }
        let keywords: Vec<String> = (0..random(4)).map(|_| format!("k{}", random(90))).collect();
        let mut fields = serde_json::json!({
            "few": random(100),
            "many": random(20_000),
            "all": number / 1_500,
            "flag": random(50) == 0,
            "tags": keywords,
        });
        if random(3) == 0 {
            fields["sometimes"] = (random(7_000) as i64 - 3_000).into();
        }
        documents.push(Document {
            url: format!("http://s{}.test/{number}", number % 5),
            body,
            fields: json::Value::from(fields).as_object().cloned().unwrap(),
            ..Document::default()
        });
    }
    let mut batches = vec![documents];
    if with_deletions {
        let replaced = batches[0].iter().step_by(7).map(|one| Document {
            url: one.url.clone(),
            body: "gone".to_owned(),
            ..Document::default()
        });
        let replaced = replaced.collect();
        batches.push(replaced);
    }
    build_index(&batches, BuildPlan::PLAIN).unwrap()
}

/// Tests of values: of few documents, of many, of none.
const TESTS: [(&str, &str); 12] = [
    ("few", "7"),
    ("few", "3..40"),
    ("many", "100..140"),
    ("many", ">19990"),
    ("many", "<15000"),
    ("all", "2"),
    ("flag", "true"),
    ("flag", "false"),
    ("tags", "k17"),
    ("tags", "k1*"),
    ("sometimes", "-20..20"),
    ("sometimes", "*"),
];

#[test]
fn marks_are_the_documents_that_pass() {
    let index = made_up(false);
    for (name, text) in TESTS {
        let test = Test::parse(index.fields().get(name).unwrap(), text).unwrap();
        for segment in index.segments(..) {
            let column = segment.column(name).unwrap().unwrap();
            let range = column.range(&test).unwrap();
            let passing: Vec<u32> = (0..segment.documents_count())
                .filter(|&doc| column.passes(DocId(doc), range))
                .collect();
            for (base, words) in [(0, 100), (64, 3), (960, 2), (1024, 16), (4_928, 4)] {
                let mut marks = vec![u64::MAX; words];
                column.mark(base, &mut marks, range);
                for doc in base..base + words as u32 * 64 {
                    let at = (doc - base) as usize;
                    let is_marked = marks[at / 64] >> (at % 64) & 1 == 1;
                    let passes = passing.binary_search(&doc).is_ok();
                    assert_eq!(is_marked, passes, "{name} {text} {doc}");
                }
            }
            let (scanned, documents) = column.estimate(range);
            assert!(documents <= scanned && passing.len() as u64 <= scanned);
        }
    }
}

#[test]
fn filtered_hits_and_matches_are_those_of_the_slow_twin() {
    for index in [made_up(false), made_up(true)] {
        let segments: Vec<_> = index.segments(..).cloned().collect();
        for (name, text) in TESTS {
            let test = Test::parse(index.fields().get(name).unwrap(), text).unwrap();
            let filter = format!("{name} {text}");
            for words in ["w9 w8 w3", "w9", "w7 w2", "w0"] {
                for is_any in [false, true] {
                    let operator = match is_any {
                        true => search::Operator::Or,
                        false => search::Operator::And,
                    };
                    let words = search::bag_of_words(words, index.analyzer(), operator);
                    let value = Query::Value {
                        field: name.to_owned(),
                        test: test.clone(),
                    };
                    let required = match words {
                        Query::Boolean { mut required, .. } if !is_any => {
                            required.push(value);
                            required
                        }
                        words => vec![words, value],
                    };
                    let query = Query::Boolean {
                        required,
                        optional: Vec::new(),
                        excluded: Vec::new(),
                    };
                    let plan = Plan::new(&query, Ranking::default(), index.statistics()).unwrap();
                    let mut slow = plan.top(10);
                    let (mut count, mut docs) = (0, Vec::new());
                    for segment in &segments {
                        count += search_segment(&plan, segment, &mut slow).unwrap();
                        let mut own = Vec::new();
                        each_match(&plan, segment, |doc| own.push(doc)).unwrap();
                        docs.push(own);
                    }
                    let expected = slow.into_sorted();
                    let hits = top_of_partition(&plan, &segments, 10).unwrap();
                    assert_eq!(hits, expected, "{filter}");
                    let counted = search_partition(&plan, &segments, 10).unwrap();
                    assert_eq!(counted, (expected, count), "{filter}");
                    let mut found = Collectors::new((), DocBits::default());
                    collect(&plan, &segments, &mut found).unwrap();
                    for (segment, docs) in segments.iter().zip(docs) {
                        let found: Vec<_> = found.matches.documents(segment.id()).collect();
                        assert_eq!(found, docs, "{filter}");
                    }
                }
            }
        }
    }
    is_told_how_filters_ran();
    // Filters that were used before have their documents listed.
    let figures = index::list_figures();
    assert!(figures.built > 0 && figures.hits > 0, "{figures:?}");
    assert!(figures.bytes <= index::LIST_BYTES_MAX);
}

/// The record of filters names every way, and counts what passed.
fn is_told_how_filters_ran() {
    let index = made_up(false);
    let segments: Vec<_> = index.segments(..).cloned().collect();
    let run = |typed: &str, is_counted: bool| -> Vec<search::FilterRun> {
        let parsed = search::parse_with(
            typed,
            index.analyzer(),
            index.fields(),
            search::Operator::Or,
        );
        let plan = Plan::new(&parsed.query, Ranking::default(), index.statistics()).unwrap();
        let search = || match is_counted {
            true => search_partition(&plan, &segments, 10).map(|_| ()),
            false => top_of_partition(&plan, &segments, 10).map(|_| ()),
        };
        search::profile(&plan, &segments, search).unwrap().1.filters
    };
    let passing = (0..DOCUMENTS as u32).filter(|&doc| {
        let column = segments[0].column("few").unwrap().unwrap();
        let test = Test::parse(column.kind(), "7").unwrap();
        column.passes(DocId(doc), column.range(&test).unwrap())
    });
    let passing = passing.count() as u64;
    let rare = "+(w9 w8 w7 w6) +few:7";
    let ways: Vec<FilterWay> = (0..3)
        .map(|_| {
            let runs = run(rare, false);
            assert_eq!(runs.len(), 1, "{runs:?}");
            assert_eq!(
                (runs[0].field.as_str(), runs[0].test.as_str()),
                ("few", "7")
            );
            assert_eq!(runs[0].passed, passing);
            runs[0].way
        })
        .collect();
    assert_eq!(
        ways,
        [FilterWay::ColumnScan, FilterWay::List, FilterWay::List]
    );
    // The filters of a segment are bounded: the one not used for longest gives way.
    let range = |number: u32| {
        format!(
            "+(w9 w8 w7 w6) +many:{}..{}",
            number * 60,
            number * 60 + 100
        )
    };
    let way = |number| run(&range(number), false)[0].way;
    for number in 0..300 {
        assert_eq!(way(number), FilterWay::ColumnScan);
        assert_eq!(way(number), FilterWay::List);
    }
    assert_eq!((way(299), way(0)), (FilterWay::List, FilterWay::ColumnScan));
    let frequent = run("+(w9 w8) +many:<15000", false);
    assert_eq!(frequent[0].way, FilterWay::Probe);
    assert!(frequent[0].passed <= frequent[0].candidates);
    let counted = run("+(w9 w8) +many:<15000", true);
    assert!(
        counted.iter().any(|run| run.way == FilterWay::Bits),
        "{counted:?}"
    );
}

#[test]
fn the_best_blocks_first_give_the_same_order() {
    let index = made_up(true);
    let segments: Vec<_> = index.segments(..).cloned().collect();
    let query = search::bag_of_words("w9 w8 w7", index.analyzer(), search::Operator::Or);
    let plan = Plan::new(&query, Ranking::default(), index.statistics()).unwrap();
    let mut found = Collectors::new((), DocBits::default());
    collect(&plan, &segments, &mut found).unwrap();
    for text in [
        "many",
        "many:desc",
        "few:desc",
        "sometimes",
        "sometimes:desc",
        "all:desc,many",
        "sometimes:desc:first",
    ] {
        let keys = SortKey::parse_all(text, index.fields()).unwrap();
        let all = best_by_values(&keys, &segments, &found.matches, usize::MAX >> 1, None).unwrap();
        assert_eq!(all.len() as u64, found.matches.count());
        let values = |number: usize| -> &[Option<Value>] { &all[number].values };
        for number in 1..all.len() {
            let order = SortKey::order_of(&keys, values(number - 1), values(number));
            assert!(order.is_le(), "{text}");
        }
        for k in [1, 10, 100] {
            let best = best_by_values(&keys, &segments, &found.matches, k, None).unwrap();
            assert_eq!(best, all[..k], "{text}");
        }
    }
}
