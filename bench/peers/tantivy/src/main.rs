//! Tantivy behind the protocol of this comparison.

mod build;
mod engine;
#[path = "../../protocol.rs"]
mod protocol;

use protocol::{Asked, Result};
use tantivy::tokenizer::{LowerCaser, SimpleTokenizer, TextAnalyzer};

/// Fields and the tokenizer, by the names that the index knows them by.
const URL: &str = "url";
const BODY: &str = "body";
const TOKENIZER: &str = "words_in_lower_case";

/// Maximal runs of alphanumeric characters, in lower case.
fn analyzer() -> TextAnalyzer {
    TextAnalyzer::builder(SimpleTokenizer::default())
        .filter(LowerCaser)
        .build()
}

fn main() -> Result<()> {
    match protocol::asked()? {
        Asked::Index(arguments) => build::index(&arguments)?.print(),
        Asked::Serve(serving) => {
            let mut engine = engine::Engine::open(&serving.directory, serving.threads)?;
            protocol::serve(&mut engine, &serving)?;
        }
    }
    Ok(())
}
