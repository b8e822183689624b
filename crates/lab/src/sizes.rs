//! Times of the same queries over growing parts of one corpus, each indexed and queried by a single client.
use crate::LabError;
use crate::ask::ask;
use crate::server::Server;
use load::{Live, Outcome, QueryStream, Settings, Target, Think, run_watched};
use std::fs::File;
use std::io::{BufRead, BufReader, BufWriter, Write};
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Duration;

/// Results for one part of the corpus.
#[derive(Debug)]
pub(crate) struct SizeCell {
    /// Number of documents in the index.
    pub(crate) documents_count: u64,
    /// Total size of the index files, in bytes.
    pub(crate) index_bytes: u64,
    /// Run of a single client that sends the queries in order from the first.
    pub(crate) outcome: Outcome,
}

/// Input for building and querying parts.
pub(crate) struct Parts<'a> {
    pub(crate) binary: &'a Path,
    pub(crate) corpus: &'a Path,
    /// Folder for the part and its index; removed afterwards.
    pub(crate) scratch: PathBuf,
    pub(crate) stream: &'a QueryStream,
    pub(crate) warm_up: Duration,
    pub(crate) duration: Duration,
    pub(crate) seed: u64,
}

impl Parts<'_> {
    /// Indexes the first lines of the corpus, a `share` of all, and queries them.
    pub(crate) fn measure(&self, share: f64, live: &Live) -> Result<SizeCell, LabError> {
        let measured = self.measure_in_scratch(share, live);
        let _ = std::fs::remove_dir_all(&self.scratch);
        measured
    }

    fn measure_in_scratch(&self, share: f64, live: &Live) -> Result<SizeCell, LabError> {
        let failed = |error: std::io::Error| LabError::file(&self.scratch, error);
        std::fs::create_dir_all(&self.scratch).map_err(failed)?;
        let part = self.scratch.join("part.jsonl");
        first_lines(self.corpus, share, &part)?;
        let index = self.scratch.join("index");
        let documents_count = self.build(&part, &index, live)?;
        let index_bytes = bytes_below(&index).map_err(failed)?;
        let server = Server::start(self.binary, &index, 1, 1)?;
        let target = Target::parse(server.url())?;
        let stream = self.stream.clone().unique();
        let mut settings = Settings::closed(target, stream, 1, Think::None, self.duration);
        settings.seed = self.seed;
        // A separate warm-up, so that the measured requests start with the first query for every size.
        let warm_up = Settings {
            duration: self.warm_up,
            ..settings.clone()
        };
        if !self.warm_up.is_zero() {
            run_watched(&warm_up, live)?;
        }
        let outcome = run_watched(&settings, live)?;
        match live.is_stopped() {
            true => Err(LabError::Stopped),
            false => Ok(SizeCell {
                documents_count,
                index_bytes,
                outcome,
            }),
        }
    }

    /// Builds the index and returns its number of documents.
    fn build(&self, part: &Path, index: &Path, live: &Live) -> Result<u64, LabError> {
        let mut command = Command::new(self.binary);
        command.arg("index").arg(index).arg(part);
        // The same words whatever the documents of the part are written in.
        command.args(["--analyzer", "plain"]);
        let name = format!("shorttail index {}", self.corpus.display());
        let said = ask(&mut command, &name, live)?;
        documents_told(&said.stdout).ok_or_else(|| LabError::Program {
            command: name,
            reason: "it did not say how many documents it holds".into(),
        })
    }
}

/// Parses `DIR now holds 9,786 documents (generation 1)`.
pub(crate) fn documents_told(said: &str) -> Option<u64> {
    let (_, rest) = said.rsplit_once(" now holds ")?;
    let digits = rest.split(' ').next()?.replace(',', "");
    digits.parse().ok()
}

/// Copies the first lines of a file, a `share` of all and at least one; decompresses a compressed file.
pub(crate) fn first_lines(from: &Path, share: f64, to: &Path) -> Result<(), LabError> {
    let unreadable = |error: std::io::Error| LabError::file(from, error);
    let open = || {
        let opened = corpus::open_decompressed(from).map(BufReader::new);
        opened.map_err(unreadable)
    };
    let mut line = Vec::new();
    let (mut total, mut reader) = (0u64, open()?);
    while next_line(&mut reader, &mut line).map_err(unreadable)? {
        total += 1;
    }
    let wanted = ((total as f64 * share).round() as u64).max(1);
    let unwritable = |error: std::io::Error| LabError::file(to, error);
    let mut writer = BufWriter::new(File::create(to).map_err(unwritable)?);
    let mut reader = open()?;
    for _ in 0..wanted {
        if next_line(&mut reader, &mut line).map_err(unreadable)? {
            writer.write_all(&line).map_err(unwritable)?;
        }
    }
    writer.flush().map_err(unwritable)
}

fn next_line(reader: &mut impl BufRead, line: &mut Vec<u8>) -> std::io::Result<bool> {
    line.clear();
    Ok(reader.read_until(b'\n', line)? > 0)
}

pub(crate) fn bytes_below(directory: &Path) -> std::io::Result<u64> {
    let mut bytes = 0;
    for entry in std::fs::read_dir(directory)? {
        let entry = entry?;
        let kind = entry.file_type()?;
        bytes += match kind.is_dir() {
            true => bytes_below(&entry.path())?,
            false => entry.metadata()?.len(),
        };
    }
    Ok(bytes)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_first_lines_are_the_share_asked_for() {
        let folder = tempfile::tempdir().unwrap();
        let (from, to) = (folder.path().join("from"), folder.path().join("to"));
        std::fs::write(&from, "1\n2\n3\n4").unwrap();
        let check = |share: f64, lines: &str| {
            first_lines(&from, share, &to).unwrap();
            assert_eq!(std::fs::read_to_string(&to).unwrap(), lines, "{share}");
        };
        check(0.5, "1\n2\n");
        check(1.0, "1\n2\n3\n4");
        check(0.01, "1\n");
        assert!(first_lines(&folder.path().join("absent"), 0.5, &to).is_err());
        assert_eq!(bytes_below(folder.path()).unwrap(), 9);
        let damaged = folder.path().join("from.gz");
        std::fs::write(&damaged, "no gzip").unwrap();
        assert!(first_lines(&damaged, 0.5, &to).is_err());
    }

    #[test]
    fn the_count_of_documents_is_read_from_what_is_said() {
        let said = "bad  0\nmy now holds index now holds 1,234,567 documents (generation 1)\n";
        assert_eq!(documents_told(said), Some(1_234_567));
        assert_eq!(documents_told("nothing"), None);
    }
}
