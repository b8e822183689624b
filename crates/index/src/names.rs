//! Names of the files of an index.

pub(crate) const LOCK_NAME: &str = "writer.lock";

/// Folder in which a crawler keeps its state beside the index.
pub(crate) const CRAWL_NAME: &str = "crawl";

const PREFIX: &str = "MANIFEST-";

pub(crate) fn manifest_name(generation: u64) -> String {
    format!("{PREFIX}{generation}")
}

/// Returns the generation whose manifest is named `name`.
pub(crate) fn generation_of(name: &str) -> Option<u64> {
    let generation = name.strip_prefix(PREFIX)?.parse().ok()?;
    // A commit never writes `MANIFEST-02` or `MANIFEST-+2`.
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

pub(crate) fn columns_name(segment: u32) -> String {
    format!("segment-{segment:08}.columns")
}

pub(crate) fn deletions_name(segment: u32, generation: u64) -> String {
    format!("segment-{segment:08}-{generation}.deletions")
}

/// Returns the number in the header of a file of deletions.
pub(crate) fn deletions_number(segment: u32, generation: u64) -> u64 {
    u64::from(segment) << 32 | generation & 0xffff_ffff
}

/// Name of a file, and the number in its header.
pub(crate) type FileName = (String, u64);

/// Mark of the numbers of statistics that a merge writes, which no generation has.
const MERGED: u64 = 1 << 63;

/// Returns the statistics file of a generation.
pub(crate) fn statistics_file(generation: u64) -> FileName {
    (format!("statistics-{generation}"), generation)
}

/// Returns the statistics file of a merge, given the first segment number reserved for it.
pub(crate) fn merged_statistics_file(segment: u32) -> FileName {
    let number = MERGED | u64::from(segment);
    (format!("statistics-m{segment}"), number)
}

/// Returns the segment number after which the statistics file of a merge is named.
pub(crate) fn merged_statistics_segment(number: u64) -> Option<u32> {
    (number & MERGED != 0).then(|| u32::try_from(number & !MERGED).ok())?
}

const LOG_PREFIX: &str = "log-";

pub(crate) fn log_name(number: u64) -> String {
    format!("{LOG_PREFIX}{number}")
}

/// Returns the number of the log that is named `name`.
pub(crate) fn log_number(name: &str) -> Option<u64> {
    let number = name.strip_prefix(LOG_PREFIX)?.parse().ok()?;
    (log_name(number) == name).then_some(number)
}
