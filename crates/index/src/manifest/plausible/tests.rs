//! Manifests that no index has: each differs from a valid one in one respect.

use super::*;
use crate::layout::Layout;
use crate::postings::PostingsCodec;
use crate::sealed::Seal;
use crate::{Order, Pairs};
use text::Analyzer;

fn file(name: &str, number: u64) -> FileEntry {
    let (name, bytes) = (name.to_owned(), 1000);
    let seal = Seal { bytes, checksum: 0 };
    FileEntry { name, number, seal }
}

/// Returns a valid manifest of generation 3 with two segments, one of them with every optional file.
fn good() -> Manifest {
    let layout = Layout {
        chunks: 2,
        partitions: 1,
    };
    let (codec, pairs) = (PostingsCodec::default(), Pairs::default());
    let analyzer = Analyzer::default();
    let mut manifest = Manifest::new(1, layout, analyzer, codec, Texts::Stored, pairs);
    manifest.generation = 3;
    manifest.next_segment = 3;
    manifest.documents_count = 15;
    manifest.statistics = Some(StatisticsEntry::Whole(file("statistics-3", 3)));
    manifest.segments = (1..=2)
        .map(|segment| SegmentEntry {
            segment,
            chunks: (0..=1).into(),
            documents_count: 10,
            index: file(&index_name(segment), segment.into()),
            documents: Some(file(&documents_name(segment), segment.into())),
            pairs: None,
            columns: None,
            deletions: None,
            order: Order::Arrival,
        })
        .collect();
    let first = &mut manifest.segments[0];
    first.pairs = Some(file("segment-00000001.pairs", 1));
    first.deletions = Some(file("segment-00000001-2.deletions", 1 << 32 | 2));
    manifest
}

#[track_caller]
fn check(expected: &str, change: impl FnOnce(&mut Manifest)) {
    let mut manifest = good();
    change(&mut manifest);
    let what = implausible(&manifest).unwrap_or_default();
    assert!(what.contains(expected), "{what:?} is not {expected:?}");
}

#[test]
fn a_good_manifest_is_plausible() {
    assert_eq!(implausible(&good()), None);
    let mut one = good();
    one.segments.truncate(1);
    one.segments[0].deletions = None;
    one.documents_count = 10;
    one.statistics = None;
    assert_eq!(implausible(&one), None);
}

#[test]
fn statistics_are_there_where_segments_need_them() {
    check("no statistics", |m| m.statistics = None);
    check("no statistics", |m| {
        m.segments.truncate(1);
        m.documents_count = 8;
        m.statistics = None;
    });
    check("cannot have a file", |m| {
        m.statistics = Some(StatisticsEntry::Whole(file("statistics-4", 4)));
    });
    check("cannot have a file", |m| {
        m.statistics = Some(StatisticsEntry::Whole(file("statistics-03", 3)));
    });
}

#[test]
fn a_segment_stands_there_once_and_by_its_name() {
    check("twice", |m| {
        let again = m.segments[1].clone();
        m.segments.push(again);
    });
    check("order", |m| m.segments.reverse());
    check("number", |m| m.next_segment = 2);
    check("cannot have a file \"writer.lock\"", |m| {
        m.segments[0].index.name = "writer.lock".into();
    });
    check("cannot have a file", |m| {
        m.segments[1].index = m.segments[0].index.clone();
    });
    check("cannot have a file", |m| {
        m.segments[1].documents = m.segments[0].documents.clone();
    });
    check("cannot have a file", |m| {
        m.segments[1].pairs = m.segments[0].pairs.clone();
    });
    check("cannot have a file", |m| {
        m.segments[1].deletions = m.segments[0].deletions.clone();
    });
    check("cannot have a file", |m| {
        // A generation after this one.
        m.segments[1].deletions = Some(file("segment-00000002-4.deletions", 2 << 32 | 4));
    });
    check("texts", |m| m.segments[0].documents = None);
}

#[test]
fn layers_of_statistics_are_those_of_the_segments() {
    let layers = |base: Option<FileEntry>, counted: &[u32], deleted: &[FileEntry]| {
        let (counted, deleted) = (counted.to_vec(), deleted.to_vec());
        Some(StatisticsEntry::Layers(StatisticsLayers {
            base,
            counted,
            deleted,
        }))
    };
    let (base, gone) = (file("statistics-2", 2), file("statistics-3", 3));
    let fits = [
        layers(Some(base.clone()), &[1], std::slice::from_ref(&gone)),
        layers(Some(base.clone()), &[1, 2], std::slice::from_ref(&gone)),
        layers(None, &[2], std::slice::from_ref(&gone)),
        layers(None, &[1], &[]),
    ];
    for statistics in fits {
        let mut manifest = good();
        manifest.statistics = statistics;
        assert_eq!(implausible(&manifest), None, "{:?}", manifest.statistics);
    }
    check("segments that it has not", |m| {
        m.statistics = layers(None, &[3], &[])
    });
    check("in another order", |m| {
        m.statistics = layers(Some(base.clone()), &[2, 1], &[]);
    });
    check("segments that it has not", |m| {
        m.statistics = layers(Some(base.clone()), &[1, 1], &[]);
    });
    check("no base", |m| m.statistics = layers(None, &[1, 2], &[]));
    check("no base", |m| m.statistics = layers(None, &[], &[]));
    check("twice", |m| {
        m.statistics = layers(Some(base.clone()), &[1], &[gone.clone(), gone.clone()]);
    });
    check("cannot have a file", |m| {
        m.statistics = layers(Some(base.clone()), &[1], &[file("statistics-4", 4)]);
    });
}

#[test]
fn counts_and_lengths_fit_each_other() {
    check("30 documents", |m| m.documents_count = 30);
    check("cannot have", |m| m.segments[0].documents_count = 1001);
    check("cannot have", |m| m.segments[0].documents_count = u32::MAX);
    check("87 bytes", |m| m.segments[0].index.seal.bytes = 87);
    check("any disk", |m| {
        m.segments[0].index.seal.bytes = u64::MAX;
    });
    check("it says 19 documents", |m| {
        m.segments[0].deletions = None;
        m.documents_count = 19;
    });
    check("chunks: an index has", |m| m.chunks = u32::MAX);
}
