//! Reading speed of documents: `cargo run --release --example read -- SOURCE...`. With `JSON=1` in the environment, each document is
//! printed as a line of JSON, for comparison with other readers.
#![allow(clippy::print_stdout)]

use corpus::{ReadOptions, Reader, Source};
use std::time::Instant;

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let sources = if arguments.is_empty() {
        vec![Source::Machine]
    } else {
        arguments
            .iter()
            .map(|argument| Source::parse(argument))
            .collect::<Result<_, _>>()?
    };
    let start = Instant::now();
    let mut reader = Reader::open(sources, ReadOptions::default())?;
    let listed = start.elapsed();
    let (mut kept_bytes, mut seen) = (0, 0u64);
    while let Some(document) = reader.next_document()? {
        kept_bytes += document.title.len() + document.body.len();
        seen += 1;
        if std::env::var_os("JSON").is_some() {
            let mut shown = document.fields.clone();
            shown.insert("url".into(), document.url.clone().into());
            shown.insert("title".into(), document.title.clone().into());
            shown.insert("body".into(), document.body.clone().into());
            println!("{}", json::Value::Object(shown));
        }
        if std::env::var_os("SHOW").is_some() && seen % 997 == 1 {
            println!(
                "{} | {} | {}",
                document.url,
                document.title,
                document.body.len()
            );
        }
    }
    let seconds = start.elapsed().as_secs_f64();
    let progress = reader.progress();
    println!("{progress:?}\nlisted in {listed:?}, title and body {kept_bytes} bytes");
    println!(
        "{seconds:.2} s, {:.0} MB/s of text",
        progress.text_bytes as f64 / 1e6 / seconds
    );
    for bad in reader.bad_documents() {
        println!("{bad}");
    }
    Ok(())
}
