//! Dictionaries find every term by hash, by ordinal and in order, and no other.

use super::write::{ListPlace, TermsWriter};
use super::*;
use crate::sealed::{Identity, Kind, SealedWriter};
use crate::section::open_sealed;
use fst::Streamer;
use proptest::prelude::*;
use std::collections::BTreeMap;
use std::sync::Arc;
use vfs::{MemoryStorage, SharedStorage};

const IDENTITY: Identity = Identity {
    kind: Kind::Segment,
    index_id: 7,
    number: 1,
};

type Lists = BTreeMap<Vec<u8>, (u32, u32, u32, u32)>;

/// Writes a dictionary; returns its sections, and its records in order.
fn written(lists: &Lists) -> ([Vec<u8>; 3], Vec<TermRecord>) {
    let storage: SharedStorage = Arc::new(MemoryStorage::new());
    let mut writer = TermsWriter::new(&storage, "tmp-test");
    let mut records = Vec::new();
    let (mut postings_start, mut positions_start) = (0, 0);
    for (key, &(documents, more, postings_bytes, positions_bytes)) in lists {
        let record = TermRecord {
            documents_count: documents,
            occurrences_count: u64::from(documents) + u64::from(more),
            postings_start,
            postings_bytes: postings_bytes.into(),
            positions_start,
            positions_bytes: positions_bytes.into(),
        };
        let list = ListPlace {
            documents_count: record.documents_count,
            occurrences_count: record.occurrences_count,
            postings_start,
            postings_bytes: record.postings_bytes,
            positions_start,
            positions_bytes: record.positions_bytes,
        };
        assert!(writer.push(key, &list).unwrap());
        postings_start += record.postings_bytes;
        positions_start += record.positions_bytes;
        records.push(record);
    }
    let mut out = SealedWriter::create(&storage, "test", IDENTITY).unwrap();
    let places = writer.finish(&mut out).unwrap();
    let seal = out.finish().unwrap();
    let expected = Some((IDENTITY, seal));
    let (payload, _) = open_sealed(&storage, "test", Kind::Segment, expected).unwrap();
    let part = |(start, bytes): (u64, u64)| {
        payload.whole().unwrap()[start as usize..][..bytes as usize].to_vec()
    };
    (places.map(part), records)
}

fn open(sections: &[Vec<u8>; 3], count: u64) -> Option<Terms> {
    let storage: SharedStorage = Arc::new(MemoryStorage::new());
    let mut out = SealedWriter::create(&storage, "test", IDENTITY).unwrap();
    sections.iter().for_each(|bytes| out.write(bytes).unwrap());
    let expected = Some((IDENTITY, out.finish().unwrap()));
    let (payload, _) = open_sealed(&storage, "test", Kind::Segment, expected).unwrap();
    let mut start = 0;
    let [blocks, starts, table] = [0, 1, 2].map(|number: usize| {
        let bytes = sections[number].len();
        start += bytes;
        payload.part(start - bytes, bytes).unwrap()
    });
    Terms::open(blocks, starts, table, count)
}

fn keys() -> impl Strategy<Value = Vec<u8>> {
    let letters = prop::sample::select(b"\0ab\xff".to_vec());
    prop_oneof![
        20 => prop::collection::vec(letters, 1..9),
        1 => (prop::collection::vec(any::<u8>(), 1..4), 0usize..200).prop_map(|(end, times)| {
            let mut key = vec![b'a'; times];
            key.extend(end);
            key
        }),
    ]
}

fn lists() -> impl Strategy<Value = Lists> {
    let list = (1u32..1 << 30, 0u32..3, 0u32..2000, 0u32..2000);
    prop::collection::btree_map(keys(), list, 0..400)
}

fn streamed(mut stream: TermStream<'_>) -> Vec<(Vec<u8>, u64)> {
    let mut found = Vec::new();
    while let Some((key, ordinal)) = stream.next() {
        found.push((key.to_vec(), ordinal));
    }
    found
}

proptest! {
    #[test]
    fn terms_are_found_in_every_way(
        lists in lists(),
        others in prop::collection::vec(keys(), 0..50),
        from in keys(),
        to in keys(),
    ) {
        let (sections, records) = written(&lists);
        let terms = open(&sections, lists.len() as u64).unwrap();
        for ((key, ordinal), record) in lists.keys().zip(0..).zip(&records) {
            prop_assert_eq!(terms.find(TermKey::of(key)), Ok(Some(*record)));
            prop_assert_eq!(terms.record(ordinal), Ok(*record));
        }
        for other in others.iter().filter(|other| !lists.contains_key(*other)) {
            prop_assert_eq!(terms.find(TermKey::of(other)), Ok(None));
        }
        prop_assert!(terms.record(records.len() as u64).is_err());
        prop_assert!(terms.record(u64::MAX).is_err());
        let all: Vec<(Vec<u8>, u64)> = lists.keys().cloned().zip(0..).collect();
        prop_assert_eq!(streamed(terms.stream()), all.clone());
        let some = |to: Option<&[u8]>| -> Vec<_> {
            let inside = |(key, _): &&(Vec<u8>, u64)| {
                *key >= from && to.is_none_or(|to| key.as_slice() < to)
            };
            all.iter().filter(inside).cloned().collect()
        };
        prop_assert_eq!(streamed(terms.range(&from, None)), some(None));
        prop_assert_eq!(streamed(terms.range(&from, Some(&to))), some(Some(&to)));
    }

    #[test]
    fn damage_never_panics(
        lists in lists(),
        flips in prop::collection::vec((0usize..3, any::<prop::sample::Index>(), 1u8..=255), 1..5),
    ) {
        let (mut sections, _) = written(&lists);
        for (section, at, flip) in flips {
            if !sections[section].is_empty() {
                let at = at.index(sections[section].len());
                sections[section][at] ^= flip;
            }
        }
        let count = lists.len() as u64;
        let terms = open(&sections, count).unwrap();
        for key in lists.keys() {
            let _ = terms.find(TermKey::of(key));
        }
        prop_assert!(streamed(terms.stream()).len() <= lists.len() + 1);
        for ordinal in 0..count {
            let _ = terms.record(ordinal);
        }
        prop_assert!(open(&sections, count + 8).is_none());
    }
}

proptest! {
    /// The slow twin compares byte by byte.
    #[test]
    fn places_have_the_check(checks in any::<[u8; 16]>(), check in any::<u8>(), same in any::<[bool; 16]>()) {
        let mut checks = checks;
        for (found, _) in checks.iter_mut().zip(same).filter(|(_, same)| *same) {
            *found = check;
        }
        let mut expected = 0;
        for (place, &found) in checks.iter().enumerate() {
            expected |= u32::from(found == check) << place;
        }
        prop_assert_eq!(hash::places_of(&checks, check), expected);
    }
}
