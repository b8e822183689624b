//! Errors of searches and of serving, by the decision that their caller can make.
use index::IndexError;
use std::io;

/// Returns the remedy for an address that cannot be listened on.
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
