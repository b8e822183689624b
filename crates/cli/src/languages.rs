//! Choice of the analyzer of a new index: languages named, or detected in its first documents.

use console::figures::counted;
use ingest::Chosen;
use std::str::FromStr;
use text::{Analyzer, Language, Languages};

/// Analyzer asked for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(crate) enum AnalyzerChoice {
    /// Analyzer of the existing index; for a new one `standard2` in the languages of its documents.
    #[default]
    Detected,
    Exactly(Analyzer),
}

/// Languages asked for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum LanguagesChoice {
    Detected,
    Exactly(Languages),
}

impl FromStr for LanguagesChoice {
    type Err = String;

    fn from_str(text: &str) -> Result<LanguagesChoice, String> {
        let mut languages = Languages::default();
        match text {
            "auto" => return Ok(LanguagesChoice::Detected),
            "none" => return Ok(LanguagesChoice::Exactly(languages)),
            _ => {}
        }
        for code in text.split(',') {
            let language = Language::of_code(code.trim()).ok_or_else(|| {
                let known: Vec<&str> = Language::all().map(Language::code).collect();
                format!(
                    "`{code}` is no language with a stemmer: use auto, none, or codes of {}",
                    known.join(" ")
                )
            })?;
            let before = languages;
            languages = languages.with(language);
            if languages.iter().count() == before.iter().count() {
                return Err(format!(
                    "two languages of one script in `{text}`: name the one of most documents, or none"
                ));
            }
        }
        Ok(LanguagesChoice::Exactly(languages))
    }
}

/// Returns the newest edition of `standard` for that name, which is that of all its editions where no language is named.
/// A name with languages, as an index shows it, is that edition alone.
pub(crate) fn newest(analyzer: Analyzer) -> Analyzer {
    match analyzer {
        Analyzer::FirstStandard(languages) if languages == Languages::default() => {
            Analyzer::Standard(languages)
        }
        analyzer => analyzer,
    }
}

impl AnalyzerChoice {
    /// Combines the options `--analyzer` and `--languages`.
    pub(crate) fn of_options(
        analyzer: Option<Analyzer>,
        languages: Option<LanguagesChoice>,
    ) -> anyhow::Result<AnalyzerChoice> {
        let analyzer = analyzer.map(newest);
        let standard = Analyzer::Standard(Languages::default());
        Ok(match (analyzer, languages) {
            (Some(Analyzer::FirstStandard(_)), Some(LanguagesChoice::Exactly(languages))) => {
                AnalyzerChoice::Exactly(Analyzer::FirstStandard(languages))
            }
            (Some(Analyzer::Standard(_)) | None, Some(LanguagesChoice::Exactly(languages))) => {
                AnalyzerChoice::Exactly(Analyzer::Standard(languages))
            }
            (Some(other @ (Analyzer::Plain | Analyzer::English)), Some(_)) => anyhow::bail!(
                "--languages goes with --analyzer standard; `{other}` has its own rules"
            ),
            (Some(analyzer), _) if analyzer != standard => AnalyzerChoice::Exactly(analyzer),
            _ => AnalyzerChoice::Detected,
        })
    }
}

impl AnalyzerChoice {
    /// Returns the analyzer that is named, if one is.
    pub(crate) fn named(self) -> Option<Analyzer> {
        match self {
            AnalyzerChoice::Exactly(analyzer) => Some(analyzer),
            AnalyzerChoice::Detected => None,
        }
    }
}

/// Returns why the analyzer of a new index was chosen, as text.
pub(crate) fn reason(chosen: &Chosen) -> String {
    let share = |(language, share): &(Language, u32)| format!("{} {share} %", language.name());
    let shares: Vec<String> = chosen.languages.iter().map(share).collect();
    let looked_at = counted(chosen.documents as u64, "document");
    match shares.is_empty() {
        true => format!(
            "no language is that of most of {looked_at}, so words are not stemmed; --languages names one"
        ),
        false => format!(
            "{} of {looked_at}; --languages says otherwise",
            shares.join(", ")
        ),
    }
}
