//! Output of `bench --explain-plan`: the work of the search of each query, and its sums.

use super::report::json_line;
use console::figures::count;
use console::terminal::printable;
use search::Profile;
use serde::Serialize;
use std::collections::BTreeMap;
use std::io::{self, Write};

/// Explanation printed below the table.
const NOTE: &str = "\
decoded + as bits + left = blocks. A block of bits is read as it is, unless its documents are wanted one
by one; a block left is one of which only the header was read. Frequencies: blocks whose frequencies were
decoded. Scored: postings; offered: documents compared whole with the worst hit kept. First: the score
that k documents were known to reach before any was read. A list opened twice, to find and to count,
counts twice. Tests of values: how each ran in a segment (list: of the documents that pass; column scan;
probe: of candidates; bits: of all documents, where all matches are counted).";

/// A query and the profile of its search.
pub(super) struct Profiled {
    pub(super) query: String,
    pub(super) profile: Profile,
}

#[derive(Serialize)]
struct QueryLine<'a> {
    query: &'a str,
    algorithm: String,
    terms: Vec<TermLine<'a>>,
    #[serde(flatten)]
    work: Work,
    first_threshold: Option<f32>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    filters: Vec<FilterLine<'a>>,
}

#[derive(Serialize)]
struct FilterLine<'a> {
    segment: u32,
    field: &'a str,
    test: &'a str,
    way: String,
    candidates: u64,
    passed: u64,
}

#[derive(Serialize)]
struct TermLine<'a> {
    term: &'a str,
    documents: u64,
}

#[derive(Serialize)]
struct SumLine {
    queries: u64,
    /// Number of queries by algorithm.
    algorithms: BTreeMap<String, u64>,
    #[serde(flatten)]
    work: Work,
}

/// Counters that are summed over queries.
#[derive(Debug, Clone, Copy, Default, Serialize)]
struct Work {
    blocks: u64,
    blocks_decoded: u64,
    blocks_as_bits: u64,
    blocks_left: u64,
    frequencies_blocks_decoded: u64,
    postings_scored: u64,
    documents_offered: u64,
    pairs_read: u64,
}

impl Work {
    fn of(profile: &Profile) -> Work {
        Work {
            blocks: profile.blocks.blocks_count,
            blocks_decoded: profile.blocks.decoded_count,
            blocks_as_bits: profile.blocks.as_bits_count,
            blocks_left: profile.blocks.left_count,
            frequencies_blocks_decoded: profile.blocks.frequencies_count,
            postings_scored: profile.scored_count,
            documents_offered: profile.offered_count,
            pairs_read: profile.pairs_count,
        }
    }

    fn add(&mut self, more: Work) {
        self.blocks += more.blocks;
        self.blocks_decoded += more.blocks_decoded;
        self.blocks_as_bits += more.blocks_as_bits;
        self.blocks_left += more.blocks_left;
        self.frequencies_blocks_decoded += more.frequencies_blocks_decoded;
        self.postings_scored += more.postings_scored;
        self.documents_offered += more.documents_offered;
        self.pairs_read += more.pairs_read;
    }

    fn columns(&self) -> [String; 8] {
        [
            self.blocks,
            self.blocks_decoded,
            self.blocks_as_bits,
            self.blocks_left,
            self.frequencies_blocks_decoded,
            self.postings_scored,
            self.documents_offered,
            self.pairs_read,
        ]
        .map(count)
    }
}

/// Writes one line of JSON for each query and one for all of them.
pub(super) fn write_json(out: &mut impl Write, profiled: &[Profiled]) -> io::Result<()> {
    for Profiled { query, profile } in profiled {
        let terms = profile.terms.iter().map(|term| TermLine {
            term: &term.term,
            documents: term.documents_count,
        });
        let filters = profile.filters.iter().map(|run| FilterLine {
            segment: run.segment,
            field: &run.field,
            test: &run.test,
            way: run.way.to_string(),
            candidates: run.candidates,
            passed: run.passed,
        });
        let line = QueryLine {
            query,
            algorithm: algorithm(profile),
            terms: terms.collect(),
            work: Work::of(profile),
            first_threshold: profile.first_threshold,
            filters: filters.collect(),
        };
        writeln!(out, "{}", json_line(&line)?)?;
    }
    writeln!(out, "{}", json_line(&sum(profiled))?)?;
    out.flush()
}

/// Writes a table with a row for each query and one for all of them.
pub(super) fn write_table(out: &mut impl Write, profiled: &[Profiled]) -> io::Result<()> {
    let names = [
        "blocks",
        "decoded",
        "as bits",
        "left",
        "frequencies",
        "scored",
        "offered",
        "pairs",
    ];
    write_columns(out, names.map(str::to_owned), "first")?;
    writeln!(out, "{:<16}  query: its words, documents", "algorithm")?;
    for Profiled { query, profile } in profiled {
        let first = profile.first_threshold;
        let first = first.map_or_else(|| "-".to_owned(), |score| format!("{score:.3}"));
        write_columns(out, Work::of(profile).columns(), &first)?;
        let terms: Vec<String> = profile
            .terms
            .iter()
            .map(|term| format!("{} {}", printable(&term.term), count(term.documents_count)))
            .collect();
        let query = printable(query);
        writeln!(
            out,
            "{:<16}  {query}: {}",
            algorithm(profile),
            terms.join(", ")
        )?;
        for run in &profile.filters {
            writeln!(
                out,
                "    {}:{} in segment {}: {}, {} of {} documents passed",
                printable(&run.field),
                printable(&run.test),
                run.segment,
                run.way,
                count(run.passed),
                count(run.candidates)
            )?;
        }
    }
    let SumLine {
        queries,
        algorithms,
        work,
    } = sum(profiled);
    write_columns(out, work.columns(), "")?;
    let ways: Vec<String> = algorithms
        .iter()
        .map(|(name, queries)| format!("{name} {}", count(*queries)))
        .collect();
    writeln!(
        out,
        "{:<16}  {} queries: {}\n\n{NOTE}",
        "all",
        count(queries),
        ways.join(", ")
    )?;
    out.flush()
}

fn write_columns(out: &mut impl Write, columns: [String; 8], first: &str) -> io::Result<()> {
    let [
        blocks,
        decoded,
        bits,
        left,
        frequencies,
        scored,
        offered,
        pairs,
    ] = columns;
    write!(
        out,
        "{blocks:>9}  {decoded:>9}  {bits:>9}  {left:>9}  {frequencies:>11}  {scored:>11}  \
         {offered:>9}  {pairs:>5}  {first:>8}  "
    )
}

/// Returns the names of the algorithms of a query, joined to one word.
fn algorithm(profile: &Profile) -> String {
    match profile.algorithms.as_slice() {
        [] => "-".to_owned(),
        names => names.join("+"),
    }
}

fn sum(profiled: &[Profiled]) -> SumLine {
    let mut algorithms = BTreeMap::new();
    let mut work = Work::default();
    for Profiled { profile, .. } in profiled {
        *algorithms.entry(algorithm(profile)).or_default() += 1;
        work.add(Work::of(profile));
    }
    SumLine {
        queries: profiled.len() as u64,
        algorithms,
        work,
    }
}
