//! `shorttail analyze`: the terms that a text is indexed by, and the forms in which a query looks for its words.

use crate::languages::{LanguagesChoice, newest};
use anyhow::bail;
use console::terminal::{Style, printable};
use index::Index;
use serde_json::json;
use std::io::{Read, Write};
use std::path::PathBuf;
use std::process::ExitCode;
use text::{Analyzer, Detector, Languages, QueryWord, Way};

const EXAMPLES: &str = "\
Each place of the text has the terms that it is indexed by; phrases count places. A query finds a
word by any of its forms; a form of several terms is a phrase.

EXAMPLES:
    shorttail analyze \"Don't use node.js v1.2.3 for R&D\"
        Show the terms of a text
    shorttail analyze 'Donaudampfschiffe in C++' --languages de
        Stem words as in German
    shorttail analyze --index my-index 'e-mail'
        Show what an index makes of a word, and --field NAME what a field of it does
    man ls | shorttail analyze - --json
        Print the terms of standard input, for programs";

/// Upper limit on standard input, in bytes.
const INPUT_BYTES_MAX: u64 = 16 << 20;

/// Show the terms that a text is indexed by
#[derive(Debug, clap::Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct AnalyzeArguments {
    /// The text, or - for standard input
    #[arg(required = true)]
    text: Vec<String>,
    /// Analyzer: standard, plain, english, or the name that an index shows, such as standard2-en [default: standard]
    #[arg(long, value_name = "NAME", conflicts_with = "index")]
    analyzer: Option<Analyzer>,
    /// Languages whose words `standard` stems: auto (that of the text), none, or codes such as de,ru [default: auto]
    #[arg(long, value_name = "CODES", conflicts_with = "index")]
    languages: Option<LanguagesChoice>,
    /// Use the analyzer of the index in this directory
    #[arg(long, value_name = "INDEX")]
    index: Option<PathBuf>,
    /// Use the analyzer of this field of the index
    #[arg(long, value_name = "NAME", requires = "index")]
    field: Option<String>,
    /// Print one line of JSON
    #[arg(long)]
    json: bool,
}

/// A place of the text: its terms, and the part of the text.
struct Place<'a> {
    terms: Vec<String>,
    written: &'a str,
}

/// Runs the subcommand.
pub(crate) fn run(arguments: AnalyzeArguments) -> anyhow::Result<ExitCode> {
    let text = match arguments.text.as_slice() {
        [only] if only == "-" => read_input()?,
        words => words.join(" "),
    };
    let analyzer = match &arguments.index {
        Some(directory) => {
            let index = console::opened::open_index(directory)?;
            match &arguments.field {
                Some(name) => analyzer_of(&index, name)?,
                None => index.analyzer(),
            }
        }
        None => chosen(arguments.analyzer, arguments.languages, &text)?,
    };
    let places = places(analyzer, &text);
    let mut words = Vec::new();
    analyzer.each_query_word(&text, |word| words.push(word));
    let shown = match arguments.json {
        true => format!("{}\n", as_json(analyzer, &places, &words)),
        false => as_table(analyzer, &places, &words),
    };
    let mut stdout = std::io::stdout().lock();
    stdout.write_all(shown.as_bytes())?;
    stdout.flush()?;
    Ok(ExitCode::SUCCESS)
}

/// Returns the analyzer of the words that are found by the name of a field.
fn analyzer_of(index: &Index, name: &str) -> anyhow::Result<Analyzer> {
    let all = index.analyzer();
    if ["title", "body"].contains(&name) {
        return Ok(all);
    }
    match index.fields().searched(name) {
        Some(searched) => Ok(searched.analyzer.unwrap_or(all)),
        None => bail!(
            "the index has no field {} whose words are searched; `shorttail fields` lists its fields",
            printable(name)
        ),
    }
}

