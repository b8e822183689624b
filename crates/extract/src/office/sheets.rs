//! Text of `.xlsx`: the sheets in their order, a line for each row with cells divided by tabs.
//!
//! Cells come in the order of the file, whatever places they claim: a cell at XFD1048576 costs what any other costs.

use super::cell_formats::CellFormats;
use super::package::{Package, resolved};
use super::xml::{Node, Text, walk};
use crate::fault::Fault;
use crate::item::{Item, Work};
use std::ops::Range;

/// Reads a workbook.
pub(crate) fn read_sheets(item: &Item, bytes: Vec<u8>, work: &mut Work) -> Result<(), Fault> {
    let mut package = Package::open(bytes, &work.budget)?;
    let main = package.main_part("xl/workbook.xml")?;
    let folder = main.rsplit_once('/').map_or("", |(folder, _)| folder);
    let shared = Shared::read(&mut package, &resolved(folder, "sharedStrings.xml"))?;
    let Workbook {
        sheets,
        starts_1904,
    } = Workbook::read(&mut package, &main)?;
    let formats = CellFormats::read(&mut package, &resolved(folder, "styles.xml"), starts_1904)?;
    let mut text = Text::default();
    for (name, part) in sheets {
        let Some(bytes) = package.part(&part)? else {
            continue;
        };
        if !name.is_empty() {
            text.push(&name)?;
            text.end_line()?;
        }
        append_rows(&part, &bytes, (&shared, &formats), &mut text)?;
        text.end_line()?;
    }
    let properties = package.properties("docProps/core.xml")?;
    let (title, fields) = (properties.title, properties.fields);
    // The first line is the name of a sheet, which says less than that of the file.
    let title = Some(title).filter(|title| !title.is_empty());
    let title = title.unwrap_or_else(|| item.name.to_owned());
    work.results
        .document(item.path, title, text.finish(), fields)
}

/// Contents of the main part of a workbook.
struct Workbook {
    /// Names and parts of the sheets: in the order of the workbook, else by their numbers.
    sheets: Vec<(String, String)>,
    /// Whether dates count from 1904-01-01 on, not from 1900 on.
    starts_1904: bool,
}

impl Workbook {
    fn read(package: &mut Package, main: &str) -> Result<Workbook, Fault> {
        let relations = package.relations(main)?;
        let bytes = package.needed(main)?;
        let (mut sheets, mut starts_1904) = (Vec::new(), false);
        walk(main, &bytes, |node| {
            match node {
                Node::Start("sheet", attributes) => {
                    let ids = attributes.all("id");
                    if let Some(target) = ids.iter().find_map(|id| relations.get(id)) {
                        let name = attributes.get("name").unwrap_or_default();
                        sheets.push((name, target.clone()));
                    }
                }
                Node::Start("workbookPr", attributes) => {
                    let given = attributes.get("date1904");
                    starts_1904 = matches!(given.as_deref(), Some("1" | "true"));
                }
                _ => {}
            }
            Ok(())
        })?;
        if sheets.is_empty() {
            let parts = package.numbered("xl/worksheets/sheet", ".xml").into_iter();
            sheets = parts.map(|part| (String::new(), part)).collect();
        }
        Ok(Workbook {
            sheets,
            starts_1904,
        })
    }
}

/// Appends the rows of a sheet.
fn append_rows(
    part: &str,
    bytes: &[u8],
    (shared, formats): (&Shared, &CellFormats),
    text: &mut Text,
) -> Result<(), Fault> {
    let mut kind = String::new();
    let mut style = None;
    let mut value = String::new();
    let (mut in_value, mut phonetic) = (false, false);
    walk(part, bytes, |node| {
        match node {
            Node::Start("c", attributes) => {
                kind = attributes.get("t").unwrap_or_default();
                style = attributes.get("s").and_then(|style| style.parse().ok());
                value.clear();
            }
            Node::Start("v" | "t", _) => in_value = true,
            Node::End("v" | "t") => in_value = false,
            // How a name is pronounced: the same words once more.
            Node::Start("rPh", _) => phonetic = true,
            Node::End("rPh") => phonetic = false,
            Node::Text(more) if in_value && !phonetic => value.push_str(more),
            Node::End("c") => {
                let index = || value.trim().parse().ok();
                let number;
                let shown = match kind.as_str() {
                    "s" => index().and_then(|index| shared.get(index)).unwrap_or(""),
                    "b" => match value.trim() {
                        "1" => "TRUE",
                        _ => "FALSE",
                    },
                    "" | "n" => {
                        number = formats.shown(style, &value);
                        number.as_deref().unwrap_or(&value)
                    }
                    _ => value.as_str(),
                };
                if !shown.trim().is_empty() {
                    if !text.is_at_line() {
                        text.push("\t")?;
                    }
                    text.push(shown)?;
                }
            }
            Node::End("row") if !text.is_at_line() => text.end_line()?,
            _ => {}
        }
        Ok(())
    })
}

/// Strings that cells share, by their numbers.
#[derive(Debug, Default)]
struct Shared {
    text: Text,
    places: Vec<Range<u32>>,
}

impl Shared {
    fn read(package: &mut Package, part: &str) -> Result<Shared, Fault> {
        let mut shared = Shared::default();
        let Some(bytes) = package.part(part)? else {
            return Ok(shared);
        };
        let (mut start, mut in_text, mut phonetic) = (0, false, false);
        walk(part, &bytes, |node| {
            match node {
                Node::Start("si", _) => start = shared.text.len(),
                Node::End("si") => shared.places.push(start as u32..shared.text.len() as u32),
                // How a name is pronounced: the same words once more.
                Node::Start("rPh", _) => phonetic = true,
                Node::End("rPh") => phonetic = false,
                Node::Start("t", _) => in_text = true,
                Node::End("t") => in_text = false,
                Node::Text(words) if in_text && !phonetic => shared.text.push(words)?,
                _ => {}
            }
            Ok(())
        })?;
        Ok(shared)
    }

    fn get(&self, index: usize) -> Option<&str> {
        let place = self.places.get(index)?;
        self.text
            .as_str()
            .get(place.start as usize..place.end as usize)
    }
}
