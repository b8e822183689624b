//! Tests of the facade through its own types alone.

mod cancelling;
mod messages;
mod queries;
mod requests;
mod writing;

use shorttail::{Answer, Document, Index};
use tempfile::TempDir;

/// Index of made-up pages in a directory of its own.
struct Bed {
    directory: TempDir,
    index: Index,
}

impl Bed {
    /// Returns an index without documents.
    fn empty() -> Bed {
        let directory = tempfile::tempdir().unwrap();
        let index = Index::create(directory.path()).unwrap();
        Bed { directory, index }
    }

    /// Returns an index of `count` documents.
    fn of(count: usize) -> Bed {
        let bed = Bed::empty();
        bed.add((0..count).map(page));
        bed
    }

    fn add(&self, documents: impl IntoIterator<Item = Document>) {
        let mut writer = self.index.writer().unwrap();
        for document in documents {
            writer.add(document).unwrap();
        }
        writer.commit().unwrap();
    }
}

const WORDS: [&str; 7] = ["short", "long", "tail", "tuft", "story", "moon", "river"];

/// Returns the document of a number: some words, and fields of all types.
fn page(number: usize) -> Document {
    let word = |at: usize| WORDS[(number * (at + 3) + at * at) % WORDS.len()];
    let body: Vec<&str> = (0..5 + number % 9).map(word).collect();
    Document::new(format!("https://s{}.example/{number}", number % 4))
        .title(format!("{} {number}", word(1)))
        .body(body.join(" "))
        .field("price", number)
        .field("lang", ["en", "de", "de-at"][number % 3])
        .field("date", format!("202{}-05-06", number % 5))
        .field("note", format!("{} ", word(2)).repeat(40))
}

fn urls(answer: &Answer) -> Vec<&str> {
    answer.hits.iter().map(|hit| &*hit.url).collect()
}

#[test]
fn types_go_to_other_threads() {
    fn check<T: Send + Sync + std::fmt::Debug>() {}
    check::<Index>();
    check::<shorttail::Query>();
    check::<shorttail::SearchRequest>();
    check::<Answer>();
    check::<shorttail::Error>();
    check::<shorttail::CancelToken>();
    check::<shorttail::WriterBuilder>();
    check::<shorttail::Optimizer>();
    fn moves<T: Send + std::fmt::Debug>() {}
    moves::<shorttail::Writer>();
}
