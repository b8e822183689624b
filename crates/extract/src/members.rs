//! Members of a file: each is read by its name as a file of a folder is, and a bad one does not end the others.

use crate::budget::DEPTH_MAX;
use crate::fault::{Fault, caught};
use crate::format::is_read;
use crate::item::{Bytes, Item, Work};

/// Members of one archive, mailbox or message.
pub(crate) struct Members {
    /// Path of the archive inside the file, with `!/` behind it; empty for the file itself.
    prefix: String,
    depth: u32,
}

impl Members {
    /// Returns the members of an item, which must not be too deep.
    pub(crate) fn of(item: &Item) -> Result<Members, Fault> {
        if item.depth >= DEPTH_MAX {
            return Err(Fault::bad(format!("more than {DEPTH_MAX} archives deep")));
        }
        Ok(Members {
            prefix: match item.path {
                "" => String::new(),
                path => format!("{path}!/"),
            },
            depth: item.depth + 1,
        })
    }

    /// Reads one member, whose bytes `unpack` returns. A fault of the member is reported, and the next can be read.
    /// One whose name is not that of a document is left out.
    pub(crate) fn read(
        &self,
        name: &str,
        work: &mut Work,
        unpack: impl FnOnce(&mut Work) -> Result<Vec<u8>, Fault>,
    ) -> Result<(), Fault> {
        let name = name.trim_start_matches("./").trim_start_matches('/');
        // Hidden files and the notes of macOS are skipped, as in folders.
        let is_hidden = |part: &str| part.starts_with('.') && part != "." && part != "..";
        let is_skipped = name.is_empty() || name.split('/').any(is_hidden);
        if is_skipped || name.starts_with("__MACOSX/") {
            return work.budget.member();
        }
        let last = name.rsplit('/').next().unwrap_or(name);
        if !is_read(last) {
            work.budget.member()?;
            return work.results.left_out(last);
        }
        self.read_as(name, last, work, unpack)
    }

    /// Reads one member as a file of another name.
    pub(crate) fn read_as(
        &self,
        name: &str,
        as_name: &str,
        work: &mut Work,
        unpack: impl FnOnce(&mut Work) -> Result<Vec<u8>, Fault>,
    ) -> Result<(), Fault> {
        work.budget.member()?;
        let path = format!("{}{name}", self.prefix);
        let item = Item {
            name: as_name,
            path: &path,
            depth: self.depth,
        };
        let read =
            unpack(work).and_then(|bytes| caught(|| (work.read)(&item, Bytes::Held(bytes), work)));
        match read {
            Err(Fault::Document(reason)) => work.results.bad(&path, reason),
            other => other,
        }
    }

    /// Ends an archive, which has at least one member.
    #[cfg(feature = "archives")]
    pub(crate) fn end(&self, is_empty: bool) -> Result<(), Fault> {
        match is_empty {
            true => Err(Fault::bad("an archive without members")),
            false => Ok(()),
        }
    }
}
