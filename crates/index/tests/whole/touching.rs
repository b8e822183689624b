//! Damage of an open index, block by block: each flipped byte is found before it affects an answer, at opening, at the
//! first touch, or by verification of untouched blocks. With `SHORTTAIL_FULL=1` a byte of every block is flipped, which
//! takes minutes; without it, of 60 blocks a file.

use document::Document;
use index::{
    BuildOptions, DocId, Field, Index, IndexError, Pairs, ReadStart, Segment, TextKey, Writer,
};
use std::ops::ControlFlow;
use std::sync::Arc;
use vfs::{MemoryStorage, SharedStorage, Storage};

/// Bytes covered by one checksum.
const BLOCK_BYTES: usize = 4096;

fn document(number: usize, version: usize) -> Document {
    Document {
        url: format!("http://site-{}.test/{number}", number % 13),
        title: format!("title {} version{version}", number * number % 1009),
        body: format!("to be or not to be word{} ", number * 31 % 2003).repeat(1 + number % 5)
            + &format!("own{number} text{}", number % 211),
        ..Document::default()
    }
}

/// Builds an index whose files have several blocks each, with deletions, pairs and statistics.
fn built() -> MemoryStorage {
    let disk = MemoryStorage::new();
    let storage: SharedStorage = Arc::new(disk.clone());
    for (version, numbers) in [0..40_000usize, 39_000..41_000].into_iter().enumerate() {
        let options = BuildOptions {
            chunks: Some(1),
            pairs: Some(Pairs::All),
            // Written as a whole, so that the file is long.
            small_terms_max: Some(u64::MAX),
            ..BuildOptions::default()
        };
        let mut writer = Writer::open(storage.clone(), options).unwrap();
        for number in numbers {
            writer.add(document(number, version)).unwrap();
        }
        writer.commit().unwrap();
    }
    disk
}

fn go_on(_: usize) -> ControlFlow<()> {
    ControlFlow::Continue(())
}

/// Returns the results of a few look-ups, as answers use them: of words, positions, pairs, hits, texts. Damage that
/// cannot be returned gives zeros, which the examination refuses.
fn answers(index: &Index) -> Result<Vec<u64>, IndexError> {
    let since = index.read_start();
    let mut said = Vec::new();
    for segment in index.segments(..) {
        for (field, term) in [
            (Field::Text, "be"),
            (Field::Text, "to"),
            (Field::Text, "own777"),
            (Field::Text, "word62"),
            (Field::Title, "version1"),
            (Field::Site, "site-3.test"),
        ] {
            let known = index.statistics().term(field, term)?;
            said.push(known.map_or(0, |known| known.document_frequency));
            said.extend(list(segment, field, term)?);
        }
        said.extend(pair(segment)?);
        let lengths = segment.lengths(Field::Text);
        said.push(lengths.iter().map(|&length| u64::from(length)).sum());
        for doc in (0..segment.documents_count()).step_by(1777).map(DocId) {
            let (url, site) = segment.hashes(doc);
            said.extend([url, site, segment.details(doc)?.title.len() as u64]);
        }
    }
    let url = document(777, 0).url;
    let text = index.documents().document(&url)?;
    said.push(text.map_or(0, |text| text.body.len() as u64));
    examine(index, since, &url)?;
    Ok(said)
}

fn examine(index: &Index, since: ReadStart, url: &str) -> Result<(), IndexError> {
    let segments: Vec<Arc<Segment>> = index.segments(..).cloned().collect();
    index.verify_search(&segments, since)?;
    index.verify_texts([TextKey::Url(url)].into_iter(), since)
}

