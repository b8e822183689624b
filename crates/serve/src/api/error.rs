//! Errors of searches and of serving, by the decision that their caller can make.
use index::IndexError;
use std::io;

/// Reason for which a search gave no answer.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum SearchError {
    /// The request asks for an option that is not offered: change it.
    #[error("{parameter}: {reason}")]
    BadRequest {
        /// The parameter at fault.
        parameter: &'static str,
        /// Cause and remedy.
        reason: String,
    },
    /// The index cannot be read: repair it.
    #[error(transparent)]
    Index(#[from] IndexError),
    /// The index of a part on another machine cannot be read: repair it there.
    #[error("{part} cannot read its index: {reason}")]
    Damaged {
        /// Name of the part.
        part: String,
        /// Message of the part.
        reason: String,
    },
    /// Too many searches wait already: come back later.
    #[error("{waiting} requests wait for {part} already; try again in a moment")]
    Overloaded {
        /// Name of the part.
        part: String,
        /// Length of its queue, in requests.
        waiting: usize,
    },
    /// The deadline passed: allow more time, or ask for less.
    #[error(
        "the deadline passed while {part} worked; allow more with timeout=MILLISECONDS, or narrow the query"
    )]
    TimedOut {
        /// Name of the part.
        part: String,
    },
    /// The answer lacks parts and the client refuses a partial answer: come back later.
    #[error(
        "only {share} of the documents could be searched ({reason}), and partial=0 was asked for"
    )]
    Partial {
        /// Share of the documents searched, formatted for people.
        share: String,
        /// Cause of the loss.
        reason: String,
        /// Whether the deadline was the only cause.
        timed_out: bool,
    },
    /// A part closed the generation of the query, and no time was left to begin the query again.
    #[error("{part} no longer has generation {generation} of the index open; search again")]
    GenerationGone {
        /// Name of the part.
        part: String,
        /// The generation that the query began with.
        generation: u64,
    },
    /// A part of the system gave no answer: an answer without it would be wrong.
    #[error("{part} did not answer: {reason}")]
    Unavailable {
        /// Name of the part.
        part: String,
        /// Cause and remedy.
        reason: String,
    },
}

impl From<engine::BadRequest> for SearchError {
    fn from(refused: engine::BadRequest) -> SearchError {
        SearchError::BadRequest {
            parameter: refused.parameter,
            reason: refused.reason,
        }
    }
}

impl SearchError {
    /// Returns the error for an answer that would exceed `bytes_max` bytes.
    pub(crate) fn too_large(explain: bool, bytes_max: usize) -> SearchError {
        SearchError::BadRequest {
            parameter: if explain { "explain" } else { "k" },
            reason: too_large(explain, bytes_max),
        }
    }
}

/// Returns the message for an answer that would exceed `bytes_max` bytes, with the remedy.
pub(crate) fn too_large(explain: bool, bytes_max: usize) -> String {
    let limit = format!("larger than {bytes_max} bytes, the limit of one answer");
    match explain {
        true => format!(
            "the explanations of these hits are {limit}; ask for fewer hits with k, or for fewer words"
        ),
        false => format!("these hits are {limit}; ask for fewer with k, and page with start"),
    }
}

/// Returns what to do about an address that cannot be listened on.
fn listen_remedy(address: &str, source: &io::Error) -> String {
    match source.kind() {
        io::ErrorKind::AddrInUse => {
            "stop what listens there, or choose another address (`--listen 127.0.0.1:0` takes any free port)".into()
        }
        io::ErrorKind::PermissionDenied => {
            "ports below 1024 are for privileged programs: choose one from 1024 to 65535".into()
        }
        io::ErrorKind::AddrNotAvailable => {
            "this machine has no such address: choose one of its own, 127.0.0.1 for this machine alone".into()
        }
        io::ErrorKind::InvalidInput => match address.parse::<u16>() {
            Ok(port) => format!("write the address too: --listen 127.0.0.1:{port}"),
            Err(_) => "write an address and a port from 0 to 65535, as in --listen 127.0.0.1:7700".into(),
        },
        _ => "choose another address (`--listen 127.0.0.1:0` takes any free port)".into(),
    }
}

/// Reason for which a server cannot start or go on.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ServeError {
    /// Options that do not fit the index or each other.
    #[error("{option}: {reason}")]
    Options {
        /// The option at fault.
        option: &'static str,
        /// Cause and remedy.
        reason: String,
    },
    /// The address cannot be listened on.
    #[error(
        "cannot listen on {address}: {source}; {}",
        listen_remedy(address, source)
    )]
    Listen {
        /// The address asked for.
        address: String,
        /// Cause.
        #[source]
        source: io::Error,
    },
    /// The index cannot be served like this: lay it out otherwise, or repair it.
    #[error(transparent)]
    Index(#[from] IndexError),
    /// The cluster file cannot be read or contradicts itself.
    #[error("{}: {reason}", path.display())]
    ClusterFile {
        /// The file.
        path: std::path::PathBuf,
        /// Cause and remedy.
        reason: String,
    },
    /// The servers of the cluster contradict its file.
    #[error("the cluster cannot be served: {reason}")]
    Cluster {
        /// Contradiction and remedy.
        reason: String,
    },
    /// A process of the cluster cannot be started.
    #[error("the {name} cannot be started: {source}")]
    Process {
        /// Name of the process.
        name: String,
        /// Cause.
        #[source]
        source: io::Error,
    },
    /// The system refused threads or sockets.
    #[error("cannot {operation}: {source}")]
    System {
        /// Operation that failed.
        operation: &'static str,
        /// Cause.
        #[source]
        source: io::Error,
    },
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_remedy_fits_the_cause() {
        let said = |address: &str, kind| {
            let source = io::Error::from(kind);
            let address = address.to_owned();
            ServeError::Listen { address, source }.to_string()
        };
        for (address, kind, remedy) in [
            (
                "127.0.0.1:7700",
                io::ErrorKind::AddrInUse,
                "stop what listens there",
            ),
            ("127.0.0.1:80", io::ErrorKind::PermissionDenied, "from 1024"),
            (
                "192.0.2.1:7700",
                io::ErrorKind::AddrNotAvailable,
                "no such address",
            ),
            (
                "17799",
                io::ErrorKind::InvalidInput,
                "--listen 127.0.0.1:17799",
            ),
            (
                "127.0.0.1:99999",
                io::ErrorKind::InvalidInput,
                "a port from 0 to 65535",
            ),
        ] {
            let said = said(address, kind);
            assert!(said.contains(remedy), "{said}");
            assert_eq!(
                said.contains("stop what"),
                kind == io::ErrorKind::AddrInUse,
                "{said}"
            );
        }
    }
}
