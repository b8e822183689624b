//! Tiers of tests: what some tests need that not every machine has, and the line of a test that is skipped. For development only.
//!
//! ```text
//! skipped: test published_prescan_rows: no shared test sets (SHORTTAIL_DATA names no folder)
//! ```
//!
//! libtest knows no skipping while a test runs and counts such a test as passed. `./test` counts these lines, and
//! takes them off what passed. They are written to the process's own standard error, because libtest keeps what `print!`
//! and `eprint!` of a passed test say to itself.

use std::ffi::OsString;
use std::io::Write;
use std::path::{Path, PathBuf};

/// Variable that names the folder of the shared test sets; unset or empty where there is none.
pub const DATA_VARIABLE: &str = "SHORTTAIL_DATA";

/// Says that the calling test is skipped, and why. The test returns after it.
pub fn skipped(reason: &str) {
    let line = skipped_line(std::thread::current().name(), reason);
    // In one piece, so that lines of tests beside this one do not cut it; a broken standard error is no test's failure.
    let _ = std::io::stderr().write_all(line.as_bytes());
}

/// Returns the line of a skipped test. It begins a line of its own, also where libtest has begun one.
fn skipped_line(test: Option<&str>, reason: &str) -> String {
    format!("\nskipped: test {}: {reason}\n", test.unwrap_or("main"))
}

/// Returns the path of a shared test set; `None`, with the line of a skipped test, where there are no shared test sets.
///
/// # Panics
///
/// Where the variable names a folder that is not there: a name that is misspelt must not skip what it was given for.
#[must_use]
pub fn shared_data(name: &str) -> Option<PathBuf> {
    let path = path_in(std::env::var_os(DATA_VARIABLE), name);
    if path.is_none() {
        skipped(&format!(
            "no shared test sets ({DATA_VARIABLE} names no folder)"
        ));
    }
    path
}

/// Returns the path of a test set in the folder that the variable names.
fn path_in(folder: Option<OsString>, name: &str) -> Option<PathBuf> {
    let folder = folder.filter(|folder| !folder.is_empty())?;
    let folder = Path::new(&folder);
    assert!(
        folder.is_dir(),
        "{DATA_VARIABLE} names {}, which is no folder; unset it to skip what needs the shared test sets",
        folder.display()
    );
    Some(folder.join(name))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_folder_that_is_named_is_used_and_none_is_skipped() {
        let here = Path::new(env!("CARGO_MANIFEST_DIR"));
        let found = path_in(Some(here.into()), "src/lib.rs");
        assert_eq!(found, Some(here.join("src/lib.rs")));
        assert_eq!(path_in(None, "x"), None);
        assert_eq!(path_in(Some("".into()), "x"), None);
    }

    #[test]
    #[should_panic(expected = "which is no folder")]
    fn a_folder_that_is_not_there_is_an_error() {
        path_in(Some("/a-folder/that-is/not-there".into()), "x");
    }

    #[test]
    fn the_line_is_the_one_that_is_counted() {
        assert_eq!(
            skipped_line(Some("a::b"), "no strace"),
            "\nskipped: test a::b: no strace\n"
        );
    }
}