/// Returns sums of a list: documents, frequencies, and positions of every 97th posting.
fn list(segment: &Segment, field: Field, term: &str) -> Result<[u64; 3], IndexError> {
    let Some(record) = segment.term(field, term)? else {
        return Ok([0; 3]);
    };
    let mut postings = segment.postings(&record)?;
    let (mut sums, mut positions) = ([0; 3], Vec::new());
    while postings.doc() != DocId::END {
        sums[0] += u64::from(postings.doc().0);
        sums[1] += u64::from(postings.frequency());
        if postings.doc().0.is_multiple_of(97) {
            postings.positions(&mut positions);
            sums[2] += positions
                .iter()
                .map(|&position| u64::from(position))
                .sum::<u64>();
        }
        postings.next();
    }
    postings.take_error().map_or(Ok(sums), Err)
}

fn pair(segment: &Segment) -> Result<[u64; 2], IndexError> {
    let words = ["to", "be"].map(|word| segment.term(Field::Text, word));
    let [Some(to), Some(be)] = words.map(|word| word.unwrap_or_default()) else {
        return Ok([0; 2]);
    };
    let Some(pair) = segment.pair(&to, &be) else {
        return Ok([1; 2]);
    };
    let mut blocks = segment.pair_blocks(&pair)?;
    let mut sum = 0;
    for block in 0..blocks.blocks_count() {
        blocks.load(block);
        sum += blocks.docs().iter().map(|&doc| u64::from(doc)).sum::<u64>();
    }
    let error = blocks.take_error();
    error.map_or(Ok([u64::from(pair.documents_count()), sum]), Err)
}

/// Asserts that the error names the file, and the block of the byte where a block was verified.
fn names(error: &IndexError, name: &str, at: usize, blocks_end: usize) {
    let IndexError::Damaged { path, offset, .. } = error else {
        panic!("{name}: byte {at}: {error}");
    };
    assert!(path.ends_with(name), "{name}: byte {at}: {error}");
    if at < blocks_end && *offset < blocks_end as u64 {
        assert_eq!(
            *offset as usize,
            at / BLOCK_BYTES * BLOCK_BYTES,
            "{name}: byte {at}: {error}"
        );
    }
}

#[test]
fn a_flipped_byte_of_any_block_is_found_before_it_is_believed() {
    let disk = built();
    let open = || Index::open(Arc::new(disk.clone()) as SharedStorage);
    let good = answers(&open().unwrap()).unwrap();
    // Found at opening, at the first touch, by verifying the rest.
    let mut found = [0; 3];
    let newest = open().unwrap();
    let files: Vec<String> = disk.list().unwrap();
    let manifest = String::from_utf8_lossy(&disk.read_raw("MANIFEST-2").unwrap()).into_owned();
    let is_read = |name: &String| name == "MANIFEST-2" || manifest.contains(&format!("\"{name}\""));
    let mut kinds = 0;
    for name in files.into_iter().filter(is_read) {
        kinds += 1;
        let bytes = disk.read_raw(&name).unwrap();
        let tail = &bytes[bytes.len() - 24..];
        let payload_end = 64 + u64::from_le_bytes(tail[..8].try_into().unwrap()) as usize;
        let blocks = payload_end.div_ceil(BLOCK_BYTES);
        // A byte of each of these blocks, and some of the footer.
        let step = testkit::size(blocks.div_ceil(60), 1);
        let of_blocks = (0..blocks).step_by(step);
        let of_blocks = of_blocks.map(|block| block * BLOCK_BYTES + block * 997 % BLOCK_BYTES);
        let of_blocks = of_blocks.map(|at| at.min(payload_end - 1));
        let of_footer = (payload_end..bytes.len()).step_by(61);
        for at in of_blocks.chain(of_footer) {
            let mut bad = bytes.clone();
            bad[at] ^= 1 << (at % 8);
            disk.write_raw(&name, bad);
            let index = match open() {
                Err(error) => {
                    found[0] += 1;
                    names(&error, &name, at, payload_end);
                    continue;
                }
                Ok(index) => index,
            };
            assert!(at < payload_end, "{name}: byte {at} of the footer");
            match answers(&index) {
                Err(error) => {
                    found[1] += 1;
                    names(&error, &name, at, payload_end);
                }
                Ok(said) => {
                    assert_eq!(said, good, "{name}: byte {at} is believed");
                    found[2] += 1;
                    let verified = (0..index.files_count())
                        .find_map(|number| index.verify_rest(number, &mut go_on).err());
                    let error = verified.unwrap_or_else(|| panic!("{name}: byte {at}"));
                    names(&error, &name, at, payload_end);
                }
            }
            assert!(index.untrusted_files_count() > 0, "{name}: byte {at}");
        }
        disk.write_raw(&name, bytes);
    }
    println!(
        "found at opening {}, at first touch {}, by verifying the rest {}",
        found[0], found[1], found[2]
    );
    assert!(
        kinds >= 7 && found.iter().all(|&found| found > 20),
        "{kinds} {found:?}"
    );
    assert_eq!(answers(&newest).unwrap(), good);
}

