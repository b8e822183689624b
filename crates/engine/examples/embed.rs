//! A program that embeds the engine: indexes three documents, searches them, and explains a score.
//!
//!     cargo run -p shorttail-engine --example embed

use engine::{Engine, SearchOptions};
use std::error::Error;
use std::sync::Arc;
use vfs::RealStorage;

fn main() -> Result<(), Box<dyn Error>> {
    let directory = tempfile::tempdir()?;
    let storage = Arc::new(RealStorage::create_directory(directory.path())?);
    let mut writer = index::Writer::open(storage, index::BuildOptions::default())?;
    for (number, body) in ["a short tail", "a long tail", "no tail at all"]
        .into_iter()
        .enumerate()
    {
        writer.add(document::Document {
            url: format!("https://site{number}.example/"),
            title: format!("Document {number}"),
            body: body.to_owned(),
            ..Default::default()
        })?;
    }
    writer.commit()?;

    let engine = Engine::open(directory.path())?;
    let options = SearchOptions {
        explain: true,
        ..SearchOptions::default()
    };
    let answer = engine.search("tail -long", &options)?;
    println!("{} documents match", answer.total.value);
    for hit in &answer.hits {
        println!("{:.3} {} {}", hit.score, hit.url, hit.summary);
    }
    assert_eq!(answer.total.value, 2);
    assert!(answer.hits.iter().all(|hit| hit.explanation.is_some()));

    let found = engine.document("https://site1.example/")?;
    assert_eq!(
        found.map(|found| found.body),
        Some("a long tail".to_owned())
    );
    Ok(())
}
