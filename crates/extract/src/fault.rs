//! Faults of documents and of files, and panics of readers as faults.

use std::io;
use std::panic::{AssertUnwindSafe, catch_unwind};

/// Reason why a document or the rest of a file is not read.
#[derive(Debug)]
pub(crate) enum Fault {
    /// The document cannot be read; others can.
    Document(String),
    /// The file has used up a limit, or its results are no longer wanted: nothing more of it is read.
    File(String),
}

impl Fault {
    /// Returns a fault of the document at hand.
    pub(crate) fn bad(reason: impl Into<String>) -> Fault {
        Fault::Document(reason.into())
    }

    /// Returns the fault of a reader: a used-up limit ends the file, anything else is damage of one document.
    pub(crate) fn of(error: &io::Error, what: &str) -> Fault {
        let inner = error
            .get_ref()
            .and_then(|inner| inner.downcast_ref::<UsedUp>());
        match inner {
            Some(UsedUp(reason)) => Fault::File(reason.clone()),
            None if error.kind() == io::ErrorKind::OutOfMemory => {
                Fault::bad("reading it takes more memory than it may")
            }
            None => Fault::Document(format!("{what} is damaged: {error}")),
        }
    }
}

/// A limit that is used up, inside an error of a reader.
#[derive(Debug, thiserror::Error)]
#[error("{0}")]
pub(crate) struct UsedUp(pub(crate) String);

/// Runs a reader whose panic is a fault of the document.
pub(crate) fn caught(read: impl FnOnce() -> Result<(), Fault>) -> Result<(), Fault> {
    catch_unwind(AssertUnwindSafe(read)).unwrap_or_else(|panic| {
        let message = panic.downcast_ref::<String>().map(String::as_str);
        let message = message.or(panic.downcast_ref::<&str>().copied());
        let message: String = message.unwrap_or("no message").chars().take(200).collect();
        Err(Fault::bad(format!("its reader failed ({message})")))
    })
}
