//! Indexing of sources with progress, for the commands that write documents.

use crate::languages::AnalyzerChoice;
use crate::optimizing::ShownProgress;
use anyhow::{Context, bail};
use console::failure::note;
use console::figures::{bytes, count, seconds};
use console::meter::{Meter, left_s};
use console::terminal::printable;
use corpus::{BadDocument, Next, PassedOver, Place, Progress, ReadOptions, Reader, Source};
use document::Document;
use index::{BuildOptions, CommitSummary, find_unfinished};
use ingest::{Chosen, DetectingWriter};
use std::process::ExitCode;
use units::{Size, SizeUnit, Sizes};
use vfs::SharedStorage;

/// Sizes of memory that indexing can be given.
pub(crate) const MEMORY: Sizes = Sizes::ANY
    .plain(SizeUnit::Bytes)
    .at_least(Size::new(16, SizeUnit::MiB));

/// Summary of an indexing run.
#[derive(Debug)]
pub(crate) struct Indexed {
    pub(crate) summary: CommitSummary,
    pub(crate) progress: Progress,
    pub(crate) bad_documents: Vec<BadDocument>,
    pub(crate) passed_over: Vec<PassedOver>,
    pub(crate) elapsed_s: f64,
    /// Which fields of records became which part of documents, where the names differ.
    pub(crate) fields_found: Vec<String>,
    /// Analyzer of a new index.
    pub(crate) chosen: Option<Chosen>,
}

impl Indexed {
    /// Returns the exit status: failure where most of the input was bad, which it says.
    pub(crate) fn exit_code(&self) -> ExitCode {
        if self.progress.bad <= self.progress.documents {
            return ExitCode::SUCCESS;
        }
        note("most of the input was bad; the good documents are in the index");
        ExitCode::FAILURE
    }

    /// Returns the throughput in megabytes of text a second, commit included.
    pub(crate) fn mb_per_s(&self) -> f64 {
        self.progress.text_bytes as f64 / 1e6 / self.elapsed_s.max(1e-9)
    }
}

/// Decision before each document.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Verdict {
    /// Continue reading.
    ReadOn,
    /// Stop reading and commit.
    Enough,
    /// Stop without a commit.
    Abandon,
}

/// Choice of what a run changes, asked while documents are read.
pub(crate) trait Selection {
    /// Decides before every document, and from time to time while none arrives.
    fn verdict(&mut self, elapsed_s: f64) -> Verdict;

    /// Returns whether a document is to be added.
    fn takes(&mut self, document: &Document) -> anyhow::Result<bool>;

    /// Says what was noticed while reading. A selection that is made again and again says it once.
    fn tell(&mut self, noticed: &str) {
        note(noticed);
    }

    /// Returns the URLs of earlier documents to delete, once all documents are read. `None` where there is nothing to
    /// commit at all.
    fn deletes(&mut self, progress: &Progress) -> anyhow::Result<Option<Vec<String>>>;
}

/// Selection of every document.
struct Everything<V>(V);

impl<V: FnMut(f64) -> Verdict> Selection for Everything<V> {
    fn verdict(&mut self, elapsed_s: f64) -> Verdict {
        self.0(elapsed_s)
    }

    fn takes(&mut self, _document: &Document) -> anyhow::Result<bool> {
        Ok(true)
    }

    fn deletes(&mut self, _progress: &Progress) -> anyhow::Result<Option<Vec<String>>> {
        Ok(Some(Vec::new()))
    }
}

/// Sources, and the index that they are read into.
pub(crate) struct IndexRun {
    pub(crate) sources: Vec<Source>,
    pub(crate) reading: ReadOptions,
    pub(crate) storage: SharedStorage,
    pub(crate) options: BuildOptions,
    pub(crate) analyzer: AnalyzerChoice,
}

impl IndexRun {
    /// Reads all sources, adds their good documents and commits. Calls `verdict` with the seconds since the start
    /// before every document, and from time to time while none arrives.
    pub(crate) fn index(self, verdict: impl FnMut(f64) -> Verdict) -> anyhow::Result<Indexed> {
        let indexed = self.index_selected(&mut Everything(verdict))?;
        indexed.context("a run that commits everything commits")
    }

    /// Reads all sources, adds the documents that `selection` takes, deletes those that it names, and commits. `None`
    /// where it has nothing to commit.
    pub(crate) fn index_selected(
        self,
        selection: &mut impl Selection,
    ) -> anyhow::Result<Option<Indexed>> {
        let folders = self.sources.iter().filter_map(Source::folder_url).collect();
        let mut reader = Reader::open(self.sources, self.reading)?;
        // Before the writer opens, which removes these files.
        if let Some(unfinished) = find_unfinished(&self.storage)? {
            note(&format!("warning: {unfinished}"));
        }
        let options = BuildOptions {
            analyzer: self.analyzer.named(),
            folders,
            ..self.options
        };
        let mut target = DetectingWriter::new(self.storage, options)?;
        let total = reader
            .progress()
            .source_bytes_total
            .filter(|&total| total > 0);
        let mut meter = Meter::start("indexing", total);
        loop {
            match selection.verdict(meter.elapsed_s()) {
                Verdict::ReadOn => {}
                Verdict::Enough => break,
                Verdict::Abandon => bail!("interrupted; nothing was committed"),
            }
            match reader.read_on()? {
                Next::Document(document) if selection.takes(&document)? => target.add(document)?,
                Next::Document(_) | Next::Meanwhile => {}
                Next::End => break,
            }
            meter.update(reader.source_bytes(), |elapsed_s| {
                progress_text(&reader.progress(), reader.place(), elapsed_s)
            });
        }
        let progress = reader.progress();
        report(&reader, &mut |noticed| selection.tell(noticed))?;
        let Some(deleted) = selection.deletes(&progress)? else {
            return Ok(None);
        };
        let (mut writer, chosen) = target.finish()?;
        deleted.iter().for_each(|url| writer.delete(url));
        meter.busy("merging and syncing");
        let shown = ShownProgress::new(meter);
        let summary = writer
            .commit_telling(&|progress| shown.update(progress))
            .context("cannot commit")?;
        Ok(Some(Indexed {
            summary,
            progress,
            bad_documents: reader.bad_documents().to_vec(),
            passed_over: reader.passed_over().to_vec(),
            elapsed_s: shown.end(),
            fields_found: reader.fields_found().map(printable).collect(),
            chosen,
        }))
    }
}

