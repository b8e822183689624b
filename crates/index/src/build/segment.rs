//! One segment under construction: all its documents and runs in; the segment and its texts out.

use super::documents::Documents;
use super::encode::{GONE, RunMap, TermEncoder};
use super::pipeline::encode_terms;
use super::run::{RunTerms, Runs, TermsMerge};
use crate::chunks::Chunks;
use crate::deletions::Deletions;
use crate::manifest::{FileEntry, SegmentEntry};
use crate::names::{documents_name, index_name};
use crate::postings::PostingsCodec;
use crate::segment::write::SegmentWriter;
use crate::store::StoreWriter;
use crate::{Field, IndexError, Order, Texts, written};
use std::collections::BTreeMap;
use text::Analyzer;
use vfs::SharedStorage;

/// State that all segments of a commit share.
#[derive(Clone)]
pub(crate) struct Target {
    pub(crate) storage: SharedStorage,
    pub(crate) index_id: u128,
    pub(crate) codec: PostingsCodec,
    pub(crate) analyzer: Analyzer,
    pub(crate) texts: Texts,
    pub(crate) run_documents_max: Option<u32>,
}

/// The documents of one segment, read and inverted.
pub(crate) struct NewSegment {
    pub(crate) chunks: Chunks,
    pub(crate) segment: u32,
    pub(crate) documents: Documents,
    /// The runs of every thread.
    pub(crate) runs: Vec<Runs>,
}

/// A finished segment.
pub(crate) struct BuiltSegment {
    pub(crate) entry: SegmentEntry,
    pub(crate) words_counts: [u64; 2],
    /// Words of further fields, by number.
    pub(crate) further_words: BTreeMap<u8, u64>,
    pub(crate) documents_added: u64,
    pub(crate) documents_replaced: u64,
}

/// New ids, in order of arrival, for the documents that are not gone.
struct NewIds {
    gone: Deletions,
    /// Documents gone before every 64th document, where any is gone.
    gone_before: Option<Vec<u32>>,
}

impl NewIds {
    fn new(gone: Deletions, documents: u32) -> NewIds {
        let gone_before = (gone.count() > 0).then(|| {
            let mut before = 0;
            (0..documents)
                .filter_map(|doc| {
                    let start = (doc % 64 == 0).then_some(before);
                    before += u32::from(gone.contains(doc));
                    start
                })
                .collect()
        });
        NewIds { gone, gone_before }
    }

    fn get(&self, doc: u32) -> Option<u32> {
        let Some(gone_before) = &self.gone_before else {
            return Some(doc);
        };
        if self.gone.contains(doc) {
            return None;
        }
        let start = doc / 64 * 64;
        let inside = (start..doc).filter(|&doc| self.gone.contains(doc)).count() as u32;
        Some(doc - gone_before[doc as usize / 64] - inside)
    }
}

impl NewSegment {
    /// Writes the segment, encoding on `threads` threads.
    pub(crate) fn finish(
        self,
        target: &Target,
        threads: usize,
    ) -> Result<BuiltSegment, IndexError> {
        let Target {
            storage,
            index_id,
            codec,
            ..
        } = target;
        let (chunks, segment) = (self.chunks, self.segment);
        let mut documents = self.documents.finish()?;
        let (gone, withdrawn) = documents.find_left_out();
        let replaced = gone.count() - withdrawn;
        let ids = NewIds::new(gone, documents.count);
        let name = index_name(segment);
        let mut out = SegmentWriter::create(storage, &name, *index_id, chunks, segment, *codec)?;
        if ids.gone.count() > 0 {
            out.expect_lost_terms();
        }
        let mut lengths = vec![[0; 2]; documents.count as usize];
        let mut further_words: BTreeMap<u8, u64> = BTreeMap::new();
        let mut maps = Vec::new();
        let mut terms: Vec<(RunTerms, usize)> = Vec::new();
        for runs in self.runs {
            let run_base = maps.len();
            for run in &runs.documents {
                let ordinals = run.ordinals.iter();
                let ordinals = ordinals.flat_map(|&(first, count)| first..first + count);
                let mut further = run.further.iter().peekable();
                for (doc, (ordinal, &words)) in (0..).zip(ordinals.zip(&run.lengths)) {
                    lengths[ordinal as usize] = words;
                    while let Some(one) = further.next_if(|one| one.doc == doc) {
                        if ids.get(ordinal).is_some() {
                            *further_words.entry(one.field).or_default() += u64::from(one.words);
                        }
                    }
                }
                maps.push(RunMap::new(run, |doc| ids.get(doc).unwrap_or(GONE)));
            }
            terms.extend(runs.terms.into_iter().map(|terms| (terms, run_base)));
        }
        let merge = TermsMerge::new(terms.iter().map(|(terms, run_base)| (terms, *run_base)));
        match threads {
            0 | 1 => write_terms(merge, &maps, &mut out)?,
            _ => encode_terms(merge, &maps, *codec, threads, &mut out)?,
        }
        drop((terms, maps));
        documents.write(&lengths, |doc| ids.get(doc), &mut out)?;
        let (seal, meta) = out.finish()?;
        let file = |name: String, seal| FileEntry {
            name,
            number: segment.into(),
            seal,
        };
        let store = documents.store.map(StoreWriter::finish).transpose()?;
        Ok(BuiltSegment {
            entry: SegmentEntry {
                segment,
                chunks,
                documents_count: meta.documents_count,
                index: file(name, seal),
                documents: store.map(|seal| file(documents_name(segment), seal)),
                pairs: None,
                columns: None,
                deletions: None,
                order: Order::Arrival,
            },
            words_counts: meta.words_counts,
            further_words,
            documents_added: (documents.count - withdrawn).into(),
            documents_replaced: replaced.into(),
        })
    }
}

/// Encodes and writes one term after another.
fn write_terms(
    mut merge: TermsMerge<'_>,
    maps: &[RunMap],
    out: &mut SegmentWriter,
) -> Result<(), IndexError> {
    let mut encoder = TermEncoder::new(maps);
    while let Some((key, pieces)) = merge.next() {
        if let Some((&written::KEY, entry)) = key.split_first() {
            out.push_written(entry)?;
            continue;
        }
        let Some((field, term)) = Field::split(key) else {
            continue;
        };
        encoder.encode((field, term), pieces, out.postings());
        out.end_term(field, term)?;
    }
    Ok(())
}
