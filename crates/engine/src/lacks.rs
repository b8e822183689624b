//! Words that hits lack, as they were typed.

use text::Analyzer;

/// Returns words for terms: the first word of the typed text that each is the term of, and the term where there is none.
pub fn as_typed(typed: &str, analyzer: Analyzer, terms: &[String]) -> Vec<String> {
    let mut words: Vec<Option<String>> = vec![None; terms.len()];
    if !terms.is_empty() {
        analyzer.each_token(typed, &mut String::new(), |token| {
            for (word, term) in words.iter_mut().zip(terms) {
                if word.is_none() && term == token.term {
                    *word = Some(typed[token.start..token.end].to_owned());
                }
            }
        });
    }
    let words = words.into_iter().zip(terms);
    words
        .map(|(word, term)| word.unwrap_or_else(|| term.clone()))
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lacking_words_are_shown_as_typed() {
        let terms = ["sail", "steer", "gone"].map(str::to_owned);
        let shown = as_typed("How do Sails and sailing STEER?", Analyzer::English, &terms);
        assert_eq!(shown, ["Sails", "STEER", "gone"]);
    }
}
