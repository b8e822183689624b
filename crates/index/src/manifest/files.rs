//! Search, reading and commit of manifests in a directory.

use super::contents::Manifest;
use super::plausible::implausible;
use crate::IndexError;
use crate::names::{generation_of, manifest_name};
use crate::sealed::{Identity, Kind, SealedWriter};
use crate::section::open_sealed;
use crate::sources::Unchanged;
use vfs::SharedStorage;

/// Returns the generations that have a manifest, newest first.
pub(crate) fn generations(storage: &SharedStorage) -> Result<Vec<u64>, IndexError> {
    let names = storage.list()?;
    let mut found: Vec<u64> = names
        .iter()
        .filter_map(|name| generation_of(name))
        .collect();
    found.sort_unstable_by(|a, b| b.cmp(a));
    Ok(found)
}

/// Reads the manifest of one generation.
pub(crate) fn read(storage: &SharedStorage, generation: u64) -> Result<Manifest, IndexError> {
    let name = manifest_name(generation);
    let (payload, identity) = open_sealed(storage, &name, Kind::Manifest, None)?;
    let damaged = |what: String| payload.damaged(0, &what);
    let manifest: Manifest = serde_json::from_slice(payload.whole().unwrap_or_default())
        .map_err(|error| damaged(format!("manifest unreadable: {error}")))?;
    let same = identity.index_id == manifest.index_id()
        && identity.number == generation
        && manifest.generation == generation;
    if !same {
        return Err(damaged(
            "this is the manifest of another index or generation".into(),
        ));
    }
    if let Some(what) = implausible(&manifest) {
        return Err(damaged(what));
    }
    Ok(manifest)
}

/// Reads the newest generation, which is the index; `None` without one. An interrupted commit leaves no manifest under
/// a final name, so the newest manifest is always complete, and damage in it is an error.
pub(crate) fn read_newest(storage: &SharedStorage) -> Result<Option<Manifest>, IndexError> {
    match newest(storage)? {
        Some(generation) => read(storage, generation).map(Some),
        None => Ok(None),
    }
}

/// Returns the newest generation. Fails where an entry that is not a file has the name of a newer manifest: no commit
/// leaves one, and opening the generation before it would hide it.
pub(crate) fn newest(storage: &SharedStorage) -> Result<Option<u64>, IndexError> {
    let newest = generations(storage)?.first().copied();
    let others = storage.list_others()?.into_iter();
    let odd = others.filter_map(|other| Some((generation_of(&other.name)?, other)));
    match odd.max_by_key(|&(generation, _)| generation) {
        Some((generation, other)) if newest.is_none_or(|newest| newest < generation) => {
            Err(IndexError::Damaged {
                path: storage.location().join(other.name),
                offset: 0,
                what: format!(
                    "this is {}, and should be the manifest of the newest generation",
                    other.kind
                ),
            })
        }
        _ => Ok(newest),
    }
}

/// Makes `manifest` the newest generation. Every file that it names is durable before the manifest gets its final name,
/// and that name is durable before this returns. Takes the proof that the files rest on verified bytes.
pub(crate) fn commit(
    storage: &SharedStorage,
    manifest: &Manifest,
    _unchanged: &Unchanged,
) -> Result<(), IndexError> {
    storage.sync_directory()?;
    let name = manifest_name(manifest.generation);
    let temporary = format!("tmp-{name}");
    let identity = Identity {
        kind: Kind::Manifest,
        index_id: manifest.index_id(),
        number: manifest.generation,
    };
    let mut out = SealedWriter::create(storage, &temporary, identity)?;
    out.write(&serde_json::to_vec_pretty(manifest).unwrap_or_default())?;
    out.finish()?;
    storage.rename(&temporary, &name)?;
    storage.sync_directory()?;
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::super::contents::{FileEntry, SegmentEntry};
    use super::*;
    use crate::postings::PostingsCodec;
    use crate::sealed::Seal;
    use crate::{Layout, Order, Pairs, Texts};
    use std::ops::RangeInclusive;
    use std::sync::Arc;
    use text::Analyzer;
    use vfs::MemoryStorage;

    /// Commits and reads an index of eight chunks whose only segment has `chunks`.
    fn read_back(partitions: u32, chunks: RangeInclusive<u32>) -> Result<Manifest, IndexError> {
        let storage: SharedStorage = Arc::new(MemoryStorage::new());
        let layout = Layout {
            chunks: 8,
            partitions,
        };
        let analyzer = Analyzer::default();
        let (codec, pairs) = (PostingsCodec::default(), Pairs::default());
        let mut manifest = Manifest::new(1, layout, analyzer, codec, Texts::None, pairs);
        let file = FileEntry {
            name: "segment-00000001.index".to_owned(),
            number: 1,
            seal: Seal {
                bytes: 100,
                checksum: 0,
            },
        };
        manifest.next_segment = 2;
        manifest.documents_count = 1;
        manifest.segments.push(SegmentEntry {
            segment: 1,
            chunks: chunks.into(),
            documents_count: 1,
            index: file,
            documents: None,
            pairs: None,
            columns: None,
            deletions: None,
            order: Order::Arrival,
        });
        commit(&storage, &manifest, &Unchanged::read_back())?;
        read(&storage, 0)
    }

    #[test]
    fn the_chunks_of_a_segment_are_a_partition() {
        for (partitions, chunks) in [(8, 7..=7), (3, 2..=4), (1, 0..=7)] {
            let manifest = read_back(partitions, chunks.clone()).unwrap();
            assert_eq!(manifest.segments[0].chunks.range(), chunks);
            assert_eq!(manifest.layout().partitions, partitions);
        }
        for (partitions, chunks) in [(8, 8..=8), (8, 0..=1), (3, 2..=3), (1, 0..=0), (1, 9..=12)] {
            let refused = read_back(partitions, chunks.clone())
                .unwrap_err()
                .to_string();
            assert!(
                refused.contains("no partition of the index"),
                "{chunks:?}: {refused}"
            );
        }
        for partitions in [0, 9, u32::MAX] {
            let refused = read_back(partitions, 0..=0).unwrap_err().to_string();
            assert!(refused.contains("can be laid out for"), "{refused}");
        }
    }
}
