//! `shorttail lab balance`: distribution of the postings of terms over partitions.

use console::figures::count;
use console::opened::open_verified;
use index::{DocId, Field, Index, Layout};
use std::collections::{BTreeMap, HashMap};
use std::io::Write;
use std::path::PathBuf;
use std::process::ExitCode;

const EXAMPLES: &str = "\
Deleted documents count until the index is optimized; title and body count as one text.

EXAMPLES:
    shorttail lab balance my-index
        Show the difference between the two halves of an index, for rare and for frequent terms
    shorttail lab balance my-index --partitions 2 --json
        Print one line for each distribution of the postings of a term over 2 partitions";

/// Show how evenly the postings of terms are distributed over partitions
#[derive(Debug, clap::Args)]
#[command(after_help = EXAMPLES)]
pub(super) struct BalanceArguments {
    /// The directory of the index
    #[arg(value_name = "INDEX")]
    directory: PathBuf,
    /// Number of partitions to distribute the chunks to, whatever the layout of the index
    #[arg(long, value_name = "P", default_value = "2", value_parser = clap::value_parser!(u32).range(1..=65_536))]
    partitions: u32,
    /// Print JSON lines: the documents of each partition, then the number of terms of each distribution
    #[arg(long)]
    json: bool,
}

/// Runs the subcommand.
pub(super) fn run(arguments: &BalanceArguments) -> anyhow::Result<ExitCode> {
    let index = open_verified(&arguments.directory)?;
    let layout = index.layout_for(arguments.partitions)?;
    let (documents, terms) = weigh(&index, &layout)?;
    let mut distributions: BTreeMap<&[u64], u64> = BTreeMap::new();
    for postings in terms.values() {
        *distributions.entry(postings).or_default() += 1;
    }
    let mut stdout = std::io::BufWriter::new(std::io::stdout().lock());
    match arguments.json {
        true => write_json(&mut stdout, &documents, &distributions)?,
        false => write_table(&mut stdout, &documents, &distributions)?,
    }
    stdout.flush()?;
    Ok(ExitCode::SUCCESS)
}

/// Number of postings in each partition, by term.
type Postings = HashMap<Box<str>, Box<[u64]>>;

/// Counts the documents of each partition and the postings of every term.
fn weigh(index: &Index, layout: &Layout) -> anyhow::Result<(Vec<u64>, Postings)> {
    let mut documents = vec![0u64; layout.partitions as usize];
    let mut terms = Postings::new();
    for segment in index.segments(..) {
        let docs = (0..segment.documents_count()).map(DocId);
        let chunks = docs.map(|doc| layout.chunk_of(segment.url_hash(doc)));
        let partitions: Vec<u32> = chunks.map(|chunk| layout.partition_of(chunk)).collect();
        for (doc, &partition) in (0..).map(DocId).zip(&partitions) {
            documents[partition as usize] += u64::from(!segment.is_deleted(doc));
        }
        let mut failed = None;
        segment.terms_with_prefix(Field::Text, "", |term, record| {
            let of_term = match terms.get_mut(term) {
                Some(of_term) => of_term,
                None => terms
                    .entry(term.into())
                    .or_insert_with(|| vec![0; documents.len()].into()),
            };
            let counted = segment.postings(&record).and_then(|mut postings| {
                while postings.doc() != DocId::END {
                    of_term[partitions[postings.doc().0 as usize] as usize] += 1;
                    postings.next();
                }
                postings.take_error().map_or(Ok(()), Err)
            });
            failed = failed.take().or(counted.err());
        })?;
        if let Some(error) = failed {
            return Err(error.into());
        }
    }
    Ok((documents, terms))
}

fn write_json(
    out: &mut impl Write,
    documents: &[u64],
    distributions: &BTreeMap<&[u64], u64>,
) -> anyhow::Result<()> {
    writeln!(out, "{}", serde_json::json!({ "documents": documents }))?;
    for (postings, terms) in distributions {
        let line = serde_json::json!({ "postings": postings, "terms": terms });
        writeln!(out, "{line}")?;
    }
    Ok(())
}

/// Classes of terms by their number of postings in all partitions.
const CLASSES: [(&str, u64); 4] = [
    ("all", 1),
    ("10 and more", 10),
    ("100 and more", 100),
    ("1,000 and more", 1000),
];

fn write_table(
    out: &mut impl Write,
    documents: &[u64],
    distributions: &BTreeMap<&[u64], u64>,
) -> anyhow::Result<()> {
    let documents: Vec<String> = documents.iter().copied().map(count).collect();
    writeln!(out, "documents   {}", documents.join("  "))?;
    writeln!(
        out,
        "\n{:<16} {:>12}  {:>14}  {:>14}",
        "postings", "terms", "ratio < 1.1", "ratio < 2"
    )?;
    for (name, least) in CLASSES {
        let of_class = || {
            let all = distributions.iter();
            all.filter(|(postings, _)| postings.iter().sum::<u64>() >= least)
        };
        let terms: u64 = of_class().map(|(_, terms)| terms).sum();
        let below = |limit: f64| {
            let balanced = of_class().filter(|(postings, _)| {
                let max = postings.iter().max().copied().unwrap_or_default() as f64;
                let min = postings.iter().min().copied().unwrap_or_default() as f64;
                max < limit * min
            });
            let balanced: u64 = balanced.map(|(_, terms)| terms).sum();
            match terms {
                0 => "-".to_owned(),
                terms => format!("{:.1} %", balanced as f64 / terms as f64 * 100.0),
            }
        };
        let (tight, loose) = (below(1.1), below(2.0));
        writeln!(
            out,
            "{name:<16} {:>12}  {tight:>14}  {loose:>14}",
            count(terms)
        )?;
    }
    writeln!(
        out,
        "\nratio: postings in the fullest partition over those in the emptiest"
    )?;
    Ok(())
}
