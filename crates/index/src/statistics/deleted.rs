//! Terms and words of deleted documents, which the lists of segments still count.

use super::shared::{SharedTerms, SharedTermsWriter};
use super::steps::TermSteps;
use crate::deletions::Deletions;
use crate::manifest::FileEntry;
use crate::names::FileName;
use crate::sealed::{Identity, Kind, SealedWriter};
use crate::{DocId, Field, IndexError, Segment, StoredDocument};
use fields::TextFields;
use fst::Streamer;
use fst::map::OpBuilder;
use std::collections::BTreeMap;
use text::Analyzer;
use vfs::SharedStorage;

/// Counts of deleted documents, to be subtracted from those of segments.
#[derive(Debug, Default)]
pub(crate) struct Deleted {
    /// Deleted documents that hold a term, by field and term.
    pub(crate) terms: BTreeMap<Vec<u8>, u64>,
    pub(crate) words_counts: [u64; 2],
    /// Words of further fields, by number.
    pub(crate) further_words: BTreeMap<u8, u64>,
    pub(crate) documents_count: u64,
}

impl Deleted {
    /// Adds the words of a deleted document, from its stored text.
    pub(crate) fn add(
        &mut self,
        document: &StoredDocument,
        analyzer: Analyzer,
        text_fields: &TextFields,
    ) {
        let mut terms = std::collections::BTreeSet::new();
        let mut buffer = String::new();
        let mut words = |field: Field, text: &str, analyzer: Analyzer, count: &mut u64| {
            let places_count = analyzer.each_token(text, &mut buffer, |token| {
                terms.insert(key(field, token.term));
            });
            *count += u64::from(places_count);
            places_count > 0
        };
        let [text_words, title_words] = &mut self.words_counts;
        words(Field::Text, &document.title, analyzer, text_words);
        words(Field::Text, &document.body, analyzer, text_words);
        words(Field::Title, &document.title, analyzer, title_words);
        let mut further_words: BTreeMap<u8, u64> = BTreeMap::new();
        text_fields.each_text(&document.fields, |one| {
            if one.is_in_text() && words(Field::Text, one.text, analyzer, text_words) {
                *text_words += u64::from(one.places_before());
            }
            let Some(own) = one.own else {
                return;
            };
            let (field, mut count) = (Field::Further(own.number), 0);
            if words(
                field,
                one.text,
                own.analyzer.unwrap_or(analyzer),
                &mut count,
            ) {
                *further_words.entry(own.number).or_default() += count;
            }
        });
        for (number, count) in further_words {
            terms.insert(key(Field::Further(number), ""));
            *self.further_words.entry(number).or_default() += count;
        }
        terms.insert(key(Field::Site, &document::site_of(&document.url)));
        for term in terms {
            *self.terms.entry(term).or_default() += 1;
        }
    }

    /// Adds the words of the documents `gone` of a segment, from its lists. This reads every list and takes long, but
    /// needs no texts. The result is that of `add`: the last place of a field has a term, so the last position of any term
    /// tells how many places there are.
    pub(crate) fn add_from_lists(
        &mut self,
        segment: &Segment,
        gone: &Deletions,
    ) -> Result<(), IndexError> {
        let mut terms = segment.terms();
        let mut places_counts = vec![[0; Field::WITH_LENGTHS.len()]; gone.docs().count()];
        let mut positions = Vec::new();
        while let Some((key, ordinal)) = terms.next() {
            let mut postings = segment.postings(&segment.record(ordinal)?)?;
            let field = key.first().map_or(usize::MAX, |&field| field.into());
            let further = match Field::split(key) {
                Some((Field::Further(number), [])) => Some(number),
                _ => None,
            };
            let mut documents = 0;
            for (doc, places_counts) in gone.docs().map(DocId).zip(&mut places_counts) {
                if postings.seek(doc) != doc {
                    continue;
                }
                documents += 1;
                if let Some(number) = further {
                    *self.further_words.entry(number).or_default() +=
                        u64::from(postings.frequency());
                }
                // Sites have no positions.
                if let Some(count) = places_counts.get_mut(field) {
                    postings.positions(&mut positions);
                    *count = positions.last().map_or(0, |last| last + 1).max(*count);
                }
            }
            postings.take_error().map_or(Ok(()), Err)?;
            if documents > 0 {
                *self.terms.entry(key.to_vec()).or_default() += documents;
            }
        }
        for counts in places_counts {
            for (sum, count) in self.words_counts.iter_mut().zip(counts) {
                *sum += u64::from(count);
            }
        }
        Ok(())
    }
}

