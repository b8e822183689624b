//! What can be asked of a search, and how an index is spread over index servers.
use crate::{SearchError, ServeError};
use search::{Operator, Ranking};
use std::ops::Range;

/// The most hits of one page.
pub const K_MAX: usize = 1_000;
/// The deepest hit that paging reaches.
pub const DEPTH_MAX: usize = 10_000;

/// How to search.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct SearchOptions {
    /// Hits of the page.
    pub k: usize,
    /// Hits before the page.
    pub start: usize,
    /// Hits of one site at most, over all pages; 0 is no limit.
    pub per_site: u32,
    /// How words stand to each other when the query does not say.
    pub operator: Operator,
    /// How documents are scored.
    pub ranking: Ranking,
    /// Whether hits say how their score came about.
    pub explain: bool,
}

impl Default for SearchOptions {
    fn default() -> Self {
        SearchOptions {
            k: 10,
            start: 0,
            per_site: 2,
            operator: Operator::default(),
            ranking: Ranking::default(),
            explain: false,
        }
    }
}

impl SearchOptions {
    /// Refuses what no page can be made of.
    pub fn validate(&self) -> Result<(), SearchError> {
        if self.k > K_MAX {
            return Err(SearchError::BadRequest {
                parameter: "k",
                reason: format!(
                    "{} hits are too many for one page; ask for {K_MAX} at most and page with start",
                    self.k
                ),
            });
        }
        if self.start.saturating_add(self.k) > DEPTH_MAX {
            return Err(SearchError::BadRequest {
                parameter: "start",
                reason: format!(
                    "start + k is over {DEPTH_MAX}, as deep as paging goes; \
                     narrow the query, by more words or by site:NAME, instead"
                ),
            });
        }
        Ok(())
    }
}

/// How an index is spread over index servers.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Topology {
    /// Partitions, each with an index server of its own.
    pub partitions: usize,
    /// Handlers of each index server.
    pub handlers: usize,
    /// Requests that may wait for each index server's handlers.
    pub queue_length: usize,
}

impl Default for Topology {
    fn default() -> Self {
        let cores = std::thread::available_parallelism().map_or(1, |cores| cores.get());
        Topology {
            partitions: 1,
            handlers: cores,
            queue_length: 1024,
        }
    }
}

impl Topology {
    /// The chunks of every partition: contiguous, as equal as can be.
    pub fn partition_chunks(&self, chunks_count: u32) -> Result<Vec<Range<u32>>, ServeError> {
        if self.partitions == 0 || self.partitions > chunks_count as usize {
            return Err(ServeError::Options {
                option: "--partitions",
                reason: format!(
                    "{} partitions cannot share the {chunks_count} chunks of this index; \
                     choose 1 to {chunks_count}, or build the index with more --chunks",
                    self.partitions
                ),
            });
        }
        if self.handlers == 0 || self.handlers > 4096 {
            return Err(ServeError::Options {
                option: "--handlers",
                reason: format!(
                    "{} handlers cannot search; choose 1 to 4096, best as many as cores",
                    self.handlers
                ),
            });
        }
        let chunks = u64::from(chunks_count);
        let cut = |partition: usize| (partition as u64 * chunks / self.partitions as u64) as u32;
        Ok((0..self.partitions).map(|p| cut(p)..cut(p + 1)).collect())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn partitions_cover_all_chunks_once() {
        for chunks in 1..40u32 {
            for partitions in 1..=chunks as usize {
                let topology = Topology {
                    partitions,
                    handlers: 1,
                    queue_length: 1,
                };
                let ranges = topology.partition_chunks(chunks).unwrap();
                let all: Vec<u32> = ranges.iter().cloned().flatten().collect();
                assert_eq!(all, (0..chunks).collect::<Vec<_>>());
                let sizes = || ranges.iter().map(|range| range.len());
                assert!(sizes().max().unwrap() - sizes().min().unwrap() <= 1);
            }
        }
    }

    #[test]
    fn more_partitions_than_chunks_are_refused_with_a_remedy() {
        let topology = Topology {
            partitions: 5,
            handlers: 1,
            queue_length: 1,
        };
        let message = topology.partition_chunks(4).unwrap_err().to_string();
        assert!(
            message.contains("--partitions") && message.contains("1 to 4"),
            "{message}"
        );
    }

    #[test]
    fn depth_is_limited() {
        let deep = |start, k| {
            SearchOptions {
                start,
                k,
                ..Default::default()
            }
            .validate()
        };
        assert!(deep(9_000, 1_000).is_ok());
        assert!(deep(9_001, 1_000).is_err());
        assert!(deep(usize::MAX, 1).is_err());
        assert!(deep(0, 1_001).is_err());
    }
}
