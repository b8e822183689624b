//! Languages that `standard` stems, at most one for each script of an index.

use frostem::{Algorithm, Stemmer};

/// Scripts of which a language may be stemmed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Script {
    Latin,
    Greek,
    Cyrillic,
    Armenian,
    Hebrew,
    Arabic,
    Devanagari,
    Tamil,
}

impl Script {
    pub(crate) const COUNT: usize = 8;

    /// Returns the script of a letter.
    pub(crate) fn of(letter: char) -> Option<Script> {
        Some(match letter {
            'a'..='z' | 'A'..='Z' | '\u{C0}'..='\u{24F}' | '\u{1E00}'..='\u{1EFF}' => Script::Latin,
            '\u{370}'..='\u{3FF}' | '\u{1F00}'..='\u{1FFF}' => Script::Greek,
            '\u{400}'..='\u{52F}' => Script::Cyrillic,
            '\u{530}'..='\u{58F}' => Script::Armenian,
            '\u{590}'..='\u{5FF}' => Script::Hebrew,
            '\u{600}'..='\u{6FF}' | '\u{750}'..='\u{77F}' => Script::Arabic,
            '\u{900}'..='\u{97F}' => Script::Devanagari,
            '\u{B80}'..='\u{BFF}' => Script::Tamil,
            _ => return None,
        })
    }
}

/// Language with a Snowball stemmer.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[repr(u8)]
#[allow(missing_docs)]
pub enum Language {
    Arabic,
    Armenian,
    Catalan,
    Czech,
    Danish,
    Dutch,
    English,
    Esperanto,
    Estonian,
    Finnish,
    French,
    German,
    Greek,
    Hindi,
    Hungarian,
    Indonesian,
    Italian,
    Lithuanian,
    Norwegian,
    Persian,
    Polish,
    Portuguese,
    Romanian,
    Russian,
    Spanish,
    Swedish,
    Tamil,
    Turkish,
    Ukrainian,
}

/// Code (ISO 639-1), name, script and algorithm of a language.
type Row = (Language, &'static str, &'static str, Script, Algorithm);

#[rustfmt::skip]
const ROWS: [Row; 29] = [
    (Language::Arabic, "ar", "Arabic", Script::Arabic, Algorithm::Arabic),
    (Language::Armenian, "hy", "Armenian", Script::Armenian, Algorithm::Armenian),
    (Language::Catalan, "ca", "Catalan", Script::Latin, Algorithm::Catalan),
    (Language::Czech, "cs", "Czech", Script::Latin, Algorithm::Czech),
    (Language::Danish, "da", "Danish", Script::Latin, Algorithm::Danish),
    (Language::Dutch, "nl", "Dutch", Script::Latin, Algorithm::Dutch),
    (Language::English, "en", "English", Script::Latin, Algorithm::English),
    (Language::Esperanto, "eo", "Esperanto", Script::Latin, Algorithm::Esperanto),
    (Language::Estonian, "et", "Estonian", Script::Latin, Algorithm::Estonian),
    (Language::Finnish, "fi", "Finnish", Script::Latin, Algorithm::Finnish),
    (Language::French, "fr", "French", Script::Latin, Algorithm::French),
    (Language::German, "de", "German", Script::Latin, Algorithm::German),
    (Language::Greek, "el", "Greek", Script::Greek, Algorithm::Greek),
    (Language::Hindi, "hi", "Hindi", Script::Devanagari, Algorithm::Hindi),
    (Language::Hungarian, "hu", "Hungarian", Script::Latin, Algorithm::Hungarian),
    (Language::Indonesian, "id", "Indonesian", Script::Latin, Algorithm::Indonesian),
    (Language::Italian, "it", "Italian", Script::Latin, Algorithm::Italian),
    (Language::Lithuanian, "lt", "Lithuanian", Script::Latin, Algorithm::Lithuanian),
    (Language::Norwegian, "no", "Norwegian", Script::Latin, Algorithm::Norwegian),
    (Language::Persian, "fa", "Persian", Script::Arabic, Algorithm::Persian),
    (Language::Polish, "pl", "Polish", Script::Latin, Algorithm::Polish),
    (Language::Portuguese, "pt", "Portuguese", Script::Latin, Algorithm::Portuguese),
    (Language::Romanian, "ro", "Romanian", Script::Latin, Algorithm::Romanian),
    (Language::Russian, "ru", "Russian", Script::Cyrillic, Algorithm::Russian),
    (Language::Spanish, "es", "Spanish", Script::Latin, Algorithm::Spanish),
    (Language::Swedish, "sv", "Swedish", Script::Latin, Algorithm::Swedish),
    (Language::Tamil, "ta", "Tamil", Script::Tamil, Algorithm::Tamil),
    (Language::Turkish, "tr", "Turkish", Script::Latin, Algorithm::Turkish),
    (Language::Ukrainian, "uk", "Ukrainian", Script::Cyrillic, Algorithm::Ukrainian),
];

