//! Output of `bench`: a table, or JSON lines.

use super::decoding::Decoded;
use super::measured::{Counting, Measured, Mode};
use super::quantiles::{Quantiles, three_decimals};
use console::figures::{count, microseconds};
use console::terminal::printable;
use serde::Serialize;
use std::io::{self, Write};

/// Remark printed with all figures.
const NOTE: &str = "kernel measurement: in process, one thread, warm; not what a client waits";

/// The measured queries and the parameters of the measurement.
pub(super) struct Report<'a> {
    pub(super) measured: &'a [Measured],
    pub(super) mode: Mode,
    pub(super) counting: Counting,
    pub(super) k: usize,
    pub(super) passes: usize,
}

#[derive(Serialize)]
struct QueryLine<'a> {
    query: &'a str,
    hits: Option<u64>,
    top: Option<&'a str>,
    #[serde(serialize_with = "three_decimals")]
    min_us: f64,
    #[serde(serialize_with = "three_decimals")]
    median_us: f64,
    #[serde(flatten)]
    decoding: Option<DecodingLine>,
}

/// Figures of decoding alone.
#[derive(Serialize)]
struct DecodingLine {
    blocks_decoded: u64,
    postings_decoded: u64,
    #[serde(serialize_with = "three_decimals")]
    decoding_min_us: f64,
    #[serde(serialize_with = "three_decimals")]
    decoding_median_us: f64,
}

#[derive(Serialize)]
struct SetLine {
    #[serde(flatten)]
    all: Quantiles,
    answered: Quantiles,
    query_words: Vec<WordsLine>,
    mode: String,
    k: usize,
    count: String,
    passes: usize,
    /// Time of decoding alone divided by that of searches, both summed over all queries.
    #[serde(skip_serializing_if = "Option::is_none")]
    decoding_share: Option<f64>,
    /// Forms of the kernels of the codec.
    kernels: serde_json::Value,
    note: &'static str,
}

#[derive(Serialize)]
struct WordsLine {
    words: String,
    #[serde(flatten)]
    quantiles: Quantiles,
}

impl Report<'_> {
    /// Writes one line of JSON for each query and one for the whole set.
    pub(super) fn write_json(&self, out: &mut impl Write) -> io::Result<()> {
        for measured in self.measured {
            let line = QueryLine {
                query: &measured.query,
                hits: measured.hits,
                top: measured.top.as_deref(),
                min_us: measured.min_us,
                median_us: measured.median_us,
                decoding: measured.decoding.map(DecodingLine::of),
            };
            writeln!(out, "{}", json_line(&line)?)?;
        }
        let line = SetLine {
            all: self.quantiles(|_| true),
            answered: self.quantiles(Measured::has_hit),
            query_words: self.by_words(),
            mode: value_name(self.mode),
            k: self.k,
            count: value_name(self.counting),
            passes: self.passes,
            decoding_share: self.decoding_share(),
            kernels: console::kernels::as_json(),
            note: NOTE,
        };
        writeln!(out, "{}", json_line(&line)?)?;
        out.flush()
    }

    /// Writes the figures as tables.
    pub(super) fn write_table(&self, out: &mut impl Write) -> io::Result<()> {
        writeln!(
            out,
            "{:>10}  {:>10}  {:>10}  query  →  top",
            "hits", "min", "median"
        )?;
        for measured in self.measured {
            writeln!(
                out,
                "{:>10}  {:>10}  {:>10}  {}  →  {}",
                measured.hits.map_or_else(|| "-".to_owned(), count),
                microseconds(measured.min_us),
                microseconds(measured.median_us),
                printable(&measured.query),
                measured
                    .top
                    .as_deref()
                    .map_or_else(|| "-".to_owned(), printable),
            )?;
        }
        writeln!(
            out,
            "\n{:<14} {:>9} {:>10} {:>10} {:>10} {:>10} {:>10} {:>10}",
            "", "queries", "mean", "p50", "p90", "p99", "p99.9", "max"
        )?;
        write_row(out, "all", &self.quantiles(|_| true))?;
        write_row(out, "with a hit", &self.quantiles(Measured::has_hit))?;
        for line in self.by_words() {
            let plural = if line.words == "1" { "" } else { "s" };
            write_row(
                out,
                &format!("{} word{plural}", line.words),
                &line.quantiles,
            )?;
        }
        writeln!(
            out,
            "\nmedians of {} passes, mode {}, k {}, count {}\n{NOTE}\n{}",
            self.passes,
            value_name(self.mode),
            self.k,
            value_name(self.counting),
            console::kernels::as_line(),
        )?;
        if let Some(share) = self.decoding_share() {
            let percent = share * 100.0;
            writeln!(out, "decoding alone takes {percent:.1} % of that time")?;
        }
        out.flush()
    }

    /// Returns the share of decoding in search time; `None` if decoding was not timed or the total time is 0.
    fn decoding_share(&self) -> Option<f64> {
        let decoding_us = |measured: &Measured| Some(measured.decoding?.median_us);
        let decoding_us: Option<f64> = self.measured.iter().map(decoding_us).sum();
        let search_us: f64 = self
            .measured
            .iter()
            .map(|measured| measured.median_us)
            .sum();
        Some(decoding_us? / search_us).filter(|share| share.is_finite())
    }

    fn quantiles(&self, of: impl Fn(&Measured) -> bool) -> Quantiles {
        let chosen = self.measured.iter().filter(|measured| of(measured));
        Quantiles::of(chosen.map(|measured| measured.median_us).collect())
    }

    /// Groups queries by their number of words, those of six or more together.
    fn by_words(&self) -> Vec<WordsLine> {
        const WORDS_MAX: usize = 6;
        let lines = (0..=WORDS_MAX).map(|words| WordsLine {
            words: format!("{words}{}", if words == WORDS_MAX { "+" } else { "" }),
            quantiles: self.quantiles(|measured| measured.words_count.min(WORDS_MAX) == words),
        });
        lines.filter(|line| line.quantiles.queries > 0).collect()
    }
}

impl DecodingLine {
    fn of(decoded: Decoded) -> DecodingLine {
        DecodingLine {
            blocks_decoded: decoded.blocks_count as u64,
            postings_decoded: decoded.postings_count,
            decoding_min_us: decoded.min_us,
            decoding_median_us: decoded.median_us,
        }
    }
}

fn write_row(out: &mut impl Write, name: &str, quantiles: &Quantiles) -> io::Result<()> {
    let [mean, p50, p90, p99, p999, max] = [
        quantiles.mean_us,
        quantiles.p50_us,
        quantiles.p90_us,
        quantiles.p99_us,
        quantiles.p999_us,
        quantiles.max_us,
    ]
    // A zero would look like a measurement.
    .map(|us| {
        if quantiles.queries == 0 {
            "-".to_owned()
        } else {
            microseconds(us)
        }
    });
    let queries = count(quantiles.queries);
    writeln!(
        out,
        "{name:<14} {queries:>9} {mean:>10} {p50:>10} {p90:>10} {p99:>10} {p999:>10} {max:>10}"
    )
}

/// Formats a line of JSON.
pub(super) fn json_line(line: &impl Serialize) -> io::Result<String> {
    Ok(serde_json::to_string(line)?)
}

/// Returns the name of a value of an option.
fn value_name(value: impl clap::ValueEnum) -> String {
    value
        .to_possible_value()
        .map_or_else(String::new, |value| value.get_name().to_owned())
}
