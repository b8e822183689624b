//! Open index: its creation, its state, its documents.

use crate::document::{Document, FieldKind};
use crate::error::{Error, Result};
use engine::Engine;
use fields::Declarations;
use index::WriteLock;
use std::fmt;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use text::{Analyzer, Language, Languages};
use vfs::{RealStorage, SharedStorage, StorageError};

/// Open index, which any number of threads may search at once. Searches see the last commit of this process; those of
/// others after a [reload](Index::reload). Clones share what is open.
///
/// ```
/// use shorttail::{Document, Index};
/// # let directory = tempfile::tempdir()?;
/// # let path = directory.path();
/// let index = Index::create(path)?;
/// let mut writer = index.writer()?;
/// writer.add(Document::new("https://a.example/").body("a short tail"))?;
/// writer.commit()?;
///
/// let again = Index::open(path)?;
/// assert_eq!(again.documents_count(), 1);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone)]
pub struct Index {
    pub(crate) engine: Arc<Engine>,
    pub(crate) storage: SharedStorage,
}

impl Index {
    /// Creates an empty index with default settings in a directory, which it makes where it is missing.
    ///
    /// # Errors
    /// A directory that has an index, or that cannot be written.
    pub fn create(directory: impl AsRef<Path>) -> Result<Index> {
        Index::builder().create(directory)
    }

    /// Opens the newest commit of the index in a directory.
    ///
    /// # Errors
    /// No index in the directory, or one that cannot be read.
    pub fn open(directory: impl AsRef<Path>) -> Result<Index> {
        let storage = RealStorage::open(directory.as_ref()).map_err(|error| match error {
            StorageError::NotFound { path } => Error::NoIndex { path },
            other => Error::of_storage(other),
        })?;
        Index::open_in(Arc::new(storage))
    }

    /// Opens the index in a directory, or creates an empty one with default settings where there is none.
    ///
    /// # Errors
    /// Those of [`Index::create`] and [`Index::open`].
    pub fn open_or_create(directory: impl AsRef<Path>) -> Result<Index> {
        match Index::open(&directory) {
            Err(Error::NoIndex { .. }) => Index::create(directory),
            opened => opened,
        }
    }

    /// Returns the settings of a new index.
    pub fn builder() -> IndexBuilder {
        IndexBuilder::default()
    }

    fn open_in(storage: SharedStorage) -> Result<Index> {
        let engine = Engine::open_in(storage.clone()).map_err(Error::of_engine)?;
        Ok(Index {
            engine: Arc::new(engine),
            storage,
        })
    }

    /// Opens the newest commit, which another process may have made, and returns its number. Searches under way finish
    /// with theirs.
    ///
    /// # Errors
    /// An index that cannot be read.
    pub fn reload(&self) -> Result<u64> {
        self.engine.reload().map_err(Error::of_engine)
    }

    /// Returns the number of the open commit.
    pub fn generation(&self) -> u64 {
        self.engine.index().generation()
    }

    /// Returns the number of documents.
    pub fn documents_count(&self) -> u64 {
        self.engine.index().statistics().documents_count()
    }

    /// Returns the directory.
    pub fn path(&self) -> PathBuf {
        self.storage.location()
    }

    /// Returns the further fields of documents with their types, in the order of names. Types of fields that nobody
    /// declared are those of the first documents.
    pub fn fields(&self) -> Vec<(String, FieldKind)> {
        let index = self.engine.index();
        let fields = index.fields().iter();
        fields
            .map(|(name, kind)| (name.to_owned(), FieldKind::of_type(kind)))
            .collect()
    }

    /// Returns a document as stored; `None` where there is none at `url`.
    ///
    /// # Errors
    /// An index that cannot be read.
    pub fn document(&self, url: &str) -> Result<Option<Document>> {
        let stored = self.engine.document(url).map_err(Error::of_engine)?;
        Ok(stored.map(Document::from_stored))
    }
}

impl fmt::Debug for Index {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Index")
            .field("path", &self.path())
            .field("generation", &self.generation())
            .field("documents_count", &self.documents_count())
            .finish()
    }
}

/// Settings of a new index, which stay as they are.
///
/// ```
/// use shorttail::{FieldKind, Index};
/// # let directory = tempfile::tempdir()?;
/// let index = Index::builder()
///     .language("en")
///     .field("price", FieldKind::Float)
///     .create(directory.path())?;
/// assert_eq!(index.fields(), [("price".to_owned(), FieldKind::Float)]);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug, Clone, Default)]
pub struct IndexBuilder {
    languages: Vec<String>,
    fields: Vec<(String, FieldKind)>,
}

impl IndexBuilder {
    /// Adds a language whose words are reduced to their stems, by its code of two letters: `en`, `de`, `ru`. One for each
    /// script; without any, words are searched in the forms that they have.
    #[must_use]
    pub fn language(mut self, code: impl Into<String>) -> IndexBuilder {
        self.languages.push(code.into());
        self
    }

    /// Declares a further field. The types of others are those of the first documents that have them.
    #[must_use]
    pub fn field(mut self, name: impl Into<String>, kind: FieldKind) -> IndexBuilder {
        self.fields.push((name.into(), kind));
        self
    }

    /// Creates an empty index in a directory, which it makes where it is missing.
    ///
    /// # Errors
    /// Unknown languages, two of one script, fields that cannot be declared, a directory that has an index, or that
    /// cannot be written.
    pub fn create(self, directory: impl AsRef<Path>) -> Result<Index> {
        let analyzer = Analyzer::Standard(self.languages()?);
        let storage =
            RealStorage::create_directory(directory.as_ref()).map_err(Error::of_storage)?;
        let storage: SharedStorage = Arc::new(storage);
        let lock = WriteLock::take(&storage).map_err(Error::of_index)?;
        let newest = index::Index::newest_generation(&storage).map_err(Error::of_index)?;
        if newest.is_some() {
            return Err(Error::AlreadyExists {
                path: storage.location(),
            });
        }
        let declared = self.fields.into_iter();
        let declared = declared.map(|(name, kind)| (name, kind.to_type()));
        let options = index::BuildOptions {
            analyzer: Some(analyzer),
            fields: declared.collect::<Declarations>(),
            ..index::BuildOptions::default()
        };
        index::Writer::open_locked(storage.clone(), lock, options)
            .and_then(index::Writer::commit)
            .map_err(Error::of_index)?;
        Index::open_in(storage)
    }

    fn languages(&self) -> Result<Languages> {
        let mut languages = Languages::default();
        for code in &self.languages {
            let language = Language::of_code(code).ok_or_else(|| {
                Error::refused(
                    "language",
                    format!("{code:?} is the code of no known language"),
                )
            })?;
            languages = languages.with(language);
        }
        match languages.iter().count() == self.languages.len() {
            true => Ok(languages),
            false => Err(Error::refused(
                "language",
                "two languages of one script: choose one of them",
            )),
        }
    }
}
