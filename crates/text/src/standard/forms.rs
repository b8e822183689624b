//! Tests of words as written against the terms before stemming.

use super::tests::{all_rules, any_text};
use super::*;
use crate::language::Languages;
use proptest::prelude::*;
use std::collections::BTreeSet;

proptest! {
    #![proptest_config(ProptestConfig::with_cases(1000))]

    /// The terms before stemming are the words as written, and terms that are as written.
    #[test]
    fn words_as_written_are_the_terms_before_stemming(text in any_text(), other in any::<String>()) {
        for text in [&text, &other] {
            for rules in all_rules(text) {
                let mut terms = BTreeSet::new();
                let mut forms = BTreeSet::new();
                let each = |token: Token<'_>| {
                    terms.insert(token.term.to_owned());
                };
                each_token_and_form(rules, text, &mut String::new(), each, |form| {
                    assert!(text.get(form.start..form.end).is_some());
                    forms.insert((form.written.to_ascii_lowercase(), form.term.to_owned()));
                });
                let unstemmed = Rules { languages: Languages::default(), ..rules };
                let mut written = BTreeSet::new();
                each_token(unstemmed, text, &mut String::new(), |token| {
                    written.insert(token.term.to_owned());
                });
                for (form, term) in &forms {
                    prop_assert!(written.contains(form) && terms.contains(term) && form != term, "{:?}: {}", text, form);
                }
                for word in &written {
                    let is_form = forms.iter().any(|(form, _)| form == word);
                    prop_assert!(is_form || terms.contains(word), "{:?}: {}", text, word);
                }
            }
        }
    }
}
