//! Log of moves, the line of status, and the counts of a run.

use console::failure::note;
use console::terminal::printable;
use schedule::hurry::{Move, Reason};
use serde::Serialize;
use std::io::{self, IsTerminal, Write};

/// Counts of a run.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize)]
pub(super) struct Counts {
    /// Lines that could be read.
    pub(super) lines: u64,
    /// Lines that could not.
    pub(super) damaged: u64,
    /// Lines of threads that may not be moved, or beyond the limits.
    pub(super) refused: u64,
    /// Requests whose last line was lost.
    pub(super) lost: u64,
    /// Requests that moved to a big core.
    pub(super) hurried: u64,
    /// Moves that the kernel refused.
    pub(super) failed: u64,
}

/// What is printed.
#[derive(Debug)]
pub(super) struct Output {
    json: bool,
    moves: bool,
    status: bool,
}

/// A move, as other programs read it.
#[derive(Debug, Serialize)]
struct MoveLine<'a> {
    ms: u64,
    tid: u32,
    from: Option<u32>,
    to: u32,
    reason: &'static str,
    #[serde(skip_serializing_if = "Option::is_none")]
    rid: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    elapsed_ms: Option<f64>,
}

impl Output {
    /// Moves are printed as JSON, or as text for a dry run. The status goes to standard error once a second
    /// where that is a terminal.
    pub(super) fn new(json: bool, dry_run: bool) -> Output {
        Output {
            json,
            moves: json || dry_run,
            status: io::stderr().is_terminal(),
        }
    }

    /// Prints a move made at Unix time `ms`.
    pub(super) fn show(&self, ms: u64, moved: &Move) -> anyhow::Result<()> {
        if !self.moves {
            return Ok(());
        }
        let (reason, rid, elapsed_ms) = match &moved.reason {
            Reason::Placed => ("placed", None, None),
            Reason::MadeRoom => ("made-room", None, None),
            Reason::Long { rid, elapsed_ms } => ("long", Some(rid.as_str()), Some(*elapsed_ms)),
        };
        let line = MoveLine {
            ms,
            tid: moved.tid,
            from: moved.from,
            to: moved.to,
            reason,
            rid,
            elapsed_ms,
        };
        let text = if self.json {
            serde_json::to_string(&line)?
        } else {
            text_of(&line)
        };
        let mut stdout = io::stdout().lock();
        writeln!(stdout, "{text}")?;
        stdout.flush()?;
        Ok(())
    }

    /// Prints the line of status.
    pub(super) fn status(&self, threads: usize, requests: usize, oldest_ms: u64, counts: &Counts) {
        if self.status {
            note(&format!(
                "{threads} threads, {requests} requests, the oldest {oldest_ms} ms; {} moved, {} lines",
                counts.hurried, counts.lines
            ));
        }
    }

    /// Prints the counts of a run that ends, and how many threads have their CPUs back.
    pub(super) fn end(&self, counts: &Counts, restored: usize) {
        note(&format!(
            "{} lines, {} damaged, {} refused, {} lost; requests moved: {}, moves failed: {}; \
             {restored} threads have their CPUs back",
            counts.lines,
            counts.damaged,
            counts.refused,
            counts.lost,
            counts.hurried,
            counts.failed
        ));
    }
}

fn text_of(line: &MoveLine<'_>) -> String {
    let from = line.from.map_or("-".to_owned(), |core| core.to_string());
    let mut text = format!("thread {} {from} -> {} {}", line.tid, line.to, line.reason);
    if let (Some(rid), Some(elapsed_ms)) = (line.rid, line.elapsed_ms) {
        text += &format!(" {} {elapsed_ms:.0} ms", printable(rid));
    }
    text
}
