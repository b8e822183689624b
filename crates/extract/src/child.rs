//! Child process: it confines itself, then reads files from standard input and writes results to standard output.

use crate::budget::Budget;
use crate::confinement::{Limits, confine, cpu_ms};
use crate::fault::{Fault, caught};
use crate::item::{Bytes, Item, Work};
pub use crate::launch::SUBCOMMAND;
use crate::protocol::{Chunks, NAME_BYTES_MAX, Reply, read_u32};
use crate::read::read;
use crate::results::Results;
use std::io::{self, Read, Stdin};
use std::process::ExitCode;
use std::sync::{Arc, Mutex, PoisonError};

/// Runs the child until its standard input ends. `arguments`: bytes of memory and seconds for a document.
pub fn run(arguments: impl Iterator<Item = String>) -> ExitCode {
    let numbers: Vec<u64> = arguments.map_while(|one| one.parse().ok()).collect();
    let [memory_bytes, document_s] = numbers[..] else {
        eprintln!("{SUBCOMMAND} is started by other commands, with two limits");
        return ExitCode::from(2);
    };
    let limits = Limits {
        memory_bytes,
        document_s,
    };
    let mut results = Results::new(limits);
    if let Err(reason) = confine(limits) {
        let _ = results.write(&Reply::Refused { reason });
        return ExitCode::FAILURE;
    }
    // The message of a panic goes to the parent as a reason; a backtrace would need files.
    std::panic::set_hook(Box::new(|_| {}));
    match serve(&mut results) {
        Ok(()) => ExitCode::SUCCESS,
        Err(_) => ExitCode::FAILURE,
    }
}

/// Reads files until there are no more. An error is one of the pipes: the parent has gone.
fn serve(results: &mut Results) -> io::Result<()> {
    results.write(&Reply::Ready)?;
    while let Some(name) = read_name()? {
        let chunks = Shared(Arc::new(Mutex::new(Chunks::new(io::stdin()))));
        results.start_document()?;
        if let Err(fault) = extract(&name, chunks.clone(), results) {
            let (Fault::Document(reason) | Fault::File(reason)) = fault;
            let path = String::new();
            results.write(&Reply::Bad { path, reason })?;
        }
        io::copy(&mut { chunks }, &mut io::sink())?;
        results.write(&Reply::End { cpu_ms: cpu_ms() })?;
    }
    Ok(())
}

/// Reads the name of the next file; `None` at the end of standard input.
fn read_name() -> io::Result<Option<String>> {
    let mut stdin = io::stdin();
    let bytes = match read_u32(&mut stdin) {
        Ok(bytes) => bytes as usize,
        Err(error) if error.kind() == io::ErrorKind::UnexpectedEof => return Ok(None),
        Err(error) => return Err(error),
    };
    if bytes > NAME_BYTES_MAX {
        return Err(io::ErrorKind::InvalidData.into());
    }
    let mut name = vec![0; bytes];
    stdin.read_exact(&mut name)?;
    Ok(Some(String::from_utf8_lossy(&name).into_owned()))
}

fn extract(name: &str, chunks: Shared, results: &mut Results) -> Result<(), Fault> {
    let budget = Budget::default();
    let bytes = Bytes::Stream(Box::new(budget.source(chunks)));
    let item = Item {
        name,
        path: "",
        depth: 0,
    };
    let mut work = Work {
        budget,
        results,
        read,
    };
    caught(|| read(&item, bytes, &mut work))
}

/// Chunks of the file at hand; those that the reader left unread are skipped.
#[derive(Clone)]
struct Shared(Arc<Mutex<Chunks<Stdin>>>);

impl Read for Shared {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let mut chunks = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        chunks.read(buffer)
    }
}
