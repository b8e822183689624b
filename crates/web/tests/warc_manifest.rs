//! The reader of WARC files on 29 files of other programs, beside what warcio and FastWARC read of them.
//!
//! Our lengths of records in plain files hold the line ends behind the block, which warcio's leave out.

use serde_json::Value;
use std::collections::BTreeMap;
use std::path::PathBuf;
use web::warc::{DigestCheck, Item, Problem, Reader, Record, recover};

fn folder() -> Option<PathBuf> {
    tier::shared_data("crawler/warc")
}

fn read(bytes: &[u8]) -> (Vec<Record>, Vec<Problem>) {
    let mut reader = Reader::new(bytes);
    let (mut records, mut problems) = (Vec::new(), Vec::new());
    while let Some(item) = reader.next().unwrap() {
        match item {
            Item::Record(record) => records.push(record),
            Item::Problem(problem) => problems.push(problem),
        }
    }
    (records, problems)
}

/// Returns why a difference from warcio is right; `None` for one that is not known.
fn known(file: &str, record: usize, what: &str) -> Option<&'static str> {
    match (file, record, what) {
        ("warcio/example-wrong-chunks.warc.gz", 0, "length" | "payload_bytes") => {
            Some("the record is split over two gzip members, and is read whole")
        }
        ("warcio/bad.arc", 2, "payload_bytes") => Some("a line end is the block's one byte"),
        (file, 0, "payload_bytes") if file.contains(".arc") => {
            Some("the version block of an ARC file is its first record's block")
        }
        ("warcio/example.arc" | "warcio/example-space-in-url.arc", 0, "length") => {
            Some("an empty line more stands behind the version block")
        }
        ("warcio/example-trunc.warc", 2, "length") => Some("bytes stand behind the block"),
        ("warcio/example-space-in-url.arc", 1, "torn") => {
            Some("the file ends 12 bytes before its last record")
        }
        _ => None,
    }
}

fn compare(file: &str, number: usize, record: &Record, row: &Value, gzip: bool) -> Vec<String> {
    let mut differences = Vec::new();
    let mut check = |what: &str, ours: Value, theirs: &Value| {
        if ours != *theirs && known(file, number, what).is_none() {
            differences.push(format!(
                "{file} record {number} {what}: {ours}, not {theirs}"
            ));
        }
    };
    check("type", record.kind.as_str().into(), &row["type"]);
    check("uri", record.uri.clone().into(), &row["uri"]);
    check("offset", record.place.offset.into(), &row["offset"]);
    if row.get("length").is_some() {
        let trailer = match (gzip, file.contains(".arc")) {
            (true, _) => 0,
            (false, true) => 1,
            (false, false) => 4,
        };
        let length = record.place.length_bytes.map(|length| length - trailer);
        check("length", length.into(), &row["length"]);
    }
    check(
        "payload_bytes",
        record.payload().len().into(),
        &row["payload_bytes"],
    );
    if let Some(status) = row.get("http_status") {
        let ours = record.http().and_then(|head| head.status);
        check(
            "http_status",
            ours.map(|status| status.to_string()).into(),
            status,
        );
    }
    if let Some(ok) = row.get("digest_ok") {
        let checks = [record.block_digest(), record.payload_digest()];
        let ours =
            !checks.contains(&DigestCheck::Different) && checks.contains(&DigestCheck::Equal);
        check("digest_ok", ours.into(), ok);
    }
    differences
}

#[test]
fn files_of_others_are_read_as_by_warcio_or_further() {
    let Some(folder) = folder() else { return };
    let manifest = std::fs::read_to_string(folder.join("manifest.jsonl")).unwrap();
    let (mut files, mut rows, mut differences) = (0, 0, Vec::new());
    for line in manifest.lines() {
        let row: Value = serde_json::from_str(line).unwrap();
        let file = row["file"].as_str().unwrap();
        let bytes = std::fs::read(folder.join(file)).unwrap();
        let (records, problems) = read(&bytes);
        let gzip = row["gzip"] == true;
        let list = row["list"].as_array().unwrap();
        for (number, row) in list.iter().enumerate() {
            rows += 1;
            match records.get(number) {
                Some(record) => differences.extend(compare(file, number, record, row, gzip)),
                None if known(file, number, "torn").is_some() => {
                    let torn = matches!(problems[..], [Problem::Torn { offset: 151 }]);
                    assert!(torn, "{problems:?}");
                }
                None => differences.push(format!("{file}: record {number} is missing")),
            }
        }
        // Where warcio stops with an error, FastWARC reads on, and so do we.
        let expected = match row.get("error") {
            Some(_) => &row["fastwarc"],
            None => &row,
        };
        let mut types = BTreeMap::<&str, u64>::new();
        for record in &records {
            *types.entry(record.kind.as_str()).or_default() += 1;
        }
        if known(file, records.len(), "torn").is_some() {
            types.insert("response", 1);
        }
        if serde_json::to_value(&types).unwrap() != expected["types"] {
            differences.push(format!("{file}: {types:?}, not {}", expected["types"]));
        }
        let damaged = ["bad.arc", "example-trunc.warc", "example-space-in-url.arc"];
        let is_damaged = damaged.iter().any(|name| file.ends_with(name));
        if is_damaged == problems.is_empty() {
            differences.push(format!("{file}: {problems:?}"));
        }
        if !is_damaged && recover(&bytes[..]).unwrap() != bytes.len() as u64 {
            differences.push(format!("{file}: cut at {}", recover(&bytes[..]).unwrap()));
        }
        files += 1;
    }
    assert!(differences.is_empty(), "{}", differences.join("\n"));
    assert_eq!((files, rows), (29, 82));
}