impl Deleted {
    /// Adds the counts of a file of deleted terms.
    pub(super) fn add_file(
        &mut self,
        file: &SharedTerms,
        steps: &mut TermSteps<'_>,
    ) -> Result<(), IndexError> {
        let mut terms = file.stream();
        while let Some((key, ordinal)) = terms.next() {
            steps.term()?;
            let (count, _) = file.at(ordinal)?;
            let sum = self.terms.entry(key.to_vec()).or_default();
            *sum = sum.saturating_add(count);
        }
        Ok(())
    }

    /// Adds the counts of several files.
    pub(super) fn add_files<'a>(
        &mut self,
        mut files: impl Iterator<Item = &'a SharedTerms>,
        steps: &mut TermSteps<'_>,
    ) -> Result<(), IndexError> {
        files.try_for_each(|file| self.add_file(file, steps))
    }

    /// Adds the difference between a base's counts and those of the lists of its segments.
    pub(super) fn add_base(
        &mut self,
        base: &SharedTerms,
        steps: &mut TermSteps<'_>,
    ) -> Result<(), IndexError> {
        let mut terms = base.stream();
        while let Some((key, ordinal)) = terms.next() {
            steps.term()?;
            let (live, places) = base.at(ordinal)?;
            let counts = places.iter().map(|place| place.record.documents_count);
            let all: u64 = counts.map(u64::from).sum();
            if all > live {
                *self.terms.entry(key.to_vec()).or_default() += all - live;
            }
        }
        Ok(())
    }

    /// Subtracts the documents that the lists of segments `removed` count, and those of `merged`, made of them, no longer.
    pub(super) fn drop_merged(
        &mut self,
        removed: &[&Segment],
        merged: &[&Segment],
        steps: &mut TermSteps<'_>,
    ) -> Result<(), IndexError> {
        let both: Vec<&Segment> = removed.iter().chain(merged).copied().collect();
        let union: OpBuilder = both.iter().map(|segment| segment.terms()).collect();
        let mut terms = union.union();
        while let Some((term, found)) = terms.next() {
            steps.term()?;
            let (mut before, mut after) = (0, 0);
            for found in found {
                let count = both[found.index].record(found.value)?.documents_count;
                match found.index < removed.len() {
                    true => before += u64::from(count),
                    false => after += u64::from(count),
                }
            }
            let dropped = before.saturating_sub(after);
            if dropped > 0
                && let Some(count) = self.terms.get_mut(term)
            {
                *count = count.saturating_sub(dropped);
                if *count == 0 {
                    self.terms.remove(term);
                }
            }
        }
        Ok(())
    }

    /// Writes the terms as the statistics file `file`.
    pub(super) fn write(
        &self,
        storage: &SharedStorage,
        index_id: u128,
        file: FileName,
    ) -> Result<FileEntry, IndexError> {
        let mut terms = SharedTermsWriter::new(storage, &file.0);
        for (key, &count) in &self.terms {
            terms.push(key, count, &[])?;
        }
        finish_file(storage, index_id, file, terms)
    }
}

/// Writes a statistics file.
pub(super) fn finish_file(
    storage: &SharedStorage,
    index_id: u128,
    (name, number): FileName,
    terms: SharedTermsWriter,
) -> Result<FileEntry, IndexError> {
    let identity = Identity {
        kind: Kind::Statistics,
        index_id,
        number,
    };
    let mut out = SealedWriter::create(storage, &name, identity)?;
    terms.finish(&mut out)?;
    Ok(FileEntry {
        name,
        number,
        seal: out.finish()?,
    })
}

fn key(field: Field, term: &str) -> Vec<u8> {
    let mut key = vec![field.number()];
    key.extend_from_slice(term.as_bytes());
    key
}
