//! A PDF with a new table of its objects, found by their own marks: for files whose table is wrong or gone.
//!
//! ```text
//! 7 0 obj << … >> endobj      an object: the last one with a number counts, as after an incremental update
//! stream … endstream          passed over: what looks like an object within is none
//! /Root 1 0 R                 of the last trailer, or of the last stream that is a table; else the object that is a catalog
//! ```
//!
//! The file stays as it is; table and trailer are appended, and what reads the file begins at its end.

use std::collections::BTreeMap;
use std::io::Write;

/// Upper limit on the numbers of objects, and so on the length of the table.
const NUMBER_MAX: u32 = 8_388_607;
/// Entries of the trailer that refer to an object.
const REFERENCES: [&str; 3] = ["/Root", "/Info", "/Encrypt"];

/// Place of an object, and its generation.
#[derive(Debug, Clone, Copy)]
struct Placed {
    at: usize,
    generation: u16,
}

/// Returns the file with a new table; `None` where it has no object that could be the root.
pub(super) fn rebuilt(bytes: &[u8]) -> Option<Vec<u8>> {
    // Places count from the header, before which mail and servers leave lines of theirs.
    let start = find(bytes, b"%PDF-", 0).unwrap_or(0);
    let mut file = match bytes.get(start..) {
        Some(rest) if rest.starts_with(b"%PDF-") => rest.to_vec(),
        _ => [b"%PDF-1.4\n", bytes].concat(),
    };
    let (objects, catalog) = objects(&file);
    let mut trailer = String::new();
    for name in REFERENCES {
        let reference =
            last_reference(&file, name).filter(|(number, _)| objects.contains_key(number));
        let reference = match (name, reference) {
            ("/Root", None) => Some((catalog?, objects[&catalog?].generation)),
            (_, reference) => reference,
        };
        if let Some((number, generation)) = reference {
            trailer.push_str(&format!("{name} {number} {generation} R "));
        }
    }
    let id = last_value(&file, b"/ID").and_then(|at| {
        let rest = &file[at..];
        let end = rest.iter().position(|&byte| byte == b']')?;
        (rest.first() == Some(&b'[')).then(|| rest[..=end].to_vec())
    });
    file.extend_from_slice(b"\nendstream\nendobj\n");
    let table = file.len();
    // Writing to memory does not fail.
    let _ = write!(file, "xref\n0 1\n0000000000 65535 f \n");
    for (number, placed) in &objects {
        let _ = write!(
            file,
            "{number} 1\n{:010} {:05} n \n",
            placed.at, placed.generation
        );
    }
    let size = objects.keys().last().map_or(1, |last| last + 1);
    let _ = write!(file, "trailer\n<< /Size {size} {trailer}");
    if let Some(id) = id {
        file.extend_from_slice(b"/ID ");
        file.extend_from_slice(&id);
    }
    let _ = write!(file, " >>\nstartxref\n{table}\n%%EOF\n");
    Some(file)
}

/// Returns the objects of a file by their numbers, and the number of the last one that is a catalog.
fn objects(file: &[u8]) -> (BTreeMap<u32, Placed>, Option<u32>) {
    let mut objects = BTreeMap::new();
    let mut catalog = None;
    let mut at = 0;
    while let Some(found) = find(file, b"obj", at) {
        at = found + 3;
        if let Some((number, placed)) = object_before(file, found) {
            objects.insert(number, placed);
            let end = find(file, b"endobj", at).unwrap_or(file.len());
            let stream = find(&file[..end], b"stream", at);
            let head = &file[at..stream.unwrap_or(end)];
            if is_catalog(head) {
                catalog = Some(number);
            }
            if let Some(stream) = stream {
                at = match find(file, b"endstream", stream) {
                    Some(ended) if ended < end || !begins_object(file, end) => ended,
                    // The next object begins before any end of the stream.
                    _ => end,
                };
            }
        }
    }
    (objects, catalog)
}

/// Returns whether an object, or the table of them, follows the `endobj` at a place.
fn begins_object(file: &[u8], endobj: usize) -> bool {
    let rest = file.get(endobj + b"endobj".len()..).unwrap_or_default();
    let rest = rest.trim_ascii_start();
    let digits = rest.iter().take_while(|byte| byte.is_ascii_digit()).count();
    rest.starts_with(b"xref") || (digits > 0 && rest[digits..].starts_with(b" "))
}

