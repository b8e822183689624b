//! Open files of one generation and of the logs after it, consistent while a writer goes on.

use crate::IndexError;
use crate::log::{OpenLog, open_after, read_opened};
use crate::manifest::{self, FileEntry, Manifest};
use crate::sealed::{Identity, Kind};
use crate::section::{Section, open_live};
use vfs::{SharedStorage, StorageError};

/// Attempts to open a generation before a writer commits the next but one.
const ATTEMPTS_MAX: usize = 100;

/// Generation that is open in all its files.
pub(super) struct Source {
    pub(super) manifest: Manifest,
    pub(super) files: Vec<(Kind, FileEntry, Section)>,
    /// Logs after the generation.
    pub(super) logs: Vec<OpenLog>,
    /// End of the last valid group of each log, in bytes; what follows was never acknowledged.
    pub(super) log_ends: Vec<usize>,
    /// Acknowledged changes in these logs.
    pub(super) logged_changes: u64,
}

/// Opens the newest generation and the logs after it.
///
/// # Errors
/// No index; a damaged file; a log that lost acknowledged changes.
pub(super) fn open(storage: &SharedStorage) -> Result<Source, IndexError> {
    let mut attempt = 0;
    loop {
        attempt += 1;
        let Some(manifest) = manifest::read_newest(storage)? else {
            let path = storage.location();
            return Err(IndexError::NoIndex { path });
        };
        let generation = manifest.generation;
        let opened = open_generation(storage, manifest);
        // A commit meanwhile may have removed files and logs.
        let is_newest = manifest::newest(storage)? == Some(generation);
        match opened {
            Ok(source) if is_newest => return with_logs_read(storage, source),
            Err(error) if is_newest || !is_not_found(&error) => return Err(error),
            Ok(_) | Err(_) if attempt < ATTEMPTS_MAX => {}
            Ok(_) | Err(_) => {
                let path = storage.location();
                return Err(IndexError::Changed { path });
            }
        }
    }
}

fn is_not_found(error: &IndexError) -> bool {
    matches!(error, IndexError::Storage(StorageError::NotFound { .. }))
}

fn open_generation(storage: &SharedStorage, manifest: Manifest) -> Result<Source, IndexError> {
    let open = |(kind, entry): (Kind, &FileEntry)| {
        let identity = Identity {
            kind,
            index_id: manifest.index_id(),
            number: entry.number,
        };
        let payload = open_live(storage, &entry.name, identity, entry.seal)?;
        Ok((kind, entry.clone(), payload))
    };
    let files = manifest
        .files_by_kind()
        .map(open)
        .collect::<Result<_, IndexError>>()?;
    let logs = open_after(storage, &manifest)?;
    Ok(Source {
        files,
        logs,
        log_ends: Vec::new(),
        logged_changes: 0,
        manifest,
    })
}

fn with_logs_read(storage: &SharedStorage, mut source: Source) -> Result<Source, IndexError> {
    let logged = read_opened(storage, &source.manifest, &source.logs);
    if let Some(loss) = logged.losses.into_iter().next() {
        let loss = Box::new(loss);
        return Err(IndexError::LogLost { loss });
    }
    source.log_ends = logged.ends;
    source.logged_changes = logged.records;
    Ok(source)
}
