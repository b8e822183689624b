//! Trees as values: what is serialized is read back, and bytes from outside are read within limits or refused.
use proptest::prelude::*;
use search::parse::DEPTH_MAX;
use search::{Operator, Query, Ranking};
use testkit::{queries, rankings};

proptest! {
    #![proptest_config(ProptestConfig::with_cases(400))]

    #[test]
    fn a_tree_is_read_back(query in queries(), ranking in rankings(), words in 1u16..999, percent in 1u8..=100) {
        let json = serde_json::to_string(&query).unwrap();
        prop_assert_eq!(&serde_json::from_str::<Query>(&json).unwrap(), &query, "{}", json);
        let value = serde_json::to_value(&query).unwrap();
        prop_assert_eq!(serde_json::from_value::<Query>(value).unwrap(), query);
        let json = serde_json::to_string(&ranking).unwrap();
        prop_assert_eq!(serde_json::from_str::<Ranking>(&json).unwrap(), ranking);
        let least = [search::Least::Words(words), search::Least::Percent(percent)].map(Operator::Most);
        for operator in least.into_iter().chain(Operator::NAMED.map(|(_, operator)| operator)) {
            let json = serde_json::to_string(&operator).unwrap();
            prop_assert_eq!(serde_json::from_str::<Operator>(&json).unwrap(), operator);
        }
    }

    #[test]
    fn bytes_from_outside_are_read_or_refused(
        query in queries(),
        at in any::<prop::sample::Index>(),
        bytes in prop::collection::vec(any::<u8>(), 0..9),
    ) {
        let mut json = serde_json::to_vec(&query).unwrap();
        let at = at.index(json.len());
        let end = (at + bytes.len() / 2).min(json.len());
        json.splice(at..end, bytes.iter().copied());
        if let Ok(read) = serde_json::from_slice::<Query>(&json) {
            let _ = read.check();
        }
        let _ = serde_json::from_slice::<Query>(&bytes);
    }
}

#[test]
fn the_form_is_the_documented_one() {
    for (typed, form) in [
        ("ice", r#"{"term":{"field":"text","term":"ice"}}"#),
        (
            "ice^2 -milk",
            r#"{"boolean":{"required":[{"boosted":{"boost":2.0,"clause":{"term":{"field":"text","term":"ice"}}}}],"excluded":[{"term":{"field":"text","term":"milk"}}]}}"#,
        ),
        (
            "title:\"ice cold\"~2",
            r#"{"phrase":{"field":"title","terms":["ice","cold"],"slop":2}}"#,
        ),
        (
            "ice*",
            r#"{"pattern":{"field":"text","pattern":{"prefix":"ice"}}}"#,
        ),
        ("\"\"", "\"nothing\""),
    ] {
        let query = search::parse(typed, text::Analyzer::Plain, Operator::And).query;
        assert_eq!(serde_json::to_string(&query).unwrap(), form, "{typed}");
    }
}

#[test]
fn errors_name_what_is_wrong() {
    let refused = |json: &str| serde_json::from_str::<Query>(json).unwrap_err().to_string();
    for (json, part) in [
        (
            r#"{"terms":{}}"#,
            "unknown variant `terms`, expected one of `nothing`, `all`, `term`",
        ),
        (
            r#"{"term":{"field":"text","term":"a","boost":2}}"#,
            "unknown field `boost`",
        ),
        (
            r#"{"term":{"field":"body","term":"a"}}"#,
            "unknown variant `body`",
        ),
        (r#"{"term":{"field":"text"}}"#, "missing field `term`"),
        (
            r#"{"pattern":{"field":"text","pattern":{"regex":"("}}}"#,
            "unclosed group",
        ),
        (
            r#"{"value":{"field":"n","test":{"range":{"lo":1}}}}"#,
            "unknown field `lo`",
        ),
    ] {
        assert!(refused(json).contains(part), "{json}: {}", refused(json));
    }
    let checked = |json: &str| serde_json::from_str::<Query>(json).unwrap().check();
    for (json, part) in [
        (
            r#"{"term":{"field":"text","term":"a","weight":0}}"#,
            "weight of 0",
        ),
        (
            r#"{"term":{"field":{"further":1},"term":"a"}}"#,
            "unknown field",
        ),
        (r#"{"boosted":{"boost":0,"clause":"nothing"}}"#, "boost"),
        (r#"{"phrase":{"field":"text","terms":["a"]}}"#, "phrase"),
        (
            r#"{"pattern":{"field":"text","pattern":{"wildcard":"**"}}}"#,
            "pattern",
        ),
    ] {
        let refused = checked(json).unwrap_err().to_string();
        assert!(refused.contains(part), "{json}: {refused}");
    }
}

#[test]
fn no_depth_exhausts_the_stack() {
    let nested = |depth: usize| {
        let (open, close) = (r#"{"filter":"#.repeat(depth), "}".repeat(depth));
        format!("{open}\"nothing\"{close}")
    };
    let deepest = serde_json::from_str::<Query>(&nested(DEPTH_MAX)).unwrap();
    assert_eq!(deepest.check(), Ok(()));
    for depth in [DEPTH_MAX + 1, 120, 100_000] {
        let refused = serde_json::from_str::<Query>(&nested(depth)).unwrap_err();
        assert!(
            refused.to_string().contains("nested deeper than 32 levels"),
            "{refused}"
        );
    }
    // After an error the count begins anew.
    assert!(serde_json::from_str::<Query>(&nested(DEPTH_MAX)).is_ok());
    // A form without a limit of its own.
    let value = (0..2_000).fold(
        serde_json::json!("nothing"),
        |clause, _| serde_json::json!({ "filter": clause }),
    );
    assert!(serde_json::from_value::<Query>(value).is_err());
    let deep = (0..10_000).fold(Query::Nothing, |clause, _| Query::Filter(Box::new(clause)));
    let refused = deep.check().unwrap_err().to_string();
    assert_eq!(refused, "the query is nested too deep");
    assert_eq!(
        many(1_025).check().unwrap_err().to_string(),
        "the query has too many clauses"
    );
    assert_eq!(many(1_024).check(), Ok(()));
}

fn many(count: usize) -> Query {
    Query::AnyTelling(vec![Query::Nothing; count])
}
