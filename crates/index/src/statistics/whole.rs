//! Statistics of a whole index, written anew, with the words of all its deleted documents.

use super::{Deleted, write_whole};
use crate::deletions::Deletions;
use crate::manifest::Manifest;
use crate::opener::open_store;
use crate::store::{StorePart, TextKey};
use crate::{DocId, IndexError, Segment};
use std::sync::Arc;
use vfs::SharedStorage;

/// Writes the statistics of `segments`, all that `manifest` names.
pub(crate) fn write_statistics(
    storage: &SharedStorage,
    manifest: &mut Manifest,
    segments: Vec<Segment>,
) -> Result<(), IndexError> {
    let segments: Vec<_> = segments.into_iter().map(Arc::new).collect();
    let deleted = all_deleted(storage, manifest, &segments)?;
    manifest.statistics = write_whole(storage, manifest, &segments, &deleted)?;
    Ok(())
}

/// Counts the words of every deleted document of the index.
pub(crate) fn all_deleted(
    storage: &SharedStorage,
    manifest: &Manifest,
    segments: &[Arc<Segment>],
) -> Result<Deleted, IndexError> {
    let mut deleted = Deleted::default();
    for (entry, segment) in manifest.segments.iter().zip(segments) {
        if let Some(gone) = &segment.deletions {
            let part = open_store(storage, manifest, entry)?;
            count_words(&mut deleted, gone, segment, part.as_deref(), manifest)?;
        }
    }
    Ok(deleted)
}

/// Counts the words of the documents `gone`, from their texts, or from all lists where there are no texts.
pub(crate) fn count_words(
    deleted: &mut Deleted,
    gone: &Deletions,
    segment: &Segment,
    part: Option<&StorePart>,
    manifest: &Manifest,
) -> Result<(), IndexError> {
    let Some(part) = part else {
        return deleted.add_from_lists(segment, gone);
    };
    let text_fields = manifest.fields.text_fields();
    let mut details = segment.details_reader();
    for doc in gone.docs() {
        let url = details.url(DocId(doc))?;
        let text = part
            .document(TextKey::Url(url).url_and_hash())?
            .ok_or_else(|| {
                segment.damaged_at_terms(&format!("the document store has no text for {url:?}"))
            })?;
        deleted.add(&text, manifest.analyzer, &text_fields);
    }
    Ok(())
}
