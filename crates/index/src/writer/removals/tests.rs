//! Agreement of the search by look-ups with the merge of all hashes.

use super::*;
use crate::build::merge::find_replaced;
use crate::manifest;
use crate::opener::{open_segment, open_store};
use crate::{BuildOptions, Texts, Writer};
use document::Document;
use proptest::prelude::*;
use std::sync::Arc;
use vfs::{MemoryStorage, SharedStorage};

fn commit(storage: &SharedStorage, texts: Texts, documents: &[u16]) {
    let options = BuildOptions {
        chunks: Some(1),
        texts: Some(texts),
        ..BuildOptions::default()
    };
    let mut writer = Writer::open(storage.clone(), options).unwrap();
    for number in documents {
        let document = Document {
            url: format!("http://a.test/{number}"),
            body: "a few words".into(),
            ..Document::default()
        };
        writer.add(document).unwrap();
    }
    writer.commit().unwrap();
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(24))]

    #[test]
    fn they_are_those_of_the_merge(
        older in prop::collection::vec(0u16..400, 1..300),
        newer in prop::collection::vec(0u16..400, 1..6),
        has_texts in any::<bool>(),
    ) {
        // Both in directories of their own, so that neither commit deletes anything.
        let texts = if has_texts { Texts::Stored } else { Texts::None };
        let opened = [&older, &newer].map(|documents| {
            let storage: SharedStorage = Arc::new(MemoryStorage::new());
            commit(&storage, texts, documents);
            let manifest = manifest::read_newest(&storage).unwrap().unwrap();
            let entry = &manifest.segments[0];
            let part = open_store(&storage, &manifest, entry).unwrap();
            (open_segment(&storage, &manifest, entry).unwrap(), part)
        });
        let [(older, texts), (newer, _)] = opened;
        let merged = find_replaced(&[&older, &newer].map(Reference)).unwrap();
        let new = [newer];
        // Both have the id 1, so the slice distinguishes the new segment.
        let removals = Removals::of(&new, 1, &[]).unwrap();
        let removals = Removals { first_new: 2, ..removals };
        let found = removals.from(&older, texts.as_deref()).unwrap();
        let docs = |gone: Option<&Deletions>| -> Vec<u32> {
            gone.map(|gone| gone.docs().collect()).unwrap_or_default()
        };
        prop_assert_eq!(docs(found.as_ref().map(|removed| &removed.documents)), docs(Some(&merged[0])));
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(24))]

    #[test]
    fn named_urls_are_found(
        older in prop::collection::vec(0u16..400, 1..300),
        named in prop::collection::vec(0u16..400, 0..6),
        has_texts in any::<bool>(),
    ) {
        let texts = if has_texts { Texts::Stored } else { Texts::None };
        let storage: SharedStorage = Arc::new(MemoryStorage::new());
        commit(&storage, texts, &older);
        let manifest = manifest::read_newest(&storage).unwrap().unwrap();
        let entry = &manifest.segments[0];
        let part = open_store(&storage, &manifest, entry).unwrap();
        let segment = open_segment(&storage, &manifest, entry).unwrap();
        let urls: Vec<String> = named.iter().map(|number| format!("http://a.test/{number}")).collect();
        let removals = Removals::of(&[], 2, &urls).unwrap();
        let found = removals.from(&segment, part.as_deref()).unwrap();
        let mut expected: Vec<u16> = named.into_iter().filter(|number| older.contains(number)).collect();
        expected.sort_unstable();
        expected.dedup();
        let count = found.as_ref().map_or(0, |removed| removed.named_count);
        prop_assert_eq!(count, expected.len() as u64);
        let mut numbers: Vec<u16> = found
            .iter()
            .flat_map(|removed| removed.documents.docs())
            .map(|doc| segment.details(DocId(doc)).unwrap().url)
            .map(|url| url.rsplit('/').next().unwrap().parse().unwrap())
            .collect();
        numbers.sort_unstable();
        prop_assert_eq!(numbers, expected);
    }
}

/// Segment in a form that can be passed by value.
struct Reference<'a>(&'a Segment);

impl AsRef<Segment> for Reference<'_> {
    fn as_ref(&self) -> &Segment {
        self.0
    }
}
