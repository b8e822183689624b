//! Values of documents: columns of fields, and sites by name.

use super::Segment;
use super::site_names::SiteNames;
use crate::{CodeRange, Column, DocId, Field, IndexError};
use fields::ValueLaw;
use fst::Streamer;
use std::sync::Arc;
use xxhash_rust::xxh3::xxh3_64;

impl Segment {
    /// Returns the column of a field; `None` where no document of the segment has a value.
    pub fn column(&self, name: &str) -> Result<Option<Column<'_>>, IndexError> {
        match &self.columns {
            Some(columns) => columns.column(name, self.documents_count()),
            None => Ok(None),
        }
    }

    /// Notes that a search is to be led by the values of a column, and returns the documents that have one in a range,
    /// deleted ones included, where they are listed: few documents, asked for often.
    pub fn documents_with(
        &self,
        field: &str,
        column: &Column<'_>,
        codes: CodeRange,
    ) -> Option<Arc<[u32]>> {
        let columns = self.columns.as_ref()?;
        let filter = (field, codes);
        columns
            .lists()
            .find(filter, column, columns.file(), self.documents_count())
    }

    /// Returns the documents that have a value in a range, deleted ones included, where they are listed already; unlike
    /// [`Segment::documents_with`], notes nothing.
    pub fn listed_documents(&self, field: &str, codes: CodeRange) -> Option<Arc<[u32]>> {
        self.columns.as_ref()?.lists().get(field, codes)
    }

    /// Returns the names and sizes of the columns, in the order of names.
    pub(crate) fn column_bytes(&self) -> Result<Vec<(&str, u64)>, IndexError> {
        match &self.columns {
            Some(columns) => columns.bytes(),
            None => Ok(Vec::new()),
        }
    }

    /// Returns the number of values of a field that do not fit its type, deleted documents included, and the law of its
    /// values.
    pub(crate) fn misfits(&self, field: &str) -> Result<(u64, ValueLaw), IndexError> {
        match &self.columns {
            Some(columns) => Ok(columns.misfits(field)?.unwrap_or_default()),
            None => Ok(Default::default()),
        }
    }

    /// Returns the names of its sites, which are read once.
    pub fn site_names(&self) -> Result<&SiteNames, IndexError> {
        let files = [&**self.file()];
        (self.core.site_names).get_or_derive(files, || self.read_site_names())
    }

    fn read_site_names(&self) -> Result<SiteNames, IndexError> {
        let hashes = &self.core.hashes;
        let mut names = Vec::new();
        let mut codes = vec![0; hashes.sites_count()];
        let mut terms = self.terms_of(Field::Site);
        while let Some((key, _)) = terms.next() {
            let name = std::str::from_utf8(key.get(1..).unwrap_or_default());
            let name = name.map_err(|_| self.damaged_at_terms("a site is no text"))?;
            names.push(name.into());
            let number = hashes.number_of_site(xxh3_64(name.as_bytes()));
            match number.and_then(|number| codes.get_mut(number)) {
                Some(code) => *code = names.len() as u32,
                None => return Err(self.damaged_at_terms("a site has no number")),
            }
        }
        Ok(SiteNames::new(names, codes))
    }

    /// Returns the code of the site of a document, by the names of its sites; 0 past the last document.
    #[inline]
    pub fn site_code(&self, names: &SiteNames, doc: DocId) -> u64 {
        let number = self.core.hashes.site_number(doc);
        number.map_or(0, |number| names.code_of_number(number))
    }
}
