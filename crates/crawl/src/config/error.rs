//! Errors of a configuration.

use std::path::PathBuf;
use tokio_rustls::rustls::pki_types::pem;
use web::address::AddressError;

/// Error of a configuration.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ConfigError {
    /// Text that is no TOML, or has unknown names.
    #[error("{0}; names and types are in docs/crawler.md")]
    Syntax(String),
    /// No site, or a site without a seed.
    #[error("{0}: no seeds; give URLs to begin with, as seeds = [\"https://docs.example.org/\"]")]
    NoSeeds(&'static str),
    /// A seed or a rule that is none.
    #[error(transparent)]
    Address(#[from] AddressError),
    /// A file of certificates that cannot be read.
    #[error("{}: {source}; expected certificates in PEM", path.display())]
    Authority {
        /// Path of the file.
        path: PathBuf,
        /// Reason.
        source: pem::Error,
    },
    /// An IndexNow key that no submission can have, or of a site that takes none.
    #[error(
        "indexnow_key: expected 8 to 128 characters of a-z, A-Z, 0-9 and -, for a site with owned = true"
    )]
    IndexNowKey,
    /// Members that cannot be those of a crawl.
    #[error(
        "[[member]]: {0}; each of 2 or more members has a name and an address host:port, as name = \"a\", address = \"10.0.0.1:7072\""
    )]
    Member(String),
    /// A name that no member has.
    #[error(
        "--member {name}: the configuration has no such [[member]]; its members are: {members}"
    )]
    NoMember {
        /// Name.
        name: String,
        /// Names of all members.
        members: String,
    },
    /// A number outside of its range.
    #[error("{name}: {value} is out of range ({range})")]
    Range {
        /// Name of the setting.
        name: &'static str,
        /// Its value.
        value: f64,
        /// Permitted range.
        range: &'static str,
    },
}
