//! The same documents in an index of each codec, searched in process, with decoding timed alone.
//!
//! The measures of the codecs alternate, so that whatever changes on the machine meanwhile meets both. It is
//! not what a client waits for: no server, one thread, warm (see `shorttail bench`).
use crate::LabError;
use crate::ask::{ask, one_line};
use crate::sizes::{bytes_below, documents_told, first_lines};
use load::Live;
use serde::Deserialize;
use std::path::{Path, PathBuf};
use std::process::Command;

/// As `shorttail index --codec` names them; the default first.
pub(crate) const CODECS: [&str; 2] = ["packed", "vint"];
/// Queries that are searched: enough for shares by words, few enough for many passes.
const QUERIES_MAX: usize = 400;
/// Passes that each measure takes the least time of: what else runs on the machine only adds.
const PASSES: &str = "5";

/// An index of one codec and its searches.
#[derive(Debug, Clone, PartialEq, Default)]
pub(crate) struct CodecCell {
    pub(crate) codec: &'static str,
    pub(crate) documents_count: u64,
    /// Without texts.
    pub(crate) index_bytes: u64,
    /// By repetition, every query in its order.
    pub(crate) measures: Vec<Vec<QueryTime>>,
}

/// A query in one measure.
#[derive(Debug, Clone, PartialEq, Deserialize)]
pub(crate) struct QueryTime {
    pub(crate) query: String,
    /// Analysis, plan and search, in the fastest pass.
    #[serde(rename = "min_us")]
    pub(crate) search_us: f64,
    /// The same of decoding what the search decodes, alone.
    #[serde(rename = "decoding_min_us")]
    pub(crate) decoding_us: f64,
    #[serde(rename = "postings_decoded")]
    pub(crate) postings_count: u64,
}

/// What indexes are made of and asked.
pub(crate) struct Codecs<'a> {
    pub(crate) binary: &'a Path,
    pub(crate) corpus: &'a Path,
    /// Of the documents.
    pub(crate) share: f64,
    /// A folder for documents, queries and indexes; removed afterwards.
    pub(crate) scratch: PathBuf,
    pub(crate) queries: &'a [String],
    pub(crate) repetitions: usize,
    pub(crate) live: &'a Live,
}

impl Codecs<'_> {
    /// Builds and measures; `told` hears what is going on.
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
        command.arg("index").arg(part).arg("--into").arg(&index);
        // One segment, so that lists are whole.
        command.args(["--codec", codec, "--texts", "none", "--chunks", "1"]);
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

/// The first distinct queries, as a file of queries.
fn one_a_line(queries: &[String]) -> String {
    let mut seen = std::collections::HashSet::new();
    let lines = queries.iter().map(|query| one_line(query));
    let distinct = lines.filter(|line| !line.is_empty() && seen.insert(line.clone()));
    distinct.take(QUERIES_MAX).map(|line| line + "\n").collect()
}

/// A line of each query; the line of the whole set, which has none, is left out.
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
