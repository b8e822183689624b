//! Text of `.pptx`: the slides in their order, each followed by its notes.

use super::package::Package;
use super::word::append_paragraphs;
use super::xml::{Node, Text, walk};
use crate::fault::Fault;
use crate::item::{Item, Work};

/// Reads a presentation.
pub(crate) fn read_slides(item: &Item, bytes: Vec<u8>, work: &mut Work) -> Result<(), Fault> {
    let mut package = Package::open(bytes, &work.budget)?;
    let main = package.main_part("ppt/presentation.xml")?;
    let mut text = Text::default();
    for slide in slides(&mut package, &main)? {
        let Some(bytes) = package.part(&slide)? else {
            continue;
        };
        append_paragraphs(&slide, &bytes, &mut text)?;
        let mut notes: Vec<String> = package.relations(&slide)?.into_values().collect();
        notes.retain(|target| target.contains("/notesSlides/"));
        for name in notes {
            if let Some(bytes) = package.part(&name)? {
                append_paragraphs(&name, &bytes, &mut text)?;
            }
        }
        text.end_line()?;
    }
    let properties = package.properties("docProps/core.xml")?;
    let (title, fields) = (properties.title, properties.fields);
    // What programs name a presentation without a title.
    let is_title = !title.eq_ignore_ascii_case("PowerPoint Presentation");
    let title = Some(title).filter(|_| is_title).unwrap_or_default();
    work.results
        .document(item.path, title, text.finish(), fields)
}

/// Returns the names of the slides: in the order of the presentation, else by their numbers.
fn slides(package: &mut Package, main: &str) -> Result<Vec<String>, Fault> {
    let relations = package.relations(main)?;
    let bytes = package.needed(main)?;
    let mut slides = Vec::new();
    walk(main, &bytes, |node| {
        if let Node::Start("sldId", attributes) = node
            // `id` is a number of its own, `r:id` the relation: whichever is one.
            && let Some(target) = attributes.all("id").iter().find_map(|id| relations.get(id))
        {
            slides.push(target.clone());
        }
        Ok(())
    })?;
    match slides.is_empty() {
        true => Ok(package.numbered("ppt/slides/slide", ".xml")),
        false => Ok(slides),
    }
}
