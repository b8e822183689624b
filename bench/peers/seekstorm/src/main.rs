//! SeekStorm behind the protocol of this comparison.

mod build;
mod engine;
#[path = "../../protocol.rs"]
mod protocol;

use protocol::{Asked, Result};

/// The words of some texts, in lower case, with one space between two.
///
/// SeekStorm gets tokenized text, for its tokenizer `Whitespace`: its default one keeps `+`, `-` and
/// `#` in words, so hits would differ. Its indexing time includes both tokenizers.
fn words(texts: &[&str], keep_repeated: bool) -> String {
    let mut out = String::with_capacity(texts.iter().map(|text| text.len() + 1).sum());
    let mut seen: Vec<String> = Vec::new();
    let words = texts
        .iter()
        .flat_map(|text| text.split(|c: char| !c.is_alphanumeric()))
        .filter(|word| !word.is_empty());
    for word in words {
        let start = out.len();
        if word.is_ascii() {
            out.push_str(word);
            out[start..].make_ascii_lowercase();
        } else {
            out.extend(word.chars().flat_map(char::to_lowercase));
        }
        if !keep_repeated {
            if seen.iter().any(|seen| *seen == out[start..]) {
                out.truncate(start);
                continue;
            }
            seen.push(out[start..].to_owned());
        }
        out.push(' ');
    }
    out.truncate(out.trim_end().len());
    out
}

fn main() -> Result<()> {
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()?;
    match protocol::asked()? {
        Asked::Index(arguments) => runtime.block_on(build::index(&arguments))?.print(),
        Asked::Serve(serving) => {
            // Opening may print; the driver skips what comes before READY.
            let mut engine = engine::Engine::open(runtime, &serving.directory)?;
            protocol::serve(&mut engine, &serving)?;
        }
    }
    Ok(())
}
