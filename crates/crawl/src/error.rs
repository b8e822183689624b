//! Errors of a crawl, one variant for each decision of its user.

use crate::config::ConfigError;
use crate::fetch::OptionsError;
use crate::frontier::FrontierError;
use index::IndexError;
use std::path::PathBuf;
use vfs::StorageError;

/// Failure of a crawl as a whole. Failures of pages are states of their URLs.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum CrawlError {
    /// The configuration cannot be used.
    #[error(transparent)]
    Config(#[from] ConfigError),
    /// The fetcher cannot be set up.
    #[error(transparent)]
    Fetcher(#[from] OptionsError),
    /// The frontier cannot be read or written.
    #[error(transparent)]
    Frontier(#[from] FrontierError),
    /// The index cannot be read or written.
    #[error(transparent)]
    Index(#[from] IndexError),
    /// The files of the crawl cannot be read or written.
    #[error(transparent)]
    Storage(#[from] StorageError),
    /// A file of the crawl that is no state or configuration of one.
    #[error("{}: {what}; restore the file, or begin a new crawl in another directory", path.display())]
    Damaged {
        /// Path of the file.
        path: PathBuf,
        /// Cause.
        what: String,
    },
    /// Directory without a crawl.
    #[error("{}: no crawl here; begin one with `shorttail crawl INDEX URL`", path.display())]
    NoCrawl {
        /// Path of the directory.
        path: PathBuf,
    },
    /// No browser for sites that are rendered.
    #[error(
        "render: no Chromium on the path; install it, or name it as chromium = \"/usr/bin/chromium\" in the configuration"
    )]
    NoChromium,
    /// The renderer cannot be set up.
    #[error("{0}")]
    Render(String),
    /// Folder of another member, or of a crawl with other members.
    #[error(
        "{}: the crawl in it is {found}, but it was to be {asked}; hosts cannot change members: begin a new directory", path.display()
    )]
    OtherMember {
        /// Path of the folder.
        path: PathBuf,
        /// Description of the crawl in the folder.
        found: String,
        /// Description of the crawl that was asked for.
        asked: String,
    },
    /// No member is named where the configuration has some, or no folder of one is given.
    #[error("{0}")]
    NoMember(String),
    /// The service for the other members cannot be started.
    #[error("cannot serve the other members: {0}")]
    Members(std::io::Error),
    /// Threads cannot be started.
    #[error("cannot start a thread: {0}")]
    Threads(std::io::Error),
}
