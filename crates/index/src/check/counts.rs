//! Comparison of the manifest's counts and the statistics with the segments.

use crate::manifest::{Manifest, StatisticsEntry};
use crate::names::manifest_name;
use crate::statistics::all_deleted;
use crate::statistics::{Deleted, SharedTerms, Statistics, each_shared_term, each_term};
use crate::terms::TermKey;
use crate::{Field, IndexError, Segment};
use fst::Streamer;
use std::sync::Arc;
use vfs::SharedStorage;

/// Compares the manifest's counts and the statistics file with the segments.
pub(super) fn check_counts(
    storage: &SharedStorage,
    manifest: &Manifest,
    segments: Vec<Arc<Segment>>,
) -> Result<(), IndexError> {
    let wrong = |name: &str, what: String| IndexError::Damaged {
        path: storage.location().join(name),
        offset: 0,
        what,
    };
    let name = manifest_name(manifest.generation);
    let live: u64 = segments
        .iter()
        .map(|s| u64::from(s.live_documents_count()))
        .sum();
    if live != manifest.documents_count {
        let what = format!("says {} documents, found {live}", manifest.documents_count);
        return Err(wrong(&name, what));
    }
    let deleted = all_deleted(storage, manifest, &segments)?;
    for field in 0..2 {
        let all: u64 = segments.iter().map(|s| s.meta().words_counts[field]).sum();
        let said = manifest.words_counts[field];
        if all.checked_sub(deleted.words_counts[field]) != Some(said) {
            return Err(wrong(
                &name,
                format!("says {said} words of field {field}, not so found"),
            ));
        }
    }
    check_further_words(manifest, &segments, &deleted)?
        .map_or(Ok(()), |what| Err(wrong(&name, what)))?;
    let statistics = open_statistics(storage, manifest, segments.clone())?;
    match &manifest.statistics {
        Some(StatisticsEntry::Whole(file)) => {
            check_whole(&statistics, &segments, &deleted, |what| {
                wrong(&file.name, what)
            })
        }
        Some(StatisticsEntry::Layers(_)) => {
            check_layers(&statistics, &segments, &deleted, |what| wrong(&name, what))
        }
        None => Ok(()),
    }
}

/// Compares the words of further fields with those of the segments; returns the differences.
fn check_further_words(
    manifest: &Manifest,
    segments: &[Arc<Segment>],
    deleted: &Deleted,
) -> Result<Option<String>, IndexError> {
    for (name, searched) in manifest.fields.text_fields().further() {
        let number = searched.number;
        let mut all = 0;
        for segment in segments {
            let places = segment.term(Field::Further(number), "")?;
            all += places.map_or(0, |places| places.occurrences_count);
        }
        let said = manifest.further_words.get(&number).copied().unwrap_or(0);
        let gone = deleted.further_words.get(&number).copied().unwrap_or(0);
        if all.checked_sub(gone) != Some(said) {
            return Ok(Some(format!(
                "says {said} words of field {name}, not so found"
            )));
        }
    }
    Ok(None)
}

/// Opens the statistics and verifies their files as a whole.
pub(super) fn open_statistics(
    storage: &SharedStorage,
    manifest: &Manifest,
    segments: Vec<Arc<Segment>>,
) -> Result<Statistics, IndexError> {
    let statistics = Statistics::open(storage, manifest, segments, None)?;
    statistics
        .files()
        .try_for_each(|file| file.verify_whole())?;
    Ok(statistics)
}

/// Compares a file that counts all segments with them, term by term.
fn check_whole(
    statistics: &Statistics,
    segments: &[Arc<Segment>],
    deleted: &Deleted,
    wrong: impl Fn(String) -> IndexError,
) -> Result<(), IndexError> {
    let mut terms = statistics.base().map(|shared| (shared, shared.stream()));
    each_shared_term(segments, deleted, |term, count, places| {
        if let Some((shared, terms)) = &mut terms
            && let Some((found, ordinal)) = terms.next()
            && found == term
        {
            let (found_count, found_places) = shared.at(ordinal)?;
            if found_count == count && *found_places == *places {
                return Ok(());
            }
        }
        Err(wrong(differs(term, count)))
    })
}

/// Compares the sum of a base and its changes with all segments, looking every term up in the files of statistics.
fn check_layers(
    statistics: &Statistics,
    segments: &[Arc<Segment>],
    deleted: &Deleted,
    wrong: impl Fn(String) -> IndexError,
) -> Result<(), IndexError> {
    let since = statistics.deleted_since()?;
    let mut in_base = 0;
    each_term(segments, deleted, |term, count, places| {
        if Field::split(term).is_none() {
            return Err(wrong(differs(term, count)));
        }
        in_base += u64::from(
            statistics
                .base()
                .map_or(Ok(None), |base| base.find(TermKey::of(term)))?
                .is_some(),
        );
        let gone = since.terms.get(term).copied().unwrap_or(0);
        let found = statistics.term_in(TermKey::of(term), places, gone)?;
        let is_same = match &found {
            Some(found) => found.document_frequency == count && *found.places == *places,
            None => count == 0,
        };
        is_same
            .then_some(())
            .ok_or_else(|| wrong(differs(term, count)))
    })?;
    let rows = statistics.base().map_or(0, SharedTerms::terms_count);
    if in_base != rows {
        let what = format!(
            "the base of the statistics has {rows} terms, of which {in_base} stand in segments"
        );
        return Err(wrong(what));
    }
    for file in statistics.deleted() {
        let mut terms = file.stream();
        while let Some((term, ordinal)) = terms.next() {
            let (gone, _) = file.at(ordinal)?;
            if deleted
                .terms
                .get(term)
                .is_none_or(|&all| gone == 0 || gone > all)
            {
                return Err(wrong(differs(term, gone)));
            }
        }
    }
    Ok(())
}

fn differs(term: &[u8], count: u64) -> String {
    let term = String::from_utf8_lossy(term.get(1..).unwrap_or(&[]));
    format!("term {term:?} has {count} documents, not so said here")
}
