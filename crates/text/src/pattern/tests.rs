//! Agreement of the matcher with definitions by recursion.

use super::*;
use proptest::prelude::*;

/// Returns whether `term` matches `signs`, by definition.
fn wildcard(signs: &[char], term: &[char]) -> bool {
    match (signs, term) {
        ([], []) => true,
        (['*', signs @ ..], _) => {
            wildcard(signs, term) || !term.is_empty() && wildcard_star(signs, &term[1..])
        }
        (['?', signs @ ..], [_, term @ ..]) => wildcard(signs, term),
        ([sign, signs @ ..], [character, term @ ..]) => sign == character && wildcard(signs, term),
        _ => false,
    }
}

fn wildcard_star(after: &[char], term: &[char]) -> bool {
    (0..=term.len()).any(|taken| wildcard(after, &term[taken..]))
}

/// Edits between two words, by definition.
fn edits(one: &[char], other: &[char]) -> usize {
    match (one, other) {
        ([], rest) | (rest, []) => rest.len(),
        ([one_before @ .., a], [other_before @ .., b]) => {
            let replaced = edits(one_before, other_before) + usize::from(a != b);
            let moved = edits(one_before, other).min(edits(one, other_before)) + 1;
            let mut least = replaced.min(moved);
            if let ([one_before @ .., c], [other_before @ .., d]) = (one_before, other_before)
                && (a, c) == (d, b)
            {
                least = least.min(edits(one_before, other_before) + 1);
            }
            least
        }
    }
}

fn characters(text: &str) -> Vec<char> {
    text.chars().collect()
}

fn patterns() -> impl Strategy<Value = Pattern> {
    prop_oneof![
        "[ab?*é]{1,6}".prop_filter_map("only signs", |typed| Pattern::of_wildcard(&typed)),
        ("[abcé]{1,5}", 1u8..3).prop_map(|(term, edits)| Pattern::near(&term, edits)),
        ("[abcé]{1,5}", 1u8..3)
            .prop_map(|(term, edits)| Pattern::near_of_one_initial(&term, edits)),
        ("[abcé]{1,5}", 0u8..3).prop_map(|(start, edits)| Pattern::near_start(&start, edits)),
        regexes().prop_filter_map("too large", |text| Regex::new(&text)
            .ok()
            .map(Pattern::Regex)),
    ]
}

/// Regular expressions of few letters, of every construction.
fn regexes() -> impl Strategy<Value = String> {
    let letters = prop_oneof![
        "[abcé]{1,2}",
        Just(".".to_owned()),
        Just("[^a]".to_owned()),
        Just(r"\w".to_owned()),
        Just("[b-é]".to_owned()),
    ];
    letters.prop_recursive(3, 8, 2, |inner| {
        prop_oneof![
            (inner.clone(), inner.clone()).prop_map(|(a, b)| format!("{a}{b}")),
            (inner.clone(), inner.clone()).prop_map(|(a, b)| format!("({a}|{b})")),
            inner.clone().prop_map(|a| format!("({a})*")),
            inner.clone().prop_map(|a| format!("({a})?")),
            inner.prop_map(|a| format!("(?:{a}){{1,2}}")),
        ]
    })
}

/// Returns whether `term` begins within `most` edits of `start`, by definition.
fn begins_near(start: &str, most: u8, term: &str) -> bool {
    let (start, term) = (characters(start), characters(term));
    let is_near = |end| edits(&start, &term[..end]) <= usize::from(most);
    start.first() == term.first() && (0..=term.len()).any(is_near)
}

