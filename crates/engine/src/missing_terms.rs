//! Missing terms of hits, as the words that were typed.

use text::Analyzer;

/// Returns words for terms: the first word of the typed text that each is the term of, and the term where there is none. Each
/// word once.
pub(crate) fn as_typed(typed: &str, analyzer: Analyzer, terms: &[String]) -> Vec<String> {
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
    let mut shown: Vec<String> = Vec::with_capacity(words.len());
    for (word, term) in words.into_iter().zip(terms) {
        let word = word.unwrap_or_else(|| term.clone());
        // A word may have several terms.
        if !shown.contains(&word) {
            shown.push(word);
        }
    }
    shown
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lacking_words_are_shown_as_typed() {
        let terms = ["sail", "steer", "gone"].map(str::to_owned);
        let shown = as_typed("How do Sails and sailing STEER?", Analyzer::English, &terms);
        assert_eq!(shown, ["Sails", "STEER", "gone"]);
        let twice = ["sail", "steer", "sail"].map(str::to_owned);
        let shown = as_typed("sails steer", Analyzer::English, &twice);
        assert_eq!(shown, ["sails", "steer"]);
    }
}
