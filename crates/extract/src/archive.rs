//! Zip and tar archives: each member that is a document is read like a file of a folder.

use crate::budget::read_document;
use crate::fault::Fault;
use crate::item::{Item, Work};
use crate::members::Members;
use std::io::{Cursor, Read};
use zip::ZipArchive;

/// Reads the members of a zip archive.
pub(crate) fn read_zip(item: &Item, bytes: Vec<u8>, work: &mut Work) -> Result<(), Fault> {
    let members = Members::of(item)?;
    let mut archive = ZipArchive::new(Cursor::new(bytes))
        .map_err(|error| Fault::bad(format!("the archive is damaged: {error}")))?;
    for number in 0..archive.len() {
        let Some(Ok(name)) = archive.name_for_index(number) else {
            work.results
                .bad("?", "a member without a readable name".to_owned())?;
            continue;
        };
        let name = name.replace('\\', "/");
        if name.ends_with('/') {
            continue;
        }
        members.read(&name, work, |work| {
            let member = archive
                .by_index(number)
                .map_err(|error| Fault::bad(format!("cannot be unpacked: {error}")))?;
            read_document(work.budget.decoded(member), "the member")
        })?;
    }
    members.end(archive.is_empty())
}

/// Reads the members of a tar archive, in the order of the file. Members before damage are kept.
pub(crate) fn read_tar(item: &Item, stream: impl Read, work: &mut Work) -> Result<(), Fault> {
    let members = Members::of(item)?;
    let mut archive = tar::Archive::new(stream);
    let mut is_empty = true;
    let entries = archive.entries().map_err(|error| damaged(&error))?;
    for entry in entries {
        let mut entry = entry.map_err(|error| damaged(&error))?;
        is_empty = false;
        if !entry.header().entry_type().is_file() {
            continue;
        }
        let name = String::from_utf8_lossy(&entry.path_bytes()).into_owned();
        members.read(&name, work, |_| read_document(&mut entry, "the member"))?;
    }
    members.end(is_empty)
}

fn damaged(error: &std::io::Error) -> Fault {
    Fault::of(error, "the archive")
}
