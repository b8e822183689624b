//! Directory of an index that a command makes where there is none.

use anyhow::bail;
use index::{Index, find_foreign};
use std::path::Path;
use std::sync::Arc;
use vfs::{RealStorage, SharedStorage};

/// Opens or creates the directory of an index that a command writes. One that stands first among the arguments, rather
/// than behind `--index`, must not look like what is to be indexed: a forgotten index would be made in the first source.
pub(crate) fn create_target(directory: &Path, is_named: bool) -> anyhow::Result<SharedStorage> {
    if !is_named {
        refuse_sources(directory)?;
    }
    Ok(Arc::new(RealStorage::create_directory(directory)?))
}

fn refuse_sources(directory: &Path) -> anyhow::Result<()> {
    let shown = directory.display();
    let is_url = directory.to_str().is_some_and(|text| text.contains("://"));
    if directory.is_file() || is_url || directory == Path::new("-") {
        bail!("{shown}: not a directory; the index comes first, then what goes into it");
    }
    if !directory.is_dir() {
        return Ok(());
    }
    let storage: SharedStorage = Arc::new(RealStorage::open(directory)?);
    if Index::newest_generation(&storage)?.is_some() {
        return Ok(());
    }
    match find_foreign(&storage)? {
        Some(foreign) => bail!(
            "{}: not a file of an index; the index comes first, then what goes into it; to make one in {shown} all the \
             same, write --index {shown}",
            foreign.path.display()
        ),
        None => Ok(()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_directory_of_sources_is_no_index_unless_it_is_named() {
        let folder = tempfile::tempdir().unwrap();
        let path = |name: &str| folder.path().join(name);
        std::fs::create_dir(path("notes")).unwrap();
        std::fs::create_dir(path("empty")).unwrap();
        std::fs::write(path("notes/todo.md"), "text").unwrap();
        for wrong in [path("notes"), path("notes/todo.md"), "-".into()] {
            let said = create_target(&wrong, false).err().unwrap().to_string();
            assert!(said.contains("the index comes first"), "{said}");
        }
        assert!(create_target(Path::new("https://example.org/"), false).is_err());
        create_target(&path("notes"), true).unwrap();
        for right in ["empty", "new"] {
            create_target(&path(right), false).unwrap();
        }
        // Files of a commit that did not end, and a crawl without an index, are no sources.
        std::fs::write(path("empty/segment-0.postings"), "").unwrap();
        std::fs::create_dir(path("empty/crawl")).unwrap();
        create_target(&path("empty"), false).unwrap();
    }
}
