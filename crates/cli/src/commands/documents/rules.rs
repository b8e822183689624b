//! `shorttail rules`: the rules of relevance of an index, shown or replaced.

use anyhow::{Context, bail};
use console::failure::note;
use console::figures::counted;
use console::opened::{existing_index, open_index};
use console::terminal::{print, printable};
use fields::Rules;
use index::{BuildOptions, Index, Writer};
use search::QueryRules;
use serde_json::Value;
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::sync::Arc;

const EXAMPLES: &str = "\
Rules are what queries are read with: words that find each other, words that count for nothing, what
adds to scores, and documents that stand first. They change no document, so new ones hold from the
next search on, without indexing again. A server opens them like any commit; at one that writes, PUT
/rules at its admin address replaces them.

A FILE of rules:
    stop_words = [\"the\", \"of\"]
    synonyms = [
        \"tv, telly, television\",        # each finds all of them
        \"big apple, nyc -> new york\",   # those on the left find the right one, too
    ]
    [[priors]]                          # adds to the scores of documents: by a filter,
    filter = \"brand:Acme\"
    weight = 0.5
    [[priors]]                          # or by their age, here half as much after 30 days
    field = \"published\"
    half_days = 30
    weight = 1.0
    [[pins]]                            # for these queries some documents stand first, or are hidden
    queries = [\"opening hours\"]
    first = [\"https://shop.example/hours\"]

EXAMPLES:
    shorttail rules my-index
        Show the rules, as a file of rules
    shorttail rules my-index rules.toml
        Replace all rules by those of a file; an empty file removes them
    shorttail search my-index 'telly' --explain
        Show which rules a query was read with; --no-rules searches without them";

/// Show or replace the rules of an index: synonyms, stop words, priors and pins
#[derive(Debug, clap::Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct RulesArguments {
    /// The directory of the index
    #[arg(value_name = "INDEX")]
    directory: PathBuf,
    /// A TOML file of the rules that take the place of all others
    #[arg(value_name = "FILE")]
    file: Option<PathBuf>,
}

/// Runs the subcommand.
pub(crate) fn run(arguments: RulesArguments) -> anyhow::Result<ExitCode> {
    let Some(file) = &arguments.file else {
        let index = open_index(&arguments.directory)?;
        let rules = index.rules();
        print(&match rules.is_empty() {
            true => "# no rules\n".to_owned(),
            false => written(rules)?,
        })?;
        return Ok(ExitCode::SUCCESS);
    };
    let rules = read_rules(file)?;
    let told = [
        (rules.synonyms.len(), "synonym rule"),
        (rules.stop_words.len(), "stop word"),
        (rules.priors.len(), "prior"),
        (rules.pins.len(), "entry of pins"),
    ];
    let told = told.iter().filter(|(count, _)| *count > 0);
    let told: Vec<String> = told
        .map(|(count, what)| match *what {
            "entry of pins" if *count > 1 => format!("{count} entries of pins"),
            what => counted(*count as u64, what),
        })
        .collect();
    let options = BuildOptions {
        rules: Some(Arc::new(rules)),
        ..BuildOptions::default()
    };
    let storage = existing_index(&arguments.directory)?;
    let summary = Writer::open(storage, options)?
        .commit()
        .context("cannot commit")?;
    print(&format!(
        "{} now has {} (generation {})\n",
        printable(&arguments.directory.display().to_string()),
        match told.is_empty() {
            true => "no rules".to_owned(),
            false => and(&told),
        },
        summary.generation
    ))?;
    for warning in ignored(&*open_index(&arguments.directory)?) {
        note(&format!("note: {warning}"));
    }
    Ok(ExitCode::SUCCESS)
}

/// Joins a list for a sentence: `a, b and c`.
fn and(list: &[String]) -> String {
    match list {
        [before @ .., last] if !before.is_empty() => format!("{} and {last}", before.join(", ")),
        list => list.concat(),
    }
}

/// Returns why rules of an index are not obeyed.
fn ignored(index: &Index) -> Vec<String> {
    let rules = QueryRules::new(index.rules(), index.analyzer(), index.fields());
    rules.map_or_else(Vec::new, |rules| rules.ignored().to_vec())
}

/// Writes rules as a file of them.
fn written(rules: &Rules) -> anyhow::Result<String> {
    let mut text = String::new();
    let lines: Vec<String> = rules.synonyms.iter().map(ToString::to_string).collect();
    for (name, entries) in [("stop_words", &rules.stop_words), ("synonyms", &lines)] {
        if !entries.is_empty() {
            text.push_str(&format!("{name} = [\n"));
            for entry in entries {
                // A JSON text is one of TOML, too.
                text.push_str(&format!("    {},\n", serde_json::to_string(entry)?));
            }
            text.push_str("]\n");
        }
    }
    let tables = Rules {
        synonyms: Vec::new(),
        stop_words: Vec::new(),
        ..rules.clone()
    };
    // So are numbers, and lists of texts.
    let tables: BTreeMap<String, Vec<BTreeMap<String, Value>>> =
        serde_json::from_value(serde_json::to_value(&tables)?)?;
    for (name, entries) in tables {
        for entry in entries {
            text.push_str(&format!("[[{name}]]\n"));
            for (key, value) in entry {
                text.push_str(&format!("{key} = {value}\n"));
            }
        }
    }
    Ok(text)
}

/// Upper limit on a file of rules, in bytes: comments and blanks count.
const FILE_BYTES_MAX: u64 = 4 << 20;

/// Reads a file of rules.
pub(super) fn read_rules(path: &Path) -> anyhow::Result<Rules> {
    let shown = path.display();
    let bytes = std::fs::metadata(path).map_or(0, |file| file.len());
    if bytes > FILE_BYTES_MAX {
        bail!("{shown} has {bytes} bytes; a file of rules has {FILE_BYTES_MAX} at most");
    }
    let text = std::fs::read_to_string(path).with_context(|| format!("cannot read {shown}"))?;
    let rules: Rules = toml::from_str(&text).map_err(|error| {
        let line = error.span().map_or(1, |span| {
            text[..span.start.min(text.len())].lines().count().max(1)
        });
        anyhow::anyhow!(
            "{shown}:{line}: {}; write rules as `shorttail rules --help` shows them",
            error.message()
        )
    })?;
    match rules.check() {
        Ok(()) => Ok(rules),
        Err(reason) => bail!("{shown}: {reason}"),
    }
}
