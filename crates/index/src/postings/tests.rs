//! Round trips of lists, by walking and by seeking, in both codecs.

use super::*;
use crate::DocId;
use proptest::prelude::*;
use std::path::Path;

type Posting = (u32, Vec<u32>);

fn encode(codec: PostingsCodec, list: &[Posting]) -> (u64, Vec<u8>, Vec<u8>) {
    let mut encoder = PostingsEncoder::new(codec);
    for (doc, positions) in list {
        encoder.push_document(*doc, positions.len() as u32, (*doc % 251) as u8);
        let mut before = 0;
        for &position in positions {
            encoder.push_position_gap(position - before);
            before = position;
        }
    }
    encoder.finish(|l| {
        (
            l.occurrences_count,
            l.postings.concat(),
            l.positions.concat(),
        )
    })
}

fn open<'a>(
    codec: PostingsCodec,
    documents_count: u32,
    (occurrences_count, postings, positions): &'a (u64, Vec<u8>, Vec<u8>),
) -> Postings<'a> {
    Postings::new(
        ListBytes {
            codec,
            documents_count,
            occurrences_count: *occurrences_count,
            docs_limit: 1 << 30,
            postings,
            positions: positions.as_slice().into(),
        },
        Origin {
            path: Path::new("test"),
            postings_offset: 0,
            positions_offset: 0,
        },
    )
}

#[test]
fn the_documented_example_is_these_bytes() {
    let list = [(3, vec![5]), (7, vec![1, 4]), (8, vec![0])];
    for codec in [PostingsCodec::Packed, PostingsCodec::Vint] {
        let (_, postings, positions) = encode(codec, &list);
        assert_eq!(postings, [0x09, 0x08, 0x02, 0x03]);
        assert_eq!(positions, [0x05, 0x01, 0x03, 0x00]);
    }
}

prop_compose! {
    fn lists()(
        gaps in prop::collection::vec((1u32..200, prop::collection::vec(1u32..50, 1..5)), 1..1500),
        wide in any::<bool>(),
    ) -> Vec<Posting> {
        let mut doc = 0;
        gaps.into_iter().map(|(gap, positions)| {
            doc += if wide { gap * 1000 } else { gap % 3 + 1 };
            let mut position = 0;
            (doc, positions.into_iter().map(|p| { position += p; position }).collect())
        }).collect()
    }
}

proptest! {
    #[test]
    fn walking_gives_back_the_list(list in lists()) {
        for codec in [PostingsCodec::Packed, PostingsCodec::Vint] {
            let bytes = encode(codec, &list);
            let mut postings = open(codec, list.len() as u32, &bytes);
            let mut positions = Vec::new();
            for (doc, expected) in &list {
                prop_assert_eq!(postings.doc(), DocId(*doc));
                prop_assert_eq!(postings.frequency() as usize, expected.len());
                postings.positions(&mut positions);
                prop_assert_eq!(&positions, expected);
                postings.next();
            }
            prop_assert_eq!(postings.doc(), DocId::END);
            prop_assert_eq!(postings.next(), DocId::END);
            prop_assert!(postings.take_error().is_none());
        }
    }

    #[test]
    fn seeking_is_walking_until(list in lists(), steps in prop::collection::vec(0u32..400_000, 1..60)) {
        for codec in [PostingsCodec::Packed, PostingsCodec::Vint] {
            let bytes = encode(codec, &list);
            let mut postings = open(codec, list.len() as u32, &bytes);
            let mut target = 0;
            let mut positions = Vec::new();
            for step in &steps {
                target += step % 5000;
                let expected = list.iter().find(|(doc, _)| *doc >= target);
                match expected {
                    Some((doc, expected)) => {
                        prop_assert_eq!(postings.seek(DocId(target)), DocId(*doc));
                        target = *doc;
                        postings.positions(&mut positions);
                        prop_assert_eq!(&positions, expected);
                    }
                    None => prop_assert_eq!(postings.seek(DocId(target)), DocId::END),
                }
            }
        }
    }

    #[test]
    fn damaged_lists_end_and_tell(
        list in lists(),
        flips in prop::collection::vec((any::<prop::sample::Index>(), 1u8..=255), 1..4),
        cut in any::<prop::sample::Index>(),
    ) {
        for codec in [PostingsCodec::Packed, PostingsCodec::Vint] {
            let mut bytes = encode(codec, &list);
            for (at, flip) in &flips {
                let at = at.index(bytes.1.len());
                bytes.1[at] ^= flip;
            }
            let cut = cut.index(bytes.2.len() + 1);
            bytes.2.truncate(cut);
            let mut postings = open(codec, list.len() as u32, &bytes);
            let mut positions = Vec::new();
            let mut walked = 0;
            while postings.doc() != DocId::END && walked <= list.len() {
                prop_assert!(postings.doc().0 < 1 << 30);
                postings.positions(&mut positions);
                postings.next();
                walked += 1;
            }
            prop_assert!(walked <= list.len());
        }
    }
}
