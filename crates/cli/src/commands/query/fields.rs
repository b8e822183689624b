//! `shorttail fields`: the typed fields of an index.

use crate::facets::shown;
use console::figures::{bytes, count};
use console::opened::open_index;
use console::terminal::{Style, print, printable};
use fields::{Prior, Searched};
use index::FieldSummary;
use std::path::PathBuf;
use std::process::ExitCode;

const EXAMPLES: &str = "\
EXAMPLES:
    shorttail fields my-index
        Show each field: its type, documents, distinct values, bytes, and its most frequent values
    shorttail fields my-index --json
        The same as one JSON object

Types are inferred from the first documents that have a field, and stay. Fields of type keyword,
i64, f64, bool and date filter (lang:en, date:>=2024), sort and are counted as facets; see shorttail
search --help. The column searched tells how words find a field: words as those of the body, and by
name (brand:samsung); only by name; as typed, numbers and dates as they stand there; or no, not at
all.";

/// Show the fields of an index, their types and values
#[derive(Debug, clap::Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct FieldsArguments {
    /// The directory of the index
    #[arg(value_name = "INDEX")]
    directory: PathBuf,
    /// Print the fields as one JSON object
    #[arg(long)]
    json: bool,
}

/// Runs the subcommand.
pub(crate) fn run(arguments: FieldsArguments) -> anyhow::Result<ExitCode> {
    let index = open_index(&arguments.directory)?;
    let fields = index.field_summaries()?;
    let text = match arguments.json {
        true => format!("{}\n", json(&fields)),
        false if fields.is_empty() => {
            "no document has fields besides url, id, title and body\n".to_owned()
        }
        false => table(&fields, Style::of_stdout()),
    };
    print(&text)?;
    Ok(ExitCode::SUCCESS)
}

fn table(fields: &[FieldSummary], style: Style) -> String {
    let heads = [
        "field",
        "type",
        "searched",
        "documents",
        "distinct",
        "bytes",
        "least .. greatest",
        "most frequent",
    ];
    let mut rows = vec![heads.map(str::to_owned)];
    for field in fields {
        let ends = match (&field.least, &field.greatest) {
            (Some(least), Some(greatest)) => {
                format!(
                    "{} .. {}",
                    shown(&least.to_json()),
                    shown(&greatest.to_json())
                )
            }
            _ => String::new(),
        };
        let frequent = field.frequent.iter();
        let frequent: Vec<String> = frequent
            .map(|(value, documents)| {
                format!("{} ({})", shown(&value.to_json()), count(*documents))
            })
            .collect();
        let at_least = if field.distinct_is_exact { "" } else { "≥ " };
        let is_columnar = field.kind.is_columnar();
        let is_counted = is_columnar || field.searched.is_some();
        let figure = |text: String| if is_columnar { text } else { String::new() };
        rows.push([
            printable(&field.name),
            field.kind.to_string(),
            searched(field).to_owned(),
            match is_counted {
                true => count(field.documents_count),
                false => String::new(),
            },
            figure(format!("{at_least}{}", count(field.distinct_count))),
            figure(bytes(field.bytes)),
            ends,
            match is_columnar {
                true => values(field, frequent),
                false => words(field),
            },
        ]);
    }
    let width = |column: usize| {
        let cells = rows.iter().map(|row| row[column].chars().count());
        cells.max().unwrap_or(0)
    };
    let widths: [usize; 8] = std::array::from_fn(width);
    let mut text = String::new();
    for (number, row) in rows.iter().enumerate() {
        let cells = row.iter().enumerate().map(|(column, cell)| match column {
            3..=5 => format!("{cell:>0$}", widths[column]),
            _ => format!("{cell:<0$}", widths[column]),
        });
        let line = cells.collect::<Vec<_>>().join("  ");
        let line = line.trim_end();
        match number {
            0 => text.push_str(&style.faint(line)),
            _ => text.push_str(line),
        }
        text.push('\n');
    }
    text
}

/// Tells how words find a field.
fn searched(field: &FieldSummary) -> &'static str {
    match &field.searched {
        Some(searched) if searched.is_in_text() => "words",
        Some(_) => "by name",
        None if field.is_searched => "as typed",
        None => "no",
    }
}

/// Tells the most frequent values of a field, how many do not fit its type, its prior, and settings of its words.
fn values(field: &FieldSummary, mut told: Vec<String>) -> String {
    if field.misfits_count > 0 {
        told.push(console::figures::counted(field.misfits_count, "misfit"));
    }
    told.extend(
        field
            .prior
            .map(|Prior { weight, pivot }| format!("prior of weight {weight}, pivot {pivot}")),
    );
    let unset = |searched: &Searched| *searched == Searched::new(searched.number);
    if field.searched.is_some_and(|searched| !unset(&searched)) {
        told.push(words(field));
    }
    told.join(", ")
}

/// Tells how the words of a text are searched.
fn words(field: &FieldSummary) -> String {
    let Some(searched) = &field.searched else {
        return "stored only".to_owned();
    };
    let told = match searched.is_in_text() {
        true => format!("weight {}", searched.weight),
        false => format!("found by {}: alone", printable(&field.name)),
    };
    let b = searched.b.map_or(String::new(), |b| format!(", b {b}"));
    let words = console::figures::counted(field.words_count, "word");
    let analyzer = searched
        .analyzer
        .map(|analyzer| format!(", analyzer {analyzer}"));
    format!("{words}, {told}{b}{}", analyzer.unwrap_or_default())
}

fn json(fields: &[FieldSummary]) -> serde_json::Value {
    let value = |value: &Option<fields::Value>| value.as_ref().map(fields::Value::to_json);
    let one = |field: &FieldSummary| {
        serde_json::json!({
            "name": field.name,
            "type": field.kind.name(),
            "documents": field.documents_count,
            "values": field.values_count,
            "misfits": field.misfits_count,
            "distinct": field.distinct_count,
            "distinct_is_exact": field.distinct_is_exact,
            "bytes": field.bytes,
            "words": field.words_count,
            "searched": field.is_searched,
            "searchable": field.kind.is_columnar() || field.searched.is_some(),
            "weight": field.searched.map(|searched| searched.weight),
            "b": field.searched.and_then(|searched| searched.b),
            "prior": field.prior,
            "analyzer": field.searched.and_then(|searched| searched.analyzer).map(|analyzer| analyzer.name()),
            "least": value(&field.least),
            "greatest": value(&field.greatest),
            "frequent": field.frequent.iter().map(|(value, documents)| serde_json::json!({
                "value": value.to_json(), "documents": documents,
            })).collect::<Vec<_>>(),
        })
    };
    serde_json::json!({ "fields": fields.iter().map(one).collect::<Vec<_>>() })
}
