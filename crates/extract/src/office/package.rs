//! Package of parts: the zip archive that an office document is, with its relations and its properties.

use super::xml::{Node, walk};
use crate::budget::{Budget, read_document};
use crate::fault::Fault;
use json::{Map, Value};
use std::collections::HashMap;
use std::io::Cursor;
use zip::ZipArchive;
use zip::result::ZipError;

/// Parts of a document.
pub(super) struct Package {
    archive: ZipArchive<Cursor<Vec<u8>>>,
    budget: Budget,
}

/// Title and further fields of a document.
#[derive(Debug, Default)]
pub(super) struct Properties {
    pub(super) title: String,
    pub(super) fields: Map<String, Value>,
}

impl Package {
    /// Opens the package.
    pub(super) fn open(bytes: Vec<u8>, budget: &Budget) -> Result<Package, Fault> {
        // Old and encrypted documents are compound files, whatever their names say.
        if bytes.starts_with(b"\xd0\xcf\x11\xe0") {
            return Err(Fault::bad("encrypted, or of a format before 2007"));
        }
        let archive = ZipArchive::new(Cursor::new(bytes))
            .map_err(|error| Fault::bad(format!("the document is damaged: {error}")))?;
        Ok(Package {
            archive,
            budget: budget.clone(),
        })
    }

    /// Returns the bytes of a part; `None` where there is no such part.
    pub(super) fn part(&mut self, name: &str) -> Result<Option<Vec<u8>>, Fault> {
        let part = match self.archive.by_name(name) {
            Ok(part) => part,
            Err(ZipError::FileNotFound) => return Ok(None),
            Err(error) => return Err(Fault::bad(format!("{name} cannot be unpacked: {error}"))),
        };
        read_document(self.budget.decoded(part), name).map(Some)
    }

    /// Returns the bytes of a part that every such document has.
    pub(super) fn needed(&mut self, name: &str) -> Result<Vec<u8>, Fault> {
        self.part(name)?
            .ok_or_else(|| Fault::bad(format!("not a document of its kind: it has no {name}")))
    }

    /// Returns the names of parts between `before` and `after`, such as `ppt/slides/slide` and `.xml`, by their number.
    pub(super) fn numbered(&self, before: &str, after: &str) -> Vec<String> {
        let number = |name: &str| -> Option<u32> {
            name.strip_prefix(before)?.strip_suffix(after)?.parse().ok()
        };
        let names = self.archive.file_names();
        let mut numbered: Vec<(u32, String)> = names
            .filter_map(Result::ok)
            .filter_map(|name| Some((number(&name)?, name.into_owned())))
            .collect();
        numbered.sort();
        numbered.into_iter().map(|(_, name)| name).collect()
    }

    /// Returns the targets of a part's relations by their ids, as names of parts.
    pub(super) fn relations(&mut self, part: &str) -> Result<HashMap<String, String>, Fault> {
        let (folder, name) = part.rsplit_once('/').unwrap_or(("", part));
        let path = match folder {
            "" => format!("_rels/{name}.rels"),
            folder => format!("{folder}/_rels/{name}.rels"),
        };
        let mut relations = HashMap::new();
        let Some(bytes) = self.part(&path)? else {
            return Ok(relations);
        };
        walk(&path, &bytes, |node| {
            if let Node::Start("Relationship", attributes) = node
                && let (Some(id), Some(target)) = (attributes.get("Id"), attributes.get("Target"))
            {
                relations.insert(id, resolved(folder, &target));
            }
            Ok(())
        })?;
        Ok(relations)
    }

    /// Returns the main part of a document: that which the package names, else the usual one.
    pub(super) fn main_part(&mut self, usual: &str) -> Result<String, Fault> {
        let mut main = None;
        if let Some(bytes) = self.part("_rels/.rels")? {
            walk("_rels/.rels", &bytes, |node| {
                if let Node::Start("Relationship", attributes) = node
                    && attributes
                        .get("Type")
                        .is_some_and(|kind| kind.ends_with("/officeDocument"))
                {
                    main = attributes.get("Target").map(|target| resolved("", &target));
                }
                Ok(())
            })?;
        }
        Ok(main.unwrap_or_else(|| usual.to_owned()))
    }

    /// Returns title, author and date of a part with Dublin Core: `docProps/core.xml`, `meta.xml` or that of a book.
    pub(super) fn properties(&mut self, part: &str) -> Result<Properties, Fault> {
        let mut properties = Properties::default();
        let Some(bytes) = self.part(part)? else {
            return Ok(properties);
        };
        let mut text = String::new();
        walk(part, &bytes, |node| {
            match node {
                Node::Start(..) => text.clear(),
                Node::Text(more) => text.push_str(more),
                Node::End(name) => {
                    let value = text.split_whitespace().collect::<Vec<_>>().join(" ");
                    text.clear();
                    let field = match name {
                        "title" if properties.title.is_empty() => {
                            properties.title = value;
                            return Ok(());
                        }
                        "creator" | "initial-creator" => "author",
                        "created" | "creation-date" | "date" => "date",
                        "subject" => "subject",
                        "keywords" | "keyword" => "keywords",
                        _ => return Ok(()),
                    };
                    if !value.is_empty() && !properties.fields.contains_key(field) {
                        properties.fields.insert(field.to_owned(), value.into());
                    }
                }
            }
            Ok(())
        })?;
        Ok(properties)
    }
}

/// Returns the name of a part that is named relative to a folder, without `.` and `..`.
pub(super) fn resolved(folder: &str, target: &str) -> String {
    let absolute = target.strip_prefix('/');
    let mut parts: Vec<&str> = match absolute {
        Some(_) => Vec::new(),
        None => folder.split('/').filter(|part| !part.is_empty()).collect(),
    };
    for part in absolute.unwrap_or(target).split('/') {
        match part {
            "" | "." => {}
            ".." => {
                parts.pop();
            }
            part => parts.push(part),
        }
    }
    parts.join("/")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn targets_are_names_of_parts() {
        assert_eq!(resolved("ppt/slides", "../media/a.png"), "ppt/media/a.png");
        assert_eq!(resolved("ppt", "/xl/b.xml"), "xl/b.xml");
        assert_eq!(resolved("", "../../c.xml"), "c.xml");
    }
}