fn expected(pattern: &Pattern, term: &str) -> bool {
    match pattern {
        Pattern::Prefix(prefix) => term.starts_with(prefix.as_str()),
        Pattern::Wildcard(signs) => wildcard(&characters(signs), &characters(term)),
        Pattern::Regex(regex) => {
            let whole = ::regex::Regex::new(&format!("^(?:{regex})$")).expect("a regex");
            whole.is_match(term)
        }
        Pattern::Near {
            term: near,
            edits: most,
            fixed,
        } => {
            let initial = |text: &str| {
                let characters = text.chars();
                characters.take((*fixed).into()).collect::<String>()
            };
            let count = edits(&characters(near), &characters(term));
            initial(near) == initial(term) && count <= usize::from(*most)
        }
        Pattern::NearStart { start, edits } => begins_near(start, *edits, term),
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(2_000))]

    #[test]
    fn the_matcher_follows_the_definitions(
        pattern in patterns(),
        terms in prop::collection::vec("[abcé]{0,6}", 1..12),
    ) {
        prop_assert!(pattern.is_valid());
        let mut matcher = PatternMatcher::new(&pattern);
        for term in &terms {
            if !term.starts_with(pattern.literal()) {
                prop_assert!(!pattern.matches(term) && !expected(&pattern, term));
                continue;
            }
            let verdict = matcher.judge(term);
            prop_assert_eq!(verdict == Verdict::Match, expected(&pattern, term), "{} {}", pattern, term);
            prop_assert_eq!(pattern.matches(term), expected(&pattern, term));
            if verdict == Verdict::Match {
                prop_assert!(term.starts_with(pattern.literal()));
            }
            if let Verdict::Dead(bytes) = verdict {
                let dead = &term[..bytes];
                for other in &terms {
                    prop_assert!(!(other.starts_with(dead) && expected(&pattern, other)), "{} {}", pattern, dead);
                }
                for more in ["a", "ba", "cab", "éa"] {
                    let longer = format!("{dead}{more}");
                    prop_assert!(!expected(&pattern, &longer), "{} {}", pattern, longer);
                }
            }
        }
    }
}

#[test]
fn forms() {
    let wildcard = |typed: &str| Pattern::of_wildcard(typed);
    assert_eq!(wildcard("ab**"), Some(Pattern::Prefix("ab".into())));
    assert_eq!(wildcard("a**b"), Some(Pattern::Wildcard("a*b".into())));
    assert_eq!(wildcard("*?"), None);
    assert_eq!(wildcard(""), None);
    assert_eq!(wildcard("w?rd*").unwrap().literal(), "w");
    assert_eq!(Pattern::near("word", 7).to_string(), "word~2");
    let long = "a".repeat(300);
    assert!(Pattern::near(&long, 1).is_valid());
    assert!(
        !Pattern::Near {
            term: long,
            edits: 1,
            fixed: 0,
        }
        .is_valid()
    );
    assert!(Pattern::near("recieve", 1).matches("receive"));
    assert!(
        !Pattern::near("ca", 2).matches("abc"),
        "a swapped pair is not edited again"
    );
}

#[test]
fn regular_expressions_are_read() {
    let made = |text: &str| Pattern::Regex(Regex::new(text).unwrap());
    assert_eq!(made("colou?r").literal(), "colo");
    assert_eq!(made("größe|grün").literal(), "gr");
    assert_eq!(made("word").literal(), "word");
    assert_eq!(made(".*").literal(), "");
    assert_eq!(made("a|ab").to_string(), "/a|ab/");
    assert!(made(r"\w+ing").matches("größing") && made(r"un\w*[td]").matches("undid"));
    // No alternative is preferred.
    assert!(made("a|ab").matches("ab") && !made("a|ab").matches("abc"));
    let refused = |text: &str| Regex::new(text).unwrap_err().to_string();
    assert!(
        refused("(a").contains("unclosed group"),
        "{}",
        refused("(a")
    );
    assert!(
        refused(r"a\b").contains("boundaries"),
        "{}",
        refused(r"a\b")
    );
    assert!(refused(&"a".repeat(200)).contains("longer"));
    for large in ["(.{1,60}x){30}", r"\w{100}", "(a|b)*a(a|b){30}"] {
        assert_eq!(Regex::new(large), Err(RegexError::TooLarge), "{large}");
    }
}

#[test]
fn letters_of_regular_expressions_are_folded() {
    let lower = |typed: &str| folded_regex(typed, |letter| letter.to_ascii_lowercase());
    for (typed, expected) in [
        ("Foo[A-Z]+", "foo[a-z]+"),
        (r"\W\D\S\B", r"\W\D\S\B"),
        (r"\p{Lu}X\pLY", r"\p{Lu}x\pLy"),
        ("(?U)A(?P<Name>B)", "(?U)a(?P<Name>b)"),
        (r"A\", r"a\"),
        ("(?", "(?"),
    ] {
        assert_eq!(lower(typed), expected);
    }
}
