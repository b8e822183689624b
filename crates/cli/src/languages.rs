//! Choice of the analyzer of a new index: languages named, or detected in its first documents.

use crate::figures::counted;
use corpus::Document;
use index::{BuildOptions, Index, IndexError, Writer};
use std::str::FromStr;
use text::{Analyzer, Detector, Language, Languages};
use vfs::SharedStorage;

/// Upper limits on the documents, and on the bytes of their text, that are looked at before a new index is written.
const DOCUMENTS_MAX: usize = 1000;
const TEXT_BYTES_MAX: usize = 8 << 20;

/// Analyzer asked for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(crate) enum AnalyzerChoice {
    /// That of the existing index; for a new one `standard` in the languages of its documents.
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

impl AnalyzerChoice {
    /// Combines the options `--analyzer` and `--languages`.
    pub(crate) fn of_options(
        analyzer: Option<Analyzer>,
        languages: Option<LanguagesChoice>,
    ) -> anyhow::Result<AnalyzerChoice> {
        let standard = Analyzer::Standard(Languages::default());
        Ok(match (analyzer, languages) {
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

/// Writer of an index that may not be open yet: it waits for the documents that tell their languages.
pub(crate) enum Target {
    Waiting(Waiting),
    Open {
        writer: Box<Writer>,
        chosen: Option<Chosen>,
    },
}

/// Documents before the writer is open.
pub(crate) struct Waiting {
    storage: SharedStorage,
    options: BuildOptions,
    documents: Vec<Document>,
    text_bytes: usize,
}

impl Target {
    /// Opens the writer of an existing index, or where the analyzer is named.
    pub(crate) fn new(
        storage: SharedStorage,
        mut options: BuildOptions,
        choice: AnalyzerChoice,
    ) -> Result<Target, IndexError> {
        let is_new = Index::newest_generation(&storage)?.is_none();
        match choice {
            AnalyzerChoice::Detected if is_new => Ok(Target::Waiting(Waiting {
                storage,
                options,
                documents: Vec::new(),
                text_bytes: 0,
            })),
            choice => {
                options.analyzer = match choice {
                    AnalyzerChoice::Exactly(analyzer) => Some(analyzer),
                    AnalyzerChoice::Detected => None,
                };
                let writer = Box::new(Writer::open(storage, options)?);
                Ok(Target::Open {
                    writer,
                    chosen: None,
                })
            }
        }
    }

    /// Adds a document.
    pub(crate) fn add(&mut self, document: Document) -> Result<(), IndexError> {
        match self {
            Target::Open { writer, .. } => writer.add(document),
            Target::Waiting(waiting) => {
                waiting.text_bytes += document.title.len() + document.body.len();
                waiting.documents.push(document);
                let is_enough = waiting.documents.len() >= DOCUMENTS_MAX
                    || waiting.text_bytes >= TEXT_BYTES_MAX;
                if is_enough {
                    let (writer, chosen) = waiting.open()?;
                    let chosen = Some(chosen);
                    *self = Target::Open { writer, chosen };
                }
                Ok(())
            }
        }
    }

    /// Returns the writer, open, and what was chosen for a new index.
    pub(crate) fn finish(self) -> Result<(Box<Writer>, Option<Chosen>), IndexError> {
        match self {
            Target::Open { writer, chosen } => Ok((writer, chosen)),
            Target::Waiting(mut waiting) => {
                let (writer, chosen) = waiting.open()?;
                Ok((writer, Some(chosen)))
            }
        }
    }
}

impl Waiting {
    /// Opens the writer in the languages of the documents so far, and tells them.
    fn open(&mut self) -> Result<(Box<Writer>, Chosen), IndexError> {
        let mut detector = Detector::default();
        for document in &self.documents {
            let is_short = document.body.len() < 40;
            let sample = if is_short {
                format!("{} {}", document.title, document.body)
            } else {
                String::new()
            };
            detector.add(if is_short { &sample } else { &document.body });
        }
        let detected = detector.languages();
        let languages: Languages = detected.iter().map(|(language, _)| *language).collect();
        let analyzer = Analyzer::Standard(languages);
        let documents = std::mem::take(&mut self.documents);
        let chosen = Chosen {
            analyzer,
            reason: reason(&detected, documents.len()),
        };
        let mut options = self.options.clone();
        options.analyzer = Some(analyzer);
        let mut writer = Box::new(Writer::open(self.storage.clone(), options)?);
        for document in documents {
            writer.add(document)?;
        }
        Ok((writer, chosen))
    }
}

/// Analyzer of a new index, with the reason.
#[derive(Debug)]
pub(crate) struct Chosen {
    pub(crate) analyzer: Analyzer,
    pub(crate) reason: String,
}

fn reason(detected: &[(Language, u32)], looked_at: usize) -> String {
    let share = |(language, share): &(Language, u32)| format!("{} {share} %", language.name());
    let shares: Vec<String> = detected.iter().map(share).collect();
    let looked_at = counted(looked_at as u64, "document");
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
