//! Tests of reader and writer together, and of hostile and torn files.

use super::*;
use jiff::Timestamp;
use proptest::prelude::*;

fn date(second: i64) -> Timestamp {
    Timestamp::from_second(1_700_000_000 + second).unwrap()
}

fn about(uri: &str, second: i64) -> About<'_> {
    About {
        uri,
        date: date(second),
        ip: Some("127.0.0.1"),
    }
}

fn read(bytes: &[u8]) -> (Vec<Record>, Vec<Problem>, Option<u64>) {
    let mut reader = Reader::new(bytes);
    let (mut records, mut problems) = (Vec::new(), Vec::new());
    while let Some(item) = reader.next().unwrap() {
        match item {
            Item::Record(record) => records.push(record),
            Item::Problem(problem) => problems.push(problem),
        }
    }
    (records, problems, reader.torn_at())
}

/// Writes a file of one record of each kind; returns it with the records' places.
fn small() -> (Vec<u8>, Vec<Written>) {
    let mut writer = Writer::new(Vec::new(), 0, 7);
    let mut written = vec![
        writer
            .warcinfo(date(0), "a.warc.gz", &[("software", "test")])
            .unwrap(),
    ];
    let about = about("http://example.com/a b", 1);
    let head = b"HTTP/1.1 200 OK\r\nContent-Type: text/html\r\n\r\n";
    let response = writer.response(&about, head, b"<p>hello", None).unwrap();
    written.push(response);
    let request = b"GET /a%20b HTTP/1.1\r\nHost: example.com\r\n\r\n";
    written.push(
        writer
            .request(&about, request, b"", Some(response.id))
            .unwrap(),
    );
    let earlier = (
        Some(response.id),
        Some(date(1)),
        Some(response.payload_digest),
    );
    let same = Profile::IdenticalPayload;
    written.push(writer.revisit(&about, head, same, earlier).unwrap());
    let unmodified = b"HTTP/1.1 304 Not Modified\r\n\r\n";
    let earlier = (Some(response.id), Some(date(1)), None);
    written.push(
        writer
            .revisit(&about, unmodified, Profile::NotModified, earlier)
            .unwrap(),
    );
    let fields = [("via", "http://example.com/"), ("evil", "a\r\nX: b")];
    written.push(writer.metadata(&about, &fields, Some(response.id)).unwrap());
    (writer.into_inner(), written)
}

#[test]
fn every_kind_of_record_is_read_back() {
    let (file, written) = small();
    let (records, problems, torn_at) = read(&file);
    assert_eq!((problems, torn_at), (vec![], None));
    let kinds: Vec<_> = records.iter().map(|record| record.kind.as_str()).collect();
    let expected = [
        "warcinfo", "response", "request", "revisit", "revisit", "metadata",
    ];
    assert_eq!(kinds, expected);
    for (record, written) in records.iter().zip(&written) {
        let place = (written.offset, Some(written.length_bytes));
        assert_eq!((record.place.offset, record.place.length_bytes), place);
        assert_eq!(
            record.header("warc-record-id"),
            Some(&*written.id.to_string())
        );
        assert_eq!(record.block_digest(), DigestCheck::Equal);
    }
    let response = &records[1];
    assert_eq!(response.uri.as_deref(), Some("http://example.com/a%20b"));
    assert_eq!(response.date, Some(date(1)));
    assert_eq!(response.payload(), b"<p>hello");
    assert_eq!(response.payload_digest(), DigestCheck::Equal);
    assert_eq!(response.http().unwrap().status, Some(200));
    assert_eq!(response.http_body(5).bytes, b"<p>he");
    assert_eq!(
        records[3].header("WARC-Refers-To"),
        records[1].header("WARC-Record-ID")
    );
    assert_eq!(
        records[5].block,
        b"via: http://example.com/\r\nevil: a  X: b\r\n"
    );
    // The same calls give the same bytes.
    assert_eq!(small().0, file);
}

#[test]
fn every_torn_length_recovers_the_whole_records() {
    let (file, written) = small();
    for length in 0..=file.len() {
        let ends = written.iter().map(|one| one.offset + one.length_bytes);
        let whole: Vec<u64> = ends.filter(|&end| end <= length as u64).collect();
        let good = whole.last().copied().unwrap_or(0);
        let torn = &file[..length];
        assert_eq!(recover(torn).unwrap(), good, "{length}");
        let (records, problems, torn_at) = read(torn);
        assert_eq!(records.len(), whole.len(), "{length}");
        let expected = (good < length as u64).then_some(good);
        assert_eq!(torn_at, expected, "{length}");
        assert_eq!(problems.len(), usize::from(expected.is_some()), "{length}");
    }
}

#[test]
fn every_torn_length_of_a_plain_file_recovers_the_whole_records() {
    let record = |n: usize| {
        let block = "x".repeat(n);
        format!("WARC/1.0\r\nWARC-Type: resource\r\nContent-Length: {n}\r\n\r\n{block}\r\n\r\n")
    };
    let parts: Vec<String> = [0, 5, 30].into_iter().map(record).collect();
    let file = parts.concat();
    for length in 0..=file.len() {
        let mut good = 0;
        for part in &parts {
            if good + part.len() > length {
                break;
            }
            good += part.len();
        }
        assert_eq!(
            recover(&file.as_bytes()[..length]).unwrap(),
            good as u64,
            "{length}"
        );
    }
}

