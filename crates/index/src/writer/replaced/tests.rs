//! Agreement of the search by look-ups with the merge of all hashes.

use super::*;
use crate::build::merge::find_replaced;
use crate::manifest;
use crate::opener::{open_segment, open_store};
use crate::{BuildOptions, Texts, Writer};
use corpus::Document;
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
        let arrivals = Arrivals::of(&new, 1).unwrap();
        let arrivals = Arrivals { first_new: 2, ..arrivals };
        let found = arrivals.replace(&older, texts.as_deref()).unwrap();
        let docs = |gone: Option<&Deletions>| -> Vec<u32> {
            gone.map(|gone| gone.docs().collect()).unwrap_or_default()
        };
        prop_assert_eq!(docs(found.as_ref()), docs(Some(&merged[0])));
    }
}

/// Segment in a form that can be passed by value.
struct Reference<'a>(&'a Segment);

impl AsRef<Segment> for Reference<'_> {
    fn as_ref(&self) -> &Segment {
        self.0
    }
}
