//! Text of `.epub`: the chapters in their order, each a page of HTML.

use super::package::{Package, resolved};
use super::xml::{Node, Text, walk};
use crate::fault::Fault;
use crate::item::{Item, Work};
use std::collections::HashMap;

/// Reads a book.
pub(crate) fn read_epub(item: &Item, bytes: Vec<u8>, work: &mut Work) -> Result<(), Fault> {
    let mut package = Package::open(bytes, &work.budget)?;
    let contents = root_file(&mut package)?;
    let mut text = Text::default();
    for chapter in chapters(&mut package, &contents)? {
        let Some(bytes) = package.part(&chapter)? else {
            continue;
        };
        match corpus::text_document("chapter.xhtml", bytes) {
            Some(Ok(page)) => text.push(&page.body)?,
            Some(Err(reason)) => return Err(Fault::bad(format!("{chapter}: {reason}"))),
            None => {}
        }
        text.end_line()?;
        text.end_line()?;
    }
    let properties = package.properties(&contents)?;
    let (title, fields) = (properties.title, properties.fields);
    work.results
        .document(item.path, title, text.finish(), fields)
}

/// Returns the part that lists the others.
fn root_file(package: &mut Package) -> Result<String, Fault> {
    let container = "META-INF/container.xml";
    let bytes = package.needed(container)?;
    let mut root = None;
    walk(container, &bytes, |node| {
        if let Node::Start("rootfile", attributes) = node
            && root.is_none()
        {
            root = attributes.get("full-path");
        }
        Ok(())
    })?;
    root.ok_or_else(|| Fault::bad("not a book: it names no root file"))
}

/// Returns the names of the chapters in the order of reading.
fn chapters(package: &mut Package, contents: &str) -> Result<Vec<String>, Fault> {
    let bytes = package.needed(contents)?;
    let folder = contents.rsplit_once('/').map_or("", |(folder, _)| folder);
    let mut files = HashMap::new();
    let mut order = Vec::new();
    walk(contents, &bytes, |node| {
        match node {
            Node::Start("item", attributes) => {
                let is_page = attributes
                    .get("media-type")
                    .is_some_and(|kind| kind.contains("html"));
                if let (true, Some(id), Some(path)) =
                    (is_page, attributes.get("id"), attributes.get("href"))
                {
                    files.insert(id, resolved(folder, &percent_decoded(&path)));
                }
            }
            Node::Start("itemref", attributes) => order.extend(attributes.get("idref")),
            _ => {}
        }
        Ok(())
    })?;
    // A book that names a chapter twice has it once.
    Ok(order.iter().filter_map(|id| files.remove(id)).collect())
}

/// Decodes `%20` and the like.
fn percent_decoded(path: &str) -> String {
    let mut bytes = Vec::with_capacity(path.len());
    let mut rest = path.as_bytes();
    while let [first, after @ ..] = rest {
        let encoded = (*first == b'%').then(|| path_byte(after)).flatten();
        rest = match encoded {
            Some(_) => &after[2..],
            None => after,
        };
        bytes.push(encoded.unwrap_or(*first));
    }
    String::from_utf8_lossy(&bytes).into_owned()
}

fn path_byte(digits: &[u8]) -> Option<u8> {
    let digits = std::str::from_utf8(digits.get(..2)?).ok()?;
    u8::from_str_radix(digits, 16).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn paths_are_decoded() {
        assert_eq!(percent_decoded("a%20b%C3%A9%"), "a bé%");
        assert_eq!(percent_decoded("%zz%4"), "%zz%4");
    }
}
