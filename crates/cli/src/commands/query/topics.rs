//! `shorttail search --topics`: a TREC run file from a file of queries.
//!
//! Every query is a bag of words without syntax.

use anyhow::Context;
use console::figures::{counted, seconds};
use console::meter::{Meter, left_s};
use console::query_file::{FileQuery, read_topics};
use engine::{Engine, QuerySource, SearchOptions};
use std::fs::File;
use std::io::{BufWriter, Write};
use std::path::{Path, PathBuf};

/// Engine of a run, and how each topic is searched.
pub(super) struct TopicsRun {
    pub(super) engine: Engine,
    pub(super) options: SearchOptions,
}

impl TopicsRun {
    /// Answers every topic and writes the run. The file gets its name only when it is complete.
    pub(super) fn write(&self, topics: &Path, run: &Path) -> anyhow::Result<()> {
        let topics = read_topics(topics)?;
        let mut file = RunFile::create(run)?;
        let mut meter = Meter::start("topics", Some(topics.len() as u64));
        let mut answered = 0_u64;
        for (done, topic) in (1..).zip(&topics) {
            let lines = self.answer(topic)?;
            answered += u64::from(!lines.is_empty());
            file.write(&lines)
                .with_context(|| format!("{}: cannot write", run.display()))?;
            meter.update(done, |elapsed_s| {
                let left = left_s(done, topics.len() as u64, elapsed_s).unwrap_or_default();
                format!("{done} of {}, {} left", topics.len(), seconds(left))
            });
        }
        file.finish()
            .with_context(|| format!("{}: cannot write", run.display()))?;
        drop(meter);
        console::failure::note(&format!(
            "{}: {}, {answered} with hits",
            run.display(),
            counted(topics.len() as u64, "topic")
        ));
        Ok(())
    }

    /// Returns the lines of one topic in the run file, best hit first.
    fn answer(&self, topic: &FileQuery) -> anyhow::Result<String> {
        let words = QuerySource::Words(&topic.text);
        let answer = self.engine.search(words, &self.options)?;
        let topic_id = topic.id.as_deref().unwrap_or_default();
        let mut lines = String::new();
        for (rank, hit) in (1..).zip(&answer.hits) {
            // `{}` prints the fewest digits that read back as the same score.
            lines.push_str(&format!(
                "{topic_id} Q0 {} {rank} {} shorttail\n",
                one_word(&hit.id),
                hit.score
            ));
        }
        Ok(lines)
    }
}

/// Encodes a document id for a run file. White space separates fields there, so white space inside an id is
/// percent-encoded.
fn one_word(id: &str) -> String {
    let mut word = String::with_capacity(id.len());
    for character in id.chars() {
        if character.is_whitespace() || character.is_control() {
            let mut utf8 = [0; 4];
            for byte in character.encode_utf8(&mut utf8).bytes() {
                word.push_str(&format!("%{byte:02X}"));
            }
        } else {
            word.push(character);
        }
    }
    word
}

/// A file that gets its name once it is complete, because a partial run would look like bad results.
struct RunFile {
    writer: BufWriter<File>,
    /// The temporary path and the final path. `None`: not a regular file (a pipe, `/dev/stdout`), which is written
    /// directly.
    rename: Option<(PathBuf, PathBuf)>,
}

impl RunFile {
    fn create(run: &Path) -> anyhow::Result<RunFile> {
        let plain = std::fs::metadata(run).map_or(true, |metadata| metadata.is_file());
        let written_to = if plain {
            let mut name = run.as_os_str().to_owned();
            name.push(format!(".unfinished-{}", std::process::id()));
            PathBuf::from(name)
        } else {
            run.to_owned()
        };
        let file = File::options()
            .write(true)
            .create(true)
            .truncate(plain)
            .open(&written_to);
        let file = file.with_context(|| format!("{}: cannot create", written_to.display()))?;
        Ok(RunFile {
            writer: BufWriter::new(file),
            rename: plain.then(|| (written_to, run.to_owned())),
        })
    }

    fn write(&mut self, lines: &str) -> std::io::Result<()> {
        self.writer.write_all(lines.as_bytes())
    }

    fn finish(mut self) -> std::io::Result<()> {
        self.writer.flush()?;
        if let Some((unfinished, run)) = self.rename.take() {
            self.writer.get_ref().sync_all()?;
            std::fs::rename(unfinished, run)?;
        }
        Ok(())
    }
}

impl Drop for RunFile {
    /// Removes the file of a failed run.
    fn drop(&mut self) {
        if let Some((unfinished, _)) = &self.rename {
            let _ = std::fs::remove_file(unfinished);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ids_stay_one_word() {
        assert_eq!(one_word("http://a/b"), "http://a/b");
        assert_eq!(one_word("a b\tc\n"), "a%20b%09c%0A");
        assert_eq!(one_word("a\u{2003}b"), "a%E2%80%83b");
    }
}