/// Reports the input that was not read; an error if nothing was.
fn report(reader: &Reader, tell: &mut dyn FnMut(&str)) -> anyhow::Result<()> {
    let progress = reader.progress();
    report_left_out(reader.passed_over(), progress.passed_over, tell, |unsaid| {
        format!("and {} more passed over", count(unsaid))
    });
    report_kinds(&reader.left_out(), tell);
    report_guesses(&reader.encodings_guessed(), tell);
    report_left_out(reader.bad_documents(), progress.bad, tell, |unsaid| {
        let plural = if unsaid == 1 { "" } else { "s" };
        format!("and {} more bad document{plural}", count(unsaid))
    });
    if progress.documents == 0 && progress.bad > 0 {
        bail!("no good document in any source; nothing was committed");
    }
    if progress.documents == 0 && progress.passed_over > 0 {
        bail!("all that the sources name is passed over; nothing was committed");
    }
    if progress.documents == 0 {
        tell("warning: the sources hold no document");
    }
    Ok(())
}

fn progress_text(progress: &Progress, place: Option<&Place>, elapsed_s: f64) -> String {
    let mut text = format!(
        "{} documents, {}, {:.1} MB/s",
        count(progress.documents),
        bytes(progress.text_bytes),
        progress.text_bytes as f64 / 1e6 / elapsed_s.max(1e-9),
    );
    let left = progress
        .source_bytes_total
        .and_then(|total| left_s(progress.source_bytes, total, elapsed_s));
    if let Some(left_s) = left {
        text.push_str(&format!(", {} left", seconds(left_s)));
    }
    if let Some(place) = place.filter(|place| !place.file.is_empty()) {
        text.push_str(&format!(", at {}", place_text(place)));
    }
    text
}

/// Formats a place: `news.jsonl.zst line 12,345 (20.1 MB)`, or the path of a file that is one document.
fn place_text(place: &Place) -> String {
    let file = printable(&place.file);
    match place.line {
        0 => file,
        line => format!(
            "{file} line {} ({})",
            count(line),
            bytes(place.decoded_bytes)
        ),
    }
}

/// Number of kinds of files that are named.
const KINDS_SHOWN: usize = 8;

/// Reports the guessed encodings of texts that are not UTF-8 and name none.
fn report_guesses(guesses: &[(&'static str, u64)], tell: &mut dyn FnMut(&str)) {
    let texts = guesses.iter().map(|(_, count)| count).sum();
    if texts > 0 {
        let shown = guesses
            .iter()
            .map(|(name, texts)| format!("{name} ({})", count(*texts)));
        tell(&format!(
            "the encoding of {} is guessed: {}; save as UTF-8 what was read wrongly",
            console::figures::counted(texts, "text"),
            shown.collect::<Vec<_>>().join(", ")
        ));
    }
}

/// Reports files of folders that were not read for their names, and other input that is no document: redirects, answers
/// of a crawler without a page.
fn report_kinds(kinds: &[(String, u64)], tell: &mut dyn FnMut(&str)) {
    // Parts of files have names of several letters and words, files have endings.
    let is_file = |(kind, _): &&(String, u64)| {
        kind.starts_with('.') || matches!(&**kind, "without an ending" | "others")
    };
    let files: Vec<_> = kinds.iter().filter(is_file).collect();
    let parts: Vec<_> = kinds.iter().filter(|kind| !is_file(kind)).collect();
    let sum = |kinds: &[&(String, u64)]| kinds.iter().map(|(_, count)| count).sum();
    match sum(&files) {
        0 => {}
        all => tell(&format!(
            "left out {} that are not read in folders: {}",
            console::figures::counted(all, "file"),
            shown_kinds(&files)
        )),
    }
    match sum(&parts) {
        0 => {}
        all => tell(&format!(
            "left out {} of files that are no documents: {}",
            console::figures::counted(all, "part"),
            shown_kinds(&parts)
        )),
    }
}

/// Returns the most frequent kinds with their numbers.
fn shown_kinds(kinds: &[&(String, u64)]) -> String {
    let shown = kinds.iter().take(KINDS_SHOWN);
    let shown = shown.map(|(kind, files)| format!("{} {}", count(*files), printable(kind)));
    let mut shown: Vec<String> = shown.collect();
    if kinds.len() > KINDS_SHOWN {
        shown.push("others".to_owned());
    }
    shown.join(", ")
}

/// Prints the first names; `more` formats the number of the others.
fn report_left_out(
    first: &[impl ToString],
    all_count: u64,
    tell: &mut dyn FnMut(&str),
    more: impl Fn(u64) -> String,
) {
    for left_out in first {
        tell(&left_out.to_string());
    }
    let unsaid = all_count.saturating_sub(first.len() as u64);
    if unsaid > 0 {
        tell(&more(unsaid));
    }
}
