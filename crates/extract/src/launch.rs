//! Command that starts a child.

use std::ffi::OsString;
use std::path::PathBuf;

/// Name of the subcommand that runs the child.
pub const SUBCOMMAND: &str = "extract-child";

/// Command that runs [`crate::child::run`], without its limits.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Launch {
    /// The program.
    pub program: PathBuf,
    /// Its first arguments.
    pub arguments: Vec<OsString>,
}

impl Launch {
    /// Returns the command of this program itself, whose first argument `extract-child` runs the child.
    pub fn own_program() -> Launch {
        Launch {
            // The link names the running program, even where its file was replaced.
            program: PathBuf::from("/proc/self/exe"),
            arguments: vec![SUBCOMMAND.into()],
        }
    }
}