#[test]
fn opening_verifies_little_and_nothing_is_verified_twice() {
    let disk = built();
    let index = Index::open(Arc::new(disk.clone()) as SharedStorage).unwrap();
    let bytes = index.index_bytes() + index.store_bytes();
    let opened = index.verified_bytes();
    // Two blocks a file, deletions, and 4 bytes a block of 4 KiB.
    assert!(
        opened < 10 * 2 * BLOCK_BYTES as u64 + 16_000 + bytes / 1000,
        "{opened} of {bytes}"
    );
    answers(&index).unwrap();
    let touched = index.verified_bytes();
    assert!(
        opened < touched && touched < bytes,
        "{opened} {touched} {bytes}"
    );
    answers(&index).unwrap();
    assert_eq!(index.verified_bytes(), touched);
    let mut read = 0;
    for number in 0..index.files_count() {
        let mut count = |bytes: usize| {
            read += bytes as u64;
            ControlFlow::Continue(())
        };
        index.verify_rest(number, &mut count).unwrap();
    }
    // The last block of a file is shorter than 4 KiB.
    let differs = (read + touched).abs_diff(bytes);
    assert!(
        differs < 10 * BLOCK_BYTES as u64,
        "{read} {touched} {bytes}"
    );
    for number in 0..index.files_count() {
        let nothing = &mut |_: usize| panic!("a block is verified again");
        index.verify_rest(number, nothing).unwrap();
    }
}

#[test]
fn a_generation_shares_what_the_one_before_had() {
    let disk = built();
    let storage: SharedStorage = Arc::new(disk.clone());
    let before = Index::open(storage.clone()).unwrap();
    let good = answers(&before).unwrap();
    let verified = before.verified_bytes();
    let mut writer = Writer::open(storage.clone(), BuildOptions::default()).unwrap();
    writer.add(document(50_000, 0)).unwrap();
    writer.commit().unwrap();
    // Verified bytes are not read again: damage of them on the disk goes unnoticed, because the mapping is another.
    let name = "segment-00000001.index";
    let bytes = disk.read_raw(name).unwrap();
    let mut bad = bytes.clone();
    bad[100] ^= 1;
    disk.write_raw(name, bad);
    assert!(Index::open(storage.clone()).is_err());
    let after = Index::open_after(storage.clone(), &before).unwrap();
    assert_eq!(after.generation(), before.generation() + 1);
    assert_eq!(after.segments(..).count(), before.segments(..).count() + 1);
    assert!(
        after.verified_bytes() < verified + 200_000,
        "{} {verified}",
        after.verified_bytes()
    );
    after.verify_new(&before, u64::MAX).unwrap();
    assert_eq!(answers(&before).unwrap(), good);
    answers(&after).unwrap();
    // Another index in the same place shares nothing.
    let other: SharedStorage = Arc::new(built());
    let opened = Index::open_after(other, &before).unwrap();
    assert_eq!(answers(&opened).unwrap(), good);
    assert_ne!(opened.id(), before.id());
}
