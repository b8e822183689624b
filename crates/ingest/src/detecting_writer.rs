//! Writer of an index that may be new: the first documents decide its languages.

use document::Document;
use index::{BuildOptions, Index, IndexError, Writer};
use text::{Analyzer, Detector, Language, Languages};
use vfs::SharedStorage;

/// Upper limits on the documents, and on the bytes of their text, that are looked at before a new index is written.
const DOCUMENTS_MAX: usize = 1000;
const TEXT_BYTES_MAX: usize = 8 << 20;
/// Body below which the title is part of the sample, in bytes.
const SHORT_BYTES: usize = 40;

/// Writer that opens when the analyzer is known.
pub enum DetectingWriter {
    /// Documents before the analyzer of a new index is known.
    Waiting(Waiting),
    /// The writer is open.
    Open {
        /// The writer.
        writer: Box<Writer>,
        /// Analyzer of a new index; `None` for an existing one.
        chosen: Option<Chosen>,
    },
}

/// Documents before the writer is open.
pub struct Waiting {
    storage: SharedStorage,
    options: BuildOptions,
    documents: Vec<Document>,
    text_bytes: usize,
}

/// Analyzer of a new index, with what decided it.
#[derive(Debug, Clone, PartialEq)]
pub struct Chosen {
    /// The analyzer.
    pub analyzer: Analyzer,
    /// Languages of the documents looked at, each with its share in percent.
    pub languages: Vec<(Language, u32)>,
    /// Documents looked at.
    pub documents: usize,
}

impl DetectingWriter {
    /// Opens the writer of an existing index, or of a new one whose analyzer `options` name. Otherwise waits for
    /// documents.
    pub fn new(
        storage: SharedStorage,
        options: BuildOptions,
    ) -> Result<DetectingWriter, IndexError> {
        let is_new = Index::newest_generation(&storage)?.is_none();
        if is_new && options.analyzer.is_none() {
            return Ok(DetectingWriter::Waiting(Waiting {
                storage,
                options,
                documents: Vec::new(),
                text_bytes: 0,
            }));
        }
        Ok(DetectingWriter::Open {
            writer: Box::new(Writer::open(storage, options)?),
            chosen: None,
        })
    }

    /// Adds a document.
    pub fn add(&mut self, document: Document) -> Result<(), IndexError> {
        match self {
            DetectingWriter::Open { writer, .. } => writer.add(document),
            DetectingWriter::Waiting(waiting) => {
                waiting.text_bytes += document.title.len() + document.body.len();
                waiting.documents.push(document);
                let is_enough = waiting.documents.len() >= DOCUMENTS_MAX
                    || waiting.text_bytes >= TEXT_BYTES_MAX;
                if is_enough {
                    let (writer, chosen) = waiting.open()?;
                    let chosen = Some(chosen);
                    *self = DetectingWriter::Open { writer, chosen };
                }
                Ok(())
            }
        }
    }

    /// Returns the writer, open, and the analyzer chosen for a new index.
    pub fn finish(self) -> Result<(Box<Writer>, Option<Chosen>), IndexError> {
        match self {
            DetectingWriter::Open { writer, chosen } => Ok((writer, chosen)),
            DetectingWriter::Waiting(mut waiting) => {
                let (writer, chosen) = waiting.open()?;
                Ok((writer, Some(chosen)))
            }
        }
    }
}

impl Waiting {
    /// Opens the writer in the languages of the documents so far, and adds them.
    fn open(&mut self) -> Result<(Box<Writer>, Chosen), IndexError> {
        let mut detector = Detector::default();
        for document in &self.documents {
            let is_short = document.body.len() < SHORT_BYTES;
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
            languages: detected,
            documents: documents.len(),
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
