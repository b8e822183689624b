//! Conversation with a child about one file: chunks are sent while results are read, so neither side waits for the other.

use crate::children::Children;
use crate::protocol::{CHUNK_BYTES_MAX, NAME_BYTES_MAX, Reply, push_piece};
use crate::worker::{Event, Worker};
use corpus::Extracted;
use std::io::{self, Read};
use std::sync::Arc;
use std::time::{Duration, Instant};

/// Upper limit on the characters of a reason, or of a name in a message. Linux has 255 bytes a name.
const MESSAGE_CHARS_MAX: usize = 1000;

/// Upper limit on the results of one file. A child reports no more members than this.
const RESULTS_MAX: u32 = 200_000;

/// Upper limit on the time that the parent waits for all results of one file, as a multiple of that for one.
const WAITS_MAX: u32 = 20;

/// Results of one file.
pub(crate) struct Conversation {
    pool: Arc<Children>,
    /// `None` after the last result.
    worker: Option<Worker>,
    source: Box<dyn Read + Send>,
    /// Bytes to send; the first `sent` of them have been sent.
    message: Vec<u8>,
    sent: usize,
    source_ended: bool,
    results: u32,
    waited: Duration,
}

impl Conversation {
    /// Begins to send a file.
    pub(crate) fn new(
        pool: Arc<Children>,
        mut worker: Worker,
        name: &str,
        source: Box<dyn Read + Send>,
    ) -> Conversation {
        worker.files += 1;
        let mut message = Vec::with_capacity(CHUNK_BYTES_MAX + 4);
        // The end of a name tells its kind.
        let mut start = name.len().saturating_sub(NAME_BYTES_MAX);
        while !name.is_char_boundary(start) {
            start += 1;
        }
        push_piece(&mut message, &name.as_bytes()[start..]);
        Conversation {
            pool,
            worker: Some(worker),
            source,
            message,
            sent: 0,
            source_ended: false,
            results: 0,
            waited: Duration::ZERO,
        }
    }

    /// Makes the next message where the last one is sent.
    fn fill(&mut self) -> io::Result<()> {
        if self.sent < self.message.len() || self.source_ended {
            return Ok(());
        }
        let mut chunk = vec![0; CHUNK_BYTES_MAX];
        let read = loop {
            match self.source.read(&mut chunk) {
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                other => break other?,
            }
        };
        self.message.clear();
        self.sent = 0;
        push_piece(&mut self.message, &chunk[..read]);
        self.source_ended = read == 0;
        Ok(())
    }

    /// Returns the next line of the child; an error is the reason why there is none.
    fn reply(&mut self) -> Result<Reply, String> {
        let mut since = Instant::now();
        loop {
            self.fill().map_err(|error| error.to_string())?;
            let Some(worker) = &mut self.worker else {
                return Ok(Reply::End { cpu_ms: 0 });
            };
            let left = self.pool.wait_max.saturating_sub(since.elapsed());
            let waiting = Instant::now();
            let event = worker.wait(&self.message[self.sent..], left);
            self.waited += waiting.elapsed();
            if self.waited > self.pool.wait_max * WAITS_MAX {
                return Err("reading it takes too much time; the rest is left out".to_owned());
            }
            match event.map_err(|error| format!("cannot read it in another process: {error}"))? {
                Event::Reply(reply) => return Ok(reply),
                Event::Sent(bytes) => {
                    self.sent += bytes;
                    since = Instant::now();
                }
                Event::Nothing => {
                    let seconds = self.pool.wait_max.as_secs();
                    return Err(format!("reading it takes more than {seconds} s"));
                }
                Event::Ended(Some(reason)) => return Err(reason.to_owned()),
                Event::Ended(None) => {
                    let worker = self.worker.take();
                    return Err(worker.map_or_else(String::new, Worker::end));
                }
            }
        }
    }

    /// Ends the child and returns the file as a bad document.
    fn fail(&mut self, reason: String) -> Extracted {
        self.worker = None;
        Extracted::Bad {
            path: String::new(),
            reason,
        }
    }
}

impl Iterator for Conversation {
    type Item = Extracted;

    fn next(&mut self) -> Option<Extracted> {
        self.worker.as_ref()?;
        self.results += 1;
        if self.results > RESULTS_MAX {
            return Some(self.fail(format!("more than {RESULTS_MAX} results")));
        }
        match self.reply() {
            Err(reason) => Some(self.fail(reason)),
            Ok(Reply::End { cpu_ms }) => {
                let is_sent = self.source_ended && self.sent == self.message.len();
                if let Some(worker) = self.worker.take().filter(|_| is_sent) {
                    self.pool.give_back(worker, cpu_ms);
                }
                None
            }
            Ok(Reply::Document {
                path,
                title,
                body,
                fields,
            }) => Some(Extracted::Document {
                path,
                title,
                body,
                fields,
            }),
            Ok(Reply::Bad { path, reason }) => Some(Extracted::Bad {
                path: shortened(path),
                reason: shortened(reason),
            }),
            Ok(Reply::LeftOut { name }) => Some(Extracted::LeftOut {
                name: shortened(name),
            }),
            Ok(Reply::Ready | Reply::Refused { .. }) => {
                Some(self.fail("the process that read it answered nonsense".to_owned()))
            }
        }
    }
}

/// Returns the beginning of a text that is shown in a message.
fn shortened(text: String) -> String {
    match text.char_indices().nth(MESSAGE_CHARS_MAX) {
        Some((end, _)) => text[..end].to_owned() + "…",
        None => text,
    }
}
