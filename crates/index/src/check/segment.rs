//! Check of one segment: every list decoded, every text read, redundant data compared.

use super::bounded::Bounded;
use super::columns;
use super::pairs;
use super::report::CheckReport;
use super::written;
use crate::manifest::Manifest;
use crate::store::StorePart;
use crate::terms::TermKey;
use crate::{DocId, Field, IndexError, Layout, Segment, TermRecord, length};
use document::url_hash;
use fields::TextFields;
use fst::Streamer;
use std::collections::BTreeMap;
use text::Analyzer;
use xxhash_rust::xxh3::xxh3_64;

pub(super) fn check(
    segment: &Segment,
    manifest: &Manifest,
    store: Option<&StorePart>,
    report: &mut CheckReport,
) -> Result<(), IndexError> {
    let text_fields = manifest.fields.text_fields();
    check_terms(segment, &text_fields, manifest.analyzer, report)?;
    written::check(segment, &text_fields)?;
    if let Some(stored) = &segment.pairs {
        pairs::check(segment, stored)?;
    }
    if let Some(store) = store {
        columns::check(segment, &manifest.fields, store)?;
    }
    check_documents(segment, manifest.layout(), store)
}

/// Number of places of each document, by field.
struct WordsCounts {
    counts: [Vec<u32>; 2],
    /// Occurrences of terms in further fields, by number.
    further: BTreeMap<u8, Vec<u32>>,
}

impl WordsCounts {
    fn add(&mut self, field: Field, doc: u32, positions: &[u32]) {
        let counts = match field {
            Field::Further(number) => {
                let documents = self.counts[0].len();
                let counts = self.further.entry(number);
                let counts = counts.or_insert_with(|| vec![0; documents]);
                let count = &mut counts[doc as usize];
                *count = count.saturating_add(positions.len() as u32);
                return;
            }
            field => &mut self.counts[usize::from(field.number())],
        };
        // Terms may share a place, and places before values are empty: the last place has a term.
        if let Some(last) = positions.last() {
            let count = &mut counts[doc as usize];
            *count = last.saturating_add(1).max(*count);
        }
    }
}

fn check_terms(
    segment: &Segment,
    text_fields: &TextFields,
    analyzer: Analyzer,
    report: &mut CheckReport,
) -> Result<(), IndexError> {
    let documents = segment.documents_count() as usize;
    let mut words = WordsCounts {
        counts: Field::WITH_LENGTHS.map(|_| vec![0u32; documents]),
        further: BTreeMap::new(),
    };
    let (mut terms_count, mut postings_count) = (0, 0);
    let mut positions = Vec::new();
    let mut terms = segment.terms();
    while let Some((key, ordinal)) = terms.next() {
        let (field, term) = Field::split(key).unwrap_or((Field::Site, &[]));
        let is_known = match field {
            Field::Further(number) => text_fields.name_of(number).is_some(),
            _ => !key.is_empty(),
        };
        let (true, Ok(term)) = (is_known, std::str::from_utf8(term)) else {
            return Err(segment.damaged_at_terms(&format!("{key:?} is not a field and a term")));
        };
        let record = segment.record(ordinal)?;
        if segment.find(TermKey::of(key))? != Some(record) {
            return Err(segment.damaged_at_terms(&format!("term {term:?} is not found")));
        }
        let with_positions = field.has_positions(term.as_bytes());
        check_list(
            segment,
            (field, with_positions),
            &record,
            &mut words,
            &mut positions,
        )
        .map_err(|what| segment.damaged_at_terms(&format!("term {term:?}: {what}")))??;
        terms_count += 1;
        postings_count += u64::from(record.documents_count);
        report.positions += match with_positions {
            false => 0,
            true => record.occurrences_count,
        };
    }
    report.terms += terms_count;
    report.postings += postings_count;
    let meta = segment.meta();
    if (terms_count, postings_count) != (meta.terms_count, meta.postings_count) {
        let what = format!("{terms_count} terms and {postings_count} postings, not as counted");
        return Err(segment.damaged_at_terms(&what));
    }
    for (number, field) in Field::WITH_LENGTHS.into_iter().enumerate() {
        let lengths = segment.lengths(field);
        let same = |(&words, &byte): (&u32, &u8)| length::quantize(words) == byte;
        let counts = &words.counts[number];
        if !counts.iter().zip(lengths).all(same) {
            return Err(segment.damaged_at_terms(&format!("lengths of {field:?} differ")));
        }
        let sum: u64 = counts.iter().map(|&count| u64::from(count)).sum();
        if sum != meta.words_counts[number] {
            return Err(segment.damaged_at_terms(&format!("word count of {field:?} differs")));
        }
    }
    for (_, searched) in text_fields.further() {
        let analyzer = searched.analyzer.unwrap_or(analyzer);
        check_places(segment, searched.number, analyzer, &words)?;
    }
    Ok(())
}

