//! Comparison of the partition maps of front-ends.
//!
//! Each health check carries the parts into which the front-end's cluster file divides the chunks.
//! Front-ends that differ would merge different partitions and may miss chunks, so the server that
//! receives both maps reports it.

use crate::api::messages::StatusRequest;
use engine::calls::Chunks;
use engine::calls::chunks_shown;
use std::collections::HashMap;
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

/// Time without a message after which a front-end is gone.
const FORGOTTEN_AFTER: Duration = Duration::from_secs(10);

/// Partition maps of front-ends, by the name of the front-end.
#[derive(Debug, Default)]
pub(crate) struct PartitionMaps(Mutex<HashMap<String, (Instant, Vec<Chunks>)>>);

impl PartitionMaps {
    /// Records the partition map of a front-end; returns the conflict with that of another front-end,
    /// if any.
    pub(crate) fn note(&self, request: &StatusRequest) -> Option<String> {
        if request.front_end.is_empty() {
            return None;
        }
        let now = Instant::now();
        let mut known = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        known.retain(|_, (heard, _)| now - *heard < FORGOTTEN_AFTER);
        let mut others: Vec<_> = known
            .iter()
            .filter(|(name, _)| **name != request.front_end)
            .collect();
        others.sort_by_key(|(name, _)| name.as_str());
        let told = others.iter().find_map(|(name, (_, parts))| {
            let (chunk, theirs) = first_difference(parts, &request.parts)?;
            let theirs = theirs.map_or("in no part".into(), |part| {
                format!("in chunks {}", chunks_shown(&part))
            });
            Some(format!("front-end {name} has chunk {chunk} {theirs}"))
        });
        // A map in conflict is not kept, so that it does not conflict with the others in turn.
        if told.is_none() {
            let parts = request.parts.clone();
            known.insert(request.front_end.clone(), (now, parts));
        }
        told
    }
}

/// Returns the first chunk that two maps put in different parts, and its part in the first map.
fn first_difference(ours: &[Chunks], theirs: &[Chunks]) -> Option<(u32, Option<Chunks>)> {
    let part_of =
        |parts: &[Chunks], chunk: u32| parts.iter().find(|part| part.contains(&chunk)).cloned();
    let ends = ours.iter().chain(theirs).map(|part| *part.end());
    let last = ends.max()?;
    // Two maps first differ where a part of one of them begins or has just ended.
    let mut borders: Vec<u32> = ours
        .iter()
        .chain(theirs)
        .flat_map(|part| [*part.start(), part.end().saturating_add(1)])
        .filter(|&chunk| chunk <= last)
        .collect();
    borders.sort_unstable();
    borders.into_iter().find_map(|chunk| {
        let (our, their) = (part_of(ours, chunk), part_of(theirs, chunk));
        (our != their).then_some((chunk, our))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn request(front_end: &str, parts: &[Chunks]) -> StatusRequest {
        StatusRequest {
            front_end: front_end.into(),
            parts: parts.to_vec(),
        }
    }

    #[test]
    fn who_disagrees_is_told_the_chunk() {
        let tables = PartitionMaps::default();
        assert_eq!(tables.note(&request("a", &[0..=1, 2..=3])), None);
        assert_eq!(tables.note(&request("b", &[0..=1, 2..=3])), None);
        let told = tables.note(&request("c", &[0..=1, 2..=2, 3..=3]));
        assert_eq!(
            told.as_deref(),
            Some("front-end a has chunk 2 in chunks 2-3")
        );
        let told = tables.note(&request("d", &[0..=4]));
        assert_eq!(
            told.as_deref(),
            Some("front-end a has chunk 0 in chunks 0-1")
        );
        let told = tables.note(&request("e", &[0..=1, 2..=3, 4..=5]));
        assert_eq!(told.as_deref(), Some("front-end a has chunk 4 in no part"));
        assert_eq!(tables.note(&request("", &[0..=9])), None);
        assert_eq!(tables.note(&request("a", &[0..=1, 2..=3])), None);
    }

    #[test]
    fn a_front_end_may_change_its_own_table() {
        let tables = PartitionMaps::default();
        assert_eq!(tables.note(&request("a", &[0..=1])), None);
        assert_eq!(tables.note(&request("a", &[0..=0, 1..=1])), None);
    }
}
