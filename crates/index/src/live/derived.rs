//! Value derived from files, kept only where the files had their verified bytes until it was derived.
//!
//! What is kept outlives the answer that needed it, and so the examination of that answer: a table that was read from
//! changed bytes would give wrong answers after the bytes were put back and verified again. So the files are examined
//! after the value was derived and before it is kept. A value that is not kept is derived anew at its next use.

use super::file::{LiveFile, Reading};
use crate::IndexError;
use std::sync::OnceLock;

/// Value derived from files at its first use.
#[derive(Debug)]
pub(crate) struct Derived<T>(OnceLock<T>);

impl<T> Default for Derived<T> {
    fn default() -> Derived<T> {
        Derived(OnceLock::new())
    }
}

impl<T> Derived<T> {
    /// Returns the value where it is kept.
    #[inline]
    pub(crate) fn get(&self) -> Option<&T> {
        self.0.get()
    }

    /// Returns the value; derives it where it is not kept. `files` are all files that `derive` reads.
    ///
    /// # Errors
    /// An error of `derive`, and files that changed meanwhile.
    #[inline]
    pub(crate) fn get_or_derive<'f>(
        &self,
        files: impl IntoIterator<Item = &'f LiveFile>,
        derive: impl FnOnce() -> Result<T, IndexError>,
    ) -> Result<&T, IndexError> {
        match self.0.get() {
            Some(kept) => Ok(kept),
            None => self.derive(files.into_iter().collect(), derive),
        }
    }

    #[cold]
    fn derive(
        &self,
        files: Vec<&LiveFile>,
        derive: impl FnOnce() -> Result<T, IndexError>,
    ) -> Result<&T, IndexError> {
        let begun: Vec<Reading> = files.iter().map(|file| file.reading()).collect();
        let derived = derive()?;
        let mut read = files.iter().zip(begun);
        read.try_for_each(|(file, begun)| file.confirm(begun))?;
        Ok(self.0.get_or_init(|| derived))
    }
}
