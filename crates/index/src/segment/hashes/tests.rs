//! Hashes of documents read back as written, and reports of damage.

use super::*;
use crate::sealed::{Identity, Kind};
use crate::section::open_sealed;
use proptest::prelude::*;
use std::sync::Arc;
use vfs::MemoryStorage;

/// Returns the two sections as the payload of a sealed file.
fn sections(write: impl FnOnce(&SharedStorage, &mut SealedWriter)) -> Section {
    let storage: SharedStorage = Arc::new(MemoryStorage::new());
    let identity = Identity {
        kind: Kind::Segment,
        index_id: 7,
        number: 1,
    };
    let mut out = SealedWriter::create(&storage, "test", identity).unwrap();
    write(&storage, &mut out);
    let seal = out.finish().unwrap();
    open_sealed(&storage, "test", Kind::Segment, Some((identity, seal)))
        .unwrap()
        .0
}

/// Writes the hashes of documents, each a URL hash and a site; returns the two sections.
fn written(documents: &[(u64, String)]) -> [Vec<u8>; 2] {
    let mut places = [(0, 0); 2];
    let payload = sections(|storage, out| {
        let mut writer = HashesWriter::new(storage, "tmp-test");
        let mut sites: Vec<&String> = documents.iter().map(|(_, site)| site).collect();
        sites.sort_unstable();
        sites.dedup();
        sites
            .into_iter()
            .for_each(|site| writer.push_site(site.as_bytes()));
        for (url, site) in documents {
            assert!(
                writer
                    .push_document(*url, xxh3_64(site.as_bytes()))
                    .unwrap()
            );
        }
        places = writer.finish(out).unwrap();
    });
    places
        .map(|(start, bytes)| payload.whole().unwrap()[start as usize..][..bytes as usize].to_vec())
}

fn open([documents, sites]: &[Vec<u8>; 2], documents_count: usize) -> Option<Hashes> {
    let payload = sections(|_, out| {
        out.write(documents).unwrap();
        out.write(sites).unwrap();
    });
    let meta = SegmentMeta {
        documents_count: documents_count as u32,
        ..SegmentMeta::default()
    };
    let documents_section = payload.part(0, documents.len()).unwrap();
    let sites_section = payload.part(documents.len(), sites.len()).unwrap();
    Hashes::open(documents_section, sites_section, &meta)
}

fn check(documents: &[(u64, String)], width: usize) {
    let written = written(documents);
    assert_eq!(written[0].len(), documents.len() * (URL_BYTES + width));
    let hashes = open(&written, documents.len()).unwrap();
    for (doc, (url, site)) in (0..).map(DocId).zip(documents) {
        assert_eq!(hashes.url(doc), *url);
        assert_eq!(hashes.both(doc), (*url, xxh3_64(site.as_bytes())));
    }
    hashes.check(documents.len() as u32).unwrap();
    let past = DocId(documents.len() as u32);
    assert_eq!((hashes.url(past), hashes.both(past)), (0, (0, 0)));
}

fn of_sites(sites: usize) -> Vec<(u64, String)> {
    let document = |number: usize| (number as u64 * 77, format!("site-{}", number % sites));
    (0..sites + 3).map(document).collect()
}

#[test]
fn a_number_takes_as_few_bytes_as_hold_all() {
    check(&[], 0);
    for (sites, width) in [(1, 0), (2, 1), (256, 1), (257, 2), (65_536, 2), (65_537, 3)] {
        check(&of_sites(sites), width);
    }
}

#[test]
fn the_example_is_true() {
    let (a, b) = (xxh3_64(b"a"), xxh3_64(b"b"));
    let [documents, sites] =
        written(&[1, 2, 3].map(|url| (url, ["b", "a"][url as usize % 2].into())));
    assert!(a > b, "else the example needs other names");
    assert_eq!(sites, [b.to_le_bytes(), a.to_le_bytes()].concat());
    assert_eq!([8, 17, 26].map(|at| documents[at]), [1, 0, 1]);
}

#[test]
fn a_document_of_an_unknown_site_is_refused() {
    let storage: SharedStorage = Arc::new(MemoryStorage::new());
    let mut writer = HashesWriter::new(&storage, "tmp-test");
    writer.push_site(b"example.org");
    assert!(writer.push_document(1, xxh3_64(b"example.org")).unwrap());
    assert!(!writer.push_document(2, xxh3_64(b"example.net")).unwrap());
}

#[test]
fn what_is_wrong_with_sites_is_told() {
    let whole = written(&of_sites(3));
    let told = |change: &dyn Fn(&mut [Vec<u8>; 2])| {
        let mut changed = whole.clone();
        change(&mut changed);
        open(&changed, 6).unwrap().check(6).unwrap_err()
    };
    let swapped = |sections: &mut [Vec<u8>; 2]| sections[1].rotate_left(SITE_BYTES);
    assert!(told(&swapped).contains("follows a higher"));
    let twice = |sections: &mut [Vec<u8>; 2]| sections[1].copy_within(..SITE_BYTES, SITE_BYTES);
    assert!(told(&twice).contains("the same"));
    let outside = |sections: &mut [Vec<u8>; 2]| sections[0][URL_BYTES] = 3;
    assert!(told(&outside).contains("document 0 is of a site that is not there"));
    let more = |sections: &mut [Vec<u8>; 2]| sections[1].extend([255; SITE_BYTES]);
    assert!(told(&more).contains("site 3 has no document"));
}

proptest! {
    #[test]
    fn documents_keep_their_hashes(documents in prop::collection::vec((any::<u64>(), "[a-e]{0,4}"), 1..400)) {
        let sites: std::collections::BTreeSet<_> = documents.iter().map(|(_, site)| site).collect();
        check(&documents, uint::width_of(sites.len() as u64));
    }

    /// Arbitrary bytes are refused, or read without a panic.
    #[test]
    fn damage_never_panics(
        documents in prop::collection::vec(any::<u8>(), 0..200),
        sites in prop::collection::vec(any::<u8>(), 0..40),
        count in 0usize..30,
        fitted in any::<bool>(),
    ) {
        let (mut documents, mut sites) = (documents, sites);
        if fitted {
            sites.truncate(sites.len() / SITE_BYTES * SITE_BYTES);
            let width = uint::width_of((sites.len() / SITE_BYTES) as u64);
            documents.resize(count * (URL_BYTES + width), 1);
        }
        let hashes = open(&[documents, sites], count);
        prop_assert!(hashes.is_some() || !fitted);
        if let Some(hashes) = hashes {
            let _ = hashes.check(count as u32);
            for doc in (0..count as u32 + 2).chain([u32::MAX]).map(DocId) {
                prop_assert!(hashes.both(doc).0 == hashes.url(doc));
            }
        }
    }
}
