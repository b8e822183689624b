//! Checks and answers with damaged and false files of pairs.

use super::choose::choose;
use super::write::{Counted, count_all, write};
use crate::manifest::{self, FileEntry};
use crate::names::{manifest_name, pairs_name};
use crate::opener::open_segment;
use crate::sealed::{Identity, Kind, SealedWriter};
use crate::segment::pairs::table::read_table;
use crate::sources::Unchanged;
use crate::{BuildOptions, Field, Index, Pairs, Writer, check};
use document::Document;
use proptest::prelude::*;
use std::sync::Arc;
use vfs::{MemoryStorage, SharedStorage};

fn index() -> SharedStorage {
    let storage: SharedStorage = Arc::new(MemoryStorage::new());
    let options = BuildOptions {
        chunks: Some(1),
        pairs: Some(Pairs::All),
        ..BuildOptions::default()
    };
    let mut writer = Writer::open(storage.clone(), options).unwrap();
    for number in 0..600 {
        writer
            .add(Document {
                url: format!("http://a.test/{number}"),
                body: "to be or not to be ".repeat(1 + number % 3) + &format!("w{}", number % 7),
                ..Document::default()
            })
            .unwrap();
    }
    writer.commit().unwrap();
    storage
}

/// Writes the pairs anew, after `change` altered their counts, under a manifest that names the new file; returns the
/// damage that a check finds.
fn rewritten(change: impl FnOnce(&mut Vec<(u8, u8)>, &mut Vec<Counted>)) -> Vec<String> {
    let storage = index();
    let mut manifest = manifest::read_newest(&storage).unwrap().unwrap();
    let segment = open_segment(&storage, &manifest, &manifest.segments[0]).unwrap();
    let mut chosen = choose(&segment, Pairs::All, 0).unwrap();
    let mut counted = count_all(&segment, &chosen, 1).unwrap();
    change(&mut chosen.pairs, &mut counted);
    let identity = Identity {
        kind: Kind::Pairs,
        index_id: manifest.index_id(),
        number: segment.id().into(),
    };
    // Replaces the right file, which the generation before names with its seal.
    let name = pairs_name(segment.id());
    storage.remove(&name).unwrap();
    storage.remove(&manifest_name(manifest.generation)).unwrap();
    let mut out = SealedWriter::create(&storage, &name, identity).unwrap();
    write(&mut out, &segment, &chosen, &counted).unwrap();
    let seal = out.finish().unwrap();
    let number = identity.number;
    manifest.segments[0].pairs = Some(FileEntry { name, number, seal });
    manifest.generation += 1;
    manifest::commit(&storage, &manifest, &Unchanged::read_back()).unwrap();
    let (_, damages) = check(storage, 10).unwrap();
    damages.iter().map(ToString::to_string).collect()
}

#[test]
fn a_check_finds_pairs_that_are_not_those_of_the_words() {
    assert_eq!(rewritten(|_, _| {}), Vec::<String>::new());
    let swapped = rewritten(|_, counted| counted[0].lists.swap(0, 2));
    assert!(swapped[0].contains("segment-00000001.pairs"), "{swapped:?}");
    let emptied = rewritten(|_, counted| {
        let full = counted[0].lists.iter_mut();
        full.for_each(|list| *list = Default::default());
    });
    assert!(emptied[0].contains("not so said here"), "{emptied:?}");
    let doubled = rewritten(|_, counted| {
        let last = counted[0]
            .lists
            .iter_mut()
            .rfind(|list| (1..600).contains(&list.next_doc));
        last.unwrap().push(599, 1);
    });
    assert!(!doubled.is_empty());
}

#[test]
fn pairs_out_of_order_are_refused() {
    let damages = rewritten(|pairs, _| pairs.swap(0, 1));
    assert!(
        damages[0].contains("the table of pairs makes no sense"),
        "{damages:?}"
    );
}

#[test]
fn a_pair_is_found_by_its_words() {
    let index = Index::open(index()).unwrap();
    let segment = index.segments(0..1).next().unwrap();
    let word = |word| segment.term(Field::Text, word).unwrap().unwrap();
    let count = |first, second| {
        let pair = segment.pair(&word(first), &word(second));
        pair.map(|pair| (pair.documents_count(), pair.occurrences_count()))
    };
    assert_eq!(count("or", "not"), Some((600, 1200)));
    assert_eq!(count("be", "w3"), Some((86, 86)));
    assert_eq!(count("not", "or"), Some((0, 0)));
}

proptest! {
    #[test]
    fn any_table_is_read_or_refused(
        bytes in proptest::collection::vec(prop_oneof![0u8..4, any::<u8>()], 0..80),
        documents in 0u32..9,
    ) {
        let mut at = 0;
        if let Some(table) = read_table(&bytes, &mut at, documents) {
            prop_assert_eq!(at, bytes.len());
            prop_assert!(table.pairs.iter().all(|pair| pair.record.documents_count() <= documents));
            table.bytes();
        }
    }
}
