//! Names that a file of an index may have.
use crate::StorageError;
use std::path::{Path, PathBuf};

/// Returns the path of `name` in `directory`, unless it could lead out of it or hide in it.
///
/// A manifest may be damaged, so a name read from one must not reach a file of somebody else.
pub(crate) fn path_of(directory: &Path, name: &str) -> Result<PathBuf, StorageError> {
    if is_valid(name) {
        return Ok(directory.join(name));
    }
    Err(StorageError::InvalidName {
        directory: directory.to_owned(),
        name: name.to_owned(),
    })
}

pub(crate) fn is_valid(name: &str) -> bool {
    let allowed = |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'_' | b'.');
    !name.is_empty() && name.len() <= 255 && !name.starts_with('.') && name.bytes().all(allowed)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_that_lead_elsewhere_are_refused() {
        let long = "a".repeat(256);
        for name in [
            "",
            ".",
            "..",
            "../x",
            "/etc/passwd",
            "a/b",
            "a\\b",
            ".hidden",
            "a b",
            "a\0",
            "ä",
            "a\n",
            "C:x",
            &long,
        ] {
            let error = path_of(Path::new("/index"), name).unwrap_err();
            assert!(error.to_string().starts_with("/index: "), "{error}");
        }
        for name in ["MANIFEST-7", "a..b", "x_1.pos", "0", &long[1..]] {
            assert_eq!(
                path_of(Path::new("/index"), name).ok(),
                Some(Path::new("/index").join(name))
            );
        }
    }
}
