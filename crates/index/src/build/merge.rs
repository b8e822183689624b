//! Walk over the documents of some segments by the hashes of their URLs.

#[cfg(test)]
use crate::deletions::Deletions;
use crate::{DocId, IndexError, Segment};
use std::cmp::Reverse;
use std::collections::BinaryHeap;

/// Calls `each(hash, segment, doc)` for all documents, in the order of (hash, segment, doc).
pub(crate) fn each_by_hash<S: AsRef<Segment>>(
    segments: &[S],
    mut each: impl FnMut(u64, usize, u32) -> Result<(), IndexError>,
) -> Result<(), IndexError> {
    let orders: Vec<Vec<u32>> = segments
        .iter()
        .map(|segment| segment.as_ref().docs_by_hash())
        .collect();
    let at = |number: usize, rank: usize| {
        let doc = *orders[number].get(rank)?;
        let hash = segments[number].as_ref().url_hash(DocId(doc));
        Some(Reverse((hash, number, doc, rank)))
    };
    let mut heap: BinaryHeap<_> = (0..segments.len())
        .filter_map(|number| at(number, 0))
        .collect();
    while let Some(Reverse((hash, number, doc, rank))) = heap.pop() {
        each(hash, number, doc)?;
        heap.extend(at(number, rank + 1));
    }
    Ok(())
}

/// Returns the documents of each segment that a later one with the same URL replaces. It reads all hashes, and is the
/// twin of the look-ups of a commit.
#[cfg(test)]
pub(crate) fn find_replaced<S: AsRef<Segment>>(
    segments: &[S],
) -> Result<Vec<Deletions>, IndexError> {
    let count = |segment: &S| Deletions::none(segment.as_ref().documents_count());
    let mut gone: Vec<_> = segments.iter().map(count).collect();
    let url_of = |number: usize, doc: u32| -> Result<String, IndexError> {
        Ok(segments[number].as_ref().details(DocId(doc))?.url)
    };
    let mut same_hash: Vec<(usize, u32)> = Vec::new();
    let mut hash_before = 0;
    let mut settle = |same_hash: &[(usize, u32)]| -> Result<(), IndexError> {
        for (at, &(number, doc)) in same_hash.iter().enumerate() {
            for &(later, later_doc) in &same_hash[at + 1..] {
                if url_of(number, doc)? == url_of(later, later_doc)? {
                    gone[number].insert(doc);
                }
            }
        }
        Ok(())
    };
    each_by_hash(segments, |hash, number, doc| {
        if hash != hash_before {
            settle(&same_hash)?;
            same_hash.clear();
            hash_before = hash;
        }
        if !segments[number].as_ref().is_deleted(DocId(doc)) {
            same_hash.push((number, doc));
        }
        Ok(())
    })?;
    settle(&same_hash)?;
    // Damaged hashes are read as zeros.
    let mut files = segments.iter().map(|segment| segment.as_ref().file());
    files.try_for_each(|file| file.ensure_trusted())?;
    Ok(gone)
}
