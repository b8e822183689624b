//! Partitioning of an index over the index servers of one machine.

use crate::api::error::ServeError;
use engine::calls::Chunks;
use index::{Index, Layout};

/// Distribution of an index over index servers.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Topology {
    /// Number of partitions, each with an index server of its own.
    pub partitions: usize,
    /// Number of handlers of each index server.
    pub handlers: usize,
    /// Queue capacity of each index server, in requests; 0 derives it from the mean search time.
    pub queue_length: usize,
}

impl Default for Topology {
    fn default() -> Self {
        let cores = std::thread::available_parallelism().map_or(1, |cores| cores.get());
        Topology {
            partitions: 1,
            handlers: cores,
            queue_length: 0,
        }
    }
}

impl Topology {
    /// Returns the chunks of every partition of `index`; fails if the index cannot be divided so.
    pub fn partitions_of(&self, index: &Index) -> Result<Vec<Chunks>, ServeError> {
        let partitions = self.partition_chunks(index.layout())?;
        for chunks in &partitions {
            index.check_partition(chunks.clone())?;
        }
        Ok(partitions)
    }

    /// Returns the chunks of every partition: contiguous, in sizes as equal as possible.
    fn partition_chunks(&self, layout: Layout) -> Result<Vec<Chunks>, ServeError> {
        let partitions = u32::try_from(self.partitions).unwrap_or(u32::MAX);
        let layout = layout.of_partitions(partitions);
        let layout = layout.map_err(|reason| ServeError::Options {
            option: "--partitions",
            reason,
        })?;
        self.check_handlers()?;
        Ok(layout.partitions().collect())
    }

    /// Refuses numbers of handlers with which nothing can be searched.
    pub(crate) fn check_handlers(&self) -> Result<(), ServeError> {
        if self.handlers == 0 || self.handlers > 4096 {
            return Err(ServeError::Options {
                option: "--handlers",
                reason: format!(
                    "{} handlers cannot search; choose 1 to 4096, best as many as cores",
                    self.handlers
                ),
            });
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn more_partitions_than_chunks_are_refused_with_a_remedy() {
        let topology = Topology {
            partitions: 5,
            handlers: 1,
            queue_length: 1,
        };
        let four = Layout {
            chunks: 4,
            partitions: 4,
        };
        let message = topology.partition_chunks(four).unwrap_err().to_string();
        assert!(
            message.contains("--partitions") && message.contains("1 to 4"),
            "{message}"
        );
    }
}
