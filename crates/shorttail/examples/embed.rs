//! A program that embeds the engine: indexes three documents, searches them, explains a score, deletes one.
//!
//!     cargo run -p shorttail --example embed

use shorttail::{Document, Facet, Index, Query, SearchRequest};
use std::error::Error;

fn main() -> Result<(), Box<dyn Error>> {
    let directory = tempfile::tempdir()?;
    let index = Index::builder().language("en").create(directory.path())?;
    let mut writer = index.writer()?;
    for (number, body) in ["a short tail", "long tails", "no tail at all"]
        .into_iter()
        .enumerate()
    {
        writer.add(
            Document::new(format!("https://site{number}.example/"))
                .title(format!("Document {number}"))
                .body(body)
                .field("price", number),
        )?;
    }
    writer.commit()?;

    let request = SearchRequest::new("tail -long")
        .facet(Facet::stats("price"))
        .explain(true);
    let answer = index.search(request)?;
    println!("{} documents match", answer.total.value);
    for hit in &answer.hits {
        println!("{:.3} {} {}", hit.score, hit.url, hit.summary);
    }
    assert_eq!(answer.total.value, 2);
    assert!(answer.hits.iter().all(|hit| hit.explanation.is_some()));

    let cheap = Query::words("tail").and(Query::range("price", ..2));
    assert_eq!(index.search(cheap)?.total.value, 2);

    let mut writer = index.writer()?;
    writer.delete("https://site1.example/")?;
    writer.commit()?;
    assert_eq!(index.search("tail")?.total.value, 2);
    assert_eq!(index.document("https://site1.example/")?, None);
    Ok(())
}
