//! Prints the made-up collection: `made_up documents N` as JSON lines, `made_up queries N` one a line.

use std::io::Write;
use testkit::MadeUp;

fn main() -> std::io::Result<()> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let (what, count) = match arguments.as_slice() {
        [what, count] => (what.as_str(), count.parse().unwrap_or(0)),
        _ => ("", 0),
    };
    let made_up = MadeUp::default();
    let mut out = std::io::BufWriter::new(std::io::stdout().lock());
    match what {
        // Nothing in these words need be escaped.
        "documents" => {
            for document in made_up.documents(count) {
                let (url, title, body) = (document.url, document.title, document.body);
                writeln!(
                    out,
                    r#"{{"url":"{url}","title":"{title}","body":"{body}"}}"#
                )?;
            }
        }
        "queries" => {
            for query in made_up.queries(count) {
                writeln!(out, "{query}")?;
            }
        }
        _ => {
            eprintln!("usage: made_up documents|queries N");
            std::process::exit(2);
        }
    }
    out.flush()
}