#[test]
fn a_damaged_member_costs_its_record_alone() {
    let (file, written) = small();
    let (whole, _, _) = read(&file);
    for at in 0..file.len() {
        let mut damaged = file.clone();
        damaged[at] ^= 0x55;
        let hit = written
            .iter()
            .position(|one| (one.offset..one.offset + one.length_bytes).contains(&(at as u64)))
            .unwrap();
        let (records, problems, _) = read(&damaged);
        // Fields of the gzip head, such as its time, carry nothing.
        let in_head = at as u64 - written[hit].offset < 10;
        assert!(in_head || !problems.is_empty(), "{at}");
        let kept = whole.iter().enumerate().filter(|(n, _)| *n != hit);
        for (n, record) in kept {
            let found = records
                .iter()
                .any(|one| one.block == record.block && one.headers == record.headers);
            // Damage to the first byte of the file makes it a plain one.
            assert!(
                found || at == 0,
                "byte {at}, record {n} of {}: {problems:?}",
                records.len()
            );
        }
    }
}

#[test]
fn lengths_that_lie_cost_no_other_record() {
    let one = |length: usize, block: &str| {
        format!(
            "WARC/1.0\r\nWARC-Type: resource\r\nContent-Length: {length}\r\n\r\n{block}\r\n\r\n"
        )
    };
    let file = one(2, "abcdef") + &one(3, "xyz");
    let (records, problems, _) = read(file.as_bytes());
    let blocks: Vec<_> = records.iter().map(|record| &*record.block).collect();
    assert_eq!(blocks, [&b"ab"[..], b"xyz"]);
    assert!(
        matches!(problems[..], [Problem::NotARecord { bytes: 8, .. }]),
        "{problems:?}"
    );
    let missing = "WARC/1.0\r\nWARC-Type: resource\r\n\r\nabc\r\n\r\n".to_owned() + &one(1, "x");
    let (records, problems, _) = read(missing.as_bytes());
    assert_eq!((records.len(), problems.len()), (1, 1));
}

#[test]
fn blocks_are_cut_and_long_records_left_out() {
    let mut writer = Writer::new(Vec::new(), 0, 1);
    let head = b"HTTP/1.1 200 OK\r\n\r\n";
    let about = about("http://a/", 0);
    writer
        .response(&about, head, &vec![b'x'; 1 << 20], None)
        .unwrap();
    writer.response(&about, head, b"y", None).unwrap();
    let file = writer.into_inner();
    let limits = Limits {
        block_bytes_max: 100,
        ..Limits::default()
    };
    let mut reader = Reader::with_limits(&file[..], limits);
    let Some(Item::Record(record)) = reader.next().unwrap() else {
        panic!()
    };
    assert_eq!(
        (record.block.len(), record.block_bytes),
        (100, (1 << 20) + 19)
    );
    assert!(record.is_cut() && record.block_digest() == DigestCheck::Unknown);
    let limits = Limits {
        record_bytes_max: 1 << 17,
        ..Limits::default()
    };
    let mut reader = Reader::with_limits(&file[..], limits);
    let first = reader.next().unwrap();
    assert!(
        matches!(first, Some(Item::Problem(Problem::TooLong { .. }))),
        "{first:?}"
    );
    let Some(Item::Record(record)) = reader.next().unwrap() else {
        panic!()
    };
    assert_eq!(record.payload(), b"y");
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 40, ..ProptestConfig::default() })]

    #[test]
    fn random_records_are_read_back(
        records in prop::collection::vec(
            ("[ -~é]{0,30}", prop::collection::vec(any::<u8>(), 0..2_000), 0..100_000i64),
            1..25,
        )
    ) {
        let mut writer = Writer::new(Vec::new(), 0, 3);
        let head = b"HTTP/1.1 200 OK\r\nServer: x\r\n\r\n";
        let mut written = Vec::new();
        for (uri, body, second) in &records {
            written.push(writer.response(&about(uri, *second), head, body, None).unwrap());
        }
        let (read, problems, torn_at) = read(&writer.into_inner());
        prop_assert_eq!((problems, torn_at), (vec![], None));
        prop_assert_eq!(read.len(), records.len());
        for ((record, (_, body, second)), written) in read.iter().zip(&records).zip(&written) {
            prop_assert_eq!(record.payload(), &**body);
            prop_assert_eq!(record.date, Some(date(*second)));
            prop_assert_eq!(record.place.length_bytes, Some(written.length_bytes));
            prop_assert_eq!(record.payload_digest(), DigestCheck::Equal);
        }
    }

    #[test]
    fn any_bytes_are_read(
        parts in prop::collection::vec(
            prop_oneof![
                Just(b"WARC/1.0\r\n".to_vec()),
                Just(b"WARC/1.1\r\nContent-Length: 3\r\n\r\n".to_vec()),
                Just(b"Content-Length: 99999999999999999999\r\n".to_vec()),
                Just(b"http://a/ 1.2.3.4 20200101000000 text/html 4\n".to_vec()),
                Just(b"\r\n\r\n".to_vec()),
                Just(b"\x1f\x8b\x08\0\0\0\0\0\0\0".to_vec()),
                Just(small().0[..200].to_vec()),
                prop::collection::vec(any::<u8>(), 0..40),
            ],
            0..12,
        )
    ) {
        let bytes = parts.concat();
        read(&bytes);
        prop_assert!(recover(&bytes[..]).unwrap() <= bytes.len() as u64);
    }
}
