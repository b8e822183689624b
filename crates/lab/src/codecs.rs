//! Index size, search time and decoding time of each codec over the same documents, measured in process.
//!
//! The measures of the codecs alternate, so that changes on the machine affect both. The times are not
//! response times: no server, one thread, warm caches (see `shorttail bench`).
use crate::LabError;
use crate::ask::{ask, one_line};
use crate::sizes::{bytes_below, documents_told, first_lines};
use load::Live;
use serde::Deserialize;
use std::path::{Path, PathBuf};
use std::process::Command;

/// Codecs as named by `shorttail index --codec`; the default first.
pub(crate) const CODECS: [&str; 2] = ["packed", "vint"];
/// Upper limit on searched queries: enough for shares by word count, and few enough for several passes.
const QUERIES_MAX: usize = 400;
/// Passes per measure, of which the shortest time counts: other programs only add time.
const PASSES: &str = "5";

/// Index of one codec and the times of its searches.
#[derive(Debug, Clone, PartialEq, Default)]
pub(crate) struct CodecCell {
    pub(crate) codec: &'static str,
    pub(crate) documents_count: u64,
    /// Size of the index without texts, in bytes.
    pub(crate) index_bytes: u64,
    /// Times by repetition, each with all queries in order.
    pub(crate) measures: Vec<Vec<QueryTime>>,
}

/// Times of one query in one measure.
#[derive(Debug, Clone, PartialEq, Deserialize)]
pub(crate) struct QueryTime {
    pub(crate) query: String,
    /// Time of analysis, plan and search in the fastest pass, in microseconds.
    #[serde(rename = "min_us")]
    pub(crate) search_us: f64,
    /// Time to decode the same postings without searching, in the fastest pass, in microseconds.
    #[serde(rename = "decoding_min_us")]
    pub(crate) decoding_us: f64,
    #[serde(rename = "postings_decoded")]
    pub(crate) postings_count: u64,
}

/// Input of the comparison.
pub(crate) struct Codecs<'a> {
    pub(crate) binary: &'a Path,
    pub(crate) corpus: &'a Path,
    /// Share of the documents to index.
    pub(crate) share: f64,
    /// Folder for documents, queries and indexes; removed afterwards.
    pub(crate) scratch: PathBuf,
    pub(crate) queries: &'a [String],
    pub(crate) repetitions: usize,
    pub(crate) live: &'a Live,
}

impl Codecs<'_> {
    /// Builds and measures the indexes; `told` receives progress messages.
    pub(crate) fn measure(&self, told: impl FnMut(String)) -> Result<Vec<CodecCell>, LabError> {
        let measured = self.measure_in_scratch(told);
        let _ = std::fs::remove_dir_all(&self.scratch);
        measured
    }

    fn measure_in_scratch(&self, mut told: impl FnMut(String)) -> Result<Vec<CodecCell>, LabError> {
        let failed = |error: std::io::Error| LabError::file(&self.scratch, error);
        std::fs::create_dir_all(&self.scratch).map_err(failed)?;
        let part = self.scratch.join("part.jsonl");
        first_lines(self.corpus, self.share, &part)?;
        let queries = self.scratch.join("queries.txt");
        std::fs::write(&queries, one_a_line(self.queries)).map_err(failed)?;
        let mut cells = Vec::new();
        for codec in CODECS {
            told(format!("{codec}: index"));
            cells.push(self.build(codec, &part)?);
        }
        for repetition in 1..=self.repetitions {
            for cell in &mut cells {
                told(format!("{}, repetition {repetition}", cell.codec));
                let measured = self.bench(cell.codec, &queries)?;
                cell.measures.push(measured);
            }
        }
        Ok(cells)
    }

    fn build(&self, codec: &'static str, part: &Path) -> Result<CodecCell, LabError> {
        let index = self.scratch.join(codec);
        let name = format!("shorttail index --codec {codec}");
        let mut command = Command::new(self.binary);
        command.arg("index").arg(&index).arg(part);
        // One segment keeps every list whole.
        command.args(["--codec", codec, "--texts", "none", "--chunks", "1"]);
        command.args(["--analyzer", "plain"]);
        let said = ask(&mut command, &name, self.live)?;
        let documents_count = documents_told(&said.stdout);
        Ok(CodecCell {
            codec,
            documents_count: documents_count.ok_or_else(|| LabError::Program {
                command: name,
                reason: "it did not say how many documents it holds".into(),
            })?,
            index_bytes: bytes_below(&index).map_err(|error| LabError::file(&index, error))?,
            measures: Vec::new(),
        })
    }

    fn bench(&self, codec: &str, queries: &Path) -> Result<Vec<QueryTime>, LabError> {
        let name = format!("shorttail bench --decoding, codec {codec}");
        let mut command = Command::new(self.binary);
        command.arg("bench").arg(self.scratch.join(codec));
        command.arg("--queries").arg(queries);
        command.args(["--mode", "and", "--decoding", "--passes", PASSES, "--json"]);
        let said = ask(&mut command, &name, self.live)?;
        times(&said.stdout).map_err(|error| LabError::Program {
            command: name,
            reason: format!("its output is not understood: {error}"),
        })
    }
}

/// Returns the first distinct queries as the text of a query file.
fn one_a_line(queries: &[String]) -> String {
    let mut seen = std::collections::HashSet::new();
    let lines = queries.iter().map(|query| one_line(query));
    let distinct = lines.filter(|line| !line.is_empty() && seen.insert(line.clone()));
    distinct.take(QUERIES_MAX).map(|line| line + "\n").collect()
}

/// Parses the line of each query; skips the line of the whole set, which has no query.
fn times(text: &str) -> Result<Vec<QueryTime>, serde_json::Error> {
    let of_query = text.lines().filter(|line| line.starts_with("{\"query\":"));
    of_query.map(serde_json::from_str).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn queries_stand_one_a_line_and_once() {
        let queries = ["b a", "", "a\tb\nc", "b  a"].map(String::from);
        assert_eq!(one_a_line(&queries), "b a\na b c\n");
    }

    #[test]
    fn lines_of_queries_are_read() {
        let text = "{\"query\":\"a\",\"hits\":1,\"min_us\":1.0,\"median_us\":2.5,\"blocks_decoded\":1,\
                    \"postings_decoded\":7,\"decoding_min_us\":0.5,\"decoding_median_us\":1.25}\n\
                    {\"queries\":1,\"mean_us\":2.5}\n";
        let expected = QueryTime {
            query: "a".into(),
            search_us: 1.0,
            decoding_us: 0.5,
            postings_count: 7,
        };
        assert_eq!(times(text).unwrap(), [expected]);
        assert!(
            times("{\"query\":\"a\",\"min_us\":2.5}").is_err(),
            "no decoding"
        );
    }
}
