//! Searches of the made-up collection, for counting instructions.
//!
//! ```text
//! search_made_up collection                               prints documents and queries, to be hashed
//! search_made_up queries COUNT                            prints queries, a line each
//! search_made_up index DIR [REPLACED]                     indexes the documents; replaces every REPLACED-th
//! search_made_up search DIR and|or|phrase K none|exact|only PASSES
//! ```
//!
//! The span that repeats with each pass is what `shorttail bench` measures: analysis, plan and search. Kernels take
//! their newest form, whatever the machine, so that two counts of one program are equal.

use codec::{calibration, processor};
use document::Document;
use index::{BuildOptions, Index, Texts, Writer};
use search::{
    Operator, Plan, Ranking, bag_of_words, count_partition, phrase_of, search_partition,
    top_of_partition,
};
use std::collections::HashSet;
use std::error::Error;
use std::hint::black_box;
use std::path::Path;
use std::sync::Arc;
use testkit::MadeUp;
use text::Analyzer;
use vfs::RealStorage;

const DOCUMENTS: usize = 20_000;
const QUERIES: usize = 64;

const USAGE: &str = "usage: search_made_up collection | queries COUNT | index DIR [REPLACED] | \
                     search DIR and|or|phrase K none|exact|only PASSES";

fn main() -> Result<(), Box<dyn Error>> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let arguments: Vec<&str> = arguments.iter().map(String::as_str).collect();
    match arguments.as_slice() {
        ["collection"] => print_collection(),
        ["queries", count] => {
            print_queries(count.parse()?);
            Ok(())
        }
        ["index", directory] => index(Path::new(directory), None),
        ["index", directory, replaced] => index(Path::new(directory), Some(replaced.parse()?)),
        ["search", directory, mode, k, count, passes] => search(
            Path::new(directory),
            mode,
            k.parse()?,
            count,
            passes.parse()?,
        ),
        _ => Err(USAGE.into()),
    }
}

/// Prints the documents as JSON lines, and then the queries.
fn print_collection() -> Result<(), Box<dyn Error>> {
    let made_up = MadeUp::default();
    // Nothing in these words need be escaped.
    for Document {
        url, title, body, ..
    } in made_up.documents(DOCUMENTS)
    {
        println!(r#"{{"url":"{url}","title":"{title}","body":"{body}"}}"#);
    }
    print_queries(QUERIES);
    Ok(())
}

fn print_queries(count: usize) {
    for query in MadeUp::default().queries(count) {
        println!("{query}");
    }
}

/// Indexes the documents into one segment; then, where `replaced` is given, commits a document of one word in place
/// of every `replaced`-th, which leaves as many deleted documents in the first segment.
fn index(directory: &Path, replaced: Option<usize>) -> Result<(), Box<dyn Error>> {
    let options = || BuildOptions {
        chunks: Some(1),
        threads: 1,
        texts: Some(Texts::None),
        ..BuildOptions::default()
    };
    let storage = Arc::new(RealStorage::create_directory(directory)?);
    let mut writer = Writer::open(storage.clone(), options())?;
    for document in MadeUp::default().documents(DOCUMENTS) {
        writer.add(document)?;
    }
    writer.commit()?;
    if let Some(replaced) = replaced {
        let mut writer = Writer::open(storage, options())?;
        for mut document in MadeUp::default().documents(DOCUMENTS).step_by(replaced) {
            (document.title, document.body) = (String::new(), "replaced".to_owned());
            writer.add(document)?;
        }
        writer.commit()?;
    }
    Ok(())
}

/// Searches every query in `passes` passes, after one that also warms up.
fn search(
    directory: &Path,
    mode: &str,
    k: usize,
    count: &str,
    passes: usize,
) -> Result<(), Box<dyn Error>> {
    calibration::choose_at_most(processor::level());
    let index = Index::open(Arc::new(RealStorage::open(directory)?))?;
    // As servers do in the background: before, each list checks whether its blocks were verified.
    index.verify_whole()?;
    let segments: Vec<_> = index.segments(0..index.chunks_count()).cloned().collect();
    let analyzer = index.analyzer();
    let queries: Vec<String> = MadeUp::default().queries(QUERIES).collect();
    let queries: Vec<String> = queries
        .iter()
        .map(|query| match mode {
            "phrase" => query.clone(),
            _ => distinct_words(query, analyzer),
        })
        .collect();
    let mut found = 0;
    for _ in 0..=passes {
        for text in &queries {
            let query = match mode {
                "and" => bag_of_words(text, analyzer, Operator::And),
                "or" => bag_of_words(text, analyzer, Operator::Or),
                "phrase" => phrase_of(text, analyzer),
                _ => return Err(USAGE.into()),
            };
            let plan = Plan::new(&query, Ranking::default(), index.statistics())?;
            found += black_box(match count {
                "none" => top_of_partition(&plan, &segments, k)?.len() as u64,
                "exact" => search_partition(&plan, &segments, k)?.1,
                "only" => count_partition(&plan, &segments)?,
                _ => return Err(USAGE.into()),
            });
        }
    }
    println!("{found}");
    Ok(())
}

/// Returns the words of a query, each once.
fn distinct_words(text: &str, analyzer: Analyzer) -> String {
    let mut seen = HashSet::new();
    let mut words: Vec<&str> = Vec::new();
    analyzer.each_token(text, &mut String::new(), |token| {
        if seen.insert(token.term.to_owned()) {
            words.push(&text[token.start..token.end]);
        }
    });
    words.join(" ")
}
