//! Reading of an item by the reader of its format.

use crate::budget::read_document;
use crate::fault::Fault;
use crate::format::{Format, with_full_ending};
use crate::item::{Bytes, Item, Work};

/// Reads an item and reports its documents.
pub(crate) fn read(item: &Item, bytes: Bytes, work: &mut Work) -> Result<(), Fault> {
    let name = with_full_ending(item.name);
    let bare = corpus::decompressed_name(&name);
    let bytes = match bare.len() < name.len() {
        // The parent has decompressed the file itself, unless it is an archive.
        true if item.depth > 0 || corpus::Kind::of(bare) == Some(corpus::Kind::Archive) => {
            let decompressed = corpus::decompressed(&name, bytes.stream());
            let (_, stream) = decompressed.map_err(|error| Fault::of(&error, "the file"))?;
            Bytes::Stream(Box::new(work.budget.decoded(stream)))
        }
        _ => bytes,
    };
    match Format::of(bare) {
        #[cfg(feature = "archives")]
        Some(Format::Zip) => crate::archive::read_zip(item, bytes.held()?, work),
        #[cfg(feature = "archives")]
        Some(Format::Tar) => crate::archive::read_tar(item, bytes.stream(), work),
        #[cfg(feature = "office")]
        Some(Format::Word) => crate::office::read_word(item, bytes.held()?, work),
        #[cfg(feature = "office")]
        Some(Format::Slides) => crate::office::read_slides(item, bytes.held()?, work),
        #[cfg(feature = "office")]
        Some(Format::Sheets) => crate::office::read_sheets(item, bytes.held()?, work),
        #[cfg(feature = "office")]
        Some(Format::OpenDocument) => crate::office::read_open_document(item, bytes.held()?, work),
        #[cfg(feature = "office")]
        Some(Format::Epub) => crate::office::read_epub(item, bytes.held()?, work),
        #[cfg(feature = "mail")]
        Some(Format::Message) => crate::mail::read_message(item, bytes.held()?, work),
        #[cfg(feature = "mail")]
        Some(Format::Mailbox) => crate::mail::read_mailbox(item, bytes.stream(), work),
        #[cfg(feature = "pdf")]
        Some(Format::Pdf) => crate::pdf::read(item, bytes.held()?, work),
        Some(Format::Text) => read_text(item, bare, bytes, work),
        None => work.results.left_out(item.name),
    }
}

fn read_text(item: &Item, bare: &str, bytes: Bytes, work: &mut Work) -> Result<(), Fault> {
    let bytes = match bytes {
        Bytes::Held(bytes) => bytes,
        Bytes::Stream(stream) => read_document(stream, "the file")?,
    };
    match corpus::text_document(bare, bytes) {
        None => work.results.left_out(item.name),
        Some(Err(reason)) => Err(Fault::Document(reason)),
        Some(Ok(document)) => {
            let document::Document {
                title,
                body,
                fields,
                ..
            } = document;
            work.results.document(item.path, title, body, fields)
        }
    }
}