impl Language {
    /// Returns all languages, by name.
    pub fn all() -> impl ExactSizeIterator<Item = Language> {
        ROWS.iter().map(|row| row.0)
    }

    /// Returns the language of a two-letter code of ISO 639-1.
    pub fn of_code(code: &str) -> Option<Language> {
        ROWS.iter().find(|row| row.1 == code).map(|row| row.0)
    }

    /// Returns the two-letter code of ISO 639-1.
    pub fn code(self) -> &'static str {
        self.row().1
    }

    /// Returns the English name.
    pub fn name(self) -> &'static str {
        self.row().2
    }

    pub(crate) fn script(self) -> Script {
        self.row().3
    }

    pub(crate) fn stemmer(self) -> Stemmer {
        Stemmer::new(self.row().4)
    }

    /// Returns whether stems begin with the first letter of their words, and those of ASCII words are ASCII. Some
    /// stemmers remove prefixes or restore accents.
    pub(crate) fn keeps_first_letter(self) -> bool {
        !matches!(
            self,
            Language::Arabic
                | Language::Dutch
                | Language::Esperanto
                | Language::Hindi
                | Language::Indonesian
                | Language::Turkish
        )
    }

    fn row(self) -> &'static Row {
        &ROWS[self as usize]
    }
}

/// Languages whose words are stemmed, one for each script at most.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Languages([Option<Language>; Script::COUNT]);

impl Languages {
    /// Returns the languages with a further one, which replaces the language of its script.
    #[must_use]
    pub fn with(mut self, language: Language) -> Languages {
        self.0[language.script() as usize] = Some(language);
        self
    }

    /// Returns the language of words in a script.
    #[inline]
    pub(crate) fn of(self, script: Script) -> Option<Language> {
        self.0[script as usize]
    }

    /// Returns the languages, by the order of their scripts.
    pub fn iter(&self) -> impl Iterator<Item = Language> + '_ {
        self.0.iter().copied().flatten()
    }

    /// Parses codes, each after a `-`, as in `-en-ru`.
    pub(crate) fn parse(codes: &str) -> Option<Languages> {
        let mut languages = Languages::default();
        let mut parts = codes.split('-');
        match parts.next() {
            Some("") => {}
            _ => return None,
        }
        for code in parts {
            let language = Language::of_code(code)?;
            if languages.of(language.script()).is_some() {
                return None;
            }
            languages = languages.with(language);
        }
        Some(languages)
    }
}

impl std::fmt::Display for Languages {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        self.iter()
            .try_for_each(|language| write!(formatter, "-{}", language.code()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(20_000))]

        #[test]
        fn first_letters_are_kept(word in "[a-z]{1,3}|(ge|be|ber|di|ke|ma|me|men|pe|per|se|ter|un|re|mal)?[a-z]{1,6}(s|es|en|er|e|ing|ed|ado|mente|ung|lar|ler|ami|ych)?") {
            for language in Language::all().filter(|language| language.keeps_first_letter()) {
                let stem = language.stemmer().stem(&word).into_owned();
                prop_assert!(stem.is_ascii(), "{} {} {}", language.name(), word, stem);
                prop_assert_eq!(stem.as_bytes().first(), word.as_bytes().first(), "{} {} {}", language.name(), word, stem);
            }
        }
    }

    #[test]
    fn each_language_has_its_row() {
        for (number, language) in Language::all().enumerate() {
            assert_eq!(language as usize, number);
            assert_eq!(Language::of_code(language.code()), Some(language));
        }
    }

    #[test]
    fn codes_are_parsed_back() {
        let languages = Languages::default()
            .with(Language::Russian)
            .with(Language::German)
            .with(Language::English);
        assert_eq!(languages.to_string(), "-en-ru");
        assert_eq!(Languages::parse("-en-ru"), Some(languages));
        assert_eq!(Languages::parse(""), Some(Languages::default()));
        for wrong in ["-xx", "en", "-en-de", "-", "-en-"] {
            assert!(Languages::parse(wrong).is_none(), "{wrong}");
        }
    }
}