/// Reads the `7 0 ` before an `obj`.
fn object_before(file: &[u8], obj: usize) -> Option<(u32, Placed)> {
    let digits_before = |end: usize| {
        let digits = file[..end]
            .iter()
            .rev()
            .take_while(|byte| byte.is_ascii_digit());
        end - digits.take(10).count()
    };
    let blanks_before = |end: usize| {
        let blanks = file[..end]
            .iter()
            .rev()
            .take_while(|byte| byte.is_ascii_whitespace());
        end - blanks.count()
    };
    let number = |from: usize, to: usize| std::str::from_utf8(&file[from..to]).ok()?.parse().ok();
    let generation_end = blanks_before(obj);
    let generation_start = digits_before(generation_end);
    let number_end = blanks_before(generation_start);
    let start = digits_before(number_end);
    if generation_start == generation_end || number_end == generation_start || start == number_end {
        return None;
    }
    let number: u32 = number(start, number_end)?;
    let generation = std::str::from_utf8(&file[generation_start..generation_end]);
    let generation = generation.ok()?.parse().ok()?;
    let placed = Placed {
        at: start,
        generation,
    };
    (number > 0 && number <= NUMBER_MAX).then_some((number, placed))
}

/// Returns whether the head of an object says that it is the catalog.
fn is_catalog(head: &[u8]) -> bool {
    let value = last_value(head, b"/Type");
    value.is_some_and(|at| head[at..].starts_with(b"/Catalog"))
}

/// Returns the object that the last entry of a name refers to.
fn last_reference(file: &[u8], name: &str) -> Option<(u32, u16)> {
    let at = last_value(file, name.as_bytes())?;
    let text: Vec<u8> = file[at..].iter().copied().take(24).collect();
    let text = String::from_utf8_lossy(&text);
    let mut words = text.split_ascii_whitespace();
    let number = words.next()?.parse().ok()?;
    let generation = words.next()?.parse().ok()?;
    words
        .next()?
        .starts_with('R')
        .then_some((number, generation))
}

/// Returns where the value of the last entry of a name begins.
fn last_value(file: &[u8], name: &[u8]) -> Option<usize> {
    let is_name = |window: &[u8]| window == name;
    let found = file.windows(name.len()).rposition(is_name)?;
    let at = found + name.len();
    let blanks = file[at..]
        .iter()
        .take_while(|byte| byte.is_ascii_whitespace());
    Some(at + blanks.count())
}

fn find(bytes: &[u8], wanted: &[u8], from: usize) -> Option<usize> {
    let rest = bytes.get(from..)?;
    let found = rest
        .windows(wanted.len())
        .position(|window| window == wanted)?;
    Some(from + found)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_last_object_of_a_number_counts() {
        let file = b"junk\n%PDF-1.4\n1 0 obj << /Type /Catalog >> endobj\n2 0 obj << >> stream\n9 0 obj endstream endobj\n\
                     1 1 obj<</Type/Catalog/X 1>>endobj";
        let (objects, catalog) = objects(&file[5..]);
        assert_eq!(objects.keys().copied().collect::<Vec<_>>(), [1, 2]);
        assert_eq!((catalog, objects[&1].generation), (Some(1), 1));
        let rebuilt = rebuilt(file).unwrap();
        assert!(rebuilt.starts_with(b"%PDF-1.4"));
        let text = String::from_utf8_lossy(&rebuilt);
        assert!(text.contains("/Root 1 1 R"), "{text}");
    }

    #[test]
    fn objects_after_a_stream_without_an_end_are_found() {
        let file = b"%PDF-1.4\n1 0 obj << /Type /Catalog >> endobj\n2 0 obj << >> stream\nx\nendobj\n3 0 obj << >> stream\ny\nendstream\nendobj\n";
        let (objects, _) = objects(file);
        assert_eq!(objects.keys().copied().collect::<Vec<_>>(), [1, 2, 3]);
    }

    #[test]
    fn what_has_no_root_is_not_rebuilt() {
        for file in [
            &b""[..],
            b"obj",
            b"1 0 obj",
            b"0 0 obj << /Type /Catalog >>",
            b"99999999999 0 obj << /Type/Catalog >>",
        ] {
            assert!(rebuilt(file).is_none(), "{file:?}");
        }
    }
}
