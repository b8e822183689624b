//! Occurrences of a term in live documents, and the words of a field.
//!
//! Lists of segments count the occurrences in deleted documents too, and no file says how many those are: only a model of
//! the collection needs them. So they are read from the lists, of the terms that deleted documents hold.

use super::{Statistics, TermStatistics};
use crate::deletions::Deletions;
use crate::{DocId, Field, IndexError, Segment, TermRecord};

impl Statistics {
    /// Returns the number of words in a field of all live documents; 0 for the site.
    pub fn words_count(&self, field: Field) -> u64 {
        match field {
            Field::Text => self.words_counts[0],
            Field::Title => self.words_counts[1],
            Field::Site => 0,
            Field::Further(number) => self.further_words.get(&number).copied().unwrap_or(0),
        }
    }

    /// Returns the collection frequency of a term that [`Self::term`] found: its occurrences in live documents. Where deleted
    /// documents hold the term, it seeks each of them in the lists of its segment.
    pub fn occurrences(&self, found: &TermStatistics) -> Result<u64, IndexError> {
        let (mut occurrences, mut documents) = (0u64, 0u64);
        for place in &found.places {
            occurrences += place.record.occurrences_count;
            documents += u64::from(place.record.documents_count);
        }
        // Deleted documents with the term that are not found yet.
        let mut left = documents.saturating_sub(found.document_frequency);
        for place in &found.places {
            if left == 0 {
                break;
            }
            let segment = &self.segments[place.segment as usize];
            let Some(gone) = segment.deletions.as_deref() else {
                continue;
            };
            // The count enters the weight of the term in every part of the index, so no part answers without it.
            segment.file().ensure_trusted()?;
            let (gone_documents, gone_occurrences) = in_deleted(segment, gone, &place.record)?;
            left = left.saturating_sub(gone_documents);
            occurrences = occurrences.saturating_sub(gone_occurrences);
        }
        Ok(occurrences)
    }
}

/// Counts the deleted documents of a list, and the occurrences in them.
fn in_deleted(
    segment: &Segment,
    gone: &Deletions,
    record: &TermRecord,
) -> Result<(u64, u64), IndexError> {
    let mut postings = segment.postings(record)?;
    let (mut documents, mut occurrences) = (0, 0);
    if record.documents_count < gone.count() {
        while postings.doc() != DocId::END {
            if gone.contains(postings.doc().0) {
                documents += 1;
                occurrences += u64::from(postings.frequency());
            }
            postings.next();
        }
    } else {
        for doc in gone.docs().map(DocId) {
            if postings.seek(doc) == doc {
                documents += 1;
                occurrences += u64::from(postings.frequency());
            }
        }
    }
    postings.take_error().map_or(Ok(()), Err)?;
    Ok((documents, occurrences))
}
