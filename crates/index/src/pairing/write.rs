//! Writer of the pairs of a segment that was just written.

use super::choose::{Chosen, choose};
use super::count_in_each;
use crate::manifest::{FileEntry, Manifest};
use crate::names::pairs_name;
use crate::postings::PostingsEncoder;
use crate::sealed::{Identity, Kind, SealedWriter};
use crate::segment::write::ListCounts;
use crate::{Field, IndexError, Pairs, Segment, TermRecord};
use codec::{CodecError, vint};
use std::ops::Range;
use vfs::SharedStorage;

/// Documents for which one more thread is used.
const DOCUMENTS_A_THREAD: u32 = 8192;

/// Writes the pairs of every segment with an id of at least `first` that has none yet and needs them, and adds their
/// files to `manifest`. `segments` are those of the manifest, in its order.
pub(crate) fn write_missing(
    storage: &SharedStorage,
    manifest: &mut Manifest,
    segments: &[Segment],
    first: u32,
    threads: usize,
) -> Result<(), IndexError> {
    let (wanted, index_id) = (manifest.pairs, manifest.index_id());
    for (entry, segment) in manifest.segments.iter_mut().zip(segments) {
        if entry.segment < first || entry.pairs.is_some() || wanted == Pairs::None {
            continue;
        }
        let chosen = choose(segment, wanted, entry.index.seal.bytes)?;
        if chosen.pairs.is_empty() {
            continue;
        }
        let name = pairs_name(entry.segment);
        let identity = Identity {
            kind: Kind::Pairs,
            index_id,
            number: entry.segment.into(),
        };
        let counted = count_all(segment, &chosen, threads)?;
        // Damaged lengths would be read as zeros.
        segment.lengths(Field::Text);
        segment.file().ensure_trusted()?;
        let mut out = SealedWriter::create(storage, &name, identity)?;
        write(&mut out, segment, &chosen, &counted)?;
        entry.pairs = Some(FileEntry {
            name,
            number: identity.number,
            seal: out.finish()?,
        });
    }
    Ok(())
}

/// Lists of some pairs in a range of documents, as gaps and frequencies.
pub(super) struct Counted {
    pub(super) lists: Vec<GapList>,
}

#[derive(Default, Clone)]
pub(super) struct GapList {
    bytes: Vec<u8>,
    pub(super) next_doc: u32,
}

impl GapList {
    pub(super) fn push(&mut self, doc: u32, frequency: u32) {
        vint::write_u32(&mut self.bytes, doc - self.next_doc);
        vint::write_u32(&mut self.bytes, frequency);
        self.next_doc = doc + 1;
    }

    fn each(&self, mut each: impl FnMut(u32, u32)) -> Result<(), CodecError> {
        let (mut at, mut next_doc) = (0, 0);
        while at < self.bytes.len() {
            let doc = next_doc + vint::read_u32(&self.bytes, &mut at)?;
            each(doc, vint::read_u32(&self.bytes, &mut at)?);
            next_doc = doc + 1;
        }
        Ok(())
    }
}

/// Finds all chosen pairs, on several threads that each take a range of documents.
pub(super) fn count_all(
    segment: &Segment,
    chosen: &Chosen,
    threads: usize,
) -> Result<Vec<Counted>, IndexError> {
    let documents = segment.documents_count();
    let pieces = (threads.max(1) as u32).min(documents / DOCUMENTS_A_THREAD + 1);
    let bound = |piece: u32| (u64::from(documents) * u64::from(piece) / u64::from(pieces)) as u32;
    let ranges: Vec<_> = (0..pieces)
        .map(|piece| bound(piece)..bound(piece + 1))
        .collect();
    let words: Vec<TermRecord> = chosen.words.iter().map(|&(_, record)| record).collect();
    let count = |range: Range<u32>| {
        let mut lists = vec![GapList::default(); chosen.pairs.len()];
        count_in_each(segment, &words, &chosen.pairs, range, |doc, pair, count| {
            lists[pair].push(doc, count);
            Ok(())
        })?;
        Ok(Counted { lists })
    };
    let Some((first, others)) = ranges.split_first() else {
        return Ok(Vec::new());
    };
    std::thread::scope(|scope| {
        let others: Vec<_> = others
            .iter()
            .map(|range| scope.spawn(|| count(range.clone())))
            .collect();
        let mut counted = vec![count(first.clone())];
        counted.extend(others.into_iter().map(|thread| {
            let stopped = |_| Err(crate::error::stopped());
            thread.join().unwrap_or_else(stopped)
        }));
        counted.into_iter().collect()
    })
}

/// Writes the payload.
pub(super) fn write(
    out: &mut SealedWriter,
    segment: &Segment,
    chosen: &Chosen,
    counted: &[Counted],
) -> Result<(), IndexError> {
    let lengths = segment.lengths(Field::Text);
    let mut encoder = PostingsEncoder::new(segment.meta().codec);
    let mut table = Vec::new();
    vint::write_u64(&mut table, chosen.words.len() as u64);
    for (word, _) in &chosen.words {
        vint::write_u64(&mut table, word.len() as u64);
        table.extend_from_slice(word.as_bytes());
    }
    vint::write_u64(&mut table, chosen.pairs.len() as u64);
    for (number, &(first, second)) in chosen.pairs.iter().enumerate() {
        for piece in counted {
            let pushed = piece.lists[number].each(|doc, frequency| {
                let length = lengths.get(doc as usize).copied().unwrap_or(0);
                encoder.push_document(doc, frequency, length);
            });
            pushed.map_err(|_| crate::error::stopped())?;
        }
        let counts = encoder.finish(|list| {
            for piece in list.postings {
                out.write(piece)?;
            }
            Ok::<_, IndexError>(ListCounts::of(&list))
        })?;
        table.extend([first, second]);
        counts.write(&mut table);
    }
    let table_start = out.position();
    out.write(&table)?;
    out.write(&table_start.to_le_bytes())
}