/// Compares the number of words that a further field has in each document with the occurrences of its terms.
fn check_places(
    segment: &Segment,
    number: u8,
    analyzer: Analyzer,
    words: &WordsCounts,
) -> Result<(), IndexError> {
    let field = Field::Further(number);
    let mut places = vec![0; segment.documents_count() as usize];
    if let Some(record) = segment.term(field, "")? {
        let mut postings = segment.postings(&record)?;
        while postings.doc() != DocId::END {
            if let Some(places) = places.get_mut(postings.doc().0 as usize) {
                *places = postings.frequency();
            }
            postings.next();
        }
        postings.take_error().map_or(Ok(()), Err)?;
    }
    let none = Vec::new();
    let occurrences = words.further.get(&number).unwrap_or(&none);
    let fits = |doc: usize| {
        let (places, occurrences) = (places[doc], occurrences.get(doc).copied().unwrap_or(0));
        match analyzer.shares_places() {
            // Each place has a term at least.
            true => occurrences >= places && (places > 0 || occurrences == 0),
            false => occurrences == places,
        }
    };
    match (0..places.len()).all(fits) {
        true => Ok(()),
        false => Err(segment.damaged_at_terms(&format!("lengths of {field:?} differ"))),
    }
}

/// Walks a list. The outer error describes a defect of the list; the inner one is a failure to decode it.
fn check_list(
    segment: &Segment,
    (field, with_positions): (Field, bool),
    record: &TermRecord,
    words: &mut WordsCounts,
    positions: &mut Vec<u32>,
) -> Result<Result<(), IndexError>, String> {
    let mut postings = match segment.postings(record) {
        Ok(postings) => postings,
        Err(error) => return Ok(Err(error)),
    };
    let mut bounded = Bounded::new(postings.bounds());
    let (mut documents, mut occurrences, mut next_doc) = (0u32, 0u64, 0u32);
    while postings.doc() != DocId::END {
        let doc = postings.doc().0;
        if doc < next_doc {
            return Err(format!(
                "document {doc} follows {} (must increase)",
                next_doc - 1
            ));
        }
        next_doc = doc + 1;
        let frequency = postings.frequency();
        let length = segment
            .lengths(field)
            .get(doc as usize)
            .copied()
            .unwrap_or(0);
        if !bounded.holds(doc, frequency, length) {
            return Err(format!("document {doc} is above the bound of its block"));
        }
        if with_positions {
            postings.positions(positions);
            if positions.len() != frequency as usize || !positions.is_sorted_by(|a, b| a < b) {
                return Err(format!(
                    "positions in document {doc} do not increase or are missing"
                ));
            }
            words.add(field, doc, positions);
        }
        documents += 1;
        occurrences += u64::from(frequency);
        postings.next();
    }
    if let Some(error) = postings.take_error() {
        return Ok(Err(error));
    }
    if (documents, occurrences) != (record.documents_count, record.occurrences_count) {
        return Err(format!(
            "{documents} documents, {occurrences} occurrences, not as recorded"
        ));
    }
    Ok(Ok(()))
}

fn check_documents(
    segment: &Segment,
    layout: Layout,
    store: Option<&StorePart>,
) -> Result<(), IndexError> {
    let documents = segment.documents_count();
    let wrong =
        |doc: u32, what: &str| Err(segment.damaged_at_terms(&format!("document {doc}: {what}")));
    if store.is_some_and(|store| store.documents_count() != documents as usize) {
        return wrong(
            documents,
            "the document store has another number of documents",
        );
    }
    segment
        .check_sites()
        .map_err(|what| segment.damaged_at_terms(&what))?;
    for (rank, doc) in segment.docs_by_hash().into_iter().enumerate() {
        let hash = segment.url_hash(DocId(doc));
        let details = segment.details(DocId(doc))?;
        let elsewhere = !segment.chunks().contains(&layout.chunk_of(hash));
        if hash != url_hash(&details.url) || elsewhere {
            return wrong(doc, "its URL hashes otherwise");
        }
        if segment.site_hash(DocId(doc)) != xxh3_64(details.site.as_bytes()) {
            return wrong(doc, "its site hashes otherwise");
        }
        let Some(store) = store else {
            continue;
        };
        let (entry_hash, location) = store.entry(rank)?;
        let stored = store.read(location)?;
        let same = entry_hash == hash
            && (&stored.url, &stored.id, &stored.title)
                == (&details.url, &details.id, &details.title);
        if !same {
            return wrong(doc, "the document store has another document in its place");
        }
        segment.check_text_hash(DocId(doc), &stored.title, &stored.body)?;
    }
    Ok(())
}
