//! Documents of a log: groups of its lines.
//!
//! A log of a day is no answer to a question; some lines of it are. Each document has up to [`LINES_MAX`] lines and is
//! named by the number of its first one. An entry of several lines, of which all but the first begin with a blank, is not cut.

use crate::extraction::{Extracted, Extraction};
use crate::file;
use crate::input::Input;
use crate::lines::Lines;
use json::Map;

/// Lines of a document.
const LINES_MAX: usize = 100;
/// Upper limit on the bytes of a document, and of a line; the rest of a longer line is left out.
const DOCUMENT_BYTES_MAX: usize = 256 << 10;
/// Lines of an entry, beyond which it is cut all the same.
const ENTRY_LINES_MAX: usize = 1_000;

/// Returns whether a file of this name is a log.
pub(crate) fn is_log(name: &str) -> bool {
    let name = crate::input::decompressed_name(name);
    // Rotated: `app.log.1`.
    let name = name.trim_end_matches(|c: char| c.is_ascii_digit());
    let name = name.strip_suffix(['.', '-']).unwrap_or(name);
    name.rsplit_once('.')
        .is_some_and(|(stem, ending)| !stem.is_empty() && ending.eq_ignore_ascii_case("log"))
}

/// Returns the documents of a log. `name` is its name without folders.
pub(crate) fn documents(name: &str, input: Input) -> Extraction {
    Box::new(Log {
        name: name.to_owned(),
        lines: Lines::new(input),
        next: Vec::new(),
        first: 1,
        ended: false,
    })
}

struct Log {
    name: String,
    lines: Lines,
    /// The line that the next document begins with; empty where none was read.
    next: Vec<u8>,
    /// Its number.
    first: u64,
    ended: bool,
}

impl Iterator for Log {
    type Item = Extracted;

    fn next(&mut self) -> Option<Extracted> {
        if self.ended {
            return None;
        }
        self.lines.input.get_mut().resume();
        let group = self.group();
        self.lines.input.get_mut().pause();
        group
    }
}

impl Log {
    fn group(&mut self) -> Option<Extracted> {
        let mut text = std::mem::take(&mut self.next);
        let (first, mut count) = (self.first, usize::from(!text.is_empty()));
        loop {
            let mut line = Vec::new();
            match self.lines.read(&mut line, DOCUMENT_BYTES_MAX) {
                Ok(0) => {
                    self.ended = true;
                    return (!text.trim_ascii().is_empty()).then(|| self.document(first, text));
                }
                Ok(_) => {}
                Err(error) => {
                    self.ended = true;
                    let reason = file::reason(self.lines.input.get_ref().explain(error));
                    // What was read before is lost with it: a line may be half.
                    return Some(Extracted::Bad {
                        path: String::new(),
                        reason,
                    });
                }
            }
            let goes_on = line
                .first()
                .is_some_and(|byte| matches!(byte, b' ' | b'\t'));
            let is_full = count >= LINES_MAX || text.len() + line.len() > DOCUMENT_BYTES_MAX;
            let is_entry = goes_on
                && count < LINES_MAX + ENTRY_LINES_MAX
                && text.len() + line.len() <= 2 * DOCUMENT_BYTES_MAX;
            if is_full && !is_entry && !text.is_empty() {
                self.next = line;
                self.first = self.lines.number;
                if text.trim_ascii().is_empty() {
                    return self.group();
                }
                return Some(self.document(first, text));
            }
            text.extend_from_slice(&line);
            count += 1;
        }
    }

    fn document(&self, first: u64, text: Vec<u8>) -> Extracted {
        match file::decode(text, self.lines.input.get_ref().meter()) {
            Ok(body) => Extracted::Document {
                path: first.to_string(),
                title: match body.lines().count() {
                    0 | 1 => format!("{}, line {first}", self.name),
                    lines => format!(
                        "{}, lines {first} to {}",
                        self.name,
                        first + lines as u64 - 1
                    ),
                },
                body,
                fields: Map::new(),
            },
            Err(error) => Extracted::Bad {
                path: first.to_string(),
                reason: error.to_string(),
            },
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn read(text: &str) -> Vec<(String, String, String)> {
        let input = Input::from_reader(
            std::io::Cursor::new(text.as_bytes().to_vec()),
            &Default::default(),
        );
        let found = documents("a.log", input).map(|one| match one {
            Extracted::Document {
                path, title, body, ..
            } => (path, title, body),
            other => panic!("{other:?}"),
        });
        found.collect()
    }

    #[test]
    fn groups_of_lines() {
        let text: String = (1..=250)
            .map(|number| format!("entry {number}\n"))
            .collect();
        let found = read(&text);
        let places: Vec<(&str, &str)> = found
            .iter()
            .map(|(path, title, _)| (&**path, &**title))
            .collect();
        assert_eq!(
            places,
            [
                ("1", "a.log, lines 1 to 100"),
                ("101", "a.log, lines 101 to 200"),
                ("201", "a.log, lines 201 to 250"),
            ]
        );
        // An entry of several lines is whole.
        let text: String = (1..=150)
            .map(|number| {
                if (95..110).contains(&number) {
                    "\tat x\n"
                } else {
                    "entry\n"
                }
            })
            .collect();
        let found = read(&text);
        assert_eq!(found[1].0, "110");
        assert_eq!(
            read("one"),
            [("1".to_owned(), "a.log, line 1".to_owned(), "one".to_owned())]
        );
        assert_eq!(read("\n\n"), []);
    }

    #[test]
    fn names() {
        for name in [
            "a.log",
            "a.LOG.gz",
            "app.log.1",
            "app.log.2.gz",
            "app.log-20240501",
        ] {
            assert!(is_log(name), "{name}");
        }
        for name in ["log", ".log", "a.txt", "catalog", "a.log.txt", "log.1"] {
            assert!(!is_log(name), "{name}");
        }
    }

    proptest! {
        /// All lines are in some document, in order.
        #[test]
        fn nothing_is_lost(lines in prop::collection::vec("[ \t]?[a-z]{1,9}", 0..500), bytes in 0usize..2) {
            let text = lines.join("\n") + &"\n".repeat(bytes);
            let found = read(&text);
            let joined: String = found.iter().map(|(_, _, body)| body.as_str()).collect();
            prop_assert_eq!(joined.lines().collect::<Vec<_>>(), lines);
        }
    }
}
