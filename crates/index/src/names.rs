//! Names of the files of an index.

pub(crate) const LOCK_NAME: &str = "writer.lock";

const PREFIX: &str = "MANIFEST-";

pub(crate) fn manifest_name(generation: u64) -> String {
    format!("{PREFIX}{generation}")
}

/// The generation whose manifest has this name.
pub(crate) fn generation_of(name: &str) -> Option<u64> {
    let generation = name.strip_prefix(PREFIX)?.parse().ok()?;
    // `MANIFEST-02` and `MANIFEST-+2` are not what a commit writes.
    (manifest_name(generation) == name).then_some(generation)
}

pub(crate) fn index_name(segment: u32) -> String {
    format!("segment-{segment:08}.index")
}

pub(crate) fn documents_name(segment: u32) -> String {
    format!("segment-{segment:08}.documents")
}

pub(crate) fn pairs_name(segment: u32) -> String {
    format!("segment-{segment:08}.pairs")
}

pub(crate) fn deletions_name(segment: u32, generation: u64) -> String {
    format!("segment-{segment:08}-{generation}.deletions")
}

/// The number in the header of a file of deletions.
pub(crate) fn deletions_number(segment: u32, generation: u64) -> u64 {
    u64::from(segment) << 32 | generation & 0xffff_ffff
}
