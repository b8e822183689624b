//! Texts in another language than that of an analyzer.

use super::Analyzer;
use crate::language::Script;
use crate::standard::reliable_language;

impl Analyzer {
    /// Returns whether a text is reliably in another language than that by which words of its script are stemmed.
    pub fn finds_foreign(self, text: &str) -> bool {
        let own = text.chars().find_map(Script::of);
        let own = own.and_then(|script| self.language(script));
        own.is_some() && reliable_language(text).is_some_and(|language| language != own)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::language::{Language, Languages};

    const ENGLISH: &str = "All human beings are born free and equal in dignity and rights.";
    const GERMAN: &str = "Alle Menschen sind frei und gleich an Würde und Rechten geboren.";

    #[test]
    fn a_text_is_foreign_where_its_language_is_plain_and_another() {
        let of = |language| Analyzer::Standard(Languages::default().with(language));
        for (analyzer, is_foreign) in [
            (Analyzer::English, true),
            (of(Language::English), true),
            (of(Language::German), false),
            (of(Language::Russian), false),
            (Analyzer::Plain, false),
        ] {
            assert_eq!(analyzer.finds_foreign(GERMAN), is_foreign, "{analyzer:?}");
        }
        assert!(!Analyzer::English.finds_foreign(ENGLISH));
        assert!(!Analyzer::English.finds_foreign("") && !Analyzer::English.finds_foreign("Ok"));
    }
}