fn read_input() -> anyhow::Result<String> {
    let mut bytes = Vec::new();
    let mut input = std::io::stdin().lock().take(INPUT_BYTES_MAX + 1);
    input.read_to_end(&mut bytes)?;
    if bytes.len() as u64 > INPUT_BYTES_MAX {
        bail!("standard input is longer than {INPUT_BYTES_MAX} bytes: analyze a part of it");
    }
    Ok(String::from_utf8_lossy(&bytes).into_owned())
}

fn chosen(
    analyzer: Option<Analyzer>,
    languages: Option<LanguagesChoice>,
    text: &str,
) -> anyhow::Result<Analyzer> {
    let named = match analyzer {
        None => Analyzer::Standard(Languages::default()),
        Some(named) => newest(named),
    };
    let is_named = named != Analyzer::Standard(Languages::default());
    Ok(match languages {
        Some(_) if !named.shares_places() => {
            bail!("--languages goes with --analyzer standard; `{named}` has its own rules")
        }
        Some(LanguagesChoice::Exactly(languages)) => match named {
            Analyzer::FirstStandard(_) => Analyzer::FirstStandard(languages),
            _ => Analyzer::Standard(languages),
        },
        _ if is_named => named,
        _ => {
            let mut detector = Detector::default();
            detector.add(text);
            let detected = detector.languages().into_iter();
            Analyzer::Standard(detected.map(|(language, _)| language).collect())
        }
    })
}

fn places(analyzer: Analyzer, text: &str) -> Vec<Place<'_>> {
    let mut places: Vec<Place<'_>> = Vec::new();
    analyzer.each_token(text, &mut String::new(), |token| {
        match places.get_mut(token.position as usize) {
            Some(place) => place.terms.push(token.term.to_owned()),
            None => places.push(Place {
                terms: vec![token.term.to_owned()],
                written: &text[token.start..token.end],
            }),
        }
    });
    places
}

fn as_json(analyzer: Analyzer, places: &[Place<'_>], words: &[QueryWord]) -> serde_json::Value {
    let place = |place: &Place<'_>| json!({ "written": place.written, "terms": place.terms });
    let word = |word: &QueryWord| {
        let forms: Vec<&[String]> = word.forms.iter().map(|form| form.as_slice()).collect();
        json!({ "forms": forms, "prefix": word.is_prefix })
    };
    json!({
        "analyzer": analyzer.name(),
        "places": places.iter().map(place).collect::<Vec<_>>(),
        "query_words": words.iter().map(word).collect::<Vec<_>>(),
    })
}

fn as_table(analyzer: Analyzer, places: &[Place<'_>], words: &[QueryWord]) -> String {
    let style = Style::of_stdout();
    let mut table = format!("analyzer {analyzer}\n\n");
    let header = style.faint("place  terms, and what is written");
    table.push_str(&format!("{header}\n"));
    let width = places
        .iter()
        .map(|place| place.terms.join(" ").chars().count());
    let width = width.max().unwrap_or(0).min(40);
    for (number, place) in places.iter().enumerate() {
        let terms = printable(&place.terms.join(" "));
        let gap = " ".repeat(width.saturating_sub(terms.chars().count()));
        let written = style.faint(&printable(place.written));
        table.push_str(&format!(
            "{number:>5}  {}{gap}  {written}\n",
            style.bold(&terms)
        ));
    }
    if words.is_empty() {
        table.push_str("no word\n");
        return table;
    }
    table.push_str(&format!("\n{}\n", style.faint("a query looks for")));
    for word in words {
        table.push_str(&format!("       {}\n", printable(&forms(word))));
    }
    table
}

/// Formats the forms of a word as a query would be typed: `email or "e mail"`.
fn forms(word: &QueryWord) -> String {
    let form = |form: &Way| match form.as_slice() {
        [only] if word.is_prefix => format!("{only}*"),
        [only] => only.clone(),
        several => format!("\"{}\"", several.join(" ")),
    };
    word.forms.iter().map(form).collect::<Vec<_>>().join(" or ")
}
